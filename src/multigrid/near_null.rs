//! Vectors that an operator makes small.

use super::error::SetupError;
use super::finer::Finer;
use crate::compute::DeviceError;
use crate::field::Numbers;
use crate::scalar::Real;
use lattice_solvers::{
    BicgstabOptions, LinearOperator, SolverError, Stopping, VectorOf, VectorSpace, bicgstab,
};

/// The residual at which iterations end early.
///
/// What is left of the vector is about as large then, at least. In single precision rounding errors of the
/// solution are still a hundred times smaller.
const GOOD_ENOUGH: f64 = 1e-5;

/// Makes near-null vectors of vectors v, for example random ones.
///
/// A result is v less the solution of A c = A v after a few iterations. The parts on which the
/// iteration is slow remain. All columns have the same polynomial of A, which suits their mean.
pub(super) fn near_null_vectors<R: Real, F: Finer<R>>(
    finer: &F,
    mut vectors: VectorOf<F::System>,
    iterations: usize,
) -> Result<Numbers<R>, SetupError> {
    let system = finer.system();
    let mut b = system.space().zero_vector()?;
    system.apply(&vectors, &mut b)?;
    let solution = after(system, &b, iterations)?;
    let space = system.space();
    space.axpy(&space.scalar((-1.0).into()), &solution, &mut vectors)?;
    finer.complete(&vectors)
}

/// Returns A⁻¹ b after so many iterations.
fn after<A>(a: &A, b: &VectorOf<A>, iterations: usize) -> Result<VectorOf<A>, DeviceError>
where
    A: LinearOperator<Space: VectorSpace<Error = DeviceError>>,
{
    let stopping = Stopping::default().with_tolerance(GOOD_ENOUGH).with_max_iterations(iterations);
    let options = BicgstabOptions::default().with_stopping(stopping);
    match bicgstab(a, b, None, &options, None) {
        Ok((x, _)) => Ok(x),
        Err(SolverError::NotConverged { best, .. }) => Ok(best),
        Err(SolverError::Operation(error)) => Err(error),
        // An image that is zero or not finite leaves nothing to do; the vectors are dependent then,
        // which is found out.
        Err(_) => a.space().zero_vector(),
    }
}
