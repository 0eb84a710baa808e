//! How a matrix lies in memory.

use crate::host::level1::Arithmetic;
use crate::sparse::format::Format;
use derive_setters::Setters;

/// The way in which a matrix lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct MatrixOptions {
    /// The format; `None` for a chosen one.
    pub format: Option<Format>,
    /// Values are rounded to single precision, while vectors and sums stay in double.
    ///
    /// Products of matrices in double read about half as many bytes. Matrices in single precision
    /// do not change.
    pub single_values: bool,
    /// Number of vectors that the format is chosen for. Default 1.
    pub vectors: usize,
}

impl Default for MatrixOptions {
    fn default() -> Self {
        Self { format: None, single_values: false, vectors: 1 }
    }
}

impl MatrixOptions {
    /// Tells whether values of this type are rounded.
    pub(super) fn rounds_values<T: Arithmetic>(&self) -> bool {
        self.single_values && size_of::<T::Real>() > size_of::<f32>()
    }
}
