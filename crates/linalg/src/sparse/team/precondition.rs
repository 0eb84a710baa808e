//! Preconditioners of the rows of each place.

use super::matrix::TeamMatrix;
use super::space::TeamSpace;
use super::vector::TeamVector;
use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::sparse::csr::Csr;
use crate::sparse::processor::Processor;
use crate::sparse::space::Space;
use lattice_solvers::{LinearOperator, VectorSpace, Work};
use std::ops::Range;

/// The preconditioner of a place.
type LocalOperator<T> = Box<dyn LinearOperator<Space = Space<T>>>;

/// A preconditioner that treats the rows of each place, without the columns of others.
///
/// Jacobi is that of the whole matrix. Others are block-diagonal: they need more iterations than on
/// one device.
pub struct TeamPreconditioner<T> {
    space: TeamSpace<T>,
    parts: Vec<LocalOperator<T>>,
}

impl<T: Arithmetic> TeamPreconditioner<T> {
    /// Makes the preconditioner of each place.
    ///
    /// `make` gets the place, its rows in its own columns, and the numbers of its rows.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn new<E>(
        matrix: &TeamMatrix<T>,
        mut make: impl FnMut(&Processor, &Csr<T>, Range<usize>) -> Result<LocalOperator<T>, E>,
    ) -> Result<Self, E> {
        let space = matrix.space().clone();
        let part = |(k, of_place): (usize, &Space<T>)| make(of_place.place(), matrix.own(k), space.range(k));
        let parts = space.spaces().iter().enumerate().map(part).collect::<Result<_, E>>()?;
        Ok(Self { space, parts })
    }
}

impl<T: Arithmetic> LinearOperator for TeamPreconditioner<T> {
    type Space = TeamSpace<T>;

    fn space(&self) -> &TeamSpace<T> {
        &self.space
    }

    fn apply(&self, x: &TeamVector<T>, out: &mut TeamVector<T>) -> BlasResult<()> {
        for ((part, x), out) in self.parts.iter().zip(&x.parts).zip(&mut out.parts) {
            part.apply(x, out)?;
        }
        Ok(())
    }

    fn work(&self) -> Work {
        let mut work = Work::default();
        self.parts.iter().for_each(|part| work += part.work());
        work
    }
}

impl<T: Arithmetic> TeamPreconditioner<T> {
    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.space.dimension()
    }
}
