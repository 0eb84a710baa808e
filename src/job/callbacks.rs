//! The callbacks of a job while it runs.

use super::label::Label;
use super::modes_news::ModesNews;
use super::multigrid_news::MultigridNews;
use super::outcome::SolveOutcome;
use crate::compute::DeviceError;
use crate::field::StoredField;
use crate::host::Spinor;
use crate::solve::{Attempt, Checkpoints, Earlier, KeptChoice, SolveParams, Watch};
use lattice_solvers::{Look, SolverState, Watching, Wish};

/// The state of a solve in progress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// Label of the solve.
    pub label: &'a Label,
    /// Number of iterations so far, of all methods together.
    pub iterations: usize,
    /// The relative residual of the iterated system, by the recurrence.
    pub residual: f64,
}

/// A solve that an earlier run has done.
#[derive(Clone, Debug)]
pub struct EarlierSolve {
    /// The outcome of the solve. Its time and work are zero in this run.
    pub outcome: SolveOutcome,
    /// The solution: one spinor for each site, in lexicographic order.
    pub solution: Vec<Spinor<f64>>,
}

/// The error by which a callback ends the job.
pub type CallbackError = Box<dyn std::error::Error + Send + Sync>;

/// The callbacks of a job while it runs.
///
/// The default of every method does nothing. `Watching(|progress: &Progress| …)` only watches the
/// progress. `()` does nothing at all.
pub trait Callbacks {
    /// Called after every look at the residual, so it must be quick.
    fn progress(&mut self, _progress: &Progress<'_>) {}

    /// Called when a solve begins.
    fn begins(&mut self, _label: &Label) {}

    /// Returns the solve from an earlier run of the job, if that run has done it.
    ///
    /// # Errors
    /// An error of the callback's own ends the job.
    fn earlier_solve(&mut self, _label: &Label) -> Result<Option<EarlierSolve>, CallbackError> {
        Ok(None)
    }

    /// Called when the method of a solve has ended.
    ///
    /// The solution is still on the devices.
    fn ended(&mut self, _label: &Label) {}

    /// Called with the solution of a solve, of this run or of an earlier one.
    ///
    /// If the method gave up, `x` is the best iterate. Columns that failed together and interrupted
    /// solves are not told.
    ///
    /// # Errors
    /// An error of the callback's own ends the job.
    fn solved(&mut self, _solve: &SolveOutcome, _x: &[Spinor<f64>]) -> Result<(), CallbackError> {
        Ok(())
    }

    /// Called with the solution after [`solved`](Self::solved), once the job does not need it any more.
    ///
    /// A callback that keeps the solution takes its memory, or exchanges it for other memory of this
    /// size. Otherwise the next solution gets it.
    ///
    /// # Errors
    /// An error of the callback's own ends the job.
    fn spent(&mut self, _solve: &SolveOutcome, _x: &mut Vec<Spinor<f64>>) -> Result<(), CallbackError> {
        Ok(())
    }

    /// Returns the state that this solve continues from, with the earlier attempts.
    ///
    /// Called once for each solve.
    fn kept(&mut self, _label: &Label) -> Option<KeptChoice> {
        None
    }

    /// Returns the caller's wish after a look at the residual, so it must be quick.
    ///
    /// Called between two iterations.
    fn wish(&mut self) -> Wish {
        Wish::GoOn
    }

    /// Keeps a state of this solve, if [`wish`](Self::wish) asked for it.
    ///
    /// # Errors
    /// If a field cannot be read.
    fn keep(
        &mut self,
        _label: &Label,
        _earlier: &Earlier<&dyn StoredField>,
        _state: &SolverState<&dyn StoredField>,
    ) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Called when a method gave up, and another continues: see [`Watch::falls_back`].
    ///
    /// `from` is the residual of the best iterate so far.
    fn falls_back(&mut self, _failed: &Attempt, _next: &SolveParams, _from: f64) {}

    /// Called when a method was tried in part, to compare it: see [`Watch::compares`].
    fn compares(&mut self, _tried: &Attempt, _next: &SolveParams) {}

    /// Called during the set-up of a multigrid method, so it must be quick.
    fn multigrid(&mut self, _news: &MultigridNews<'_>) {}

    /// Called during the search for modes that deflate solves, so it must be quick.
    fn modes(&mut self, _news: &ModesNews<'_>) {}
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

/// Callbacks of one method.
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

/// Callbacks of an automatic choice.
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
