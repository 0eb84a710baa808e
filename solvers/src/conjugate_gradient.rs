//! Conjugate Gradient.

use crate::callbacks::Callbacks;
use crate::cg_options::CgOptions;
use crate::curvature::Curvature;
use crate::preconditioned_cg::preconditioned_cg;
use crate::preconditioner::Preconditioner;
use crate::progress::{Progress, SolveResult, Step, Verdict};
use crate::state::{Names, Resumed};
use crate::update::{BICGSTAB_DIRECTION, SOLUTION_AND_DIRECTION};
use crate::{Operator, VectorSpace};
use num_complex::Complex64;

/// Solves A x = b for a Hermitian positive definite A by Conjugate Gradient.
///
/// Source: M. Hestenes and E. Stiefel, J. Res. Natl. Bur. Stand. 49 (1952) 409.
///
/// ```text
/// α = (r, r) / (p, Ap),   x = x + α p,   r = r − α Ap
/// β = (r', r') / (r, r),  p = r + β p
/// ```
///
/// Besides the application, an iteration takes two passes over vectors. One is for r and its norm:
/// an operator may do this pass as it is applied ([`LinearOperator::descend`](crate::LinearOperator::descend)). The other is for x
/// and p.
///
/// The preconditioner K ≈ A⁻¹ is Hermitian and positive definite (Y. Saad, *Iterative Methods for
/// Sparse Linear Systems*, 2nd ed., algorithm 9.1). ‖r‖ decides when to stop.
///
/// ```text
/// α = (r, z) / (p, Ap),   x = x + α p,   r = r − α Ap,   z = K r
/// β = (r', z') / (r, z),  p = z + β p
/// ```
///
/// With [`flexible`](CgOptions::flexible) it is β = −(Ap, z') / (p, Ap), the form of Polak and
/// Ribière: (Ap, z') = −(r' − r, z') / α (G. H. Golub and Q. Ye, SIAM J. Sci. Comput. 21 (1999)
/// 1305). K may then change a little from one iteration to the next.
///
/// `guess` is x₀: zero if absent, or if it is 10⁴ times worse than zero. [`Callbacks`] compute the
/// residual that counts and keep states.
///
/// # Errors
/// [`SolverError::NotConverged`](crate::SolverError::NotConverged) with the iterate of the smallest
/// residual, to within a factor of four, if
/// * (p, Ap) or (r, Kr) is not positive,
/// * a scalar is not finite,
/// * the residual stagnates, or
/// * the iteration limit is reached.
///
/// The preconditioner's own error, unless it gave up. The space's own error if an operation fails.
pub fn conjugate_gradient<'c, S: VectorSpace>(
    a: &Operator<'_, S>,
    b: &S::Vector,
    guess: Option<&S::Vector>,
    params: &CgOptions,
    preconditioner: Option<&mut dyn Preconditioner<S>>,
    callbacks: impl Into<Callbacks<'c, S>>,
) -> SolveResult<S> {
    let mut progress = Progress::start(a, b, guess, params.stopping, callbacks)?;
    if let Some(preconditioner) = preconditioner {
        return preconditioned_cg(a, params, preconditioner, progress);
    }
    let space = a.space();
    let work = SOLUTION_AND_DIRECTION.work(space);

    let (mut x, mut r, mut p, mut r_norm2);
    let mut curvature = Curvature::of("(p, Ap)");
    if let Some(Resumed { vectors, scalars, numbers: [first] }) = progress.resume(&STATE)? {
        ([x, r, p], [r_norm2]) = (vectors, scalars);
        curvature.resume(first);
    } else {
        let beginning = progress.begin()?;
        (x, r, r_norm2) = (beginning.x, beginning.r, beginning.r_norm2);
        if let Some(verdict) = beginning.verdict {
            return progress.finish(x, verdict);
        }
        p = space.zero_vector()?;
        space.copy(&r, &mut p)?;
    }
    let mut ap = space.zero_vector()?;
    loop {
        if let Some(verdict) = progress.keep(&STATE, [&x, &r, &p], [&r_norm2], [curvature.first()])? {
            return progress.finish(x, verdict);
        }
        let [p_ap, new_norm2] = a.descend(&r_norm2, &p, &mut ap, &mut r)?;
        progress.count_descent();
        let alpha = space.quotient(&r_norm2, &p_ap);
        let beta = space.quotient(&new_norm2, &r_norm2);
        SOLUTION_AND_DIRECTION.apply(space, [&alpha, &beta], [&r], [&mut x, &mut p])?;
        progress.work += work;
        progress.iterated(&new_norm2);
        let old_norm2 = std::mem::replace(&mut r_norm2, new_norm2);
        if progress.looks() {
            let [p_ap, old_norm2] = progress.read([&p_ap, &old_norm2])?;
            match progress.judge(&mut x, &mut r)? {
                Step::Done(verdict) => return progress.finish(x, verdict),
                Step::Replaced(norm2) => {
                    // (r, p) = (r, r) holds for the new residual too.
                    let share = space.quotient(&space.dot(&r, &p)?, &norm2);
                    let one = space.scalar(Complex64::new(1.0, 0.0));
                    BICGSTAB_DIRECTION.apply(space, [&share, &one], [&r, &r], [&mut p])?;
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

const STATE: Names<3, 1, 1> = Names {
    method: "Conjugate Gradient",
    vectors: ["x", "r", "p"],
    scalars: ["(r, r)"],
    numbers: ["first curvature"],
};
