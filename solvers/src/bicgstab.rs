//! BiCGStab: the stabilised method of bi-conjugate gradients.

use crate::breakdown::vanishes;
use crate::callbacks::Callbacks;
use crate::outcome::Failure;
use crate::progress::{Progress, SolveResult, Step, Verdict};
use crate::shadow::{HOPELESS_GROWTH, SHADOW_NUMBERS, Shadow};
use crate::state::{Names, Resumed};
use crate::stopping::Stopping;
use crate::update::{AXPY, BICGSTAB_DIRECTION, BICGSTAB_SOLUTION_AND_RESIDUAL};
use crate::{Operator, VectorSpace};
use derive_setters::Setters;

/// Options of [`bicgstab`].
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct BicgstabOptions {
    /// Conditions for stopping.
    pub stopping: Stopping,
    /// Bound of a breakdown. Default 1e-12.
    ///
    /// The method breaks down when an inner product that is divided by falls below this bound times
    /// the product of the two norms.
    pub breakdown: f64,
}

impl Default for BicgstabOptions {
    fn default() -> Self {
        Self { stopping: Stopping::default(), breakdown: 1e-12 }
    }
}

/// Solves A x = b by BiCGStab.
///
/// Source: H. A. van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631. With the shadow residual
/// q, at first r, and p = r, each iteration does
///
/// ```text
/// α = (q, r) / (q, Ap),   s = r − α Ap
/// ω = (As, s) / (As, As)              the ω that makes ‖r‖ minimal
/// x = x + α p + ω s,   r = s − ω As
/// β = (q, r') / (q, r) · α / ω,   p = r + β (p − ω Ap)
/// ```
///
/// An iteration takes two applications of A and three passes over vectors.
///
/// The method starts again from the current iterate when an inner product that is divided by
/// vanishes. The new shadow residual is the residual. If the last start brought no progress, the
/// new one is q = r + Ar ‖r‖ / ‖Ar‖. When the residual has grown by a factor of 10⁴, the method
/// starts again from the best iterate.
///
/// `guess` is x₀: zero if absent, or if it is 10⁴ times worse than zero. [`Callbacks`] compute the
/// residual that counts and keep states.
///
/// # Errors
/// [`SolverError::NotConverged`](crate::SolverError::NotConverged) with the iterate of the smallest
/// residual, to within a factor of four, if
/// * neither shadow residual brings progress,
/// * a scalar is not finite,
/// * the residual stagnates, or
/// * the iteration limit is reached.
///
/// The space's own error if an operation fails.
pub fn bicgstab<'c, S: VectorSpace>(
    a: &Operator<'_, S>,
    b: &S::Vector,
    guess: Option<&S::Vector>,
    params: &BicgstabOptions,
    callbacks: impl Into<Callbacks<'c, S>>,
) -> SolveResult<S> {
    let space = a.space();
    let mut progress = Progress::start(a, b, guess, params.stopping, callbacks)?;
    let passes =
        [AXPY.work(space), BICGSTAB_SOLUTION_AND_RESIDUAL.work(space), BICGSTAB_DIRECTION.work(space)];

    let mut ap = space.zero_vector()?;
    let mut t = space.zero_vector()?;
    let (mut x, mut r, mut p, mut rho, mut shadow);
    if let Some(Resumed { vectors, scalars, numbers }) = progress.resume(&STATE)? {
        let q;
        ([x, r, p, q], [rho]) = (vectors, scalars);
        shadow = Shadow::restored(q, numbers);
    } else {
        let beginning = progress.begin()?;
        (x, r) = (beginning.x, beginning.r);
        if let Some(verdict) = beginning.verdict {
            return progress.finish(x, verdict);
        }
        shadow = Shadow::none(space)?;
        shadow.start(a, &r, progress.r_norm2(), &mut ap)?;
        p = space.zero_vector()?;
        space.copy(&r, &mut p)?;
        rho = space.dot(&shadow.q, &r)?;
    }
    loop {
        if let Some(verdict) = progress.keep(&STATE, [&x, &r, &p, &shadow.q], [&rho], shadow.numbers())? {
            return progress.finish(x, verdict);
        }
        let [sigma, ap_norm2] = a.apply_products(&p, &shadow.q, &mut ap)?;
        let alpha = space.quotient(&rho, &sigma);
        space.axpy(&space.negate(&alpha), &ap, &mut r)?;
        let [s_t, t_norm2] = a.apply_products(&r, &r, &mut t)?;
        let omega = space.quotient(&space.conjugate(&s_t), &t_norm2);
        let read = [&p, &t, &shadow.q];
        let [new_rho, r_norm2] =
            BICGSTAB_SOLUTION_AND_RESIDUAL.apply(space, [&alpha, &omega], read, [&mut x, &mut r])?;
        let beta = space.quotient(&space.quotient(&new_rho, &rho), &space.quotient(&omega, &alpha));
        BICGSTAB_DIRECTION.apply(space, [&omega, &beta], [&ap, &r], [&mut p])?;
        rho = new_rho;
        progress.count_application_with_products();
        progress.count_application_with_products();
        passes.into_iter().for_each(|pass| progress.work += pass);
        progress.iterated(&r_norm2);
        if !progress.looks() {
            continue;
        }

        let [sigma, ap_norm2, s_t, t_norm2, rho_value] =
            progress.read([&sigma, &ap_norm2, &s_t, &t_norm2, &rho])?;
        match progress.judge(&mut x, &mut r)? {
            Step::Done(verdict) => return progress.finish(x, verdict),
            Step::Replaced(_) => rho = space.dot(&shadow.q, &r)?,
            Step::Continue => {}
        }
        // ω made s as small as r: ‖s‖² = ‖r‖² + |(s, As)|² / ‖As‖².
        let s_norm2 = progress.r_norm2() + if t_norm2.re > 0.0 { s_t.norm_sqr() / t_norm2.re } else { 0.0 };
        let broken = vanishes("(q, Ap)", sigma, shadow.norm2 * ap_norm2.re, params.breakdown)
            .or_else(|| vanishes("(As, s)", s_t, t_norm2.re * s_norm2, params.breakdown))
            .or_else(|| vanishes("(q, r)", rho_value, shadow.norm2 * progress.r_norm2(), params.breakdown));
        let lost = progress.growth() > HOPELESS_GROWTH;
        if broken.is_none() && !lost {
            continue;
        }
        if let Some(failure) = broken {
            let hopeless = shadow.exhausted(progress.r_norm2());
            if hopeless || matches!(failure, Failure::NotFinite { .. }) {
                return progress.finish(x, Verdict::GaveUp(failure));
            }
        }
        if lost {
            progress.restore(&mut x, &mut r)?;
        }
        if shadow.start(a, &r, progress.r_norm2(), &mut ap)? {
            progress.count_application();
        }
        space.copy(&r, &mut p)?;
        rho = space.dot(&shadow.q, &r)?;
    }
}

const STATE: Names<4, 1, 3> = Names {
    method: "BiCGStab",
    vectors: ["x", "r", "p", "shadow residual"],
    scalars: ["(q, r)"],
    numbers: SHADOW_NUMBERS,
};
