//! The end of a block solve: when it gives up, and its result.

use super::{Block, BlockResult, BlockSolve, Verdict, largest};
use crate::ErrorOf;
use crate::VectorSpace;
use crate::block_space::BlockOperator;
use crate::keeper::Look;
use crate::outcome::{Failure, Residual, SolverError, SolverInfo};
use crate::stopping::Stopping;

impl<A: BlockOperator> BlockSolve<'_, '_, A> {
    /// Tells the observer the largest residual, which is known after each iteration.
    pub(super) fn tell(&mut self) {
        let iterated = self.history.last().copied().unwrap_or(f64::NAN);
        let residual = Residual { iterated, true_residual: largest(&self.true_residuals) };
        if let Some(keeper) = &mut self.callbacks.keeper {
            keeper.looked(&Look { iterations: self.iterations, residual });
        }
    }

    /// Returns the reason why there is no next iteration, if there is one.
    pub(super) fn gives_up(&mut self) -> Result<Option<Failure>, ErrorOf<A>> {
        let Stopping { max_iterations: limit, stagnation_window: window, .. } = self.params.stopping;
        if self.iterations >= limit {
            return Ok(Some(Failure::IterationLimit { limit }));
        }
        // While a step is pending the keeper is not asked: the state would need its direction, too.
        if self.pending.is_none() && self.keep()? {
            return Ok(Some(Failure::Interrupted));
        }
        let residual = self.history[self.iterations];
        let stagnates = self.iterations - self.smallest.1 >= window.max(1);
        Ok(stagnates.then_some(Failure::Stagnation { residual, window }))
    }

    /// Ends the solve, in failure with the best iterate.
    ///
    /// The solve does not fail if the residuals of that iterate are found to be small enough.
    pub(super) fn finish(mut self, mut verdict: Verdict) -> BlockResult<A> {
        if let Err(failure) = verdict {
            self.settle()?;
            let last = largest(&self.residuals_of_x);
            // Written so that a residual that is not a number is not the best.
            let last_is_best = last * last <= self.best.r_norm2;
            if self.best.r_norm2.is_finite() && !last_is_best {
                self.a.space().copy(&self.best.x, &mut self.x)?;
                self.residuals_of_x.clone_from(&self.best_residuals);
            }
            self.compute_residuals(true)?;
            // Written so that a NaN is not better. The residual of X = 0 is 1.
            let better_than_zero = largest(&self.true_residuals) <= 1.0;
            if self.callbacks.residuals.is_none() && !better_than_zero {
                self.a.space().set_zero(&mut self.x)?;
                self.compute_residuals(true)?;
            }
            let small_enough = largest(&self.true_residuals) <= self.params.stopping.tolerance;
            if small_enough && failure != Failure::Interrupted {
                verdict = Ok(());
            }
        }
        let residual = Residual {
            iterated: self.history.last().copied().unwrap_or(f64::NAN),
            true_residual: largest(&self.true_residuals),
        };
        self.tell();
        let time = self.time();
        let of_source = |(iterated, &true_residual)| Residual { iterated, true_residual };
        let residuals = self.residuals_of_x.into_iter().zip(&self.true_residuals).map(of_source).collect();
        let block = Block { x: self.x, residuals };
        let info = SolverInfo {
            iterations: self.iterations,
            residual,
            history: self.history,
            applications: self.applications,
            time,
            work: self.work,
        };
        match verdict {
            Ok(()) => Ok((block, info)),
            Err(failure) => Err(SolverError::NotConverged { failure, best: block, info: Box::new(info) }),
        }
    }
}
