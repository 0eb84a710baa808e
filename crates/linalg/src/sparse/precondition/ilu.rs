//! Incomplete LU factorisation without fill.

use super::triangle::{Substitution, Triangle};
use super::{PreconditionError, expect_square};
use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::{real, reciprocal, size};
use crate::sparse::csr::Csr;
use crate::sparse::processor::Processor;
use crate::sparse::space::Space;
use crate::sparse::vector::Vector;
use lattice_solvers::{LinearOperator, VectorSpace, Work};
use std::cell::RefCell;

/// K = (LU)⁻¹, where LU = A at the places of the entries of A: ILU(0).
///
/// Source: Y. Saad, *Iterative Methods for Sparse Linear Systems*, 2nd ed., algorithm 10.4. L has
/// ones on its diagonal.
pub struct Ilu0<T>(Factors<T>);

/// Two triangles, solved one after the other.
pub(super) struct Factors<T> {
    lower: Triangle<T>,
    upper: Triangle<T>,
    space: Space<T>,
    between: RefCell<Vector<T>>,
}

impl<T: Arithmetic> Ilu0<T> {
    /// Factorises a matrix on the host, for applications at a place.
    ///
    /// # Errors
    /// [`PreconditionError::ZeroPivot`]; [`PreconditionError::NotSquare`]; errors of the device.
    pub fn new(place: &Processor, matrix: &Csr<T>) -> Result<Self, PreconditionError> {
        Self::with(place, matrix, Substitution::Levels)
    }

    /// Factorises a matrix on the host, and solves with the factors in the given way.
    ///
    /// # Errors
    /// Those of [`Ilu0::new`].
    pub fn with(
        place: &Processor,
        matrix: &Csr<T>,
        substitution: Substitution,
    ) -> Result<Self, PreconditionError> {
        expect_square(matrix)?;
        let rows = matrix.rows();
        let mut values = matrix.values.clone();
        let mut diagonal = vec![0; rows];
        // The place of the entry of each column in the present row.
        let mut places = vec![usize::MAX; rows];
        for row in 0..rows {
            let range = matrix.range(row);
            range.clone().for_each(|k| places[matrix.columns_of[k] as usize] = k);
            if places[row] == usize::MAX {
                return Err(PreconditionError::ZeroPivot { row: row + 1, structurally: true });
            }
            for k in range.clone() {
                let column = matrix.columns_of[k] as usize;
                if column >= row {
                    break;
                }
                let factor = values[k] * reciprocal(values[diagonal[column]]);
                values[k] = factor;
                for other in diagonal[column] + 1..matrix.range(column).end {
                    let place = places[matrix.columns_of[other] as usize];
                    if place != usize::MAX {
                        values[place] = values[place] - factor * values[other];
                    }
                }
            }
            diagonal[row] = places[row];
            let pivot = size(values[diagonal[row]]);
            if pivot == 0.0 || !pivot.is_finite() {
                return Err(PreconditionError::ZeroPivot { row: row + 1, structurally: false });
            }
            range.for_each(|k| places[matrix.columns_of[k] as usize] = usize::MAX);
        }
        let part = |of_row: &dyn Fn(usize) -> std::ops::Range<usize>| {
            let row = |row| of_row(row).map(|k| (matrix.columns_of[k], values[k])).collect::<Vec<_>>();
            Csr::from_rows(rows, (0..rows).map(row))
        };
        let lower = part(&|row| matrix.range(row).start..diagonal[row]);
        let upper = part(&|row| diagonal[row] + 1..matrix.range(row).end);
        let inverse = diagonal.iter().map(|&k| reciprocal(values[k])).collect();
        Ok(Self(Factors::new(place, (lower, vec![real(1.0); rows]), (upper, inverse), substitution)?))
    }

    /// Returns the bytes of the factors.
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

impl<T: Arithmetic> Factors<T> {
    pub fn new(
        place: &Processor,
        lower: (Csr<T>, Vec<T>),
        upper: (Csr<T>, Vec<T>),
        substitution: Substitution,
    ) -> BlasResult<Self> {
        let space = Space::new(place, lower.1.len())?;
        Ok(Self {
            between: RefCell::new(space.zero_vector()?),
            lower: Triangle::new(place, lower.0, lower.1, true, substitution)?,
            upper: Triangle::new(place, upper.0, upper.1, false, substitution)?,
            space,
        })
    }

    pub fn bytes(&self) -> u64 {
        self.lower.bytes() + self.upper.bytes()
    }
}

impl<T: Arithmetic> LinearOperator for Factors<T> {
    type Space = Space<T>;

    fn space(&self) -> &Space<T> {
        &self.space
    }

    fn apply(&self, x: &Vector<T>, out: &mut Vector<T>) -> BlasResult<()> {
        self.space.check("substitution", "b", x)?;
        self.space.check("substitution", "x", out)?;
        let between = &mut *self.between.borrow_mut();
        self.lower.solve(x, between)?;
        self.upper.solve(between, out)
    }

    fn work(&self) -> Work {
        // A sweep reads a triangle once.
        let passes = self.lower.passes();
        let entries = passes * (self.lower.entries() + self.upper.entries());
        let flops = if T::IS_COMPLEX { 8 * entries } else { 2 * entries };
        let vectors = 4 * passes * (self.space.dimension() * size_of::<T>()) as u64;
        Work { flops, bytes: passes * self.bytes() + vectors }
    }
}

by_what_it_wraps!(Ilu0);
