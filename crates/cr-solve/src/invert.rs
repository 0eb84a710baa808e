//! `cr-solve invert`: solves M x = b for one source.

use super::Common;
use super::arguments::Overwriting;
use super::attempt_outcome::AttemptOutcome;
use super::checkpoint::Checkpointing;
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
use super::trace::Trace;
use super::words::{coupling_text, method_text, plot_title, solver_text, solver_words};
use crate::plot::{self, Marks, PlotError, Series};
use lattice_cl::host::Spinor;
use lattice_cl::io::{self, PropagatorWriter};
use lattice_cl::scalar::Precision;
use lattice_solvers::Failure as SolverFailure;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The command line of `invert`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    equation: Equation,
    #[command(flatten)]
    method: Method,
    /// Spin of the source, 0 to 3
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=3))]
    spin: u8,
    /// Colour of the source, 0 to 2; --color C is the same
    #[arg(long, value_name = "C", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=2))]
    colour: u8,
    /// Write the solution to this file (LIME)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the residual history into this file (SVG)
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

    /// The files that it writes, with the options that name them.
    pub fn outputs(&self) -> [(&'static str, Option<&Path>); 4] {
        named_outputs(self.output.as_deref(), self.plot.as_deref(), &self.trace, &self.checkpointing)
    }
}

#[derive(Serialize)]
struct Outcome<'a> {
    schema_version: u32,
    configuration: &'a Configuration,
    provenance: &'a Provenance,
    solver: Solver,
    /// Of an automatic choice the method that it chose.
    method: String,
    system: String,
    preconditioning: String,
    kappa: f64,
    mass: f64,
    /// Zero for the Wilson operator.
    mu: f64,
    normalisation: &'static str,
    boundary: [i8; 4],
    source: String,
    spin: u8,
    color: u8,
    dims: [usize; 4],
    devices: Vec<String>,
    precision: String,
    links: usize,
    tolerance: f64,
    converged: bool,
    failure: Option<String>,
    iterations: usize,
    residual: Residual,
    solution_norm2: f64,
    seconds: Seconds,
    gflops: f64,
    bandwidth_gb_s: f64,
    history: Vec<f64>,
    /// Empty unless the method was chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<AttemptOutcome>,
}

impl Outcome<'_> {
    /// All methods that took part.
    fn methods(&self) -> String {
        let mut methods: Vec<&str> = self.attempts.iter().map(AttemptOutcome::solver).collect();
        methods.dedup();
        if methods.is_empty() { self.method.clone() } else { methods.join(", then ") }
    }
}

#[derive(Serialize)]
struct Seconds {
    /// Reading, opening the devices, the operator in double; without compiling.
    setup: f64,
    /// Compiling kernels, or loading those that an earlier run has compiled; in none of the others.
    compile: f64,
    /// From there to the first iteration, and from the last one to the solution: the operators that are iterated are made, and with them variants of
    /// kernels searched for.
    prepare: f64,
    /// The iterations, those of earlier runs too.
    solve: f64,
}

/// Solves, reports, writes. What cannot be written is found out before the solve.
///
/// # Errors
/// When an argument, a file or a device is at fault, and when the solver does not converge; the best iterate is
/// written all the same.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let Arguments { equation, method, output, plot, overwriting, trace, checkpointing, .. } = arguments;
    method.check_single_source()?;
    check_files(&equation.file, &arguments.outputs())?;
    check_plot(plot.as_deref())?;
    if let Some(output) = output {
        overwriting.check(output)?;
    }
    let taken = checkpointing.take(&[])?;
    let interrupt = Interrupt::listen()?;
    let recorder = trace.recorder();
    let problem = equation.set_up(method, common, &recorder, report)?;
    let (spin, colour) = (usize::from(arguments.spin), usize::from(arguments.colour));
    let source = problem.wilson.lattice().point_source(equation.source.0, spin, colour)?;

    let more = [("spin", spin.to_string()), ("colour", colour.to_string())];
    let job = equation.identity("invert", method, &problem, &more);
    let lattice = problem.wilson.lattice();
    let progress = SolveBar::new(report, lattice.team(), method.tolerance(), 1);
    let mut session =
        checkpointing.session(taken, job, problem.wilson.lattice(), interrupt, progress, report)?;
    session.begin(spin, colour);
    let mut solving = method.begin(problem.wilson.lattice().team());
    let (begun, earlier, compiled) = (Instant::now(), session.kept_time(), problem.compile_time());
    let solved = solving.solve(&problem.wilson, &source, &mut session);
    let taken = begun.elapsed().saturating_sub(problem.compile_time() - compiled);
    session.end_of_solves();
    let solved = solved?;
    let traced = trace.write(&recorder, report);
    if solved.failure == Some(SolverFailure::Interrupted) {
        traced?;
        return Err(session.interrupted(&solved.info));
    }

    let x = solved.x.to_host()?;
    let info = &solved.info;
    let params = solving.params();
    let seconds = info.time.as_secs_f64();
    let prepare = (taken + earlier).saturating_sub(info.time).as_secs_f64();
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
        normalisation: equation.normalisation(),
        boundary: equation.boundary.signs(),
        source: equation.source.to_string(),
        spin: arguments.spin,
        color: arguments.colour,
        dims: problem.dims().extents(),
        devices: problem.devices(),
        precision: params.precision().to_string(),
        links: equation.links.reals(),
        tolerance: method.tolerance(),
        converged: solved.failure.is_none(),
        failure: solved.failure.map(|failure| failure.to_string()),
        iterations: info.iterations,
        residual: info.into(),
        solution_norm2: x.iter().map(Spinor::norm2).sum(),
        seconds: Seconds {
            setup: problem.setup_seconds,
            compile: problem.compile_time().as_secs_f64(),
            prepare,
            solve: seconds,
        },
        gflops: info.work.flops as f64 / seconds / 1e9,
        bandwidth_gb_s: info.work.bytes as f64 / seconds / 1e9,
        history: info.history.clone(),
        attempts: solved.attempts.iter().map(AttemptOutcome::from).collect(),
    };

    // The result is shown first: a full disk must not hide what was computed.
    let written = match output {
        Some(path) => write(path, arguments, &problem, &outcome, &x),
        None => Ok(()),
    };
    let plotted = match plot {
        Some(path) => drawn(draw(path, equation, &outcome), report),
        None => Ok(()),
    };
    report.result(table(&outcome), &outcome)?;
    match &solved.failure {
        None => {
            written?;
            plotted?;
            traced?;
            session.done();
            Ok(Status::Fine)
        }
        Some(failure) => {
            if let (Some(path), Ok(())) = (output, &written) {
                report.warning(format_args!("{} holds the best iterate, not a solution", path.display()));
            }
            report.also([written.map_err(Failure::from), plotted, traced]);
            Err(method.failure(failure, &solved, &solving))
        }
    }
}

fn write(
    path: &Path,
    arguments: &Arguments,
    problem: &Problem,
    outcome: &Outcome<'_>,
    x: &[Spinor<f64>],
) -> Result<(), io::Error> {
    let about = format!(
        "solution of M x = b, {}, kappa {:?}, {} form, boundary {}, source {}, true residual {:e}",
        arguments.equation.operator_words(),
        outcome.kappa,
        outcome.normalisation,
        arguments.equation.boundary,
        outcome.source,
        outcome.residual.true_residual()
    );
    let mut writer = PropagatorWriter::create(path, problem.dims(), Precision::Double, &about)?;
    writer.write(arguments.spin.into(), arguments.colour.into(), x)?;
    writer.finish()
}

fn draw(path: &Path, equation: &Equation, outcome: &Outcome<'_>) -> Result<(), PlotError> {
    let points = outcome.history.iter().enumerate().map(|(n, r)| (n as f64, *r)).collect();
    let name = solver_text(outcome.methods(), &outcome.system, &outcome.preconditioning, &outcome.precision);
    let title = plot_title(&equation.file, outcome.kappa, outcome.dims);
    let marks =
        Marks { tolerance: Some(outcome.tolerance), true_residual: Some(outcome.residual.true_residual()) };
    plot::residual_history(path, &title, &[Series { name, points }], marks)
}

fn table(outcome: &Outcome<'_>) -> Table {
    let mut table = Table::default();
    table.line("extents", outcome.dims.map(|extent| extent.to_string()).join("x"));
    table.line("devices", outcome.devices.join(", "));
    table.line("kappa", coupling_text(outcome.kappa, outcome.mass));
    if outcome.mu != 0.0 {
        table.line("mu", format!("{:?}", outcome.mu));
    }
    table.line("source", format_args!("{}, spin {}, colour {}", outcome.source, outcome.spin, outcome.color));
    table.line(
        "solver",
        solver_text(
            solver_words(outcome.solver, &outcome.method),
            &outcome.system,
            &outcome.preconditioning,
            &outcome.precision,
        ),
    );
    table.line("converged", if outcome.converged { "yes" } else { "NO" });
    table.line("iterations", outcome.iterations);
    table.line(
        "residual",
        format_args!(
            "true {} (iterated {})",
            scientific(outcome.residual.true_residual(), 3),
            scientific(outcome.residual.iterated(), 3)
        ),
    );
    table.line("|solution|²", format_args!("{:.12}", outcome.solution_norm2));
    table.line(
        "seconds",
        format_args!(
            "solve {:.3} s, set-up {:.3} s, operators {:.3} s, compile {:.3} s",
            outcome.seconds.solve, outcome.seconds.setup, outcome.seconds.prepare, outcome.seconds.compile
        ),
    );
    table.line("speed", format_args!("{:.2} GFLOP/s, {:.2} GB/s", outcome.gflops, outcome.bandwidth_gb_s));
    table
}
