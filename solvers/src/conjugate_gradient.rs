//! Conjugate Gradient.

use crate::best::Best;
use crate::convergence::{Outcome, Progress, Stopping, TrueResidual, Verdict};
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
    let advance = Work::pass(space, 20, 6);
    let direction = Work::pass(space, 8, 3);
    let dot = Work::pass(space, 8, 2);

    let mut x = space.zero_vector()?;
    if let Some(guess) = guess {
        space.copy(guess, &mut x)?;
    }
    let mut r = space.zero_vector()?;
    let mut r_norm2 = progress.initial_residual(guess, &mut r)?;
    let [r_norm2_seen] = space.read([&r_norm2])?;
    if let Some(verdict) = progress.look(r_norm2_seen, &x)? {
        return progress.finish(x, verdict);
    }

    let mut p = space.zero_vector()?;
    space.copy(&r, &mut p)?;
    let mut ap = space.zero_vector()?;
    let mut curvature = Curvature::default();
    let mut best = Best::none(space)?;
    best.offer(space, &x, r_norm2_seen.re)?;
    loop {
        let p_ap = a.apply_dot(&p, &mut ap)?;
        progress.count_application();
        progress.work += dot;
        if progress.looks() {
            let [p_ap, r_norm2] = space.read([&p_ap, &r_norm2])?;
            if let Some(failure) = curvature.failure(p_ap, r_norm2.re, params.breakdown) {
                return progress.finish(best.or(x, r_norm2.re), Verdict::GaveUp(failure));
            }
        }
        let alpha = space.quotient(&r_norm2, &p_ap);
        let new_norm2 = space.advance(&alpha, &p, &mut x, &ap, &mut r)?;
        progress.work += advance;
        progress.iterations += 1;
        if progress.looks() {
            let [seen] = space.read([&new_norm2])?;
            match progress.look(seen, &x)? {
                Some(Verdict::Converged) => return progress.finish(x, Verdict::Converged),
                Some(verdict) => return progress.finish(best.or(x, seen.re), verdict),
                None => best.offer(space, &x, seen.re)?,
            }
        }
        let beta = space.quotient(&new_norm2, &r_norm2);
        space.xpby(&r, &beta, &mut p)?;
        progress.work += direction;
        r_norm2 = new_norm2;
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
