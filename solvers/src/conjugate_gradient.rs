//! Conjugate Gradient.

use crate::convergence::{Beginning, Outcome, Progress, Step, Stopping, TrueResidual, Verdict};
use crate::outcome::{Failure, Work};
use crate::{LinearOperator, VectorOf, VectorSpace};
use num_complex::Complex64;

/// Parameters of [`conjugate_gradient`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CgParams {
    /// When to stop.
    pub stopping: Stopping,
    /// Breakdown when the curvature (p, Ap) / (r, r) falls below this times that of the first direction, or is
    /// negative. Default 1e-14.
    pub breakdown: f64,
}

impl Default for CgParams {
    fn default() -> Self {
        Self { stopping: Stopping::default(), breakdown: 1e-14 }
    }
}

/// Solves A x = b for a Hermitian positive definite A by the Conjugate Gradient method (M. Hestenes and
/// E. Stiefel, J. Res. Natl. Bur. Stand. 49 (1952) 409).
///
/// ```text
/// α = (r, r) / (p, Ap),   x = x + α p,   r = r − α Ap
/// β = (r', r') / (r, r),  p = r + β p
/// ```
///
/// Two passes over vectors an iteration, besides the application: one for r and its norm, one for x and p.
///
/// `guess` is x₀ (zero if absent); `true_residual` computes the residual that counts (see [`TrueResidual`]).
///
/// # Errors
/// [`SolverError::NotConverged`](crate::SolverError::NotConverged) with the iterate of the smallest
/// residual, to within a factor of two, when (p, Ap) is not positive, when a scalar is not finite, when the residual
/// stagnates or the iteration limit is reached; the space's own error when an operation fails.
pub fn conjugate_gradient<A: LinearOperator>(
    a: &A,
    b: &VectorOf<A>,
    guess: Option<&VectorOf<A>>,
    params: &CgParams,
    true_residual: Option<TrueResidual<'_, A>>,
) -> Outcome<A> {
    let space = a.space();
    let mut progress = Progress::start(a, b, params.stopping, true_residual)?;
    let subtract = Work::pass(space, 12, 3);
    let follow = Work::pass(space, 16, 5);

    let Beginning { mut x, mut r, mut r_norm2, verdict } = progress.begin(guess)?;
    if let Some(verdict) = verdict {
        return progress.finish(x, verdict);
    }
    let mut p = space.zero_vector()?;
    space.copy(&r, &mut p)?;
    let mut ap = space.zero_vector()?;
    let mut curvature = Curvature::default();
    loop {
        let p_ap = a.apply_dot(&p, &mut ap)?;
        progress.count_application_with_products();
        let alpha = space.quotient(&r_norm2, &p_ap);
        let new_norm2 = space.subtract(&alpha, &ap, &mut r)?;
        let beta = space.quotient(&new_norm2, &r_norm2);
        space.follow(&alpha, &beta, &r, &mut x, &mut p)?;
        progress.work += subtract;
        progress.work += follow;
        progress.iterated(&new_norm2);
        let old_norm2 = std::mem::replace(&mut r_norm2, new_norm2);
        if progress.looks() {
            let [p_ap, old_norm2] = progress.read([&p_ap, &old_norm2])?;
            match progress.judge(&mut x, &mut r)? {
                Step::Done(verdict) => return progress.finish(x, verdict),
                Step::Replaced(norm2) => {
                    // (r, p) = (r, r) holds for the new residual too.
                    let [r_p, value] = space.read([&space.dot(&r, &p)?, &norm2])?;
                    space.axpy(&space.scalar(1.0 - r_p / value), &r, &mut p)?;
                    r_norm2 = norm2;
                }
                Step::Continue => {}
            }
            if let Some(failure) = curvature.failure(p_ap, old_norm2.re, params.breakdown) {
                return progress.finish(x, Verdict::GaveUp(failure));
            }
        }
    }
}

/// The curvature (p, Ap) / (r, r), which stays above the smallest eigenvalue of a positive definite A.
#[derive(Default)]
pub(crate) struct Curvature {
    first: Option<f64>,
}

impl Curvature {
    /// Why the next step cannot be taken, if so.
    pub fn failure(&mut self, p_ap: Complex64, r_norm2: f64, bound: f64) -> Option<Failure> {
        if !p_ap.is_finite() {
            return Some(Failure::NotFinite { quantity: "(p, Ap)" });
        }
        let curvature = p_ap.re / r_norm2;
        let first = *self.first.get_or_insert(curvature.abs());
        let relative = curvature / first;
        // Written so that 0/0, an A p equal to zero, counts as breakdown.
        let usable = relative > bound;
        (!usable).then_some(Failure::Breakdown {
            quantity: "(p, Ap)",
            relative: if relative.is_nan() { 0.0 } else { relative },
            bound,
        })
    }
}
