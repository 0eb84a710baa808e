//! The work of `invert`, `spectrum` and `run` on a job.

use super::company::company;
use super::fingerprint::Configuration;
use super::gave_up::gave_up;
use super::outputs::{
    check_solutions, destinations, kept_solutions, plot_files, result_files, solution_files, trace_file,
};
use super::solutions::Solutions;
use super::trace::Trace;
use super::words::coupling_text;
use crate::checkpoint::{Checkpointing, Session};
use crate::solve_bar::SolveBar;
use lattice_cl::compute::{DeviceError, Recorder};
use lattice_cl::field::StoredField;
use lattice_cl::gauge::SmearParams;
use lattice_cl::geometry::Lattice;
use lattice_cl::hadron::{LinkSmearing, SpinorSmearing};
use lattice_cl::host::Spinor;
use lattice_cl::io::Parts;
use lattice_cl::job::{
    self, CallbackError, Callbacks, Deflation, EarlierSolve, FatLinks, Invalid, Job, JobError, JobOutcome,
    Label, ModesNews, MultigridNews, OneOrMore, Problem, Progress, SolveOutcome, SourceSmearing, Task,
};
use lattice_cl::operator::{Coupling, Expectation};
use lattice_cl::scalar::StoragePrecision;
use lattice_cl::solve::{Attempt, Earlier, KeptChoice, SolveParams};
use lattice_cli::agreement::{About, Facts};
use lattice_cli::common::Common;
use lattice_cli::destinations::Overwriting;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::interrupt::Interrupt;
use lattice_cli::lattice::input::Input;
use lattice_cli::provenance::Provenance;
use lattice_cli::ranks::Ranks;
use lattice_cli::report::Report;
use lattice_cli::team::select_team;
use lattice_files::threads;
use lattice_solvers::{Failure as SolverFailure, SolverState, Wish};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// The critical κ at β = 0. It falls to 1/8 as β grows.
///
/// Source: N. Kawamoto, Nucl. Phys. B190 (1981) 617.
const LARGEST_CRITICAL_KAPPA: f64 = 0.25;

/// A job that was done, or ended early.
pub struct Performed<'a> {
    /// The job on its devices.
    pub problem: &'a Problem,
    /// The properties that tell the configuration from others.
    pub configuration: &'a Configuration,
    /// The origin of the results.
    pub provenance: &'a Provenance,
    /// The results.
    pub outcome: &'a JobOutcome,
    /// ‖x‖² of each solution of `invert`.
    pub norms2: &'a [f64],
    /// Files of plots.
    pub plots: Vec<PathBuf>,
    /// `true` if this process is the one that writes files.
    pub is_first: bool,
    /// Reading, opening the devices, the operator in double; without compiling.
    pub setup_seconds: f64,
    /// All solves, also of earlier runs, and the work on their solutions.
    pub solve_seconds: f64,
    /// Time in the methods that an earlier run left a state of.
    pub earlier: Duration,
}

/// The way in which a command shows its results.
pub trait Show {
    /// Draws the plots.
    ///
    /// # Errors
    /// When a file cannot be written.
    fn plot(&self, performed: &Performed<'_>, report: &Report) -> Result<(), Failure>;

    /// Shows the result.
    ///
    /// # Errors
    /// When it cannot be written.
    fn show(&self, performed: &Performed<'_>, report: &Report) -> Result<(), Failure>;
}

/// Solves, reports and writes.
///
/// Files that cannot be written are found before the first solve.
///
/// # Errors
/// When the job, a file or a device is at fault, and when a solve does not converge. Earlier
/// results are written all the same.
pub fn perform(job: &Job, show: &dyn Show, common: &Common, report: &Report) -> Result<Status, Failure> {
    job.check()?;
    job.configuration.file.as_ref().ok_or(Invalid::NoConfiguration)?;
    let ranks = &common.ranks;
    destinations(job, ranks)?.check(Overwriting { force: job.outputs.force })?;
    check_solutions(job)?;
    expect_one_job(job, &common.ranks)?;
    let files = solution_files(job)?;
    if job.outputs.results.is_some() {
        report.add_if_missing("job", || json!({ "resolved": with_devices(job.resolved(), &common.device) }));
        report.write_results_to(result_files(job).cloned().collect());
    }
    let checkpointing = Checkpointing::of(&job.outputs);
    let taken = checkpointing.take(&kept_solutions(job, &checkpointing)?, ranks)?;
    let rank = ranks.world().map_or(0, |world| world.rank());
    let trace = Trace::to(trace_file(job, ranks, rank));
    let recorder = trace.recorder();
    let SetUp { problem, configuration, provenance, seconds: setup_seconds } =
        set_up(job, common, &recorder, report)?;

    let identity = problem.identity(&configuration.fingerprint());
    // All columns at once are one solve.
    let solves = if job.solves_at_once() { problem.propagators_wanted() } else { problem.labels().len() };
    let bar = SolveBar::new(report, problem.lattice().team(), job.solver.tolerance(), solves);
    // Before the first solve there is nothing to keep, and a request ends the program at once.
    let interrupt = Interrupt::listen();
    let session = checkpointing.session(taken, identity, &problem, interrupt, bar, report)?;
    let earlier = session.kept_time();
    let written = if ranks.is_first() { files.clone() } else { Vec::new() };
    let solutions = Solutions::new(&problem, written, report);
    let one_solve = problem.labels().len() == 1;
    let tracing = Tracing { trace: &trace, recorder: &recorder, report, one_solve, traced: None };
    let mut companion = Companion { session, solutions, tracing };
    let outcome = problem.run(&mut companion);
    let Companion { mut session, mut solutions, tracing } = companion;
    session.end_of_solves();
    let outcome = match outcome {
        Err(error @ (JobError::SetUpInterrupted { .. } | JobError::SearchInterrupted { .. })) => {
            return Err(session.interrupted_in_set_up(error));
        }
        outcome => outcome?,
    };
    let traced = tracing.finish();
    let failed = outcome.failed().and_then(|solve| Some((solve, solve.failure?)));
    if let Some((solve, SolverFailure::Interrupted)) = failed {
        traced?;
        return Err(session.interrupted(solve));
    }

    // The result is shown first: a full disk must not hide what was computed.
    let written = solutions.finish();
    let performed = Performed {
        problem: &problem,
        configuration: &configuration,
        provenance: &provenance,
        outcome: &outcome,
        norms2: &solutions.norms2,
        plots: plot_files(job)?,
        is_first: ranks.is_first(),
        setup_seconds,
        solve_seconds: session.seconds(),
        earlier,
    };
    let plotted = if ranks.is_first() { show.plot(&performed, report) } else { Ok(()) };
    let warn_first = job.command == Task::Spectrum;
    let warn = || {
        if let (Some((solve, _)), Ok(())) = (failed, &written) {
            warn_of_what_is_missing(job, &files, &outcome, solve, report);
        }
    };
    if warn_first {
        warn();
    }
    show.show(&performed, report)?;
    if !warn_first {
        warn();
    }
    let written = written.map_err(Failure::from);
    // The first rank may still be writing. Others may still read files that are removed at the end.
    ranks.wait_for_all()?;
    match (failed, outcome.propagators.last()) {
        (Some((solve, failure)), Some(propagator)) => {
            report.also([written, plotted, traced]);
            Err(gave_up(&problem, propagator, solve, &failure))
        }
        _ => {
            written?;
            plotted?;
            traced?;
            session.done();
            Ok(Status::Fine)
        }
    }
}

/// Makes sure that all ranks have one job, and see the same files.
///
/// # Errors
/// The first difference, on all ranks.
fn expect_one_job(job: &Job, ranks: &Ranks) -> Result<(), Failure> {
    if ranks.world().is_none() {
        return Ok(());
    }
    let document =
        serde_json::to_value(job.resolved()).map_err(|error| Failure::new(Status::Failed, error))?;
    ranks.expect_alike(About::Job, || Facts::of_document(&document))?;
    let modes = match &job.solver.deflate {
        Some(Deflation::File(path)) => Some(path.clone()),
        _ => None,
    };
    let inputs = [&job.configuration.file, &job.solver.multigrid.setup, &modes];
    let checkpoint = Checkpointing::of(&job.outputs).resumed_file().map(Path::to_owned);
    let inputs = inputs.into_iter().flatten().cloned().chain(checkpoint);
    let inputs: Vec<PathBuf> = inputs.filter(|path| path != Path::new("-")).collect();
    ranks.expect_alike(About::Files, || Facts::of_files(inputs.iter().map(PathBuf::as_path)))
}

/// Returns the job with the devices that it is done on.
pub fn with_devices(mut job: Job, devices: &[String]) -> Job {
    match devices {
        [] => {}
        [one] => job.devices.device = Some(OneOrMore::One(one.clone())),
        several => job.devices.device = Some(OneOrMore::More(several.to_vec())),
    }
    job
}

/// Says what the file of the solve that failed holds.
fn warn_of_what_is_missing(
    job: &Job,
    files: &[PathBuf],
    outcome: &JobOutcome,
    solve: &SolveOutcome,
    report: &Report,
) {
    let Some(file) = files.get(solve.label.propagator()) else { return };
    let found = outcome.propagators.last().map_or(0, |propagator| propagator.solves.len() - 1);
    match (job.command, found) {
        (Task::Invert, _) => {
            report.warning(format_args!("{} holds the best iterate, not a solution", file.display()));
        }
        (Task::Spectrum, 0) => {}
        (Task::Spectrum, found) => report.warning(format_args!(
            "{} holds the {found} solutions before the one that failed",
            file.display()
        )),
    }
}

/// Everything that comes before solving.
struct SetUp {
    problem: Problem,
    configuration: Configuration,
    provenance: Provenance,
    seconds: f64,
}

/// Reads the configuration, opens the devices, and puts the operators on them.
fn set_up(job: &Job, common: &Common, recorder: &Recorder, report: &Report) -> Result<SetUp, Failure> {
    let (start, started) = (Instant::now(), SystemTime::now());
    let mut couplings: Vec<Coupling> = job.quarks()?.iter().map(|quark| quark.coupling).collect();
    couplings.dedup();
    for coupling in couplings {
        if coupling.kappa() > LARGEST_CRITICAL_KAPPA {
            report.note(format_args!(
                "note: {}: above 1/4 (mass below -2) kappa is beyond its critical value on every gauge field, even at infinite coupling, and no quark \
                 mass is positive there; solved all the same",
                coupling_text(coupling.kappa(), coupling.mass())
            ));
        }
    }
    let file = job.configuration.file.as_deref().ok_or(Invalid::NoConfiguration)?;
    let team = select_team(common, recorder.clone(), report)?;
    let (links, read) = thread::scope(|scope| {
        let team = &team;
        let compile = |dims| {
            report.compiles_for(dims);
            // The lattice tries its devices' memory. Two threads that do this hang a `basic` device of PoCL 3.1.
            if let Ok(lattice) = job::lattice_of(job, team, dims) {
                // Without a thread they compile when they are needed.
                drop(threads::start(scope, move || job::build_programs(job, &lattice)));
            }
        };
        // Each rank reads what its devices need.
        let wanted = |dims| job::sites_of_rank(job, team, dims);
        let company = company(&common.ranks);
        let parts = company.as_ref().map(|company| Parts { company, wanted: &wanted });
        let read = Input::of(&job.configuration).read_and_tell(file, report, &compile, parts)?;
        let read = Arc::new(read.configuration);
        if let Some(part) = read.part() {
            tracing::info!("this rank has the links of {} of {} sites", part.sites(), read.dims().volume());
        }
        let links = job::links_of(job, &read, team)?;
        warn_of_idle_devices(links.lattice(), report);
        if common.takes_all_devices() {
            tell_expectation(job, links.lattice(), report)?;
        }
        Ok::<_, Failure>((links, read))
    })?;
    let configuration = Configuration::new(file, &read);
    common.ranks.expect_alike(About::Files, || Facts::of_file(file, configuration.fingerprint()))?;
    // By now its programs are compiled.
    let problem = Problem::of_links(job, &links)?.with_configuration(&read)?;
    let problem = problem.with_fingerprint(configuration.fingerprint());
    drop(read);
    warn_of_growing_modes(&problem, report);
    team.finish()?;
    // Only solving is of interest.
    recorder.take()?;
    let seconds = start.elapsed().saturating_sub(team.compile_time()).as_secs_f64();
    Ok(SetUp { problem, configuration, provenance: Provenance::new(&team, started), seconds })
}

/// Reports whether all devices together are expected to be faster than one.
///
/// The user has not named any device.
fn tell_expectation(job: &Job, lattice: &Lattice, report: &Report) -> Result<(), Failure> {
    let expected = Expectation::measure(lattice, StoragePrecision::Double, job.configuration.links)?;
    match expected {
        Some(expected) if expected.is_slower() => report.warning(format_args!(
            "{expected}; one device is expected to be faster: leave out --device, or name one"
        )),
        Some(expected) => report.note(expected),
        None => {}
    }
    Ok(())
}

/// Warns of smearing that makes modes of short waves grow.
fn warn_of_growing_modes(problem: &Problem, report: &Report) {
    let of_links = |params: SmearParams| {
        if !params.is_stable() {
            let limit = params.stable_limit();
            report.warning(format_args!("{params}: modes of short waves grow above {limit:.4}"));
        }
    };
    if let Some(FatLinks(params)) = problem.job().action.fat_links {
        of_links(params);
    }
    let of_spinors = |kind: SpinorSmearing| {
        if !kind.is_stable() {
            let limit = kind.stable_limit();
            report.warning(format_args!("{kind}: modes of short waves grow above {limit:.4}"));
        }
    };
    problem.job().hadron.iter().filter_map(|entry| entry.smear_sink).for_each(of_spinors);
    for labelled in problem.sources() {
        let SourceSmearing { source, sink, links } = labelled.smearing;
        [source, sink].into_iter().flatten().for_each(of_spinors);
        if let Some(LinkSmearing(params)) = links {
            of_links(params);
        }
    }
}

pub fn warn_of_idle_devices(lattice: &Lattice, report: &Report) {
    let idle = lattice.idle_devices();
    if idle > 0 {
        report.warning(format_args!(
            "{idle} of the {} devices have no share: the lattice is cut {}, and no grid of more of them is possible",
            lattice.team().len(),
            lattice.grid()
        ));
    }
}

/// The trace of a job.
///
/// The trace of a single solve ends with the method, before the solution is copied.
struct Tracing<'a> {
    trace: &'a Trace,
    recorder: &'a Recorder,
    report: &'a Report,
    one_solve: bool,
    traced: Option<Result<(), Failure>>,
}

impl Tracing<'_> {
    fn ended(&mut self) {
        if self.one_solve {
            self.traced = Some(self.trace.write(self.recorder, self.report));
        }
    }

    fn finish(self) -> Result<(), Failure> {
        self.traced.unwrap_or_else(|| self.trace.write(self.recorder, self.report))
    }
}

/// The session, and what takes the solutions.
struct Companion<'a> {
    session: Session<'a>,
    solutions: Solutions<'a>,
    tracing: Tracing<'a>,
}

impl Callbacks for Companion<'_> {
    fn progress(&mut self, progress: &Progress<'_>) {
        self.session.progress(progress);
    }

    fn begins(&mut self, label: &Label) {
        self.session.begins(label);
    }

    fn earlier_solve(&mut self, label: &Label) -> Result<Option<EarlierSolve>, CallbackError> {
        self.session.earlier_solve(label)
    }

    fn ended(&mut self, _: &Label) {
        self.tracing.ended();
    }

    fn solved(&mut self, solve: &SolveOutcome, x: &[Spinor<f64>]) -> Result<(), CallbackError> {
        let iterations = solve.info.iterations;
        tracing::info!(label = solve.label.as_str(), iterations, "solved");
        self.session.solved(solve, x)?;
        self.solutions.take(solve, x);
        Ok(())
    }

    fn kept(&mut self, label: &Label) -> Option<KeptChoice> {
        self.session.kept(label)
    }

    fn wish(&mut self) -> Wish {
        self.session.wish()
    }

    fn keep(
        &mut self,
        label: &Label,
        earlier: &Earlier<&dyn StoredField>,
        state: &SolverState<&dyn StoredField>,
    ) -> Result<(), DeviceError> {
        self.session.keep(label, earlier, state)
    }

    fn falls_back(&mut self, failed: &Attempt, next: &SolveParams, from: f64) {
        self.session.falls_back(failed, next, from);
    }

    fn compares(&mut self, tried: &Attempt, next: &SolveParams) {
        self.session.compares(tried, next);
    }

    fn multigrid(&mut self, news: &MultigridNews<'_>) {
        self.session.multigrid(news);
    }

    fn modes(&mut self, news: &ModesNews<'_>) {
        self.session.modes(news);
    }
}
