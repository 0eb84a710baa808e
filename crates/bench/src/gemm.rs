//! `cr-solve bench gemm`: matrix products in every precision, checked, then timed.

use super::outcome::{ArithmeticCeiling, Benchmark, Samples, Subject};
use super::session::{How, Session};
use crate::statistics::Spread;
use lattice_cl::compute::parallel::*;
use lattice_cl::compute::{Buffer, Device};
use lattice_cl::linalg::gemm::{Arithmetic, GemmParams, GemmTuning, gemm_with};
use lattice_cl::linalg::{MatMut, MatRef, MatrixLayout, Op};
use lattice_cl::scalar::{Element, Precision, Real};
use lattice_cli::choices::word;
use lattice_cli::extents::Extents;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::memory::Need;
use lattice_cli::precisions;
use num_complex::Complex;
use num_traits::Float;

/// The command line of `bench gemm`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// m, n and k of the products, N for NxNxN
    #[arg(long, value_name = "MxNxK,…", value_delimiter = ',', default_value = "512,1024", value_parser = Extents::parse)]
    pub sizes: Vec<Extents>,
    /// Element types: s, d, c, z, or single, double, single-complex, double-complex
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',', default_value = "s,d,c,z")]
    #[arg(value_parser = precisions::of_elements())]
    pub precision: Vec<String>,
    /// op(A) and op(B): n as they are, t transposed, c conjugate transposed
    #[arg(long, value_name = "OPS,…", value_delimiter = ',', default_value = "nn", value_parser = parse_ops)]
    pub ops: Vec<[Op; 2]>,
    /// Kernels: the shipped one, also the textbook's, or all variants of a search
    #[arg(long, value_parser = word::<Kernels>(), default_value_t)]
    kernels: Kernels,
    /// Kernel variants as JSON, in place of --kernels; as --json prints them
    #[arg(long, value_name = "JSON", value_parser = parse_tuning)]
    pub variant: Vec<GemmTuning>,
    /// Parts into which the sums of variants are cut
    #[arg(long, value_name = "N,…", value_delimiter = ',', requires = "variant")]
    parts: Vec<usize>,
    /// Single precision also as three products of TF32 parts, where the device has them
    #[arg(long)]
    three_tf32: bool,
    #[command(flatten)]
    pub how: How,
}

/// The kernels that are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kernels {
    Shipped,
    #[default]
    Textbook,
    All,
}

lattice_files::words! {
    Kernels, "choice of kernels":
    Shipped = "shipped", "The kernel that is used by default";
    Textbook = "textbook", "The shipped kernel, and the textbook kernels";
    All = "all", "Every variant that a search would try"
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

/// Checks and times the kernels on one device.
///
/// # Errors
/// When a device fails, or a kernel computes something wrong. A wrong kernel is not timed.
pub fn measure(device: &Device, arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    for letter in &arguments.precision {
        for &extents in &arguments.sizes {
            for &ops in &arguments.ops {
                let case = Case { device, extents, ops, arguments };
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

/// Products of one size with one pair op(A), op(B).
pub struct Case<'a> {
    pub device: &'a Device,
    pub extents: Extents,
    pub ops: [Op; 2],
    pub arguments: &'a Arguments,
}

/// Returns element number `index` of a matrix of numbers without any pattern.
///
/// The numbers lie between -1 and 1.
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

/// Elements that the host's library can multiply too, if it is compiled in.
#[cfg(feature = "faer")]
trait HostElement: Element + faer::traits::ComplexField {}
#[cfg(feature = "faer")]
impl<T: Element + faer::traits::ComplexField> HostElement for T {}
#[cfg(not(feature = "faer"))]
use lattice_cl::scalar::Element as HostElement;

impl Case<'_> {
    fn measure<T: HostElement>(&self, element: &str, session: &mut Session<'_>) -> Result<(), Failure> {
        session.report.note(format_args!("{}: {element}gemm {}", self.device.label(), self.extents));
        self.expect_room::<T>()?;
        let ceiling = session.arithmetic(0, <T as Element>::Real::PRECISION)?;
        let [a, b] = [self.values::<T>(1), self.values::<T>(2)].map(|x| Buffer::from_slice(self.device, &x));
        let (a, b, mut c) = (a?, b?, Buffer::from_slice(self.device, &self.values::<T>(3))?);
        let expected = self.expected::<T>();
        for params in self.kernels::<T>() {
            if session.interrupted() {
                return Ok(());
            }
            let arithmetic = params.arithmetic;
            let chosen = || GemmTuning::chosen::<T>(self.device, arithmetic, self.ops, self.extents.0);
            let tuning = params.tuning.unwrap_or_else(chosen);
            match self.time(&params, tuning, [&a, &b], &mut c, &expected, element, session) {
                Ok((share, samples)) => {
                    let limit = limit(ceiling, tuning, arithmetic);
                    let kernel = self.kernel::<T>(&params, tuning);
                    let mut subject = self
                        .subject::<T>(element, kernel, &samples)
                        .on(0)
                        .with("arithmetic", name(arithmetic))
                        .limited_by_the_slower(limit, session.memory(0));
                    if let Some(parts) = params.parts {
                        subject = subject.with("parts", parts);
                    }
                    let subject = subject
                        .found("share_of_error_bound", share)
                        .found("tuning", serde_json::to_value(tuning).unwrap_or_default());
                    session.push(subject, samples);
                }
                // The variant needs more than this device has.
                Err(failure)
                    if failure.status == Status::Device && self.arguments.kernels == Kernels::All =>
                {
                    session.report.note(format_args!("{tuning}: {}", failure.error));
                }
                Err(failure) => return Err(failure),
            }
        }
        #[cfg(feature = "faer")]
        if self.device.info().kind == lattice_cl::compute::DeviceKind::Cpu
            && self.arguments.variant.is_empty()
        {
            self.library::<T>(element, &expected, ceiling, session)?;
        }
        Ok(())
    }

    /// Returns the subject that all rows of a product share.
    pub fn subject<T: Element>(&self, element: &str, kernel: String, samples: &Samples) -> Subject {
        let [m, n, k] = self.extents.0;
        let terms = m as f64 * n as f64 * k as f64;
        let flops = (if T::IS_COMPLEX { 8.0 } else { 2.0 }) * terms;
        let by = if samples.event.is_empty() { &samples.wall } else { &samples.event };
        let subject = Subject::new(Benchmark::Gemm, kernel).with("element", element);
        let subject = match self.extents.square() {
            Some(n) => subject.with("n", n),
            None => subject.with("extents", self.extents.to_string()),
        };
        let subject = subject
            .with("ops", format!("{:?}{:?}", self.ops[0], self.ops[1]))
            .bytes(((m * k + k * n + m * n) * size_of::<T>()) as u64)
            .flops(flops as u64);
        match Spread::of(by) {
            // A product without reuse reads two elements for each of its mnk terms, and writes mn.
            Some(seconds) => {
                let elements = 2.0 * terms + m as f64 * n as f64;
                let gib = elements * size_of::<T>() as f64 / 1024_f64.powi(3);
                subject.found("effective_bandwidth_gib_s", gib / seconds.median)
            }
            None => subject,
        }
    }

    /// Returns the kernels to measure, each with its arithmetic.
    fn kernels<T: Element>(&self) -> Vec<GemmParams> {
        let with = |arithmetic, tuning| GemmParams::default().with_arithmetic(arithmetic).with_tuning(tuning);
        let mut arithmetics = vec![Arithmetic::Ieee];
        if self.arguments.three_tf32 && T::Real::PRECISION == Precision::Single {
            arithmetics.push(Arithmetic::ThreeTf32);
        }
        let mut list = Vec::new();
        if !self.arguments.variant.is_empty() {
            let uncut =
                self.arguments.variant.iter().map(|&tuning| with(tuning.arithmetic::<T>(), Some(tuning)));
            for params in uncut {
                let cut = self.arguments.parts.iter().map(|&parts| params.with_parts(Some(parts)));
                list.extend(if self.arguments.parts.is_empty() { vec![params] } else { cut.collect() });
            }
            return list;
        }
        if self.arguments.kernels == Kernels::Textbook {
            list.extend(
                [GemmTuning::Global, GemmTuning::Local].map(|kernel| with(Arithmetic::Ieee, Some(kernel))),
            );
        }
        for arithmetic in arithmetics {
            // On a device without faster arithmetic the kernel is the same again.
            let is_new = |tuning: &GemmTuning| tuning.arithmetic::<T>() == arithmetic;
            if self.arguments.kernels == Kernels::All {
                let variants = GemmTuning::variants::<T>(self.device, arithmetic).into_iter().filter(is_new);
                list.extend(variants.map(|tuning| with(arithmetic, Some(tuning))));
            } else if is_new(&GemmTuning::chosen::<T>(self.device, arithmetic, self.ops, self.extents.0)) {
                list.push(with(arithmetic, None));
            }
        }
        list
    }

    /// Returns the name of the kernel that multiplies.
    ///
    /// A kernel for matrix times vector is used if C is a vector and no factor is conjugated.
    fn kernel<T: Element>(&self, params: &GemmParams, tuning: GemmTuning) -> String {
        let [m, n, _] = self.extents.0;
        let plain = !T::IS_COMPLEX || !self.ops.contains(&Op::C);
        if params.tuning.is_none() && (m == 1 || n == 1) && plain {
            return "gemv".to_owned();
        }
        tuning.to_string()
    }

    /// Refuses matrices that the host or the device has no room for.
    ///
    /// Each matrix is there twice.
    ///
    /// # Errors
    /// When there is too little memory; nothing is allocated.
    pub fn expect_room<T: Element>(&self) -> Result<(), Failure> {
        Need::of_product::<T>(self.extents)
            .expect_room(format_args!("the matrices of a product of {}", self.extents), Some(self.device))
    }

    /// Returns rows and columns of the stored A, B and C, column after column.
    pub fn layouts(&self) -> [MatrixLayout; 3] {
        let [m, n, k] = self.extents.0;
        let [op_a, op_b] = self.ops;
        [op_a.shape(m, k), op_b.shape(k, n), (m, n)]
            .map(|(rows, columns)| MatrixLayout::column_major(rows, columns))
    }

    /// Returns the elements of A, B or C: matrix number 1, 2 or 3.
    pub fn values<T: Element>(&self, matrix: usize) -> Vec<T> {
        let MatrixLayout { rows, columns, .. } = self.layouts()[matrix - 1];
        (0..rows * columns).into_par_iter().map(|i| number(matrix as u64, i)).collect()
    }

    /// Returns some columns of op(A) op(B) in double: their numbers and elements.
    pub fn expected<T: Element>(&self) -> Vec<(usize, Vec<Complex<f64>>)> {
        let [m, n, k] = self.extents.0;
        let layouts = self.layouts();
        let element = |matrix: usize, op: Op, i: usize, j: usize| {
            let (i, j) = if op == Op::N { (i, j) } else { (j, i) };
            let x = number::<T>(matrix as u64, layouts[matrix - 1].index(i, j)).to_complex();
            if op == Op::C { x.conj() } else { x }
        };
        let column = |sample: usize| {
            // The columns are spread over the matrix and over the places of a tile, with the first
            // and the last.
            let j = sample * (n - 1) / (CHECKED_COLUMNS - 1);
            let factors: Vec<_> = (0..k).map(|p| element(2, self.ops[1], p, j)).collect();
            let sums = (0..m).into_par_iter().map(|i| {
                let terms = factors.iter().enumerate().map(|(p, b)| element(1, self.ops[0], i, p) * b);
                terms.sum::<Complex<f64>>()
            });
            (j, sums.collect())
        };
        (0..CHECKED_COLUMNS).map(column).collect()
    }

    /// Checks one kernel, then times it.
    ///
    /// Returns the error as a share of the allowed error, and the samples.
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
        let [m, ..] = self.extents.0;
        let [a_layout, b_layout, c_layout] = self.layouts();
        let [op_a, op_b] = self.ops;
        c.fill(T::from_complex(Complex::new(f64::NAN, f64::NAN)))?;
        let multiply = |c: &mut Buffer<T>| {
            let (a, b) = (MatRef::new(a, a_layout)?, MatRef::new(b, b_layout)?);
            gemm_with(params, op_a, op_b, 1, a, b, 0, MatMut::new(c, c_layout)?)
        };
        multiply(c)?.wait()?;
        let read = |j: usize, to: &mut [T]| Ok(c.slice(j * m..(j + 1) * m)?.read(to)?);
        let share = self.checked::<T>(
            params.arithmetic,
            read,
            expected,
            format_args!("{element}gemm {} by {tuning}", self.extents),
        )?;
        let samples = session.samples_of(|_| Ok(multiply(c)?.duration()?))?;
        Ok((share, samples))
    }

    /// Measures the host's own library on the same processor.
    #[cfg(feature = "faer")]
    fn library<T: HostElement>(
        &self,
        element: &str,
        expected: &[(usize, Vec<Complex<f64>>)],
        ceiling: ArithmeticCeiling,
        session: &mut Session<'_>,
    ) -> Result<(), Failure> {
        use faer::{Accum, Mat, Par};
        let [m, n, k] = self.extents.0;
        let layouts = self.layouts();
        let entry = |matrix: usize, op: Op, i: usize, j: usize| -> T {
            let (i, j) = if op == Op::N { (i, j) } else { (j, i) };
            let x: T = number(matrix as u64, layouts[matrix - 1].index(i, j));
            if op == Op::C { T::from_complex(x.to_complex().conj()) } else { x }
        };
        let a = Mat::<T>::from_fn(m, k, |i, j| entry(1, self.ops[0], i, j));
        let b = Mat::<T>::from_fn(k, n, |i, j| entry(2, self.ops[1], i, j));
        let mut c = Mat::<T>::zeros(m, n);
        let multiply = |c: &mut Mat<T>| {
            let one = T::from_complex(1.0.into());
            faer::linalg::matmul::matmul(c, Accum::Replace, &a, &b, one, Par::rayon(0));
        };
        multiply(&mut c);
        let read = |j: usize, to: &mut [T]| {
            to.iter_mut().enumerate().for_each(|(i, to)| *to = c[(i, j)]);
            Ok(())
        };
        let share = self.checked::<T>(
            Arithmetic::Ieee,
            read,
            expected,
            format_args!("{element}gemm {} by faer", self.extents),
        )?;
        let samples = session.samples_of(|_| {
            multiply(&mut c);
            Ok(None)
        })?;
        let host = session.host();
        let subject = self
            .subject::<T>(element, "faer on the host".to_owned(), &samples)
            .on(host)
            .with("arithmetic", name(Arithmetic::Ieee))
            .limited_by_the_slower(ceiling.fma_gflops, session.memory(host))
            .found("share_of_error_bound", share);
        session.push(subject, samples);
        Ok(())
    }

    /// Checks that [`Case::share_of_bound`] is at most 1, and returns it.
    ///
    /// # Errors
    /// If the share is larger or not a number.
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

    /// Returns the error on the checked columns as a share of its bound.
    ///
    /// The bound is 2·u·√(k+2)·‖A‖·‖B‖ for these columns of B, and 2√2 times as large for complex
    /// elements. The factor 2 is there because the reference is in double too. `read` gives a
    /// column of C.
    fn share_of_bound<T: Element>(
        &self,
        arithmetic: Arithmetic,
        read: impl Fn(usize, &mut [T]) -> Result<(), Failure>,
        expected: &[(usize, Vec<Complex<f64>>)],
    ) -> Result<f64, Failure> {
        let [m, _, k] = self.extents.0;
        let mut squares = 0.0;
        let mut column = vec![T::default(); m];
        for (j, expected) in expected {
            read(*j, &mut column)?;
            squares += column.iter().zip(expected).map(|(c, e)| (c.to_complex() - e).norm_sqr()).sum::<f64>();
        }
        // Numbers spread evenly between -1 and 1 have a mean square of 1/3.
        let reals = T::REALS as f64;
        let norm_a = ((m * k) as f64 * reals / 3.0).sqrt();
        let norm_b = ((k * expected.len()) as f64 * reals / 3.0).sqrt();
        let unit = T::Real::epsilon().to_f64() / 2.0;
        let mut bound = 2.0 * unit * ((k + 2) as f64).sqrt() * norm_a * norm_b;
        if T::IS_COMPLEX {
            bound *= 2.0 * 2.0_f64.sqrt();
        }
        if arithmetic == Arithmetic::ThreeTf32 {
            bound *= 4.0 + (k as f64 / 4.0 + 2.0) / ((k + 2) as f64).sqrt();
        }
        Ok(squares.sqrt() / bound)
    }
}

/// Returns the most that a kernel's arithmetic gives, in 10⁹ operations per second.
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
