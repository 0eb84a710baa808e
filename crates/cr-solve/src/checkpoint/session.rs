//! A job that can be interrupted.
//!
//! The job keeps its state, and knows what an earlier run has done.

use super::document::{Bits, Current, Finished, KeptAttempt, block_of};
use super::keeping::{Identity, Keeping};
use super::{Checkpointing, KEPT_SOLUTION, Resumed, Taken, beside, remove};
use crate::solve_bar::SolveBar;
use lattice_cl::compute::DeviceError;
use lattice_cl::field::StoredField;
use lattice_cl::geometry::Dims;
use lattice_cl::hadron::Column;
use lattice_cl::host::Spinor;
use lattice_cl::io::{self, CheckpointWriter, PropagatorWriter};
use lattice_cl::job::{
    CallbackError, Callbacks, EarlierSolve, JobError, Label, ModesNews, MultigridNews, Problem, Progress,
    SolveOutcome,
};
use lattice_cl::scalar::Precision;
use lattice_cl::solve::{Attempt, Earlier, KeptChoice, SolveParams};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::interrupt::Interrupt;
use lattice_cli::report::{Report, scientific};
use lattice_solvers::{Residual, SolverState, Wish};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A job under way.
pub struct Session<'a> {
    keeping: Keeping<'a>,
    progress: SolveBar<'a>,
    dims: Dims,
    finished: Vec<Finished>,
    /// The checkpoint that has the earlier run's solutions beside it.
    resumed_from: Option<PathBuf>,
    /// Solves for one column each.
    solves: Vec<Label>,
    /// `true` if the solutions of `solves` are kept.
    keeps_solutions: bool,
    /// Label and state of the earlier run's solve, with the attempts before it.
    state: Option<(String, KeptChoice)>,
}

impl Checkpointing {
    /// Begins a job, or resumes the job of the checkpoint.
    ///
    /// # Errors
    /// When the checkpoint is of another job. The message says what differs.
    pub fn session<'a>(
        &self,
        taken: Taken,
        job: Identity,
        problem: &Problem,
        interrupt: Interrupt,
        progress: SolveBar<'a>,
        report: &'a Report,
    ) -> Result<Session<'a>, Failure> {
        let (keeping, resumed) = Keeping::begin("job", self, taken, || job, interrupt, report)?;
        let (lattice, solves) = (problem.lattice(), problem.labels());
        let keeps_solutions = solves.len() > 1 && !problem.job().solves_at_once();
        let mut session = Session {
            keeping,
            progress,
            dims: lattice.dims(),
            finished: Vec::new(),
            resumed_from: None,
            solves,
            keeps_solutions,
            state: None,
        };
        if let Some(Resumed { path, document, blocks }) = resumed {
            if let Some(current) = document.current {
                let label = current.label.clone();
                let state = current.state(blocks).ok_or_else(|| {
                    let message =
                        format!("{}: the checkpoint does not have the blocks that it names", path.display());
                    Failure::new(Status::File, anyhow::Error::msg(message))
                })?;
                session.state = Some((label, state));
            }
            session.take_over(path, document.finished)?;
        }
        Ok(session)
    }
}

impl Session<'_> {
    /// Takes over the solutions of the earlier run.
    ///
    /// If the job's own checkpoint has another name, the solutions are copied to files beside it.
    fn take_over(&mut self, path: PathBuf, finished: Vec<Finished>) -> Result<(), Failure> {
        let elsewhere = self.keeping.own_file().is_some_and(|own| !io::is_same_file(own, &path));
        self.resumed_from = Some(path);
        for solve in finished {
            if elsewhere && let Some(label) = self.label(&solve) {
                let x = self.solution(&solve, &label)?;
                self.write_solution(&label, &x)?;
            }
            self.finished.push(solve);
        }
        if elsewhere {
            self.resumed_from.clone_from(&self.keeping.file);
        }
        Ok(())
    }

    /// Returns the solve of this job with the label of `solve`.
    fn label(&self, solve: &Finished) -> Option<Label> {
        self.solves.iter().find(|label| label.as_str() == solve.label).cloned()
    }

    /// Returns the result that an earlier run found for this solve.
    ///
    /// # Errors
    /// When the file of the solution is missing or damaged.
    fn found_before(&self, label: &Label) -> Result<Option<EarlierSolve>, Failure> {
        let found = self.finished.iter().find(|solve| solve.label == label.as_str());
        let Some(solve) = found else { return Ok(None) };
        let residual = Residual { iterated: solve.iterated.0, true_residual: solve.true_residual.0 };
        let attempts = solve.attempts.iter().map(Attempt::from).collect();
        let outcome = SolveOutcome::of_earlier_run(label.clone(), solve.iterations, residual, attempts);
        Ok(Some(EarlierSolve { outcome, solution: self.solution(solve, label)? }))
    }

    fn solution(&self, solve: &Finished, label: &Label) -> Result<Vec<Spinor<f64>>, Failure> {
        let checkpoint = self.resumed_from.as_deref().unwrap_or(Path::new(""));
        let path = beside(checkpoint, label);
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

    /// Returns the time in the methods that the earlier run's state has behind it.
    pub fn kept_time(&self) -> Duration {
        self.state.as_ref().map_or(Duration::ZERO, |(_, (earlier, state))| earlier.time() + state.time())
    }

    /// Removes the bar after the last solve.
    pub fn end_of_solves(&mut self) {
        self.progress.end();
    }

    /// Keeps the solution of a solve, if states are kept.
    fn finish(&mut self, solve: &SolveOutcome, x: &[Spinor<f64>]) {
        let result = self.keep_solution(solve, x);
        self.keeping.written(result, false);
    }

    fn keep_solution(&mut self, solve: &SolveOutcome, x: &[Spinor<f64>]) -> Result<(), io::Error> {
        if self.keeping.own_file().is_none() {
            return Ok(());
        }
        let SolveOutcome { label, info, attempts, .. } = solve;
        self.write_solution(label, x)?;
        self.finished.push(Finished {
            label: label.to_string(),
            iterations: info.iterations,
            iterated: Bits(info.residual.iterated),
            true_residual: Bits(info.residual.true_residual),
            sum: sum(x),
            attempts: attempts.iter().map(KeptAttempt::from).collect(),
        });
        self.begin_file(None)?.map_or(Ok(()), CheckpointWriter::finish)
    }

    fn write_solution(&self, label: &Label, x: &[Spinor<f64>]) -> Result<(), io::Error> {
        let Some(file) = self.keeping.own_file() else { return Ok(()) };
        let about = format!("{KEPT_SOLUTION} {}", file.display());
        let mut writer = PropagatorWriter::create(beside(file, label), self.dims, Precision::Double, &about)?;
        let Column { spin, colour } = label.column();
        writer.write(spin, colour, x)?;
        writer.finish()
    }

    /// Begins a checkpoint, if states are kept.
    fn begin_file(&self, current: Option<Current>) -> Result<Option<CheckpointWriter>, io::Error> {
        self.keeping.begin_file(self.seconds(), self.finished.clone(), current)
    }

    /// Writes a checkpoint, one field after the other.
    ///
    /// All fields together may be larger than the memory of the host.
    fn write(
        &self,
        label: &Label,
        earlier: &Earlier<&dyn StoredField>,
        state: &SolverState<&dyn StoredField>,
    ) -> Result<Result<(), io::Error>, DeviceError> {
        let mut writer = self.begin_file(Some(Current::of(label.as_str(), earlier, state)));
        let block = |writer: &mut Result<Option<CheckpointWriter>, io::Error>, bytes: &[u8]| {
            if let Ok(Some(file)) = writer
                && let Err(error) = file.block(bytes)
            {
                *writer = Err(error);
            }
        };
        // Every rank has parts of the fields. All ranks take part, even if the writing rank has
        // failed.
        let bytes = |writer: &Result<_, _>, field: &dyn StoredField| {
            if writer.is_ok() || self.keeping.ranks.world().is_some() {
                field.to_bytes()
            } else {
                Ok(Vec::new())
            }
        };
        block(&mut writer, &block_of(&state.history));
        for (_, field) in &state.vectors {
            let bytes = bytes(&writer, *field)?;
            block(&mut writer, &bytes);
        }
        if !earlier.attempts.is_empty() {
            block(&mut writer, &block_of(&earlier.history));
        }
        if let Some(best) = earlier.best {
            let bytes = bytes(&writer, best)?;
            block(&mut writer, &bytes);
        }
        Ok(writer.and_then(|writer| writer.map_or(Ok(()), CheckpointWriter::finish)))
    }

    /// Returns the seconds spent on the solves of the job, without compilers.
    ///
    /// The seconds of earlier runs count too.
    pub fn seconds(&self) -> f64 {
        self.keeping.seconds()
    }

    /// Returns the failure of a job that was interrupted.
    pub fn interrupted(self, solve: &SolveOutcome) -> Failure {
        let (iterations, residual) = (solve.info.iterations, solve.info.residual.true_residual);
        self.keeping.interrupted(format!(
            "interrupted after {iterations} iterations for {}, at the true relative residual {}",
            solve.label,
            scientific(residual, 3)
        ))
    }

    /// Returns the failure of a job that was interrupted in the set-up of a multigrid method, or in a
    /// search for modes.
    pub fn interrupted_in_set_up(self, error: JobError) -> Failure {
        let hint = match &error {
            JobError::SetUpInterrupted { kept: Some(path), .. } => {
                format!("{} has these vectors: give the same --multigrid-setup to go on", path.display())
            }
            JobError::SearchInterrupted { .. } => {
                "cr-solve modes --checkpoint FILE has searches that can go on later, and --deflate FILE their modes"
                    .to_owned()
            }
            _ => "with --multigrid-setup FILE a set-up that was interrupted can go on later".to_owned(),
        };
        let Keeping { file, interrupt, .. } = self.keeping;
        let again = file.filter(|file| file.exists());
        let again = again.map(|file| format!("{hint}, and --resume {}", file.display()));
        Failure::new(interrupt.status(), error).hint(again.unwrap_or(hint))
    }

    /// Removes the checkpoint of a job that is done and has written its results.
    pub fn done(self) {
        let Some(file) = self.keeping.own_file() else { return };
        let kept = self.finished.iter().filter_map(|solve| self.label(solve));
        let solutions = kept.map(|label| beside(file, &label));
        std::iter::once(file.clone()).chain(solutions).for_each(|path| remove(&path, self.keeping.report));
    }
}

fn sum(x: &[Spinor<f64>]) -> String {
    let mut sum = blake3::Hasher::new();
    x.iter().for_each(|spinor| add(&mut sum, &spinor.0));
    sum.finalize().to_hex().to_string()
}

impl Callbacks for Session<'_> {
    fn progress(&mut self, progress: &Progress<'_>) {
        self.progress.looked(progress);
    }

    fn begins(&mut self, label: &Label) {
        // Each column counts if solutions are kept.
        self.progress.begin(if self.keeps_solutions { label.count() } else { 1 });
    }

    fn earlier_solve(&mut self, label: &Label) -> Result<Option<EarlierSolve>, CallbackError> {
        Ok(self.found_before(label)?)
    }

    fn solved(&mut self, solve: &SolveOutcome, x: &[Spinor<f64>]) -> Result<(), CallbackError> {
        // Solutions of columns that are solved at once are kept as a whole, until the job is done.
        if self.keeps_solutions && !solve.found && solve.failure.is_none() {
            self.finish(solve, x);
        }
        self.progress.solved();
        Ok(())
    }

    /// Returns the state of the earlier run for this solve.
    fn kept(&mut self, label: &Label) -> Option<KeptChoice> {
        self.state.take_if(|(of, _)| of == label.as_str()).map(|(_, kept)| kept)
    }

    fn wish(&mut self) -> Wish {
        self.keeping.wish()
    }

    fn keep(
        &mut self,
        label: &Label,
        earlier: &Earlier<&dyn StoredField>,
        state: &SolverState<&dyn StoredField>,
    ) -> Result<(), DeviceError> {
        let written = self.write(label, earlier, state)?;
        self.keeping.meet()?;
        self.keeping.written(written, self.keeping.interrupt.pressed());
        Ok(())
    }

    fn falls_back(&mut self, failed: &Attempt, next: &SolveParams, from: f64) {
        let from =
            if from < 1.0 { format!("the residual {}", scientific(from, 3)) } else { "x = 0".to_owned() };
        self.keeping.report.warning(format_args!("{failed}; going on with {next} from {from}"));
    }

    fn compares(&mut self, tried: &Attempt, next: &SolveParams) {
        let Attempt { params, iterations, residual, .. } = tried;
        self.keeping.report.detail(format_args!(
            "tried {params} for {iterations} iterations, to {}; going on with {next}",
            scientific(residual.true_residual, 3)
        ));
    }

    fn multigrid(&mut self, news: &MultigridNews<'_>) {
        match news {
            MultigridNews::Progress(progress) => self.progress.sets_up(progress),
            MultigridNews::Ready { levels, time, read } => {
                let from = read.map_or_else(String::new, |path| format!(", vectors of {}", path.display()));
                self.keeping
                    .report
                    .note(format_args!("multigrid: {levels}{from}; set up in {:.1} s", time.as_secs_f64()));
            }
            MultigridNews::Chosen(choice) => self.keeping.report.detail(format_args!("auto: {choice}")),
            MultigridNews::Written(path) => {
                self.keeping.report.note(format_args!("multigrid: wrote {}", path.display()));
            }
            MultigridNews::Without(error) => {
                self.keeping.report.warning(format_args!("no multigrid method: {error}; solving by bicgstab"))
            }
        }
    }

    fn modes(&mut self, news: &ModesNews<'_>) {
        match news {
            ModesNews::Progress { look, wanted } => self.progress.searches(look, *wanted),
            ModesNews::Ready(outcome) => self.keeping.report.note(format_args!("deflation: {outcome}")),
        }
    }
}

/// Adds numbers to a sum, in the form that they have in memory.
fn add(sum: &mut blake3::Hasher, numbers: &impl bytemuck::NoUninit) {
    sum.update(bytemuck::bytes_of(numbers));
}
