//! The loop of Conjugate Gradient with a preconditioner.

use crate::cg_options::CgOptions;
use crate::curvature::Curvature;
use crate::preconditioner::{Preconditioner, precondition};
use crate::progress::{Progress, SolveResult, Step, Verdict};
use crate::state::{Names, Resumed};
use crate::update::{DOT, SOLUTION_AND_RESIDUAL, XPBY};
use crate::{Operator, VectorSpace};

/// Iterates by the formulas of [`conjugate_gradient`](crate::conjugate_gradient()) with K.
pub(crate) fn preconditioned_cg<S: VectorSpace>(
    a: &Operator<'_, S>,
    params: &CgOptions,
    preconditioner: &mut dyn Preconditioner<S>,
    mut progress: Progress<'_, '_, S>,
) -> SolveResult<S> {
    let space = a.space();
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
        progress.work += precondition(preconditioner, &r, &mut z)?;
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
        progress.work += precondition(preconditioner, &r, &mut z)?;
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

const STATE: Names<3, 2, 2> = Names {
    method: "preconditioned Conjugate Gradient",
    vectors: ["x", "r", "p"],
    scalars: ["(r, Kr)", "(r, r)"],
    numbers: ["first curvature", "first (r, Kr)"],
};
