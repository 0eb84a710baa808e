//! The values of a matrix in a device's memory.

use crate::host::level1::Arithmetic;
use lattice_compute::parallel::*;
use lattice_compute::scalar::Element;
use lattice_compute::{Argument, Buffer, Device, Result};
use num_complex::Complex;

/// Values of a matrix: as they are, or rounded to single precision.
pub(super) enum Values<T> {
    Own(Buffer<T>),
    Real(Buffer<f32>),
    Complex(Buffer<Complex<f32>>),
}

impl<T: Arithmetic> Values<T> {
    pub fn new(device: &Device, values: &[T], single: bool) -> Result<Self> {
        Ok(match (single, T::IS_COMPLEX) {
            (false, _) => Self::Own(Buffer::from_slice(device, values)?),
            (true, false) => Self::Real(Buffer::from_slice(device, &rounded(values))?),
            (true, true) => Self::Complex(Buffer::from_slice(device, &rounded(values))?),
        })
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Own(values) => values.len(),
            Self::Real(values) => values.len(),
            Self::Complex(values) => values.len(),
        }
    }

    /// Tells whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the argument of a kernel that reads the values.
    pub fn argument(&self) -> Argument<'_> {
        match self {
            Self::Own(values) => values.into(),
            Self::Real(values) => values.into(),
            Self::Complex(values) => values.into(),
        }
    }
}

/// Returns numbers of another type, each the nearest.
pub(super) fn rounded<T: Arithmetic, U: Element>(values: &[T]) -> Vec<U> {
    values.par_iter().map(|value| U::from_complex(value.to_complex())).collect()
}
