//! A search for modes that can be interrupted, and keeps its state.

use super::document::{Current, Document, block_of};
use super::lock::Lock;
use super::session::{EVERY, Identity, expect_same, wish_of_all};
use super::{Checkpointing, Resumed, Taken, remove};
use crate::failure::{Failure, Status};
use crate::interrupt::Interrupt;
use crate::ranks::Ranks;
use crate::report::Report;
use lattice_cl::device::{DeviceError, Team};
use lattice_cl::field::StoredField;
use lattice_cl::io::{self, CheckpointWriter};
use lattice_cl::job::Interval;
use lattice_cl::solve::{Checkpoints, Earlier};
use lattice_solvers::{SolverState, Wish};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The label of the state in its file.
const LABEL: &str = "modes";

/// A search for modes under way.
pub struct Search<'a> {
    report: &'a Report,
    interrupt: Interrupt,
    ranks: Ranks,
    team: Team,
    compiled: Duration,
    file: Option<PathBuf>,
    every: Duration,
    job: Identity,
    state: Option<SolverState<Vec<u8>>>,
    begun: Instant,
    earlier_seconds: f64,
    last: Instant,
    /// Error of keeping the state when the search was interrupted.
    error: Option<io::Error>,
    _locks: Vec<Lock>,
}

impl Checkpointing {
    /// Begins a search, or goes on with the search of the checkpoint.
    ///
    /// # Errors
    /// When the checkpoint is of another search. The message says what differs.
    pub fn search<'a>(
        &self,
        taken: Taken,
        job: Identity,
        team: &Team,
        interrupt: Interrupt,
        report: &'a Report,
    ) -> Result<Search<'a>, Failure> {
        let Taken { resumed, locks, ranks } = taken;
        let (mut state, mut earlier_seconds) = (None, 0.0);
        if let Some(Resumed { path, document, blocks }) = resumed {
            expect_same(&path, &document.job, &job)?;
            earlier_seconds = document.seconds;
            let kept = document.current.and_then(|current| current.state(blocks)).ok_or_else(|| {
                let message = format!("{}: the checkpoint has no state of a search", path.display());
                Failure::new(Status::File, anyhow::Error::msg(message))
            })?;
            state = Some(kept.1);
        }
        let file = self.file().1.map(ToOwned::to_owned);
        if file.is_none() && self.every.is_some() {
            report.warning("--every keeps nothing without --checkpoint or --resume");
        }
        let now = Instant::now();
        Ok(Search {
            report,
            interrupt,
            ranks,
            team: team.clone(),
            compiled: team.compile_time(),
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

impl Search<'_> {
    /// Returns the seconds of the search, without compilers.
    ///
    /// The seconds of earlier runs count too.
    pub fn seconds(&self) -> f64 {
        let compiling = self.team.compile_time().saturating_sub(self.compiled);
        self.earlier_seconds + self.begun.elapsed().saturating_sub(compiling).as_secs_f64()
    }

    /// Writes a checkpoint, one field after the other.
    ///
    /// Every rank has parts of the fields, and the first one writes. All ranks take part, even if
    /// the first one has failed.
    fn write(&self, state: &SolverState<&dyn StoredField>) -> Result<Result<(), io::Error>, DeviceError> {
        let mut writer = self.begin_file(state);
        for (_, field) in &state.vectors {
            if writer.is_err() && self.ranks.world().is_none() {
                break;
            }
            let bytes = field.to_bytes()?;
            if let Ok(Some(file)) = &mut writer
                && let Err(error) = file.block(&bytes)
            {
                writer = Err(error);
            }
        }
        Ok(writer.and_then(|writer| writer.map_or(Ok(()), CheckpointWriter::finish)))
    }

    fn begin_file(
        &self,
        state: &SolverState<&dyn StoredField>,
    ) -> Result<Option<CheckpointWriter>, io::Error> {
        let Some(file) = self.file.as_ref().filter(|_| self.ranks.is_first()) else { return Ok(None) };
        let current = Current::of(LABEL, &Earlier::<&dyn StoredField>::default(), state);
        let document = Document::new(self.job.clone(), self.seconds(), Vec::new(), Some(current));
        let text = serde_json::to_string(&document).expect("names and numbers have a form in JSON");
        let mut writer = CheckpointWriter::create(file, &text)?;
        writer.block(&block_of(&state.history))?;
        Ok(Some(writer))
    }

    /// Returns the failure of a search that was interrupted.
    pub fn interrupted(self, found: usize, wanted: usize, applications: usize) -> Failure {
        let message =
            format!("interrupted after {applications} applications, with {found} of {wanted} modes found");
        let failure = Failure::new(self.interrupt.status(), anyhow::Error::msg(message.clone()));
        match (self.error, self.file) {
            (Some(error), _) => Failure::from(error).hint(message),
            (None, Some(file)) => failure.hint(format!("go on with --resume {}", file.display())),
            (None, None) => failure.hint("with --checkpoint FILE an interrupted search can go on later"),
        }
    }

    /// Removes the checkpoint of a search that is done and has written its modes.
    pub fn done(self) {
        if let Some(file) = self.file.as_ref().filter(|_| self.ranks.is_first()) {
            remove(file, self.report);
        }
    }
}

impl Checkpoints for Search<'_> {
    fn kept(&mut self) -> Option<SolverState<Vec<u8>>> {
        self.state.take()
    }

    fn wish(&mut self) -> Wish {
        let is_due = self.last.elapsed() >= self.every;
        wish_of_all(&self.ranks, self.interrupt.pressed(), is_due, self.file.is_some())
    }

    fn keep(&mut self, state: &SolverState<&dyn StoredField>) -> Result<(), DeviceError> {
        let written = self.write(state)?;
        // A rank that has nothing to write might end the job before the state is kept.
        if let Some(world) = self.ranks.world() {
            world.barrier()?;
        }
        match written {
            Err(error) if self.interrupt.pressed() => self.error = Some(error),
            Err(error) => self.report.warning(format_args!("the state is not kept: {error}")),
            Ok(()) => {}
        }
        self.last = Instant::now();
        Ok(())
    }
}
