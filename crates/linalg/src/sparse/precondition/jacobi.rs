//! Inverses of the diagonal and of blocks on it.

use super::{PreconditionError, dense, expect_square};
use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::{conjugate, real, reciprocal, size};
use crate::sparse::csr::Csr;
use crate::sparse::matrix::{Matrix, Placed};
use crate::sparse::processor::Processor;
use crate::sparse::space::Space;
use crate::sparse::vector::Vector;
use lattice_compute::parallel::*;
use lattice_solvers::{LinearOperator, VectorSpace, Work};
use num_complex::Complex64;
use std::cell::RefCell;
use std::ops::Range;

/// The inverse of the diagonal, K = D⁻¹.
pub struct Jacobi<T>(Placed<T>);

impl<T: Arithmetic> Jacobi<T> {
    /// Makes the inverse of the diagonal at a place.
    ///
    /// # Errors
    /// [`PreconditionError::ZeroDiagonal`]; [`PreconditionError::NotSquare`]; errors of the device.
    pub fn new(place: &Processor, matrix: &Csr<T>) -> Result<Self, PreconditionError> {
        Self::of(place, matrix, reciprocal)
    }

    /// Makes the inverse sizes of the diagonal, 1/|d|, at a place.
    ///
    /// They are positive, as MINRES needs them. For a positive diagonal they are those of
    /// [`Jacobi::new`].
    ///
    /// # Errors
    /// Those of [`Jacobi::new`].
    pub fn positive(place: &Processor, matrix: &Csr<T>) -> Result<Self, PreconditionError> {
        Self::of(place, matrix, |value| real(1.0 / size(value)))
    }

    fn of(place: &Processor, matrix: &Csr<T>, inverse: impl Fn(T) -> T) -> Result<Self, PreconditionError> {
        expect_square(matrix)?;
        let diagonal = matrix.diagonal();
        if let Some(row) = diagonal.iter().position(|value| size(*value) == 0.0) {
            return Err(PreconditionError::ZeroDiagonal { row: row + 1 });
        }
        Ok(Self(Placed::diagonal(place, diagonal.into_iter().map(inverse).collect())?))
    }

    /// Returns the bytes of the preconditioner.
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

/// The inverses of blocks on the diagonal, each of `size` rows.
///
/// A block whose condition number is at most 1e5 may have its inverse in single precision: the error
/// of K is then below a hundredth of its smallest eigenvalue. Vectors and sums stay in double.
/// Source: H. Anzt et al., Concurrency Computat. Pract. Exper. 31 (2019) e4460.
pub struct BlockJacobi<T> {
    /// The inverses in single precision, if there are any, and the others; both have all rows.
    parts: Vec<Matrix<T>>,
    single_blocks: usize,
    space: Space<T>,
    between: RefCell<Vector<T>>,
}

/// Largest condition number of a block whose inverse is rounded to single precision.
const CONDITION_OF_SINGLE: f64 = 1e5;

/// Sizes that single precision holds with room.
const RANGE_OF_SINGLE: std::ops::Range<f64> = 1e-25..1e25;

/// An inverse block, row after row, and whether it may be rounded.
struct Inverse<T> {
    values: Vec<T>,
    single: bool,
}

impl<T: Arithmetic> BlockJacobi<T> {
    /// Computes the inverses of blocks of `size` rows, in single precision where they bear it.
    ///
    /// The last block may be smaller.
    ///
    /// # Errors
    /// [`PreconditionError::SingularBlock`]; [`PreconditionError::NotSquare`]; errors of the
    /// device.
    pub fn new(place: &Processor, matrix: &Csr<T>, size: usize) -> Result<Self, PreconditionError> {
        Self::with(place, matrix, size, true)
    }

    /// Computes the inverses of blocks of `size` rows in the precision of the matrix.
    ///
    /// # Errors
    /// Those of [`BlockJacobi::new`].
    pub fn unrounded(place: &Processor, matrix: &Csr<T>, size: usize) -> Result<Self, PreconditionError> {
        Self::with(place, matrix, size, false)
    }

    fn with(
        place: &Processor,
        matrix: &Csr<T>,
        size: usize,
        rounds: bool,
    ) -> Result<Self, PreconditionError> {
        expect_square(matrix)?;
        let (rows, size) = (matrix.rows(), size.max(1));
        let inverses = (0..rows.div_ceil(size)).into_par_iter();
        let mut inverses: Vec<Inverse<T>> = inverses
            .map(|k| Inverse::new(matrix, k * size..rows.min((k + 1) * size)))
            .collect::<Result<_, _>>()?;
        if !rounds || size_of::<T::Real>() <= size_of::<f32>() {
            inverses.iter_mut().for_each(|block| block.single = false);
        }
        let single_blocks = inverses.iter().filter(|block| block.single).count();
        let part = |single: bool| -> BlasResult<Matrix<T>> {
            let row = |row: usize| {
                let first = row / size * size;
                let n = rows.min(first + size) - first;
                let Inverse { values, single: is_single } = &inverses[row / size];
                let values = &values[(row - first) * n..(row - first + 1) * n];
                let kept = if *is_single == single { values } else { &[] };
                kept.iter().enumerate().map(move |(j, value)| ((first + j) as u32, *value))
            };
            let source = Csr::from_rows(rows, (0..rows).map(row));
            Matrix::rounded(place, source, single)
        };
        let mut parts = Vec::new();
        if single_blocks > 0 {
            parts.push(part(true)?);
        }
        if single_blocks < inverses.len() || parts.is_empty() {
            parts.push(part(false)?);
        }
        let space = Space::new(place, rows)?;
        // Only a second part needs room for its product.
        let room = Space::new(place, if parts.len() > 1 { rows } else { 0 })?;
        Ok(Self { parts, single_blocks, between: RefCell::new(room.zero_vector()?), space })
    }

    /// Returns the number of inverses in single precision.
    pub fn single_blocks(&self) -> usize {
        self.single_blocks
    }

    /// Returns the bytes of the preconditioner.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(Matrix::bytes).sum()
    }
}

impl<T: Arithmetic> Inverse<T> {
    fn new(matrix: &Csr<T>, rows: Range<usize>) -> Result<Self, PreconditionError> {
        let n = rows.len();
        let places = || rows.clone().flat_map(|i| rows.clone().map(move |j| (i, j)));
        let block: Vec<T> = places().map(|(i, j)| matrix.at(i, j)).collect();
        let error = PreconditionError::SingularBlock { first: rows.start + 1, last: rows.end };
        let mut values = dense::inverse(n, &block).ok_or(error)?;
        let pairs = || (0..n).flat_map(|i| (0..=i).map(move |j| (i * n + j, j * n + i)));
        if pairs().all(|(low, high)| block[low] == conjugate(block[high])) {
            // Conjugate Gradient wants it exactly so.
            pairs().for_each(|(low, high)| values[high] = conjugate(values[low]));
        }
        let norm = |values: &[T]| {
            let sums = values.chunks(n).map(|row| row.iter().map(|value| size(*value)).sum::<f64>());
            sums.fold(0.0, f64::max)
        };
        let of_inverse = norm(&values);
        let single =
            norm(&block) * of_inverse <= CONDITION_OF_SINGLE && RANGE_OF_SINGLE.contains(&of_inverse);
        Ok(Self { values, single })
    }
}

impl<T: Arithmetic> LinearOperator for BlockJacobi<T> {
    type Space = Space<T>;

    fn space(&self) -> &Space<T> {
        &self.space
    }

    fn apply(&self, x: &Vector<T>, out: &mut Vector<T>) -> BlasResult<()> {
        self.parts[0].apply(x, out)?;
        if let Some(others) = self.parts.get(1) {
            let between = &mut *self.between.borrow_mut();
            others.apply(x, between)?;
            self.space.axpy(&self.space.scalar(Complex64::from(1.0)), between, out)?;
        }
        Ok(())
    }

    fn work(&self) -> Work {
        let mut work = Work::default();
        self.parts.iter().for_each(|part| work += part.work());
        work
    }
}

by_what_it_wraps!(Jacobi);
