//! `cr-solve bench xc`: the stages of an exchange-correlation energy, next to products and memory.

use super::gemm::number;
use super::outcome::{Benchmark, Subject};
use super::session::{How, Session, wrong};
use lattice_cl::compute::{Buffer, Device, DeviceKind, Team};
use lattice_cl::linalg::{self, MatMut, MatRef, MatrixLayout, Op};
use lattice_cl::scalar::{Element, Real};
use lattice_cli::choices::word;
use lattice_cli::failure::Failure;
use lattice_cli::molecule::{Input, Points};
use lattice_xc::{Density, Functional, Grid, Numbers, Options, Plan, Stage, StageTime};
use std::path::PathBuf;
use std::time::Instant;

/// The command line of `bench xc`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A Molden file, or an .npz with the arrays of a basis and a density
    #[arg(value_name = "FILE")]
    pub input: PathBuf,
    /// svwn5, spw92 or pbe
    #[arg(long, value_name = "NAME", default_value_t = Functional::Pbe)]
    functional: Functional,
    /// Points for each atom, as 75x302 [default: those of FILE, else 75x302]
    #[arg(long, value_name = "RADIALxANGULAR", value_parser = Points::parse)]
    grid: Option<Points>,
    /// Sides of cubes of points in bohr [default: 3 on processors, 7 on other devices]
    #[arg(long, value_name = "BOHR,…", value_delimiter = ',')]
    cube: Vec<f64>,
    /// The numbers on devices [default: double, on GPUs mixed too]
    #[arg(long, value_name = "PRECISION,…", value_parser = word::<Numbers>(), value_delimiter = ',')]
    precision: Vec<Numbers>,
    /// Memory on each device for functions, as 4G or 500M [default: half of what is free]
    #[arg(long, value_name = "BYTES", value_parser = lattice_cli::memory::bytes)]
    memory: Option<u64>,
    #[command(flatten)]
    pub how: How,
}

/// Points of the thinned grid on which devices are compared with the host.
const CHECKED: usize = 400;

/// Rows and columns of the product whose rate is the ceiling of all products.
const PRODUCT: usize = 1024;

/// Products of which the rate is measured.
const PRODUCTS: u32 = 10;

/// Evaluations in which a team comes into balance.
const BALANCING: usize = 3;

/// A molecule that is measured.
struct Molecule {
    name: String,
    input: Input,
    density: Density,
    grid: Grid,
    functional: Functional,
}

/// Checks and times evaluations and their stages on each device, and whole evaluations on all together.
///
/// # Errors
/// When a file cannot be read, a device fails, or it computes something wrong.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    let mut input = Input::read(&arguments.input)?;
    let density = input.density(None, None)?;
    let (grid, _) = input.grid(&Team::host(), arguments.grid, None)?;
    let name = arguments.input.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let molecule = Molecule { name, input, density, grid, functional: arguments.functional };
    for (number, team) in session.teams("xc", false)? {
        let is_gpu = team.devices().iter().any(|device| device.info().kind == DeviceKind::Gpu);
        let precisions = match &arguments.precision[..] {
            [] if is_gpu => vec![Numbers::Double, Numbers::Mixed],
            [] => vec![Numbers::Double],
            given => given.to_vec(),
        };
        for numbers in precisions {
            let ceiling = match number {
                Some(_) => {
                    let device = &team.devices()[0];
                    Some(if numbers == Numbers::Double { rate::<f64>(device)? } else { rate::<f32>(device)? })
                }
                None => None,
            };
            let cubes = match &arguments.cube[..] {
                [] => vec![None],
                given => given.iter().map(|&cube| Some(cube)).collect(),
            };
            for cube in cubes {
                if session.interrupted() {
                    return Ok(());
                }
                let options =
                    Options::default().with_numbers(numbers).with_cube(cube).with_memory(arguments.memory);
                molecule.measure(&team, number, options, ceiling, session)?;
            }
        }
    }
    Ok(())
}

impl Molecule {
    fn measure(
        &self,
        team: &Team,
        number: Option<usize>,
        options: Options,
        ceiling: Option<f64>,
        session: &mut Session<'_>,
    ) -> Result<(), Failure> {
        self.check(team, options)?;
        let began = Instant::now();
        let mut plan = Plan::new(team, &self.input.basis, &self.grid, options)?;
        let setup = began.elapsed().as_secs_f64();
        let subject = |kernel: String| {
            let subject = Subject::new(Benchmark::Xc, kernel)
                .by_the_wall()
                .unlimited()
                .with("molecule", self.name.clone())
                .with("functional", self.functional.name())
                .with("points", self.grid.points().len())
                .with("precision", options.numbers.name());
            let subject = match options.cube {
                Some(cube) => subject.with("cube", cube),
                None => subject,
            };
            match number {
                Some(number) => subject.on(number),
                None => subject,
            }
        };
        let began = Instant::now();
        let mut found = plan.evaluate(&self.density, self.functional)?;
        let first = began.elapsed().as_secs_f64();
        if team.len() > 1 {
            for _ in 0..BALANCING {
                found = plan.evaluate(&self.density, self.functional)?;
            }
        }
        let samples = session.samples(|_| {
            let began = Instant::now();
            found = plan.evaluate(&self.density, self.functional)?;
            Ok((began.elapsed(), None))
        })?;
        let info = plan.info();
        let spins = self.density.spins().len() as f64;
        let mut whole = subject("evaluation".to_owned())
            .flops((spins * info.gflop * 1e9) as u64)
            .found("groups", info.groups)
            .found("groups_kept", info.kept_groups)
            .found("kept_bytes", info.kept_bytes)
            .found("setup_seconds", setup)
            .found("first_seconds", first)
            .found("imbalance", found.imbalance());
        for share in &found.shares {
            whole = whole.found(&format!("seconds of {}", share.label), share.seconds);
        }
        if let Some(ceiling) = ceiling {
            whole = whole.limited_by_arithmetic(ceiling);
        }
        session.push(whole, samples);
        let (Some(number), Some(ceiling)) = (number, ceiling) else { return Ok(()) };
        let mut all: Vec<Vec<StageTime>> = Vec::new();
        let mut samples = session.samples(|_| {
            let began = Instant::now();
            all.extend(plan.stages(&self.density, self.functional)?.into_iter().next());
            Ok((began.elapsed(), None))
        })?;
        // The calls before the samples were a warm-up.
        let measured = all.split_off(all.len().saturating_sub(samples.wall.len()));
        let memory = session.memory(number);
        for stage in Stage::ALL {
            let times = || measured.iter().flatten().filter(|time| time.stage == stage);
            let Some(first) = times().next() else { continue };
            samples.wall = times().map(|time| time.seconds).collect();
            let subject = subject(stage.to_string()).flops(first.flops).bytes(first.bytes);
            let subject = match stage {
                Stage::Functional => subject,
                _ => subject.limited_by_the_slower(ceiling, memory),
            };
            session.push(subject, samples.clone());
        }
        Ok(())
    }

    /// Compares with the host on a few of the points.
    fn check(&self, team: &Team, options: Options) -> Result<(), Failure> {
        let stride = self.grid.points().len().div_ceil(CHECKED);
        let points = self.grid.points().iter().step_by(stride).copied().collect();
        let weights = self.grid.weights().iter().step_by(stride).map(|weight| weight.abs()).collect();
        let grid = Grid::new(points, weights)?;
        let energy = |team: &Team| -> Result<f64, Failure> {
            let mut plan = Plan::new(team, &self.input.basis, &grid, options)?;
            Ok(plan.evaluate(&self.density, self.functional)?.energy)
        };
        let (found, wanted) = (energy(team)?, energy(&Team::host())?);
        let allowed = if options.numbers == Numbers::Double { 1e-10 } else { 1e-5 };
        if (found / wanted - 1.0).abs() > allowed || !found.is_finite() {
            let what = format!("{}: the energy of {} points", team.labels().join(", "), grid.points().len());
            return Err(wrong(what, wanted, found));
        }
        Ok(())
    }
}

/// Returns the rate of a product of square matrices, in 10⁹ operations per second.
fn rate<T: Real + Element>(device: &Device) -> Result<f64, Failure> {
    let n = PRODUCT;
    let values: Vec<T> = (0..n * n).map(|i| number::<T>(1, i)).collect();
    let (a, mut c) = (Buffer::from_slice(device, &values)?, Buffer::<T>::zeroed(device, n * n)?);
    let layout = MatrixLayout::column_major(n, n);
    let mut product = || -> Result<(), Failure> {
        let view = MatRef::new(&a, layout)?;
        linalg::gemm(Op::N, Op::N, 1, view, view, 0, MatMut::new(&mut c, layout)?)?;
        Ok(())
    };
    product()?;
    device.finish()?;
    let began = Instant::now();
    for _ in 0..PRODUCTS {
        product()?;
    }
    device.finish()?;
    let seconds = began.elapsed().as_secs_f64() / f64::from(PRODUCTS);
    Ok(2.0 * (n as f64).powi(3) / seconds / 1e9)
}
