//! `cr-solve bench poisson`: potentials of densities, compared with the bandwidth of memory.

use super::fft::Extents;
use super::outcome::{Benchmark, Subject};
use super::session::{How, Session, wrong};
use lattice_cl::compute::{Buffer, Device, DeviceKind, PinnedBuffer, Team};
use lattice_cl::scalar::{Precision, Real};
use lattice_cli::failure::Failure;
use lattice_cli::memory::Need;
use lattice_cli::precisions;
use lattice_poisson::{Boundary, Cell, Options, Plan, PoissonError, Solution};
use lattice_solvers::range::larger;
use std::time::{Duration, Instant};

/// Transfers of which the median is taken.
const TRANSFERS: usize = 7;

/// The command line of `bench poisson`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Meshes: 128 for 128x128x128, or three extents [default: 64,128,256, on GPUs 251 too; with --quick 24x20x18]
    #[arg(long, value_name = "N[xNxN],…", value_delimiter = ',')]
    sizes: Vec<Extents>,
    /// Precisions: s, d, or single, double
    #[arg(long, value_name = "PRECISION,…", value_delimiter = ',', default_value = "s,d")]
    #[arg(value_parser = precisions::of_reals())]
    precision: Vec<String>,
    /// Isolated densities instead of periodic ones
    #[arg(long)]
    isolated: bool,
    #[command(flatten)]
    pub how: How,
}

/// Checks and times potentials of densities in the memory of the host, on each device.
///
/// The time by the device's clock is that of the kernels alone, the time by the wall clock that of the
/// whole solution. A row says how long the transfers alone take.
///
/// # Errors
/// When a device fails, or computes something wrong.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    for (number, device) in session.opencl_devices("poisson")?.iter().enumerate() {
        for shape in arguments.shapes(device.info().kind)? {
            for precision in &arguments.precision {
                let precisions: &[Precision] = match precision.as_str() {
                    "single" => &[Precision::Single],
                    "double" => &[Precision::Double],
                    _ => &[Precision::Single, Precision::Double],
                };
                for &precision in precisions {
                    if session.interrupted() {
                        return Ok(());
                    }
                    arguments.measure(number, device, shape, precision, session)?;
                }
            }
        }
    }
    Ok(())
}

impl Arguments {
    fn shapes(&self, kind: DeviceKind) -> Result<Vec<[usize; 3]>, Failure> {
        if self.sizes.is_empty() {
            let sizes = match kind {
                _ if self.how.quick => return Ok(vec![[24, 20, 18]]),
                DeviceKind::Gpu => &[64, 128, 251, 256][..],
                _ => &[64, 128],
            };
            return Ok(sizes.iter().map(|&n| [n; 3]).collect());
        }
        let shape = |Extents(extents): &Extents| match extents[..] {
            [n] => Ok([n; 3]),
            [n1, n2, n3] => Ok([n1, n2, n3]),
            _ => Err(Failure::usage("meshes have three extents, or one for all three".to_owned())),
        };
        self.sizes.iter().map(shape).collect()
    }

    fn measure(
        &self,
        number: usize,
        device: &Device,
        shape: [usize; 3],
        precision: Precision,
        session: &mut Session<'_>,
    ) -> Result<(), Failure> {
        let points = shape.iter().fold(1, |all: usize, &n| all.saturating_mul(n));
        let padded = if self.isolated { 8 } else { 1 };
        let bytes = points as u128 * precision.bytes() as u128;
        let need = Need { on_host: 40 * padded * points as u128, on_device: (2 + 4 * padded) * bytes };
        need.expect_room(format_args!("a mesh of {points} points"), Some(device))?;
        let boundary = if self.isolated { Boundary::Isolated } else { Boundary::Periodic };
        let options = Options::default().with_boundary(boundary).with_precision(precision);
        let cell =
            Cell::new([[9.0, 0.0, 0.0], [0.0, 8.0, 0.0], [0.0, 0.0, 10.0]]).map_err(PoissonError::from)?;
        let density: Vec<f64> = (0..points).map(|i| (i * 7919 % 1013) as f64 / 1013.0 - 0.5).collect();
        let mut plan = Plan::new(&Team::of([device.clone()]), cell, shape, options)?;
        let mut solution = plan.solve(&density)?;
        // The twin is slow: large meshes are compared by their energy in two precisions elsewhere.
        if points <= 1 << 21 {
            let expected = Plan::new(&Team::host(), cell, shape, options)?.solve(&density)?;
            check(device, precision, &solution, &expected)?;
        }
        let transfers = match precision {
            Precision::Single => transfers::<f32>(device, points)?,
            Precision::Double => transfers::<f64>(device, points)?,
        };
        let subject = Subject::new(Benchmark::Poisson, if self.isolated { "isolated" } else { "periodic" })
            .on(number)
            .with("precision", if precision == Precision::Single { "s" } else { "d" })
            .with("extents", shape.map(|n| n.to_string()).join("x"))
            .bytes(plan.bytes_moved().unwrap_or(0))
            .found("transfers_seconds", transfers.as_secs_f64());
        session.time_by(subject, |_| {
            let began = Instant::now();
            plan.solve_into(&density, &mut solution)?;
            Ok((began.elapsed(), Some(solution.times.compute)))
        })
    }
}

/// Compares potential and energy with those of the host.
fn check(
    device: &Device,
    precision: Precision,
    found: &Solution,
    expected: &Solution,
) -> Result<(), Failure> {
    let allowed = if precision == Precision::Single { 1e-5 } else { 1e-11 };
    let largest = expected.potential.iter().fold(0.0, |largest: f64, v| largest.max(v.abs()));
    let pairs = found.potential.iter().zip(&expected.potential);
    let apart = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, larger) / largest;
    let energy = (found.energy / expected.energy - 1.0).abs();
    if apart <= allowed && energy <= allowed {
        return Ok(());
    }
    let found = format!("a potential {apart:e} and an energy {energy:e} apart");
    Err(wrong(format_args!("{}: poisson", device.label()), "the twin's", found))
}

/// Returns the time of the transfers of density and potential alone, to and from pinned memory.
fn transfers<T: Real>(device: &Device, points: usize) -> Result<Duration, Failure> {
    let mut pinned = PinnedBuffer::<T>::kept(device, points)?;
    let mut buffer = Buffer::<T>::zeroed(device, points)?;
    let mut times = Vec::new();
    for _ in 0..TRANSFERS {
        let began = Instant::now();
        pinned = pinned.write_to(&mut buffer, &[])?.wait()?;
        pinned = pinned.read_from(&buffer, &[])?.wait()?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok(times[TRANSFERS / 2])
}
