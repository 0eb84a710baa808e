//! A factorisation by blocks of columns that can be interrupted, and keeps its state.

use super::document::{Current, Document, block_of};
use super::lock::Lock;
use super::session::{EVERY, Identity, expect_same, wish_of_all};
use super::{Checkpointing, Resumed, Taken, remove};
use crate::failure::{Failure, Status};
use crate::interrupt::Interrupt;
use crate::ranks::Ranks;
use crate::report::Report;
use lattice_cl::io::{self, CheckpointWriter};
use lattice_cl::job::Interval;
use lattice_cl::solve::Earlier;
use lattice_solvers::{SolverState, Wish};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The label of the state in its file.
const LABEL: &str = "factors";

/// A factorisation under way.
pub struct Factoring<'a> {
    report: &'a Report,
    interrupt: Interrupt,
    ranks: Ranks,
    file: Option<PathBuf>,
    every: Duration,
    job: Identity,
    state: Option<SolverState<Vec<u8>>>,
    begun: Instant,
    earlier_seconds: f64,
    last: Instant,
    /// Error of keeping the state when the factorisation was interrupted.
    error: Option<io::Error>,
    _locks: Vec<Lock>,
}

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
        let Taken { resumed, locks, ranks } = taken;
        let file = self.file().1.map(ToOwned::to_owned);
        if file.is_none() && self.every.is_some() {
            report.warning("--every keeps nothing without --checkpoint or --resume");
        }
        let job = if file.is_some() { job() } else { Identity::new() };
        let (mut state, mut earlier_seconds) = (None, 0.0);
        if let Some(Resumed { path, document, blocks }) = resumed {
            expect_same(&path, &document.job, &job)?;
            earlier_seconds = document.seconds;
            let kept = document.current.and_then(|current| current.state(blocks)).ok_or_else(|| {
                let message = format!("{}: the checkpoint has no state of a factorisation", path.display());
                Failure::new(Status::File, anyhow::Error::msg(message))
            })?;
            state = Some(kept.1);
        }
        let now = Instant::now();
        Ok(Factoring {
            report,
            interrupt,
            ranks,
            file,
            every: self.every.as_ref().map_or(EVERY, Interval::duration),
            job,
            state,
            begun: now,
            earlier_seconds,
            last: now,
            error: None,
            _locks: locks,
        })
    }
}

impl Factoring<'_> {
    /// Tells whether states are kept.
    pub fn keeps(&self) -> bool {
        self.file.is_some()
    }

    /// Takes the state that the earlier run has kept.
    pub fn kept(&mut self) -> Option<SolverState<Vec<u8>>> {
        self.state.take()
    }

    /// Returns the seconds of the factorisation, and of the earlier runs.
    pub fn seconds(&self) -> f64 {
        self.earlier_seconds + self.begun.elapsed().as_secs_f64()
    }

    /// Keeps the state if it is due, and tells whether the factorisation goes on.
    ///
    /// `block` returns the bytes of the vector of a number, in the order of the state.
    pub fn goes_on(
        &mut self,
        state: impl FnOnce() -> SolverState<()>,
        block: impl FnMut(usize) -> Vec<u8>,
    ) -> bool {
        let is_due = self.last.elapsed() >= self.every;
        let wish = wish_of_all(&self.ranks, self.interrupt.pressed(), is_due, self.keeps());
        if matches!(wish, Wish::Keep | Wish::KeepAndStop) {
            match self.write(&state(), block) {
                Err(error) if wish == Wish::KeepAndStop => self.error = Some(error),
                Err(error) => self.report.warning(format_args!("the state is not kept: {error}")),
                Ok(()) => {}
            }
            self.last = Instant::now();
        }
        matches!(wish, Wish::GoOn | Wish::Keep)
    }

    /// Writes a checkpoint, one vector after the other.
    fn write(
        &self,
        state: &SolverState<()>,
        mut block: impl FnMut(usize) -> Vec<u8>,
    ) -> Result<(), io::Error> {
        let Some(file) = self.file.as_ref().filter(|_| self.ranks.is_first()) else { return Ok(()) };
        let current = Current::of(LABEL, &Earlier::<()>::default(), state);
        let document = Document::new(self.job.clone(), self.seconds(), Vec::new(), Some(current));
        let text = serde_json::to_string(&document).expect("names and numbers have a form in JSON");
        let mut writer = CheckpointWriter::create(file, &text)?;
        writer.block(&block_of(&state.history))?;
        (0..state.vectors.len()).try_for_each(|number| writer.block(&block(number)))?;
        writer.finish()
    }

    /// Returns the failure of a factorisation that was interrupted.
    pub fn interrupted(self, finished: usize, all: usize) -> Failure {
        let message = format!("interrupted after {finished} of {all} columns");
        let failure = Failure::new(self.interrupt.status(), anyhow::Error::msg(message.clone()));
        match (self.error, self.file) {
            (Some(error), _) => Failure::from(error).hint(message),
            (None, Some(file)) => failure.hint(format!("go on with --resume {}", file.display())),
            (None, None) => {
                failure.hint("with --checkpoint FILE an interrupted factorisation can go on later")
            }
        }
    }

    /// Removes the checkpoint of a job that is done and has written its solution.
    pub fn done(self) {
        if let Some(file) = self.file.as_ref().filter(|_| self.ranks.is_first()) {
            remove(file, self.report);
        }
    }
}
