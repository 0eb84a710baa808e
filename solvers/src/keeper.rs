//! Who watches a solve and keeps its states.

use crate::outcome::Residual;
use crate::state::SolverState;

/// What to do with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Nothing: iterate.
    GoOn,
    /// Keep it, and iterate.
    Keep,
    /// Keep it, and stop with [`Failure::Interrupted`](crate::Failure::Interrupted).
    KeepAndStop,
    /// Stop in the same way, without keeping it.
    Stop,
}

/// How far a solve has come, when its residual has been looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Iterations done.
    pub iterations: usize,
    /// The relative residual by the recurrence, and the true one that was computed last (NaN before there is one).
    pub residual: Residual,
}

/// Watches a solve and keeps its states. By default it does neither.
pub trait StateKeeper<V, E> {
    /// The state that the solve goes on from. Asked once, before everything else. Default: none.
    fn kept(&mut self) -> Result<Option<SolverState<V>>, E> {
        Ok(None)
    }

    /// Told of the residual whenever it has been looked at, so it must be quick. Default: ignores it.
    ///
    /// The first look is before the first iteration. The last one is that which ends the solve.
    fn looked(&mut self, _look: &Look) {}

    /// Asked between two iterations whenever the residual has been looked at, so it must be quick. Default: to go on.
    fn wish(&mut self) -> Wish {
        Wish::GoOn
    }

    /// Keeps a state; called if it was wished. Default: drops it.
    fn keep(&mut self, _state: &SolverState<&V>) -> Result<(), E> {
        Ok(())
    }
}

/// A function that is told of every look at the residual, as a [`StateKeeper`] that keeps nothing.
///
/// ```
/// use lattice_solvers::{Look, Watching};
/// let mut watching = Watching(|look: &Look| eprintln!("{} {:.1e}", look.iterations, look.residual.iterated));
/// // Callbacks { true_residual: None, keeper: Some(&mut watching) }
/// # lattice_solvers::StateKeeper::<(), ()>::wish(&mut watching);
/// ```
pub struct Watching<F>(pub F);

impl<V, E, F: FnMut(&Look)> StateKeeper<V, E> for Watching<F> {
    fn looked(&mut self, look: &Look) {
        (self.0)(look);
    }
}
