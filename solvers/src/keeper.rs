//! Observers of a solve, and keepers of its states.

use crate::outcome::Residual;
use crate::state::SolverState;

/// The wish of a keeper for a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Do nothing: iterate.
    GoOn,
    /// Keep the state, and iterate.
    Keep,
    /// Keep the state, and stop.
    ///
    /// The solve ends with [`Failure::Interrupted`](crate::Failure::Interrupted).
    KeepAndStop,
    /// Stop like [`Wish::KeepAndStop`], without keeping the state.
    Stop,
}

/// The progress of a solve at a look at its residual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Iterations done.
    pub iterations: usize,
    /// The relative residuals.
    ///
    /// One is by the recurrence. The true one is the last that was computed, NaN before there is
    /// one.
    pub residual: Residual,
}

/// Watches a solve and keeps its states.
///
/// By default it does neither.
pub trait StateKeeper<V, E> {
    /// Returns the state that the solve goes on from. Default: none.
    ///
    /// The solve asks once, before everything else.
    fn kept(&mut self) -> Result<Option<SolverState<V>>, E> {
        Ok(None)
    }

    /// Receives the residual at every look. Default: ignores it.
    ///
    /// The method must be quick. The first look is before the first iteration. The last look is the
    /// one that ends the solve.
    fn looked(&mut self, _look: &Look) {}

    /// Returns the wish for the state between two iterations. Default: to go on.
    ///
    /// The solve asks at every look at the residual, so the method must be quick.
    fn wish(&mut self) -> Wish {
        Wish::GoOn
    }

    /// Keeps a state if that was wished. Default: drops it.
    fn keep(&mut self, _state: &SolverState<&V>) -> Result<(), E> {
        Ok(())
    }
}

/// A [`StateKeeper`] that calls a function at every look and keeps nothing.
///
/// ```
/// use lattice_solvers::{Look, Watching};
/// let mut watching = Watching(|look: &Look| eprintln!("{} {:.1e}", look.iterations, look.residual.iterated));
/// // Callbacks::default().with_keeper(Some(&mut watching))
/// # lattice_solvers::StateKeeper::<(), ()>::wish(&mut watching);
/// ```
pub struct Watching<F>(pub F);

impl<V, E, F: FnMut(&Look)> StateKeeper<V, E> for Watching<F> {
    fn looked(&mut self, look: &Look) {
        (self.0)(look);
    }
}
