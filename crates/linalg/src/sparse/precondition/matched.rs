//! Preconditioners of a matrix whose rows were permuted.

use super::{PreconditionError, expect_square};
use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::real;
use crate::sparse::csr::Csr;
use crate::sparse::matching::Matching;
use crate::sparse::matrix::Placed;
use crate::sparse::processor::Processor;
use crate::sparse::space::Space;
use crate::sparse::vector::Vector;
use lattice_solvers::{LinearOperator, VectorSpace, Work};
use std::cell::RefCell;

/// K = S K′ P R, where K′ is a preconditioner of the scaled and permuted matrix P R A S.
///
/// Permutation and scalings are those of [`Matching`]. So matrices with zeros on the diagonal have
/// preconditioners. The residual is that of A itself. K is not Hermitian: it is for BiCGStab and GCR.
pub struct Matched<T> {
    /// P R.
    rows: Placed<T>,
    /// `None` for K′ = 1.
    inner: Option<Box<dyn LinearOperator<Space = Space<T>>>>,
    /// S.
    columns: Placed<T>,
    between: RefCell<[Vector<T>; 2]>,
}

impl<T: Arithmetic> Matched<T> {
    /// Permutes a matrix, and makes its preconditioner by `make`.
    ///
    /// # Errors
    /// [`PreconditionError::StructurallySingular`]; [`PreconditionError::NotSquare`]; those of
    /// `make`.
    pub fn new(
        place: &Processor,
        matrix: &Csr<T>,
        make: impl FnOnce(&Csr<T>) -> Result<Option<Box<dyn LinearOperator<Space = Space<T>>>>, PreconditionError>,
    ) -> Result<Self, PreconditionError> {
        expect_square(matrix)?;
        let matching = Matching::new(matrix)?;
        let inner = make(&matching.applied(matrix))?;
        let one = |row: &u32| [(*row, real(matching.row_scales[*row as usize]))];
        let rows = Csr::from_rows(matrix.rows(), matching.rows.iter().map(one));
        let columns = matching.column_scales.iter().map(|scale| real(*scale)).collect();
        let space = Space::new(place, matrix.rows())?;
        Ok(Self {
            rows: Placed::chosen(place, rows)?,
            inner,
            columns: Placed::diagonal(place, columns)?,
            between: RefCell::new([space.zero_vector()?, space.zero_vector()?]),
        })
    }

    /// Returns the bytes of permutation and scalings.
    pub fn bytes(&self) -> u64 {
        self.rows.bytes() + self.columns.bytes()
    }
}

impl<T: Arithmetic> LinearOperator for Matched<T> {
    type Space = Space<T>;

    fn space(&self) -> &Space<T> {
        self.columns.space()
    }

    fn apply(&self, x: &Vector<T>, out: &mut Vector<T>) -> BlasResult<()> {
        let [first, second] = &mut *self.between.borrow_mut();
        self.rows.multiply(x, first)?;
        match &self.inner {
            Some(inner) => {
                inner.apply(first, second)?;
                self.columns.multiply(second, out)
            }
            None => self.columns.multiply(first, out),
        }
    }

    fn work(&self) -> Work {
        let mut work = self.rows.work();
        work += self.columns.work();
        if let Some(inner) = &self.inner {
            work += inner.work();
        }
        work
    }
}
