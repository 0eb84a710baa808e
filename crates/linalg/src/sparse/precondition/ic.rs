//! Incomplete Cholesky factorisation without fill.

use super::ilu::Factors;
use super::triangle::Substitution;
use super::{PreconditionError, expect_square};
use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::{conjugate, real, reciprocal};
use crate::sparse::csr::Csr;
use crate::sparse::processor::Processor;
use crate::sparse::space::Space;
use crate::sparse::vector::Vector;
use lattice_solvers::{LinearOperator, Work};

/// K = (LLᴴ)⁻¹, where LLᴴ = A at the places of the entries of A: IC(0).
///
/// Source: J. A. Meijerink and H. A. van der Vorst, Math. Comp. 31 (1977) 148. Only the lower
/// triangle of A is read.
pub struct Ic0<T>(Factors<T>);

impl<T: Arithmetic> Ic0<T> {
    /// Factorises a Hermitian matrix on the host, for applications at a place.
    ///
    /// # Errors
    /// [`PreconditionError::NotPositive`]; [`PreconditionError::NotSquare`]; errors of the device.
    pub fn new(place: &Processor, matrix: &Csr<T>) -> Result<Self, PreconditionError> {
        Self::with(place, matrix, Substitution::Levels)
    }

    /// Factorises a Hermitian matrix on the host, and solves with the factors in the given way.
    ///
    /// Sweeps on both triangles are adjoint, so K stays Hermitian and positive definite.
    ///
    /// # Errors
    /// Those of [`Ic0::new`].
    pub fn with(
        place: &Processor,
        matrix: &Csr<T>,
        substitution: Substitution,
    ) -> Result<Self, PreconditionError> {
        expect_square(matrix)?;
        let rows = matrix.rows();
        let lower_row = |row: usize| matrix.row(row).filter(move |(column, _)| *column < row);
        let mut strict: Csr<T> = Csr::from_rows(
            rows,
            (0..rows)
                .map(|row| lower_row(row).map(|(column, value)| (column as u32, value)).collect::<Vec<_>>()),
        );
        let mut inverse: Vec<T> = Vec::with_capacity(rows);
        // The present row of L, by columns, and the row that a column was set for.
        let mut present = vec![T::default(); rows];
        let mut set_for = vec![usize::MAX; rows];
        for row in 0..rows {
            let mut pivot = matrix.at(row, row).to_complex().re;
            for k in strict.range(row) {
                let column = strict.columns_of[k] as usize;
                let mut sum = strict.values[k];
                for (other, value) in strict.row(column) {
                    if set_for[other] == row {
                        sum = sum - present[other] * conjugate(value);
                    }
                }
                let value = sum * inverse[column];
                strict.values[k] = value;
                (present[column], set_for[column]) = (value, row);
                pivot -= value.to_complex().norm_sqr();
            }
            // Written so that a NaN is not positive.
            let positive = pivot > 0.0 && pivot.is_finite();
            if !positive {
                return Err(PreconditionError::NotPositive { row: row + 1, pivot });
            }
            inverse.push(reciprocal(real(pivot.sqrt())));
        }
        let upper = strict.adjoint();
        Ok(Self(Factors::new(place, (strict, inverse.clone()), (upper, inverse), substitution)?))
    }

    /// Returns the bytes of the factors.
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

by_what_it_wraps!(Ic0);
