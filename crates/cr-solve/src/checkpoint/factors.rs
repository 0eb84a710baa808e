//! A factorisation by blocks of columns that can be interrupted, and keeps its state.

use super::keeping::{Identity, Single};
use super::{Checkpointing, Taken};
use lattice_cl::io;
use lattice_cli::failure::Failure;
use lattice_cli::interrupt::Interrupt;
use lattice_cli::report::Report;
use lattice_solvers::{SolverState, Wish};

/// A factorisation under way.
pub struct Factoring<'a>(Single<'a>);

impl Checkpointing {
    /// Begins a factorisation, or goes on with that of the checkpoint.
    ///
    /// `job` is called if states are kept.
    ///
    /// # Errors
    /// When the checkpoint is of another job. The message says what differs.
    pub fn factoring<'a>(
        &self,
        taken: Taken,
        job: impl FnOnce() -> Identity,
        interrupt: Interrupt,
        report: &'a Report,
    ) -> Result<Factoring<'a>, Failure> {
        Single::begin(["factorisation", "factors"], self, taken, job, interrupt, report).map(Factoring)
    }
}

impl Factoring<'_> {
    /// Tells whether states are kept.
    pub fn keeps(&self) -> bool {
        self.0.keeps()
    }

    /// Takes the state that the earlier run has kept.
    pub fn kept(&mut self) -> Option<SolverState<Vec<u8>>> {
        self.0.kept()
    }

    /// Returns the seconds of the factorisation, and of the earlier runs.
    pub fn seconds(&self) -> f64 {
        self.0.keeping.seconds()
    }

    /// Keeps the state if it is due, and tells whether the factorisation goes on.
    ///
    /// `block` returns the bytes of the vector of a number, in the order of the state.
    pub fn goes_on(
        &mut self,
        state: impl FnOnce() -> SolverState<()>,
        block: impl FnMut(usize) -> Vec<u8>,
    ) -> bool {
        let wish = self.0.keeping.wish();
        if matches!(wish, Wish::Keep | Wish::KeepAndStop) {
            let result = self.write(&state(), block);
            self.0.keeping.written(result, wish == Wish::KeepAndStop);
        }
        matches!(wish, Wish::GoOn | Wish::Keep)
    }

    /// Writes a checkpoint, one vector after the other.
    fn write(
        &self,
        state: &SolverState<()>,
        mut block: impl FnMut(usize) -> Vec<u8>,
    ) -> Result<(), io::Error> {
        let Some(mut writer) = self.0.begin_file(state, self.seconds())? else { return Ok(()) };
        (0..state.vectors.len()).try_for_each(|number| writer.block(&block(number)))?;
        writer.finish()
    }

    /// Returns the failure of a factorisation that was interrupted.
    pub fn interrupted(self, finished: usize, all: usize) -> Failure {
        self.0.keeping.interrupted(format!("interrupted after {finished} of {all} columns"))
    }

    /// Removes the checkpoint of a job that is done and has written its solution.
    pub fn done(self) {
        self.0.done();
    }
}
