//! `cr-solve modes`: the lowest modes of a Dirac operator.

use super::company::company;
use super::equation::OperatorOptions;
use super::fingerprint::Configuration;
use super::perform::warn_of_idle_devices;
use super::words::{coupling_text, plot_title};
use crate::checkpoint::{Checkpointing, Identity};
use crate::solve_bar::SolveBar;
use lattice_cl::compute::Recorder;
use lattice_cl::io::Parts;
use lattice_cl::job::{self, Invalid, Task};
use lattice_cl::modes::{DiracModes, ModesError, ModesParams};
use lattice_cl::operator::{Dirac, SiteTerm, System};
use lattice_cl::solve::Preconditioning;
use lattice_cli::common::Common;
use lattice_cli::destinations::{Destinations, MODES, Overwriting, SVG};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::interrupt::Interrupt;
use lattice_cli::lattice::input::Input;
use lattice_cli::plot::{self, Plot, PlotError, Series, drawn};
use lattice_cli::provenance::Provenance;
use lattice_cli::report::{Report, Table, align_right, plain_table, scientific};
use lattice_cli::team::{device_names, select_team};
use lattice_solvers::{Failure as SolverFailure, LanczosLook};
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The command line of `modes`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    operator: OperatorOptions,
    /// Number of modes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    count: u16,
    /// The operator: normal for M†M, hermitian for γ5M
    ///
    /// Modes of γ5M are those with the smallest |λ|.
    #[arg(long, default_value_t = System::Normal)]
    system: System,
    /// The preconditioning: even-odd, even-odd-symmetric or none
    ///
    /// With even-odd M stands for the Schur complement on the even sites. Solves that the modes deflate
    /// have the same preconditioning.
    #[arg(long, default_value_t = Preconditioning::EvenOdd)]
    preconditioning: Preconditioning,
    /// Write the modes to this file, for --deflate
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the eigenvalues into this file (SVG)
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Wanted ‖A v − λ v‖, relative to the largest eigenvalue
    #[arg(long, value_name = "TOL", default_value_t = 1e-10)]
    tol: f64,
    /// Highest degree of the Chebyshev polynomial; 0 for none
    #[arg(long, value_name = "D", default_value_t = 40, hide_short_help = true)]
    degree: usize,
    /// Vectors of the Krylov space [default: 2 N + 24]
    #[arg(long, value_name = "N", hide_short_help = true)]
    subspace: Option<usize>,
    /// Vectors that a Krylov space starts from, to which the operator is applied at once
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    block: usize,
    /// Most applications of the operator
    #[arg(long, value_name = "N", default_value_t = 1_000_000, hide_short_help = true)]
    max_applications: usize,
    #[command(flatten)]
    checkpointing: Checkpointing,
    #[command(flatten)]
    overwriting: Overwriting,
}

#[derive(Serialize)]
struct ModesResult {
    schema_version: u32,
    configuration: Configuration,
    provenance: Provenance,
    dims: [usize; 4],
    devices: Vec<String>,
    operator: &'static str,
    preconditioning: String,
    kappa: f64,
    mass: f64,
    /// The parameters of the site term.
    #[serde(flatten)]
    site_term: Map<String, Value>,
    tolerance: f64,
    eigenvalues: Vec<f64>,
    /// ‖A v − λ v‖ of each mode, computed from the definition.
    residuals: Vec<f64>,
    applications: usize,
    restarts: usize,
    seconds: f64,
    /// Compiling kernels, or loading them; `seconds` does not include it.
    compile_seconds: f64,
    output: Option<String>,
}

impl Arguments {
    fn params(&self) -> ModesParams {
        let Self { system, preconditioning, tol, degree, subspace, block, max_applications, .. } = self;
        ModesParams::new(usize::from(self.count))
            .with_system(*system)
            .with_preconditioning(*preconditioning)
            .with_tolerance(*tol)
            .with_degree(*degree)
            .with_block(*block)
            .with_subspace(*subspace)
            .with_max_applications(*max_applications)
    }

    /// Returns the names and values that the modes depend on.
    fn identity(&self, dirac: &Dirac<f64>, configuration: &str) -> Identity {
        let params = self.params();
        let lattice = dirac.lattice();
        let own = [
            ("command", "modes".to_owned()),
            ("lattice", lattice.dims().to_string()),
            ("configuration", configuration.to_owned()),
            ("operator", format!("{:?}, {:?}", dirac.coupling(), dirac.site_term())),
            (
                "boundary",
                format!("{:?}, {:?}", self.operator.action.boundary.signs(), self.operator.action.theta),
            ),
            ("links", self.operator.links.to_string()),
            ("search", format!("{params:?}")),
            ("storage of fields", lattice.storage_description()),
        ];
        own.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Finds modes, shows them and writes them.
///
/// # Errors
/// * If an option makes no sense, or a file cannot be read or written.
/// * If not all modes are found.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let started = SystemTime::now();
    let job = arguments.operator.job(Task::Invert);
    job.check()?;
    let quarks = job.quarks()?;
    let [quark] = &quarks[..] else {
        return Err(Failure::usage("modes are those of one operator, and --flavour both has two".to_owned())
            .hint("take --flavour up, then --flavour down"));
    };
    let file = job.configuration.file.as_deref().ok_or(Invalid::NoConfiguration)?;
    let (option, checkpoint) = arguments.checkpointing.file();
    Destinations::reading([file])
        .writing("--output", MODES, &arguments.output)
        .writing("--plot", SVG, &arguments.plot)
        .keeping(option, checkpoint)
        .check(arguments.overwriting)?;
    let ranks = &common.ranks;
    let taken = arguments.checkpointing.take(&[], ranks)?;
    let team = select_team(common, Recorder::default(), report)?;
    // Each rank reads what its devices need.
    let wanted = |dims| job::sites_of_rank(&job, &team, dims);
    let company = company(ranks);
    let parts = company.as_ref().map(|company| Parts { company, wanted: &wanted });
    let read = Input::of(&job.configuration).read_and_tell(file, report, &drop, parts)?;
    let read = Arc::new(read.configuration);
    let links = job::links_of(&job, &read, &team)?;
    warn_of_idle_devices(links.lattice(), report);
    let configuration = Configuration::new(file, &read);
    drop(read);
    let dirac = Dirac::new(&links, quark.coupling, quark.site_term).map_err(job::JobError::from)?;
    let mut fingerprint = configuration.fingerprint();
    if let Some(kind) = job.action.fat_links {
        fingerprint += &format!(", fat links {kind}");
    }
    let identity = arguments.identity(&dirac, &fingerprint);
    let interrupt = Interrupt::listen();
    let mut search = arguments.checkpointing.search(taken, identity, interrupt, report)?;
    let params = arguments.params();
    let mut bar = SolveBar::new(report, &team, params.tolerance, 1);
    let mut watch = |look: &LanczosLook| bar.searches(look, params.count);
    let found = DiracModes::find(&dirac, &params, &mut watch, Some(&mut search));
    bar.end();
    let (modes, info) = match found {
        Err(ModesError::NotConverged { failure: SolverFailure::Interrupted, found, wanted, info }) => {
            return Err(search.interrupted(found, wanted, info.applications));
        }
        other => other?,
    };
    team.finish()?;
    let seconds = search.seconds();
    let provenance = Provenance::new(&team, started);
    // The result is shown first: a full disk must not hide what was computed.
    let output = arguments.output.as_ref();
    let written = output.map_or(Ok(()), |output| {
        modes.write(output, &dirac, &fingerprint, &provenance.words()).map_err(Failure::from)
    });
    let outcome = ModesResult {
        schema_version: 1,
        configuration,
        provenance,
        dims: dirac.lattice().dims().extents(),
        devices: device_names(&team),
        operator: match (params.system, params.preconditioning) {
            (System::Hermitian, _) => "gamma5 M",
            _ => "M^dagger M",
        },
        preconditioning: params.preconditioning.to_string(),
        kappa: dirac.coupling().kappa(),
        mass: dirac.coupling().mass(),
        site_term: SiteTerm::keys()
            .map(|key| (key.to_owned(), dirac.site_term().value(key).into()))
            .collect(),
        tolerance: params.tolerance,
        eigenvalues: modes.values(),
        residuals: modes.residuals(),
        applications: info.applications,
        restarts: info.restarts,
        seconds,
        compile_seconds: report.compile_seconds(),
        output: arguments.output.as_ref().map(|path| path.display().to_string()),
    };
    let plotted = match &arguments.plot {
        Some(path) if ranks.is_first() => drawn(path, plotted(file, &outcome), report),
        _ => Ok(()),
    };
    report.result(text(&outcome), &outcome)?;
    // The first rank may still be writing.
    ranks.wait_for_all()?;
    written?;
    plotted?;
    search.done();
    Ok(Status::Fine)
}

/// Draws the eigenvalues by their numbers.
fn plotted(file: &Path, outcome: &ModesResult) -> Result<Plot, PlotError> {
    let points = outcome.eigenvalues.iter().enumerate().map(|(k, value)| ((k + 1) as f64, *value)).collect();
    let title = plot_title(file, outcome.kappa, outcome.dims);
    let name = format!("{}, preconditioning {}", outcome.operator, outcome.preconditioning);
    plot::lines(&title, ["mode", "eigenvalue"], &[Series { name, points }])
}

fn text(outcome: &ModesResult) -> String {
    let mut table = Table::default();
    table.line("extents", outcome.dims.map(|extent| extent.to_string()).join("x"));
    table.line("configuration", outcome.configuration.fingerprint());
    table.line("device", outcome.devices.join(", "));
    table.line("operator", format_args!("{}, preconditioning {}", outcome.operator, outcome.preconditioning));
    table.line("kappa", coupling_text(outcome.kappa, outcome.mass));
    table.line("applications", outcome.applications);
    table.line("restarts", outcome.restarts);
    let (seconds, compile) = (outcome.seconds, outcome.compile_seconds);
    table.line("seconds", format_args!("search {seconds:.3}, compile {compile:.3}"));
    if let Some(output) = &outcome.output {
        table.line("output", output);
    }
    let mut rows = plain_table(["mode", "eigenvalue", "residual"]);
    for (k, (value, residual)) in outcome.eigenvalues.iter().zip(&outcome.residuals).enumerate() {
        rows.add_row([(k + 1).to_string(), scientific(*value, 12), scientific(*residual, 1)]);
    }
    align_right(&mut rows, &[0, 1, 2]);
    format!("{table}\n{rows}")
}
