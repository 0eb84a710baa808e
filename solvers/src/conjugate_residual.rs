//! Conjugate Residual.

use crate::callbacks::Callbacks;
use crate::outcome::Failure;
use crate::progress::{Progress, SolveResult, Step, Verdict};
use crate::state::{Names, Resumed};
use crate::stopping::Stopping;
use crate::update::{AXPY, DIRECTION_AND_IMAGE, RESIDUAL, SOLUTION_DIRECTION_AND_IMAGE};
use crate::{Operator, VectorSpace};
use derive_setters::Setters;
use num_complex::Complex64;

/// The way in which the next search direction is made conjugate to the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Recurrence {
    /// β = (r', A r') / (r, A r): the published ratio.
    ///
    /// It is right for a Hermitian A, definite or not.
    #[default]
    Hermitian,
    /// β = −(A p, A r') / (A p, A p): makes A p' orthogonal to A p whatever A is.
    General,
}

/// Options of [`conjugate_residual`].
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct CrOptions {
    /// Conditions for stopping.
    pub stopping: Stopping,
    /// Choice of β. Default: [`Recurrence::Hermitian`].
    pub recurrence: Recurrence,
    /// Bound of a breakdown. Default 1e-14.
    ///
    /// The method breaks down when |(r, A p)| falls below this bound times ‖r‖ ‖A p‖.
    pub breakdown: f64,
}

impl Default for CrOptions {
    fn default() -> Self {
        Self { stopping: Stopping::default(), recurrence: Recurrence::default(), breakdown: 1e-14 }
    }
}

/// Solves A x = b by the Conjugate Residual method.
///
/// Sources: E. Stiefel, Comment. Math. Helv. 29 (1955) 157; for complex A, Y. Saad, *Iterative
/// Methods for Sparse Linear Systems*, 2nd ed., algorithm 6.20. With r = b − A x₀, p = r and (r,
/// Ap) known, each iteration does
///
/// ```text
/// α = conj((r, Ap)) / (Ap, Ap)         the α that makes ‖r‖ minimal
/// x = x + α p,   r = r − α Ap
/// β = (r', Ar') / (r, Ar)              Recurrence::Hermitian, the published ratio
/// β = −(Ap, Ar') / (Ap, Ap)            Recurrence::General
/// p = r + β p,   Ap = Ar + β Ap
/// ```
///
/// An iteration takes one application of A. ‖r‖ never grows.
///
/// For a Hermitian A the two β are the same number: (Ap, Ar') equals −(r', Ar')/conj(α) then, by
/// r' = r − αAp. For any other A the published ratio does not make the new direction conjugate to
/// the last. On the Wilson operator itself it stagnates at a relative residual of 0.1 to 0.2, on
/// every real gauge configuration tried. So use the published ratio on γ5M (Hermitian, indefinite)
/// or M†M (positive definite), and [`Recurrence::General`] on M. The latter is Orthomin(1). Its
/// convergence is certain if the Hermitian part of A is definite.
///
/// `guess` is x₀: zero if absent, or if it is 10⁴ times worse than zero. [`Callbacks`] compute the
/// residual that counts and keep states.
///
/// # Errors
/// [`SolverError::NotConverged`](crate::SolverError::NotConverged) with the iterate of the smallest
/// residual, to within a factor of four, if
/// * (r, Ap) vanishes while r does not,
/// * a scalar is not finite,
/// * the residual stagnates, or
/// * the iteration limit is reached.
///
/// The space's own error if an operation fails.
pub fn conjugate_residual<'c, S: VectorSpace>(
    a: &Operator<'_, S>,
    b: &S::Vector,
    guess: Option<&S::Vector>,
    params: &CrOptions,
    callbacks: impl Into<Callbacks<'c, S>>,
) -> SolveResult<S> {
    let space = a.space();
    let mut progress = Progress::start(a, b, guess, params.stopping, callbacks)?;
    let (apart, together) = (DIRECTION_AND_IMAGE.work(space), SOLUTION_DIRECTION_AND_IMAGE.work(space));
    progress.looks_move(AXPY.work(space).bytes + apart.bytes - together.bytes);

    let (mut x, mut r, mut p, mut ap, mut r_norm2, mut r_ap, mut ap_norm2);
    if let Some(Resumed { vectors, scalars, .. }) = progress.resume(&STATE)? {
        ([x, r, p, ap], [r_norm2, r_ap, ap_norm2]) = (vectors, scalars);
    } else {
        let beginning = progress.begin()?;
        (x, r, r_norm2) = (beginning.x, beginning.r, beginning.r_norm2);
        if let Some(verdict) = beginning.verdict {
            return progress.finish(x, verdict);
        }
        p = space.zero_vector()?;
        space.copy(&r, &mut p)?;
        ap = space.zero_vector()?;
        [r_ap, ap_norm2] = a.apply_products(&p, &p, &mut ap)?;
        progress.count_application_with_products();
    }
    let mut ar = space.zero_vector()?;
    loop {
        let scalars = [&r_norm2, &r_ap, &ap_norm2];
        if let Some(verdict) = progress.keep(&STATE, [&x, &r, &p, &ap], scalars, [])? {
            return progress.finish(x, verdict);
        }
        let alpha = space.quotient(&space.conjugate(&r_ap), &ap_norm2);
        let [new_norm2] = RESIDUAL.apply(space, [&alpha], [&ap], [&mut r])?;
        progress.work += RESIDUAL.work(space);
        progress.iterated(&new_norm2);
        let old_norm2 = std::mem::replace(&mut r_norm2, new_norm2);
        // The solution follows when p is in hand anyway, or now if somebody wants it.
        let looks = progress.looks();
        if looks {
            space.axpy(&alpha, &p, &mut x)?;
            progress.work += AXPY.work(space);
            let [product, image_norm2, old_norm2] = progress.read([&r_ap, &ap_norm2, &old_norm2])?;
            match progress.judge(&mut x, &mut r)? {
                Step::Done(verdict) => return progress.finish(x, verdict),
                Step::Replaced(norm2) => {
                    // The recurrence holds only for the residual that the directions were made of.
                    r_norm2 = norm2;
                    space.copy(&r, &mut p)?;
                    [r_ap, ap_norm2] = a.apply_products(&p, &p, &mut ap)?;
                    progress.count_application_with_products();
                    continue;
                }
                Step::Continue => {}
            }
            if let Some(failure) = unusable(product, image_norm2.re, old_norm2.re, params.breakdown) {
                return progress.finish(x, Verdict::GaveUp(failure));
            }
        }

        let (beta, r_ar) = match params.recurrence {
            Recurrence::Hermitian => {
                let r_ar = a.apply_dot(&r, &mut ar)?;
                (space.quotient(&r_ar, &r_ap), Some(r_ar))
            }
            Recurrence::General => {
                let [ap_ar, _] = a.apply_products(&r, &ap, &mut ar)?;
                (space.negate(&space.quotient(&ap_ar, &ap_norm2)), None)
            }
        };
        progress.count_application_with_products();
        [r_ap, ap_norm2] = if looks {
            progress.work += apart;
            DIRECTION_AND_IMAGE.apply(space, [&beta], [&r, &ar], [&mut p, &mut ap])?
        } else {
            progress.work += together;
            let written = [&mut x, &mut p, &mut ap];
            SOLUTION_DIRECTION_AND_IMAGE.apply(space, [&alpha, &beta], [&r, &ar], written)?
        };
        if let Some(r_ar) = r_ar {
            // r is orthogonal to the last Ap, so (r, Ap) is (r, Ar). The published ratio uses (r,
            // Ar).
            r_ap = r_ar;
        }
    }
}

const STATE: Names<4, 3, 0> = Names {
    method: "Conjugate Residual",
    vectors: ["x", "r", "p", "Ap"],
    scalars: ["(r, r)", "(r, Ap)", "(Ap, Ap)"],
    numbers: [],
};

/// Returns the reason why a step cannot be taken, if there is one.
fn unusable(r_ap: Complex64, ap_norm2: f64, r_norm2: f64, bound: f64) -> Option<Failure> {
    if !r_ap.is_finite() {
        return Some(Failure::NotFinite { quantity: "(r, Ar)" });
    }
    if !ap_norm2.is_finite() {
        return Some(Failure::NotFinite { quantity: "(Ap, Ap)" });
    }
    let relative = r_ap.norm() / (r_norm2.sqrt() * ap_norm2.sqrt());
    // Written so that 0/0, an A p equal to zero, counts as breakdown. So does a norm that
    // underflowed: it cannot be above 1.
    let usable = relative > bound && relative.is_finite();
    (!usable).then_some(Failure::Breakdown {
        quantity: "(r, Ar)",
        relative: if relative.is_finite() { relative } else { 0.0 },
        bound,
    })
}
