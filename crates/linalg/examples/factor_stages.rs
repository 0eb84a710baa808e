//! Time of factorisations, and of their kernels.
//!
//! `cargo run --release -p lattice-linalg --example factor_stages -- [DEVICE] [potrf|getrf|geqrf|gesv] [N …]`,
//! for example `1.0 potrf 4096 8192`. Elements are double. The first call compiles the kernels or loads
//! them, and its result is checked. The least time of further calls follows, then the kernels of a call
//! that is recorded, by the time that they take. On a busy machine the processor's time is of use
//! beside that of the clock.

mod common;

use common::{Arguments, Devices, ExampleResult, list_kernels};
use lattice_compute::philox::Philox;
use lattice_compute::{Buffer, Device, DeviceOptions, TuningMode};
use lattice_linalg::factor::{geqrf, gesv, getrf, potrf, unmqr};
use lattice_linalg::{Diagonal, MatMut, MatRef, MatrixLayout, Op, Side, Triangle, trmm};
use std::time::{Duration, Instant};

/// Calls of which the least time is told.
const CALLS: usize = 5;

fn main() -> ExampleResult<()> {
    let Arguments { selector, routine, sizes } = Arguments::read("potrf")?;
    let options = DeviceOptions::default().with_tuning(TuningMode::Shipped);
    let Devices { plain: device, recorded, recorder } = Devices::open(selector, options)?;
    println!("{} {routine}", device.label());
    for n in sizes {
        let a = matrix(n, routine == "potrf");
        let first = Factors::make(&device, &routine, &a, n)?;
        println!(
            "{n} ratio {:.2e}, first call {:.4} s",
            first.ratio(&routine, &a)?,
            first.time.as_secs_f64()
        );
        let calls = (0..CALLS)
            .map(|_| Factors::make(&device, &routine, &a, n))
            .collect::<ExampleResult<Vec<Factors>>>()?;
        let least = |times: &dyn Fn(&Factors) -> Duration| calls.iter().map(times).min().unwrap_or_default();
        let [time, processor] = [least(&|call| call.time), least(&|call| call.processor)];
        println!("{n} {routine}: {:.3} ms", 1e3 * time.as_secs_f64());
        println!("{n} {routine} processor: {:.3} ms", 1e3 * processor.as_secs_f64());
        drop(calls);
        Factors::make(&recorded, &routine, &a, n)?;
        recorder.take()?;
        let factors = Factors::make(&recorded, &routine, &a, n)?;
        println!("{n} recorded: {:.3} ms", 1e3 * factors.time.as_secs_f64());
        recorder.take()?.iter().for_each(list_kernels);
    }
    Ok(())
}

/// Numbers without a pattern, symmetric with a large diagonal if `definite`.
fn matrix(n: usize, definite: bool) -> Vec<f64> {
    let mut random = Philox::new(1, 1, 0);
    let mut number = || f64::from(random.next_u32()) / f64::from(u32::MAX) - 0.5;
    let mut a: Vec<f64> = (0..n * n).map(|_| number()).collect();
    if definite {
        for column in 0..n {
            a[column + column * n] = n as f64;
            for row in column + 1..n {
                a[column + row * n] = a[row + column * n];
            }
        }
    }
    a
}

/// A factorisation, or a solution.
struct Factors {
    /// Time until the device was done, transfers of the matrix left out.
    time: Duration,
    /// Time of the processor for it, of all threads.
    processor: Duration,
    a: Buffer<f64>,
    n: usize,
    pivots: Buffer<u32>,
    tau: Buffer<f64>,
    /// The solution for a right-hand side of ones.
    x: Buffer<f64>,
}

impl Factors {
    fn make(device: &Device, routine: &str, a: &[f64], n: usize) -> ExampleResult<Self> {
        let layout = MatrixLayout::column_major(n, n);
        let mut a = Buffer::from_slice(device, a)?;
        let (mut tau, mut x) = (Buffer::zeroed(device, n)?, Buffer::from_slice(device, &vec![1.0; n])?);
        let mut pivots = Buffer::<u32>::zeroed(device, n)?;
        device.finish()?;
        let (start, before) = (Instant::now(), processor_time());
        let matrix = MatMut::new(&mut a, layout)?;
        let info = match routine {
            "potrf" => potrf(Triangle::Lower, matrix)?.wait()?,
            "getrf" => getrf(matrix, &mut pivots)?.wait()?,
            "geqrf" => geqrf(matrix, &mut tau)?.wait().map(|()| 0)?,
            "gesv" => {
                let right = MatMut::new(&mut x, MatrixLayout::column_major(n, 1))?;
                gesv(matrix, &mut pivots, right)?.wait()?
            }
            _ => return Err(format!("{routine} is none of potrf, getrf, geqrf, gesv").into()),
        };
        device.finish()?;
        let (time, processor) = (start.elapsed(), processor_time().saturating_sub(before));
        if info != 0 {
            return Err(format!("{routine} returned {info}").into());
        }
        Ok(Self { time, processor, a, n, pivots, tau, x })
    }

    /// Returns ‖A y − F y‖ / (n ε ‖A‖ ‖y‖) in 1-norms, for a vector y and the product F of the factors.
    ///
    /// The residual of a solution is that of A x = 1.
    fn ratio(&self, routine: &str, a: &[f64]) -> ExampleResult<f64> {
        let n = self.n;
        let y: Vec<f64> = match routine {
            "gesv" => self.x.to_vec()?,
            _ => (0..n).map(|i| 1.0 - 2.0 * ((i * 37 % 101) as f64) / 101.0).collect(),
        };
        let times = |matrix: &[f64]| {
            let mut sums = vec![0.0; n];
            for (column, y) in matrix.chunks(n).zip(&y) {
                sums.iter_mut().zip(column).for_each(|(sum, element)| *sum += element * y);
            }
            sums
        };
        let wanted = times(a);
        let found = match routine {
            "gesv" => vec![1.0; n],
            _ => self.product(routine, &y)?,
        };
        let sum = |x: &[f64]| x.iter().map(|x| x.abs()).sum::<f64>();
        let norm = a.chunks(n).map(sum).fold(0.0, f64::max);
        let apart: Vec<f64> = wanted.iter().zip(&found).map(|(wanted, found)| wanted - found).collect();
        Ok(sum(&apart) / (n as f64 * f64::EPSILON * norm * sum(&y)))
    }

    /// Returns the product of the factors with y.
    fn product(&self, routine: &str, y: &[f64]) -> ExampleResult<Vec<f64>> {
        let (device, n) = (self.a.device(), self.n);
        let (layout, column) = (MatrixLayout::column_major(n, n), MatrixLayout::column_major(n, 1));
        let mut x = Buffer::from_slice(device, y)?;
        let factors = || MatRef::new(&self.a, layout);
        let mut times = |triangle, op, diagonal| -> ExampleResult<()> {
            trmm(Side::Left, triangle, op, diagonal, 1, factors()?, MatMut::new(&mut x, column)?)?;
            Ok(())
        };
        match routine {
            "potrf" => {
                times(Triangle::Lower, Op::T, Diagonal::Stored)?;
                times(Triangle::Lower, Op::N, Diagonal::Stored)?;
            }
            "getrf" => {
                times(Triangle::Upper, Op::N, Diagonal::Stored)?;
                times(Triangle::Lower, Op::N, Diagonal::Ones)?;
            }
            _ => {
                times(Triangle::Upper, Op::N, Diagonal::Stored)?;
                unmqr(Side::Left, Op::N, factors()?, &self.tau, MatMut::new(&mut x, column)?)?;
            }
        }
        let mut found = x.to_vec()?;
        if routine == "getrf" {
            for (row, other) in self.pivots.to_vec()?.into_iter().enumerate().rev() {
                found.swap(row, other as usize);
            }
        }
        Ok(found)
    }
}

/// Returns the time that all threads have had a processor for so far; 0 where Linux does not tell.
fn processor_time() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of_thread = |thread: std::fs::DirEntry| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    Duration::from_nanos(threads.filter_map(of_thread).sum())
}
