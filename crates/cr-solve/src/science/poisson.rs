//! `cr-solve poisson`: the potential of a charge density.

use lattice_cl::compute::{Profiling, Team};
use lattice_cl::io::{self, CubeHeader, MeshFile};
use lattice_cl::scalar::Precision;
use lattice_cli::choices::{bare_word_of, word};
use lattice_cli::common::Common;
use lattice_cli::destinations::{Destinations, MESH, Overwriting, SVG};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::finite::expect_finite;
use lattice_cli::plot::{self, Slice, drawn};
use lattice_cli::report::{Report, Table, fixed, rounded, scientific};
use lattice_cli::team::{device_names, first_of, host_if_small};
use lattice_poisson::{
    Boundary, Cell, Cutoff, MeshOrder, Options, Plan, PoissonError, Solution, Tensor, Units, reorder,
};
use lattice_solvers::range::{exponent, larger, times_power};
use num_complex::Complex64;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Charge above which a periodic cell gets a warning, in e.
const NEUTRAL: f64 = 1e-6;

/// Most bytes of a file of `--cell`.
const LARGEST_CELL_FILE: u64 = 1 << 16;

/// What stays as it is when the cell is strained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StressChoice {
    Charge,
    Density,
    Both,
}

lattice_files::words! {
    StressChoice, "stress":
    Charge = "charge", "The charge of each mesh cell";
    Density = "density", "The density, as in SIESTA";
    Both = "both"
}

/// The command line of `poisson`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The density in electrons/bohr³: a Gaussian .cube, a NumPy .npy, or an .npz with `rho` and `cell`
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// The file for the potential, .cube or .npy by its name
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The cell in bohr: nine numbers, row after row, or a file that has them
    #[arg(long, value_name = "CELL")]
    cell: Option<String>,
    /// What is around the cell
    #[arg(long, value_parser = word::<Boundary>(), default_value_t)]
    boundary: Boundary,
    /// Which components of a periodic density count
    #[arg(long, value_parser = word::<Cutoff>(), default_value_t)]
    cutoff: Cutoff,
    /// Units of potential, energy and stress
    #[arg(long, value_parser = word::<Units>(), default_value_t)]
    units: Units,
    /// Which stress is printed: what stays as it is when the cell is strained
    #[arg(long, value_parser = word::<StressChoice>(), default_value_t = StressChoice::Both)]
    stress: StressChoice,
    /// Precision of the transforms on devices; the host computes in double
    #[arg(long, value_parser = bare_word_of(&Precision::ALL), default_value_t = Precision::Double)]
    precision: Precision,
    /// Order of arrays: sequential, or clustered:N with N×N×N sub-points together
    #[arg(long, value_name = "ORDER", default_value_t = MeshOrder::Sequential)]
    layout: MeshOrder,
    /// Let a periodic density go through all devices by slabs, within so many megabytes on each [default: half of a device's memory]
    #[arg(long, value_name = "MB", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    out_of_core: Option<u64>,
    /// Compare with this array of the .npz file
    #[arg(long, value_name = "NAME")]
    verify: Option<String>,
    /// Largest difference of --verify, relative to the largest value [default: 1e-10, in single 1e-5]
    #[arg(long, value_name = "DIFFERENCE", requires = "verify")]
    tolerance: Option<f64>,
    /// Plot the potential on the middle plane of the third axis, as SVG
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    overwriting: Overwriting,
}

#[derive(Serialize)]
struct InputSummary {
    path: PathBuf,
    shape: [usize; 3],
    /// Rows are the vectors, in bohr.
    cell: [[f64; 3]; 3],
    layout: String,
}

#[derive(Serialize)]
struct CutoffSummary {
    kind: &'static str,
    g2max: Option<f64>,
}

/// Elements in the order xx yy zz yz xz xy.
#[derive(Serialize)]
struct StressSummary {
    fixed_charge: Tensor,
    fixed_density: Tensor,
}

#[derive(Serialize)]
struct PotentialSummary {
    minimum: f64,
    maximum: f64,
    rms: f64,
}

#[derive(Serialize)]
struct Seconds {
    read: f64,
    /// Compiling kernels, or loading them; the other times do not include it.
    compile: f64,
    setup: f64,
    transfer: f64,
    compute: f64,
    write: f64,
}

#[derive(Serialize)]
struct Verification {
    array: String,
    /// The largest difference relative to the largest value.
    difference: f64,
    tolerance: f64,
    passed: bool,
}

#[derive(Serialize)]
struct PoissonResult {
    schema_version: u32,
    device: Vec<String>,
    input: InputSummary,
    boundary: &'static str,
    cutoff: CutoffSummary,
    precision: &'static str,
    units: &'static str,
    charge: f64,
    energy: f64,
    /// Null for an isolated density.
    stress: Option<StressSummary>,
    /// From the middle of the cell.
    dipole: [f64; 3],
    potential: PotentialSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification: Option<Verification>,
    output: Option<PathBuf>,
    plot: Option<PathBuf>,
    seconds: Seconds,
    /// Bytes that the passes over the device's memory move; null on the host.
    bytes_moved: Option<u64>,
    gb_s: Option<f64>,
    warnings: Vec<String>,
}

/// Reads a density, computes its potential and writes it.
///
/// # Errors
/// * If the input cannot be read, has no cell, or has one without a volume.
/// * If the options do not fit each other or the density.
/// * If the output cannot be written, or a device fails.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    // An array of numbers may be in a file of its own.
    let cell = arguments.cell.as_ref().map(Path::new);
    Destinations::reading([arguments.input.as_path()].into_iter().chain(cell))
        .writing("--output", MESH, &arguments.output)
        .writing("--plot", SVG, &arguments.plot)
        .check(arguments.overwriting)?;
    let began = report.stopwatch();
    let file = MeshFile::read(&arguments.input)?;
    let rows = cell_of(arguments, &file)?;
    let cell = Cell::new(rows).map_err(PoissonError::from)?;
    let expected = match &arguments.verify {
        Some(name) => Some((name, MeshFile::read_beside(&arguments.input, name, file.shape)?)),
        None => None,
    };
    let read = began.seconds();
    if file.cube.is_some() && arguments.layout != MeshOrder::Sequential {
        return Err(Failure::usage("--layout is for arrays: cube files have one order".to_owned()));
    }
    let mut warnings = Vec::new();
    if cell.is_left_handed() {
        warnings
            .push("the cell's vectors are those of a left hand; its volume is taken as positive".to_owned());
    }
    // Kernels are timed on the device: transfers run beside them.
    let small = host_if_small(common, operations(file.shape), report);
    let team = small.map_or_else(|| common.team(Profiling::On, report), Ok)?;
    let team = if arguments.out_of_core.is_some() {
        report.note(format_args!("running on {}", device_names(&team).join(", ")));
        team
    } else {
        first_of(team, report)
    };
    if team.is_host() && arguments.precision == Precision::Single {
        warnings.push("the host computes in double, whatever --precision says".to_owned());
    }
    let began = report.stopwatch();
    let mut plan = Plan::new(
        &team,
        cell,
        file.shape,
        arguments.options().with_out_of_core(arguments.slab_bytes(&team)),
    )?;
    let setup = began.seconds();
    let solution = plan.solve(&file.values)?;
    let numbers = solution.potential.iter().copied().chain([solution.energy, solution.charge]);
    expect_finite("the potential with its energy and charge", numbers.map(Complex64::from))?;
    if arguments.boundary == Boundary::Periodic && solution.charge.abs() > NEUTRAL {
        warnings.push(format!(
            "the net charge of {} e is neutralised by a uniform background; the dipole depends on where the cell begins",
            rounded(solution.charge, 7)
        ));
    }
    warnings.iter().for_each(|warning| report.warning(warning));
    let began = report.stopwatch();
    if let Some(path) = &arguments.output {
        Format::of(path).write(path, arguments, &file, rows, &solution.potential)?;
    }
    if let Some(path) = &arguments.plot {
        let slice = middle_slice(arguments, &file, rows, &solution.potential);
        drawn(path, plot::slice(&slice), report)?;
    }
    let write = began.seconds();
    let verification =
        expected.map(|(name, expected)| arguments.verified(name, &expected, &solution.potential));
    let passed = verification.as_ref().is_none_or(|verification| verification.passed);
    let bytes_moved = plan.bytes_moved();
    let compute = solution.times.compute.as_secs_f64();
    let outcome = PoissonResult {
        schema_version: 1,
        device: device_names(&team),
        input: InputSummary {
            path: arguments.input.clone(),
            shape: file.shape,
            cell: rows,
            layout: arguments.layout.to_string(),
        },
        boundary: arguments.boundary.name(),
        cutoff: CutoffSummary { kind: arguments.cutoff.name(), g2max: plan.g2max() },
        precision: arguments.precision.name(),
        units: arguments.units.name(),
        charge: solution.charge,
        energy: solution.energy,
        stress: solution.stress.map(|stress| StressSummary {
            fixed_charge: stress.fixed_charge,
            fixed_density: stress.fixed_density,
        }),
        dipole: solution.dipole,
        potential: summary(&solution),
        verification,
        output: arguments.output.clone(),
        plot: arguments.plot.clone(),
        seconds: Seconds {
            read,
            compile: report.compile_seconds(),
            setup,
            transfer: solution.times.transfer.as_secs_f64(),
            compute,
            write,
        },
        bytes_moved,
        gb_s: bytes_moved.map(|bytes| bytes as f64 / compute / 1e9),
        warnings,
    };
    report.result(table(&outcome, arguments.stress), &outcome)?;
    Ok(if passed { Status::Fine } else { Status::Failed })
}

/// Returns the cell of `--cell`, or else that of the file.
fn cell_of(arguments: &Arguments, file: &MeshFile) -> Result<[[f64; 3]; 3], Failure> {
    let Some(text) = &arguments.cell else {
        return file.cell.ok_or_else(|| {
            let others = match file.others.is_empty() {
                true => String::new(),
                false => format!("; its arrays beside `rho` are: {}", file.others.join(", ")),
            };
            let message = format!("{} has no cell{others}", arguments.input.display());
            Failure::usage(message)
                .hint("give its nine numbers in bohr, for example --cell \"9 0 0  0 9 0  0 0 9\"")
        });
    };
    if let Some(cell) = nine_numbers(text) {
        return Ok(cell);
    }
    let path = Path::new(text);
    if !path.exists() {
        let message = format!("--cell `{text}` is neither nine numbers nor a file");
        return Err(Failure::usage(message).hint("give three vectors in bohr, row after row"));
    }
    let bytes = io::read_small_file(path, LARGEST_CELL_FILE)
        .map_err(|error| Failure::new(Status::File, error).hint(format!("--cell names {text}")))?;
    nine_numbers(&String::from_utf8_lossy(&bytes)).ok_or_else(|| {
        let error = anyhow::anyhow!("{text}: does not have nine numbers, the vectors of the cell in bohr");
        Failure::new(Status::File, error)
    })
}

fn nine_numbers(text: &str) -> Option<[[f64; 3]; 3]> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    let numbers: Vec<f64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
    match numbers[..] {
        [a, b, c, d, e, f, g, h, i] => Some([[a, b, c], [d, e, f], [g, h, i]]),
        _ => None,
    }
}

/// The formats of potentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Cube,
    Npy,
}

impl Format {
    /// Returns the format of a file name, which ends in .cube or .npy.
    fn of(path: &Path) -> Self {
        let is_array = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
        if is_array { Self::Npy } else { Self::Cube }
    }

    fn write(
        self,
        path: &Path,
        arguments: &Arguments,
        file: &MeshFile,
        cell: [[f64; 3]; 3],
        potential: &[f64],
    ) -> Result<(), Failure> {
        match self {
            Self::Npy => {
                MeshFile::write_npy(path, file.shape, potential, arguments.precision)?;
            }
            Self::Cube => {
                let header = CubeHeader::of_cell(cell, file.shape);
                let mut header = match &file.cube {
                    Some(given) => CubeHeader { steps: header.steps, ..given.clone() },
                    None => header,
                };
                let units = arguments.units.name();
                header.comments = [
                    format!(
                        "electrostatic potential in {units}, of the density {}",
                        plot::short_name(&arguments.input)
                    ),
                    "outer loop x, middle y, inner z".to_owned(),
                ];
                MeshFile::write_cube(
                    path,
                    &header,
                    file.shape,
                    &sequential(arguments, file.shape, potential),
                )?;
            }
        }
        Ok(())
    }
}

/// Returns about how many operations a potential takes: transforms of a mesh with twice the extents.
fn operations(shape: [usize; 3]) -> f64 {
    let points = 8.0 * shape.iter().map(|&extent| extent as f64).product::<f64>();
    2.0 * 5.0 * points * points.max(2.0).log2()
}

/// Returns values with the third index fastest.
fn sequential(arguments: &Arguments, shape: [usize; 3], values: &[f64]) -> Vec<f64> {
    let mut sequential = values.to_vec();
    if arguments.layout != MeshOrder::Sequential {
        reorder(shape, (values, arguments.layout), (&mut sequential, MeshOrder::Sequential));
    }
    sequential
}

/// Returns the potential on the middle plane of the third axis.
fn middle_slice(arguments: &Arguments, file: &MeshFile, cell: [[f64; 3]; 3], potential: &[f64]) -> Slice {
    let [n1, n2, n3] = file.shape;
    let middle = n3 / 2;
    let place = |i, j| arguments.layout.place(file.shape, [i, j, middle]);
    Slice {
        title: format!("potential of {}, plane {middle} of {n3}", plot::short_name(&arguments.input)),
        unit: match arguments.units {
            Units::Hartree => "hartree/e",
            Units::Rydberg => "rydberg/e",
        },
        sides: [cell[0], cell[1]],
        values: (0..n1).map(|i| (0..n2).map(|j| potential[place(i, j)]).collect()).collect(),
    }
}

/// Returns the root of the mean square, in a unit in which squares are in range.
fn rms(values: &[f64]) -> f64 {
    let power = exponent(values.iter().map(|value| value.abs()).fold(0.0, larger));
    let squares: f64 = values.iter().map(|value| times_power(*value, -power).powi(2)).sum();
    times_power((squares / values.len() as f64).sqrt(), power)
}

fn summary(solution: &Solution) -> PotentialSummary {
    let values = &solution.potential;
    PotentialSummary {
        minimum: values.iter().copied().fold(f64::INFINITY, f64::min),
        maximum: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        rms: rms(values),
    }
}

impl Arguments {
    fn options(&self) -> Options {
        Options::default()
            .with_boundary(self.boundary)
            .with_cutoff(self.cutoff)
            .with_precision(self.precision)
            .with_units(self.units)
            .with_order(self.layout)
    }

    /// Returns the bytes of each device that slabs may take.
    fn slab_bytes(&self, team: &Team) -> Option<u64> {
        let half = team.devices().iter().map(|device| device.info().memory_bytes / 2).min();
        self.out_of_core.map(|megabytes| match megabytes {
            0 => half.unwrap_or(u64::MAX),
            megabytes => megabytes.saturating_mul(1_000_000),
        })
    }

    fn verified(&self, name: &str, expected: &[f64], found: &[f64]) -> Verification {
        let largest = expected.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let apart = expected.iter().zip(found).map(|(a, b)| (a - b).abs());
        // A value that is none makes the largest difference none, which is no success.
        let apart = apart.fold(0.0, larger);
        let difference = if largest > 0.0 { apart / largest } else { apart };
        let single = self.precision == Precision::Single;
        let tolerance = self.tolerance.unwrap_or(if single { 1e-5 } else { 1e-10 });
        Verification { array: name.to_owned(), difference, tolerance, passed: difference <= tolerance }
    }
}

fn table(outcome: &PoissonResult, stress: StressChoice) -> Table {
    let mut table = Table::default();
    let energy = outcome.units;
    let tensor = |tensor: &Tensor| tensor.map(|x| scientific(x, 10)).join(" ");
    table.line("mesh", outcome.input.shape.map(|n| n.to_string()).join("x"));
    table.line("device", outcome.device.join(", "));
    table.line("boundary", outcome.boundary);
    table.line("charge", format_args!("{} e", fixed(outcome.charge, 12)));
    table.line("energy", format_args!("{} {energy}", fixed(outcome.energy, 15)));
    if let Some(found) = &outcome.stress {
        if stress != StressChoice::Density {
            let text = format!("{} {energy}/bohr³ (xx yy zz yz xz xy)", tensor(&found.fixed_charge));
            table.line("stress, fixed charge", text);
        }
        if stress != StressChoice::Charge {
            let text = format!("{} {energy}/bohr³ (xx yy zz yz xz xy)", tensor(&found.fixed_density));
            table.line("stress, fixed density", text);
        }
    }
    let dipole = outcome.dipole.map(|x| fixed(x, 12)).join(" ");
    table.line("dipole", format_args!("{dipole} e bohr, from the middle of the cell"));
    let PotentialSummary { minimum, maximum, rms } = outcome.potential;
    let [minimum, maximum, rms] = [minimum, maximum, rms].map(|x| fixed(x, 9));
    table.line("potential", format_args!("{minimum} to {maximum} {energy}/e, rms {rms}"));
    if let Some(verification) = &outcome.verification {
        let verdict = if verification.passed { "passed" } else { "failed" };
        table.line(
            "verification",
            format_args!(
                "{verdict}: largest difference from `{}` {}, at most {} allowed",
                verification.array,
                scientific(verification.difference, 2),
                scientific(verification.tolerance, 0)
            ),
        );
    }
    if let Some(path) = &outcome.output {
        table.line("output", path.display());
    }
    if let Some(path) = &outcome.plot {
        table.line("plot", path.display());
    }
    let Seconds { read, compile, setup, transfer, compute, write } = outcome.seconds;
    table.line(
        "seconds",
        format_args!(
            "read {read:.3}, compile {compile:.3}, set-up {setup:.3}, transfer {transfer:.3}, compute {compute:.3}, write {write:.3}"
        ),
    );
    table
}
