//! `cr-solve solve` and `least-squares` with a dense matrix: by its factors.

mod direct;
mod factors;
mod kept;
mod residual;

pub use factors::Factors;

use crate::checkpoint::{Checkpointing, Factoring, Identity};
use direct::{Refinement, Refusal, Solution, System, expect};
use factors::Number;
use kept::{FactorCheckpoint, Failed};
use lattice_cl::compute::{Recorder, Team};
use lattice_cl::io::{DenseMatrix, MatrixElements};
use lattice_cl::linalg::BlasError;
use lattice_cl::linalg::split::SplitParams;
use lattice_cl::linalg::split::factor::{FactorParams, Finished};
use lattice_cl::scalar::Precision;
use lattice_cli::common::Common;
use lattice_cli::destinations::{Destinations, MATRIX, Overwriting};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::finite::expect_finite;
use lattice_cli::interrupt::Interrupt;
use lattice_cli::memory::Need;
use lattice_cli::provenance::Provenance;
use lattice_cli::report::{Report, Table, scientific};
use lattice_cli::team::{device_names, host_if_small, select_team};
use lattice_files::number::complex_shown;
use num_complex::Complex64;
use residual::Residual;
use serde::Serialize;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A condition number from which results are warned of.
const ILL_CONDITIONED: f64 = 1.0 / 1.49e-8;

/// What is to be solved, and how.
pub struct Task<'a> {
    pub matrix: &'a Path,
    /// A column of ones if there is none.
    pub rhs: Option<&'a Path>,
    /// `None` for factors that suit the matrix.
    pub factors: Option<Factors>,
    /// The precision of the factors.
    pub precision: Precision,
    pub tolerance: f64,
    /// Bytes of each device's memory; a matrix that needs more is worked off by blocks.
    pub memory: Option<u64>,
    pub output: Option<&'a Path>,
    pub overwriting: Overwriting,
    pub checkpointing: &'a Checkpointing,
}

/// The command line of `least-squares`.
#[derive(Debug, clap::Args)]
pub struct LeastSquares {
    /// The matrix: .npy, or a Matrix Market file
    #[arg(value_name = "MATRIX")]
    matrix: PathBuf,
    /// Right-hand sides, the columns of a .npy or Matrix Market file; ones by default
    #[arg(long, value_name = "FILE")]
    rhs: Option<PathBuf>,
    /// Memory on each device, as 4G or 500M; a matrix that needs more is worked off by blocks
    #[arg(long, value_name = "BYTES", value_parser = lattice_cli::memory::bytes)]
    memory: Option<u64>,
    /// Write the solutions to this file: .npy, or Matrix Market
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    overwriting: Overwriting,
    #[command(flatten)]
    checkpointing: Checkpointing,
}

#[derive(Serialize)]
struct DenseResult {
    schema_version: u32,
    provenance: Provenance,
    devices: Vec<String>,
    matrix: MatrixSummary,
    method: &'static str,
    precision: Precision,
    factor_precision: Precision,
    right_hand_sides: usize,
    /// `true` if the measure of the solution is at most the tolerance.
    ///
    /// The measure of a square matrix is the residual. That of more equations than unknowns is the residual of
    /// the normal equations, and that of fewer is the backward error.
    converged: bool,
    residual: Residual,
    #[serde(skip_serializing_if = "Option::is_none")]
    refinement: Option<Refinement>,
    /// LAPACK's: 0, or where the last factorisation failed.
    info: usize,
    /// The rank of A, if its factors QR tell that it is full.
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<usize>,
    attempts: Vec<Attempt>,
    seconds: Seconds,
    output: Option<String>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct MatrixSummary {
    source: String,
    rows: usize,
    columns: usize,
    entries: usize,
    symmetry: &'static str,
    format: &'static str,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition_estimate: Option<f64>,
}

#[derive(Serialize)]
struct Attempt {
    method: &'static str,
    info: usize,
    seconds: f64,
    failure: Option<String>,
}

#[derive(Serialize)]
struct Seconds {
    read: f64,
    /// Compiling kernels, or loading them; the other times do not include it.
    compile: f64,
    solve: f64,
    write: f64,
}

/// Solves a least squares problem.
///
/// # Errors
/// The errors of [`solve`].
pub fn least_squares(arguments: &LeastSquares, common: &Common, report: &Report) -> Result<Status, Failure> {
    let task = Task {
        matrix: &arguments.matrix,
        rhs: arguments.rhs.as_deref(),
        factors: Some(Factors::Qr),
        precision: Precision::Double,
        tolerance: 1e-10,
        memory: arguments.memory,
        output: arguments.output.as_deref(),
        overwriting: arguments.overwriting,
        checkpointing: &arguments.checkpointing,
    };
    solve(&task, common, report)
}

/// Reads a dense matrix, solves with it and writes the solution.
///
/// # Errors
/// * If a file cannot be read or written.
/// * If the matrix does not fit the method or the right-hand sides, or memory is short.
/// * If the matrix has no such factors, or the tolerance is not met.
pub fn solve(task: &Task<'_>, common: &Common, report: &Report) -> Result<Status, Failure> {
    let started = SystemTime::now();
    let (option, checkpoint) = task.checkpointing.file();
    Destinations::reading([task.matrix].into_iter().chain(task.rhs))
        .writing("--output", MATRIX, task.output)
        .keeping(option, checkpoint)
        .check(task.overwriting)?;
    let taken = task.checkpointing.take(&[], &common.ranks)?;
    let began = report.stopwatch();
    let a = DenseMatrix::read(task.matrix)?;
    let (rows, is_complex) = (a.rows, matches!(a.elements, MatrixElements::Complex(_)));
    let ones = || DenseMatrix {
        rows,
        columns: 1,
        elements: MatrixElements::Real(vec![1.0; rows]),
        precision: Precision::Double,
    };
    let b = task.rhs.map_or_else(|| Ok(ones()), DenseMatrix::read)?;
    check(task, &a, &b)?;
    let read = began.seconds();
    let operations = 2.0 * a.rows as f64 * a.columns as f64 * (a.rows.min(a.columns) + b.columns) as f64;
    let team = host_if_small(common, operations, report)
        .map_or_else(|| select_team(common, Recorder::default(), report), Ok)?;
    let elements = (a.rows * a.columns) as u128;
    let bytes = elements * if is_complex { 16 } else { 8 };
    // By blocks, a copy of the matrix becomes the factors. The host copies more, as measured.
    let copies = match task.factors {
        _ if !team.is_host() => 1,
        Some(Factors::Cholesky | Factors::Lu) => 2,
        _ if a.rows == a.columns && task.factors.is_none() => 2,
        _ => 5,
    };
    let need = Need { on_host: copies * bytes, on_device: 0 };
    need.expect_room(format_args!("the factors of {}", task.matrix.display()), team.devices().first())?;
    let job = Job { task, report, team: &team, shape: [a.rows, a.columns, b.columns], read };
    let provenance = Provenance::new(&team, started);
    let precision = a.precision;
    let identity = || identity(task, &a);
    let interrupt = Interrupt::listen();
    let keeper = task.checkpointing.factoring(taken, identity, interrupt, report)?;
    if keeper.keeps() && team.is_host() {
        report.warning("the host factorises in one step, of which no state is kept");
    }
    match (a.elements, b.elements) {
        (MatrixElements::Real(a), MatrixElements::Real(b)) => job.run(&a, &b, precision, provenance, keeper),
        (a, b) => job.run(&complex(a), &complex(b), precision, provenance, keeper),
    }
}

/// Returns the names and values that the factors depend on.
fn identity(task: &Task<'_>, a: &DenseMatrix) -> Identity {
    let mut sum = blake3::Hasher::new();
    let kind = match &a.elements {
        MatrixElements::Real(elements) => {
            sum.update_rayon(bytemuck::cast_slice(elements));
            "real"
        }
        MatrixElements::Complex(elements) => {
            sum.update_rayon(bytemuck::cast_slice(elements));
            "complex"
        }
    };
    let sum = sum.finalize().to_hex();
    let own = [
        ("factors of", format!("{}×{} {kind} elements, BLAKE3 {}", a.rows, a.columns, &sum[..16])),
        ("method", task.factors.map_or("auto", Factors::name).to_owned()),
    ];
    own.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn complex(elements: MatrixElements) -> Vec<Complex64> {
    match elements {
        MatrixElements::Complex(elements) => elements,
        MatrixElements::Real(elements) => elements.into_iter().map(Complex64::from).collect(),
    }
}

/// Refuses operands that do not fit together.
fn check(task: &Task<'_>, a: &DenseMatrix, b: &DenseMatrix) -> Result<(), Failure> {
    let file = |path: &Path, problem: String| {
        Failure::new(Status::File, anyhow::Error::msg(format!("{}: {problem}", path.display())))
    };
    if a.rows == 0 || a.columns == 0 {
        return Err(file(
            task.matrix,
            format!("{}×{} elements: there is nothing to solve", a.rows, a.columns),
        ));
    }
    if b.rows != a.rows {
        let problem = format!("{} rows found, {} expected as the matrix has rows", b.rows, a.rows);
        return Err(file(task.rhs.unwrap_or(task.matrix), problem));
    }
    if a.rows != a.columns
        && let Some(factors @ (Factors::Cholesky | Factors::Lu)) = task.factors
    {
        let problem = format!(
            "{}×{} elements, and --method {} takes a square matrix",
            a.rows,
            a.columns,
            factors.name()
        );
        return Err(file(task.matrix, problem).hint("choose --method qr for least squares"));
    }
    if task.precision == Precision::Single
        && let (option, Some(_)) = task.checkpointing.file()
    {
        let message = format!("{option} keeps factors in double precision alone");
        return Err(Failure::usage(message).hint("leave out --factor-precision single"));
    }
    if task.precision == Precision::Single && (task.factors == Some(Factors::Qr) || a.rows != a.columns) {
        return Err(Failure::usage(
            "--factor-precision single is for the methods lu and cholesky of a square matrix".to_owned(),
        ));
    }
    if task.factors == Some(Factors::Cholesky)
        && let Some((row, column)) = residual::asymmetry(a)
    {
        let [here, there] = [a.at(row, column), a.at(column, row)].map(|z| complex_shown(z.re, z.im));
        let problem = format!(
            "element ({row}, {column}) is {here}, and ({column}, {row}) is {there}: the matrix is not Hermitian"
        );
        return Err(
            file(task.matrix, problem).hint("choose --method lu; rows and columns are counted from 0")
        );
    }
    Ok(())
}

/// What earlier attempts and runs have done.
struct Earlier<'a> {
    kept: Option<FactorCheckpoint>,
    failed: &'a [Failed],
}

/// A solve with everything but its numbers.
struct Job<'a> {
    task: &'a Task<'a>,
    report: &'a Report,
    team: &'a Team,
    shape: [usize; 3],
    read: f64,
}

impl Job<'_> {
    fn run<T: Number>(
        &self,
        a: &[T],
        b: &[T],
        precision: Precision,
        provenance: Provenance,
        mut keeper: Factoring<'_>,
    ) -> Result<Status, Failure> {
        let [rows, columns, sides] = self.shape;
        let system = System { a, b, rows, columns, sides };
        let is_hermitian = rows == columns && residual::is_hermitian(a, rows);
        let mut wanted = match self.task.factors {
            Some(factors) => vec![factors],
            None if rows != columns => vec![Factors::Qr],
            None if is_hermitian && residual::has_positive_diagonal(a, rows) => {
                vec![Factors::Cholesky, Factors::Lu]
            }
            None => vec![Factors::Lu],
        };
        let (mut attempts, mut warnings, mut found) = (Vec::new(), Vec::new(), None);
        let (mut kept, mut failures) = (self.kept(&system, &mut keeper)?, Vec::new());
        if let Some(kept) = &kept {
            wanted.retain(|wanted| kept.failed.iter().all(|failed| failed.factors != *wanted));
            failures.clone_from(&kept.failed);
            for &Failed { factors, info, seconds } in &failures {
                if let Err(Refusal::Matrix(info, reason)) = expect(factors, rows, info) {
                    warnings.push(format!("{}: {reason}", factors.name()));
                    let failure = Some(reason);
                    attempts.push(Attempt { method: factors.name(), info, seconds, failure });
                }
            }
        }
        for factors in wanted {
            let began = self.report.stopwatch();
            let earlier =
                Earlier { kept: kept.take().filter(|kept| kept.factors == factors), failed: &failures };
            let result = self.attempt(&system, factors, earlier, &mut keeper, &mut warnings);
            let seconds = began.seconds();
            let attempt = |info, failure| Attempt { method: factors.name(), info, seconds, failure };
            match result {
                Ok(solution) => {
                    attempts.push(attempt(0, None));
                    found = Some((factors, solution));
                    break;
                }
                Err(Refusal::Matrix(info, reason)) => {
                    warnings.push(format!("{}: {reason}", factors.name()));
                    attempts.push(attempt(info, Some(reason)));
                    failures.push(Failed { factors, info, seconds });
                }
                Err(Refusal::Blas(BlasError::Ended { columns, all })) => {
                    return Err(keeper.interrupted(columns, all));
                }
                Err(Refusal::Blas(error)) => return Err(failed(error)),
            }
        }
        let solve = keeper.seconds();
        let Some((factors, solution)) = found else {
            let reason = attempts.last().and_then(|last| last.failure.clone()).unwrap_or_default();
            let failure = Failure::new(Status::Failed, anyhow::Error::msg(reason));
            return Err(failure.hint(match attempts.last().map(|last| last.method) {
                Some("cholesky") => "choose --method lu",
                Some("qr") => "leave out columns that depend on others",
                _ => "the matrix has no inverse; choose --method qr for the least residual of fewer columns",
            }));
        };
        let Solution { x, condition, refinement } = solution;
        // Written so that a NaN is not well conditioned.
        let is_ill = |condition: &f64| {
            let is_well = *condition <= ILL_CONDITIONED;
            !is_well
        };
        if let Some(condition) = condition.filter(is_ill) {
            warnings.push(format!(
                "the condition is about {condition:.1e}: X may have no more than {:.0} correct digits",
                (16.0 - condition.log10()).max(0.0)
            ));
        }
        warnings.iter().for_each(|warning| self.report.warning(warning));
        expect_finite("the solution", x.iter().map(|x| x.to_complex()))?;
        let residual = Residual::of(&system, &x);
        let (measure, name) = match rows.cmp(&columns) {
            Ordering::Equal => (residual.of_definition, "residual"),
            Ordering::Greater => (residual.of_normal_equations, "residual of the normal equations"),
            Ordering::Less => (residual.backward_error.unwrap_or(f64::NAN), "backward error"),
        };
        let converged = measure <= self.task.tolerance;
        let began = self.report.stopwatch();
        self.write(&x, factors, residual.of_definition)?;
        let result = DenseResult {
            schema_version: 1,
            provenance,
            devices: device_names(self.team),
            matrix: MatrixSummary {
                source: self.task.matrix.display().to_string(),
                rows,
                columns,
                entries: rows * columns,
                symmetry: if is_hermitian {
                    if T::IS_COMPLEX { "hermitian" } else { "symmetric" }
                } else {
                    "general"
                },
                format: "dense",
                bytes: size_of_val(a) as u64,
                condition_estimate: condition,
            },
            method: factors.name(),
            precision,
            factor_precision: self.task.precision,
            right_hand_sides: sides,
            converged,
            residual,
            refinement,
            info: 0,
            rank: condition
                .filter(|_| factors == Factors::Qr)
                .and_then(|condition| full_rank(rows, columns, condition)),
            attempts,
            seconds: Seconds {
                read: self.read,
                compile: self.report.compile_seconds(),
                solve,
                write: began.seconds(),
            },
            output: self.task.output.map(|path| path.display().to_string()),
            warnings,
        };
        self.report.result(table(&result), &result)?;
        keeper.done();
        if converged {
            return Ok(Status::Fine);
        }
        let message = format!("not solved to {:e}: the {name} is {measure:.3e}", self.task.tolerance);
        let failure = Failure::new(Status::Failed, anyhow::Error::msg(message));
        Err(failure.hint(match rows == columns {
            true => "a larger --tol, or --method qr",
            false => "leave out columns that depend on others, or rows for fewer equations than unknowns",
        }))
    }

    /// Takes the columns that an earlier run has finished.
    fn kept<T: Number>(
        &self,
        system: &System<'_, T>,
        keeper: &mut Factoring<'_>,
    ) -> Result<Option<FactorCheckpoint>, Failure> {
        let Some(state) = keeper.kept() else { return Ok(None) };
        let kept =
            FactorCheckpoint::of(state).filter(|kept| kept.fits::<T>(&system.factored_layout(kept.factors)));
        kept.map(Some).ok_or_else(|| {
            let message = "the checkpoint does not have the columns, pivots and reflectors that it names";
            Failure::new(Status::File, anyhow::Error::msg(message)).hint("start anew without it")
        })
    }

    /// Solves by these factors: on one device if all fits there and no state is kept, else by blocks.
    fn attempt<T: Number>(
        &self,
        system: &System<'_, T>,
        factors: Factors,
        earlier: Earlier<'_>,
        keeper: &mut Factoring<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Solution<T>, Refusal> {
        let single = self.task.precision == Precision::Single;
        let needed = system.bytes_on_device();
        if let [device] = self.team.devices()
            && !keeper.keeps()
            && needed <= self.task.memory.unwrap_or(device.info().memory_bytes / 10 * 9)
        {
            return system.on_device(device, factors, single);
        }
        if single {
            warnings.push(
                "factors in single precision need one device with room for the matrix: double is used"
                    .to_owned(),
            );
        }
        let products = SplitParams::default().with_memory(self.task.memory);
        let params = FactorParams::default().with_products(products);
        let bar = self.report.wide_bar(system.rows.min(system.columns) as u64);
        let layout = system.factored_layout(factors);
        let mut watch = |finished: Finished<'_, T>| {
            bar.set_position(finished.columns as u64);
            let state = || kept::state(factors, earlier.failed, &finished);
            keeper.goes_on(state, |number| kept::block(&layout, &finished, number))
        };
        let result = system.by_blocks(self.team, &params, factors, earlier.kept.as_ref(), &mut watch);
        bar.finish_and_clear();
        result
    }

    fn write<T: Number>(&self, x: &[T], factors: Factors, residual: f64) -> Result<(), Failure> {
        let Some(path) = self.task.output else { return Ok(()) };
        let elements = if T::IS_COMPLEX {
            MatrixElements::Complex(x.iter().map(|x| x.to_complex()).collect())
        } else {
            MatrixElements::Real(x.iter().map(|x| x.to_complex().re).collect())
        };
        let [_, rows, columns] = self.shape;
        let comment = format!(
            "solution of A X = B with {} by {}\nrelative residual {residual:e}",
            self.task.matrix.display(),
            factors.name()
        );
        let solution = DenseMatrix { rows, columns, elements, precision: Precision::Double };
        Ok(solution.write(path, &comment)?)
    }
}

/// Returns the rank if the condition number tells it: that of a matrix far from one of smaller rank.
fn full_rank(rows: usize, columns: usize, condition: f64) -> Option<usize> {
    let rounding = rows.max(columns) as f64 * f64::EPSILON;
    (condition * rounding < 1.0).then_some(rows.min(columns))
}

fn failed(error: BlasError) -> Failure {
    match error {
        BlasError::Device(error) => error.into(),
        error => Failure::new(Status::Failed, error),
    }
}

fn table(result: &DenseResult) -> Table {
    let mut table = Table::default();
    let MatrixSummary { source, rows, columns, symmetry, condition_estimate, .. } = &result.matrix;
    table.line("matrix", format_args!("{source}: {rows} × {columns}, dense, {symmetry}"));
    table.line("device", result.devices.join(", "));
    table.line("method", result.method);
    if let Some(Refinement { steps, fell_back }) = &result.refinement {
        match fell_back {
            None => {
                table.line("refinement", format_args!("{steps} corrections of factors in single precision"))
            }
            Some(reason) => table.line("refinement", format_args!("given up: {reason}")),
        }
    }
    if let Some(condition) = condition_estimate {
        table.line("condition", format_args!("about {}", scientific(*condition, 2)));
    }
    table.line("true residual", scientific(result.residual.of_definition, 3));
    if rows != columns {
        table.line("normal residual", scientific(result.residual.normal, 3));
    }
    if let Some(backward_error) = result.residual.backward_error {
        table.line("backward error", scientific(backward_error, 3));
    }
    if let Some(output) = &result.output {
        table.line("output", output);
    }
    let Seconds { read, compile, solve, write } = &result.seconds;
    table.line(
        "seconds",
        format_args!("read {read:.2}, compile {compile:.2}, solve {solve:.2}, write {write:.2}"),
    );
    table
}
