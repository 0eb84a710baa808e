//! A computation with one state, which can be interrupted and goes on from its checkpoint.

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

/// A computation under way.
pub(super) struct Single<'a> {
    /// What the computation is called: `search`.
    name: &'static str,
    /// The label of the state in its file.
    label: &'static str,
    report: &'a Report,
    interrupt: Interrupt,
    pub ranks: Ranks,
    file: Option<PathBuf>,
    every: Duration,
    job: Identity,
    state: Option<SolverState<Vec<u8>>>,
    begun: Instant,
    earlier_seconds: f64,
    last: Instant,
    /// Error of keeping the state when the computation was interrupted.
    error: Option<io::Error>,
    _locks: Vec<Lock>,
}

impl<'a> Single<'a> {
    /// Begins a computation, or goes on with that of the checkpoint.
    ///
    /// `job` is called if states are kept.
    ///
    /// # Errors
    /// When the checkpoint is of another job. The message says what differs.
    pub fn begin(
        [name, label]: [&'static str; 2],
        checkpointing: &Checkpointing,
        taken: Taken,
        job: impl FnOnce() -> Identity,
        interrupt: Interrupt,
        report: &'a Report,
    ) -> Result<Self, Failure> {
        let Taken { resumed, locks, ranks } = taken;
        let file = checkpointing.file().1.map(ToOwned::to_owned);
        if file.is_none() && checkpointing.every.is_some() {
            report.warning("--every keeps nothing without --checkpoint or --resume");
        }
        let job = if file.is_some() { job() } else { Identity::new() };
        let (mut state, mut earlier_seconds) = (None, 0.0);
        if let Some(Resumed { path, document, blocks }) = resumed {
            expect_same(&path, &document.job, &job)?;
            earlier_seconds = document.seconds;
            let kept = document.current.and_then(|current| current.state(blocks)).ok_or_else(|| {
                let message = format!("{}: the checkpoint has no state of a {name}", path.display());
                Failure::new(Status::File, anyhow::Error::msg(message))
            })?;
            state = Some(kept.1);
        }
        let every = checkpointing.every.as_ref().map_or(EVERY, Interval::duration);
        let (begun, last, error, _locks) = (Instant::now(), Instant::now(), None, locks);
        Ok(Self {
            name,
            label,
            report,
            interrupt,
            ranks,
            file,
            every,
            job,
            state,
            begun,
            earlier_seconds,
            last,
            error,
            _locks,
        })
    }

    /// Tells whether states are kept.
    pub fn keeps(&self) -> bool {
        self.file.is_some()
    }

    /// Takes the state that the earlier run has kept.
    pub fn kept(&mut self) -> Option<SolverState<Vec<u8>>> {
        self.state.take()
    }

    /// Returns the seconds of this run and of the earlier ones, without those that do not count.
    pub fn seconds_without(&self, apart: Duration) -> f64 {
        self.earlier_seconds + self.begun.elapsed().saturating_sub(apart).as_secs_f64()
    }

    pub fn wish(&self) -> Wish {
        let is_due = self.last.elapsed() >= self.every;
        wish_of_all(&self.ranks, self.interrupt.pressed(), is_due, self.keeps())
    }

    /// Tells whether the user has interrupted the program.
    pub fn pressed(&self) -> bool {
        self.interrupt.pressed()
    }

    /// Begins a checkpoint with everything but the vectors, on the first rank and if there is a file.
    pub fn begin_file<V>(
        &self,
        state: &SolverState<V>,
        seconds: f64,
    ) -> Result<Option<CheckpointWriter>, io::Error> {
        let Some(file) = self.own_file() else { return Ok(None) };
        let current = Current::of(self.label, &Earlier::<()>::default(), state);
        let document = Document::new(self.job.clone(), seconds, Vec::new(), Some(current));
        let text = serde_json::to_string(&document).expect("names and numbers have a form in JSON");
        let mut writer = CheckpointWriter::create(file, &text)?;
        writer.block(&block_of(&state.history))?;
        Ok(Some(writer))
    }

    /// Notes that a state was written, or warns that it was not.
    ///
    /// If the computation stops, the error is kept for [`interrupted`](Self::interrupted).
    pub fn written(&mut self, result: Result<(), io::Error>, stops: bool) {
        match result {
            Err(error) if stops => self.error = Some(error),
            Err(error) => self.report.warning(format_args!("the state is not kept: {error}")),
            Ok(()) => {}
        }
        self.last = Instant::now();
    }

    /// Returns the failure of a computation that was interrupted.
    pub fn interrupted(self, message: String) -> Failure {
        let failure = Failure::new(self.interrupt.status(), anyhow::Error::msg(message.clone()));
        match (self.error, self.file) {
            (Some(error), _) => Failure::from(error).hint(message),
            (None, Some(file)) => failure.hint(format!("go on with --resume {}", file.display())),
            (None, None) => {
                failure.hint(format!("with --checkpoint FILE an interrupted {} can go on later", self.name))
            }
        }
    }

    /// Removes the checkpoint of a job that is done and has written its result.
    pub fn done(self) {
        if let Some(file) = self.own_file() {
            remove(file, self.report);
        }
    }

    /// Returns the file if this rank writes it.
    fn own_file(&self) -> Option<&PathBuf> {
        self.file.as_ref().filter(|_| self.ranks.is_first())
    }
}
