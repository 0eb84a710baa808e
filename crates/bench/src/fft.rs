//! `cr-solve bench fft`: Fourier transforms, compared with the bandwidth of memory.

use super::gemm::number;
use super::outcome::{Benchmark, Subject};
use super::session::{How, Session, wrong};
use lattice_cl::compute::parallel::*;
use lattice_cl::compute::{Buffer, Device, DeviceKind};
use lattice_cl::linalg::fft::{FftKind, Plan, RealPlan, Shape, half_extents};
use lattice_cl::linalg::host::fft as twin;
use lattice_cl::scalar::Real;
use lattice_cli::choices::word;
use lattice_cli::failure::Failure;
use lattice_cli::memory::Need;
use lattice_cli::precisions;
use num_complex::{Complex, Complex64};

/// The command line of `bench fft`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Extents of the arrays, one to four: 128, 251x251x251 [default: cubes of 64, 100 and 128, on GPUs of 243, 251 and 256 too, and 512x512x128; with --quick 32x30x28]
    #[arg(long, value_name = "N[xN…],…", value_delimiter = ',')]
    sizes: Vec<Extents>,
    /// Kinds: complex to complex, real to complex, complex to real
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', default_value = "c2c,r2c,c2r")]
    #[arg(value_parser = word::<FftKind>())]
    kind: Vec<FftKind>,
    /// Precisions: s, d, or single, double
    #[arg(long, value_name = "PRECISION,…", value_delimiter = ',', default_value = "s,d")]
    #[arg(value_parser = precisions::of_reals())]
    precision: Vec<String>,
    /// Arrays that a call transforms
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    batch: u32,
    /// How it is measured, and where results go.
    #[command(flatten)]
    pub how: How,
}

/// Extents of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extents(pub Vec<usize>);

impl std::str::FromStr for Extents {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let extent = |part: &str| part.parse().ok().filter(|&n| n > 0);
        let extents: Option<Vec<usize>> = text.split('x').map(extent).collect();
        extents
            .filter(|extents| extents.len() <= 4)
            .map(Self)
            .ok_or_else(|| "one to four extents with x between are wanted, for example 64x60x45".to_owned())
    }
}

/// Checks and times transforms, out of place, on each device.
///
/// # Errors
/// When a device fails, or computes something wrong.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    for (number, device) in session.opencl_devices("fft")?.iter().enumerate() {
        let sizes = match &arguments.sizes[..] {
            [] if arguments.how.quick => vec![Extents(vec![32, 30, 28])],
            [] => default_sizes(device.info().kind),
            given => given.to_vec(),
        };
        for Extents(extents) in &sizes {
            let shape = Shape::new(extents).batch(arguments.batch as usize);
            let points = shape.points().saturating_mul(arguments.batch as usize);
            let bytes = points as u128 * 2 * if arguments.has_double() { 8 } else { 4 };
            let need = Need { on_host: 80 * points as u128 + bytes, on_device: 4 * bytes };
            need.expect_room(format_args!("arrays of {points} points"), Some(device))?;
            let numbers = Numbers::new(extents, arguments.batch as usize);
            let bench = Bench { number, device, extents, shape, numbers };
            for precision in &arguments.precision {
                for &kind in &arguments.kind {
                    if session.interrupted() {
                        return Ok(());
                    }
                    match precision.as_str() {
                        "single" => bench.measure::<f32>(kind, "s", session)?,
                        "double" => bench.measure::<f64>(kind, "d", session)?,
                        _ => {
                            bench.measure::<f32>(kind, "s", session)?;
                            bench.measure::<f64>(kind, "d", session)?;
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

impl Arguments {
    fn has_double(&self) -> bool {
        self.precision.iter().any(|precision| precision != "single")
    }
}

/// Returns sizes that fill a device: with small and large prime factors, and a prime.
pub fn default_sizes(kind: DeviceKind) -> Vec<Extents> {
    let cube = |n: usize| Extents(vec![n; 3]);
    let mut sizes = [64, 100, 128].map(cube).to_vec();
    if kind == DeviceKind::Gpu {
        sizes.extend([243, 251, 256].map(cube));
        sizes.push(Extents(vec![512, 512, 128]));
    }
    sizes
}

/// Numbers that every precision has, and their transform by the twin.
struct Numbers {
    extents: Vec<usize>,
    x: Vec<Complex64>,
    transformed: Vec<Complex64>,
}

impl Numbers {
    fn new(extents: &[usize], batch: usize) -> Self {
        let points: usize = extents.iter().product();
        let single = |part: f64| f64::from(part as f32);
        let x: Vec<Complex64> = (0..points * batch)
            .into_par_iter()
            .map(|i| {
                let z = number::<Complex<f64>>(1, i);
                Complex64::new(single(z.re), single(z.im))
            })
            .collect();
        let mut transformed = x.clone();
        for array in transformed.chunks_mut(points) {
            twin::all_axes(array, extents, twin::Direction::Forward);
        }
        Self { extents: extents.to_vec(), x, transformed }
    }

    /// Returns half the spectrum of the real parts: (Z_k + Z̄_{−k})/2.
    fn half(&self) -> Vec<Complex64> {
        let half = half_extents(&self.extents);
        let (last, kept) = (self.extents.len() - 1, half[half.len() - 1]);
        let (n, rows) = (self.extents[last], self.extents[..last].iter().product::<usize>());
        // The row whose indices are those of another one, negated.
        let opposite = |row: usize| {
            let (mut rest, mut stride, mut opposite) = (row % rows, 1, row / rows * rows);
            for &extent in self.extents[..last].iter().rev() {
                opposite += (extent - rest % extent) % extent * stride;
                rest /= extent;
                stride *= extent;
            }
            opposite
        };
        let of_row = |row: usize| {
            let (row, opposite) = (row * n, opposite(row) * n);
            let z = &self.transformed;
            (0..kept).map(move |k| 0.5 * (z[row + k] + z[opposite + (n - k) % n].conj()))
        };
        (0..self.x.len() / n).into_par_iter().flat_map_iter(of_row).collect()
    }
}

/// The benchmark of one shape on one device.
struct Bench<'a> {
    number: usize,
    device: &'a Device,
    extents: &'a [usize],
    shape: Shape,
    numbers: Numbers,
}

impl Bench<'_> {
    fn measure<T: Real>(
        &self,
        kind: FftKind,
        precision: &str,
        session: &mut Session<'_>,
    ) -> Result<(), Failure> {
        let Numbers { x, transformed, .. } = &self.numbers;
        let (points, count) = (x.len(), self.shape.points());
        let halves =
            points / self.extents.last().unwrap_or(&1) * half_extents(self.extents).last().unwrap_or(&1);
        // One read and one write for each axis is the least without axes together in local memory.
        let complex_bytes = |count: usize| (2 * size_of::<T>() * count) as u64;
        let axes = self.extents.iter().filter(|&&n| n > 1).count().max(1) as u64;
        let real_bytes = (size_of::<T>() * points) as u64 + complex_bytes(halves);
        let share = if kind == FftKind::ComplexToComplex { 1.0 } else { 0.5 };
        let subject = Subject::new(Benchmark::Fft, kind.name())
            .on(self.number)
            .with("precision", precision)
            .with("extents", self.extents.iter().map(usize::to_string).collect::<Vec<_>>().join("x"))
            .with("batch", points / count)
            .flops((5.0 * points as f64 * (count as f64).log2() * share) as u64);
        match kind {
            FftKind::ComplexToComplex => {
                let plan = Plan::<T>::new(self.device, &self.shape)?;
                let input = Buffer::from_slice(self.device, &rounded::<T>(x))?;
                let mut output = Buffer::zeroed(self.device, points)?;
                plan.forward(&input, &mut output)?;
                self.check::<T>(kind, transformed, &double(&output.to_vec()?))?;
                session.time(subject.bytes(2 * axes * complex_bytes(points)), |_| {
                    Ok(plan.forward(&input, &mut output)?.duration()?)
                })
            }
            FftKind::RealToComplex => {
                let plan = RealPlan::<T>::new(self.device, &self.shape)?;
                let reals: Vec<T> = x.par_iter().map(|z| T::from_f64(z.re)).collect();
                let input = Buffer::from_slice(self.device, &reals)?;
                let mut output = Buffer::zeroed(self.device, halves)?;
                plan.forward(&input, &mut output)?;
                self.check::<T>(kind, &self.numbers.half(), &double(&output.to_vec()?))?;
                let bytes = real_bytes + 2 * (axes - 1) * complex_bytes(halves);
                session.time(subject.bytes(bytes), |_| Ok(plan.forward(&input, &mut output)?.duration()?))
            }
            FftKind::ComplexToReal => {
                let plan = RealPlan::<T>::new(self.device, &self.shape)?;
                let input = Buffer::from_slice(self.device, &rounded::<T>(&self.numbers.half()))?;
                let mut output = Buffer::<T>::zeroed(self.device, points)?;
                plan.inverse(&input, &mut output)?;
                let scaled = |&x: &T| Complex64::new(x.to_f64() / count as f64, 0.0);
                let found: Vec<_> = output.to_vec()?.par_iter().map(scaled).collect();
                let real: Vec<_> = x.par_iter().map(|z| Complex64::new(z.re, 0.0)).collect();
                self.check::<T>(kind, &real, &found)?;
                let bytes = real_bytes + 2 * (axes - 1) * complex_bytes(halves);
                session.time(subject.bytes(bytes), |_| Ok(plan.inverse(&input, &mut output)?.duration()?))
            }
        }
    }

    /// Compares results with the twin's, relative to their norm.
    fn check<T: Real>(
        &self,
        kind: FftKind,
        expected: &[Complex64],
        found: &[Complex<f64>],
    ) -> Result<(), Failure> {
        let norm: f64 = expected.par_iter().map(Complex64::norm_sqr).sum();
        let apart: f64 = expected.par_iter().zip(found).map(|(a, b)| (a - b).norm_sqr()).sum();
        let error = (apart / norm).sqrt();
        if error < TOLERANCE * T::epsilon().to_f64() && expected.len() == found.len() {
            return Ok(());
        }
        let what = format!("{}: {kind} of {:?}", self.device.label(), self.extents);
        Err(wrong(what, "the twin's numbers", format_args!("numbers {error:e} apart")))
    }
}

/// Largest relative error of a result, in the norm: so many roundings.
const TOLERANCE: f64 = 64.0;

fn double<T: Real>(values: &[Complex<T>]) -> Vec<Complex64> {
    values.par_iter().map(|z| Complex64::new(z.re.to_f64(), z.im.to_f64())).collect()
}

fn rounded<T: Real>(values: &[Complex64]) -> Vec<Complex<T>> {
    values.par_iter().map(|z| Complex::new(T::from_f64(z.re), T::from_f64(z.im))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_one_to_four_numbers() {
        assert_eq!("128".parse(), Ok(Extents(vec![128])));
        assert_eq!("64x60x45".parse(), Ok(Extents(vec![64, 60, 45])));
        assert!(["", "0", "4x", "2x2x2x2x2", "a"].iter().all(|text| text.parse::<Extents>().is_err()));
    }
}
