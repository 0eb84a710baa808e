//! `cr-solve solve`: A x = b with a matrix from a file, sparse or dense.

use super::dense::{self, Factors};
use crate::checkpoint::Checkpointing;
use lattice_cl::io::{DenseMatrix, MatrixElements};
use lattice_cl::linalg::host::level1::Arithmetic;
use lattice_cl::linalg::sparse::market::AnyCsr;
use lattice_cl::linalg::sparse::precondition::{AmgOptions, Cycle};
use lattice_cl::linalg::sparse::solve::{
    Attempt, Kind, Method, SolveOptions, Solved, condition_estimate, solve_columns,
};
use lattice_cl::linalg::sparse::{Csr, Format, Problem, Processor, read_vectors};
use lattice_cl::scalar::Precision;
use lattice_cli::choices::{bare_word_of, word};
use lattice_cli::common::Common;
use lattice_cli::destinations::{Destinations, MATRIX, Overwriting, SVG};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::finite::expect_finite;
use lattice_cli::interrupt::Interrupt;
use lattice_cli::matrix_source::{AnyVectors, Matrix};
use lattice_cli::memory::Need;
use lattice_cli::plot::{self, Marks, Series, drawn};
use lattice_cli::provenance::Provenance;
use lattice_cli::report::{Report, Table, scientific};
use lattice_cli::team::{device_names, host_if_small, select_all};
use lattice_files::number::shown;
use lattice_files::text::tuple;
use lattice_files::words;
use lattice_solvers::{Look, Stopping};
use num_complex::Complex64;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

/// The command line of `solve`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Matrix Market file, also .gz, a sparse .npz of SciPy, a dense .npy, or a model problem
    ///
    /// Problems are poisson2d:N, poisson3d:N, poisson3d:NxNxN, convection2d:N,EPSILON,
    /// random:N,PER_ROW,SEED and elasticity3d:N.
    #[arg(value_name = "MATRIX")]
    matrix: String,
    /// The right-hand side b: a Matrix Market file or .npy; ones by default
    ///
    /// Each column of the file is a right-hand side. Matrix, preconditioner and factors are made once for all.
    #[arg(long, value_name = "FILE")]
    rhs: Option<PathBuf>,
    /// auto, cg, minres, cr, bicgstab, gcr or cgne; cholesky, lu or qr of a dense matrix
    #[arg(long, value_name = "METHOD", default_value = "auto", value_parser = choice::<AnyMethod>)]
    method: Choice<AnyMethod>,
    /// Precision of lu and cholesky: single factors are corrected to a solution in double
    #[arg(long, value_name = "PRECISION", value_parser = word::<Precision>())]
    #[arg(default_value_t = Precision::Double)]
    factor_precision: Precision,
    /// Memory on each device for factors, as 4G or 500M
    ///
    /// A matrix that needs more is worked off by blocks of columns.
    #[arg(long, value_name = "BYTES", value_parser = lattice_cli::memory::bytes, hide_short_help = true)]
    memory: Option<u64>,
    /// auto, none, jacobi, block-jacobi[:SIZE], ilu0[:SWEEPS], ic0[:SWEEPS] or amg
    ///
    /// With sweeps, the triangles of ilu0 and ic0 are solved by so many Jacobi sweeps over all rows.
    #[arg(long, value_name = "KIND", default_value = "auto", value_parser = choice::<Kind>)]
    preconditioner: Choice<Kind>,
    /// Permute and scale rows for the preconditioner, so that large entries come to the diagonal
    #[arg(long)]
    matching: bool,
    /// Vectors that the matrix makes small, for amg: the columns of a .npy or Matrix Market file
    #[arg(long, value_name = "FILE")]
    near_nullspace: Option<PathBuf>,
    /// Unknowns of a point, for amg; found from the matrix by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=32))]
    block: Option<u16>,
    /// Cycle of amg: v, or k for hard problems, with the methods cg and gcr
    #[arg(long, value_name = "CYCLE", default_value = "v")]
    cycle: Cycle,
    /// Estimate the condition number ‖A‖ ‖A⁻¹‖ of column sums, by up to eleven more solves
    #[arg(long)]
    condition: bool,
    /// Form of the matrix in memory: auto, csr, sell, bsr:SIZE, diagonals, coo, full-rows or symmetric
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = choice::<Format>)]
    format: Choice<Format>,
    /// Precision of the matrix's values in the iteration; the solution is refined with those of the file
    #[arg(long, value_name = "PRECISION", value_parser = bare_word_of(&Precision::ALL))]
    #[arg(default_value_t = Precision::Double)]
    values: Precision,
    /// Wanted ‖b − A x‖ / ‖b‖
    #[arg(long, value_name = "TOL", default_value_t = 1e-10)]
    tol: f64,
    /// Most iterations of a method
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max_iterations: usize,
    /// Directions that gcr keeps
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..=1000))]
    #[arg(hide_short_help = true)]
    restart: u16,
    /// Write the solution, or the best iterate, to this file: .mtx, .mtx.gz or .npy
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the residual history into this file (SVG)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    overwriting: Overwriting,
    #[command(flatten)]
    checkpointing: Checkpointing,
}

/// `auto`, or something named.
#[derive(Clone, Copy, Debug)]
struct Choice<T>(Option<T>);

/// A method of iterations, or factors.
#[derive(Clone, Copy, Debug)]
enum AnyMethod {
    Iterative(Method),
    Direct(Factors),
}

impl FromStr for AnyMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let iterative = text.parse().map(Self::Iterative);
        iterative.or_else(|_| text.parse().map(Self::Direct)).map_err(|_: String| {
            let names = [vec!["auto"], words::all::<Method>(), words::all::<Factors>()].concat();
            format!("`{text}` is no method; choose {}", words::sentence(&names, "or"))
        })
    }
}

fn choice<T: FromStr<Err = String>>(text: &str) -> Result<Choice<T>, String> {
    if text == "auto" { Ok(Choice(None)) } else { text.parse().map(|named| Choice(Some(named))) }
}

#[derive(Serialize)]
struct SolveResult {
    schema_version: u32,
    provenance: Provenance,
    devices: Vec<String>,
    matrix: MatrixSummary,
    method: &'static str,
    preconditioner: PreconditionerSummary,
    precision: &'static str,
    tolerance: f64,
    converged: bool,
    iterations: usize,
    residual: Residuals,
    backward_error: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    refinement: Option<RefinementSummary>,
    /// 0 if the tolerance is met, 1 if not.
    info: u8,
    /// Each right-hand side, if there are several; the fields above tell of the worst.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<ColumnSummary>,
    attempts: Vec<AttemptSummary>,
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
    format: String,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition_estimate: Option<f64>,
}

#[derive(Serialize)]
struct PreconditionerSummary {
    kind: String,
    /// `true` if it is that of the permuted and scaled matrix.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    matched: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    levels: Option<Vec<usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operator_complexity: Option<f64>,
    setup_seconds: f64,
    bytes: u64,
}

#[derive(Serialize)]
struct Residuals {
    iterated: f64,
    #[serde(rename = "true")]
    of_definition: f64,
}

#[derive(Serialize)]
struct RefinementSummary {
    steps: usize,
    fell_back: bool,
}

#[derive(Serialize)]
struct ColumnSummary {
    method: &'static str,
    converged: bool,
    iterations: usize,
    residual: Residuals,
    backward_error: f64,
}

#[derive(Serialize)]
struct AttemptSummary {
    method: &'static str,
    preconditioner: String,
    iterations: usize,
    residual: Residuals,
    seconds: f64,
    failure: Option<String>,
}

#[derive(Serialize)]
struct Seconds {
    read: f64,
    /// Compiling kernels, or loading them; the other times do not include it.
    compile: f64,
    transfer: f64,
    setup: f64,
    solve: f64,
    write: f64,
}

/// Reads a matrix, solves with it and writes the solution.
///
/// # Errors
/// * If a file cannot be read or written.
/// * If the system cannot be solved for.
/// * If the tolerance is not met. The best iterate is written then.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let started = SystemTime::now();
    if !(arguments.tol > 0.0 && arguments.tol < 1.0) {
        return Err(Failure::usage(format!(
            "--tol {} is not allowed: it must be a positive number below 1, which is the residual of x = 0",
            shown(&arguments.tol)
        )));
    }
    if let (Cycle::K, Some(kind)) = (arguments.cycle, arguments.preconditioner.0)
        && kind != Kind::Amg
    {
        return Err(Failure::usage(format!("--cycle is for --preconditioner amg, not for {kind}")));
    }
    let matrix = Path::new(&arguments.matrix);
    let inputs = [Some(matrix), arguments.rhs.as_deref(), arguments.near_nullspace.as_deref()];
    Destinations::reading(inputs.into_iter().flatten())
        .writing("--output", MATRIX, &arguments.output)
        .writing("--plot", SVG, &arguments.plot)
        .check(arguments.overwriting)?;
    if let Some(task) = arguments.direct()? {
        return dense::solve(&task, common, report);
    }
    let began = report.stopwatch();
    let source = Matrix::of(&arguments.matrix)?;
    let right_sides = arguments.rhs.as_deref().map(AnyVectors::read).transpose()?;
    let read_seconds = began.seconds();
    let [rows, _, entries] = source.extents();
    // Every iteration of a method multiplies by the matrix, and twice by its preconditioner.
    let operations = ITERATIONS * (6.0 * entries as f64 + 20.0 * rows as f64);
    let team = host_if_small(common, operations, report).map_or_else(|| select_all(common, report), Ok)?;
    let places = Processor::all_of_team(&team);
    need(&source, right_sides.as_ref(), places.len())
        .expect_room(format_args!("the matrix {} and vectors", arguments.matrix), team.devices().first())?;
    let near_null = NearNull::of(arguments, &source)?;
    let job =
        Job { arguments, report, places: &places, near_null, read_seconds, devices: device_names(&team) };
    let provenance = Provenance::new(&team, started);
    let [rows, ..] = source.extents();
    let right_sides = right_sides.unwrap_or_else(|| AnyVectors::Real(vec![vec![1.0; rows]]));
    match (source.matrix, right_sides) {
        (AnyCsr::Real(a), AnyVectors::Real(b)) => job.run(a, &b, provenance),
        (AnyCsr::Real(a), b) => job.run::<Complex64>(a.cast(), &b.into_complex(), provenance),
        (AnyCsr::Complex(a), b) => job.run(a, &b.into_complex(), provenance),
    }
}

impl Arguments {
    /// Returns the task, if factors of a dense matrix are to solve it.
    fn direct(&self) -> Result<Option<dense::Task<'_>>, Failure> {
        let matrix = Path::new(&self.matrix);
        let factors = match self.method.0 {
            Some(AnyMethod::Direct(factors)) => Some(factors),
            None if matrix.extension().is_some_and(|ending| ending == "npy") => None,
            _ if self.factor_precision == Precision::Single || self.memory.is_some() => {
                let message = "--factor-precision and --memory are for the methods cholesky, lu and qr";
                return Err(Failure::usage(message.to_owned()));
            }
            _ if self.checkpointing.is_asked() => {
                let message = "--checkpoint and --resume are for the methods cholesky, lu and qr";
                return Err(Failure::usage(message.to_owned()));
            }
            _ => return Ok(None),
        };
        if Problem::is_named_by(&self.matrix) && !matrix.exists() {
            let message =
                format!("{}: factors take a dense matrix, and model problems are sparse", self.matrix);
            return Err(Failure::usage(message).hint("choose --method cg, minres, cr, bicgstab, gcr or cgne"));
        }
        let iterative = [
            ("--plot", self.plot.is_some()),
            ("--preconditioner", self.preconditioner.0.is_some()),
            ("--matching", self.matching),
            ("--condition", self.condition),
            ("--values", self.values == Precision::Single),
        ];
        if let Some((option, _)) = iterative.into_iter().find(|(_, given)| *given) {
            let message = format!("{option} is for methods of iterations, and factors solve this matrix");
            return Err(Failure::usage(message).hint("choose --method cg, minres, cr, bicgstab, gcr or cgne"));
        }
        Ok(Some(dense::Task {
            matrix,
            rhs: self.rhs.as_deref(),
            factors,
            precision: self.factor_precision,
            tolerance: self.tol,
            memory: self.memory,
            output: self.output.as_deref(),
            overwriting: self.overwriting,
            checkpointing: &self.checkpointing,
        }))
    }
}

/// Iterations of a method, roughly, for the decision between host and device.
const ITERATIONS: f64 = 200.0;

/// Vectors that a method keeps, roughly.
const VECTORS: usize = 10;

/// Returns the memory of a matrix by rows with the vectors of a method, on the host and on each device.
fn need(source: &Matrix, right_sides: Option<&AnyVectors>, places: usize) -> Need {
    let [rows, columns, entries] = source.extents().map(|extent| extent as u128);
    let is_complex =
        matches!(source.matrix, AnyCsr::Complex(_)) || matches!(right_sides, Some(AnyVectors::Complex(_)));
    let number = if is_complex { 16 } else { 8 };
    let vector = rows.max(columns) * number;
    let vectors = VECTORS as u128 * vector;
    // Each right-hand side has its solution beside it.
    let on_host = vectors + 2 * vector * right_sides.map_or(1, AnyVectors::count) as u128;
    let on_device = (entries * (number + 4) + 8 * rows + vectors) / places.max(1) as u128;
    Need { on_host, on_device }
}

/// Near-null vectors, and the unknowns of a point.
struct NearNull {
    vectors: Option<Vec<f64>>,
    block: usize,
}

impl NearNull {
    fn of(arguments: &Arguments, source: &Matrix) -> Result<Self, Failure> {
        let [rows, ..] = source.extents();
        let block = arguments.block.map(usize::from);
        let Some(path) = &arguments.near_nullspace else {
            let made = source.near_null_space.clone();
            let own = made.as_ref().map_or(1, |(_, block)| *block);
            return Ok(Self { vectors: made.map(|(vectors, _)| vectors), block: block.unwrap_or(own) });
        };
        let columns = read_vectors(path)?;
        if columns.rows != rows {
            let message = format!(
                "{}: vectors of {} components found, {rows} expected as the matrix has rows",
                path.display(),
                columns.rows
            );
            return Err(Failure::new(Status::File, anyhow::Error::msg(message))
                .hint("the vectors are the columns of the file"));
        }
        let natural = || match &source.matrix {
            AnyCsr::Real(matrix) => lattice_cl::linalg::sparse::natural_block(matrix),
            AnyCsr::Complex(matrix) => lattice_cl::linalg::sparse::natural_block(matrix),
        };
        Ok(Self { vectors: Some(columns.values), block: block.unwrap_or_else(natural) })
    }
}

/// A solve with everything but its numbers.
struct Job<'a> {
    arguments: &'a Arguments,
    report: &'a Report,
    places: &'a [Processor],
    near_null: NearNull,
    read_seconds: f64,
    devices: Vec<String>,
}

impl Job<'_> {
    fn options<T: Arithmetic>(&self) -> SolveOptions<T> {
        let Arguments {
            method, preconditioner, matching, cycle, format, tol, max_iterations, restart, ..
        } = self.arguments;
        let vectors = self.near_null.vectors.as_ref();
        let near_null_space =
            vectors.map(|vectors| vectors.iter().map(|value| T::from_complex((*value).into())).collect());
        SolveOptions::default()
            .with_method(method.0.and_then(|method| match method {
                AnyMethod::Iterative(method) => Some(method),
                AnyMethod::Direct(_) => None,
            }))
            .with_preconditioner(preconditioner.0)
            .with_matching(*matching)
            .with_format(format.0)
            .with_single_values(self.arguments.values == Precision::Single)
            .with_stopping(Stopping::default().with_tolerance(*tol).with_max_iterations(*max_iterations))
            .with_restart(usize::from(*restart))
            .with_amg(
                AmgOptions::default()
                    .with_block(self.near_null.block)
                    .with_near_null_space(near_null_space)
                    .with_cycle(*cycle),
            )
    }

    fn run<T: Arithmetic>(&self, a: Csr<T>, b: &[Vec<T>], provenance: Provenance) -> Result<Status, Failure> {
        let interrupt = Interrupt::listen();
        let line = self.report.line();
        let mut watch = |method: Method, look: &Look| {
            line.set_message(format!(
                "{}  iteration {}  residual {}",
                method.name(),
                look.iterations,
                scientific(look.residual.iterated, 2)
            ));
            !interrupt.pressed()
        };
        let summary = [a.rows(), a.columns(), a.entries()];
        let columns: Vec<&[T]> = b.iter().map(Vec::as_slice).collect();
        let (a, options) = (Arc::new(a), self.options());
        let solved = solve_columns(self.places, Arc::clone(&a), &columns, &options, Some(&mut watch));
        let condition = match &solved {
            Ok(solved) if self.arguments.condition && solved.iter().all(|solved| solved.converged) => {
                condition_estimate(self.places, a, &options, Some(&mut watch))
            }
            _ => Ok(None),
        };
        line.finish_and_clear();
        let (solved, condition) = (solved?, condition?);
        for warning in solved.iter().flat_map(|solved| &solved.warnings) {
            self.report.warning(warning);
        }
        let larger = |a: &&Solved<T>, b: &&Solved<T>| a.true_residual.total_cmp(&b.true_residual);
        let worst = solved.iter().max_by(larger).expect("there is a right-hand side");
        let began = self.report.stopwatch();
        for solved in &solved {
            expect_finite("the solution", solved.x.iter().map(|x| x.to_complex()))?;
        }
        if let Some(path) = &self.arguments.output {
            let best = &worst.attempts[worst.best];
            let comment = format!(
                "solution of A x = b with {} by {}\nrelative residual {:e}",
                self.arguments.matrix,
                best.method.name(),
                worst.true_residual
            );
            let vectors: Vec<&[T]> = solved.iter().map(|solved| solved.x.as_slice()).collect();
            columns_of(summary[1], &vectors).write(path, &comment)?;
        }
        let write_seconds = began.seconds();
        let plotted = self.arguments.plot.as_deref().map_or(Ok(()), |path| self.plot(path, &solved, worst));
        let outcome = self.outcome(&solved, worst, summary, condition, write_seconds, provenance);
        self.report.result(table(&outcome), &outcome)?;
        plotted?;
        // An interrupted run has fewer solutions than right-hand sides.
        if solved.len() == b.len() && solved.iter().all(|solved| solved.converged) {
            return Ok(Status::Fine);
        }
        if interrupt.pressed() {
            return Ok(interrupt.status());
        }
        Err(not_solved(worst, self.arguments.tol))
    }

    fn plot<T>(&self, path: &Path, all: &[Solved<T>], worst: &Solved<T>) -> Result<(), Failure> {
        let mut series: Vec<Series> = Vec::new();
        for (column, solved) in all.iter().enumerate() {
            for attempt in &solved.attempts {
                let name = match attempt.preconditioner.kind {
                    Kind::None => attempt.method.name().to_owned(),
                    kind => format!("{}, {kind}", attempt.method.name()),
                };
                let name = if all.len() > 1 { format!("{}: {name}", column + 1) } else { name };
                let points = attempt.history.iter().enumerate();
                let points = points.map(|(k, residual)| (k as f64, *residual)).collect();
                series.push(Series { name, points });
            }
        }
        let marks = Marks { tolerance: Some(self.arguments.tol), true_residual: Some(worst.true_residual) };
        let title = format!("A x = b, {}", self.arguments.matrix);
        drawn(path, plot::residual_history(&title, &series, marks), self.report)
    }

    fn outcome<T>(
        &self,
        all: &[Solved<T>],
        solved: &Solved<T>,
        [rows, columns, entries]: [usize; 3],
        condition_estimate: Option<f64>,
        write_seconds: f64,
        provenance: Provenance,
    ) -> SolveResult {
        let best = &solved.attempts[solved.best];
        let preconditioner = &best.preconditioner;
        let attempts = || all.iter().flat_map(|solved| &solved.attempts);
        let sum = |seconds: fn(&Attempt) -> f64| attempts().map(seconds).sum();
        let column = |solved: &Solved<T>| {
            let best = &solved.attempts[solved.best];
            ColumnSummary {
                method: best.method.name(),
                converged: solved.converged,
                iterations: best.iterations,
                residual: Residuals { iterated: best.iterated, of_definition: solved.true_residual },
                backward_error: solved.backward_error,
            }
        };
        SolveResult {
            schema_version: 1,
            provenance,
            devices: self.devices.clone(),
            matrix: MatrixSummary {
                source: self.arguments.matrix.clone(),
                rows,
                columns,
                entries,
                symmetry: solved.symmetry.name(),
                format: solved.format.to_string(),
                bytes: solved.bytes,
                condition_estimate,
            },
            method: best.method.name(),
            preconditioner: PreconditionerSummary {
                kind: preconditioner.kind.to_string(),
                matched: preconditioner.matched,
                levels: preconditioner.levels.clone(),
                operator_complexity: preconditioner.operator_complexity,
                setup_seconds: preconditioner.setup_seconds,
                bytes: preconditioner.bytes,
            },
            precision: "double",
            tolerance: self.arguments.tol,
            converged: all.iter().all(|solved| solved.converged),
            iterations: best.iterations,
            residual: Residuals { iterated: best.iterated, of_definition: solved.true_residual },
            backward_error: solved.backward_error,
            refinement: solved.refinement.map(|refinement| RefinementSummary {
                steps: refinement.steps,
                fell_back: refinement.fell_back,
            }),
            info: u8::from(!all.iter().all(|solved| solved.converged)),
            columns: if all.len() > 1 { all.iter().map(column).collect() } else { Vec::new() },
            attempts: attempts().map(AttemptSummary::of).collect(),
            seconds: Seconds {
                read: self.read_seconds,
                compile: self.report.compile_seconds(),
                transfer: solved.transfer_seconds,
                setup: sum(|attempt| attempt.preconditioner.setup_seconds),
                solve: sum(|attempt| attempt.seconds),
                write: write_seconds,
            },
            output: self.arguments.output.as_ref().map(|path| path.display().to_string()),
            warnings: all.iter().flat_map(|solved| solved.warnings.iter().cloned()).collect(),
        }
    }
}

impl AttemptSummary {
    fn of(attempt: &Attempt) -> Self {
        Self {
            method: attempt.method.name(),
            preconditioner: attempt.preconditioner.kind.to_string(),
            iterations: attempt.iterations,
            residual: Residuals { iterated: attempt.iterated, of_definition: attempt.true_residual },
            seconds: attempt.seconds,
            failure: attempt.failure.map(|failure| failure.to_string()),
        }
    }
}

/// Returns vectors as the columns of a matrix, to be written.
fn columns_of<T: Arithmetic>(rows: usize, vectors: &[&[T]]) -> DenseMatrix {
    let elements = (0..rows).flat_map(|i| vectors.iter().map(move |vector| vector[i].to_complex()));
    let elements = if T::IS_COMPLEX {
        MatrixElements::Complex(elements.collect())
    } else {
        MatrixElements::Real(elements.map(|element| element.re).collect())
    };
    DenseMatrix { rows, columns: vectors.len(), elements, precision: Precision::Double }
}

/// The failure of a solve whose tolerance is not met.
fn not_solved<T>(solved: &Solved<T>, tolerance: f64) -> Failure {
    let last = &solved.attempts[solved.attempts.len() - 1];
    let why = last.failure.map_or(String::new(), |failure| format!(": {failure}"));
    let message = format!(
        "not solved to {tolerance:e}: the best residual is {:.3e}, after {} iterations of {}{why}",
        solved.true_residual,
        solved.attempts[solved.best].iterations,
        solved.attempts[solved.best].method.name()
    );
    let failure = Failure::new(Status::Failed, anyhow::Error::msg(message));
    let negative = matches!(
        last.failure,
        Some(lattice_solvers::Failure::Breakdown { quantity: "(p, Ap)" | "(r, Kr)", relative, .. }) if relative < 0.0
    );
    match last.method {
        Method::Cg if negative => failure
            .hint("the matrix or its preconditioner is not positive definite; choose --method minres or gcr"),
        Method::Minres if negative => failure
            .hint("the preconditioner is not positive definite; choose --preconditioner jacobi or none, or --method gcr"),
        method if method.takes_preconditioner() => failure
            .hint("another --preconditioner (ilu0, amg), more --max-iterations or a larger --tol may help"),
        _ => failure.hint("more --max-iterations or a larger --tol may help"),
    }
}

fn table(outcome: &SolveResult) -> Table {
    let mut table = Table::default();
    let MatrixSummary { source, rows, columns, entries, symmetry, format, bytes, condition_estimate } =
        &outcome.matrix;
    table.line("matrix", format_args!("{source}: {rows} × {columns}, {entries} entries"));
    table.line("symmetry", symmetry);
    table.line("format", format_args!("{format}, {bytes} bytes"));
    if let Some(condition) = condition_estimate {
        table.line("condition", format_args!("about {}", scientific(*condition, 2)));
    }
    table.line("device", outcome.devices.join(", "));
    table.line("method", outcome.method);
    let PreconditionerSummary { kind, matched, levels, operator_complexity, .. } = &outcome.preconditioner;
    let matched = if *matched { ", of matched rows" } else { "" };
    match (levels, operator_complexity) {
        (Some(levels), Some(complexity)) => table.line(
            "preconditioner",
            format_args!(
                "{kind}{matched}: levels of {} rows, operator complexity {complexity:.2}",
                tuple(levels)
            ),
        ),
        _ => table.line("preconditioner", format_args!("{kind}{matched}")),
    }
    table.line("iterations", outcome.iterations);
    table.line("true residual", scientific(outcome.residual.of_definition, 3));
    table.line("backward error", scientific(outcome.backward_error, 3));
    if let Some(RefinementSummary { steps, fell_back }) = &outcome.refinement {
        let then = if *fell_back { ", then with whole values" } else { "" };
        table.line("refinement", format_args!("{steps} steps{then}"));
    }
    if !outcome.columns.is_empty() {
        table.line(
            "right-hand sides",
            format_args!("{}; the lines above are of the worst", outcome.columns.len()),
        );
    }
    if let Some(output) = &outcome.output {
        table.line("output", output);
    }
    let Seconds { read, compile, transfer, setup, solve, write } = &outcome.seconds;
    table.line(
        "seconds",
        format_args!(
            "read {read:.2}, compile {compile:.2}, transfer {transfer:.2}, setup {setup:.2}, solve {solve:.2}, write {write:.2}"
        ),
    );
    table
}
