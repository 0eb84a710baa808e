//! `cr-solve bench gemm`: products of matrices in every precision, checked and then timed.

use super::Common;
use super::failure::{Failure, Status};
use super::report::Report;
use crate::blas::gemm::{Arithmetic, GemmParams, GemmTuning, gemm_with};
use crate::blas::{BlasError, MatMut, MatRef, MatrixLayout, Op};
use crate::device::{ArithmeticRate, Buffer, Device, Profiling, arithmetic_rate, triad_bandwidth};
use crate::scalar::{Element, Precision, Real};
use comfy_table::{CellAlignment, Table, presets};
use num_complex::Complex;
use num_traits::Float;
use rayon::prelude::*;
use serde::Serialize;
use std::time::{Duration, Instant};

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
    /// Timed launches of each kernel
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub launches: u32,
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

#[derive(Serialize)]
struct Outcome {
    schema_version: u32,
    device: String,
    driver: String,
    triad_gb_s: f64,
    /// Measured ceilings of the arithmetic.
    single: Option<Ceiling>,
    double: Option<Ceiling>,
    launches: u32,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Serialize)]
struct Ceiling {
    fma_gflops: f64,
    /// Of the matrix units: in double, or in TF32.
    mma_gflops: Option<f64>,
}

/// One kernel at one size.
#[derive(Clone, Serialize)]
struct Row {
    /// `s`, `d`, `c` or `z`.
    element: &'static str,
    n: usize,
    ops: [Op; 2],
    kernel: String,
    /// `None` for the host's library.
    tuning: Option<GemmTuning>,
    arithmetic: Arithmetic,
    /// ‖C − C_ref‖ on the columns that were checked, as a share of what is allowed.
    share_of_error_bound: f64,
    milliseconds: Milliseconds,
    /// 2 flops for each term of a real product, 8 of a complex one, by the median.
    gflops: f64,
    /// ((B_r + B_w)·k/1024³)/T: for each of the k terms, B_r bytes of two factors' elements are read and B_w bytes of C
    /// written, for every element of C.
    effective_bandwidth_gib_s: f64,
    share_of_ceiling: f64,
}

#[derive(Clone, Serialize)]
struct Milliseconds {
    best: f64,
    median: f64,
}

/// Columns of C that are compared with the host's.
const CHECKED_COLUMNS: usize = 8;

/// Longest that one kernel is timed, unless two launches take longer.
pub(super) const LONGEST: Duration = Duration::from_secs(2);

/// Checks and times the kernels on one device.
///
/// # Errors
/// When there is no such device, it fails, or a kernel computes something wrong: that one is not timed.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let team = common.team(Profiling::On, report)?;
    let [device] = team.devices() else {
        if !team.is_host() {
            return super::bench_gemm_team::run(arguments, &team, report);
        }
        return Err(Failure::usage("bench gemm measures OpenCL devices; name them with --device".to_owned()));
    };
    let wanted = |letters: [&str; 2]| arguments.precision.iter().any(|p| letters.contains(&p.as_str()));
    let ceiling = |rate: ArithmeticRate| Ceiling {
        fma_gflops: rate.fma / 1e9,
        mma_gflops: rate.mma.map(|rate| rate / 1e9),
    };
    let single = if wanted(["s", "c"]) { Some(ceiling(arithmetic_rate::<f32>(device)?)) } else { None };
    let double = if wanted(["d", "z"]) { Some(ceiling(arithmetic_rate::<f64>(device)?)) } else { None };
    let mut outcome = Outcome {
        schema_version: 1,
        device: device.label().to_owned(),
        driver: device.info().driver_version.clone(),
        triad_gb_s: triad_bandwidth(device)? / 1e9,
        single,
        double,
        launches: arguments.launches,
        rows: Vec::new(),
    };
    for letter in &arguments.precision {
        for &n in &arguments.sizes {
            for &ops in &arguments.ops {
                let case = Case { device, n: n as usize, ops, arguments, report };
                match letter.as_str() {
                    "s" => case.measure::<f32>("s", single, &mut outcome.rows)?,
                    "d" => case.measure::<f64>("d", double, &mut outcome.rows)?,
                    "c" => case.measure::<Complex<f32>>("c", single, &mut outcome.rows)?,
                    _ => case.measure::<Complex<f64>>("z", double, &mut outcome.rows)?,
                }
            }
        }
    }
    report.result(table(&outcome), &outcome)?;
    Ok(Status::Fine)
}

/// Products of one size in one form.
pub(super) struct Case<'a> {
    pub device: &'a Device,
    pub n: usize,
    pub ops: [Op; 2],
    pub arguments: &'a Arguments,
    pub report: &'a Report,
}

/// Element number `index` of a matrix of numbers between -1 and 1 without any pattern.
pub(super) fn number<T: Element>(matrix: u64, index: usize) -> T {
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
    fn measure<T: HostElement>(
        &self,
        element: &'static str,
        ceiling: Option<Ceiling>,
        rows: &mut Vec<Row>,
    ) -> Result<(), Failure> {
        let n = self.n;
        self.report.note(format_args!("{element}gemm {n}"));
        let values = |matrix| -> Vec<T> { (0..n * n).into_par_iter().map(|i| number(matrix, i)).collect() };
        let [a, b] = [1, 2].map(|matrix| Buffer::from_slice(self.device, &values(matrix)));
        let (a, b, mut c) = (a?, b?, Buffer::from_slice(self.device, &values(3))?);
        let expected = self.expected::<T>();
        for (arithmetic, tuning) in self.kernels::<T>() {
            let params = GemmParams { arithmetic, tuning: Some(tuning) };
            match self.time(&params, tuning, [&a, &b], &mut c, &expected, element, ceiling) {
                Ok(row) => rows.push(row),
                // A variant that needs more than this device has.
                Err(failure)
                    if failure.status == Status::Device && self.arguments.kernels == Kernels::All =>
                {
                    self.report.note(format_args!("{tuning}: {}", failure.error));
                }
                Err(failure) => return Err(failure),
            }
        }
        #[cfg(feature = "faer")]
        if self.device.info().kind == crate::device::DeviceKind::Cpu && self.arguments.variant.is_empty() {
            rows.push(self.library::<T>(element, ceiling));
        }
        Ok(())
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

    /// Checks one kernel, then times it.
    #[allow(clippy::too_many_arguments)]
    fn time<T: Element>(
        &self,
        params: &GemmParams,
        tuning: GemmTuning,
        [a, b]: [&Buffer<T>; 2],
        c: &mut Buffer<T>,
        expected: &[(usize, Vec<Complex<f64>>)],
        element: &'static str,
        ceiling: Option<Ceiling>,
    ) -> Result<Row, Failure> {
        let n = self.n;
        let layout = MatrixLayout::column_major(n, n);
        let [op_a, op_b] = self.ops;
        c.fill(T::from_complex(Complex::new(f64::NAN, f64::NAN)))?;
        let mut multiply = || {
            let (a, b) = (MatRef::new(a, layout)?, MatRef::new(b, layout)?);
            gemm_with(params, op_a, op_b, 1.0, a, b, 0.0, MatMut::new(&mut *c, layout)?)
        };
        multiply()?.wait()?;
        let read = |j: usize, to: &mut [T]| Ok(c.slice(j * n..(j + 1) * n)?.read(to)?);
        let share = self.share_of_bound::<T>(params.arithmetic, read, expected)?;
        if share.is_nan() || share > 1.0 {
            let error = anyhow::anyhow!(
                "{element}gemm {n} by {tuning} has {share:.1e} times the error that is allowed: not timed"
            );
            return Err(Failure::new(Status::Failed, error));
        }
        let mut multiply = || {
            let (a, b) = (MatRef::new(a, layout)?, MatRef::new(b, layout)?);
            gemm_with(params, op_a, op_b, 1.0, a, b, 0.0, MatMut::new(&mut *c, layout)?)
        };
        let (mut times, start) = (Vec::new(), Instant::now());
        while times.len() < self.arguments.launches as usize && (times.len() < 2 || start.elapsed() < LONGEST)
        {
            times.extend(multiply()?.duration()?);
        }
        Ok(self.row::<T>(element, tuning.to_string(), Some(tuning), params.arithmetic, share, times, ceiling))
    }

    /// The host's own library on the same processor.
    #[cfg(feature = "faer")]
    fn library<T: HostElement>(&self, element: &'static str, ceiling: Option<Ceiling>) -> Row {
        use faer::{Accum, Mat, Par};
        let n = self.n;
        let [a, b] = [1, 2].map(|matrix| Mat::<T>::from_fn(n, n, |i, j| number(matrix, i + j * n)));
        let mut c = Mat::<T>::zeros(n, n);
        let threads = Par::rayon(0);
        let one = T::from_complex(1.0.into());
        let (mut times, start) = (Vec::new(), Instant::now());
        while times.len() < self.arguments.launches as usize && (times.len() < 2 || start.elapsed() < LONGEST)
        {
            let launch = Instant::now();
            faer::linalg::matmul::matmul(&mut c, Accum::Replace, &a, &b, one, threads);
            times.push(launch.elapsed());
        }
        let name = "faer on the host".to_owned();
        self.row::<T>(element, name, None, Arithmetic::Ieee, 0.0, times, ceiling)
    }

    #[allow(clippy::too_many_arguments)]
    fn row<T: Element>(
        &self,
        element: &'static str,
        kernel: String,
        tuning: Option<GemmTuning>,
        arithmetic: Arithmetic,
        share_of_error_bound: f64,
        mut times: Vec<Duration>,
        ceiling: Option<Ceiling>,
    ) -> Row {
        times.sort();
        let (best, median) = (times[0].as_secs_f64(), times[times.len() / 2].as_secs_f64());
        let cube = (self.n as f64).powi(3);
        let gflops = (if T::IS_COMPLEX { 8.0 } else { 2.0 }) * cube / median / 1e9;
        let limit = ceiling.map_or(f64::NAN, |ceiling| match (tuning, arithmetic, ceiling.mma_gflops) {
            (_, Arithmetic::ThreeTf32, Some(units)) => units / 3.0,
            (Some(GemmTuning::Mma(_)), _, Some(units)) => units,
            _ => ceiling.fma_gflops,
        });
        Row {
            element,
            n: self.n,
            ops: self.ops,
            kernel,
            tuning,
            arithmetic,
            share_of_error_bound,
            milliseconds: Milliseconds { best: best * 1e3, median: median * 1e3 },
            gflops,
            effective_bandwidth_gib_s: 3.0 * size_of::<T>() as f64 * cube / 1024_f64.powi(3) / median,
            share_of_ceiling: gflops / limit,
        }
    }

    /// The error on the checked columns as a share of u·√(k+2)·‖A‖·‖B‖, complex 2√2 times that, for these columns of B and twice, as the
    /// reference is in double too.
    /// `read` gives a column of C.
    pub fn share_of_bound<T: Element>(
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

fn table(outcome: &Outcome) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["type", "n", "ops", "kernel", "ms", "GFLOP/s", "ceiling", "B_e GiB/s", "error/bound"]);
    for row in &outcome.rows {
        table.add_row([
            row.element.to_owned(),
            row.n.to_string(),
            format!("{:?}{:?}", row.ops[0], row.ops[1]),
            row.kernel.clone() + if row.arithmetic == Arithmetic::ThreeTf32 { ", 3xTF32" } else { "" },
            format!("{:.3}", row.milliseconds.median),
            format!("{:.0}", row.gflops),
            format!("{:.2}", row.share_of_ceiling),
            format!("{:.0}", row.effective_bandwidth_gib_s),
            if row.tuning.is_some() { format!("{:.3}", row.share_of_error_bound) } else { String::new() },
        ]);
    }
    for column in [1, 4, 5, 6, 7, 8] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut ceilings = String::new();
    for (name, ceiling) in [("single", outcome.single), ("double", outcome.double)] {
        if let Some(Ceiling { fma_gflops, mma_gflops }) = ceiling {
            ceilings += &format!(", {name} {fma_gflops:.0}");
            if let Some(units) = mma_gflops {
                ceilings += &format!(" (matrix units {units:.0})");
            }
        }
    }
    format!(
        "{}, driver {}: triad {:.0} GB/s, ceilings in GFLOP/s{ceilings}; median of at most {} launches\n{table}",
        outcome.device, outcome.driver, outcome.triad_gb_s, outcome.launches
    )
}
