//! A job that can be interrupted: it keeps its state, and knows what an earlier run has done of it.

use super::document::{Bits, Current, Document, Finished, KeptAttempt, block_of};
use super::lock::Lock;
use super::{Checkpointing, KEPT_SOLUTION, Resumed, Taken, beside};
use crate::failure::{Failure, Status};
use crate::interrupt::Interrupt;
use crate::provenance::add;
use crate::report::{Report, scientific};
use crate::residual::Residual;
use crate::solve_bar::SolveBar;
use lattice_cl::device::{DeviceError, Team};
use lattice_cl::field::StoredField;
use lattice_cl::geometry::{Dims, Lattice};
use lattice_cl::host::Spinor;
use lattice_cl::io::{self, CheckpointWriter, PropagatorWriter};
use lattice_cl::scalar::Precision;
use lattice_cl::solve::{Attempt, Checkpoints, Earlier, KeptChoice, SolveParams, Watch};
use lattice_solvers::{Look, SolverInfo, SolverState, Wish};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often the state is kept unless one says otherwise.
const EVERY: Duration = Duration::from_secs(60);

/// What tells a job from others: names and values.
pub type Identity = Vec<(String, String)>;

/// A job under way. Interruptions are listened for from the beginning, whether or not states are kept.
pub struct Session<'a> {
    report: &'a Report,
    progress: SolveBar<'a>,
    interrupt: Interrupt,
    _locks: Vec<Lock>,
    file: Option<PathBuf>,
    every: Duration,
    job: Identity,
    dims: Dims,
    team: Team,
    begun: Instant,
    /// Time that compilers had taken by then.
    compiled: Duration,
    earlier_seconds: f64,
    last: Instant,
    finished: Vec<Finished>,
    /// Where the solutions of the earlier run are.
    resumed_from: Option<PathBuf>,
    /// Spin and colour of the solve under way, of the first if it is one for all sources.
    source: (usize, usize),
    /// Whether it is.
    all_sources: bool,
    /// The state of the earlier run, with what it had tried before, and its source.
    state: Option<((usize, usize), KeptChoice)>,
    /// Why a state could not be kept when the job was interrupted.
    error: Option<io::Error>,
}

/// A solve that an earlier run has done.
pub struct Found {
    /// How many iterations it took.
    pub iterations: usize,
    /// The residual of the solution.
    pub residual: Residual,
    /// What was tried, if the method was chosen.
    pub attempts: Vec<Attempt>,
    /// One spinor for each site, in lexicographic order.
    pub solution: Vec<Spinor<f64>>,
}

impl Checkpointing {
    /// Begins a job, or goes on with that of the checkpoint.
    ///
    /// # Errors
    /// When the checkpoint is one of another job; the message says what differs.
    pub fn session<'a>(
        &self,
        taken: Taken,
        job: Identity,
        lattice: &Lattice,
        interrupt: Interrupt,
        progress: SolveBar<'a>,
        report: &'a Report,
    ) -> Result<Session<'a>, Failure> {
        let Taken { resumed, locks } = taken;
        let now = Instant::now();
        let file = self.file().1.map(Path::to_owned);
        if file.is_none() && self.every.is_some() {
            report.warning("--every keeps nothing without --checkpoint or --resume");
        }
        let mut session = Session {
            report,
            progress,
            interrupt,
            _locks: locks,
            file,
            every: self.every.unwrap_or(EVERY),
            job,
            dims: lattice.dims(),
            compiled: lattice.team().compile_time(),
            team: lattice.team().clone(),
            begun: now,
            earlier_seconds: 0.0,
            last: now,
            finished: Vec::new(),
            resumed_from: None,
            source: (0, 0),
            all_sources: false,
            state: None,
            error: None,
        };
        if let Some(Resumed { path, document, blocks }) = resumed {
            expect_same(&path, &document.job, &session.job)?;
            if let Some(current) = document.current {
                let source = (current.spin, current.colour);
                let state = current.state(blocks).ok_or_else(|| {
                    let message =
                        format!("{}: the checkpoint does not have the blocks that it names", path.display());
                    Failure::new(Status::File, anyhow::Error::msg(message))
                })?;
                session.state = Some((source, state));
            }
            session.earlier_seconds = document.seconds;
            session.take_over(path, document.finished)?;
        }
        Ok(session)
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
    Err(Failure::usage(message)
        .hint("go on with the options of the job that wrote it, or start anew without it"))
}

impl Session<'_> {
    /// Takes the solutions of the earlier run over, into files beside its own checkpoint if that has another name.
    fn take_over(&mut self, path: PathBuf, finished: Vec<Finished>) -> Result<(), Failure> {
        let elsewhere = self.file.as_ref().is_some_and(|own| !io::is_same_file(own, &path));
        self.resumed_from = Some(path);
        for solve in finished {
            if elsewhere {
                let x = self.solution(&solve)?;
                self.write_solution(solve.spin, solve.colour, &x)?;
            }
            self.finished.push(solve);
        }
        if elsewhere {
            self.resumed_from.clone_from(&self.file);
        }
        Ok(())
    }

    /// What an earlier run found for a source.
    ///
    /// # Errors
    /// When the file of the solution is missing or damaged.
    pub fn found(&self, spin: usize, colour: usize) -> Result<Option<Found>, Failure> {
        let found = self.finished.iter().find(|solve| (solve.spin, solve.colour) == (spin, colour));
        let Some(solve) = found else { return Ok(None) };
        let residual = Residual::new(solve.iterated.0, solve.true_residual.0);
        let attempts = solve.attempts.iter().map(Attempt::from).collect();
        Ok(Some(Found { iterations: solve.iterations, residual, attempts, solution: self.solution(solve)? }))
    }

    fn solution(&self, solve: &Finished) -> Result<Vec<Spinor<f64>>, Failure> {
        let checkpoint = self.resumed_from.as_deref().unwrap_or(Path::new(""));
        let path = beside(checkpoint, solve.spin, solve.colour);
        let hint = "it belongs to the checkpoint; bring it back, or start anew";
        let propagator = io::read_propagator(&path).map_err(|error| Failure::from(error).hint(hint))?;
        match propagator.records.into_iter().next() {
            Some(record) if sum(&record.field) == solve.sum => Ok(record.field),
            _ => {
                let message =
                    format!("{} is not the solution that {} has", path.display(), checkpoint.display());
                Err(Failure::new(Status::Failed, anyhow::Error::msg(message)).hint(hint))
            }
        }
    }

    /// Time in the methods that the state of the earlier run has behind it.
    pub fn kept_time(&self) -> Duration {
        self.state.as_ref().map_or(Duration::ZERO, |(_, (earlier, state))| earlier.time() + state.time())
    }

    /// Says which solve comes next.
    pub fn begin(&mut self, spin: usize, colour: usize) {
        self.source = (spin, colour);
        self.progress.begin();
    }

    /// Says that one solve is done, here or in an earlier run.
    pub fn solved(&mut self) {
        self.progress.solved();
    }

    /// Says that no solve comes any more: the bar goes.
    pub fn end_of_solves(&mut self) {
        self.progress.end();
    }

    /// Says that one solve for all sources comes next.
    pub fn begin_all(&mut self) {
        (self.source, self.all_sources) = ((0, 0), true);
        self.progress.begin();
    }

    /// Keeps the solution of the solve under way, if states are kept, and what was tried if the method was chosen.
    pub fn finish(&mut self, x: &[Spinor<f64>], info: &SolverInfo, attempts: &[Attempt]) {
        if let Err(error) = self.keep_solution(x, info, attempts) {
            self.warn(&error);
        }
        self.last = Instant::now();
    }

    /// A full disk must not end what it only was to protect.
    fn warn(&self, error: &io::Error) {
        self.report.warning(format_args!("the state is not kept: {error}"));
    }

    fn keep_solution(
        &mut self,
        x: &[Spinor<f64>],
        info: &SolverInfo,
        attempts: &[Attempt],
    ) -> Result<(), io::Error> {
        if self.file.is_none() {
            return Ok(());
        }
        let (spin, colour) = self.source;
        self.write_solution(spin, colour, x)?;
        self.finished.push(Finished {
            spin,
            colour,
            iterations: info.iterations,
            iterated: Bits(info.residual.iterated),
            true_residual: Bits(info.residual.true_residual),
            sum: sum(x),
            attempts: attempts.iter().map(KeptAttempt::from).collect(),
        });
        self.begin_file(None)?.map_or(Ok(()), CheckpointWriter::finish)
    }

    fn write_solution(&self, spin: usize, colour: usize, x: &[Spinor<f64>]) -> Result<(), io::Error> {
        let Some(file) = &self.file else { return Ok(()) };
        let about = format!("{KEPT_SOLUTION} {}", file.display());
        let mut writer =
            PropagatorWriter::create(beside(file, spin, colour), self.dims, Precision::Double, &about)?;
        writer.write(spin, colour, x)?;
        writer.finish()
    }

    /// Begins a checkpoint, if states are kept.
    fn begin_file(&self, current: Option<Current>) -> Result<Option<CheckpointWriter>, io::Error> {
        let Some(file) = &self.file else { return Ok(None) };
        let document = Document::new(self.job.clone(), self.seconds(), self.finished.clone(), current);
        let text = serde_json::to_string(&document).expect("names and numbers have a form in JSON");
        CheckpointWriter::create(file, &text).map(Some)
    }

    /// Keeps a state now.
    fn keep_now(
        &mut self,
        earlier: &Earlier<&dyn StoredField>,
        state: &SolverState<&dyn StoredField>,
    ) -> Result<(), DeviceError> {
        if let Err(error) = self.write(earlier, state)? {
            if self.interrupt.pressed() {
                self.error = Some(error);
            } else {
                self.warn(&error);
            }
        }
        self.last = Instant::now();
        Ok(())
    }

    /// Writes a checkpoint, one field after the other: in all they may be larger than the memory of the host.
    fn write(
        &self,
        earlier: &Earlier<&dyn StoredField>,
        state: &SolverState<&dyn StoredField>,
    ) -> Result<Result<(), io::Error>, DeviceError> {
        let (spin, colour) = self.source;
        let mut writer = match self.begin_file(Some(Current::of(spin, colour, earlier, state))) {
            Ok(Some(writer)) => writer,
            other => return Ok(other.map(drop)),
        };
        let mut written = writer.block(&block_of(&state.history));
        for (_, field) in &state.vectors {
            if written.is_ok() {
                written = writer.block(&field.to_bytes()?);
            }
        }
        if !earlier.attempts.is_empty() {
            written = written.and_then(|()| writer.block(&block_of(&earlier.history)));
        }
        if let (Ok(()), Some(best)) = (&written, earlier.best) {
            written = writer.block(&best.to_bytes()?);
        }
        Ok(written.and_then(|()| writer.finish()))
    }

    /// Seconds spent on the solves of the job, with those of earlier runs, but for compilers.
    pub fn seconds(&self) -> f64 {
        let compiling = self.team.compile_time().saturating_sub(self.compiled);
        self.earlier_seconds + self.begun.elapsed().saturating_sub(compiling).as_secs_f64()
    }

    /// The failure of a job that was interrupted.
    pub fn interrupted(self, info: &SolverInfo) -> Failure {
        let status = self.interrupt.status();
        let (iterations, residual) = (info.iterations, info.residual.true_residual);
        let what = match self.source {
            _ if self.all_sources => "all sources".to_owned(),
            (spin, colour) => format!("spin {spin}, colour {colour}"),
        };
        let message = format!(
            "interrupted after {iterations} iterations for {what}, at the true relative residual {}",
            scientific(residual, 3)
        );
        match (self.error, self.file) {
            (Some(error), _) => Failure::from(error).hint(message),
            (None, Some(file)) => Failure::new(status, anyhow::Error::msg(message))
                .hint(format!("go on with --resume {}", file.display())),
            (None, None) => Failure::new(status, anyhow::Error::msg(message))
                .hint("with --checkpoint FILE a job that was interrupted can go on later"),
        }
    }

    /// The job is done, and its results are written: removes what was kept.
    pub fn done(self) {
        let Some(file) = &self.file else { return };
        let solutions = self.finished.iter().map(|solve| beside(file, solve.spin, solve.colour));
        // A job that was done before the first state was kept has no file.
        for path in std::iter::once(file.clone()).chain(solutions).filter(|path| path.exists()) {
            if let Err(error) = std::fs::remove_file(&path) {
                self.report
                    .warning(format_args!("{} is no longer needed but stays: {error}", path.display()));
            }
        }
    }
}

fn sum(x: &[Spinor<f64>]) -> String {
    let mut sum = blake3::Hasher::new();
    x.iter().for_each(|spinor| add(&mut sum, &spinor.0));
    sum.finalize().to_hex().to_string()
}

impl Session<'_> {
    /// The state of the earlier run for the solve under way.
    fn take_kept(&mut self) -> Option<KeptChoice> {
        let begun = self.source;
        self.state.take_if(|(source, _)| *source == begun).map(|(_, kept)| kept)
    }

    fn wish_now(&self) -> Wish {
        match (self.interrupt.pressed(), &self.file) {
            (true, Some(_)) => Wish::KeepAndStop,
            (true, None) => Wish::Stop,
            (false, Some(_)) if self.last.elapsed() >= self.every => Wish::Keep,
            (false, _) => Wish::GoOn,
        }
    }
}

/// For one method.
impl Checkpoints for Session<'_> {
    fn kept(&mut self) -> Option<SolverState<Vec<u8>>> {
        self.take_kept().map(|(_, state)| state)
    }

    fn wish(&mut self) -> Wish {
        self.wish_now()
    }

    fn keep(&mut self, state: &SolverState<&dyn StoredField>) -> Result<(), DeviceError> {
        self.keep_now(&Earlier::default(), state)
    }

    fn looked(&mut self, look: &Look) {
        self.progress.looked(look);
    }
}

/// For an automatic choice.
impl Watch for Session<'_> {
    fn kept(&mut self) -> Option<KeptChoice> {
        self.take_kept()
    }

    fn wish(&mut self) -> Wish {
        self.wish_now()
    }

    fn keep(
        &mut self,
        earlier: &Earlier<&dyn StoredField>,
        state: &SolverState<&dyn StoredField>,
    ) -> Result<(), DeviceError> {
        self.keep_now(earlier, state)
    }

    fn looked(&mut self, look: &Look) {
        self.progress.looked(look);
    }

    fn falls_back(&mut self, failed: &Attempt, next: &SolveParams, from: f64) {
        let from =
            if from < 1.0 { format!("the residual {}", scientific(from, 3)) } else { "x = 0".to_owned() };
        self.report.warning(format_args!("{failed}; going on with {next} from {from}"));
    }

    fn compares(&mut self, tried: &Attempt, next: &SolveParams) {
        let Attempt { params, iterations, residual, .. } = tried;
        self.report.note(format_args!(
            "tried {params} for {iterations} iterations, to {}; going on with {next}",
            scientific(residual.true_residual, 3)
        ));
    }
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
}
