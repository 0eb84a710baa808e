//! What `invert` and `spectrum` share: the equation, the method, and where it is solved.

use super::Common;
use super::arguments::{Input, help_on_configuration, reconstruction};
use super::checkpoint::{Checkpointing, Identity, Session};
use super::failure::{Failure, Status};
use super::provenance::{Configuration, Provenance};
use super::report::Report;
use super::residual::Residual;
use super::trace::Trace;
use crate::plot::{self, PlotError};
use clap::builder::PossibleValue;
use lattice_cl::device::{Absence, DeviceError, Recorder, Team};
use lattice_cl::field::{GaugeField, RESTORING_A_FIELD, SpinorField};
use lattice_cl::geometry::{Boundary, Dims, Lattice, LatticeError, NDIM};
use lattice_cl::host::{GaugeConfiguration, Reconstruction};
use lattice_cl::io;
use lattice_cl::operator::{Coupling, Dirac, DiracError, Kappa, Mass, SiteTerm, System};
use lattice_cl::solve::{
    Attempt, Auto, AutoParams, AutoSolution, BlockCgParams, BlockSolution, CgParams, CrParams, InvertError,
    IterationPrecision, Preconditioning, SolveMethod, SolveParams, block_cg_with_checkpoints,
    build_programs_of_solve, solve_with_checkpoints,
};
use lattice_solvers::{Failure as SolverFailure, SolverInfo};
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// The linear system: a gauge field, a quark mass, a boundary condition, a source.
#[derive(Debug, clap::Args)]
pub struct Equation {
    #[arg(help = help_on_configuration())]
    pub file: PathBuf,
    #[command(flatten)]
    mass: QuarkMass,
    /// The fermions' boundary condition: antiperiodic (in t), periodic, or a sign for each of x,y,z,t
    #[arg(long, default_value = "antiperiodic", allow_hyphen_values = true, hide_short_help = true)]
    pub boundary: Boundary,
    /// Reals stored for each link: 18, or 12 or 8 where all links are in SU(3), which is less to read for every hop
    #[arg(long, value_name = "REALS", default_value = "18", value_parser = reconstruction, hide_short_help = true)]
    pub links: Reconstruction,
    /// Twisted mass of the quark, the flavour with τ₃ = +1: M + 2iκμγ5, or M + iμγ5 with --mass. The other flavour has the opposite sign
    #[arg(long, value_name = "MU", allow_negative_numbers = true)]
    mu: Option<f64>,
    /// The source: point:x,y,z,t
    #[arg(long, default_value = "point:0,0,0,0")]
    pub source: PointSource,
    #[command(flatten)]
    pub input: Input,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct QuarkMass {
    /// The hopping parameter: M = 1 − κ H
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    kappa: Option<f64>,
    /// The bare mass instead: M = (4 + m) − H/2, solutions are those of κ = 1/(8 + 2m) times 2κ
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    mass: Option<f64>,
}

/// How the equation is solved.
#[derive(Debug, clap::Args)]
pub struct Method {
    /// The method; auto begins with bicgstab, goes on with cg where that gives up or costs more, and says so
    #[arg(long, value_enum, default_value = "auto")]
    pub solver: Solver,
    /// What is iterated: normal (M†M x = M†b), hermitian (γ5M x = γ5b) or direct (M x = b) [default: that of the method.
    /// Only cr can iterate each, and takes normal]
    #[arg(long, hide_short_help = true)]
    system: Option<System>,
    /// Which form of the equation is iterated: even-odd (its Schur complement on the even sites, in about half as many iterations) or none
    /// (as it is)
    #[arg(long, default_value_t = Preconditioning::EvenOdd, hide_short_help = true)]
    preconditioning: Preconditioning,
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double [default: 1e-10, with --precision single 1e-5]
    #[arg(long, allow_negative_numbers = true)]
    tol: Option<f64>,
    /// Most iterations
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = CrParams::default().max_iterations)]
    #[arg(hide_short_help = true)]
    max_iterations: usize,
    /// Precision of the iteration: double, single, mixed-single or mixed-half (the solution in double, corrections to it in single or half precision), or
    /// mixed: mixed-half where all devices are GPUs, mixed-single elsewhere [default: mixed with --solver auto, which ends in double if it must;
    /// double with a method by name]
    #[arg(long, hide_short_help = true)]
    precision: Option<WantedPrecision>,
}

/// The precision of an iteration, as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WantedPrecision {
    /// This one.
    This(IterationPrecision),
    /// The mixed one that suits the devices.
    Mixed,
}

impl WantedPrecision {
    fn on(self, team: &Team) -> IterationPrecision {
        match self {
            Self::This(precision) => precision,
            Self::Mixed => IterationPrecision::mixed_on(team),
        }
    }
}

impl FromStr for WantedPrecision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "mixed" {
            return Ok(Self::Mixed);
        }
        text.parse()
            .map(Self::This)
            .map_err(|error| format!("{error}, or mixed for the one that suits the devices"))
    }
}

impl fmt::Display for WantedPrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::This(precision) => precision.fmt(f),
            Self::Mixed => f.write_str("mixed"),
        }
    }
}

/// The methods: the library's, and those that are more than one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// BiCGStab, and CG where it gives up or costs more.
    Auto,
    /// One that solves for one source.
    One(SolveMethod),
    /// Block Conjugate Gradient, for all twelve sources of spectrum at once.
    BlockCg,
}

impl Solver {
    fn name(self) -> &'static str {
        match self {
            Solver::Auto => "auto",
            Solver::One(method) => method.name(),
            Solver::BlockCg => "block-cg",
        }
    }

    fn summary(self) -> &'static str {
        match self {
            Solver::Auto => {
                "BiCGStab, and CG where it gives up or costs more; even-odd and in mixed precision unless told otherwise"
            }
            Solver::One(method) => method.summary(),
            Solver::BlockCg => "Block Conjugate Gradient on M†M: all twelve sources of spectrum at once",
        }
    }

    /// The system that it iterates, if it can do no other.
    fn only_system(self) -> Option<System> {
        match self {
            Solver::Auto => None,
            Solver::One(method) => method.only_system(),
            Solver::BlockCg => Some(System::Normal),
        }
    }
}

impl clap::ValueEnum for Solver {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Solver>> = LazyLock::new(|| {
            let named = SolveMethod::ALL.iter().copied().map(Solver::One);
            [Solver::Auto].into_iter().chain(named).chain([Solver::BlockCg]).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.summary()))
    }
}

impl Serialize for Solver {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The site of a point source, as `point:x,y,z,t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointSource(pub [usize; NDIM]);

impl FromStr for PointSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<usize>> = text
            .strip_prefix("point:")
            .and_then(|site| site.split(',').map(|n| n.trim().parse().ok()).collect());
        numbers.and_then(|numbers| numbers.try_into().ok()).map(Self).ok_or_else(|| {
            format!("`{text}` is not a source; write point:x,y,z,t, for example point:0,0,0,0")
        })
    }
}

impl fmt::Display for PointSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z, t] = self.0;
        write!(f, "point:{x},{y},{z},{t}")
    }
}

impl Equation {
    /// κ or the mass, checked.
    pub fn coupling(&self) -> Result<Coupling, Failure> {
        let coupling = match (self.mass.kappa, self.mass.mass) {
            (Some(kappa), _) => Kappa(kappa).into(),
            (None, Some(mass)) => Coupling::from(Mass(mass)),
            (None, None) => return Err(Failure::usage("give --kappa or --mass".to_owned())),
        };
        coupling.checked().map_err(|error| Failure::new(Status::Usage, error))
    }

    /// What the operator does within a site, checked.
    pub fn site_term(&self) -> Result<SiteTerm, Failure> {
        let site_term = self.mu.map_or(SiteTerm::Scalar, |mu| SiteTerm::Twisted { mu });
        site_term.checked().map_err(|error| Failure::new(Status::Usage, error))
    }

    /// The operator in words, for files that hold its solutions.
    pub fn operator_words(&self) -> String {
        match self.mu {
            None => "Wilson operator".to_owned(),
            Some(mu) => format!("twisted-mass operator, mu {mu:?}"),
        }
    }

    /// Which normalisation of M the solutions have: `kappa` or `mass`.
    pub fn normalisation(&self) -> &'static str {
        if self.mass.kappa.is_some() { "kappa" } else { "mass" }
    }

    /// What tells the job `command` from others, to which its checkpoint does not belong; `more` are options of this command.
    pub fn identity(
        &self,
        command: &str,
        method: &Method,
        problem: &Problem,
        more: &[(&str, String)],
    ) -> Identity {
        let coupling = match (self.mass.kappa, self.mass.mass) {
            (Some(kappa), _) => ("kappa", kappa),
            (None, mass) => ("mass", mass.unwrap_or(f64::NAN)),
        };
        let own = [
            ("command", command.to_owned()),
            ("lattice", problem.dims().to_string()),
            ("configuration", problem.configuration.fingerprint()),
            (coupling.0, format!("{:?}", coupling.1)),
            ("boundary", format!("{:?}", self.boundary.signs())),
            ("links", self.links.to_string()),
            ("source", self.source.to_string()),
            ("solver", method.solver.to_string()),
            ("system", method.system().to_string()),
            ("preconditioning", method.preconditioning.to_string()),
            ("precision", method.precision(problem.wilson.lattice().team()).to_string()),
            ("tolerance", format!("{:e}", method.tolerance())),
            ("storage of fields", problem.wilson.lattice().storage_description()),
        ];
        // Jobs without it are those of versions that did not have it.
        let mu = self.mu.map(|mu| ("mu", format!("{mu:?}")));
        own.into_iter()
            .chain(mu)
            .chain(more.iter().cloned())
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// Checks that the source lies on the lattice.
    fn check_source(&self, dims: Dims) -> Result<(), Failure> {
        let outside = (0..NDIM).find(|&mu| self.source.0[mu] >= dims[mu]);
        match outside {
            None => Ok(()),
            Some(mu) => Err(Failure::usage(format!(
                "the source {} lies outside the {dims} lattice of {}: {} runs from 0 to {}",
                self.source,
                self.file.display(),
                Dims::direction_name(mu),
                dims[mu] - 1
            ))),
        }
    }

    /// Everything that comes before solving: reads the configuration, opens the devices, and puts the operator on them.
    ///
    /// What can be wrong with the arguments alone is found out first.
    ///
    /// The recorder is told what the devices do from then on.
    pub fn set_up(
        &self,
        method: &Method,
        common: &Common,
        recorder: &Recorder,
        report: &Report,
    ) -> Result<Problem, Failure> {
        let (start, started) = (Instant::now(), SystemTime::now());
        let (coupling, site_term) = (self.coupling()?, self.site_term()?);
        method.check()?;
        if site_term != SiteTerm::Scalar && method.system() == System::Hermitian {
            return Err(Failure::new(Status::Usage, InvertError::NotHermitian));
        }
        if coupling.kappa() > LARGEST_CRITICAL_KAPPA {
            report.note(format_args!(
                "note: {}: above 1/4 (mass below -2) kappa is beyond its critical value on every gauge field, even at infinite coupling, and no quark \
                 mass is positive there; solved all the same",
                coupling_text(coupling.kappa(), coupling.mass())
            ));
        }
        let team = select_team(common, recorder.clone(), report)?;
        let (configuration, links) = thread::scope(|scope| {
            let team = &team;
            let compile = |dims| {
                report.compiles_for(dims);
                scope.spawn(move || self.compile(method, team, dims));
            };
            self.links_on(team, report, &compile)
        })?;
        let known = Configuration::new(&self.file, &configuration);
        drop(configuration);
        let wilson = Dirac::new(&links, coupling, site_term)?;
        team.finish()?;
        // Only solving is of interest.
        recorder.take()?;
        let setup = start.elapsed().saturating_sub(team.compile_time());
        Ok(Problem {
            wilson,
            coupling,
            configuration: known,
            provenance: Provenance::new(&team, started),
            setup_seconds: setup.as_secs_f64(),
        })
    }

    /// Reads the configuration and puts it on the devices; `extents` is told the extents before the links are read.
    fn links_on(
        &self,
        team: &Team,
        report: &Report,
        extents: &dyn Fn(Dims),
    ) -> Result<(GaugeConfiguration, GaugeField<f64>), Failure> {
        let configuration = self.input.read_and_tell(&self.file, report, extents)?.configuration;
        let dims = configuration.dims();
        self.check_source(dims)?;
        let lattice = Lattice::new(team, dims)?;
        if lattice.idle_devices() > 0 {
            report.warning(format_args!(
                "{} of the {} devices have no share: the lattice has only {} time slices",
                lattice.idle_devices(),
                team.len(),
                dims[3]
            ));
        }
        let links = lattice.gauge_in(&configuration, self.boundary, self.links)?;
        Ok((configuration, links))
    }

    /// Compiles what the solves will run.
    fn compile(&self, method: &Method, team: &Team, dims: Dims) {
        // The programs of a block method are made as they are wanted.
        if method.solver != Solver::BlockCg
            && self.check_source(dims).is_ok()
            && let Ok(lattice) = Lattice::new(team, dims)
            && let Ok(site_term) = self.site_term()
        {
            build_programs_of_solve(
                &lattice,
                self.boundary,
                self.links,
                site_term,
                &method.begin(team).params(),
            );
        }
    }
}

/// The critical κ at β = 0 (N. Kawamoto, Nucl. Phys. B190 (1981) 617); it falls to 1/8 as β grows.
const LARGEST_CRITICAL_KAPPA: f64 = 0.25;

/// An operator that stands ready on its devices.
pub struct Problem {
    /// The operator.
    pub wilson: Dirac<f64>,
    /// κ or mass.
    pub coupling: Coupling,
    /// What tells the configuration from others.
    pub configuration: Configuration,
    /// Where results come from.
    pub provenance: Provenance,
    /// Time that all of it took, but for compilers.
    pub setup_seconds: f64,
}

impl Problem {
    /// The extents of the lattice.
    pub fn dims(&self) -> Dims {
        self.wilson.lattice().dims()
    }

    /// Time that compilers of kernels have taken so far.
    pub fn compile_time(&self) -> Duration {
        self.wilson.lattice().team().compile_time()
    }

    /// The devices' names; `host` if there are none.
    pub fn devices(&self) -> Vec<String> {
        device_names(self.wilson.lattice().team())
    }
}

/// The names of a team's devices, as results show them.
pub fn device_names(team: &Team) -> Vec<String> {
    if team.is_host() {
        return vec!["host".to_owned()];
    }
    team.devices().iter().map(|device| device.label().to_owned()).collect()
}

/// Opens the devices of `--device`, and says where `auto` landed.
pub fn select_team(common: &Common, recorder: Recorder, report: &Report) -> Result<Team, Failure> {
    let team = common.recorded_team(recorder, report)?;
    match team.absence() {
        Some(absence) => report.note(format_args!("running on the host: {absence}")),
        None => report.note(format_args!("running on {}", device_names(&team).join(", "))),
    }
    Ok(team)
}

/// The file of `--plot`.
///
/// # Errors
/// When its name says that it is no SVG.
pub fn check_plot(plot: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = plot else { return Ok(()) };
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg")) {
        return Ok(());
    }
    let message = format!("--plot {}: plots are SVG, and the name does not end in .svg", path.display());
    Err(Failure::usage(message).hint(format!("write --plot {}", path.with_extension("svg").display())))
}

/// The files that a job writes, with the options that name them.
pub fn named_outputs<'a>(
    output: Option<&'a Path>,
    plot: Option<&'a Path>,
    trace: &'a Trace,
    checkpointing: &'a Checkpointing,
) -> [(&'static str, Option<&'a Path>); 4] {
    [("--output", output), ("--plot", plot), ("--trace", trace.path()), checkpointing.file()]
}

/// Checks, before any work, that the files of these options can be written and that none overwrites the configuration or another.
///
/// # Errors
/// When they cannot, or do.
pub fn check_files(configuration: &Path, outputs: &[(&str, Option<&Path>)]) -> Result<(), Failure> {
    let given = || outputs.iter().filter_map(|(option, path)| Some((*option, (*path)?)));
    for (option, path) in given() {
        if io::is_same_file(path, configuration) {
            let message = format!(
                "{option} {} would overwrite the configuration {}",
                path.display(),
                configuration.display()
            );
            return Err(Failure::usage(message).hint("give it another name"));
        }
        io::check_writable(path)?;
    }
    for (k, (option, path)) in given().enumerate() {
        if let Some((other, _)) = given().take(k).find(|(_, other)| io::is_same_file(other, path)) {
            let message = format!("{other} and {option} are both the file {}", path.display());
            return Err(Failure::usage(message).hint("give one of them another name"));
        }
    }
    Ok(())
}

/// What becomes of a plot: one that cannot be written is a failure, one with nothing to show is worth a warning.
///
/// # Errors
/// When it could not be drawn or written.
pub fn drawn(plot: Result<(), PlotError>, report: &Report) -> Result<(), Failure> {
    match plot {
        Ok(()) => Ok(()),
        Err(error @ PlotError::NothingToShow { .. }) => {
            report.warning(error);
            Ok(())
        }
        Err(error) => Err(Failure::new(Status::File, error)),
    }
}

/// κ and the mass as text, short for any number.
pub fn coupling_text(kappa: f64, mass: f64) -> String {
    if mass.abs() < 1e6 {
        format!("{kappa:?} (mass {mass:.6})")
    } else {
        format!("{kappa:?} (mass {mass:.6e})")
    }
}

/// The solver of a job: one method for all sources, or one that is chosen and remembers from source to source what worked.
pub struct Solving {
    auto: Option<Auto>,
    /// The method; if it is chosen, that which ended the last solve.
    params: SolveParams,
}

/// A solution, or the best that was reached, and how it went.
pub struct Solved {
    /// The solution; the best iterate if the method gave up.
    pub x: SpinorField<f64>,
    /// How it went.
    pub info: SolverInfo,
    /// Why the method gave up, if it did; the last one if several were tried.
    pub failure: Option<SolverFailure>,
    /// What was tried, if the method was chosen.
    pub attempts: Vec<Attempt>,
}

impl Method {
    /// The precision of the iteration on this team; of an automatic choice that with which it begins.
    fn precision(&self, team: &Team) -> IterationPrecision {
        match (self.precision, self.solver) {
            (Some(wanted), _) => wanted.on(team),
            (None, Solver::Auto) => IterationPrecision::mixed_on(team),
            (None, _) => IterationPrecision::Double,
        }
    }

    /// Which system is iterated; an automatic choice is not told by it.
    fn system(&self) -> System {
        self.system.or(self.solver.only_system()).unwrap_or_default()
    }

    /// The wanted relative residual.
    pub fn tolerance(&self) -> f64 {
        self.tol.unwrap_or(match self.precision {
            Some(WantedPrecision::This(IterationPrecision::Single)) => 1e-5,
            _ => CrParams::default().tol,
        })
    }

    /// The value of an option whose default depends on others. `None` where this is left to the automatic choice.
    pub fn resolved(&self, option: &str) -> Option<String> {
        let chosen = self.solver == Solver::Auto;
        match option {
            "system" => (!chosen).then(|| self.system().to_string()),
            "precision" => match self.precision {
                Some(wanted) => Some(wanted.to_string()),
                None => (!chosen).then(|| IterationPrecision::Double.to_string()),
            },
            _ => None,
        }
    }

    fn check(&self) -> Result<(), Failure> {
        let tolerance = self.tolerance();
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return Err(Failure::usage(format!(
                "--tol {tolerance} is not allowed: it must be a positive number below 1, which is the residual of x = 0"
            )));
        }
        if self.solver == Solver::Auto {
            return match self.system {
                None => Ok(()),
                Some(system) => Err(Failure::usage(format!(
                    "--solver auto chooses the system with the method, and cannot be told {system}"
                ))
                .hint("leave out --system, or choose a method with --solver")),
            };
        }
        let system = self.system();
        if let Some(only) = self.solver.only_system().filter(|&only| only != system) {
            let message = format!("{} solves the {only} system, not the {system} one", self.solver);
            let hint = format!("leave out --system or choose --system {only}, or choose --solver cr");
            return Err(Failure::usage(message).hint(hint));
        }
        Ok(())
    }

    /// Checks that the method can solve for a single source.
    ///
    /// # Errors
    /// When it needs several.
    pub fn check_single_source(&self) -> Result<(), Failure> {
        if self.solver == Solver::BlockCg {
            let message = "--solver block-cg solves for several sources at once, and invert has one";
            return Err(
                Failure::usage(message.to_owned()).hint("choose --solver cg, or the command spectrum")
            );
        }
        Ok(())
    }

    /// The solver for the sources of a job on this team.
    pub fn begin(&self, team: &Team) -> Solving {
        let (tol, max_iterations, precision) = (self.tolerance(), self.max_iterations, self.precision(team));
        let preconditioning = self.preconditioning;
        let common = CrParams { tol, max_iterations, system: self.system(), precision, preconditioning };
        let params = match self.solver {
            Solver::Auto => {
                let given = self.precision.map(|_| precision);
                let auto = Auto::new(AutoParams { tol, max_iterations, precision: given, preconditioning });
                let params = auto.first_step(team);
                return Solving { auto: Some(auto), params };
            }
            Solver::One(method) => method.params(&common),
            // All at once or one after the other, it is Conjugate Gradient on the same system.
            Solver::BlockCg => SolveMethod::Cg.params(&common),
        };
        Solving { auto: None, params }
    }

    /// The failure of a solve that gave up, with what the user can do about it.
    pub fn failure(&self, failure: &SolverFailure, solved: &Solved, solving: &Solving) -> Failure {
        let Solved { info, attempts, .. } = solved;
        let why = match attempts.as_slice() {
            [] => failure.to_string(),
            attempts => {
                let texts: Vec<_> = attempts.iter().map(Attempt::to_string).collect();
                format!("all methods gave up: {}", texts.join("; "))
            }
        };
        let message = format!(
            "no convergence after {} iterations: {why}; the true relative residual is {:.3e}, wanted {:.1e}",
            info.iterations,
            info.residual.true_residual,
            self.tolerance()
        );
        let params = &solving.params;
        let hint = match failure {
            SolverFailure::IterationLimit { .. } => "allow more with --max-iterations, or loosen --tol",
            SolverFailure::PrecisionLimit { .. } if params.precision() != IterationPrecision::Double => {
                "iterate with --precision double, or loosen --tol"
            }
            SolverFailure::PrecisionLimit { .. } => "loosen --tol",
            SolverFailure::NotFinite { .. } => {
                "is kappa or the mass enormous? If not, look at the links with `cr-solve info`"
            }
            SolverFailure::OutOfRange { .. } => "multiply the source by a power of two",
            SolverFailure::Interrupted => "a job that was interrupted can go on later with --checkpoint",
            SolverFailure::Breakdown { .. } | SolverFailure::Stagnation { .. }
                if self.solver.only_system().is_some_and(|only| only != System::Normal) =>
            {
                "try --solver cg; beyond the critical kappa no method converges well"
            }
            SolverFailure::Breakdown { .. } | SolverFailure::Stagnation { .. }
                if params.system() != System::Normal =>
            {
                "try --system normal; beyond the critical kappa no method converges well"
            }
            SolverFailure::Breakdown { .. } | SolverFailure::Stagnation { .. } => {
                "is kappa beyond its critical value? A smaller kappa converges faster"
            }
        };
        Failure::new(Status::Failed, anyhow::Error::msg(message)).hint(hint)
    }
}

impl Solving {
    /// The method; if it is chosen, that which ended the last solve.
    pub fn params(&self) -> SolveParams {
        self.params
    }

    /// Solves M x = b, as a part of the job of the session.
    pub fn solve(
        &mut self,
        wilson: &Dirac<f64>,
        b: &SpinorField<f64>,
        session: &mut Session<'_>,
    ) -> Result<Solved, Failure> {
        let solved =
            match &mut self.auto {
                None => solve_with_checkpoints(wilson, b, &self.params, session).map(|(x, info)| Solved {
                    x,
                    info,
                    failure: None,
                    attempts: Vec::new(),
                }),
                Some(auto) => auto
                    .solve(wilson, b, session)
                    .map(|AutoSolution { x, info, attempts }| Solved { x, info, failure: None, attempts }),
            };
        let solved = match solved {
            Ok(solved) => solved,
            Err(InvertError::NotConverged { failure, best, info }) => {
                Solved { x: *best, info: *info, failure: Some(failure), attempts: Vec::new() }
            }
            Err(InvertError::AllGaveUp { failure, best, info, attempts }) => {
                Solved { x: *best, info: *info, failure: Some(failure), attempts }
            }
            Err(InvertError::Lattice(error)) => return Err(error.into()),
            Err(
                error @ (InvertError::Parameter { .. }
                | InvertError::NotHermitian
                | InvertError::Source(_)
                | InvertError::ForeignState(_)),
            ) => {
                return Err(Failure::new(Status::Usage, error));
            }
        };
        self.note_last(&solved.attempts);
        Ok(solved)
    }

    /// Takes note of what was tried for a source that an earlier run has solved.
    pub fn learn(&mut self, team: &Team, attempts: &[Attempt]) {
        if let Some(auto) = &mut self.auto {
            auto.learn(team, attempts);
        }
        self.note_last(attempts);
    }

    fn note_last(&mut self, attempts: &[Attempt]) {
        if let Some(last) = attempts.last() {
            self.params = last.params;
        }
    }

    /// Solves M x = b for all fields of `b` at once; gives one solution for each, or the one failure of all.
    pub fn solve_at_once(
        &mut self,
        wilson: &Dirac<f64>,
        b: &SpinorField<f64>,
        session: &mut Session<'_>,
    ) -> Result<Vec<Solved>, Failure> {
        let SolveParams::Cg(CgParams { tol, max_iterations, precision, preconditioning }) = self.params
        else {
            unreachable!("several sources at once are solved by Conjugate Gradient");
        };
        let params = BlockCgParams { tol, max_iterations, precision, preconditioning };
        match block_cg_with_checkpoints(wilson, b, &params, session) {
            Ok(BlockSolution { x: all, residuals, info }) => {
                let of_source = |(source, residual)| {
                    let mut x = wilson.lattice().spinor()?;
                    all.copy_source_to(source, &mut x).map_err(LatticeError::from)?;
                    let info = SolverInfo { residual, ..info.clone() };
                    Ok(Solved { x, info, failure: None, attempts: Vec::new() })
                };
                residuals.into_iter().enumerate().map(of_source).collect()
            }
            Err(InvertError::NotConverged { failure, best, info }) => {
                Ok(vec![Solved { x: *best, info: *info, failure: Some(failure), attempts: Vec::new() }])
            }
            Err(InvertError::Lattice(error)) => Err(error.into()),
            Err(error) => Err(Failure::new(Status::Usage, error)),
        }
    }
}

/// The method that found a solution: of the automatic choice the one that it chose.
pub fn method_text(solver: Solver, params: &SolveParams) -> String {
    match solver {
        Solver::Auto => params.method().to_owned(),
        named => named.to_string(),
    }
}

/// The method as it was asked for, and what became of it.
pub fn solver_words(solver: Solver, method: &str) -> String {
    match solver {
        Solver::Auto => format!("auto: {method}"),
        named => named.to_string(),
    }
}

/// The title of a plot: which configuration, which mass, which lattice.
pub fn plot_title(file: &Path, kappa: f64, dims: [usize; NDIM]) -> String {
    let extents = dims.map(|extent| extent.to_string()).join("x");
    format!("{}, κ = {kappa:?}, {extents}", plot::short_name(file))
}

/// Who solved what, as results say it.
pub fn solver_text(
    solver: impl fmt::Display,
    system: &str,
    preconditioning: &str,
    precision: &str,
) -> String {
    let preconditioned = match preconditioning {
        "none" => String::new(),
        _ => format!("{preconditioning} "),
    };
    format!("{solver} on the {preconditioned}{system} system, {precision}")
}

/// One method's part in a solve, as JSON has it.
#[derive(Clone, Debug, Serialize)]
pub struct AttemptOutcome {
    solver: &'static str,
    system: String,
    preconditioning: String,
    precision: String,
    iterations: usize,
    residual: Residual,
    failure: Option<String>,
}

impl AttemptOutcome {
    /// The method.
    pub fn solver(&self) -> &str {
        self.solver
    }
}

impl From<&Attempt> for AttemptOutcome {
    fn from(attempt: &Attempt) -> Self {
        let Attempt { params, iterations, residual, failure, .. } = attempt;
        Self {
            solver: params.method(),
            system: params.system().to_string(),
            preconditioning: params.preconditioning().to_string(),
            precision: params.precision().to_string(),
            iterations: *iterations,
            residual: Residual::new(residual.iterated, residual.true_residual),
            failure: failure.clone(),
        }
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        let status = match error {
            DeviceError::UnknownDevice { .. }
            | DeviceError::AmbiguousDevice { .. }
            | DeviceError::NotCombinable { .. } => Status::Usage,
            // The blocks of a checkpoint come from a file.
            DeviceError::LengthMismatch { what: RESTORING_A_FIELD, .. } => Status::File,
            _ => Status::Device,
        };
        let hint = match error {
            DeviceError::LengthMismatch { what: RESTORING_A_FIELD, .. } => {
                Some("the blocks of the checkpoint are not those of this job; start anew without --resume")
            }
            DeviceError::HostMemory(_) => Some(
                "raise the limit on the process's memory (ulimit -v), or take a lower --precision, fewer --links or another machine",
            ),
            DeviceError::Absent(Absence::HostChosen) => None,
            DeviceError::Absent(_) => Some("`invert` and `spectrum` need no OpenCL: --device host"),
            DeviceError::UnknownDevice { .. } => {
                Some("`cr-solve devices` shows them; --device host needs none")
            }
            _ => None,
        };
        let failure = Failure::new(status, error);
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<LatticeError> for Failure {
    fn from(error: LatticeError) -> Self {
        match error {
            LatticeError::Device(error) => error.into(),
            error => Failure::new(Status::Usage, error),
        }
    }
}

impl From<DiracError> for Failure {
    fn from(error: DiracError) -> Self {
        match error {
            DiracError::Lattice(error) => error.into(),
            error => Failure::new(Status::Usage, error),
        }
    }
}
