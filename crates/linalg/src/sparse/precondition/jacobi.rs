//! Inverses of the diagonal and of blocks on it.

use super::{PreconditionError, dense, expect_square};
use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::{real, reciprocal, size};
use crate::sparse::csr::Csr;
use crate::sparse::matrix::{Matrix, Placed};
use crate::sparse::place::Place;
use crate::sparse::space::Space;
use crate::sparse::vector::Vector;
use lattice_solvers::{LinearOperator, Work};
use rayon::prelude::*;

/// The inverse of the diagonal, K = D⁻¹.
pub struct Jacobi<T>(Placed<T>);

impl<T: Arithmetic> Jacobi<T> {
    /// Makes the inverse of the diagonal at a place.
    ///
    /// # Errors
    /// [`PreconditionError::ZeroDiagonal`]; [`PreconditionError::NotSquare`]; errors of the device.
    pub fn new(place: &Place, matrix: &Csr<T>) -> Result<Self, PreconditionError> {
        Self::of(place, matrix, reciprocal)
    }

    /// Makes the inverse sizes of the diagonal, 1/|d|, at a place.
    ///
    /// They are positive, as MINRES needs them. For a positive diagonal they are those of
    /// [`Jacobi::new`].
    ///
    /// # Errors
    /// Those of [`Jacobi::new`].
    pub fn positive(place: &Place, matrix: &Csr<T>) -> Result<Self, PreconditionError> {
        Self::of(place, matrix, |value| real(1.0 / size(value)))
    }

    fn of(place: &Place, matrix: &Csr<T>, inverse: impl Fn(T) -> T) -> Result<Self, PreconditionError> {
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
pub struct BlockJacobi<T>(Matrix<T>);

impl<T: Arithmetic> BlockJacobi<T> {
    /// Computes the inverses of blocks of `size` rows at a place.
    ///
    /// The last block may be smaller.
    ///
    /// # Errors
    /// [`PreconditionError::SingularBlock`]; [`PreconditionError::NotSquare`]; errors of the
    /// device.
    pub fn new(place: &Place, matrix: &Csr<T>, size: usize) -> Result<Self, PreconditionError> {
        expect_square(matrix)?;
        let (rows, size) = (matrix.rows(), size.max(1));
        let block = |k: usize| {
            let (first, end) = (k * size, rows.min((k + 1) * size));
            let n = end - first;
            let elements: Vec<T> = (first..end)
                .flat_map(|i| (first..end).map(move |j| (i, j)))
                .map(|(i, j)| matrix.at(i, j))
                .collect();
            let error = PreconditionError::SingularBlock { first: first + 1, last: end };
            dense::inverse(n, &elements).ok_or(error)
        };
        let inverses = (0..rows.div_ceil(size)).into_par_iter().map(block).collect::<Result<Vec<_>, _>>()?;
        let row = |row: usize| {
            let first = row / size * size;
            let n = rows.min(first + size) - first;
            let values = &inverses[row / size][(row - first) * n..(row - first + 1) * n];
            values.iter().enumerate().map(move |(j, value)| ((first + j) as u32, *value))
        };
        Ok(Self(Matrix::new(place, Csr::from_rows(rows, (0..rows).map(row)))?))
    }

    /// Returns the bytes of the preconditioner.
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

macro_rules! applies_a_matrix {
    ($($Preconditioner:ident),*) => {$(
        impl<T: Arithmetic> LinearOperator for $Preconditioner<T> {
            type Space = Space<T>;

            fn space(&self) -> &Space<T> {
                self.0.space()
            }

            fn apply(&self, x: &Vector<T>, out: &mut Vector<T>) -> BlasResult<()> {
                self.0.apply(x, out)
            }

            fn work(&self) -> Work {
                self.0.work()
            }
        }
    )*};
}

applies_a_matrix!(Jacobi, BlockJacobi);
