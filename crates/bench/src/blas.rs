//! `cr-solve bench blas`: vector and matrix-vector operations, and memory's rate.

use super::gemm::number;
use super::outcome::{Benchmark, Subject};
use super::session::{How, Session, wrong};
use super::text::size;
use super::triads::Triads;
use crate::statistics::Spread;
use lattice_cl::compute::parallel::*;
use lattice_cl::compute::{self, Buffer, Device, DeviceInfo, DeviceKind};
use lattice_cl::host::level1::{self, Arithmetic};
use lattice_cl::linalg::{self, MatRef, MatrixLayout, Op};
use lattice_cl::scalar::Real;
use lattice_cli::failure::Failure;
use lattice_cli::memory::Need;
use lattice_cli::precisions;
use num_complex::Complex;
use num_traits::Float;
use std::time::Duration;

/// The command line of `bench blas`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Element types: s, d, c, z, or single, double, single-complex, double-complex
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',', default_value = "s,d,c,z")]
    #[arg(value_parser = precisions::of_elements())]
    precision: Vec<String>,
    /// Numbers of elements of the vectors
    ///
    /// Default: as many as fill 128 MiB and 1 GiB on a GPU, 64 MiB on a processor, 4 MiB with --quick.
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    lengths: Vec<u32>,
    /// Rows and columns of the matrices; by default as many as fill the same memory
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=65536))]
    sizes: Vec<u32>,
    #[command(flatten)]
    pub how: How,
}

impl Arguments {
    fn bytes(&self, info: &DeviceInfo) -> Vec<usize> {
        let wanted: &[usize] = match info.kind {
            _ if self.how.quick => &[4 << 20],
            DeviceKind::Cpu => &[64 << 20],
            _ => &[128 << 20, 1 << 30],
        };
        let most = info.max_allocation_bytes.min(info.memory_bytes / 4) as usize;
        let mut bytes: Vec<usize> = wanted.iter().map(|&bytes| bytes.min(most)).collect();
        bytes.dedup();
        bytes
    }

    fn lengths(&self, info: &DeviceInfo, element: usize) -> Vec<usize> {
        let given: Vec<usize> = self.lengths.iter().map(|&len| len as usize).collect();
        if !given.is_empty() {
            return given;
        }
        self.bytes(info).into_iter().map(|bytes| bytes / element).collect()
    }

    fn sizes(&self, info: &DeviceInfo, element: usize) -> Vec<usize> {
        let given: Vec<usize> = self.sizes.iter().map(|&n| n as usize).collect();
        if !given.is_empty() {
            return given;
        }
        self.bytes(info).into_iter().map(|bytes| (bytes / element).isqrt()).collect()
    }
}

/// Checks and times the operations on each device.
///
/// # Errors
/// When a device fails, or computes something wrong.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    for (number, device) in session.opencl_devices("blas")?.iter().enumerate() {
        let mut triads = Triads::new(device)?;
        for letter in &arguments.precision {
            let mut bench = Bench { number, device, arguments, element: letter, triads: &mut triads };
            match letter.as_str() {
                "s" => bench.measure::<f32>(session)?,
                "d" => bench.measure::<f64>(session)?,
                "c" => bench.measure::<Complex<f32>>(session)?,
                _ => bench.measure::<Complex<f64>>(session)?,
            }
        }
    }
    Ok(())
}

/// The benchmark of one element type on one device.
struct Bench<'a, 'd> {
    number: usize,
    device: &'a Device,
    arguments: &'a Arguments,
    element: &'a str,
    triads: &'a mut Triads<'d>,
}

/// Scalars of the operations; real elements use the real part.
///
/// However often an operation is repeated, its numbers neither overflow nor become subnormal.
const SIGN: Complex<f64> = Complex::new(-1.0, 0.0);
const ALPHA: Complex<f64> = Complex::new(0.75, -0.5);
const BETA: Complex<f64> = Complex::new(-0.625, 0.25);

/// An operation, with its memory passes and its flops for each element.
///
/// Flops are counted as multiplications and additions. The operation is given for devices and for
/// the host.
struct Operation<D, H> {
    name: &'static str,
    /// Vectors that are read and written.
    passes: usize,
    multiplications: u64,
    additions: u64,
    device: D,
    host: H,
}

impl<D, H> Operation<D, H> {
    fn new(
        name: &'static str,
        passes: usize,
        [multiplications, additions]: [u64; 2],
        device: D,
        host: H,
    ) -> Self {
        Self { name, passes, multiplications, additions, device, host }
    }
}

/// An operation that writes y.
type Update<T> =
    Operation<fn(&Buffer<T>, &mut Buffer<T>) -> compute::Result<linalg::Completion>, fn(&[T], &mut [T])>;

/// An operation that returns a number.
type Sum<T> =
    Operation<fn(&Buffer<T>, &Buffer<T>) -> compute::Result<TimedSum>, fn(&[T], &[T]) -> Complex<f64>>;

/// A sum that was read back, and the run time of its kernel.
type TimedSum = (Complex<f64>, Option<Duration>);

fn timed<R: Into<Complex<f64>>>(sum: linalg::Sum<R>) -> compute::Result<TimedSum> {
    let duration = sum.duration()?;
    Ok((sum.wait()?.into(), duration))
}

fn updates<T: Arithmetic>() -> [Update<T>; 5] {
    let of = Update::<T>::new;
    [
        of("copy", 2, [0, 0], |x, y| linalg::copy(x, y), |x, y| level1::copy(x, y)),
        of(
            "scal",
            2,
            [1, 0],
            |_, y| linalg::scal(T::from_complex(SIGN), y),
            |_, y| level1::scal(T::from_complex(SIGN), y),
        ),
        of(
            "axpy",
            3,
            [1, 1],
            |x, y| linalg::axpy(T::from_complex(ALPHA), x, y),
            |x, y| level1::axpy(T::from_complex(ALPHA), x, y),
        ),
        of(
            "xpby",
            3,
            [1, 1],
            |x, y| linalg::xpby(x, T::from_complex(BETA), y),
            |x, y| level1::xpby(x, T::from_complex(BETA), y),
        ),
        of(
            "axpby",
            3,
            [2, 1],
            |x, y| linalg::axpby(T::from_complex(ALPHA), x, T::from_complex(BETA), y),
            |x, y| level1::axpby(T::from_complex(ALPHA), x, T::from_complex(BETA), y),
        ),
    ]
}

fn sums<T: Arithmetic>() -> [Sum<T>; 4] {
    let of = Sum::<T>::new;
    [
        of("dotc", 2, [1, 1], |x, y| timed(linalg::dotc(x, y)?), |x, y| level1::dotc(x, y)),
        of("dotu", 2, [1, 1], |x, y| timed(linalg::dotu(x, y)?), |x, y| level1::dotu(x, y)),
        of("nrm2", 1, [1, 1], |x, _| timed(linalg::nrm2(x)?), |x, _| level1::nrm2(x).into()),
        of("asum", 1, [0, 1], |x, _| timed(linalg::asum(x)?), |x, _| level1::asum(x).into()),
    ]
}

impl Bench<'_, '_> {
    fn measure<T: Arithmetic>(&mut self, session: &mut Session<'_>) -> Result<(), Failure> {
        let info = self.device.info();
        for len in self.arguments.lengths(info, size_of::<T>()) {
            let bytes = (len * size_of::<T>()) as u64;
            let need = Need { on_host: 3 * u128::from(bytes), on_device: 2 * u128::from(bytes) };
            need.expect_room(format_args!("vectors of {len} elements"), Some(self.device))?;
            session.report.note(format_args!(
                "{}: vectors of {} elements `{}`, {}",
                self.device.label(),
                len,
                self.element,
                size(bytes)
            ));
            let [x, y] = [1, 2].map(|vector| values::<T>(vector, len));
            let on_device = Buffer::from_slice(self.device, &x)?;
            self.updates(&x, &y, &on_device, session)?;
            self.sums(&x, &y, &on_device, session)?;
        }
        for n in self.arguments.sizes(info, size_of::<T>()) {
            let bytes = n as u128 * n as u128 * size_of::<T>() as u128;
            let need = Need { on_host: bytes, on_device: bytes };
            need.expect_room(format_args!("matrices of {n}x{n} elements"), Some(self.device))?;
            for op in if T::IS_COMPLEX { vec![Op::N, Op::T, Op::C] } else { vec![Op::N, Op::T] } {
                if session.interrupted() {
                    return Ok(());
                }
                self.gemv::<T>(n, op, session)?;
            }
        }
        Ok(())
    }

    fn subject<T: Arithmetic>(&self, name: &str, len: usize, operations: [u64; 2]) -> Subject {
        // A complex product has six flops, a complex sum two.
        let [of_product, of_sum] = if T::IS_COMPLEX { [6, 2] } else { [1, 1] };
        Subject::new(Benchmark::Blas, name)
            .on(self.number)
            .with("element", self.element)
            .with("n", len)
            .flops((operations[0] * of_product + operations[1] * of_sum) * len as u64)
    }

    fn updates<T: Arithmetic>(
        &mut self,
        x: &[T],
        y: &[T],
        on_device: &Buffer<T>,
        session: &mut Session<'_>,
    ) -> Result<(), Failure> {
        for update in updates::<T>() {
            if session.interrupted() {
                return Ok(());
            }
            let mut target = Buffer::from_slice(self.device, y)?;
            (update.device)(on_device, &mut target)?.wait()?;
            let mut expected = y.to_vec();
            (update.host)(x, &mut expected);
            let bound = ELEMENT_TOLERANCE * T::Real::epsilon().to_f64();
            let found = target.to_vec()?;
            let differs = |(a, b): &(&T, &T)| {
                let difference = (a.to_complex() - b.to_complex()).norm();
                difference > bound || difference.is_nan()
            };
            if let Some((expected, found)) = expected.par_iter().zip(&found).find_first(differs) {
                let what = format!("{}: {}{}", self.device.label(), self.element, update.name);
                return Err(wrong(what, expected.to_complex(), found.to_complex()));
            }
            let subject = self.subject::<T>(update.name, x.len(), [update.multiplications, update.additions]);
            let bytes = (update.passes * size_of_val(x)) as u64;
            self.time(subject, bytes, session, || Ok((update.device)(on_device, &mut target)?.duration()?))?;
        }
        Ok(())
    }

    fn sums<T: Arithmetic>(
        &mut self,
        x: &[T],
        y: &[T],
        on_device: &Buffer<T>,
        session: &mut Session<'_>,
    ) -> Result<(), Failure> {
        let other = Buffer::from_slice(self.device, y)?;
        for sum in sums::<T>() {
            if session.interrupted() {
                return Ok(());
            }
            let (found, _) = (sum.device)(on_device, &other)?;
            let expected = (sum.host)(x, y);
            // Sums are accumulated in double for all element types; no term is above 2.
            let difference = (found - expected).norm();
            if difference > SUM_TOLERANCE * 2.0 * x.len() as f64 || difference.is_nan() {
                let what = format!("{}: {}{}", self.device.label(), self.element, sum.name);
                return Err(wrong(what, expected, found));
            }
            let subject = self.subject::<T>(sum.name, x.len(), [sum.multiplications, sum.additions]);
            let bytes = (sum.passes * size_of_val(x)) as u64;
            // The wall clock includes reading the sum, because every use of a sum reads it.
            self.time(subject, bytes, session, || Ok((sum.device)(on_device, &other)?.1))?;
        }
        Ok(())
    }

    /// Measures y = op(A) x, with A in columns.
    fn gemv<T: Arithmetic>(&mut self, n: usize, op: Op, session: &mut Session<'_>) -> Result<(), Failure> {
        let layout = MatrixLayout::column_major(n, n);
        let [a, x] = [values::<T>(3, n * n), values::<T>(1, n)];
        let matrix = Buffer::from_slice(self.device, &a)?;
        let vector = Buffer::from_slice(self.device, &x)?;
        let mut y = Buffer::<T>::zeroed(self.device, n)?;
        y.fill(T::from_complex(Complex::new(f64::NAN, f64::NAN)))?;
        let multiply = |y: &mut Buffer<T>| -> Result<Option<Duration>, Failure> {
            let a = MatRef::new(&matrix, layout)?;
            Ok(linalg::gemv(op, 1, a, &vector, 0, y)?.duration()?)
        };
        multiply(&mut y)?;
        let expected: Vec<Complex<f64>> = (0..n)
            .into_par_iter()
            .map(|i| {
                let terms = x.iter().enumerate().map(|(j, x)| {
                    let a = if op == Op::N { a[i + n * j] } else { a[j + n * i] }.to_complex();
                    (if op == Op::C { a.conj() } else { a }) * x.to_complex()
                });
                terms.sum()
            })
            .collect();
        // The error of a sum of n terms of at most 2, where rounding is without bias.
        // Host and device add n products in different orders.
        let bound = ELEMENT_TOLERANCE * T::Real::epsilon().to_f64() * n as f64;
        let found = y.to_vec()?;
        for (expected, found) in expected.iter().zip(&found) {
            let difference = (expected - found.to_complex()).norm();
            if difference > bound || difference.is_nan() {
                let what = format!("{}: {}gemv {op:?} {n}", self.device.label(), self.element);
                return Err(wrong(what, expected, found.to_complex()));
            }
        }
        let subject = self.subject::<T>("gemv", n * n, [1, 1]).with("n", n).with("op", format!("{op:?}"));
        let bytes = ((n * n + 2 * n) * size_of::<T>()) as u64;
        self.time(subject, bytes, session, || multiply(&mut y))
    }

    /// Times `call`, and compares it with a triad that moves as many bytes.
    ///
    /// The launch is part of a time of some ten microseconds, so the triad includes one too.
    fn time(
        &mut self,
        subject: Subject,
        bytes: u64,
        session: &mut Session<'_>,
        mut call: impl FnMut() -> Result<Option<Duration>, Failure>,
    ) -> Result<(), Failure> {
        let samples = session.samples_of(|_| call())?;
        let mut subject = subject.bytes(bytes);
        let triad = self.triads.seconds(bytes, session)?;
        if let Some((triad, spread)) = triad.zip(Spread::of(&samples.event)) {
            subject = subject.found("of_equal_triad", triad / spread.median);
        }
        session.push(subject, samples);
        Ok(())
    }
}

/// Largest error of an element, in units of the last place of 1.
///
/// An element is made of a few products and sums of numbers of at most 2.
const ELEMENT_TOLERANCE: f64 = 16.0;

/// Errors of sums in double, for each term.
const SUM_TOLERANCE: f64 = 1e-14;

/// Returns numbers between -1 and 1 without any pattern.
fn values<T: Arithmetic>(vector: u64, len: usize) -> Vec<T> {
    (0..len).into_par_iter().map(|i| number(vector, i)).collect()
}
