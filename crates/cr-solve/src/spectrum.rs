//! `cr-solve spectrum`: the twelve solves of a point source, and the pion correlator.

use super::Common;
use super::arguments::Overwriting;
use super::attempt_outcome::AttemptOutcome;
use super::checkpoint::{Checkpointing, Found, Session};
use super::equation::Equation;
use super::failure::{Failure, Status};
use super::interrupt::Interrupt;
use super::method::Method;
use super::outputs::{check_files, check_plot, drawn, named_outputs};
use super::problem::Problem;
use super::provenance::{Configuration, Provenance};
use super::report::{Report, Table, scientific};
use super::residual::Residual;
use super::solve_bar::SolveBar;
use super::solver::Solver;
use super::solving::{Solved, Solving};
use super::trace::Trace;
use super::words::{coupling_text, method_text, plot_title, solver_text, solver_words};
use crate::plot;
use lattice_cl::geometry::{Dims, NDIM};
use lattice_cl::io::PropagatorWriter;
use lattice_cl::observables::{PionCorrelator, effective_mass};
use lattice_cl::scalar::Precision;
use lattice_solvers::{Failure as SolverFailure, SolverInfo, Work};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The command line of `spectrum`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    equation: Equation,
    #[command(flatten)]
    method: Method,
    /// Direction along which the correlator runs: x, y, z or t
    #[arg(long, default_value = "t", value_parser = direction)]
    along: usize,
    /// Write the twelve solutions to this file (LIME)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the correlator and its effective mass into this file (SVG)
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    overwriting: Overwriting,
    #[command(flatten)]
    trace: Trace,
    #[command(flatten)]
    checkpointing: Checkpointing,
}

impl Arguments {
    /// How the equation is solved.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The files that it writes, with the options that name them; `kept` are those beside a checkpoint.
    pub fn outputs<'a>(&'a self, kept: &'a [PathBuf]) -> Vec<(&'static str, Option<&'a Path>)> {
        let named =
            named_outputs(self.output.as_deref(), self.plot.as_deref(), &self.trace, &self.checkpointing);
        let (option, _) = self.checkpointing.file();
        named.into_iter().chain(kept.iter().map(|path| (option, Some(path.as_path())))).collect()
    }
}

fn direction(text: &str) -> Result<usize, String> {
    (0..NDIM)
        .find(|&mu| text == Dims::direction_name(mu).to_string())
        .ok_or_else(|| format!("`{text}` is not a direction; choose x, y, z or t"))
}

#[derive(Serialize)]
struct Outcome<'a> {
    schema_version: u32,
    configuration: &'a Configuration,
    provenance: &'a Provenance,
    solver: Solver,
    /// Of an automatic choice the method that it chose for the last source.
    method: String,
    system: String,
    preconditioning: String,
    kappa: f64,
    mass: f64,
    /// Zero for the Wilson operator.
    mu: f64,
    boundary: [i8; 4],
    source: String,
    along: char,
    dims: [usize; 4],
    devices: Vec<String>,
    precision: String,
    links: usize,
    tolerance: f64,
    converged: bool,
    /// Empty if a solve failed.
    correlators: Correlators,
    effective_mass: Vec<Option<f64>>,
    normalisation: &'static str,
    solves: Vec<Solve>,
    seconds: Seconds,
    /// Of the solves of this run; null if it had none to do.
    gflops: Option<f64>,
    bandwidth_gb_s: Option<f64>,
}

#[derive(Serialize)]
struct Correlators {
    pion: Vec<f64>,
}

#[derive(Clone, Serialize)]
struct Solve {
    spin: usize,
    color: usize,
    converged: bool,
    iterations: usize,
    /// Of sources that failed together the largest.
    residual: Residual,
    /// Empty unless the method was chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<AttemptOutcome>,
}

#[derive(Serialize)]
struct Seconds {
    /// Reading, opening the devices, the operator in double; without compiling.
    setup: f64,
    /// Compiling kernels, or loading those that an earlier run has compiled; in none of the others.
    compile: f64,
    /// All solves, those of earlier runs too, and what is done with the solutions.
    solve: f64,
}

/// What the methods of this run have done, and how long they took.
#[derive(Default)]
struct Effort {
    work: Work,
    time: Duration,
}

impl Effort {
    fn add(&mut self, info: &SolverInfo) {
        self.work += info.work;
        self.time += info.time;
    }

    /// So many per second, in 10⁹; `None` if this run has solved nothing.
    fn rate(&self, count: u64) -> Option<f64> {
        (!self.time.is_zero()).then(|| count as f64 / self.time.as_secs_f64() / 1e9)
    }
}

/// Solves twelve times, or for all twelve sources at once, reports, writes. What cannot be written is found out before the first solve.
///
/// # Errors
/// When an argument, a file or a device is at fault, and when a solve does not converge: a correlator of fewer
/// than twelve solutions means nothing, but those that were found are written.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let Arguments { equation, method, along, output, plot, overwriting, trace, checkpointing } = arguments;
    let kept = checkpointing.solutions(sources());
    check_files(&equation.file, &arguments.outputs(&kept))?;
    check_plot(plot.as_deref())?;
    if let Some(output) = output {
        overwriting.check(output)?;
    }
    let taken = checkpointing.take(&kept)?;
    let interrupt = Interrupt::listen()?;
    let recorder = trace.recorder();
    let problem = equation.set_up(method, common, &recorder, report)?;
    let dims = problem.dims();
    let job = equation.identity("spectrum", method, &problem, &[]);
    // All sources at once are one solve.
    let count = if method.solver == Solver::BlockCg { 1 } else { 12 };
    let progress = SolveBar::new(report, problem.wilson.lattice().team(), method.tolerance(), count);
    let mut session =
        checkpointing.session(taken, job, problem.wilson.lattice(), interrupt, progress, report)?;
    let about = format!(
        "solutions of M x = b, {}, kappa {:?}, {} form, boundary {}, source {}",
        equation.operator_words(),
        problem.coupling.kappa(),
        equation.normalisation(),
        equation.boundary,
        equation.source
    );
    let mut writer = match output {
        Some(path) => Some(PropagatorWriter::create(path, dims, Precision::Double, &about)?),
        None => None,
    };

    let mut solving = method.begin(problem.wilson.lattice().team());
    let mut pion = PionCorrelator::new(dims, *along, equation.source.0[*along]);
    let mut solves = Vec::new();
    let mut effort = Effort::default();
    let mut written = Ok(());
    let mut gave_up = None;
    // One solution after the other, in the same memory.
    let mut x = Vec::new();
    let mut at_once = match method.solver {
        Solver::BlockCg => Some(solve_at_once(&problem, equation, &mut solving, &mut session)?.into_iter()),
        _ => None,
    };
    for (spin, colour) in sources() {
        let solve = |converged, iterations, residual, attempts| Solve {
            spin,
            color: colour,
            converged,
            iterations,
            residual,
            attempts,
        };
        let found = session.found(spin, colour)?;
        if let Some(Found { iterations, residual, attempts, solution }) = found {
            solving.learn(problem.wilson.lattice().team(), &attempts);
            solves.push(solve(
                true,
                iterations,
                residual,
                attempts.iter().map(AttemptOutcome::from).collect(),
            ));
            x = solution;
        } else {
            let next = at_once.as_mut().and_then(Iterator::next);
            let solved = match next {
                Some(solved) => solved,
                None => {
                    let source = problem.wilson.lattice().point_source(equation.source.0, spin, colour)?;
                    session.begin(spin, colour);
                    solving.solve(&problem.wilson, &source, &mut session)?
                }
            };
            if solved.failure == Some(SolverFailure::Interrupted) {
                session.end_of_solves();
                trace.write(&recorder, report)?;
                return Err(session.interrupted(&solved.info));
            }
            // What is solved at once is counted at once.
            if at_once.is_none() || solves.is_empty() {
                effort.add(&solved.info);
            }
            let attempts = solved.attempts.iter().map(AttemptOutcome::from).collect();
            let solve =
                solve(solved.failure.is_none(), solved.info.iterations, (&solved.info).into(), attempts);
            if at_once.is_some() && !solve.converged {
                // All of them failed together.
                solves.extend(sources().map(|(spin, color)| Solve { spin, color, ..solve.clone() }));
            } else {
                solves.push(solve);
            }
            if let Some(failure) = &solved.failure {
                let failure = method.failure(failure, &solved, &solving);
                let what = match method.solver {
                    Solver::BlockCg => "all sources at once".to_owned(),
                    _ => format!("spin {spin}, colour {colour}"),
                };
                let error = failure.error.context(format!("the solve for {what} failed"));
                gave_up = Some(Failure { error, ..failure });
                break;
            }
            tracing::info!(spin, colour, iterations = solved.info.iterations, "solved");
            match x.len() {
                0 => x = solved.x.to_host()?,
                _ => solved.x.copy_to_host(&mut x)?,
            }
            // What is solved at once is kept as a whole, until the job is done.
            if at_once.is_none() {
                session.finish(&x, &solved.info, &solved.attempts);
            }
        }
        pion.add(&x);
        if let Some(unfinished) = &mut writer
            && let Err(error) = unfinished.write(spin, colour, &x)
        {
            report.warning(format_args!("{error}; the solves go on for the correlator"));
            written = Err(error);
            writer = None;
        }
        session.solved();
    }
    session.end_of_solves();
    let traced = trace.write(&recorder, report);
    // The result is shown first: a full disk must not hide what was computed.
    let found = solves.iter().filter(|solve| solve.converged).count();
    let written = match writer {
        Some(writer) if found > 0 => written.and_then(|()| writer.finish()),
        _ => written,
    };
    if let (Some(path), Some(_), Ok(()), 1..) = (output, &gave_up, &written, found) {
        report.warning(format_args!(
            "{} holds the {found} solutions before the one that failed",
            path.display()
        ));
    }

    // A correlator of fewer than twelve solutions means nothing.
    let correlator = if gave_up.is_none() { pion.values().to_vec() } else { Vec::new() };
    let masses = effective_mass(&correlator);
    let plotted = match plot {
        Some(path) if gave_up.is_none() => {
            let shown: Vec<f64> = masses.iter().map(|mass| mass.unwrap_or(f64::NAN)).collect();
            let title = plot_title(&equation.file, problem.coupling.kappa(), dims.extents());
            drawn(plot::correlator(path, &title, &correlator, &shown), report)
        }
        _ => Ok(()),
    };
    let params = solving.params();
    let outcome = Outcome {
        schema_version: 1,
        configuration: &problem.configuration,
        provenance: &problem.provenance,
        solver: method.solver,
        method: method_text(method.solver, &params),
        system: params.system().to_string(),
        preconditioning: params.preconditioning().to_string(),
        kappa: problem.coupling.kappa(),
        mass: problem.coupling.mass(),
        mu: problem.wilson.site_term().mu(),
        boundary: equation.boundary.signs(),
        source: equation.source.to_string(),
        along: Dims::direction_name(*along),
        dims: dims.extents(),
        devices: problem.devices(),
        precision: params.precision().to_string(),
        links: equation.links.reals(),
        tolerance: method.tolerance(),
        correlators: Correlators { pion: correlator },
        converged: gave_up.is_none(),
        effective_mass: masses,
        normalisation: equation.normalisation(),
        solves,
        seconds: Seconds {
            setup: problem.setup_seconds,
            compile: problem.compile_time().as_secs_f64(),
            solve: session.seconds(),
        },
        gflops: effort.rate(effort.work.flops),
        bandwidth_gb_s: effort.rate(effort.work.bytes),
    };
    report.result(text(&outcome), &outcome)?;
    let written = written.map_err(Failure::from);
    match gave_up {
        Some(failure) => {
            report.also([written, plotted, traced]);
            Err(failure)
        }
        None => {
            written?;
            plotted?;
            traced?;
            session.done();
            Ok(Status::Fine)
        }
    }
}

/// The spins and colours of the twelve sources.
fn sources() -> impl Iterator<Item = (usize, usize)> {
    (0..4).flat_map(|spin| (0..3).map(move |colour| (spin, colour)))
}

/// Solves for the twelve sources at once.
fn solve_at_once(
    problem: &Problem,
    equation: &Equation,
    solving: &mut Solving,
    session: &mut Session<'_>,
) -> Result<Vec<Solved>, Failure> {
    let lattice = problem.wilson.lattice();
    let mut b = lattice.spinors(12)?;
    for (k, (spin, colour)) in sources().enumerate() {
        b.copy_source_from(k, &lattice.point_source(equation.source.0, spin, colour)?)?;
    }
    session.begin_all();
    let solved = solving.solve_at_once(&problem.wilson, &b, session);
    session.end_of_solves();
    solved
}

/// What stands under the table of effective masses.
const EFFECTIVE_MASS: &str =
    "effective mass m(n) = arcosh([C(n-1) + C(n+1)] / 2C(n)), periodic in n; - where it is not real";

fn text(outcome: &Outcome<'_>) -> String {
    let mut table = Table::default();
    table.line("extents", outcome.dims.map(|extent| extent.to_string()).join("x"));
    table.line("devices", outcome.devices.join(", "));
    table.line("kappa", coupling_text(outcome.kappa, outcome.mass));
    if outcome.mu != 0.0 {
        table.line("mu", format!("{:?}", outcome.mu));
    }
    table.line("source", &outcome.source);
    table.line(
        "solver",
        solver_text(
            solver_words(outcome.solver, &outcome.method),
            &outcome.system,
            &outcome.preconditioning,
            &outcome.precision,
        ),
    );
    let iterations: usize = outcome.solves.iter().map(|solve| solve.iterations).sum();
    let worst = outcome.solves.iter().map(|solve| solve.residual.true_residual()).fold(0.0, f64::max);
    let solves = match outcome.solver {
        Solver::BlockCg => {
            format!("{} at once with {} iterations", outcome.solves.len(), outcome.solves[0].iterations)
        }
        _ => format!("{} with {iterations} iterations together", outcome.solves.len()),
    };
    table.line("solves", solves);
    table.line("residual", format_args!("true {} at most", scientific(worst, 3)));
    table.line(
        "seconds",
        format_args!(
            "solves {:.3} s, set-up {:.3} s, compile {:.3} s",
            outcome.seconds.solve, outcome.seconds.setup, outcome.seconds.compile
        ),
    );
    if let (Some(gflops), Some(rate)) = (outcome.gflops, outcome.bandwidth_gb_s) {
        table.line("speed", format_args!("{gflops:.2} GFLOP/s, {rate:.2} GB/s"));
    }
    if !outcome.converged {
        table.line("converged", "NO, so there is no correlator");
        return table.to_string();
    }
    let mut lines = vec![table.to_string(), String::new()];
    lines.push(format!("{:>4}  {:>20}  {:>14}", outcome.along, "pion correlator", "effective mass"));
    for (n, (value, mass)) in outcome.correlators.pion.iter().zip(&outcome.effective_mass).enumerate() {
        let mass = mass.map_or_else(|| "-".to_owned(), |mass| format!("{mass:.6}"));
        lines.push(format!("{n:>4}  {:>20}  {mass:>14}", scientific(*value, 12)));
    }
    lines.push(String::new());
    lines.push(EFFECTIVE_MASS.to_owned());
    lines.join("\n")
}
