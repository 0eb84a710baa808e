//! `cr-solve spectrum`: twelve solves of a point source, and the pion correlator.

use super::analyse::correlators::{Correlator, SHOWN_FIRST, correlators_of};
use super::analyse::mass_form::MassForm;
use super::attempt_outcome::AttemptOutcome;
use super::equation::Equation;
use super::head::{self, Head, attempts, schema_of_results};
use super::perform::{Performed, Show, perform};
use super::report_page;
use super::residual::Residual;
use super::words::plot_title;
use super::writing::Writing;
use lattice_cl::geometry::Dims;
use lattice_cl::hadron::{self, Column, Hadrons, SpinorSmearing};
use lattice_cl::job::{
    Direction, HadronTable, Job, Method, MixedHadrons, NamedHadronOutcome, PropagatorOutcome, SolveOutcome,
    Solver, Task,
};
use lattice_cli::common::Common;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::plot;
use lattice_cli::plot::drawn;
use lattice_cli::report::{Report, Table, scientific};
use lattice_solvers::range::larger;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The command line of `spectrum`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    equation: Equation,
    #[command(flatten)]
    method: Method,
    /// Smear solutions before contraction: gaussian:W,N or wuppertal:ALPHA,N
    #[arg(long, value_name = "KIND:...", hide_short_help = true)]
    smear_sink: Option<SpinorSmearing>,
    #[command(flatten)]
    hadrons: HadronTable,
    /// Direction along which the correlator runs: x, y, z or t
    #[arg(long, default_value = "t")]
    along: Direction,
    /// Write the twelve solutions to this file
    ///
    /// The ending tells the format: SciDAC, PyQUDA's HDF5 for .h5, lalibe's for .lalibe-hdf5, or .npy.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the correlator and its effective mass into this file (SVG)
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Write a page with correlators, effective masses, residuals and times (HTML)
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    report: Option<PathBuf>,
    #[command(flatten)]
    writing: Writing,
}

impl Arguments {
    /// Returns the job that the arguments stand for.
    pub fn job(&self) -> Job {
        let Self { equation, method, smear_sink, along, output, plot, report, writing, .. } = self;
        let outputs = writing.outputs(output.as_deref(), plot.as_deref());
        equation
            .job(Task::Spectrum, method)
            .with_sources(Some(equation.source().with_smear_sink(*smear_sink)))
            .with_hadrons(self.hadrons.clone())
            .with_outputs(outputs.with_along(Some(*along)).with_report(report.clone()))
    }
}

/// Does the job that the arguments stand for.
///
/// # Errors
/// When `perform` fails.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    perform(&arguments.job(), &Spectrum, common, report)
}

/// Returns the JSON schema of the results.
pub fn schema() -> Schema {
    schema_of_results::<Document<'_>>()
}

/// Shows the results of `spectrum`.
pub struct Spectrum;

/// The result as JSON.
///
/// Fields that depend on the mass, the source and the observable are those of the first ones.
#[derive(Serialize, JsonSchema)]
struct Document<'a> {
    #[serde(flatten)]
    head: &'a Head<'a>,
    converged: bool,
    #[serde(flatten)]
    first: &'a PropagatorResult,
    seconds: Seconds,
    /// Rate of the solves of this run, `null` if there was none to do.
    gflops: Option<f64>,
    bandwidth_gb_s: Option<f64>,
    /// Hadrons of two quarks of the job.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    mixed: &'a [MixedHadrons],
    /// Hadrons of named quarks.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    hadrons: &'a [NamedHadronOutcome],
    /// One entry for each mass and source.
    ///
    /// Empty unless there are several of these or several observables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    results: Vec<OneResult<'a>>,
}

/// The result for one mass and one source.
#[derive(Serialize, JsonSchema)]
struct OneResult<'a> {
    converged: bool,
    #[serde(flatten)]
    found: &'a PropagatorResult,
    observables: &'a [Measured],
}

#[derive(Serialize, JsonSchema)]
struct PropagatorResult {
    /// Label of the source in messages.
    label: String,
    #[serde(flatten)]
    equation: head::Equation,
    along: char,
    /// The first correlator of each observable, empty if a solve failed.
    correlators: Map<String, Value>,
    effective_mass: Vec<Option<f64>>,
    #[serde(flatten)]
    hadrons: Hadrons,
    solves: Vec<Solve>,
    #[serde(skip)]
    measured: Vec<Measured>,
    #[serde(skip)]
    converged: bool,
}

/// One observable.
#[derive(Serialize, JsonSchema)]
struct Measured {
    observable: &'static str,
    along: char,
    correlator: Vec<f64>,
    effective_mass: Vec<Option<f64>>,
}

#[derive(Clone, Serialize, JsonSchema)]
struct Solve {
    /// Label of the solve in messages and checkpoints.
    label: String,
    spin: usize,
    color: usize,
    converged: bool,
    iterations: usize,
    /// The residual, the largest one of sources that failed together.
    residual: Residual,
    /// Empty unless several methods might be tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<AttemptOutcome>,
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
    /// All solves, including those of earlier runs, and the work on the solutions.
    solve: f64,
}

impl Solve {
    fn new(solve: &SolveOutcome, Column { spin, colour }: Column) -> Self {
        Self {
            label: solve.label.to_string(),
            spin,
            color: colour,
            converged: solve.failure.is_none(),
            iterations: solve.info.iterations,
            residual: (&solve.info).into(),
            attempts: attempts(solve),
        }
    }

    /// Returns the entries of a solve.
    ///
    /// A solve for all columns at once that failed has one entry for each column.
    fn all(solve: &SolveOutcome) -> Vec<Self> {
        if solve.failed_at_once() {
            Column::all().map(|column| Self::new(solve, column)).collect()
        } else {
            vec![Self::new(solve, solve.label.column())]
        }
    }
}

impl Measured {
    fn new(correlator: &hadron::Correlator) -> Self {
        Self {
            observable: correlator.observable.name(),
            along: Dims::direction_name(correlator.along),
            correlator: correlator.values.clone(),
            effective_mass: correlator.effective_mass(),
        }
    }

    fn lines(&self) -> Vec<String> {
        correlator_lines(self.along, self.observable, &self.correlator, &self.effective_mass)
    }
}

/// Returns the lines of the table of a correlator.
fn correlator_lines(along: char, name: &str, values: &[f64], masses: &[Option<f64>]) -> Vec<String> {
    let title = format!("{name} correlator");
    let mut lines = vec![format!("{along:>4}  {title:>20}  {:>14}", "effective mass")];
    for (n, (value, mass)) in values.iter().zip(masses).enumerate() {
        let mass = mass.map_or_else(|| "-".to_owned(), |mass| format!("{mass:.6}"));
        lines.push(format!("{n:>4}  {:>20}  {mass:>14}", scientific(*value, 12)));
    }
    lines
}

impl PropagatorResult {
    fn new(performed: &Performed<'_>, propagator: &PropagatorOutcome) -> Self {
        let job = performed.problem.job();
        let measured: Vec<Measured> = propagator.correlators.iter().map(Measured::new).collect();
        let mut correlators = Map::new();
        // Without a correlator the names are still there.
        for entry in job.observables().unwrap_or_default() {
            let of_this = measured.iter().find(|measured| measured.observable == entry.observable.name());
            let values = of_this.map_or_else(Vec::new, |measured| measured.correlator.clone());
            correlators.entry(entry.observable.name()).or_insert_with(|| values.into());
        }
        Self {
            label: propagator.source.label.clone(),
            equation: head::Equation::new(job, propagator),
            along: Dims::direction_name(job.along().0),
            correlators,
            effective_mass: measured.first().map_or_else(Vec::new, |first| first.effective_mass.clone()),
            hadrons: propagator.hadrons.clone(),
            solves: propagator.solves.iter().flat_map(Solve::all).collect(),
            measured,
            converged: propagator.converged(),
        }
    }

    /// Returns the tables of the hadrons at rest that are shown by name, besides those measured during the solves.
    fn named_hadrons(&self) -> Vec<Vec<String>> {
        let Ok(result) = serde_json::to_value(self) else { return Vec::new() };
        let named = correlators_of(&result).into_values();
        let mut named: Vec<_> = named.filter_map(|one| Some((SHOWN_FIRST[one.rank?], one))).collect();
        named.retain(|(name, _)| self.measured.iter().all(|measured| measured.observable != *name));
        named.sort_by_key(|(_, one)| one.rank);
        let lines = |(name, one): &(&str, Correlator)| {
            correlator_lines('t', name, &one.values, &MassForm::usual(one.is_baryon).of(&one.values))
        };
        named.iter().map(lines).collect()
    }

    fn lines(&self, solver: Solver, head: &Head<'_>, table: &mut Table) {
        if let Some(quark) = &self.equation.quark {
            table.line("quark", quark);
        }
        table.line("kappa", self.equation.coupling_text());
        head.action(self.equation.flavour, table);
        table.line("source", &self.equation.source);
        self.equation.smearing(table);
        table.line("solver", self.equation.solver_text(solver));
        self.equation.deflation(table);
        let iterations: usize = self.solves.iter().map(|solve| solve.iterations).sum();
        let worst = self.solves.iter().map(|solve| solve.residual.true_residual()).fold(0.0, larger);
        let solves = match (solver, &self.solves[..]) {
            (Solver::BlockCg, [first, ..]) => {
                format!("{} at once with {} iterations", self.solves.len(), first.iterations)
            }
            _ => format!("{} with {iterations} iterations together", self.solves.len()),
        };
        table.line("solves", solves);
        table.line("residual", format_args!("true {} at most", scientific(worst, 3)));
        hadron_lines(&self.hadrons, table);
    }
}

/// Adds a line that counts correlators of hadrons, if there are some.
fn hadron_lines(Hadrons { mesons, baryons, currents, three_points }: &Hadrons, table: &mut Table) {
    let counts = [
        ("mesons", mesons.len()),
        ("baryons", baryons.len()),
        ("currents", currents.len()),
        ("three-point functions", three_points.len()),
    ];
    let counts = counts.iter().filter(|(_, count)| *count > 0);
    let text = counts.map(|(name, count)| format!("{count} of {name}")).collect::<Vec<_>>().join(", ");
    if !text.is_empty() {
        table.line("correlators", format_args!("{text}, in the result of --json"));
    }
}

/// Collects the result for each mass and source.
fn results(performed: &Performed<'_>) -> Vec<PropagatorResult> {
    performed
        .outcome
        .propagators
        .iter()
        .map(|propagator| PropagatorResult::new(performed, propagator))
        .collect()
}

impl Show for Spectrum {
    fn plot(&self, performed: &Performed<'_>, report: &Report) -> Result<(), Failure> {
        let problem = performed.problem;
        let Some(file) = &problem.job().configuration.file else { return Ok(()) };
        let measured = performed.outcome.propagators.iter().flat_map(|propagator| {
            propagator.correlators.iter().map(|correlator| (propagator.coupling.kappa(), correlator))
        });
        for (path, (kappa, correlator)) in performed.plots.iter().zip(measured) {
            let masses = correlator.effective_mass();
            let shown: Vec<f64> = masses.into_iter().map(|mass| mass.unwrap_or(f64::NAN)).collect();
            let title = plot_title(file, kappa, problem.dims().extents());
            drawn(path, plot::correlator(&title, &correlator.values, &shown), report)?;
        }
        Ok(())
    }

    fn show(&self, performed: &Performed<'_>, report: &Report) -> Result<(), Failure> {
        let page = performed.problem.job().outputs.report.as_deref().filter(|_| performed.is_first);
        let (head, found) = (Head::new(performed), results(performed));
        let Some(first) = found.first() else { return Ok(()) };
        let outcome = performed.outcome;
        let rate =
            |count: u64| (!outcome.time.is_zero()).then(|| count as f64 / outcome.time.as_secs_f64() / 1e9);
        let several = performed.problem.propagators_wanted() > 1 || first.measured.len() > 1;
        let results = found.iter().filter(|_| several).map(|found| OneResult {
            converged: found.converged,
            found,
            observables: &found.measured,
        });
        let document = Document {
            head: &head,
            converged: outcome.converged(),
            first,
            seconds: Seconds {
                setup: performed.setup_seconds,
                compile: report.compile_seconds(),
                solve: performed.solve_seconds,
            },
            gflops: rate(outcome.work.flops),
            bandwidth_gb_s: rate(outcome.work.bytes),
            mixed: &outcome.mixed,
            hadrons: &outcome.hadrons,
            results: results.collect(),
        };
        let drawn = page.map_or(Ok(()), |path| {
            let result =
                serde_json::to_value(&document).map_err(|error| Failure::new(Status::Failed, error))?;
            report_page::write(&result, path, report)
        });
        // The result is shown first: a full disk must not hide what was computed.
        report.result(text(&document, &found), &document)?;
        drawn
    }
}

/// Text under the table of effective masses.
const EFFECTIVE_MASS: &str =
    "effective mass m(n) = arcosh([C(n-1) + C(n+1)] / 2C(n)), periodic in n; - where it is not real";

fn text(document: &Document<'_>, found: &[PropagatorResult]) -> String {
    let mut table = Table::default();
    document.head.begin(&mut table);
    for one in found {
        one.lines(document.head.solver, document.head, &mut table);
    }
    let Seconds { setup, compile, solve } = document.seconds;
    for NamedHadronOutcome { quarks, source, hadrons, .. } in document.hadrons {
        table.line("quarks", format_args!("{}, {source}", quarks.join(" and ")));
        hadron_lines(hadrons, &mut table);
    }
    for MixedHadrons { quarks: [one, two], source, hadrons } in document.mixed {
        table.line("quarks", format_args!("{one} and {two}, {source}"));
        hadron_lines(hadrons, &mut table);
    }
    table.line("seconds", format_args!("solves {solve:.3} s, set-up {setup:.3} s, compile {compile:.3} s"));
    if let (Some(gflops), Some(rate)) = (document.gflops, document.bandwidth_gb_s) {
        table.line("speed", format_args!("{gflops:.2} GFLOP/s, {rate:.2} GB/s"));
    }
    if !document.converged {
        let what = if found.len() == 1 { "NO, so there is no correlator" } else { "NO, the last one" };
        table.line("converged", what);
    }
    let mut lines = vec![table.to_string()];
    let mut has_baryon = false;
    for one in found {
        let named = one.named_hadrons();
        has_baryon |= !one.hadrons.baryons.is_empty() && !named.is_empty();
        for table in one.measured.iter().map(Measured::lines).chain(named) {
            lines.push(String::new());
            if found.len() > 1 {
                lines.push(format!("kappa {}, {}", one.equation.coupling_text(), one.label));
            }
            lines.extend(table);
        }
    }
    if lines.len() > 1 {
        lines.extend([String::new(), EFFECTIVE_MASS.to_owned()]);
    }
    if has_baryon {
        lines.push("of baryons ln C(n)/C(n+1)".to_owned());
    }
    lines.join("\n")
}
