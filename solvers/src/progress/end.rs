//! The end of a solve: its result, with the best iterate.

use super::{Progress, SolveResult, Verdict};
use crate::VectorSpace;
use crate::outcome::{Failure, Residual, SolverError, SolverInfo};
use crate::true_residual::TrueResidual;

impl<S: VectorSpace> Progress<'_, '_, S> {
    /// Goes back to the start of the solve if x is worse.
    ///
    /// The iterated residual does not show this if it belongs to another system, or has lost touch.
    fn prefer_beginning(&mut self, x: &mut S::Vector) -> Result<(), S::Error> {
        let corrections = matches!(self.true_residual, Some(TrueResidual::Replaced { .. }));
        // The relative residual of x = 0 is 1.
        if corrections || (self.guess.is_none() && self.last_true <= 1.0) {
            return Ok(());
        }
        let beginning = match self.guess {
            Some(guess) => self.compute_true(guess)?,
            None => {
                let zero = self.operator.space().zero_vector()?;
                self.compute_true(&zero)?
            }
        };
        // Written so that NaN is not the best residual.
        let best = self.last_true <= beginning;
        if !best {
            let space = self.operator.space();
            match self.guess {
                None => space.set_zero(x)?,
                Some(guess) => space.copy(guess, x)?,
            }
            self.last_true = beginning;
        }
        Ok(())
    }

    /// Ends the solve.
    ///
    /// A failure carries the best iterate. The solve succeeds if the residual of the best iterate
    /// is found to be small enough.
    pub fn finish(mut self, mut x: S::Vector, verdict: Verdict) -> SolveResult<S> {
        if let Verdict::GaveUp(_) = verdict {
            // Written so that NaN is not the best residual.
            let last_is_best = self.r_norm2 <= self.best.r_norm2;
            if !last_is_best {
                self.operator.space().copy(&self.best.x, &mut x)?;
            }
            self.last_true = match &mut self.true_residual {
                Some(TrueResidual::Replaced { replace, .. }) => {
                    replace(&mut x, &mut self.scratch)?.true_residual
                }
                _ => self.compute_true(&x)?,
            };
            self.prefer_beginning(&mut x)?;
        }
        let small_enough = self.last_true <= self.stopping.tolerance;
        let verdict = match verdict {
            // It may have given up for another reason in the iteration that converged.
            Verdict::GaveUp(failure) if small_enough && failure != Failure::Interrupted => Verdict::Converged,
            other => other,
        };
        let time = self.time();
        let info = SolverInfo {
            iterations: self.iterations,
            residual: Residual {
                iterated: self.history.last().copied().unwrap_or(f64::NAN),
                true_residual: self.last_true,
            },
            history: self.history,
            applications: self.applications,
            time,
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
