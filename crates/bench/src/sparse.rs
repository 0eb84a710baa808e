//! `cr-solve bench sparse`: products with sparse matrices in each format, and solves with them.

use super::gemm::number;
use super::outcome::{Benchmark, Subject};
use super::session::{How, Session, wrong};
use super::triads::Triads;
use crate::statistics::Spread;
use lattice_cl::compute::{Device, DeviceKind};
use lattice_cl::linalg::host;
use lattice_cl::linalg::host::level1::Arithmetic;
use lattice_cl::linalg::sparse::market::{AnyCsr, Market};
use lattice_cl::linalg::sparse::precondition::{Amg, AmgOptions, Jacobi};
use lattice_cl::linalg::sparse::{Csr, Format, Matrix, Processor, Space, Vector, natural_block};
use lattice_cl::scalar::Real;
use lattice_cli::choices::is_wanted;
use lattice_cli::failure::Failure;
use lattice_cli::matrix_source::Matrix as Source;
use lattice_cli::memory::Need;
use lattice_cli::precisions;
use lattice_solvers::{
    CgOptions, LinearOperator, OperatorPreconditioner, SolverError, SolverInfo, Stopping, conjugate_gradient,
};
use num_complex::Complex;
use num_traits::Float;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The command line of `bench sparse`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Matrix Market files, or model problems as those of `cr-solve solve`
    ///
    /// Default: a stencil, blocks, and random columns; larger ones on a GPU.
    #[arg(value_name = "MATRIX")]
    pub matrices: Vec<String>,
    /// Precisions: d and s, or double and single; complex ones of a complex matrix
    #[arg(long, value_name = "PRECISION,…", value_delimiter = ',', default_value = "d,s")]
    #[arg(value_parser = precisions::of_reals())]
    precision: Vec<String>,
    /// Formats: csr, sell, bsr:SIZE, diagonals, coo, full-rows, symmetric [default: all that the matrix can have]
    #[arg(long, value_name = "FORMAT,…", value_delimiter = ',')]
    formats: Vec<Format>,
    /// Numbers of vectors that are multiplied at once
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,8", value_parser = clap::value_parser!(u16).range(1..=64))]
    rhs: Vec<u16>,
    /// Also solve with symmetric matrices, in double: CG with Jacobi, and with multigrid to 1e-8
    #[arg(long)]
    solve: bool,
    /// How it is measured, and where results go.
    #[command(flatten)]
    pub how: How,
}

/// Problems that are measured without any named, on processors and elsewhere.
const PROBLEMS: [[&str; 3]; 2] = [
    ["poisson3d:100", "elasticity3d:24", "random:200000,10,1"],
    ["poisson3d:200", "elasticity3d:48", "random:2000000,10,1"],
];

/// Returns the problems that stand for a kind of device.
pub fn default_problems(kind: DeviceKind) -> [&'static str; 3] {
    PROBLEMS[usize::from(kind != DeviceKind::Cpu)]
}

/// The problems of `--quick`.
const SMALL_PROBLEMS: [&str; 3] = ["poisson3d:20", "elasticity3d:5", "random:5000,10,1"];

/// The time that products are repeated for, as one sample.
const SAMPLE: Duration = Duration::from_millis(5);

/// Checks and times products and solves on each device.
///
/// # Errors
/// When a matrix cannot be read, a device fails, or computes something wrong.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    for (number, device) in session.opencl_devices("sparse")?.iter().enumerate() {
        let of_kind = default_problems(device.info().kind);
        let named: Vec<&str> = match (arguments.matrices.is_empty(), session.how.quick) {
            (false, _) => arguments.matrices.iter().map(String::as_str).collect(),
            (true, true) => SMALL_PROBLEMS.to_vec(),
            (true, false) => of_kind.to_vec(),
        };
        let mut triads = Triads::new(device)?;
        for name in named {
            if number == 0 {
                reading(name, session)?;
            }
            let Source { matrix, near_null_space, .. } = Source::of(name)?;
            let mut bench = Bench { number, device, name, arguments, triads: &mut triads };
            let precisions = ["double", "single"];
            for precision in precisions.into_iter().filter(|name| is_wanted(&arguments.precision, name)) {
                match (&matrix, precision == "single") {
                    (AnyCsr::Real(a), false) => bench.products("d", Arc::new(a.clone()), session)?,
                    (AnyCsr::Real(a), true) => bench.products::<f32>("s", Arc::new(a.cast()), session)?,
                    (AnyCsr::Complex(a), false) => bench.products("z", Arc::new(a.clone()), session)?,
                    (AnyCsr::Complex(a), true) => {
                        bench.products::<Complex<f32>>("c", Arc::new(a.cast()), session)?;
                    }
                }
            }
            if arguments.solve {
                match &matrix {
                    AnyCsr::Real(a) => bench.solves("d", a, near_null_space.as_ref(), session)?,
                    AnyCsr::Complex(a) => bench.solves("z", a, None, session)?,
                }
            }
        }
    }
    Ok(())
}

/// Times the reading of a file, with the sorting of its entries.
fn reading(name: &str, session: &mut Session<'_>) -> Result<(), Failure> {
    let path = Path::new(name);
    let Ok(bytes) = path.metadata().map(|file| file.len()) else { return Ok(()) };
    let host = session.host();
    let subject =
        Subject::new(Benchmark::Sparse, "read").on(host).with("matrix", name).bytes(bytes).unlimited();
    session.time(subject, |_| {
        let market = Market::read(path)?;
        market.to_csr().map_err(|error| Failure::new(lattice_cli::failure::Status::Usage, error))?;
        Ok(None)
    })
}

/// The benchmark of one matrix on one device.
struct Bench<'a, 'd> {
    number: usize,
    device: &'a Device,
    name: &'a str,
    arguments: &'a Arguments,
    triads: &'a mut Triads<'d>,
}

impl Bench<'_, '_> {
    fn subject(&self, kernel: &str, element: &str) -> Subject {
        Subject::new(Benchmark::Sparse, kernel)
            .on(self.number)
            .with("matrix", self.name)
            .with("element", element)
    }

    /// Times Y = A X in every format, for every number of vectors.
    fn products<T: Arithmetic>(
        &mut self,
        element: &str,
        csr: Arc<Csr<T>>,
        session: &mut Session<'_>,
    ) -> Result<(), Failure> {
        let place = Processor::from(self.device);
        let height = Matrix::<T>::slice_height(&place);
        let possible: Vec<Format> =
            Format::candidates(&csr, height).iter().map(|(format, _)| *format).collect();
        let chosen = |vectors: u16| Matrix::chosen_format(&place, &csr, usize::from(vectors));
        let most = self.arguments.rhs.iter().copied().max().unwrap_or(1);
        let bytes = csr.entries() * (size_of::<T>() + 8)
            + (csr.rows() + csr.columns()) * size_of::<T>() * usize::from(most);
        let need = Need { on_host: 2 * bytes as u128, on_device: bytes as u128 };
        need.expect_room(format_args!("products with {}", self.name), Some(self.device))?;
        let mut fastest: Option<(Format, f64)> = None;
        let wanted = if self.arguments.formats.is_empty() { &possible } else { &self.arguments.formats };
        for &format in wanted {
            let matrix = Matrix::with_format(&place, Arc::clone(&csr), format)?;
            for &vectors in &self.arguments.rhs {
                if session.interrupted() {
                    return Ok(());
                }
                let subject = self
                    .subject("product", element)
                    .with("vectors", vectors)
                    .with("format", format.to_string());
                let seconds = self.product(
                    subject.found("chosen", format == chosen(vectors)),
                    usize::from(vectors),
                    &matrix,
                    session,
                )?;
                if vectors == 1
                    && seconds.is_some_and(|seconds| fastest.is_none_or(|(_, least)| seconds < least))
                {
                    fastest = seconds.map(|seconds| (format, seconds));
                }
            }
        }
        if let Some((format, _)) = fastest {
            let label = self.device.label();
            let chosen = chosen(1);
            session.report.note(format_args!(
                "{label}: {}, {element}: {format} is fastest, {chosen} is chosen",
                self.name
            ));
        }
        Ok(())
    }

    /// Checks and times Y = A X. Returns the seconds of a product.
    fn product<T: Arithmetic>(
        &mut self,
        subject: Subject,
        vectors: usize,
        matrix: &Matrix<T>,
        session: &mut Session<'_>,
    ) -> Result<Option<f64>, Failure> {
        let (csr, place) = (matrix.source(), matrix.place());
        let values: Vec<T> = (0..csr.columns() * vectors).map(|k| number(1, k)).collect();
        let x = Vector::from_slice(place, &values)?;
        let nan = T::from_complex(Complex::new(f64::NAN, f64::NAN));
        let mut y = Vector::from_slice(place, &vec![nan; csr.rows() * vectors])?;
        // Drivers compile at the first launch.
        let mut once = Duration::ZERO;
        for _ in 0..2 {
            let began = Instant::now();
            matrix.multiply_block(vectors, &x, &mut y)?;
            self.device.finish()?;
            once = began.elapsed();
        }
        let mut expected = vec![T::default(); csr.rows() * vectors];
        host::sparse::csr(
            csr.starts(),
            csr.columns_of(),
            csr.values(),
            vectors,
            csr.columns(),
            &values,
            &mut expected,
        );
        let bound = SUM_TOLERANCE * T::Real::epsilon().to_f64() * csr.norm_infinity();
        for (found, expected) in y.to_vec()?.iter().zip(&expected) {
            let difference = (found.to_complex() - expected.to_complex()).norm();
            if difference > bound || difference.is_nan() {
                let what = format!("{}: {} by {}", self.device.label(), self.name, matrix.format());
                return Err(wrong(what, expected.to_complex(), found.to_complex()));
            }
        }
        let repeats = (SAMPLE.as_secs_f64() / once.as_secs_f64().max(1e-7)).clamp(1.0, 1000.0) as u32;
        let samples = session.samples(|_| {
            let began = Instant::now();
            for _ in 0..repeats {
                matrix.multiply_block(vectors, &x, &mut y)?;
            }
            self.device.finish()?;
            Ok((began.elapsed() / repeats, None))
        })?;
        let seconds = Spread::of(&samples.wall).map(|spread| spread.median);
        let bytes = matrix.bytes() + (vectors * (csr.rows() + csr.columns()) * size_of::<T>()) as u64;
        let per_entry = if T::IS_COMPLEX { 8 } else { 2 };
        let flops = per_entry * (csr.entries() * vectors) as u64;
        let mut subject = subject.bytes(bytes).flops(flops).found("matrix_bytes", matrix.bytes());
        let triad = self.triads.seconds(bytes, session)?;
        if let Some((triad, seconds)) = triad.zip(seconds) {
            subject = subject.found("of_equal_triad", triad / seconds);
        }
        session.push(subject, samples);
        Ok(seconds)
    }

    /// Times an iteration of CG with Jacobi, and a whole solve by CG with multigrid.
    fn solves<T: Arithmetic>(
        &mut self,
        element: &str,
        csr: &Csr<T>,
        near_null_space: Option<&(Vec<f64>, usize)>,
        session: &mut Session<'_>,
    ) -> Result<(), Failure> {
        let rounding = ROUNDING * csr.norm_infinity();
        if csr.asymmetry().is_none_or(|asymmetry| asymmetry.difference > rounding) {
            session.report.note(format_args!("{}: not symmetric, so not solved with", self.name));
            return Ok(());
        }
        let place = Processor::from(self.device);
        let a = Matrix::new(&place, csr.clone())?;
        let b = Vector::from_slice(&place, &vec![T::from_complex(1.0.into()); csr.rows()])?;
        let jacobi = Jacobi::new(&place, csr)?;
        let stopping = Stopping::default().with_tolerance(OUT_OF_REACH).with_max_iterations(ITERATIONS);
        let mut info = cg(&a, &jacobi, &b, stopping)?;
        let samples = session.samples(|_| {
            info = cg(&a, &jacobi, &b, stopping)?;
            Ok((info.time / info.iterations.max(1) as u32, None))
        })?;
        let per_iteration = |count: u64| count / info.iterations.max(1) as u64;
        let bytes = per_iteration(info.work.bytes);
        let mut subject = self
            .subject("cg, jacobi: an iteration", element)
            .with("format", a.format().to_string())
            .bytes(bytes)
            .flops(per_iteration(info.work.flops));
        let seconds = Spread::of(&samples.wall).map(|spread| spread.median);
        if let Some((triad, seconds)) = self.triads.seconds(bytes, session)?.zip(seconds) {
            subject = subject.found("of_equal_triad", triad / seconds);
        }
        session.push(subject, samples);
        if session.interrupted() {
            return Ok(());
        }
        let (vectors, block) = match near_null_space {
            Some((vectors, block)) => {
                (Some(vectors.iter().map(|value| T::from_complex((*value).into())).collect()), *block)
            }
            None => (None, natural_block(csr)),
        };
        let options = AmgOptions::default().with_block(block).with_near_null_space(vectors);
        let stopping = Stopping::default().with_tolerance(WHOLE);
        let (mut setup, mut made) = (Vec::new(), None);
        let samples = session.samples(|_| {
            let began = Instant::now();
            let amg = Amg::new(&place, csr, &options)?;
            setup.push(began.elapsed().as_secs_f64());
            info = cg(&a, &amg, &b, stopping)?;
            let total = began.elapsed();
            made = Some((amg.rows().to_vec(), amg.operator_complexity()));
            Ok((total, None))
        })?;
        let mut subject = self
            .subject("cg, amg: set-up and solve to 1e-8", element)
            .unlimited()
            .found("iterations", info.iterations)
            .found("true_residual", info.residual.true_residual);
        if let (Some(setup), Some((rows, complexity))) = (Spread::of(&setup), made) {
            subject = subject
                .found("setup_s", setup.median)
                .found("levels", rows)
                .found("operator_complexity", complexity);
        }
        session.push(subject, samples);
        Ok(())
    }
}

/// Part of the largest row sum below which a difference from the transpose is rounding.
const ROUNDING: f64 = 1e-14;

/// Iterations of a solve whose iterations are timed.
const ITERATIONS: usize = 100;

/// Out of reach: a solve ends at its limit of iterations.
const OUT_OF_REACH: f64 = 1e-30;

/// Tolerance of whole solves.
const WHOLE: f64 = 1e-8;

/// Errors of a sum of products, in units of the last place of the largest row sum.
const SUM_TOLERANCE: f64 = 64.0;

/// Solves by CG with a preconditioner, and tells how that went.
fn cg<T: Arithmetic>(
    a: &Matrix<T>,
    preconditioner: &dyn LinearOperator<Space = Space<T>>,
    b: &Vector<T>,
    stopping: Stopping,
) -> Result<SolverInfo, Failure> {
    let options = CgOptions::default().with_stopping(stopping);
    let mut k = OperatorPreconditioner { operator: preconditioner, changes: false };
    match conjugate_gradient(a, b, None, &options, Some(&mut k), None) {
        Ok((_, info)) => Ok(info),
        Err(SolverError::NotConverged { info, .. }) => Ok(*info),
        Err(SolverError::Operation(error)) => Err(error.into()),
        Err(error) => {
            Err(Failure::new(lattice_cli::failure::Status::Failed, anyhow::Error::msg(error.to_string())))
        }
    }
}
