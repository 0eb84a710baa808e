//! Blocks of vectors: spaces whose vectors are several columns side by side.

use crate::advance::Advance;
use crate::block_recurrence::BlockRecurrence;
use crate::operator::LinearOperator;
use crate::space::VectorSpace;
use crate::square_matrix::SquareMatrix;
use crate::work::Work;
use crate::{ErrorOf, VectorOf};

/// A space whose vectors are blocks: N columns side by side, each of them a vector.
///
/// For the plain operations of [`VectorSpace`] a block is one long vector. The products of columns
/// are an N × N matrix.
///
/// For a block X with columns xⱼ and a matrix D, X D has the columns Σᵢ xᵢ Dᵢⱼ, and X†X the
/// elements (xᵢ, xⱼ).
///
/// **The matrices of an iteration are opaque.** A [`Recurrence`](Self::Recurrence) holds them
/// *somewhere*, like scalars. Only [`see`](Self::see) has to wait for them. So an implementation
/// may keep them on the device between two looks. Spaces on the host take a [`BlockRecurrence`].
pub trait BlockSpace: VectorSpace {
    /// The small matrices by which an iteration goes on, wherever they are kept.
    type Recurrence;

    /// Brings the matrices to where this space keeps them.
    fn recurrence(&self, from: BlockRecurrence) -> Result<Self::Recurrence, Self::Error>;

    /// Replaces the matrices like [`recurrence`](Self::recurrence), in the same memory.
    fn renew(&self, there: &mut Self::Recurrence, from: BlockRecurrence) -> Result<(), Self::Error> {
        *there = self.recurrence(from)?;
        Ok(())
    }

    /// Waits for all iterations so far, and returns the matrices.
    fn see(&self, there: &Self::Recurrence) -> Result<BlockRecurrence, Self::Error>;

    /// Goes on like [`advance_block`](Self::advance_block), with the matrices that are there.
    ///
    /// The flags tell whether there is a D and whether there is an E, as in
    /// [`BlockRecurrence::advance`].
    fn advance_by(
        &self,
        there: &Self::Recurrence,
        flags: [bool; 2],
        x: &mut Self::Vector,
        q: &mut Self::Vector,
        p: &mut Self::Vector,
        o: Option<&mut Self::Vector>,
    ) -> Result<(), Self::Error>;

    /// Returns N, the number of columns.
    fn columns(&self) -> usize;

    /// Returns the relative error of a number of a vector, and of a sum of products.
    ///
    /// If vectors are stored with less precision, the error is that of the arithmetic.
    fn roundoff(&self) -> f64;

    /// Returns X†X.
    fn gram(&self, x: &Self::Vector) -> Result<SquareMatrix, Self::Error>;

    /// Computes Q = Q − Z D and returns Q†Q, fused.
    fn subtract_block(
        &self,
        z: &Self::Vector,
        d: &SquareMatrix,
        q: &mut Self::Vector,
    ) -> Result<SquareMatrix, Self::Error>;

    /// Tells whether the space prefers one update of X for two directions.
    ///
    /// The pair takes half a pass over memory less in an iteration. It takes one more vector, and
    /// writes a vector that is not read. Default `false`.
    fn steps_in_pairs(&self) -> bool {
        false
    }

    /// Computes X = X + O D + P E and the next direction Q T + P F, fused.
    ///
    /// Q T + P F takes the place of O if there is one, and of P otherwise. Q = Q T if Q is to be
    /// overwritten. T is upper triangular and F lower triangular. There is no D without O.
    fn advance_block(
        &self,
        matrices: Advance<'_>,
        x: &mut Self::Vector,
        q: &mut Self::Vector,
        p: &mut Self::Vector,
        o: Option<&mut Self::Vector>,
    ) -> Result<(), Self::Error>;
}

/// The matrices of an iteration in the space of an operator.
pub type RecurrenceOf<A> = <<A as LinearOperator>::Space as BlockSpace>::Recurrence;

/// A linear operator on blocks, applied to each column.
pub trait BlockOperator: LinearOperator<Space: BlockSpace> {
    /// Computes Q = Q − A X D, fused.
    ///
    /// D is made from X†A X by [`BlockRecurrence::follow_curvature`] or its twin, and
    /// [`BlockRecurrence::follow_residual`] follows with Q†Q. `image` is there to be overwritten.
    fn descend_block(
        &self,
        x: &VectorOf<Self>,
        image: &mut VectorOf<Self>,
        q: &mut VectorOf<Self>,
        recurrence: &mut RecurrenceOf<Self>,
    ) -> Result<(), ErrorOf<Self>>;

    /// Returns the operations and least memory traffic of `descend_block`.
    fn work_of_block_descent(&self) -> Work {
        let mut work = self.work();
        work += gram_work(self.space());
        work += subtraction_work(self.space());
        work
    }
}

/// Returns the operations and least memory traffic of X†X.
///
/// X†X is Hermitian, so that half of it is enough.
pub fn gram_work<S: BlockSpace>(space: &S) -> Work {
    Work::pass(space, 4 * (space.columns() as u64 + 1), 1)
}

/// Returns the operations and traffic of [`BlockSpace::subtract_block`].
pub fn subtraction_work<S: BlockSpace>(space: &S) -> Work {
    Work::pass(space, 12 * space.columns() as u64 + 4, 3)
}
