//! `cr-solve xc`: exchange-correlation energy, matrix and gradient of a density.

pub mod outcome;

use lattice_cl::compute::{DeviceKind, Profiling, Team};
use lattice_cl::io::NumberArray;
use lattice_cli::choices::word;
use lattice_cli::common::Common;
use lattice_cli::destinations::{Destinations, NPY, Overwriting};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::finite::expect_finite;
use lattice_cli::molecule::{Input, Points};
use lattice_cli::report::{Report, rounded};
use lattice_cli::team::device_names;
use lattice_xc::{Functional, Numbers, Options, Plan, Xc};
use num_complex::Complex64;
use outcome::{
    CacheSummary, GflopSummary, GridSummary, GroupsSummary, Iteration, MatrixSummary, MoleculeSummary,
    Verification, XcResult, largest, trace,
};
use std::path::PathBuf;

/// Part of the expected electrons whose lack or excess gets a warning.
const ELECTRONS: f64 = 1e-4;

/// The same part for the orbitals of a file, whose electrons are known: the result is of no use.
const ELECTRONS_OF_ORBITALS: f64 = 1e-2;

/// The command line of `xc`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A Molden file, or an .npz with the arrays of a basis
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// svwn5, spw92 or pbe
    #[arg(long, value_name = "NAME", default_value_t = Functional::Pbe)]
    functional: Functional,
    /// The density matrix, an .npy with n×n or, of both spins, 2×n×n numbers [default: that of FILE]
    #[arg(long, value_name = "FILE.npy", conflicts_with = "density_block")]
    density: Option<PathBuf>,
    /// A matrix that each atom has as its block of the density matrix; all else is zero
    #[arg(long, value_name = "FILE.npy")]
    density_block: Option<PathBuf>,
    /// Points for each atom, as 75x302 [default: those of FILE, else 75x302]
    #[arg(long, value_name = "RADIALxANGULAR", value_parser = Points::parse, conflicts_with = "points")]
    grid: Option<Points>,
    /// The grid, an .npz with `coords` in bohr and `weights`
    #[arg(long, value_name = "FILE.npz")]
    points: Option<PathBuf>,
    /// The file for the matrix, .npy; of both spins if the density is
    #[arg(long, value_name = "FILE.npy")]
    matrix: Option<PathBuf>,
    /// The file for the gradient, .npy
    #[arg(long, value_name = "FILE.npy")]
    gradient: Option<PathBuf>,
    /// The numbers of functions and products on devices [default: mixed on GPUs, else double]
    #[arg(long, value_parser = word::<Numbers>())]
    precision: Option<Numbers>,
    /// Side of a cube of points in bohr [default: 3 on processors, 7 on other devices]
    #[arg(long, value_name = "BOHR")]
    cube: Option<f64>,
    /// A shell is left out of a group of points where |R(d)| dˡ is nowhere larger
    #[arg(long, value_name = "SIZE", default_value_t = 1e-10)]
    screen: f64,
    /// Memory on each device for functions, as 4G or 500M [default: half of what is free]
    #[arg(long, value_name = "BYTES", value_parser = lattice_cli::memory::bytes)]
    memory: Option<u64>,
    /// Evaluate so often, as a self-consistent calculation does
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    iterations: u32,
    /// Compare with the arrays vxc_NAME, grad_NAME and exc_NAME of an .npz, for every functional it has
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    overwriting: Overwriting,
}

/// Evaluates the functional of a density, and writes what is asked for.
///
/// # Errors
/// * If a file cannot be read, or its arrays do not fit each other.
/// * If an option makes no sense.
/// * If an output cannot be written, or a device fails.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let Arguments { input, density, density_block, points, .. } = arguments;
    Destinations::reading(
        [Some(input), density.as_ref(), density_block.as_ref(), points.as_ref()].into_iter().flatten(),
    )
    .writing("--matrix", NPY, &arguments.matrix)
    .writing("--gradient", NPY, &arguments.gradient)
    .check(arguments.overwriting)?;
    let mut input = Input::read(&arguments.input)?;
    input.notes.iter().for_each(|note| report.note(format_args!("in {}, {note}", input.path.display())));
    let density = input.density(arguments.density.as_deref(), arguments.density_block.as_deref())?;
    input.expect_spins(&density)?;
    let without_double = arguments.precision == Some(Numbers::Single);
    let device_options = common.device_options(Profiling::Off).with_without_double(without_double);
    let team = common.team_with(device_options, report)?;
    match team.absence() {
        Some(absence) => report.note(format_args!("running on the host: {absence}")),
        None => report.note(format_args!("running on {}", device_names(&team).join(", "))),
    }
    let (grid, source) = input.grid(&team, arguments.grid, arguments.points.as_deref())?;
    let options = arguments.options(&team);
    let mut warnings = Vec::from_iter(input.unread());
    if team.is_host() && options.numbers != Numbers::Double {
        warnings.push("the host computes in double, whatever --precision says".to_owned());
    }
    let began = report.stopwatch();
    let mut plan = Plan::new(&team, &input.basis, &grid, options)?;
    let setup = began.seconds();
    let mut iterations = Vec::new();
    let mut evaluate = |plan: &mut Plan| -> Result<Xc, Failure> {
        let began = report.stopwatch();
        let found = plan.evaluate(&density, arguments.functional)?;
        iterations.push(Iteration::new(began.seconds(), &found, plan));
        Ok(found)
    };
    let mut found = evaluate(&mut plan)?;
    for _ in 1..arguments.iterations {
        found = evaluate(&mut plan)?;
    }
    if let Some(label) = plan.left_out() {
        warnings.push(format!("{label} is left out: the others are as fast without it"));
    }
    let electrons: f64 = found.electrons.iter().sum();
    let numbers = found.matrices.iter().flatten().copied().chain([found.energy, electrons]);
    expect_finite("the matrix with energy and electrons", numbers.map(Complex64::from))?;
    let lack = (electrons - input.electrons).abs() / input.electrons;
    let is_of_orbitals = density_is_own(arguments) && input.has_orbitals();
    let is_useless = is_of_orbitals && lack > ELECTRONS_OF_ORBITALS;
    if lack > ELECTRONS {
        let reason = match is_of_orbitals {
            true => "the grid is too coarse, or not of this molecule",
            false => "the grid is too coarse, or the density is not of this basis",
        };
        warnings.push(format!(
            "{electrons:.6} electrons on the grid, {} expected: {reason}",
            rounded(input.electrons, 12)
        ));
    }
    let gradient = match (&arguments.gradient, arguments.verify) {
        (None, false) => None,
        _ => Some(plan.gradient(&density, arguments.functional)?),
    };
    let numbers = gradient.iter().flat_map(|gradient| gradient.as_flattened());
    expect_finite("the gradient", numbers.map(|&number| number.into()))?;
    let verification =
        if arguments.verify { verified(&mut input, &mut plan, &density, options)? } else { Vec::new() };
    let passed = verification.iter().all(|verification| verification.passed);
    let n = input.basis.functions();
    if let Some(path) = &arguments.matrix {
        let shape = if found.matrices.len() == 1 { vec![n, n] } else { vec![2, n, n] };
        NumberArray { shape, values: found.matrices.concat() }.write_npy(path)?;
    }
    if let (Some(path), Some(gradient)) = (&arguments.gradient, &gradient) {
        NumberArray { shape: vec![gradient.len(), 3], values: gradient.as_flattened().to_vec() }
            .write_npy(path)?;
    }
    warnings.iter().for_each(|warning| report.warning(warning));
    let info = plan.info();
    let squares: f64 = found.matrices.iter().flatten().map(|x| x * x).sum();
    let outcome = XcResult {
        schema_version: 1,
        device: device_names(&team),
        functional: arguments.functional.name(),
        precision: (if team.is_host() { Numbers::Double } else { options.numbers }).name(),
        molecule: MoleculeSummary::new(&input),
        grid: GridSummary::new(info, source),
        groups: GroupsSummary::new(info),
        electrons: if found.matrices.len() == 1 { vec![electrons] } else { found.electrons.to_vec() },
        energy: found.energy,
        trace_dv: trace(&density, &found),
        gradient_sum: gradient
            .as_ref()
            .map(|all| std::array::from_fn(|k| all.iter().map(|row| row[k]).sum())),
        gradient,
        matrix: MatrixSummary { file: arguments.matrix.clone(), frobenius: squares.sqrt() },
        gflop: GflopSummary::new(info),
        cache: CacheSummary::new(info),
        compile_seconds: report.compile_seconds(),
        setup_seconds: setup,
        iterations,
        verification,
        warnings,
    };
    report.result(outcome.table(), &outcome)?;
    Ok(if passed && !is_useless { Status::Fine } else { Status::Failed })
}

/// Tells whether no option names a density.
fn density_is_own(arguments: &Arguments) -> bool {
    arguments.density.is_none() && arguments.density_block.is_none()
}

impl Arguments {
    fn options(&self, team: &Team) -> Options {
        let on_gpus = team.devices().iter().all(|device| device.info().kind == DeviceKind::Gpu);
        let numbers = match self.precision {
            Some(numbers) => numbers,
            None if on_gpus && !team.is_host() => Numbers::Mixed,
            None => Numbers::Double,
        };
        Options::default()
            .with_numbers(numbers)
            .with_cube(self.cube)
            .with_screen(self.screen)
            .with_memory(self.memory)
    }
}

/// Compares with what the file has of each functional.
fn verified(
    input: &mut Input,
    plan: &mut Plan,
    density: &lattice_xc::Density,
    options: Options,
) -> Result<Vec<Verification>, Failure> {
    let is_double = options.numbers == Numbers::Double;
    let (of_energy, of_matrix, of_gradient) =
        if is_double { (1e-10, 1e-10, 1e-9) } else { (5e-6, 3e-6, 1e-5) };
    let mut all = Vec::new();
    for functional in Functional::ALL {
        let [matrix, gradient, energy] = ["vxc", "grad", "exc"].map(|what| format!("{what}_{functional}"));
        let compare = |input: &mut Input, name: &str, found: &[f64], tolerance: f64| {
            let wanted = input.array(name)?;
            let difference = largest(name, &input.path, found, &wanted)?;
            Ok::<_, Failure>(Verification {
                array: name.to_owned(),
                difference,
                tolerance,
                passed: difference <= tolerance,
            })
        };
        if !(input.has(&matrix) || input.has(&energy) || input.has(&gradient)) {
            continue;
        }
        let found = plan.evaluate(density, functional)?;
        for (name, found, tolerance) in
            [(&matrix, found.matrices.concat(), of_matrix), (&energy, vec![found.energy], of_energy)]
        {
            if input.has(name) {
                all.push(compare(input, name, &found, tolerance)?);
            }
        }
        if input.has(&gradient) {
            let found = plan.gradient(density, functional)?;
            all.push(compare(input, &gradient, found.as_flattened(), of_gradient)?);
        }
    }
    if all.is_empty() {
        let message = format!("{} has no array vxc_NAME, grad_NAME or exc_NAME", input.path.display());
        return Err(Failure::usage(message).hint("leave out --verify"));
    }
    Ok(all)
}
