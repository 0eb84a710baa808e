//! What a job asks and tells while it runs.

use super::label::Label;
use super::multigrid_news::MultigridNews;
use super::outcome::SolveOutcome;
use crate::device::DeviceError;
use crate::field::StoredField;
use crate::host::Spinor;
use crate::solve::{Attempt, Checkpoints, Earlier, KeptChoice, SolveParams, Watch};
use lattice_solvers::{Look, SolverState, Watching, Wish};

/// How far a solve has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// Which solve.
    pub label: &'a Label,
    /// Its iterations, those of all methods together.
    pub iterations: usize,
    /// The relative residual of the system that is iterated, by the recurrence.
    pub residual: f64,
}

/// A solve that an earlier run has done.
#[derive(Clone, Debug)]
pub struct Found {
    /// How it went. Its time and work are none: they were the earlier run's.
    pub outcome: SolveOutcome,
    /// One spinor for each site, in lexicographic order.
    pub solution: Vec<Spinor<f64>>,
}

/// Why a callback ends the job.
pub type CallbackError = Box<dyn std::error::Error + Send + Sync>;

/// What a job asks and tells while it runs. Every method does nothing unless it is given.
///
/// `Watching(|progress: &Progress| …)` is one that only watches, and `()` one that does not even that.
pub trait Callbacks {
    /// Told of the residual whenever it has been looked at, so it must be quick.
    fn progress(&mut self, _progress: &Progress<'_>) {}

    /// A solve begins.
    fn begins(&mut self, _label: &Label) {}

    /// A solve that was done before, in an earlier run of the job.
    ///
    /// # Errors
    /// Whatever ends the job.
    fn found(&mut self, _label: &Label) -> Result<Option<Found>, CallbackError> {
        Ok(None)
    }

    /// The method of a solve has ended. Its solution is on the devices still.
    fn ended(&mut self, _label: &Label) {}

    /// A solve has ended, here or in an earlier run, and this is its solution. The best iterate if the method gave up.
    ///
    /// Not called for columns that failed together, nor for a solve that was interrupted.
    ///
    /// # Errors
    /// Whatever ends the job.
    fn solved(&mut self, _solve: &SolveOutcome, _x: &[Spinor<f64>]) -> Result<(), CallbackError> {
        Ok(())
    }

    /// The state that this solve goes on from, with what was tried before it. Asked once for each solve.
    fn kept(&mut self, _label: &Label) -> Option<KeptChoice> {
        None
    }

    /// Asked between two iterations whenever the residual has been looked at, so it must be quick.
    fn wish(&mut self) -> Wish {
        Wish::GoOn
    }

    /// Keeps a state of this solve; called if it was wished.
    ///
    /// # Errors
    /// When a field cannot be read.
    fn keep(
        &mut self,
        _label: &Label,
        _earlier: &Earlier<&dyn StoredField>,
        _state: &SolverState<&dyn StoredField>,
    ) -> Result<(), DeviceError> {
        Ok(())
    }

    /// A method gave up, and another goes on from the best iterate so far, whose residual is `from`: see [`Watch::falls_back`].
    fn falls_back(&mut self, _failed: &Attempt, _next: &SolveParams, _from: f64) {}

    /// A method was tried for a part of the way, to compare it: see [`Watch::compares`].
    fn compares(&mut self, _tried: &Attempt, _next: &SolveParams) {}

    /// Told of the set-up of a multigrid method, so it must be quick.
    fn multigrid(&mut self, _news: &MultigridNews<'_>) {}
}

impl Callbacks for () {}

impl<F: FnMut(&Progress<'_>)> Callbacks for Watching<F> {
    fn progress(&mut self, progress: &Progress<'_>) {
        (self.0)(progress);
    }
}

/// The callbacks, for the methods of one solve.
pub(super) struct OfSolve<'a> {
    pub label: &'a Label,
    pub callbacks: &'a mut dyn Callbacks,
}

impl OfSolve<'_> {
    fn tell(&mut self, look: &Look) {
        let Look { iterations, residual } = *look;
        self.callbacks.progress(&Progress { label: self.label, iterations, residual: residual.iterated });
    }
}

/// For one method.
impl Checkpoints for OfSolve<'_> {
    fn kept(&mut self) -> Option<SolverState<Vec<u8>>> {
        self.callbacks.kept(self.label).map(|(_, state)| state)
    }

    fn looked(&mut self, look: &Look) {
        self.tell(look);
    }

    fn wish(&mut self) -> Wish {
        self.callbacks.wish()
    }

    fn keep(&mut self, state: &SolverState<&dyn StoredField>) -> Result<(), DeviceError> {
        self.callbacks.keep(self.label, &Earlier::default(), state)
    }
}

/// For an automatic choice.
impl Watch for OfSolve<'_> {
    fn kept(&mut self) -> Option<KeptChoice> {
        self.callbacks.kept(self.label)
    }

    fn looked(&mut self, look: &Look) {
        self.tell(look);
    }

    fn wish(&mut self) -> Wish {
        self.callbacks.wish()
    }

    fn keep(
        &mut self,
        earlier: &Earlier<&dyn StoredField>,
        state: &SolverState<&dyn StoredField>,
    ) -> Result<(), DeviceError> {
        self.callbacks.keep(self.label, earlier, state)
    }

    fn falls_back(&mut self, failed: &Attempt, next: &SolveParams, from: f64) {
        self.callbacks.falls_back(failed, next, from);
    }

    fn compares(&mut self, tried: &Attempt, next: &SolveParams) {
        self.callbacks.compares(tried, next);
    }
}
