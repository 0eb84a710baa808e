//! Conjugate Gradient with a preconditioner.

use crate::callbacks::Callbacks;
use crate::conjugate_gradient::Curvature;
use crate::convergence::{Progress, SolveResult, Step, Stopping, Verdict};
use crate::gcr::Preconditioner;
use crate::outcome::{Failure, SolverError};
use crate::state::{Names, Resumed};
use crate::update::{DOT, SOLUTION_AND_RESIDUAL, XPBY};
use crate::{ErrorOf, LinearOperator, VectorOf, VectorSpace};

/// Options of [`preconditioned_cg`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreconditionedCgOptions {
    /// Conditions for stopping.
    pub stopping: Stopping,
    /// Bound of a breakdown. Default 1e-14.
    ///
    /// The method breaks down when (p, Ap) / (r, Kr) or (r, Kr) / (r, r) is negative. It also breaks
    /// down when one of them falls below this bound times its first value.
    pub breakdown: f64,
    /// `true` for a preconditioner that is no fixed linear operator. Default `false`.
    ///
    /// The next direction is then made conjugate to the last one by an inner product of its own.
    pub flexible: bool,
}

impl Default for PreconditionedCgOptions {
    fn default() -> Self {
        Self { stopping: Stopping::default(), breakdown: 1e-14, flexible: false }
    }
}

/// Solves A x = b by preconditioned Conjugate Gradient.
///
/// A is Hermitian and positive definite. Source: Y. Saad, *Iterative Methods for Sparse Linear
/// Systems*, 2nd ed., algorithm 9.1. K ≈ A⁻¹ is Hermitian and positive definite.
///
/// ```text
/// α = (r, z) / (p, Ap),   x = x + α p,   r = r − α Ap,   z = K r
/// β = (r', z') / (r, z),  p = z + β p
/// ```
///
/// With [`flexible`](PreconditionedCgOptions::flexible) it is β = −(Ap, z') / (p, Ap), the form of
/// Polak and Ribière: (Ap, z') = −(r' − r, z') / α (G. H. Golub and Q. Ye, SIAM J. Sci. Comput. 21
/// (1999) 1305). K may then change a little from one iteration to the next.
///
/// An iteration takes one application of A and one of K. ‖r‖ decides when to stop.
///
/// `guess` is x₀: zero if absent, or if it is 10⁴ times worse than zero. [`Callbacks`] compute the
/// residual that counts and keep states.
///
/// # Errors
/// [`SolverError::NotConverged`] with the iterate of the smallest residual, to within a factor of
/// four, if
/// * (p, Ap) or (r, Kr) is not positive,
/// * a scalar is not finite,
/// * the residual stagnates, or
/// * the iteration limit is reached.
///
/// The preconditioner's own error, unless it gave up. The space's own error if an operation fails.
pub fn preconditioned_cg<'p, 'c, A>(
    a: &A,
    b: &VectorOf<A>,
    guess: Option<&VectorOf<A>>,
    params: &PreconditionedCgOptions,
    preconditioner: Preconditioner<'p, A>,
    callbacks: impl Into<Callbacks<'c, A>>,
) -> SolveResult<A>
where
    A: LinearOperator<Space: VectorSpace<Vector: 'c, Scalar: 'c, Error: 'c>> + 'p,
{
    let space = a.space();
    let mut progress = Progress::start(a, b, guess, params.stopping, callbacks)?;
    let mut work = SOLUTION_AND_RESIDUAL.work(space);
    work += XPBY.work(space);
    work += DOT.work(space).times(if params.flexible { 2 } else { 1 });

    let mut z = space.zero_vector()?;
    let mut curvature = Curvature::of("(p, Ap)");
    let mut positive = Curvature::of("(r, Kr)");
    let (mut x, mut r, mut p, mut r_z, mut r_norm2);
    if let Some(Resumed { vectors, scalars, numbers: [first, first_positive] }) = progress.resume(&STATE)? {
        ([x, r, p], [r_z, r_norm2]) = (vectors, scalars);
        curvature.resume(first);
        positive.resume(first_positive);
    } else {
        let beginning = progress.begin()?;
        (x, r, r_norm2) = (beginning.x, beginning.r, beginning.r_norm2);
        if let Some(verdict) = beginning.verdict {
            return progress.finish(x, verdict);
        }
        progress.work += precondition::<A>(&mut *preconditioner, &r, &mut z)?;
        r_z = space.dot(&r, &z)?;
        p = space.zero_vector()?;
        space.copy(&z, &mut p)?;
    }
    let mut ap = space.zero_vector()?;
    loop {
        let numbers = [curvature.first(), positive.first()];
        if let Some(verdict) = progress.keep(&STATE, [&x, &r, &p], [&r_z, &r_norm2], numbers)? {
            return progress.finish(x, verdict);
        }
        let p_ap = a.apply_dot(&p, &mut ap)?;
        progress.count_application_with_products();
        let alpha = space.quotient(&r_z, &p_ap);
        let [new_norm2] = SOLUTION_AND_RESIDUAL.apply(space, [&alpha], [&p, &ap], [&mut x, &mut r])?;
        progress.work += work;
        progress.iterated(&new_norm2);
        let old_norm2 = std::mem::replace(&mut r_norm2, new_norm2);
        let mut begins = false;
        if progress.looks() {
            let [p_ap, r_z, old_norm2] = progress.read([&p_ap, &r_z, &old_norm2])?;
            match progress.judge(&mut x, &mut r)? {
                Step::Done(verdict) => return progress.finish(x, verdict),
                // The directions belong to the old residual.
                Step::Replaced(norm2) => {
                    r_norm2 = norm2;
                    begins = true;
                }
                Step::Continue => {}
            }
            let failure = positive
                .failure(r_z, old_norm2.re, params.breakdown)
                .or_else(|| curvature.failure(p_ap, r_z.re, params.breakdown));
            if let Some(failure) = failure {
                return progress.finish(x, Verdict::GaveUp(failure));
            }
        }
        progress.work += precondition::<A>(&mut *preconditioner, &r, &mut z)?;
        let new_r_z = space.dot(&r, &z)?;
        if begins {
            space.copy(&z, &mut p)?;
        } else {
            let beta = if params.flexible {
                space.negate(&space.quotient(&space.dot(&ap, &z)?, &p_ap))
            } else {
                space.quotient(&new_r_z, &r_z)
            };
            space.xpby(&z, &beta, &mut p)?;
        }
        r_z = new_r_z;
    }
}

/// Computes z ≈ A⁻¹ r. A preconditioner that gives up leaves its best.
pub(crate) fn precondition<A: LinearOperator>(
    preconditioner: Preconditioner<'_, A>,
    r: &VectorOf<A>,
    z: &mut VectorOf<A>,
) -> Result<crate::Work, SolverError<VectorOf<A>, ErrorOf<A>>> {
    match preconditioner(r, z) {
        Err(SolverError::NotConverged { best, info, failure }) if failure != Failure::Interrupted => {
            *z = best;
            Ok(info.work)
        }
        other => other,
    }
}

const STATE: Names<3, 2, 2> = Names {
    method: "preconditioned Conjugate Gradient",
    vectors: ["x", "r", "p"],
    scalars: ["(r, Kr)", "(r, r)"],
    numbers: ["first curvature", "first (r, Kr)"],
};
