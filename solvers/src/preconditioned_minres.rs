//! The loop of MINRES with a preconditioner.

use crate::minres_options::MinresOptions;
use crate::minres_rotations::{Direction, Lanczos};
use crate::outcome::Failure;
use crate::preconditioner::{Preconditioner, precondition};
use crate::progress::{Progress, SolveResult, Step, Verdict};
use crate::state::{Names, Resumed};
use crate::update::{AXPY, DOT, RESIDUAL};
use crate::{Operator, VectorSpace};
use num_complex::Complex64;
use std::mem;

/// Part of the last products below which (v, Kv) is zero but for rounding.
const ROUNDING: f64 = 1e-14;

/// Iterates by the formulas of [`minres`](crate::minres()) with K.
pub(crate) fn preconditioned_minres<S: VectorSpace>(
    a: &Operator<'_, S>,
    params: &MinresOptions,
    preconditioner: &mut dyn Preconditioner<S>,
    mut progress: Progress<'_, '_, S>,
) -> SolveResult<S> {
    let space = a.space();
    let real = |value: f64| space.scalar(value.into());
    // Work besides the two applications: v', its norm, the direction, x, r, and both norms made 1.
    let mut work = AXPY.work(space).times(8);
    work += RESIDUAL.work(space);
    work += DOT.work(space);
    let zero = space.zero_vector()?;
    let divide = |vector: &mut S::Vector, by: f64| space.xpby(&zero, &real(1.0 / by), vector);

    let (mut x, mut r, mut v, mut z, mut earlier_v, mut p, mut earlier_p);
    let mut lanczos;
    // The residual that Lanczos' vectors are to begin with.
    let mut begins = false;
    if let Some(Resumed { vectors, numbers, .. }) = progress.resume(&STATE)? {
        [x, r, v, z, earlier_v, p, earlier_p] = vectors;
        lanczos = Lanczos::from_numbers(numbers);
    } else {
        let beginning = progress.begin()?;
        (x, r) = (beginning.x, beginning.r);
        if let Some(verdict) = beginning.verdict {
            return progress.finish(x, verdict);
        }
        [v, z, earlier_v] = [space.zero_vector()?, space.zero_vector()?, space.zero_vector()?];
        [p, earlier_p] = [space.zero_vector()?, space.zero_vector()?];
        lanczos = Lanczos::start(0.0);
        begins = true;
    }
    let (mut image, mut next_z) = (space.zero_vector()?, space.zero_vector()?);
    loop {
        if mem::take(&mut begins) {
            space.copy(&r, &mut v)?;
            progress.work += precondition(preconditioner, &v, &mut z)?;
            let [v_z, r_norm2] = space.read([&space.dot(&v, &z)?, &space.norm2(&r)?])?;
            // With the exact inverse the product has the size of ‖r‖² / ‖A‖, whatever that is.
            let usable = v_z.re > 0.0 && v_z.is_finite();
            if !usable {
                let relative = v_z.re / r_norm2.re;
                let failure = Failure::Breakdown { quantity: "(r, Kr)", relative, bound: 0.0 };
                let failure =
                    if v_z.is_finite() { failure } else { Failure::NotFinite { quantity: "(r, Kr)" } };
                return progress.finish(x, Verdict::GaveUp(failure));
            }
            lanczos = Lanczos::start(v_z.re.sqrt());
            divide(&mut v, lanczos.eta)?;
            divide(&mut z, lanczos.eta)?;
            for vector in [&mut earlier_v, &mut p, &mut earlier_p] {
                space.set_zero(vector)?;
            }
        }
        let vectors = [&x, &r, &v, &z, &earlier_v, &p, &earlier_p];
        if let Some(verdict) = progress.keep(&STATE, vectors, [], lanczos.numbers())? {
            return progress.finish(x, verdict);
        }
        let alpha = a.apply_dot(&z, &mut image)?;
        progress.count_application_with_products();
        space.xpby(&image, &real(-lanczos.beta), &mut earlier_v)?;
        space.axpy(&space.negate(&alpha), &v, &mut earlier_v)?;
        progress.work += precondition(preconditioner, &earlier_v, &mut next_z)?;
        let v_z = space.dot(&earlier_v, &next_z)?;
        let [alpha, v_z] = space.read([&alpha, &v_z])?;
        let direction = match turned(&mut lanczos, alpha, v_z, params.breakdown) {
            Ok(direction) => direction,
            Err(failure) => {
                progress.read([])?;
                return progress.finish(x, Verdict::GaveUp(failure));
            }
        };
        space.xpby(&z, &real(-direction.earlier), &mut earlier_p)?;
        space.axpy(&real(-direction.last), &p, &mut earlier_p)?;
        mem::swap(&mut p, &mut earlier_p);
        space.axpy(&real(direction.step), &p, &mut x)?;
        mem::swap(&mut v, &mut earlier_v);
        mem::swap(&mut z, &mut next_z);
        let r_norm2: S::Scalar;
        if lanczos.beta > 0.0 {
            divide(&mut v, lanczos.beta)?;
            divide(&mut z, lanczos.beta)?;
            let [kept, added] = lanczos.residual();
            space.xpby(&zero, &real(kept), &mut r)?;
            [r_norm2] = RESIDUAL.apply(space, [&real(-added)], [&v], [&mut r])?;
        } else {
            space.set_zero(&mut r)?;
            r_norm2 = real(0.0);
        }
        progress.work += work;
        progress.iterated(&r_norm2);
        // There is no next vector if its norm is zero: then either x is the solution, or r is
        // replaced.
        if progress.looks() || lanczos.beta == 0.0 {
            progress.read([])?;
            match progress.judge(&mut x, &mut r)? {
                Step::Done(verdict) => return progress.finish(x, verdict),
                // The vectors belong to the residual that they were made of, and to no other.
                Step::Replaced(_) => begins = true,
                Step::Continue => {}
            }
        }
    }
}

/// Rotates the next column of T, whose element below the diagonal is the root of (v, Kv).
fn turned(lanczos: &mut Lanczos, alpha: Complex64, v_z: Complex64, bound: f64) -> Result<Direction, Failure> {
    let scale = alpha.norm_sqr() + lanczos.beta * lanczos.beta;
    if v_z.re < -ROUNDING * scale {
        let relative = v_z.re / scale;
        return Err(Failure::Breakdown { quantity: "(r, Kr)", relative, bound: ROUNDING });
    }
    // Written so that a NaN stays one.
    let v_z = if v_z.re < 0.0 { Complex64::default() } else { v_z };
    lanczos.turn(alpha, v_z, bound)
}

const STATE: Names<7, 0, 8> = Names {
    method: "preconditioned MINRES",
    vectors: ["x", "r", "v", "z", "earlier v", "p", "earlier p"],
    scalars: [],
    numbers: ["β", "η", "c", "s", "ρ", "earlier c", "earlier s", "earlier ρ"],
};
