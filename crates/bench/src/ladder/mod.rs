//! `cr-solve bench ladder`: the steps that made the Wilson operator fast on GPUs.
//!
//! The ladder repeats an earlier study of a port to GPUs, on the devices of today. Each rung of
//! `cl/ladder/` adds one idea to the rung before. All rungs and the operator of this library are
//! checked against the host. They are timed alone, and in iterations of Conjugate Residual. Their
//! gain is counted over one thread of the host.

mod fields;
mod operator;
mod rungs;

pub use fields::{Fields, components};
pub use rungs::{BuiltRung, RUNGS, Rung};

use super::outcome::{Benchmark, Samples, Subject};
use super::session::{How, Session};
use fields::least_bytes;
use lattice_cl::compute::{Buffer, Device, DeviceKind, Team};
use lattice_cl::field::SpinorField;
use lattice_cl::geometry::{Boundary, Dims, Lattice};
use lattice_cl::host::{GaugeConfiguration, LinkField, Spinor, StencilFactors, random, stencil};
use lattice_cl::operator::{Dirac, Kappa};
use lattice_cl::scalar::Precision;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::memory::Need;
use lattice_solvers::{
    CrOptions, LinearOperator, Recurrence, SolverError, SolverInfo, Stopping, VectorOf, Work,
    conjugate_residual,
};
use operator::{LadderOperator, LadderSpace};
use std::time::Instant;

/// The command line of `bench ladder`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Extents in x, y, z, t; by default 16x16x16x32 on GPUs and 8x8x8x16 on processors
    #[arg(long, value_name = "EXTENTS")]
    dims: Option<Dims>,
    /// Iterations of Conjugate Residual
    #[arg(long, value_name = "N", default_value_t = 143, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
    /// How it is measured, and where results go.
    #[command(flatten)]
    pub how: How,
}

/// Links close to 1, and a mass at which 143 iterations are not too many.
const ROUGHNESS: f64 = 0.3;
const KAPPA: f64 = 0.13;

/// M as factors of the host's stencil.
const FACTORS: StencilFactors = StencilFactors::new(1.0, -KAPPA);

/// Flops of M at one site: 1320 of the hop, 48 of the rest.
const FLOPS_PER_SITE: u64 = 1368;

/// Largest deviation of a result from the host's, relative to its norm.
const LARGEST_DEVIATION: f64 = 1e-13;

/// Largest relative deviation of the final residual from the host's.
///
/// Checked as long as the residual is above [`MEANINGFUL_RESIDUAL`].
const LARGEST_RESIDUAL_DEVIATION: f64 = 1e-3;

/// A residual below this is as much rounding as iteration.
const MEANINGFUL_RESIDUAL: f64 = 1e-9;

/// Most runs of all iterations.
const MOST_SOLVES: usize = 3;

/// Climbs the ladder on each device.
///
/// # Errors
/// When a device fails, or a rung computes something wrong.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    let devices = session.opencl_devices("ladder")?;
    let mut climbs: Vec<Climb<'_>> = Vec::new();
    for (number, device) in devices.iter().enumerate() {
        let dims = arguments.dims.map_or_else(|| default_dims(device), Ok)?;
        // Three layouts of the links, and the vectors of the method.
        let need = Need::of_stencil(dims, 6);
        need.expect_room(format_args!("links and spinors of a lattice of {dims}"), Some(device))?;
        session.arithmetic(number, Precision::Double)?;
        let place = match climbs.iter().position(|climb| climb.configuration.dims() == dims) {
            Some(place) => place,
            None => {
                let Some(climb) = Climb::new(arguments, dims, session)? else { return Ok(()) };
                climbs.push(climb);
                climbs.len() - 1
            }
        };
        climbs[place].on_device(number, device, session)?;
    }
    Ok(())
}

fn default_dims(device: &Device) -> Result<Dims, Failure> {
    let extents = if device.info().kind == DeviceKind::Cpu { [8, 8, 8, 16] } else { [16, 16, 16, 32] };
    Dims::new(extents).map_err(|error| Failure::usage(error.to_string()))
}

/// The host's results on one lattice, with which all rungs are compared.
struct Climb<'a> {
    arguments: &'a Arguments,
    configuration: GaugeConfiguration,
    links: LinkField<f64>,
    psi: Vec<Spinor<f64>>,
    /// M ψ, computed by the twin.
    image: Vec<Spinor<f64>>,
    sequential: Sequential,
}

/// Results of one thread of the host.
struct Sequential {
    stencil_seconds: f64,
    solve_seconds: f64,
    residual: f64,
}

impl<'a> Climb<'a> {
    /// Measures the host; `None` after Ctrl-C.
    fn new(arguments: &'a Arguments, dims: Dims, session: &mut Session<'_>) -> Result<Option<Self>, Failure> {
        session.report.note(format_args!("{dims} on one thread of the host"));
        let configuration = random::weak(dims, ROUGHNESS, 1);
        let links = LinkField::new(&configuration, Boundary::antiperiodic_t());
        let psi = random::spinor_field(dims, 2);
        let mut image = vec![Spinor::default(); dims.volume()];
        stencil(&links, FACTORS, &psi, &mut image);
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|error| {
            Failure::new(Status::Failed, anyhow::Error::new(error).context("no thread of its own"))
        })?;
        let sequential = one.install(|| sequential(arguments, &configuration, &psi, session))?;
        Ok(sequential.map(|sequential| Self { arguments, configuration, links, psi, image, sequential }))
    }

    fn on_device(&self, number: usize, device: &Device, session: &mut Session<'_>) -> Result<(), Failure> {
        let fields = Fields::new(device, &self.links)?;
        for rung in &RUNGS {
            if session.interrupted() {
                return Ok(());
            }
            session.report.note(format_args!("{}: {}, {}", device.label(), rung.number, rung.idea));
            self.rung(number, device, &fields, rung, session)?;
        }
        self.ours(number, device, session)
    }

    fn rung(
        &self,
        number: usize,
        device: &Device,
        fields: &Fields,
        rung: &'static Rung,
        session: &mut Session<'_>,
    ) -> Result<(), Failure> {
        let dims = self.configuration.dims();
        let built = BuiltRung::new(device, rung, fields)?;
        let psi = Buffer::from_slice(device, &components(&self.psi))?;
        let mut out = Buffer::zeroed(device, psi.len())?;
        out.fill(f64::NAN.into())?;
        built.apply(fields, KAPPA, &psi, &mut out)?;
        let found = out.to_vec()?;
        let found: Vec<Spinor<f64>> =
            found.chunks(12).map(|site| Spinor::from_fn(|s, c| site[3 * s + c])).collect();
        let deviation = self.check(rung.number, &found)?;
        let subject = Subjects { number, dims, rung: rung.number, idea: rung.idea, bytes: least_bytes(dims) };
        let samples = session.samples(|_| {
            let begin = Instant::now();
            let events = built.apply(fields, KAPPA, &psi, &mut out)?;
            let mut total = Some(std::time::Duration::ZERO);
            for event in &events {
                total = total.zip(event.duration()?).map(|(sum, time)| sum + time);
            }
            Ok((begin.elapsed(), total))
        })?;
        session.push(subject.stencil(&samples, &self.sequential).found("deviation", deviation), samples);
        let space = LadderSpace { device: device.clone(), len: psi.len() };
        let work = Work { flops: FLOPS_PER_SITE * dims.volume() as u64, bytes: least_bytes(dims) };
        let operator = LadderOperator { space, rung: &built, fields, kappa: KAPPA, work };
        self.solve(&operator, &psi, subject, session)
    }

    /// Measures the operator of this library.
    fn ours(&self, number: usize, device: &Device, session: &mut Session<'_>) -> Result<(), Failure> {
        let dims = self.configuration.dims();
        let lattice = Lattice::new(&Team::from(device.clone()), dims)?;
        let links = lattice.gauge::<f64>(&self.configuration, Boundary::antiperiodic_t())?;
        let operator = Dirac::wilson(&links, Kappa(KAPPA))?;
        let psi: SpinorField<f64> = lattice.spinors_from_host(1, &self.psi)?;
        let mut out = lattice.spinors(1)?;
        operator.apply(&psi, &mut out)?;
        let deviation = self.check("this library", &out.to_host()?)?;
        let bytes = LinearOperator::work(&operator).bytes;
        let subject =
            Subjects { number, dims, rung: "this library", idea: "fields as the device likes them", bytes };
        let samples = session.samples(|_| {
            let begin = Instant::now();
            let mut taken = Ok(None);
            operator.apply_observed(&psi, &mut out, |event| taken = event.duration())?;
            Ok((begin.elapsed(), taken?))
        })?;
        session.push(subject.stencil(&samples, &self.sequential).found("deviation", deviation), samples);
        self.solve(&operator, &psi, subject, session)
    }

    /// Returns the deviation of a result from the twin's.
    fn check(&self, rung: &str, found: &[Spinor<f64>]) -> Result<f64, Failure> {
        let difference: f64 = found
            .iter()
            .zip(&self.image)
            .map(|(a, b)| Spinor::from_fn(|spin, colour| a.0[spin][colour] - b.0[spin][colour]).norm2())
            .sum();
        let norm: f64 = self.image.iter().map(Spinor::norm2).sum();
        let deviation = (difference / norm).sqrt();
        if deviation > LARGEST_DEVIATION || deviation.is_nan() {
            let error = anyhow::anyhow!(
                "{rung} deviates by {deviation:.1e} from the host (at most {LARGEST_DEVIATION:.0e} allowed): not timed"
            );
            return Err(Failure::new(Status::Failed, error));
        }
        Ok(deviation)
    }

    fn solve<A: LinearOperator>(
        &self,
        operator: &A,
        b: &VectorOf<A>,
        subject: Subjects,
        session: &mut Session<'_>,
    ) -> Result<(), Failure>
    where
        Failure: From<lattice_solvers::ErrorOf<A>>,
    {
        // Warms up.
        iterate(operator, b, 2)?;
        let longest = session.how.seconds.map_or(1.0, |seconds| seconds.as_secs_f64());
        let (mut samples, mut last, start) = (Samples::default(), None, Instant::now());
        while samples.wall.is_empty()
            || samples.wall.len() < MOST_SOLVES && start.elapsed().as_secs_f64() < longest
        {
            if session.interrupted() {
                return Ok(());
            }
            let begin = Instant::now();
            let info = iterate(operator, b, self.arguments.iterations)?;
            samples.wall.push(begin.elapsed().as_secs_f64());
            last = Some(info);
        }
        let Some(info) = last else { return Ok(()) };
        let (found, expected) = (info.residual.iterated, self.sequential.residual);
        let right = (found / expected - 1.0).abs() < LARGEST_RESIDUAL_DEVIATION;
        if !right && expected > MEANINGFUL_RESIDUAL {
            let what = format!("the residual of {}", subject.rung);
            return Err(super::session::wrong(what, expected, found));
        }
        let subject = subject.solve(&samples, &info, self.arguments.iterations, Some(&self.sequential));
        session.push(subject, samples);
        Ok(())
    }
}

/// Measures stencil and iterations on one thread; `None` after Ctrl-C.
///
/// The caller's pool has no other thread.
fn sequential(
    arguments: &Arguments,
    configuration: &GaugeConfiguration,
    psi: &[Spinor<f64>],
    session: &mut Session<'_>,
) -> Result<Option<Sequential>, Failure> {
    let dims = configuration.dims();
    let number = session.host();
    let lattice = Lattice::new(&Team::host(), dims)?;
    let links = lattice.gauge::<f64>(configuration, Boundary::antiperiodic_t())?;
    let operator = Dirac::wilson(&links, Kappa(KAPPA))?;
    let psi: SpinorField<f64> = lattice.spinors_from_host(1, psi)?;
    let mut out = lattice.spinors(1)?;
    let bytes = LinearOperator::work(&operator).bytes;
    let subject = Subjects { number, dims, rung: "the host", idea: "sequential: one thread", bytes };
    let samples = session.samples(|_| {
        let begin = Instant::now();
        operator.apply(&psi, &mut out)?;
        Ok((begin.elapsed(), None))
    })?;
    let Some(stencil_seconds) = median(&samples) else { return Ok(None) };
    session.push(subject.stencil_row(), samples);
    let begin = Instant::now();
    let info = iterate(&operator, &psi, arguments.iterations)?;
    let solve_seconds = begin.elapsed().as_secs_f64();
    let samples = Samples { event: Vec::new(), wall: vec![solve_seconds] };
    session.push(subject.solve(&samples, &info, arguments.iterations, None), samples);
    Ok(Some(Sequential { stencil_seconds, solve_seconds, residual: info.residual.iterated }))
}

/// Runs so many iterations of Conjugate Residual on M x = b, converged or not.
///
/// # Errors
/// When an operation fails, or the method ends earlier.
fn iterate<A: LinearOperator>(a: &A, b: &VectorOf<A>, iterations: u32) -> Result<SolverInfo, Failure>
where
    Failure: From<lattice_solvers::ErrorOf<A>>,
{
    let iterations = iterations as usize;
    let stopping = Stopping::default()
        .with_tolerance(f64::MIN_POSITIVE)
        .with_max_iterations(iterations)
        .with_look_every(Some(iterations));
    let params = CrOptions::default().with_stopping(stopping).with_recurrence(Recurrence::General);
    let ended = match conjugate_residual(a, b, None, &params, None) {
        Err(SolverError::NotConverged { info, .. }) if info.iterations == iterations => return Ok(*info),
        Ok((_, info)) => format!("a residual of 0 after {} iterations", info.iterations),
        Err(SolverError::NotConverged { failure, info, .. }) => {
            format!("{failure} after {} iterations", info.iterations)
        }
        Err(SolverError::Operation(error)) => return Err(error.into()),
        Err(
            error @ (SolverError::Parameter { .. } | SolverError::Source(_) | SolverError::ForeignState(_)),
        ) => error.to_string(),
    };
    Err(Failure::new(Status::Failed, anyhow::anyhow!("{iterations} iterations are wanted: {ended}")))
}

fn median(samples: &Samples) -> Option<f64> {
    let by = if samples.event.is_empty() { &samples.wall } else { &samples.event };
    crate::statistics::Spread::of(by).map(|spread| spread.median)
}

/// The subjects of the rows of a rung.
#[derive(Clone, Copy)]
struct Subjects {
    number: usize,
    dims: Dims,
    rung: &'static str,
    idea: &'static str,
    bytes: u64,
}

impl Subjects {
    fn subject(self, part: &str) -> Subject {
        Subject::new(Benchmark::Ladder, self.rung)
            .on(self.number)
            .with("part", part)
            .with("idea", self.idea)
            .with("dims", self.dims.to_string())
    }

    fn stencil_row(self) -> Subject {
        let flops = FLOPS_PER_SITE * self.dims.volume() as u64;
        self.subject("stencil").flops(flops).bytes(self.bytes)
    }

    fn stencil(self, samples: &Samples, host: &Sequential) -> Subject {
        match median(samples) {
            Some(seconds) => self.stencil_row().found("speed_up", host.stencil_seconds / seconds),
            None => self.stencil_row(),
        }
    }

    fn solve(
        self,
        samples: &Samples,
        info: &SolverInfo,
        iterations: u32,
        host: Option<&Sequential>,
    ) -> Subject {
        let subject = self
            .subject("iterations")
            .with("iterations", iterations)
            .flops(info.work.flops)
            .by_the_wall()
            .unlimited()
            .found("residual", info.residual.iterated);
        match median(samples).zip(host) {
            Some((seconds, host)) => subject.found("speed_up", host.solve_seconds / seconds),
            None => subject,
        }
    }
}
