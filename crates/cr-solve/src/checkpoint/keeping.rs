//! A computation that can be interrupted and goes on from its checkpoint.

use super::document::{Current, Document, Finished, block_of};
use super::lock::Lock;
use super::{Checkpointing, Resumed, Taken, remove};
use lattice_cl::compute::{DeviceError, Stopwatch};
use lattice_cl::io::{self, CheckpointWriter};
use lattice_cl::job::Interval;
use lattice_cl::solve::Earlier;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::interrupt::Interrupt;
use lattice_cli::ranks::Ranks;
use lattice_cli::report::Report;
use lattice_solvers::{SolverState, Wish};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Default interval between kept states.
const EVERY: Duration = Duration::from_secs(60);

/// Bit of a rank's answer at each look: the rank was interrupted.
///
/// The bit [`DUE`] says that the state is due to be kept.
const INTERRUPTED: u8 = 1;
const DUE: u8 = 2;

/// Names and values that tell a job from others.
pub type Identity = Vec<(String, String)>;

/// A computation under way that keeps states in a file, if there is one.
///
/// It listens for interruptions from the beginning, even if no states are kept.
pub(super) struct Keeping<'a> {
    /// What the computation is called: `search`.
    name: &'static str,
    pub report: &'a Report,
    pub interrupt: Interrupt,
    pub ranks: Ranks,
    pub file: Option<PathBuf>,
    every: Duration,
    job: Identity,
    begun: Stopwatch,
    earlier_seconds: f64,
    last: Instant,
    /// Error of keeping the state when the computation was interrupted.
    error: Option<io::Error>,
    _locks: Vec<Lock>,
}

impl<'a> Keeping<'a> {
    /// Begins a computation, and takes what the checkpoint has of it.
    ///
    /// `job` is called if states are kept.
    ///
    /// # Errors
    /// When the checkpoint is of another job. The message says what differs.
    pub fn begin(
        name: &'static str,
        checkpointing: &Checkpointing,
        taken: Taken,
        job: impl FnOnce() -> Identity,
        interrupt: Interrupt,
        report: &'a Report,
    ) -> Result<(Self, Option<Resumed>), Failure> {
        let Taken { resumed, locks, ranks } = taken;
        let file = checkpointing.file().1.map(ToOwned::to_owned);
        if file.is_none() && checkpointing.every.is_some() {
            report.warning("--every keeps nothing without --checkpoint or --resume");
        }
        let job = if file.is_some() { job() } else { Identity::new() };
        let mut earlier_seconds = 0.0;
        if let Some(Resumed { path, document, .. }) = &resumed {
            expect_same(path, &document.job, &job)?;
            earlier_seconds = document.seconds;
        }
        let every = checkpointing.every.as_ref().map_or(EVERY, Interval::duration);
        let (begun, last, error, _locks) = (report.stopwatch(), Instant::now(), None, locks);
        let keeping = Self {
            name,
            report,
            interrupt,
            ranks,
            file,
            every,
            job,
            begun,
            earlier_seconds,
            last,
            error,
            _locks,
        };
        Ok((keeping, resumed))
    }

    /// Returns the seconds of this run and of the earlier ones, without those of compilers.
    pub fn seconds(&self) -> f64 {
        self.earlier_seconds + self.begun.seconds()
    }

    /// Returns the wish of all ranks.
    ///
    /// An interruption of any rank counts. The clock of the first rank says when a state is due.
    /// States are kept if there is a file.
    pub fn wish(&self) -> Wish {
        let (has_file, is_due) = (self.file.is_some(), self.last.elapsed() >= self.every);
        let own = u8::from(self.interrupt.pressed()) * INTERRUPTED + u8::from(has_file && is_due) * DUE;
        // Ranks that no longer understand each other end with the next sum.
        let Ok(all) = self.ranks.answers(own) else { return Wish::Stop };
        match (all.iter().any(|answer| answer & INTERRUPTED != 0), has_file) {
            (true, true) => Wish::KeepAndStop,
            (true, false) => Wish::Stop,
            (false, _) if all[0] & DUE != 0 => Wish::Keep,
            (false, _) => Wish::GoOn,
        }
    }

    /// Begins a checkpoint, on the first rank and if there is a file.
    pub fn begin_file(
        &self,
        seconds: f64,
        finished: Vec<Finished>,
        current: Option<Current>,
    ) -> Result<Option<CheckpointWriter>, io::Error> {
        let Some(file) = self.own_file() else { return Ok(None) };
        let document = Document::new(self.job.clone(), seconds, finished, current);
        let text = serde_json::to_string(&document).expect("names and numbers have a form in JSON");
        CheckpointWriter::create(file, &text).map(Some)
    }

    /// Waits for all ranks after a state was written.
    ///
    /// A rank that has nothing to write might end the job before the state is kept.
    pub fn meet(&self) -> Result<(), DeviceError> {
        self.ranks.world().map_or(Ok(()), |world| Ok(world.barrier()?))
    }

    /// Notes that a state was written, or warns that it was not.
    ///
    /// If the computation stops, the error is kept for [`interrupted`](Self::interrupted). A full
    /// disk must not end the job that a checkpoint protects.
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

    /// Returns the file if this rank writes it.
    pub fn own_file(&self) -> Option<&PathBuf> {
        self.file.as_ref().filter(|_| self.ranks.is_first())
    }
}

/// A computation with one state.
pub(super) struct Single<'a> {
    pub keeping: Keeping<'a>,
    /// The label of the state in its file.
    label: &'static str,
    state: Option<SolverState<Vec<u8>>>,
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
        let (keeping, resumed) = Keeping::begin(name, checkpointing, taken, job, interrupt, report)?;
        let state = |Resumed { path, document, blocks }: Resumed| {
            let kept = document.current.and_then(|current| current.state(blocks));
            kept.map(|(_, state)| state).ok_or_else(|| {
                let message = format!("{}: the checkpoint has no state of a {name}", path.display());
                Failure::new(Status::File, anyhow::Error::msg(message))
            })
        };
        Ok(Self { keeping, label, state: resumed.map(state).transpose()? })
    }

    /// Tells whether states are kept.
    pub fn keeps(&self) -> bool {
        self.keeping.file.is_some()
    }

    /// Takes the state that the earlier run has kept.
    pub fn kept(&mut self) -> Option<SolverState<Vec<u8>>> {
        self.state.take()
    }

    /// Begins a checkpoint with everything but the vectors, on the first rank and if there is a file.
    pub fn begin_file<V>(
        &self,
        state: &SolverState<V>,
        seconds: f64,
    ) -> Result<Option<CheckpointWriter>, io::Error> {
        let current = Current::of(self.label, &Earlier::<()>::default(), state);
        let Some(mut writer) = self.keeping.begin_file(seconds, Vec::new(), Some(current))? else {
            return Ok(None);
        };
        writer.block(&block_of(&state.history))?;
        Ok(Some(writer))
    }

    /// Removes the checkpoint of a job that is done and has written its result.
    pub fn done(self) {
        if let Some(file) = self.keeping.own_file() {
            remove(file, self.keeping.report);
        }
    }
}

/// Compares two jobs.
fn expect_same(path: &Path, theirs: &Identity, ours: &Identity) -> Result<(), Failure> {
    let value = |job: &Identity, name: &str| {
        job.iter().find(|(own, _)| own == name).map_or("not given".to_owned(), |(_, value)| value.clone())
    };
    let mut names: Vec<&str> = ours.iter().chain(theirs).map(|(name, _)| name.as_str()).collect();
    let mut seen = Vec::new();
    names.retain(|name| {
        !seen.contains(name) && {
            seen.push(*name);
            true
        }
    });
    let differences: Vec<String> = names
        .into_iter()
        .map(|name| (name, value(theirs, name), value(ours, name)))
        .filter(|(_, theirs, ours)| theirs != ours)
        .map(|(name, theirs, ours)| format!("its {name} is {theirs}, here it is {ours}"))
        .collect();
    if differences.is_empty() {
        return Ok(());
    }
    let message = format!("{} is the checkpoint of another job: {}", path.display(), differences.join("; "));
    let failure = Failure::usage(message)
        .hint("go on with the options of the job that wrote it, or start anew without it");
    let [theirs, ours] = [theirs, ours].map(|job| grid_of(&value(job, "storage of fields")));
    Err(match theirs {
        Some(grid) if ours.as_ref() != Some(&grid) => {
            failure.hint(format!("its fields are cut over devices: go on with --grid {grid}"))
        }
        _ => failure,
    })
}

/// Returns the grid of devices that a description of the storage of fields tells.
///
/// [`storage_description`](lattice_cl::geometry::Lattice::storage_description) names no grid of whole
/// time slices. `None` for fields of the host.
fn grid_of(storage: &str) -> Option<String> {
    if let Some((_, rest)) = storage.split_once(", grid ") {
        return rest.split_once(':').map(|(grid, _)| grid.to_owned());
    }
    let domains = storage.matches(" time slices in ").count();
    (domains > 0).then(|| format!("1x1x1x{domains}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named() {
        let job = |kappa: &str, more: &[(&str, &str)]| -> Identity {
            let given = [("kappa", kappa), ("links", "18")].into_iter().chain(more.iter().copied());
            given.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        let path = Path::new("a.checkpoint");
        assert!(expect_same(path, &job("0.1", &[]), &job("0.1", &[])).is_ok());
        let failure = expect_same(path, &job("0.1", &[]), &job("0.2", &[("spin", "1")])).unwrap_err();
        let message = failure.error.to_string();
        for words in
            ["a.checkpoint", "its kappa is 0.1, here it is 0.2", "its spin is not given, here it is 1"]
        {
            assert!(message.contains(words), "{message}");
        }
        assert!(!message.contains("links") && failure.status == Status::Usage, "{message}");
    }

    #[test]
    fn the_grid_to_go_on_with_is_named() {
        let slices = "on devices, γ_t diagonal: 4 time slices in 1/2/2 lanes, 4 time slices in 1/2/2 lanes";
        let blocks = "on devices, γ_t diagonal, grid 1x1x2x1: 4x4x2x8 sites in 1/2/2 lanes";
        let job = |storage: &str| vec![("storage of fields".to_owned(), storage.to_owned())];
        let hint = |theirs: &str, ours: &str| {
            let failure = expect_same(Path::new("c"), &job(theirs), &job(ours)).unwrap_err();
            failure.hints.iter().find(|hint| hint.contains("--grid")).cloned()
        };
        assert!(hint(slices, blocks).unwrap().ends_with("--grid 1x1x1x2"));
        assert!(hint(blocks, slices).unwrap().ends_with("--grid 1x1x2x1"));
        assert_eq!(hint("on the host", slices), None);
    }
}
