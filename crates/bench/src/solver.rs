//! `cr-solve bench solver`: the cost of an iteration of each method.
//!
//! The cost of the beginning and end of a solve is spread over its iterations.

use super::outcome::{Benchmark, Subject};
use super::session::{How, Session};
use lattice_cl::compute::{DeviceKind, Team};
use lattice_cl::field::{GaugeField, SpinorField};
use lattice_cl::geometry::{Boundary, Dims, Grid, Lattice};
use lattice_cl::host::{GaugeConfiguration, Reconstruction, random};
use lattice_cl::operator::{Dirac, Kappa, SiteTerm, System};
use lattice_cl::solve::{
    BicgstabParams, BlockCgParams, BlockSolution, CgParams, CrParams, InvertError, IterationPrecision,
    Preconditioning, bicgstab, block_cg, cg, cr,
};
use lattice_cli::choices::{bare_word_of, word};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::lattice::input::Input;
use lattice_cli::memory::Need;
use lattice_solvers::SolverInfo;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The command line of `bench solver`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Extents in x, y, z, t; by default 16x16x16x32 on GPUs and 8x8x8x16 on processors
    #[arg(long, value_name = "EXTENTS")]
    dims: Option<Dims>,
    /// Grid of devices in x, y, z, t: 1x1x2x2 [default: the least surface]
    #[arg(long, value_name = "PARTS")]
    grid: Option<Grid>,
    /// Operators, one equation each: wilson, clover, twisted-mass, twisted-clover
    #[arg(long, value_parser = word::<Operator>(), value_name = "OPERATOR,…")]
    #[arg(value_delimiter = ',', default_value = "wilson")]
    operator: Vec<Operator>,
    /// The coefficient of the clover term, of operators that have one
    #[arg(long, value_name = "C", default_value_t = 1.0)]
    csw: f64,
    /// The twisted mass, of operators that have one
    #[arg(long, value_name = "MU", default_value_t = 0.02)]
    mu: f64,
    /// Also solve to a residual of 1e-10 by each method, and tell iterations and time
    #[arg(long)]
    whole: bool,
    /// Precisions of the iterations: those of `invert --precision`, or d and s
    #[arg(long, value_name = "PRECISION,…", value_delimiter = ',', default_value = "double,single,mixed-half", value_parser = iteration_precision)]
    precision: Vec<IterationPrecision>,
    /// Methods: cr-normal, cr-direct, cg, bicgstab [default: all]
    #[arg(long, value_name = "METHOD,…", value_delimiter = ',', value_parser = ["cr-normal", "cr-direct", "cg", "bicgstab"])]
    method: Vec<String>,
    /// Equations: none or even-odd, that of `invert --preconditioning` [default: both]
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', value_parser = bare_word_of(&EQUATIONS))]
    preconditioning: Vec<Preconditioning>,
    /// Measure all devices together, and none of them alone
    #[arg(long)]
    together: bool,
    /// Iterations of a solve
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
    /// Also solve for this many sources at once by block-cg, and singly by cg
    ///
    /// Only for the even-odd preconditioned equation.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=24))]
    sources: Option<u32>,
    /// Point sources instead of random ones
    ///
    /// There is one source for each spin and colour at the origin, then at the next time slice.
    #[arg(long, requires = "sources")]
    point_sources: bool,
    // The default is a light quark on links close to 1, for which no method converges that early.
    /// The hopping parameter; several for several masses
    #[arg(long, value_name = "K,…", value_delimiter = ',', default_value = "0.14")]
    kappa: Vec<f64>,
    /// Compare bicgstab with multigrid, to a residual of 1e-10
    ///
    /// The time of the set-up is shown apart, and spread over 12 sources.
    #[arg(long, conflicts_with_all = ["whole", "sources"])]
    multigrid: bool,
    /// Solve on the links of this configuration, not on random ones
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dims", "roughness"])]
    pub configuration: Option<PathBuf>,
    /// How far links are from 1: those of `generate --start weak:EPS`
    #[arg(long, value_name = "EPS", default_value_t = 0.3)]
    roughness: f64,
    /// Reals stored for each link: 18, 12 or 8
    #[arg(long, value_name = "REALS", default_value = "18")]
    links: Reconstruction,
    #[command(flatten)]
    pub how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Wilson,
    Clover,
    TwistedMass,
    TwistedClover,
}

lattice_files::words! {
    Operator, "operator":
    Wilson = "wilson"; Clover = "clover"; TwistedMass = "twisted-mass"; TwistedClover = "twisted-clover"
}

impl Operator {
    fn site_term(self, arguments: &Arguments) -> SiteTerm {
        let Arguments { csw, mu, .. } = *arguments;
        match self {
            Self::Wilson => SiteTerm::Scalar,
            Self::Clover => SiteTerm::Clover { csw, mu: 0.0 },
            Self::TwistedMass => SiteTerm::Twisted { mu },
            Self::TwistedClover => SiteTerm::Clover { csw, mu },
        }
    }
}

fn iteration_precision(text: &str) -> Result<IterationPrecision, String> {
    match text {
        "d" => Ok(IterationPrecision::Double),
        "s" => Ok(IterationPrecision::Single),
        text => text.parse(),
    }
}

/// The equations that are timed.
const EQUATIONS: [Preconditioning; 2] = [Preconditioning::None, Preconditioning::EvenOdd];

/// Tolerance of whole solves.
pub(super) const WHOLE: f64 = 1e-10;

/// A tolerance out of reach, so that solves end at their limit of iterations.
const TOLERANCE: f64 = 1e-30;

/// A method, with the name that `invert --solver` has for it.
struct Method {
    name: &'static str,
    solve: fn(&Dirac<f64>, &SpinorField<f64>, Limits) -> Solution,
}

impl Method {
    /// The name on the command line: without a space.
    fn word(&self) -> String {
        self.name.replace(", ", "-")
    }
}

/// Tells whether a list on the command line names this, or is empty.
fn is_chosen(list: &[String], name: &str) -> bool {
    list.is_empty() || list.iter().any(|chosen| chosen == name)
}

type Solution = Result<(SpinorField<f64>, SolverInfo), InvertError>;

#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub tol: f64,
    pub iterations: usize,
    pub precision: IterationPrecision,
    pub preconditioning: Preconditioning,
}

const METHODS: [Method; 4] = [
    Method { name: "cr, normal", solve: |m, b, limits| cr(m, b, &limits.cr(System::Normal)) },
    Method { name: "cr, direct", solve: |m, b, limits| cr(m, b, &limits.cr(System::Direct)) },
    Method {
        name: "cg",
        solve: |m, b, Limits { tol, iterations, precision, preconditioning }| {
            let params = CgParams::default()
                .with_tol(tol)
                .with_max_iterations(iterations)
                .with_precision(precision)
                .with_preconditioning(preconditioning);
            cg(m, b, &params)
        },
    },
    Method {
        name: "bicgstab",
        solve: |m, b, Limits { tol, iterations, precision, preconditioning }| {
            let params = BicgstabParams::default()
                .with_tol(tol)
                .with_max_iterations(iterations)
                .with_precision(precision)
                .with_preconditioning(preconditioning);
            bicgstab(m, b, &params)
        },
    },
];

impl Limits {
    fn cr(self, system: System) -> CrParams {
        let Limits { tol, iterations, precision, preconditioning } = self;
        CrParams::default()
            .with_tol(tol)
            .with_max_iterations(iterations)
            .with_system(system)
            .with_precision(precision)
            .with_preconditioning(preconditioning)
    }
}

/// Checks and times solves on each device, and on the team if there are several.
///
/// [`Session::teams`] tells which. The rows of one device are those of the first rank.
///
/// # Errors
/// When a device fails, or a solve reports another residual than its solution has.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    let teams = session.teams("solver", arguments.together)?;
    let has_all = teams.iter().any(|(number, _)| number.is_none());
    if let (Some(grid), false) = (arguments.grid, has_all) {
        let message =
            format!("--grid {grid} is for solves on several devices together, and there are none here");
        return Err(
            Failure::usage(message).hint("name several with --device, without --quick; or leave out --grid")
        );
    }
    let read = match &arguments.configuration {
        Some(file) => Some(Arc::new(Input::default().read(file, session.report)?.configuration)),
        None => None,
    };
    for (number, team) in teams {
        let processor = team.devices()[0].info().kind == DeviceKind::Cpu;
        let default = if processor { [8, 8, 8, 16] } else { [16, 16, 16, 32] };
        let dims = match (arguments.dims, &read) {
            (_, Some(links)) => links.dims(),
            (Some(dims), _) => dims,
            (None, None) => Dims::new(default).map_err(|error| Failure::usage(error.to_string()))?,
        };
        let name = if number.is_some() { team.devices()[0].label() } else { "all devices" };
        session.report.note(format_args!("{name}: solves on {dims}"));
        let configuration = match &read {
            Some(links) => Links::Read(links),
            None => Links::Random(dims),
        };
        measure_on(arguments, &team, number, configuration, session)?;
    }
    Ok(())
}

/// The links to solve on.
enum Links<'a> {
    Random(Dims),
    Read(&'a Arc<GaugeConfiguration>),
}

fn measure_on(
    arguments: &Arguments,
    team: &Team,
    number: Option<usize>,
    links: Links<'_>,
    session: &mut Session<'_>,
) -> Result<(), Failure> {
    let dims = match links {
        Links::Random(dims) => dims,
        Links::Read(links) => links.dims(),
    };
    // A method keeps some vectors beside source and solution.
    let need = Need::of_stencil(dims, 3 * arguments.sources.unwrap_or(1) as usize);
    need.expect_room(format_args!("links and spinors of a lattice of {dims}"), team.devices().first())?;
    let configuration = match links {
        Links::Random(dims) => Arc::new(random::weak(dims, arguments.roughness, 1)),
        Links::Read(links) => Arc::clone(links),
    };
    let lattice = match arguments.grid.filter(|_| number.is_none()) {
        Some(grid) => Lattice::with_grid(team, dims, grid)?,
        None => Lattice::new(team, dims)?,
    };
    let boundary = Boundary::antiperiodic_t();
    let links = lattice.gauge_in::<f64>(&configuration, boundary, arguments.links)?;
    let b = lattice.spinors_from_host(1, &random::spinor_field(dims, 2))?;
    // The same equation without a device.
    let host = Lattice::new(&Team::host(), dims)?;
    let host_links = host.gauge::<f64>(&configuration, boundary)?;
    for (&operator, &kappa) in arguments
        .operator
        .iter()
        .flat_map(|operator| arguments.kappa.iter().map(move |kappa| (operator, kappa)))
    {
        let dirac = |links: &GaugeField<f64>| {
            let links = links.clone().with_clover(Arc::clone(&configuration))?;
            Ok::<_, Failure>(Dirac::new(&links, Kappa(kappa), operator.site_term(arguments))?)
        };
        let (dirac, host_dirac) = (&dirac(&links)?, &dirac(&host_links)?);
        let case = Case { arguments, operator, dirac, host_dirac, host: &host, number, dims };
        if arguments.multigrid {
            if session.interrupted() {
                return Ok(());
            }
            case.measure_multigrid(&b, session)?;
        } else {
            case.measure(&b, session)?;
        }
    }
    Ok(())
}

/// An equation: where it is solved, and where solutions are checked.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    arguments: &'a Arguments,
    operator: Operator,
    pub(super) dirac: &'a Dirac<f64>,
    host_dirac: &'a Dirac<f64>,
    host: &'a Lattice,
    number: Option<usize>,
    dims: Dims,
}

impl Case<'_> {
    /// All methods in all precisions.
    fn measure(&self, b: &SpinorField<f64>, session: &mut Session<'_>) -> Result<(), Failure> {
        let Self { arguments, dirac, .. } = *self;
        for &precision in &arguments.precision {
            let limits = |preconditioning| Limits {
                tol: TOLERANCE,
                iterations: arguments.iterations as usize,
                precision,
                preconditioning,
            };
            let is_wanted = |equation: &Preconditioning| match &arguments.preconditioning[..] {
                [] => true,
                wanted => wanted.contains(equation),
            };
            for preconditioning in EQUATIONS.into_iter().filter(is_wanted) {
                for method in METHODS.iter().filter(|method| is_chosen(&arguments.method, &method.word())) {
                    if session.interrupted() {
                        return Ok(());
                    }
                    let limits = limits(preconditioning);
                    let (best, _) = iterate(method, dirac, b, limits)?;
                    let residual = self.check(method.name, &best, b)?;
                    let mut work = None;
                    let samples = session.samples(|_| {
                        let begin = Instant::now();
                        let (_, info) = iterate(method, dirac, b, limits)?;
                        let iterations = info.iterations as u32;
                        work = Some((info.work, iterations));
                        Ok((begin.elapsed() / iterations.max(1), None))
                    })?;
                    let mut subject = self.subject(method.name, limits, work).found("residual", residual);
                    if arguments.whole {
                        let limit = CgParams::default().max_iterations;
                        let limits = Limits { tol: WHOLE, iterations: limit, ..limits };
                        let begin = Instant::now();
                        let (_, info) = iterate(method, dirac, b, limits)?;
                        subject = subject
                            .found("whole_solve_iterations", info.iterations)
                            .found("whole_solve_residual", info.residual.true_residual)
                            .found("whole_solve_seconds", begin.elapsed().as_secs_f64());
                    }
                    session.push(subject, samples);
                }
            }
            if let Some(sources) = arguments.sources
                && !session.interrupted()
            {
                self.measure_block(sources as usize, limits(Preconditioning::EvenOdd), session)?;
            }
        }
        Ok(())
    }

    /// Returns the row of a method. `work` is the work of all these iterations.
    pub(super) fn subject(
        &self,
        name: &str,
        limits: Limits,
        work: Option<(lattice_solvers::Work, u32)>,
    ) -> Subject {
        let Self { arguments, operator, dirac, number, dims, .. } = *self;
        let (work, iterations) = work.unwrap_or_default();
        let per_iteration = u64::from(iterations.max(1));
        let subject = Subject::new(Benchmark::Solver, name)
            .with("dims", dims.to_string())
            .with("precision", limits.precision.to_string())
            .with("preconditioning", limits.preconditioning.to_string())
            .with("iterations", limits.iterations)
            .with("links", arguments.links.reals())
            .with("kappa", dirac.coupling().kappa())
            .flops(work.flops / per_iteration)
            .bytes(work.bytes / per_iteration)
            .by_the_wall();
        let subject = match &arguments.configuration {
            None => subject.with("roughness", arguments.roughness),
            Some(file) => subject.with("configuration", file.display().to_string()),
        };
        // Rows of the Wilson operator have the same keys as in older versions.
        let term = operator.site_term(arguments);
        let with = |subject: Subject, name: &'static str, value: f64| {
            if value == 0.0 { subject } else { subject.with(name, value) }
        };
        let subject = match operator {
            Operator::Wilson => subject,
            _ => subject.with("operator", operator.to_string()),
        };
        let subject = with(with(subject, "csw", term.csw()), "mu", term.mu());
        let lattice = dirac.lattice();
        let subject = match lattice.team().ranks() {
            Some(world) => {
                subject.with("ranks", world.size()).with("ranks_grid", lattice.ranks_grid().to_string())
            }
            None => subject,
        };
        match (number, arguments.grid) {
            (Some(number), _) => subject.on(number),
            (None, Some(grid)) => subject.with("grid", grid.to_string()),
            (None, None) => subject,
        }
    }

    /// Times several sources at once: time of each source and iteration.
    ///
    /// Whole solves are compared with solves by cg one after the other.
    fn measure_block(
        &self,
        sources: usize,
        limits: Limits,
        session: &mut Session<'_>,
    ) -> Result<(), Failure> {
        let Self { arguments, dirac, dims, .. } = *self;
        let Limits { iterations, precision, preconditioning, .. } = limits;
        let lattice = dirac.lattice();
        let mut b = lattice.spinors(sources)?;
        let mut one = lattice.spinor()?;
        for source in 0..sources {
            one = if arguments.point_sources {
                lattice.point_source([0, 0, 0, source / 12], source % 12 / 3, source % 3)?
            } else {
                lattice.spinor_from_host(&random::spinor_field(dims, 2 + source as u64))?
            };
            b.copy_column_from(source, &one)?;
        }
        let block = |tol, max_iterations| match block_cg(
            dirac,
            &b,
            &BlockCgParams::default()
                .with_tol(tol)
                .with_max_iterations(max_iterations)
                .with_precision(precision)
                .with_preconditioning(preconditioning),
        ) {
            Ok(BlockSolution { x, info, .. }) => Ok((x, info)),
            Err(error) => reached(error),
        };
        let (best, info) = block(TOLERANCE, iterations)?;
        let mut x = lattice.spinor()?;
        best.copy_column_to(sources - 1, &mut x)?;
        let residual = self.check("block-cg", &x, &one)?;
        let (count, mut work) = (info.iterations * sources, info.work);
        (work.flops, work.bytes) = (work.flops / sources as u64, work.bytes / sources as u64);
        let samples = session.samples(|_| {
            let begin = Instant::now();
            let (_, info) = block(TOLERANCE, iterations)?;
            Ok((begin.elapsed() / (info.iterations * sources).max(1) as u32, None))
        })?;
        drop((best, x));

        let limit = CgParams::default().max_iterations;
        let begin = Instant::now();
        let (_, at_once) = block(WHOLE, limit)?;
        let block_time = begin.elapsed();
        let (mut cg_time, mut cg_iterations) = (Duration::ZERO, 0);
        for source in 0..sources {
            b.copy_column_to(source, &mut one)?;
            let params = CgParams::default()
                .with_tol(WHOLE)
                .with_max_iterations(limit)
                .with_precision(precision)
                .with_preconditioning(preconditioning);
            let begin = Instant::now();
            let (_, info) = cg(dirac, &one, &params).or_else(reached)?;
            cg_time += begin.elapsed();
            cg_iterations += info.iterations;
        }
        let work = Some((work, (count / sources) as u32));
        let subject = self
            .subject("block-cg", limits, work)
            .with("sources", sources)
            .found("residual", residual)
            .found("whole_solves_iterations", at_once.iterations)
            .found("whole_solves_seconds", block_time.as_secs_f64())
            .found("cg_iterations_of_all", cg_iterations)
            .found("cg_seconds_of_all", cg_time.as_secs_f64())
            .found("times_as_fast_as_cg", cg_time.as_secs_f64() / block_time.as_secs_f64());
        let subject = if arguments.point_sources { subject.with("point_sources", true) } else { subject };
        session.push(subject, samples);
        Ok(())
    }

    /// ‖b − Mx‖ / ‖b‖ of what a solve reached, by the host.
    pub(super) fn check(
        &self,
        name: &str,
        x: &SpinorField<f64>,
        b: &SpinorField<f64>,
    ) -> Result<f64, Failure> {
        let Self { host, host_dirac, .. } = *self;
        let x = host.spinors_from_host(1, &x.to_host()?)?;
        let mut image = host.spinors(1)?;
        host_dirac.apply(&x, &mut image)?;
        let (b, image) = (b.to_host()?, image.to_host()?);
        let (mut difference, mut norm) = (0.0, 0.0);
        for (b, image) in b.iter().zip(&image) {
            difference += lattice_cl::host::Spinor::from_fn(|s, c| b.0[s][c] - image.0[s][c]).norm2();
            norm += b.norm2();
        }
        let residual = (difference / norm).sqrt();
        if residual < 1.0 {
            return Ok(residual);
        }
        let error = anyhow::anyhow!("{name}: the residual is {residual:.3e} after all iterations: not timed");
        Err(Failure::new(Status::Failed, error))
    }
}

/// Runs a solve up to its limit of iterations, and returns its results.
fn iterate(
    method: &Method,
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    limits: Limits,
) -> Result<(SpinorField<f64>, SolverInfo), Failure> {
    (method.solve)(dirac, b, limits).or_else(reached)
}

/// Returns the result of a solve that gave up, if it did anything.
pub(super) fn reached(error: InvertError) -> Result<(SpinorField<f64>, SolverInfo), Failure> {
    match error {
        InvertError::NotConverged { best, info, .. } if info.iterations > 0 => Ok((*best, *info)),
        InvertError::Lattice(error) => Err(error.into()),
        error => Err(Failure::new(Status::Failed, error)),
    }
}
