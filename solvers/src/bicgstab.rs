//! BiCGStab: the stabilised method of bi-conjugate gradients.

use crate::best::Best;
use crate::breakdown::vanishes;
use crate::convergence::{Outcome, Progress, Stopping, TrueResidual, Verdict};
use crate::outcome::{Failure, Work};
use crate::shadow::Shadow;
use crate::{LinearOperator, VectorOf, VectorSpace};
use num_complex::Complex64;

/// Parameters of [`bicgstab`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BicgstabParams {
    /// When to stop.
    pub stopping: Stopping,
    /// Breakdown when an inner product that is divided by falls below this times the product of the two norms. Default 1e-12.
    pub breakdown: f64,
}

impl Default for BicgstabParams {
    fn default() -> Self {
        Self { stopping: Stopping::default(), breakdown: 1e-12 }
    }
}

/// Solves A x = b by BiCGStab (H. A. van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631).
///
/// With the shadow residual q, at first r, and p = r, each iteration does
///
/// ```text
/// α = (q, r) / (q, Ap),   s = r − α Ap
/// ω = (As, s) / (As, As)              the ω that makes ‖r‖ minimal
/// x = x + α p + ω s,   r = s − ω As
/// β = (q, r') / (q, r) · α / ω,   p = r + β (p − ω Ap)
/// ```
///
/// Two applications of A an iteration. When an inner product that is divided by vanishes, the method is started again from the iterate
/// it reached, with its residual as the new shadow residual; where the last one brought no progress, with q = r + Ar ‖r‖ / ‖Ar‖.
///
/// `guess` is x₀ (zero if absent); `true_residual` computes the residual that counts (see [`TrueResidual`]).
///
/// # Errors
/// [`SolverError::NotConverged`](crate::SolverError::NotConverged) with the iterate of the smallest residual, to within a factor of
/// two, when neither shadow residual brings progress, when a scalar is not finite, when the residual stagnates or the
/// iteration limit is reached; the space's own error when an operation fails.
pub fn bicgstab<A: LinearOperator>(
    a: &A,
    b: &VectorOf<A>,
    guess: Option<&VectorOf<A>>,
    params: &BicgstabParams,
    true_residual: Option<TrueResidual<'_, A>>,
) -> Outcome<A> {
    let space = a.space();
    let mut progress = Progress::start(a, b, params.stopping, true_residual)?;
    let half_step = Work::pass(space, 20, 6);
    let passes = [(8, 3), (8, 3), (4, 1), (8, 3), (8, 3)];
    let other_half = passes.map(|(flops, vectors)| Work::pass(space, flops, vectors));
    let dot = Work::pass(space, 8, 2);

    let mut x = space.zero_vector()?;
    if let Some(guess) = guess {
        space.copy(guess, &mut x)?;
    }
    let mut r = space.zero_vector()?;
    let r_norm2 = progress.initial_residual(guess, &mut r)?;
    let [r_norm2] = space.read([&r_norm2])?;
    if let Some(verdict) = progress.look(r_norm2, &x)? {
        return progress.finish(x, verdict);
    }
    let mut r_norm2 = r_norm2.re;

    let mut p = space.zero_vector()?;
    let mut ap = space.zero_vector()?;
    let mut t = space.zero_vector()?;
    let mut shadow = Shadow::none(space)?;
    let mut best = Best::none(space)?;
    best.offer(space, &x, r_norm2)?;
    shadow.start(a, &r, r_norm2, &mut ap)?;
    space.copy(&r, &mut p)?;
    let mut rho = space.dot(&shadow.q, &r)?;
    loop {
        a.apply(&p, &mut ap)?;
        progress.count_application();
        let sigma = space.dot(&shadow.q, &ap)?;
        progress.work += dot;
        let mut broken = None;
        if progress.looks() {
            let ap_norm2 = space.norm2(&ap)?;
            let [rho, sigma, ap_norm2] = space.read([&rho, &sigma, &ap_norm2])?;
            broken = vanishes("(q, r)", rho, shadow.norm2 * r_norm2, params.breakdown)
                .or_else(|| vanishes("(q, Ap)", sigma, shadow.norm2 * ap_norm2.re, params.breakdown));
        }
        if broken.is_none() {
            let alpha = space.quotient(&rho, &sigma);
            let s_norm2 = space.advance(&alpha, &p, &mut x, &ap, &mut r)?;
            a.apply(&r, &mut t)?;
            progress.count_application();
            let (t_s, t_norm2) = (space.dot(&t, &r)?, space.norm2(&t)?);
            progress.work += half_step;
            progress.work += dot;
            let mut omega = space.quotient(&t_s, &t_norm2);
            if progress.looks() {
                let [t_s, t_norm2, s_norm2] = space.read([&t_s, &t_norm2, &s_norm2])?;
                // An s of zero is a solution already; its quotient would be 0/0.
                if s_norm2.re == 0.0 {
                    omega = space.scalar(Complex64::default());
                } else {
                    broken = vanishes("(As, s)", t_s, t_norm2.re * s_norm2.re, params.breakdown);
                    // Of an iteration without its second half only the step along p remains.
                    if broken.is_some() && t_s.is_finite() {
                        omega = space.scalar(Complex64::default());
                    }
                }
            }
            space.axpy(&omega, &r, &mut x)?;
            space.axpy(&space.negate(&omega), &t, &mut r)?;
            let new_norm2 = space.norm2(&r)?;
            other_half.into_iter().for_each(|pass| progress.work += pass);
            progress.iterations += 1;
            if progress.looks() {
                let [seen] = space.read([&new_norm2])?;
                match progress.look(seen, &x)? {
                    Some(Verdict::Converged) => return progress.finish(x, Verdict::Converged),
                    Some(verdict) => return progress.finish(best.or(x, seen.re), verdict),
                    None => best.offer(space, &x, seen.re)?,
                }
                r_norm2 = seen.re;
            }
            if broken.is_none() {
                let new_rho = space.dot(&shadow.q, &r)?;
                progress.work += dot;
                let beta = space.quotient(&space.quotient(&new_rho, &rho), &space.quotient(&omega, &alpha));
                space.axpy(&space.negate(&omega), &ap, &mut p)?;
                space.xpby(&r, &beta, &mut p)?;
                rho = new_rho;
            }
        }
        if let Some(failure) = broken {
            let hopeless = shadow.exhausted(r_norm2) || matches!(failure, Failure::NotFinite { .. });
            if hopeless {
                return progress.finish(best.or(x, r_norm2), Verdict::GaveUp(failure));
            }
            if shadow.start(a, &r, r_norm2, &mut ap)? {
                progress.count_application();
            }
            space.copy(&r, &mut p)?;
            rho = space.dot(&shadow.q, &r)?;
            progress.work += dot;
        }
    }
}
