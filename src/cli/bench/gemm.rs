//! `cr-solve bench gemm`: products of matrices in every precision, checked and then timed.

use super::outcome::{ArithmeticCeiling, Benchmark, Samples, Subject};
use super::session::{How, Session};
use crate::blas::gemm::{Arithmetic, GemmParams, GemmTuning, gemm_with};
use crate::blas::{BlasError, MatMut, MatRef, MatrixLayout, Op};
use crate::cli::failure::{Failure, Status};
use crate::cli::statistics::Spread;
use crate::device::{Buffer, Device};
use crate::scalar::{Element, Precision, Real};
use num_complex::Complex;
use num_traits::Float;
use rayon::prelude::*;

/// The command line of `bench gemm`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Rows and columns of the square matrices
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values = ["512", "1024"])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub sizes: Vec<u32>,
    /// Element types: s, d, c and z are single, double, single complex and double complex
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',', default_values = ["s", "d", "c", "z"])]
    #[arg(value_parser = ["s", "d", "c", "z"])]
    pub precision: Vec<String>,
    /// How the factors enter, op(A) and op(B): n as they are, t transposed, c conjugate transposed
    #[arg(long, value_name = "OPS,…", value_delimiter = ',', default_values = ["nn"], value_parser = parse_ops)]
    pub ops: Vec<[Op; 2]>,
    /// Kernels: the shipped one, the textbook's too, or every variant that a search would try
    #[arg(long, value_enum, default_value_t)]
    kernels: Kernels,
    /// Kernel variants as JSON, in place of --kernels; as --json prints them
    #[arg(long, value_name = "JSON", value_parser = parse_tuning)]
    pub variant: Vec<GemmTuning>,
    /// Single precision also as three products of TF32 parts, where the device has them
    #[arg(long)]
    three_tf32: bool,
    #[command(flatten)]
    pub how: How,
}

/// Which kernels are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Kernels {
    /// The one that is used unless another is asked for.
    Shipped,
    /// That one, and those of the textbook.
    #[default]
    Textbook,
    /// Every variant that a search would try.
    All,
}

fn parse_ops(text: &str) -> Result<[Op; 2], String> {
    let op = |letter| match letter {
        'n' => Ok(Op::N),
        't' => Ok(Op::T),
        'c' => Ok(Op::C),
        other => Err(format!("`{other}` is none of n, t and c")),
    };
    match text.chars().collect::<Vec<_>>()[..] {
        [a, b] => Ok([op(a)?, op(b)?]),
        _ => Err("two letters are wanted, for A and for B".to_owned()),
    }
}

fn parse_tuning(text: &str) -> Result<GemmTuning, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Columns of C that are compared with the host's.
const CHECKED_COLUMNS: usize = 8;

/// Checks and times the kernels on one device; products on a team if there are several.
///
/// # Errors
/// When a device fails, or a kernel computes something wrong: that one is not timed.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    let devices = session.opencl_devices("gemm")?;
    let [device] = &devices[..] else { return super::gemm_team::measure(arguments, session) };
    for letter in &arguments.precision {
        for &n in &arguments.sizes {
            for &ops in &arguments.ops {
                let case = Case { device, n: n as usize, ops, arguments };
                match letter.as_str() {
                    "s" => case.measure::<f32>("s", session)?,
                    "d" => case.measure::<f64>("d", session)?,
                    "c" => case.measure::<Complex<f32>>("c", session)?,
                    _ => case.measure::<Complex<f64>>("z", session)?,
                }
            }
        }
    }
    Ok(())
}

/// Products of one size in one form.
pub struct Case<'a> {
    pub device: &'a Device,
    pub n: usize,
    pub ops: [Op; 2],
    pub arguments: &'a Arguments,
}

/// Element number `index` of a matrix of numbers between -1 and 1 without any pattern.
pub fn number<T: Element>(matrix: u64, index: usize) -> T {
    let mut bits = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (matrix << 56);
    let mut next = || {
        // The finaliser of MurmurHash3 (A. Appleby).
        bits = (bits ^ (bits >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        bits = (bits ^ (bits >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        bits ^= bits >> 33;
        (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let re = next();
    T::from_complex(Complex::new(re, next()))
}

/// What the host's library can multiply too, where it is compiled in.
#[cfg(feature = "faer")]
trait HostElement: Element + faer::traits::ComplexField {}
#[cfg(feature = "faer")]
impl<T: Element + faer::traits::ComplexField> HostElement for T {}
#[cfg(not(feature = "faer"))]
use crate::scalar::Element as HostElement;

impl Case<'_> {
    fn measure<T: HostElement>(&self, element: &str, session: &mut Session<'_>) -> Result<(), Failure> {
        let n = self.n;
        session.report.note(format_args!("{}: {element}gemm {n}", self.device.label()));
        let ceiling = session.arithmetic(0, <T as Element>::Real::PRECISION)?;
        let values = |matrix| -> Vec<T> { (0..n * n).into_par_iter().map(|i| number(matrix, i)).collect() };
        let [a, b] = [1, 2].map(|matrix| Buffer::from_slice(self.device, &values(matrix)));
        let (a, b, mut c) = (a?, b?, Buffer::from_slice(self.device, &values(3))?);
        let expected = self.expected::<T>();
        for (arithmetic, tuning) in self.kernels::<T>() {
            if session.interrupted() {
                return Ok(());
            }
            let params = GemmParams { arithmetic, tuning: Some(tuning) };
            match self.time(&params, tuning, [&a, &b], &mut c, &expected, element, session) {
                Ok((share, samples)) => {
                    let limit = limit(ceiling, tuning, arithmetic);
                    let subject = self.subject::<T>(element, tuning.to_string(), &samples);
                    let subject = subject
                        .on(0)
                        .with("arithmetic", name(arithmetic))
                        .limited_by_arithmetic(limit)
                        .found("share_of_error_bound", share)
                        .found("tuning", serde_json::to_value(tuning).unwrap_or_default());
                    session.push(subject, samples);
                }
                // A variant that needs more than this device has.
                Err(failure)
                    if failure.status == Status::Device && self.arguments.kernels == Kernels::All =>
                {
                    session.report.note(format_args!("{tuning}: {}", failure.error));
                }
                Err(failure) => return Err(failure),
            }
        }
        #[cfg(feature = "faer")]
        if self.device.info().kind == crate::device::DeviceKind::Cpu && self.arguments.variant.is_empty() {
            self.library::<T>(element, &expected, ceiling, session)?;
        }
        Ok(())
    }

    /// What all rows of a product have.
    pub fn subject<T: Element>(&self, element: &str, kernel: String, samples: &Samples) -> Subject {
        let cube = (self.n as f64).powi(3);
        let flops = (if T::IS_COMPLEX { 8.0 } else { 2.0 }) * cube;
        let by = if samples.event.is_empty() { &samples.wall } else { &samples.event };
        let subject = Subject::new(Benchmark::Gemm, kernel)
            .with("element", element)
            .with("n", self.n)
            .with("ops", format!("{:?}{:?}", self.ops[0], self.ops[1]))
            .bytes((3 * self.n * self.n * size_of::<T>()) as u64)
            .flops(flops as u64);
        match Spread::of(by) {
            // ((B_r + B_w)·k/1024³)/T: for each of the k terms, B_r bytes of two factors' elements are read and B_w
            // bytes of C written, for every element of C.
            Some(seconds) => {
                let gib = 3.0 * size_of::<T>() as f64 * cube / 1024_f64.powi(3);
                subject.found("effective_bandwidth_gib_s", gib / seconds.median)
            }
            None => subject,
        }
    }

    /// The kernels to measure, each with the arithmetic that it has.
    fn kernels<T: Element>(&self) -> Vec<(Arithmetic, GemmTuning)> {
        let mut arithmetics = vec![Arithmetic::Ieee];
        if self.arguments.three_tf32 && T::Real::PRECISION == Precision::Single {
            arithmetics.push(Arithmetic::ThreeTf32);
        }
        let mut list = Vec::new();
        if !self.arguments.variant.is_empty() {
            list.extend(self.arguments.variant.iter().map(|variant| (variant.arithmetic::<T>(), *variant)));
            return list;
        }
        if self.arguments.kernels == Kernels::Textbook {
            list.extend([GemmTuning::Global, GemmTuning::Local].map(|kernel| (Arithmetic::Ieee, kernel)));
        }
        for arithmetic in arithmetics {
            let variants = match self.arguments.kernels {
                Kernels::All => GemmTuning::variants::<T>(self.device, arithmetic),
                _ => vec![GemmTuning::shipped::<T>(self.device, arithmetic)],
            };
            // Where the device has no faster arithmetic, it is the same kernel again.
            let new = variants.into_iter().filter(|v| v.arithmetic::<T>() == arithmetic);
            list.extend(new.map(|variant| (arithmetic, variant)));
        }
        list
    }

    /// Some columns of op(A) op(B) in double: their numbers and elements.
    pub fn expected<T: Element>(&self) -> Vec<(usize, Vec<Complex<f64>>)> {
        let n = self.n;
        let element = |matrix, op: Op, i: usize, j: usize| {
            let (i, j) = if op == Op::N { (i, j) } else { (j, i) };
            let x = number::<T>(matrix, i + j * n).to_complex();
            if op == Op::C { x.conj() } else { x }
        };
        let column = |sample: usize| {
            // Spread over the matrix, and at every place of a tile; the first and the last are among them.
            let j = sample * (n - 1) / (CHECKED_COLUMNS - 1);
            let factors: Vec<_> = (0..n).map(|p| element(2, self.ops[1], p, j)).collect();
            let sums = (0..n).into_par_iter().map(|i| {
                let terms = factors.iter().enumerate().map(|(p, b)| element(1, self.ops[0], i, p) * b);
                terms.sum::<Complex<f64>>()
            });
            (j, sums.collect())
        };
        (0..CHECKED_COLUMNS).map(column).collect()
    }

    /// Checks one kernel, then times it: its error as a share of what is allowed, and its samples.
    #[allow(clippy::too_many_arguments)]
    fn time<T: Element>(
        &self,
        params: &GemmParams,
        tuning: GemmTuning,
        [a, b]: [&Buffer<T>; 2],
        c: &mut Buffer<T>,
        expected: &[(usize, Vec<Complex<f64>>)],
        element: &str,
        session: &Session<'_>,
    ) -> Result<(f64, Samples), Failure> {
        let n = self.n;
        let layout = MatrixLayout::column_major(n, n);
        let [op_a, op_b] = self.ops;
        c.fill(T::from_complex(Complex::new(f64::NAN, f64::NAN)))?;
        let multiply = |c: &mut Buffer<T>| {
            let (a, b) = (MatRef::new(a, layout)?, MatRef::new(b, layout)?);
            gemm_with(params, op_a, op_b, 1.0, a, b, 0.0, MatMut::new(c, layout)?)
        };
        multiply(c)?.wait()?;
        let read = |j: usize, to: &mut [T]| Ok(c.slice(j * n..(j + 1) * n)?.read(to)?);
        let share = self.checked::<T>(
            params.arithmetic,
            read,
            expected,
            format_args!("{element}gemm {n} by {tuning}"),
        )?;
        let samples = session.samples_of(|_| Ok(multiply(c)?.duration()?))?;
        Ok((share, samples))
    }

    /// The host's own library on the same processor.
    #[cfg(feature = "faer")]
    fn library<T: HostElement>(
        &self,
        element: &str,
        expected: &[(usize, Vec<Complex<f64>>)],
        ceiling: ArithmeticCeiling,
        session: &mut Session<'_>,
    ) -> Result<(), Failure> {
        use faer::{Accum, Mat, Par};
        let n = self.n;
        let entry = |matrix, op: Op, i: usize, j: usize| -> T {
            let (i, j) = if op == Op::N { (i, j) } else { (j, i) };
            let x: T = number(matrix, i + j * n);
            if op == Op::C { T::from_complex(x.to_complex().conj()) } else { x }
        };
        let a = Mat::<T>::from_fn(n, n, |i, j| entry(1, self.ops[0], i, j));
        let b = Mat::<T>::from_fn(n, n, |i, j| entry(2, self.ops[1], i, j));
        let mut c = Mat::<T>::zeros(n, n);
        let multiply = |c: &mut Mat<T>| {
            let one = T::from_complex(1.0.into());
            faer::linalg::matmul::matmul(c, Accum::Replace, &a, &b, one, Par::rayon(0));
        };
        multiply(&mut c);
        let read = |j: usize, to: &mut [T]| {
            to.iter_mut().enumerate().for_each(|(i, to)| *to = c[(i, j)]);
            Ok(())
        };
        let share =
            self.checked::<T>(Arithmetic::Ieee, read, expected, format_args!("{element}gemm {n} by faer"))?;
        let samples = session.samples_of(|_| {
            multiply(&mut c);
            Ok(None)
        })?;
        let subject = self
            .subject::<T>(element, "faer on the host".to_owned(), &samples)
            .on(session.host())
            .with("arithmetic", name(Arithmetic::Ieee))
            .limited_by_arithmetic(ceiling.fma_gflops)
            .found("share_of_error_bound", share);
        session.push(subject, samples);
        Ok(())
    }

    /// As [`Case::share_of_bound`], which has to be at most 1.
    ///
    /// # Errors
    /// If it is not.
    pub fn checked<T: Element>(
        &self,
        arithmetic: Arithmetic,
        read: impl Fn(usize, &mut [T]) -> Result<(), Failure>,
        expected: &[(usize, Vec<Complex<f64>>)],
        what: impl std::fmt::Display,
    ) -> Result<f64, Failure> {
        let share = self.share_of_bound::<T>(arithmetic, read, expected)?;
        if share.is_nan() || share > 1.0 {
            let error = anyhow::anyhow!("{what} has {share:.1e} times the error that is allowed: not timed");
            return Err(Failure::new(Status::Failed, error));
        }
        Ok(share)
    }

    /// The error on the checked columns as a share of u·√(k+2)·‖A‖·‖B‖, complex 2√2 times that, for these columns of B and twice, as the
    /// reference is in double too.
    /// `read` gives a column of C.
    fn share_of_bound<T: Element>(
        &self,
        arithmetic: Arithmetic,
        read: impl Fn(usize, &mut [T]) -> Result<(), Failure>,
        expected: &[(usize, Vec<Complex<f64>>)],
    ) -> Result<f64, Failure> {
        let n = self.n;
        let mut squares = 0.0;
        let mut column = vec![T::default(); n];
        for (j, expected) in expected {
            read(*j, &mut column)?;
            squares += column.iter().zip(expected).map(|(c, e)| (c.to_complex() - e).norm_sqr()).sum::<f64>();
        }
        // Numbers even between -1 and 1 have a mean square of 1/3.
        let reals = T::REALS as f64;
        let norm_a = n as f64 * (reals / 3.0).sqrt();
        let norm_b = ((n * expected.len()) as f64 * reals / 3.0).sqrt();
        let unit = T::Real::epsilon().to_f64() / 2.0;
        let mut bound = 2.0 * unit * ((n + 2) as f64).sqrt() * norm_a * norm_b;
        if T::IS_COMPLEX {
            bound *= 2.0 * 2.0_f64.sqrt();
        }
        if arithmetic == Arithmetic::ThreeTf32 {
            bound *= 4.0 + (n as f64 / 4.0 + 2.0) / ((n + 2) as f64).sqrt();
        }
        Ok(squares.sqrt() / bound)
    }
}

impl From<BlasError> for Failure {
    fn from(error: BlasError) -> Self {
        match error {
            BlasError::Device(error) => error.into(),
            BlasError::Variant { .. } => Self::new(Status::Usage, error),
            other => Self::new(Status::Failed, other),
        }
    }
}

/// The most that a kernel's arithmetic gives, in 10⁹ operations per second.
pub fn limit(ceiling: ArithmeticCeiling, tuning: GemmTuning, arithmetic: Arithmetic) -> f64 {
    match (tuning, arithmetic, ceiling.matrix_gflops) {
        (_, Arithmetic::ThreeTf32, Some(units)) => units / 3.0,
        (GemmTuning::Mma(_), _, Some(units)) => units,
        _ => ceiling.fma_gflops,
    }
}

fn name(arithmetic: Arithmetic) -> &'static str {
    if arithmetic == Arithmetic::ThreeTf32 { "3xTF32" } else { "IEEE" }
}
