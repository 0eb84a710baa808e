//! `cr-solve invert`: solves M x = b for one source.

use super::attempt_outcome::AttemptOutcome;
use super::equation::Equation;
use super::head::{self, Head, attempts, schema_of_results};
use super::perform::{Performed, Show, perform};
use super::residual::Residual;
use super::words::{plot_title, solver_text};
use super::writing::Writing;
use lattice_cl::hadron::Column;
use lattice_cl::job::{Job, Method, PropagatorOutcome, SolveOutcome, Solver, Task};
use lattice_cli::common::Common;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::plot::{self, Marks, Series, drawn};
use lattice_cli::report::{Report, Table, decimal, scientific};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

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
    /// Write the solution to this file (SciDAC)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the residual history into this file (SVG)
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    writing: Writing,
}

impl Arguments {
    /// Returns the job that the arguments stand for.
    pub fn job(&self) -> Job {
        let Self { equation, method, spin, colour, output, plot, writing } = self;
        let (spin, colour) = (Some((*spin).into()), Some((*colour).into()));
        equation
            .job(Task::Invert, method)
            .with_sources(Some(equation.source().with_spin(spin).with_colour(colour)))
            .with_outputs(writing.outputs(output.as_deref(), plot.as_deref()))
    }
}

/// Does the job that the arguments stand for.
///
/// # Errors
/// When `perform` fails.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    perform(&arguments.job(), &Invert, common, report)
}

/// Returns the JSON schema of the results.
pub fn schema() -> Schema {
    schema_of_results::<Document<'_>>()
}

/// Shows the results of `invert`.
pub struct Invert;

/// The result as JSON.
///
/// Fields that depend on the mass and the source are those of the first mass and source.
#[derive(Serialize, JsonSchema)]
struct Document<'a> {
    #[serde(flatten)]
    head: &'a Head<'a>,
    converged: bool,
    failure: Option<String>,
    #[serde(flatten)]
    first: &'a ColumnResult,
    seconds: Seconds,
    gflops: f64,
    bandwidth_gb_s: f64,
    /// One entry for each mass and source, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    results: Vec<OneResult<'a>>,
}

/// The result for one mass and one source.
#[derive(Serialize, JsonSchema)]
struct OneResult<'a> {
    converged: bool,
    failure: Option<String>,
    #[serde(flatten)]
    found: &'a ColumnResult,
}

#[derive(Serialize, JsonSchema)]
struct ColumnResult {
    /// Label of the solve in messages and checkpoints.
    label: String,
    #[serde(flatten)]
    equation: head::Equation,
    spin: usize,
    color: usize,
    iterations: usize,
    residual: Residual,
    solution_norm2: f64,
    history: Vec<f64>,
    /// Empty unless several methods might be tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<AttemptOutcome>,
    #[serde(skip)]
    failure: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Seconds {
    /// Reading, opening the devices and making the operator in double.
    ///
    /// Compiling is not included.
    setup: f64,
    /// Compiling kernels, or loading kernels that an earlier run has compiled.
    ///
    /// The other times do not include it.
    compile: f64,
    /// From the set-up to the first iteration, and from the last one to the solution.
    ///
    /// The operators for the iteration are made in this time, with searches for variants of
    /// kernels.
    prepare: f64,
    /// The iterations, including those of earlier runs.
    solve: f64,
}

impl ColumnResult {
    fn new(job: &Job, propagator: &PropagatorOutcome, solve: &SolveOutcome, norm2: f64) -> Self {
        let Column { spin, colour } = solve.label.column();
        Self {
            label: solve.label.to_string(),
            equation: head::Equation::new(job, propagator),
            spin,
            color: colour,
            iterations: solve.info.iterations,
            residual: (&solve.info).into(),
            solution_norm2: norm2,
            history: solve.info.history.clone(),
            attempts: attempts(solve),
            failure: solve.failure.map(|failure| failure.to_string()),
        }
    }

    /// Returns the names of all methods that took part.
    fn methods(&self) -> String {
        let mut methods: Vec<&str> = self.attempts.iter().map(AttemptOutcome::solver).collect();
        methods.dedup();
        if methods.is_empty() { self.equation.method.clone() } else { methods.join(", then ") }
    }

    fn lines(&self, solver: Solver, head: &Head<'_>, table: &mut Table) {
        table.line("kappa", self.equation.coupling_text());
        head.action(self.equation.flavour, table);
        let Self { spin, color, equation, .. } = self;
        table.line("source", format_args!("{}, spin {spin}, colour {color}", equation.source));
        equation.smearing(table);
        table.line("solver", equation.solver_text(solver));
        equation.deflation(table);
        table.line("converged", if self.failure.is_none() { "yes" } else { "NO" });
        table.line("iterations", self.iterations);
        table.line(
            "residual",
            format_args!(
                "true {} (iterated {})",
                scientific(self.residual.true_residual(), 3),
                scientific(self.residual.iterated(), 3)
            ),
        );
        table.line("|solution|²", decimal(self.solution_norm2, 12));
    }

    fn series(&self, name: String) -> Series {
        Series { name, points: self.history.iter().enumerate().map(|(n, r)| (n as f64, *r)).collect() }
    }
}

/// Collects the result of each solve of the job.
fn results(performed: &Performed<'_>) -> Vec<ColumnResult> {
    let job = performed.problem.job();
    let solves = performed
        .outcome
        .propagators
        .iter()
        .flat_map(|propagator| propagator.solves.iter().map(move |solve| (propagator, solve)));
    let with_norms = solves.zip(performed.norms2);
    with_norms.map(|((propagator, solve), &norm2)| ColumnResult::new(job, propagator, solve, norm2)).collect()
}

impl Show for Invert {
    fn plot(&self, performed: &Performed<'_>, report: &Report) -> Result<(), Failure> {
        let job = performed.problem.job();
        let (found, extents) = (results(performed), performed.problem.dims().extents());
        let (Some(path), Some(file), [first, others @ ..]) =
            (performed.plots.first(), &job.configuration.file, &found[..])
        else {
            return Ok(());
        };
        let one = others.is_empty();
        let name = |found: &ColumnResult| {
            let head::Equation { system, preconditioning, precision, .. } = &found.equation;
            let text = solver_text(found.methods(), system, preconditioning, precision);
            if one { text } else { format!("{}: {text}", found.label) }
        };
        let series: Vec<Series> = found.iter().map(|found| found.series(name(found))).collect();
        let marks = Marks {
            tolerance: Some(job.solver.tolerance()),
            true_residual: one.then(|| first.residual.true_residual()),
        };
        let title = plot_title(file, first.equation.kappa, extents);
        drawn(path, plot::residual_history(&title, &series, marks), report)
    }

    fn show(&self, performed: &Performed<'_>, report: &Report) -> Result<(), Failure> {
        let (head, found) = (Head::new(performed), results(performed));
        let Some(first) = found.first() else { return Ok(()) };
        let outcome = performed.outcome;
        let solves = outcome.propagators.iter().flat_map(|propagator| &propagator.solves);
        let taken: Duration = solves.map(|solve| solve.elapsed).sum();
        // If a solve was resumed, the time in the methods includes that of earlier runs.
        let seconds = Seconds {
            setup: performed.setup_seconds,
            compile: report.compile_seconds(),
            prepare: (taken + performed.earlier).saturating_sub(outcome.time).as_secs_f64(),
            solve: outcome.time.as_secs_f64(),
        };
        let several = found.len() > 1;
        let results = found.iter().filter(|_| several).map(|found| OneResult {
            converged: found.failure.is_none(),
            failure: found.failure.clone(),
            found,
        });
        let document = Document {
            head: &head,
            converged: outcome.converged(),
            failure: found.iter().find_map(|found| found.failure.clone()),
            first,
            gflops: outcome.work.flops as f64 / seconds.solve / 1e9,
            bandwidth_gb_s: outcome.work.bytes as f64 / seconds.solve / 1e9,
            seconds,
            results: results.collect(),
        };
        report.result(text(&document, &found), &document)
    }
}

fn text(document: &Document<'_>, found: &[ColumnResult]) -> Table {
    let mut table = Table::default();
    document.head.begin(&mut table);
    for one in found {
        one.lines(document.head.solver, document.head, &mut table);
    }
    let Seconds { setup, compile, prepare, solve } = document.seconds;
    table.line(
        "seconds",
        format_args!(
            "solve {solve:.3} s, set-up {setup:.3} s, operators {prepare:.3} s, compile {compile:.3} s"
        ),
    );
    table.line("speed", format_args!("{:.2} GFLOP/s, {:.2} GB/s", document.gflops, document.bandwidth_gb_s));
    table
}
