//! `cr-solve bench solver`: what an iteration of each method costs. What begins and ends a solve is spread over its iterations.

use super::outcome::{Benchmark, Samples, Subject};
use super::session::{How, Session};
use crate::cli::failure::{Failure, Status};
use crate::device::{DeviceKind, Team};
use crate::dirac::{
    BicgstabParams, CgParams, CrParams, InvertError, IterationPrecision, Kappa, Preconditioning, System,
    Wilson, bicgstab, cg, cr,
};
use crate::host::{Boundary, Dims, random};
use crate::lattice::{Lattice, SpinorField};
use lattice_solvers::SolverInfo;
use std::time::Instant;

/// The command line of `bench solver`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Extents in x, y, z, t; by default 16x16x16x32 on GPUs and 8x8x8x16 on processors
    #[arg(long, value_name = "EXTENTS")]
    dims: Option<Dims>,
    /// Precisions of the iterations, as `invert --precision` takes them
    #[arg(long, value_name = "PRECISION,…", value_delimiter = ',', default_values = ["double", "single", "mixed-half"])]
    precision: Vec<IterationPrecision>,
    /// Iterations of a solve
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
    #[command(flatten)]
    pub how: How,
}

/// Links close to 1 and a light quark: no method is done after so few iterations.
const ROUGHNESS: f64 = 0.3;
const KAPPA: f64 = 0.14;

/// Out of reach: a solve ends at its limit of iterations.
const TOLERANCE: f64 = 1e-30;

/// A method, with the name that `invert --solver` has for it.
struct Method {
    name: &'static str,
    solve: fn(&Wilson<f64>, &SpinorField<f64>, Limits) -> Solution,
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
    let configuration = random::weak(dims, ROUGHNESS, 1);
    let lattice = Lattice::new(team, dims)?;
    let links = lattice.gauge::<f64>(&configuration, Boundary::antiperiodic_t())?;
    let wilson = Wilson::new(&links, Kappa(KAPPA))?;
    let b = lattice.spinors_from_host(1, &random::spinor_field(dims, 2))?;
    // The same equation without a device.
    let host = Lattice::new(&Team::host(), dims)?;
    let host_links = host.gauge::<f64>(&configuration, Boundary::antiperiodic_t())?;
    let host_wilson = Wilson::new(&host_links, Kappa(KAPPA))?;
    for &precision in &arguments.precision {
        for preconditioning in [Preconditioning::None, Preconditioning::EvenOdd] {
            for method in &METHODS {
                if session.interrupted() {
                    return Ok(());
                }
                let limits = Limits { iterations: arguments.iterations as usize, precision, preconditioning };
                let (best, _) = iterate(method, &wilson, &b, limits)?;
                let residual = check(method, &host_wilson, &host, &best, &b)?;
                let mut work = None;
                let samples = session.samples(|_| {
                    let begin = Instant::now();
                    let (_, info) = iterate(method, &wilson, &b, limits)?;
                    let iterations = info.iterations as u32;
                    work = Some((info.work, iterations));
                    Ok((begin.elapsed() / iterations.max(1), None))
                })?;
                push(session, number, dims, method, limits, work, residual, samples);
            }
        }
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn push(
    session: &mut Session<'_>,
    number: Option<usize>,
    dims: Dims,
    method: &Method,
    limits: Limits,
    work: Option<(lattice_solvers::Work, u32)>,
    residual: f64,
    samples: Samples,
) {
    let Some((work, iterations)) = work else { return };
    let per_iteration = u64::from(iterations.max(1));
    let mut subject = Subject::new(Benchmark::Solver, method.name)
        .with("dims", dims.to_string())
        .with("precision", limits.precision.to_string())
        .with("preconditioning", limits.preconditioning.to_string())
        .with("iterations", limits.iterations)
        .flops(work.flops / per_iteration)
        .bytes(work.bytes / per_iteration)
        .by_the_wall()
        .found("residual", residual);
    if let Some(number) = number {
        subject = subject.on(number);
    }
    session.push(subject, samples);
}

/// A solve that ends at its limit of iterations: what it reached.
fn iterate(
    method: &Method,
    wilson: &Wilson<f64>,
    b: &SpinorField<f64>,
    limits: Limits,
) -> Result<(SpinorField<f64>, SolverInfo), Failure> {
    match (method.solve)(wilson, b, limits) {
        Ok(solution) => Ok(solution),
        Err(InvertError::NotConverged { best, info, .. }) if info.iterations > 0 => Ok((*best, *info)),
        Err(InvertError::Lattice(error)) => Err(error.into()),
        Err(error) => Err(Failure::new(Status::Failed, error)),
    }
}

/// ‖b − Mx‖ / ‖b‖ of what a solve reached, by the host.
fn check(
    method: &Method,
    wilson: &Wilson<f64>,
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
        difference += crate::host::Spinor::from_fn(|s, c| b.0[s][c] - image.0[s][c]).norm2();
        norm += b.norm2();
    }
    let residual = (difference / norm).sqrt();
    if residual < 1.0 {
        return Ok(residual);
    }
    let error =
        anyhow::anyhow!("{}: the residual is {residual:.3e} after all iterations: not timed", method.name);
    Err(Failure::new(Status::Failed, error))
}
