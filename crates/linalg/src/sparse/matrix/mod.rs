//! A sparse matrix at a place.

mod choice;
mod on_device;
mod options;
mod packed;
mod placed;
mod stored;
mod values;

pub use choice::{TunedFormat, tune_format};
pub(super) use on_device::Slices;
pub use options::MatrixOptions;
pub(super) use placed::Placed;

use super::csr::Csr;
use super::format::{BLOCKS, Format, diagonals};
use super::processor::Processor;
use super::space::Space;
use super::vector::Vector;
use crate::error::{BlasError, BlasResult};
use crate::host::level1::Arithmetic;
use lattice_solvers::{LinearOperator, Work};
use std::sync::{Arc, Mutex};

/// A sparse matrix in the memory of a [`Processor`].
///
/// It keeps the [`Csr`] that it was made of, for its transpose and its diagonal. A square matrix is
/// a [`LinearOperator`].
pub struct Matrix<T> {
    source: Arc<Csr<T>>,
    placed: Placed<T>,
    options: MatrixOptions,
    /// Made when a product with the transpose is first asked for.
    transposed: Mutex<Option<Arc<Matrix<T>>>>,
}

/// The reason why a matrix cannot have a format.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The size of blocks is not 2 to 8, or does not divide rows and columns.
    #[error(
        "blocks of {size} do not divide a {rows}×{columns} matrix; choose a size of 2 to 8 that does, or another format"
    )]
    Blocks {
        /// Size of blocks.
        size: usize,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// The matrix is not its own conjugate transpose.
    #[error(
        "symmetric storage needs a matrix that equals its conjugate transpose to the last bit; choose another format"
    )]
    NotSymmetric,
    /// There are too many diagonals.
    #[error("the entries lie on more than 256 diagonals; choose another format")]
    TooManyDiagonals,
    /// The memory is short, or the device fails.
    #[error(transparent)]
    Operation(#[from] BlasError),
}

impl<T: Arithmetic> Matrix<T> {
    /// Brings a matrix to a place, in the format that is chosen for it.
    ///
    /// # Errors
    /// If the device has not the memory, or fails.
    pub fn new(place: &Processor, source: impl Into<Arc<Csr<T>>>) -> BlasResult<Self> {
        Self::chosen(place, source.into(), MatrixOptions::default())
    }

    /// Brings a matrix to a place with values in single precision if `single`, in a chosen format.
    pub(super) fn rounded(place: &Processor, source: Csr<T>, single: bool) -> BlasResult<Self> {
        let options = MatrixOptions { single_values: single, ..MatrixOptions::default() };
        Self::chosen(place, source.into(), options)
    }

    /// Brings a matrix to a place in a format that is chosen for it, whatever the options say.
    fn chosen(place: &Processor, source: Arc<Csr<T>>, options: MatrixOptions) -> BlasResult<Self> {
        match Self::with_options(place, source, MatrixOptions { format: None, ..options }) {
            Ok(made) => Ok(made),
            Err(FormatError::Operation(error)) => Err(error),
            Err(_) => unreachable!("a chosen format is one that the matrix can have"),
        }
    }

    /// Returns the format that is chosen for products with so many vectors.
    ///
    /// It is the one that [`tune_format`] has kept for a matrix of this pattern, else that of the
    /// fewest bytes; rows on the host.
    pub fn chosen_format(place: &Processor, source: &Csr<T>, vectors: usize) -> Format {
        choice::chosen(place, source, MatrixOptions { vectors, ..MatrixOptions::default() })
    }

    /// Brings a matrix to a place in a chosen format.
    ///
    /// # Errors
    /// [`FormatError`] if the matrix cannot have it.
    pub fn with_format(
        place: &Processor,
        source: impl Into<Arc<Csr<T>>>,
        format: Format,
    ) -> Result<Self, FormatError> {
        Self::with_options(place, source, MatrixOptions { format: Some(format), ..MatrixOptions::default() })
    }

    /// Brings a matrix to a place in the way that options say.
    ///
    /// # Errors
    /// [`FormatError`] if the matrix cannot have the format.
    pub fn with_options(
        place: &Processor,
        source: impl Into<Arc<Csr<T>>>,
        options: MatrixOptions,
    ) -> Result<Self, FormatError> {
        let source: Arc<Csr<T>> = source.into();
        let single = options.rounds_values::<T>();
        // The host keeps the rounded values in double, so that they act as on a device.
        let source = if single && *place == Processor::Host {
            Arc::new(source.map(|_, _, value| choice::rounded(value)))
        } else {
            source
        };
        let format = match options.format {
            Some(format) => {
                expect_format(&source, format)?;
                format
            }
            None => choice::chosen(place, &source, options),
        };
        let placed = Placed::new(place, &source, format, single)?;
        Ok(Self { source, placed, options, transposed: Mutex::new(None) })
    }

    /// Returns the rows of a slice of the format [`Format::Sell`] at a place.
    pub fn slice_height(place: &Processor) -> usize {
        Placed::<T>::slice_height(place)
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.source.rows()
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.source.columns()
    }

    /// Returns the matrix in the host's memory.
    pub fn source(&self) -> &Arc<Csr<T>> {
        &self.source
    }

    /// Returns the format.
    pub fn format(&self) -> Format {
        self.placed.format()
    }

    /// Returns the bytes of the matrix in its format.
    pub fn bytes(&self) -> u64 {
        self.placed.bytes()
    }

    /// Returns the place.
    pub fn place(&self) -> &Processor {
        self.placed.space().place()
    }

    /// Starts y = A x.
    ///
    /// # Errors
    /// [`BlasError::Shape`], [`BlasError::OtherDevice`], or what the device says.
    pub fn multiply(&self, x: &Vector<T>, y: &mut Vector<T>) -> BlasResult<()> {
        self.multiply_block(1, x, y)
    }

    /// Starts y = Aᵀ x, without conjugation.
    ///
    /// The transpose is made at the first call, and kept.
    ///
    /// # Errors
    /// [`BlasError::Shape`], [`BlasError::OtherDevice`], or what the device says.
    pub fn multiply_transposed(&self, x: &Vector<T>, y: &mut Vector<T>) -> BlasResult<()> {
        let transposed = {
            let mut kept = lattice_compute::sync::lock(&self.transposed);
            match &*kept {
                Some(transposed) => Arc::clone(transposed),
                None => {
                    let made = Self::chosen(self.place(), self.source.transposed().into(), self.options)?;
                    Arc::clone(kept.insert(Arc::new(made)))
                }
            }
        };
        transposed.multiply(x, y)
    }

    /// Starts Y = A X for several vectors at once.
    ///
    /// X and Y have a row for each component, row after row: the elements of one component lie side
    /// by side. The matrix is read once.
    ///
    /// # Errors
    /// [`BlasError::Shape`], [`BlasError::OtherDevice`], or what the device says.
    pub fn multiply_block(&self, vectors: usize, x: &Vector<T>, y: &mut Vector<T>) -> BlasResult<()> {
        self.placed.multiply_block(vectors, x, y)
    }
}

/// Refuses a format that a matrix cannot have.
fn expect_format<T: Arithmetic>(source: &Csr<T>, format: Format) -> Result<(), FormatError> {
    match format {
        Format::Blocks(size) => {
            let (rows, columns) = (source.rows(), source.columns());
            let divides = BLOCKS.contains(&size) && rows.is_multiple_of(size) && columns.is_multiple_of(size);
            if divides { Ok(()) } else { Err(FormatError::Blocks { size, rows, columns }) }
        }
        Format::Symmetric if !source.is_hermitian() => Err(FormatError::NotSymmetric),
        Format::Diagonals if diagonals(source).is_none() => Err(FormatError::TooManyDiagonals),
        _ => Ok(()),
    }
}

/// A square matrix.
impl<T: Arithmetic> LinearOperator for Matrix<T> {
    type Space = Space<T>;

    fn space(&self) -> &Space<T> {
        self.placed.space()
    }

    fn apply(&self, x: &Vector<T>, out: &mut Vector<T>) -> BlasResult<()> {
        self.multiply(x, out)
    }

    fn work(&self) -> Work {
        self.placed.work()
    }
}
