//! What a method takes as its preconditioner.

use crate::outcome::{Failure, SolverError};
use crate::work::Work;
use crate::{Operator, VectorSpace};

/// An approximation of A⁻¹, which may change from one call to the next.
///
/// Any method of this crate will do, in a closure. A method that gives up leaves its best iterate
/// as z, so that its error can be passed on:
///
/// ```text
/// |r, z| smoother.apply(r, z)                                        a fixed number of steps, an MrSmoother
/// |r, z| bicgstab(&a, r, None, &loose, None).map(|(x, info)| { *z = x; info.work })
/// ```
pub trait Preconditioner<S: VectorSpace> {
    /// Computes z ≈ A⁻¹ r, and returns the work. The old contents of z do not matter.
    ///
    /// # Errors
    /// Those of the method that it is, or of the space.
    fn apply(&mut self, r: &S::Vector, z: &mut S::Vector) -> Preconditioned<S>;

    /// Computes z, and image = A z too if that comes for nothing.
    ///
    /// The work then includes the applications of A, of which the number is returned. A smoother
    /// that leaves a residual knows the image. [`gcr`](crate::gcr()) asks for it. Default: without.
    ///
    /// # Errors
    /// Those of [`apply`](Self::apply).
    fn apply_with_image(
        &mut self,
        r: &S::Vector,
        z: &mut S::Vector,
        _image: &mut S::Vector,
    ) -> Preconditioned<S, (Work, Option<usize>)> {
        Ok((self.apply(r, z)?, None))
    }

    /// Returns the operator that it is, if that is always the same one. Default `None`.
    fn fixed(&self) -> Option<&Operator<'_, S>> {
        None
    }
}

/// The work of a preconditioner, or what else it returns; or why there is none of it.
pub type Preconditioned<S, T = Work> =
    Result<T, SolverError<<S as VectorSpace>::Vector, <S as VectorSpace>::Error>>;

impl<S, F> Preconditioner<S> for F
where
    S: VectorSpace,
    F: FnMut(&S::Vector, &mut S::Vector) -> Preconditioned<S>,
{
    fn apply(&mut self, r: &S::Vector, z: &mut S::Vector) -> Preconditioned<S> {
        self(r, z)
    }
}

/// A linear operator as a preconditioner.
pub struct OperatorPreconditioner<'a, S: VectorSpace> {
    /// The operator.
    pub operator: &'a Operator<'a, S>,
    /// `true` if it is another operator for each vector.
    pub changes: bool,
}

impl<S: VectorSpace> Preconditioner<S> for OperatorPreconditioner<'_, S> {
    fn apply(&mut self, r: &S::Vector, z: &mut S::Vector) -> Preconditioned<S> {
        self.operator.apply(r, z)?;
        Ok(self.operator.work())
    }

    fn fixed(&self) -> Option<&Operator<'_, S>> {
        (!self.changes).then_some(self.operator)
    }
}

/// Computes z ≈ A⁻¹ r. A preconditioner that gives up leaves its best.
pub(crate) fn precondition<S: VectorSpace>(
    preconditioner: &mut dyn Preconditioner<S>,
    r: &S::Vector,
    z: &mut S::Vector,
) -> Preconditioned<S> {
    or_best(preconditioner.apply(r, z), z, |work| work)
}

/// Computes z, and image = A z if the preconditioner knows it.
pub(crate) fn precondition_with_image<S: VectorSpace>(
    preconditioner: &mut dyn Preconditioner<S>,
    r: &S::Vector,
    z: &mut S::Vector,
    image: &mut S::Vector,
) -> Preconditioned<S, (Work, Option<usize>)> {
    or_best(preconditioner.apply_with_image(r, z, image), z, |work| (work, None))
}

fn or_best<V, E: std::error::Error, T>(
    outcome: Result<T, SolverError<V, E>>,
    z: &mut V,
    of_work: impl FnOnce(Work) -> T,
) -> Result<T, SolverError<V, E>> {
    match outcome {
        Err(SolverError::NotConverged { best, info, failure }) if failure != Failure::Interrupted => {
            *z = best;
            Ok(of_work(info.work))
        }
        other => other,
    }
}
