//! A keeper of states that interrupts.

use lattice_solvers::{SolverState, StateKeeper, Wish};
use num_complex::Complex64;
use std::convert::Infallible;

type Vector = Vec<Complex64>;

/// A keeper that wishes to stop at the call with number `stop`, if that is not 0.
#[derive(Default)]
pub struct StopAt {
    pub asked: usize,
    pub stop: usize,
    pub from: Option<SolverState<Vector>>,
    pub kept: Option<SolverState<Vector>>,
}

impl StateKeeper<Vector, Infallible> for StopAt {
    fn kept(&mut self) -> Result<Option<SolverState<Vector>>, Infallible> {
        Ok(self.from.take())
    }

    fn wish(&mut self) -> Wish {
        self.asked += 1;
        if self.asked == self.stop { Wish::KeepAndStop } else { Wish::GoOn }
    }

    fn keep(&mut self, state: &SolverState<&Vector>) -> Result<(), Infallible> {
        let SolverState { method, vectors, scalars, numbers, counts, history } = state.clone();
        let vectors = vectors.into_iter().map(|(name, vector)| (name, vector.clone())).collect();
        self.kept = Some(SolverState { method, vectors, scalars, numbers, counts, history });
        Ok(())
    }
}
