//! Conjugate Gradient on the other side of the normal equations.

use crate::callbacks::Callbacks;
use crate::cg_options::CgOptions;
use crate::curvature::Curvature;
use crate::progress::{Progress, SolveResult, Step, Verdict};
use crate::state::{Names, Resumed};
use crate::update::{NORM2, SOLUTION_AND_DIRECTION};
use crate::{Operator, VectorSpace};
use num_complex::Complex64;

/// Solves A x = b by Conjugate Gradient on A A†y = b.
///
/// A may be any operator that is not singular. The iteration has x = A†y in place of y. Sources: E.
/// Craig, J. Math. and Phys. 34 (1955) 64; Y. Saad, *Iterative Methods for Sparse Linear Systems*,
/// 2nd ed., algorithm 8.5.
///
/// ```text
/// α = (r, r) / (p, p),    x = x + α p,   r = r − α A p
/// β = (r', r') / (r, r),  p = A†r' + β p
/// ```
///
/// An iteration takes one application of A and one of A†, like
/// [`conjugate_gradient`](crate::conjugate_gradient) on A†A x = A†b. The other method makes
/// ‖b − A x‖ minimal in a Krylov space, this one ‖x − A⁻¹b‖ in the same space. So the error falls
/// in each iteration, and the residual need not. The iterated residual is the residual of A x = b
/// itself.
///
/// `adjoint` is A†. The curvature that tells a breakdown is (p, p) / (r, r). `guess` is x₀: zero if
/// absent, or if it is 10⁴ times worse than zero. [`Callbacks`] compute the residual that counts
/// and keep states.
///
/// # Errors
/// [`SolverError::NotConverged`](crate::SolverError::NotConverged) with the iterate of the smallest
/// residual, to within a factor of four, if
/// * A†r vanishes while r does not,
/// * a scalar is not finite,
/// * the residual stagnates, or
/// * the iteration limit is reached.
///
/// The space's own error if an operation fails.
pub fn cgne<'c, S: VectorSpace>(
    a: &Operator<'_, S>,
    adjoint: &Operator<'_, S>,
    b: &S::Vector,
    guess: Option<&S::Vector>,
    params: &CgOptions,
    callbacks: impl Into<Callbacks<'c, S>>,
) -> SolveResult<S> {
    let space = a.space();
    let mut progress = Progress::start(a, b, guess, params.stopping, callbacks)?;
    let mut passes = NORM2.work(space);
    passes += SOLUTION_AND_DIRECTION.work(space);

    let (mut x, mut r, mut p, mut r_norm2);
    let mut curvature = Curvature::of("(p, p)");
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
        adjoint.apply(&r, &mut p)?;
        progress.count_application();
    }
    // The image is A p, and then A†r.
    let mut image = space.zero_vector()?;
    let [one, minus_one] = [1.0, -1.0].map(|number| space.scalar(Complex64::new(number, 0.0)));
    loop {
        if let Some(verdict) = progress.keep(&STATE, [&x, &r, &p], [&r_norm2], [curvature.first()])? {
            return progress.finish(x, verdict);
        }
        let p_norm2 = space.norm2(&p)?;
        let alpha = space.quotient(&r_norm2, &p_norm2);
        let new_norm2 = a.subtract_image(&alpha, &p, &mut image, &mut r)?;
        let beta = space.quotient(&new_norm2, &r_norm2);
        adjoint.apply(&r, &mut image)?;
        SOLUTION_AND_DIRECTION.apply(space, [&alpha, &beta], [&image], [&mut x, &mut p])?;
        progress.count_subtraction();
        progress.count_application();
        progress.work += passes;
        progress.iterated(&new_norm2);
        let old_norm2 = std::mem::replace(&mut r_norm2, new_norm2);
        if progress.looks() {
            let [p_norm2, old_norm2] = progress.read([&p_norm2, &old_norm2])?;
            match progress.judge(&mut x, &mut r)? {
                Step::Done(verdict) => return progress.finish(x, verdict),
                Step::Replaced(norm2) => {
                    // The direction goes on from the new residual: p − A†r + A†r'.
                    space.axpy(&minus_one, &image, &mut p)?;
                    adjoint.apply(&r, &mut image)?;
                    space.axpy(&one, &image, &mut p)?;
                    progress.count_application();
                    r_norm2 = norm2;
                }
                Step::Continue => {}
            }
            if let Some(failure) = curvature.failure(p_norm2, old_norm2.re, params.breakdown) {
                return progress.finish(x, Verdict::GaveUp(failure));
            }
        }
    }
}

const STATE: Names<3, 1, 1> = Names {
    method: "Conjugate Gradient for the error",
    vectors: ["x", "r", "p"],
    scalars: ["(r, r)"],
    numbers: ["first curvature"],
};
