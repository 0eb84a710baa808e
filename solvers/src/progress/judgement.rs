//! Decides after a look at the residual how a solve goes on.

use super::{Progress, Step, Verdict};
use crate::VectorSpace;
use crate::keeper::Look;
use crate::outcome::{Failure, Residual};
use crate::pace::Pace;
use crate::true_residual::{Replaced, TrueResidual};

/// The smallest iterated residual with a meaning, the square of double precision.
///
/// Below it there are only underflows and quotients of them.
const SMALLEST_MEANINGFUL: f64 = f64::EPSILON * f64::EPSILON;

/// The factor by which an iterated residual may be too small.
///
/// Beyond it, the iterated residual has lost touch with its system by rounding.
const DRIFT: f64 = 2.0;

/// The number of replaced residuals that may fail to be smaller than the last.
const FUTILE_REPLACEMENTS: usize = 3;

impl<S: VectorSpace> Progress<'_, '_, S> {
    /// Decides if `x` solves the system, or why to give up.
    ///
    /// To be called after [`read`](Self::read). The watcher is told.
    pub fn judge(&mut self, x: &mut S::Vector, r: &mut S::Vector) -> Result<Step<S::Scalar>, S::Error> {
        let iterated = self.r_norm2.sqrt() / self.scale();
        let step = self.decide(iterated, x, r)?;
        if let Some(keeper) = &mut self.keeper {
            let residual = Residual { iterated, true_residual: self.last_true };
            keeper.looked(&Look { iterations: self.iterations, residual });
        }
        Ok(step)
    }

    /// Returns the decision of [`judge`](Self::judge) for this iterated residual.
    fn decide(
        &mut self,
        iterated: f64,
        x: &mut S::Vector,
        r: &mut S::Vector,
    ) -> Result<Step<S::Scalar>, S::Error> {
        if !iterated.is_finite() {
            return Ok(Step::Done(Verdict::GaveUp(Failure::NotFinite { quantity: "‖r‖" })));
        }
        let mut step = Step::Continue;
        if let Some(TrueResidual::Replaced { at, .. }) = self.true_residual {
            if iterated <= self.target.max(SMALLEST_MEANINGFUL) || iterated <= at * self.replaced {
                match self.replace(x, r)? {
                    (_, Some(verdict)) => return Ok(Step::Done(verdict)),
                    (norm2, None) => step = Step::Replaced(norm2),
                }
            }
        } else {
            // Iterates that are corrections are not kept: nothing is lost with the last one.
            self.best.offer(self.operator.space(), x, self.r_norm2)?;
            if iterated <= self.target.max(SMALLEST_MEANINGFUL)
                && let Some(verdict) = self.judge_true(iterated, x)?
            {
                return Ok(Step::Done(verdict));
            }
        }
        if self.iterations >= self.stopping.max_iterations {
            let limit = self.stopping.max_iterations;
            return Ok(Step::Done(Verdict::GaveUp(Failure::IterationLimit { limit })));
        }
        if let Some(failure) = self.stagnated(iterated) {
            return Ok(Step::Done(Verdict::GaveUp(failure)));
        }
        self.schedule(iterated);
        Ok(step)
    }

    /// Compares the true residual of `x` with the tolerance.
    fn judge_true(&mut self, iterated: f64, x: &S::Vector) -> Result<Option<Verdict>, S::Error> {
        let true_residual = self.compute_true(x)?;
        if true_residual <= self.stopping.tolerance {
            self.last_true = true_residual;
            return Ok(Some(Verdict::Converged));
        }
        // The iterated residual may be that of another system (normal equations) or have drifted by
        // rounding: it has to fall further by as much as the true one is above the tolerance.
        let improved = self.last_true.is_nan() || true_residual < 0.9 * self.last_true;
        self.last_true = true_residual;
        // The residual of another system may follow slowly. Only rounding keeps it from following
        // at all.
        let stuck = !improved && self.own_residual(x)? > DRIFT * iterated;
        if stuck || true_residual.is_nan() || iterated <= SMALLEST_MEANINGFUL {
            return Ok(Some(Verdict::GaveUp(Failure::PrecisionLimit { iterated, true_residual })));
        }
        self.target = 0.95 * iterated * self.stopping.tolerance / true_residual;
        Ok(None)
    }

    /// Moves x to the solution that is kept elsewhere, and replaces the residual.
    ///
    /// Returns the new (r, r).
    fn replace(
        &mut self,
        x: &mut S::Vector,
        r: &mut S::Vector,
    ) -> Result<(S::Scalar, Option<Verdict>), S::Error> {
        let Some(TrueResidual::Replaced { replace, .. }) = &mut self.true_residual else {
            unreachable!("only a residual that is to be replaced is");
        };
        let Replaced { true_residual, r_norm2, value } = replace(x, r)?;
        // x is zero now, as the best one was made.
        self.best.r_norm2 = value;
        let iterated = value.sqrt() / self.scale();
        let improved = self.last_true.is_nan() || true_residual < 0.9 * self.last_true;
        self.futile = if improved { 0 } else { self.futile + 1 };
        self.last_true = true_residual;
        self.replaced = iterated;
        // The residual of another system may fall far before the true one follows. After a
        // replacement in vain it therefore falls as far as low precision lets it.
        self.target = if improved { 0.95 * iterated * self.stopping.tolerance / true_residual } else { 0.0 };
        let verdict = if true_residual <= self.stopping.tolerance {
            Some(Verdict::Converged)
        } else if true_residual.is_nan() || self.futile >= FUTILE_REPLACEMENTS {
            Some(Verdict::GaveUp(Failure::PrecisionLimit { iterated, true_residual }))
        } else {
            None
        };
        Ok((r_norm2, verdict))
    }

    /// Goes back to the best iterate: x, r and its (r, r).
    pub fn restore(&mut self, x: &mut S::Vector, r: &mut S::Vector) -> Result<S::Scalar, S::Error> {
        let space = self.operator.space();
        space.copy(&self.best.x, x)?;
        if let Some(TrueResidual::Replaced { replace, .. }) = &mut self.true_residual {
            let Replaced { true_residual, r_norm2, value } = replace(x, r)?;
            self.last_true = true_residual;
            self.r_norm2 = value;
            self.best.r_norm2 = value;
            self.replaced = value.sqrt() / self.scale();
            return Ok(r_norm2);
        }
        self.residual(x, r)?;
        let norm2 = space.norm2(r)?;
        let [value] = space.read([&norm2])?;
        self.r_norm2 = value.re;
        Ok(norm2)
    }

    /// Returns the (r, r) of the last look, as a multiple of the best one.
    pub fn growth(&self) -> f64 {
        self.r_norm2 / self.best.r_norm2
    }

    /// Returns the (r, r) of the last look.
    pub fn r_norm2(&self) -> f64 {
        self.r_norm2
    }

    /// Decides when the next look is.
    fn schedule(&mut self, iterated: f64) {
        let step = self.stopping.look_every.unwrap_or_else(|| {
            let (due, replaces) = match self.true_residual {
                Some(TrueResidual::Replaced { at, .. }) => (self.target.max(at * self.replaced), true),
                _ => (self.target, false),
            };
            let pace = Pace {
                bytes_of_look: self.operator.space().bytes_during_a_read() + self.bytes_of_look,
                bytes_of_iteration: self.work.bytes / self.iterations.max(1) as u64,
                replaces,
                due,
                iterated,
                history: &self.history,
                undisturbed: self.iterations,
            };
            pace.step()
        });
        self.next_look = self.iterations + step.max(1);
    }

    /// Called once for each look.
    fn stagnated(&mut self, residual: f64) -> Option<Failure> {
        let window = self.stopping.stagnation_window;
        let recent = self.history.len().checked_sub(window.max(1))?;
        let smallest = |first: f64, part: &[f64]| part.iter().copied().fold(first, f64::min);
        // Only values that left the window since the last look are compared.
        self.smallest_before = smallest(self.smallest_before, &self.history[self.left_the_window..recent]);
        self.left_the_window = recent;
        let since = smallest(f64::INFINITY, &self.history[recent..]);
        (since > 0.99 * self.smallest_before).then_some(Failure::Stagnation { residual, window })
    }

    pub(super) fn compute_true(&mut self, x: &S::Vector) -> Result<f64, S::Error> {
        match &mut self.true_residual {
            Some(TrueResidual::Computed(residual)) => residual(x),
            _ => self.own_residual(x),
        }
    }

    /// Computes ‖b − A x‖ / ‖b‖ of the iterated system, from the definition.
    fn own_residual(&mut self, x: &S::Vector) -> Result<f64, S::Error> {
        let space = self.operator.space();
        self.operator.residual(self.b, x, &mut self.scratch)?;
        self.applications += 1;
        let [norm2] = space.read([&space.norm2(&self.scratch)?])?;
        Ok(norm2.re.sqrt() / self.scale())
    }
}
