//! Minimal Residual: steps along the residual, as a method and as a smoother.

use crate::breakdown::vanishes;
use crate::callbacks::Callbacks;
use crate::outcome::SolverError;
use crate::preconditioner::Preconditioned;
use crate::progress::{Progress, SolveResult, Step, Verdict};
use crate::state::{Names, Resumed};
use crate::stopping::Stopping;
use crate::update::{AXPY, RESIDUAL};
use crate::work::Work;
use crate::{Operator, VectorSpace};
use derive_setters::Setters;
use num_complex::Complex64;

/// Options of [`minimal_residual`].
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct MrOptions {
    /// Conditions for stopping.
    pub stopping: Stopping,
    /// ω, more than 0 and less than 2. Default 1.
    pub relaxation: f64,
    /// Bound of a breakdown. Default 1e-14.
    ///
    /// The method breaks down when |(r, Ar)| falls below this bound times ‖r‖ ‖Ar‖.
    pub breakdown: f64,
}

impl Default for MrOptions {
    fn default() -> Self {
        Self { stopping: Stopping::default(), relaxation: 1.0, breakdown: 1e-14 }
    }
}

/// Solves A x = b by the Minimal Residual iteration, relaxed by ω.
///
/// Source: Y. Saad, *Iterative Methods for Sparse Linear Systems*, 2nd ed., algorithm 5.3.
///
/// ```text
/// α = (Ar, r) / (Ar, Ar)              the α that makes ‖r − α Ar‖ minimal
/// x = x + ω α r,   r = r − ω α Ar
/// ```
///
/// An iteration takes one application of A, and the method three vectors. Nothing is remembered
/// from one iteration to the next, so the method converges slowly. Convergence is certain if the
/// Hermitian part of A is definite. Let μ be the eigenvalue of the Hermitian part next to zero.
/// Each iteration then makes ‖r‖² smaller by the factor 1 − ω (2 − ω) μ² / ‖A‖², or by more. ‖r‖
/// never grows. The method is good for a few iterations (see [`MrSmoother`]).
///
/// `guess` is x₀: zero if absent, or if it is 10⁴ times worse than zero. [`Callbacks`] compute the
/// residual that counts and keep states.
///
/// # Errors
/// [`SolverError::NotConverged`] with the last iterate, which has the smallest residual, if
/// * (r, Ar) vanishes while r does not,
/// * a scalar is not finite,
/// * the residual stagnates, or
/// * the iteration limit is reached.
///
/// [`SolverError::Parameter`] if ω is not between 0 and 2. The space's own error if an operation
/// fails.
pub fn minimal_residual<'c, S: VectorSpace>(
    a: &Operator<'_, S>,
    b: &S::Vector,
    guess: Option<&S::Vector>,
    params: &MrOptions,
    callbacks: impl Into<Callbacks<'c, S>>,
) -> SolveResult<S> {
    let space = a.space();
    let inverse_relaxation = space.scalar(inverse_relaxation::<S>(params.relaxation)?);
    let mut progress = Progress::start(a, b, guess, params.stopping, callbacks)?;
    let step = step_work(space);

    let (mut x, mut r, mut r_norm2);
    if let Some(Resumed { vectors, scalars, .. }) = progress.resume(&STATE)? {
        ([x, r], [r_norm2]) = (vectors, scalars);
    } else {
        let beginning = progress.begin()?;
        (x, r, r_norm2) = (beginning.x, beginning.r, beginning.r_norm2);
        if let Some(verdict) = beginning.verdict {
            return progress.finish(x, verdict);
        }
    }
    let mut ar = space.zero_vector()?;
    loop {
        if let Some(verdict) = progress.keep(&STATE, [&x, &r], [&r_norm2], [])? {
            return progress.finish(x, verdict);
        }
        let [r_ar, ar_norm2] = a.apply_products(&r, &r, &mut ar)?;
        progress.count_application_with_products();
        let alpha = relaxed(space, &r_ar, &ar_norm2, &inverse_relaxation);
        space.axpy(&alpha, &r, &mut x)?;
        let [new_norm2] = RESIDUAL.apply(space, [&alpha], [&ar], [&mut r])?;
        progress.work += step;
        progress.iterated(&new_norm2);
        let old_norm2 = std::mem::replace(&mut r_norm2, new_norm2);
        if progress.looks() {
            let [r_ar, ar_norm2, old_norm2] = progress.read([&r_ar, &ar_norm2, &old_norm2])?;
            match progress.judge(&mut x, &mut r)? {
                Step::Done(verdict) => return progress.finish(x, verdict),
                Step::Replaced(norm2) => r_norm2 = norm2,
                Step::Continue => {}
            }
            let norms2 = old_norm2.re * ar_norm2.re;
            if let Some(failure) = vanishes("(r, Ar)", r_ar, norms2, params.breakdown) {
                return progress.finish(x, Verdict::GaveUp(failure));
            }
        }
    }
}

const STATE: Names<2, 1, 0> =
    Names { method: "Minimal Residual", vectors: ["x", "r"], scalars: ["(r, r)"], numbers: [] };

/// Returns ω α.
fn relaxed<S: VectorSpace>(
    space: &S,
    r_ar: &S::Scalar,
    ar_norm2: &S::Scalar,
    inverse_relaxation: &S::Scalar,
) -> S::Scalar {
    let alpha = space.quotient(&space.conjugate(r_ar), ar_norm2);
    space.quotient(&alpha, inverse_relaxation)
}

/// Returns 1/ω, if ω is allowed.
fn inverse_relaxation<S: VectorSpace>(
    relaxation: f64,
) -> Result<Complex64, SolverError<S::Vector, S::Error>> {
    if relaxation > 0.0 && relaxation < 2.0 {
        return Ok((1.0 / relaxation).into());
    }
    Err(SolverError::Parameter {
        name: "relaxation",
        value: relaxation,
        allowed: "a number between 0 and 2, both excluded",
    })
}

/// Returns the work of one iteration, except for A.
fn step_work<S: VectorSpace>(space: &S) -> Work {
    let mut work = AXPY.work(space);
    work += RESIDUAL.work(space);
    work
}

/// A fixed number of iterations of [`minimal_residual`] from zero.
///
/// The iterations are not looked at. They are a smoother, and a preconditioner of
/// [`gcr`](crate::gcr).
pub struct MrSmoother<'a, S: VectorSpace> {
    a: &'a Operator<'a, S>,
    steps: usize,
    inverse_relaxation: S::Scalar,
    r: S::Vector,
    ar: S::Vector,
}

impl<'a, S: VectorSpace> MrSmoother<'a, S> {
    /// Makes a smoother of `steps` iterations.
    ///
    /// `relaxation` is more than 0 and less than 2.
    ///
    /// # Errors
    /// [`SolverError::Parameter`] if there are no steps or the relaxation is not in its range. The
    /// space's own error.
    pub fn new(
        a: &'a Operator<'a, S>,
        steps: usize,
        relaxation: f64,
    ) -> Result<Self, SolverError<S::Vector, S::Error>> {
        if steps == 0 {
            return Err(SolverError::Parameter { name: "steps", value: 0.0, allowed: "1 or more" });
        }
        let space = a.space();
        let inverse_relaxation = space.scalar(inverse_relaxation::<S>(relaxation)?);
        let [r, ar] = [space.zero_vector()?, space.zero_vector()?];
        Ok(Self { a, steps, inverse_relaxation, r, ar })
    }

    /// Computes x ≈ A⁻¹ b and returns the work.
    ///
    /// x may hold any values before. The method does not wait for the device.
    ///
    /// # Errors
    /// Only the space's own.
    pub fn apply(&mut self, b: &S::Vector, x: &mut S::Vector) -> Preconditioned<S> {
        let space = self.a.space();
        space.set_zero(x)?;
        space.copy(b, &mut self.r)?;
        for step in 1..=self.steps {
            // If r is zero this is 0/0, which is a step of length zero.
            let [r_ar, ar_norm2] = self.a.apply_products(&self.r, &self.r, &mut self.ar)?;
            let alpha = relaxed(space, &r_ar, &ar_norm2, &self.inverse_relaxation);
            space.axpy(&alpha, &self.r, x)?;
            if step < self.steps {
                space.axpy(&space.negate(&alpha), &self.ar, &mut self.r)?;
            }
        }
        let mut one = self.a.work_with_products();
        one += step_work(space);
        Ok(one.times(self.steps as u64))
    }
}
