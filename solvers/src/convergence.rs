//! When to stop: what every method shares.

use crate::outcome::{Failure, Residual, Solution, SolverError, SolverInfo, Work};
use crate::{ErrorOf, LinearOperator, VectorOf, VectorSpace};
use num_complex::Complex64;
use std::time::Instant;

/// When a solver stops. Shared by all methods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stopping {
    /// Wanted ‖b − A x‖ / ‖b‖, the true one. Default 1e-10.
    pub tolerance: f64,
    /// Most iterations. Default 10 000.
    pub max_iterations: usize,
    /// Iterations from one look at the residual to the next; a look waits for the device. Default 1.
    pub look_every: usize,
    /// Give up when the residual fell by less than one per cent over this many iterations. Default 1000.
    pub stagnation_window: usize,
}

impl Default for Stopping {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_iterations: 10_000, look_every: 1, stagnation_window: 1000 }
    }
}

/// An iterated residual this small, the square of double precision, says nothing any more: what follows are
/// underflows and quotients of them.
const SMALLEST_MEANINGFUL: f64 = f64::EPSILON * f64::EPSILON;

/// An iterated residual that is too small by more than this factor has lost touch with its system by rounding.
const DRIFT: f64 = 2.0;

/// Computes the relative residual that counts for an iterate, from its definition.
///
/// The system that is iterated need not be the one that is to be solved: for the normal equations
/// M†M x = M†b it is ‖b − M x‖ / ‖b‖ that counts. `None` in a solver's argument stands for ‖b − A x‖ / ‖b‖.
pub type TrueResidual<'a, A> = &'a mut (dyn FnMut(&VectorOf<A>) -> Result<f64, ErrorOf<A>> + 'a);

/// What a solve ends with.
pub(crate) type Outcome<A> = Result<Solution<VectorOf<A>>, SolverError<VectorOf<A>, ErrorOf<A>>>;

/// A solve in progress: its history, its counters, and the decision when to stop.
pub(crate) struct Progress<'a, 'f, A: LinearOperator> {
    operator: &'a A,
    b: &'a VectorOf<A>,
    b_norm: f64,
    stopping: Stopping,
    true_residual: Option<TrueResidual<'f, A>>,
    /// The iterated residual at which the true one is computed next.
    target: f64,
    last_true: f64,
    history: Vec<f64>,
    /// The smallest residual before the window in which stagnation is looked for.
    best_before: f64,
    pub iterations: usize,
    applications: usize,
    pub work: Work,
    start: Instant,
    scratch: VectorOf<A>,
}

impl<'a, 'f, A: LinearOperator> Progress<'a, 'f, A> {
    pub fn start(
        operator: &'a A,
        b: &'a VectorOf<A>,
        stopping: Stopping,
        true_residual: Option<TrueResidual<'f, A>>,
    ) -> Result<Self, SolverError<VectorOf<A>, ErrorOf<A>>> {
        let start = Instant::now();
        if stopping.tolerance.is_nan() || stopping.tolerance <= 0.0 {
            return Err(SolverError::Parameter {
                name: "tolerance",
                value: stopping.tolerance,
                allowed: "a positive number",
            });
        }
        let space = operator.space();
        let [b_norm2] = space.read([&space.norm2(b)?])?;
        Ok(Self {
            operator,
            b,
            b_norm: b_norm2.re.sqrt(),
            stopping,
            true_residual,
            target: stopping.tolerance,
            last_true: f64::NAN,
            history: Vec::new(),
            best_before: f64::INFINITY,
            iterations: 0,
            applications: 0,
            work: Work::default(),
            start,
            scratch: space.zero_vector()?,
        })
    }

    /// r = b − A x for a guess x, and (r, r).
    pub fn initial_residual(
        &mut self,
        guess: Option<&VectorOf<A>>,
        r: &mut VectorOf<A>,
    ) -> Result<<A::Space as VectorSpace>::Scalar, ErrorOf<A>> {
        let space = self.operator.space();
        match guess {
            None => space.copy(self.b, r)?,
            Some(x) => {
                self.operator.apply(x, r)?;
                self.count_application();
                space.xpby(self.b, &space.scalar(Complex64::new(-1.0, 0.0)), r)?;
            }
        }
        space.norm2(r)
    }

    pub fn count_application(&mut self) {
        self.applications += 1;
        self.work += self.operator.work();
    }

    /// Whether the residual is looked at in this iteration.
    pub fn looks(&self) -> bool {
        self.iterations.is_multiple_of(self.stopping.look_every.max(1))
            || self.iterations >= self.stopping.max_iterations
    }

    /// Takes note of ‖r‖² and says whether `x` solves the system, or why to give up.
    pub fn look(&mut self, r_norm2: Complex64, x: &VectorOf<A>) -> Result<Option<Verdict>, ErrorOf<A>> {
        // A source equal to zero has the solution zero: its residual is counted absolutely.
        let scale = if self.b_norm == 0.0 { 1.0 } else { self.b_norm };
        let iterated = r_norm2.re.sqrt() / scale;
        self.history.push(iterated);
        if !iterated.is_finite() {
            return Ok(Some(Verdict::GaveUp(Failure::NotFinite { quantity: "‖r‖" })));
        }
        if iterated <= self.target.max(SMALLEST_MEANINGFUL) {
            let true_residual = self.compute_true(x, scale)?;
            if true_residual <= self.stopping.tolerance {
                self.last_true = true_residual;
                return Ok(Some(Verdict::Converged));
            }
            // The iterated residual may be that of another system (normal equations) or have drifted by
            // rounding: it has to fall further by as much as the true one is above the tolerance.
            let improved = self.last_true.is_nan() || true_residual < 0.9 * self.last_true;
            self.last_true = true_residual;
            // That of another system may follow slowly; only rounding keeps it from following at all.
            let stuck = !improved && self.own_residual(x, scale)? > DRIFT * iterated;
            if stuck || true_residual.is_nan() || iterated <= SMALLEST_MEANINGFUL {
                return Ok(Some(Verdict::GaveUp(Failure::PrecisionLimit { iterated, true_residual })));
            }
            self.target = 0.95 * iterated * self.stopping.tolerance / true_residual;
        }
        if self.iterations >= self.stopping.max_iterations {
            return Ok(Some(Verdict::GaveUp(Failure::IterationLimit {
                limit: self.stopping.max_iterations,
            })));
        }
        Ok(self.stagnated(iterated).map(Verdict::GaveUp))
    }

    /// Called once for each look.
    fn stagnated(&mut self, residual: f64) -> Option<Failure> {
        let window = self.stopping.stagnation_window;
        let looks = window.div_ceil(self.stopping.look_every.max(1)).max(1);
        let recent = self.history.len().checked_sub(looks)?;
        if let Some(newest) = recent.checked_sub(1) {
            self.best_before = self.best_before.min(self.history[newest]);
        }
        let best_since = self.history[recent..].iter().copied().fold(f64::INFINITY, f64::min);
        (best_since > 0.99 * self.best_before).then_some(Failure::Stagnation { residual, window })
    }

    fn compute_true(&mut self, x: &VectorOf<A>, scale: f64) -> Result<f64, ErrorOf<A>> {
        if let Some(residual) = self.true_residual.as_mut() {
            return residual(x);
        }
        self.own_residual(x, scale)
    }

    /// ‖b − A x‖ / ‖b‖ of the system that is iterated, from its definition.
    fn own_residual(&mut self, x: &VectorOf<A>, scale: f64) -> Result<f64, ErrorOf<A>> {
        let space = self.operator.space();
        self.operator.apply(x, &mut self.scratch)?;
        self.applications += 1;
        space.xpby(self.b, &space.scalar(Complex64::new(-1.0, 0.0)), &mut self.scratch)?;
        let [norm2] = space.read([&space.norm2(&self.scratch)?])?;
        Ok(norm2.re.sqrt() / scale)
    }

    /// Ends the solve.
    pub fn finish(mut self, x: VectorOf<A>, verdict: Verdict) -> Outcome<A> {
        let scale = if self.b_norm == 0.0 { 1.0 } else { self.b_norm };
        if let Verdict::GaveUp(_) = verdict {
            self.last_true = self.compute_true(&x, scale)?;
        }
        let info = SolverInfo {
            iterations: self.iterations,
            residual: Residual {
                iterated: self.history.last().copied().unwrap_or(f64::NAN),
                true_residual: self.last_true,
            },
            history: self.history,
            applications: self.applications,
            time: self.start.elapsed(),
            work: self.work,
        };
        match verdict {
            Verdict::Converged => Ok((x, info)),
            Verdict::GaveUp(failure) => {
                Err(SolverError::NotConverged { failure, best: x, info: Box::new(info) })
            }
        }
    }
}

/// How a solve ends.
pub(crate) enum Verdict {
    Converged,
    GaveUp(Failure),
}
