//! `cr-solve bench solver`: what an iteration of each method costs. What begins and ends a solve is spread over its iterations.

use super::outcome::{Benchmark, Subject};
use super::session::{How, Session};
use crate::arguments::reconstruction;
use crate::failure::{Failure, Status};
use crate::memory::Need;
use lattice_cl::device::{DeviceKind, Team};
use lattice_cl::field::SpinorField;
use lattice_cl::geometry::{Boundary, Dims, Grid, Lattice};
use lattice_cl::host::{Reconstruction, random};
use lattice_cl::operator::{Dirac, Kappa, System};
use lattice_cl::solve::{
    BicgstabParams, BlockCgParams, BlockSolution, CgParams, CrParams, InvertError, IterationPrecision,
    Preconditioning, bicgstab, block_cg, cg, cr,
};
use lattice_solvers::SolverInfo;
use std::time::{Duration, Instant};

/// The command line of `bench solver`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Extents in x, y, z, t; by default 16x16x16x32 on GPUs and 8x8x8x16 on processors
    #[arg(long, value_name = "EXTENTS")]
    dims: Option<Dims>,
    /// Parts of the lattice in x, y, z, t on all devices together, such as 1x1x2x2; by default those with the least surface
    #[arg(long, value_name = "PARTS")]
    grid: Option<Grid>,
    /// Precisions of the iterations, as `invert --precision` takes them; d and s are double and single
    #[arg(long, value_name = "PRECISION,…", value_delimiter = ',', default_value = "double,single,mixed-half", value_parser = iteration_precision)]
    precision: Vec<IterationPrecision>,
    /// Iterations of a solve
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
    /// Also solve for this many sources at once by block-cg, and by cg one after the other; even-odd only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=24))]
    sources: Option<u32>,
    /// Sources at the origin, one for each spin and colour, instead of random ones; then at the next time slice
    #[arg(long, requires = "sources")]
    point_sources: bool,
    // By default a light quark on links close to 1: no method is done after so few iterations.
    /// The hopping parameter
    #[arg(long, value_name = "K", default_value_t = 0.14, allow_negative_numbers = true)]
    kappa: f64,
    /// How far links are from 1: those of `generate --start weak:EPS`
    #[arg(long, value_name = "EPS", default_value_t = 0.3)]
    roughness: f64,
    /// Reals stored for each link: 18, 12 or 8
    #[arg(long, value_name = "REALS", default_value = "18", value_parser = reconstruction)]
    links: Reconstruction,
    #[command(flatten)]
    pub how: How,
}

fn iteration_precision(text: &str) -> Result<IterationPrecision, String> {
    match text {
        "d" => Ok(IterationPrecision::Double),
        "s" => Ok(IterationPrecision::Single),
        text => text.parse(),
    }
}

/// Tolerance of whole solves.
const WHOLE: f64 = 1e-10;

/// Out of reach: a solve ends at its limit of iterations.
const TOLERANCE: f64 = 1e-30;

/// A method, with the name that `invert --solver` has for it.
struct Method {
    name: &'static str,
    solve: fn(&Dirac<f64>, &SpinorField<f64>, Limits) -> Solution,
}

type Solution = Result<(SpinorField<f64>, SolverInfo), InvertError>;

#[derive(Clone, Copy)]
struct Limits {
    iterations: usize,
    precision: IterationPrecision,
    preconditioning: Preconditioning,
}

const METHODS: [Method; 4] = [
    Method { name: "cr, normal", solve: |m, b, limits| cr(m, b, &limits.cr(System::Normal)) },
    Method { name: "cr, direct", solve: |m, b, limits| cr(m, b, &limits.cr(System::Direct)) },
    Method {
        name: "cg",
        solve: |m, b, Limits { iterations, precision, preconditioning }| {
            let params = CgParams { tol: TOLERANCE, max_iterations: iterations, precision, preconditioning };
            cg(m, b, &params)
        },
    },
    Method {
        name: "bicgstab",
        solve: |m, b, Limits { iterations, precision, preconditioning }| {
            let params =
                BicgstabParams { tol: TOLERANCE, max_iterations: iterations, precision, preconditioning };
            bicgstab(m, b, &params)
        },
    },
];

impl Limits {
    fn cr(self, system: System) -> CrParams {
        let Limits { iterations, precision, preconditioning } = self;
        CrParams { tol: TOLERANCE, max_iterations: iterations, system, precision, preconditioning }
    }
}

/// Checks and times solves on each device, and on the team if there are several; with `--quick` not on the team, whose kernels
/// are others.
///
/// # Errors
/// When a device fails, or a solve reports another residual than its solution has.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    let devices = session.opencl_devices("solver")?;
    let alone = devices.iter().enumerate().map(|(number, device)| (Some(number), Team::from(device.clone())));
    let together = (devices.len() > 1 && !session.how.quick).then(|| (None, session.team()));
    if let (Some(grid), None) = (arguments.grid, &together) {
        let message =
            format!("--grid {grid} is for solves on several devices together, and there are none here");
        return Err(
            Failure::usage(message).hint("name several with --device, without --quick; or leave out --grid")
        );
    }
    for (number, team) in alone.chain(together).collect::<Vec<_>>() {
        let processor = team.devices()[0].info().kind == DeviceKind::Cpu;
        let default = if processor { [8, 8, 8, 16] } else { [16, 16, 16, 32] };
        let dims = match arguments.dims {
            Some(dims) => dims,
            None => Dims::new(default).map_err(|error| Failure::usage(error.to_string()))?,
        };
        let name = number.map_or("all devices", |number| devices[number].label());
        session.report.note(format_args!("{name}: solves on {dims}"));
        measure_on(arguments, &team, number, dims, session)?;
    }
    Ok(())
}

fn measure_on(
    arguments: &Arguments,
    team: &Team,
    number: Option<usize>,
    dims: Dims,
    session: &mut Session<'_>,
) -> Result<(), Failure> {
    let kappa = Kappa(arguments.kappa);
    // A method keeps some vectors beside source and solution.
    let need = Need::of_stencil(dims, 3 * arguments.sources.unwrap_or(1) as usize);
    need.expect_room(format_args!("links and spinors of a {dims} lattice"), team.devices().first())?;
    let configuration = random::weak(dims, arguments.roughness, 1);
    let lattice = match arguments.grid.filter(|_| number.is_none()) {
        Some(grid) => Lattice::with_grid(team, dims, grid)?,
        None => Lattice::new(team, dims)?,
    };
    let links = lattice.gauge_in::<f64>(&configuration, Boundary::antiperiodic_t(), arguments.links)?;
    let wilson = Dirac::wilson(&links, kappa)?;
    let b = lattice.spinors_from_host(1, &random::spinor_field(dims, 2))?;
    // The same equation without a device.
    let host = Lattice::new(&Team::host(), dims)?;
    let host_links = host.gauge::<f64>(&configuration, Boundary::antiperiodic_t())?;
    let host_wilson = Dirac::wilson(&host_links, kappa)?;
    for &precision in &arguments.precision {
        for preconditioning in [Preconditioning::None, Preconditioning::EvenOdd] {
            for method in &METHODS {
                if session.interrupted() {
                    return Ok(());
                }
                let limits = Limits { iterations: arguments.iterations as usize, precision, preconditioning };
                let (best, _) = iterate(method, &wilson, &b, limits)?;
                let residual = check(method.name, &host_wilson, &host, &best, &b)?;
                let mut work = None;
                let samples = session.samples(|_| {
                    let begin = Instant::now();
                    let (_, info) = iterate(method, &wilson, &b, limits)?;
                    let iterations = info.iterations as u32;
                    work = Some((info.work, iterations));
                    Ok((begin.elapsed() / iterations.max(1), None))
                })?;
                let subject = subject(arguments, number, dims, method.name, limits, work);
                session.push(subject.found("residual", residual), samples);
            }
        }
        if let Some(sources) = arguments.sources
            && !session.interrupted()
        {
            let (wilson, host_wilson, host) = (&wilson, &host_wilson, &host);
            let case = BlockCase { arguments, wilson, host_wilson, host, number, dims };
            let iterations = arguments.iterations as usize;
            let limits = Limits { iterations, precision, preconditioning: Preconditioning::EvenOdd };
            measure_block(&case, sources as usize, limits, session)?;
        }
    }
    Ok(())
}

/// The row of a method, of which `work` is that of all these iterations.
fn subject(
    arguments: &Arguments,
    number: Option<usize>,
    dims: Dims,
    name: &str,
    limits: Limits,
    work: Option<(lattice_solvers::Work, u32)>,
) -> Subject {
    let (work, iterations) = work.unwrap_or_default();
    let per_iteration = u64::from(iterations.max(1));
    let subject = Subject::new(Benchmark::Solver, name)
        .with("dims", dims.to_string())
        .with("precision", limits.precision.to_string())
        .with("preconditioning", limits.preconditioning.to_string())
        .with("iterations", limits.iterations)
        .with("links", arguments.links.reals())
        .with("kappa", arguments.kappa)
        .with("roughness", arguments.roughness)
        .flops(work.flops / per_iteration)
        .bytes(work.bytes / per_iteration)
        .by_the_wall();
    match (number, arguments.grid) {
        (Some(number), _) => subject.on(number),
        (None, Some(grid)) => subject.with("grid", grid.to_string()),
        (None, None) => subject,
    }
}

/// Several sources at once: time of each source and iteration, and whole solves beside those of cg one after the other.
fn measure_block(
    case: &BlockCase<'_>,
    sources: usize,
    limits: Limits,
    session: &mut Session<'_>,
) -> Result<(), Failure> {
    let BlockCase { arguments, wilson, host_wilson, host, number, dims } = *case;
    let Limits { iterations, precision, preconditioning } = limits;
    let lattice = wilson.lattice();
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
        wilson,
        &b,
        &BlockCgParams { tol, max_iterations, precision, preconditioning },
    ) {
        Ok(BlockSolution { x, info, .. }) => Ok((x, info)),
        Err(error) => reached(error),
    };
    let (best, info) = block(TOLERANCE, iterations)?;
    let mut x = lattice.spinor()?;
    best.copy_column_to(sources - 1, &mut x)?;
    let residual = check("block-cg", host_wilson, host, &x, &one)?;
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
        let params = CgParams { tol: WHOLE, max_iterations: limit, precision, preconditioning };
        let begin = Instant::now();
        let (_, info) = cg(wilson, &one, &params).or_else(reached)?;
        cg_time += begin.elapsed();
        cg_iterations += info.iterations;
    }
    let work = Some((work, (count / sources) as u32));
    let subject = subject(arguments, number, dims, "block-cg", limits, work)
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

/// Where solves are timed, and where they are checked.
#[derive(Clone, Copy)]
struct BlockCase<'a> {
    arguments: &'a Arguments,
    wilson: &'a Dirac<f64>,
    host_wilson: &'a Dirac<f64>,
    host: &'a Lattice,
    number: Option<usize>,
    dims: Dims,
}

/// A solve that ends at its limit of iterations: what it reached.
fn iterate(
    method: &Method,
    wilson: &Dirac<f64>,
    b: &SpinorField<f64>,
    limits: Limits,
) -> Result<(SpinorField<f64>, SolverInfo), Failure> {
    (method.solve)(wilson, b, limits).or_else(reached)
}

/// What a solve that gave up reached, if it did anything.
fn reached(error: InvertError) -> Result<(SpinorField<f64>, SolverInfo), Failure> {
    match error {
        InvertError::NotConverged { best, info, .. } if info.iterations > 0 => Ok((*best, *info)),
        InvertError::Lattice(error) => Err(error.into()),
        error => Err(Failure::new(Status::Failed, error)),
    }
}

/// ‖b − Mx‖ / ‖b‖ of what a solve reached, by the host.
fn check(
    name: &str,
    wilson: &Dirac<f64>,
    host: &Lattice,
    x: &SpinorField<f64>,
    b: &SpinorField<f64>,
) -> Result<f64, Failure> {
    let x = host.spinors_from_host(1, &x.to_host()?)?;
    let mut image = host.spinors(1)?;
    wilson.apply(&x, &mut image)?;
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
