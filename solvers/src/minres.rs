//! MINRES: minimal residuals for Hermitian matrices, definite or not.

use crate::callbacks::Callbacks;
use crate::minres_options::MinresOptions;
use crate::minres_rotations::Lanczos;
use crate::preconditioned_minres::preconditioned_minres;
use crate::preconditioner::Preconditioner;
use crate::progress::{Progress, SolveResult, Step, Verdict};
use crate::state::{Names, Resumed};
use crate::update::{AXPY, RESIDUAL};
use crate::{Operator, VectorSpace};
use std::mem;

/// Solves A x = b for a Hermitian A, definite or not, by MINRES.
///
/// C. C. Paige and M. A. Saunders, SIAM J. Numer. Anal. 12 (1975) 617. Lanczos vectors vₖ make A a
/// real tridiagonal T with α on the diagonal and β beside it. Rotations (c, s) make T triangular.
///
/// ```text
/// α = (v, Av),   β' v' = Av − α v − β v₋               the next Lanczos vector
/// δ = c α − c₋ s β,   ρ = √(δ² + β'²)                   the next rotation: c' = δ/ρ, s' = β'/ρ
/// p' = v − (s α + c₋ c β)/ρ₋ p − s₋ β/ρ₋₋ p₋            a direction: ρ times a column of V R⁻¹
/// x = x + (c' η/ρ) p',   η' = −s' η                     ‖r‖ = |η'|
/// ```
///
/// With a preconditioner K ≈ A⁻¹, Hermitian and positive definite, Lanczos vectors are orthonormal
/// in the inner product (v, Kv), and zₖ = K vₖ (H. C. Elman, D. J. Silvester and A. J. Wathen,
/// *Finite Elements and Fast Iterative Solvers*, 2nd ed., algorithm 4.1).
///
/// ```text
/// α = (z, Az),   v' = Az − α v − β v₋,   z' = K v',   β'² = (v', z')
/// p' = z − (s α + c₋ c β)/ρ₋ p − s₋ β/ρ₋₋ p₋
/// x = x + (c' η/ρ) p',   η' = −s' η,   r = s'² r + (c' η'/β') v'
/// ```
///
/// (r, Kr) never grows then. ‖r‖ may, and decides when to stop.
///
/// An iteration takes one application of A. Without K ‖r‖ never grows: it is the smallest in the
/// Krylov space. [`conjugate_residual`](crate::conjugate_residual) finds the same iterates, but breaks
/// down if a step has no length. MINRES passes over such steps, and solves singular systems that
/// have a solution.
///
/// The rotations need square roots, which scalars do not have. So both sums are read in each
/// iteration, like in block methods, and a device waits for the host that long.
///
/// `guess` is x₀: zero if absent, or if it is 10⁴ times worse than zero. [`Callbacks`] compute the
/// residual that counts and keep states.
///
/// # Errors
/// [`SolverError::NotConverged`](crate::SolverError::NotConverged) with the iterate of the smallest
/// residual, to within a factor of four with a preconditioner, if
/// * (v, Kv) is negative: K is not positive definite,
/// * ‖Ar‖ vanishes while r does not, for example without a solution,
/// * a scalar is not finite,
/// * the residual stagnates, or
/// * the iteration limit is reached.
///
/// The preconditioner's own error, unless it gave up. The space's own error if an operation fails.
pub fn minres<'c, S: VectorSpace>(
    a: &Operator<'_, S>,
    b: &S::Vector,
    guess: Option<&S::Vector>,
    params: &MinresOptions,
    preconditioner: Option<&mut dyn Preconditioner<S>>,
    callbacks: impl Into<Callbacks<'c, S>>,
) -> SolveResult<S> {
    let mut progress = Progress::start(a, b, guess, params.stopping, callbacks)?;
    if let Some(preconditioner) = preconditioner {
        return preconditioned_minres(a, params, preconditioner, progress);
    }
    let space = a.space();
    let real = |value: f64| space.scalar(value.into());
    // Work besides the application: the next Lanczos vector, the direction, x, and the norm made 1.
    let mut work = AXPY.work(space).times(5);
    work += RESIDUAL.work(space);
    let zero = space.zero_vector()?;

    let (mut x, mut v, mut earlier_v, mut p, mut earlier_p, mut lanczos);
    if let Some(Resumed { vectors, numbers, .. }) = progress.resume(&STATE)? {
        [x, v, earlier_v, p, earlier_p] = vectors;
        lanczos = Lanczos::from_numbers(numbers);
    } else {
        let beginning = progress.begin()?;
        (x, v) = (beginning.x, beginning.r);
        if let Some(verdict) = beginning.verdict {
            return progress.finish(x, verdict);
        }
        let [norm2] = space.read([&beginning.r_norm2])?;
        lanczos = Lanczos::start(norm2.re.sqrt());
        space.xpby(&zero, &real(1.0 / lanczos.eta), &mut v)?;
        [earlier_v, p, earlier_p] = [space.zero_vector()?, space.zero_vector()?, space.zero_vector()?];
    }
    let mut image = space.zero_vector()?;
    loop {
        let vectors = [&x, &v, &earlier_v, &p, &earlier_p];
        if let Some(verdict) = progress.keep(&STATE, vectors, [], lanczos.numbers())? {
            return progress.finish(x, verdict);
        }
        let alpha = a.apply_dot(&v, &mut image)?;
        progress.count_application_with_products();
        space.xpby(&image, &real(-lanczos.beta), &mut earlier_v)?;
        let [norm2] = RESIDUAL.apply(space, [&alpha], [&v], [&mut earlier_v])?;
        let [alpha, norm2] = space.read([&alpha, &norm2])?;
        let direction = match lanczos.turn(alpha, norm2, params.breakdown) {
            Ok(direction) => direction,
            Err(failure) => {
                progress.read([])?;
                return progress.finish(x, Verdict::GaveUp(failure));
            }
        };
        space.xpby(&v, &real(-direction.earlier), &mut earlier_p)?;
        space.axpy(&real(-direction.last), &p, &mut earlier_p)?;
        mem::swap(&mut p, &mut earlier_p);
        space.axpy(&real(direction.step), &p, &mut x)?;
        mem::swap(&mut v, &mut earlier_v);
        progress.work += work;
        progress.iterated(&real(lanczos.eta * lanczos.eta));
        // There is no next vector if its norm is zero: then either x is the solution, or r is
        // replaced.
        if progress.looks() || lanczos.beta == 0.0 {
            progress.read([])?;
            match progress.judge(&mut x, &mut image)? {
                Step::Done(verdict) => return progress.finish(x, verdict),
                Step::Replaced(norm2) => {
                    // The vectors belong to the residual that they were made of, and to no other.
                    let [norm2] = space.read([&norm2])?;
                    lanczos = Lanczos::start(norm2.re.sqrt());
                    mem::swap(&mut v, &mut image);
                    space.xpby(&zero, &real(1.0 / lanczos.eta), &mut v)?;
                    for vector in [&mut earlier_v, &mut p, &mut earlier_p] {
                        space.set_zero(vector)?;
                    }
                    continue;
                }
                Step::Continue => {}
            }
        }
        space.xpby(&zero, &real(1.0 / lanczos.beta), &mut v)?;
    }
}

const STATE: Names<5, 0, 8> = Names {
    method: "MINRES",
    vectors: ["x", "v", "earlier v", "p", "earlier p"],
    scalars: [],
    numbers: ["β", "η", "c", "s", "ρ", "earlier c", "earlier s", "earlier ρ"],
};
