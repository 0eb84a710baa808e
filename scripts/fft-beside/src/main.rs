//! Times three-dimensional transforms of RustFFT, RealFFT and lattice-linalg, out of place.
//!
//! `fft-beside EXTENTS… [--samples N]` prints a line of JSON for each program, kind and precision.
//! RustFFT has lines only: here all rows of two threads, and transpositions between the axes.

use lattice_compute::scalar::Real;
use lattice_compute::{Buffer, Device, Team};
use lattice_linalg::fft::{Plan, RealPlan, Shape};
use num_complex::Complex;
use rayon::prelude::*;
use realfft::{FftNum, RealFftPlanner};
use rustfft::FftPlanner;
use std::time::Instant;

type Failure = Box<dyn std::error::Error>;

/// Rows that a thread takes, and the edge of a block of a transposition.
const ROWS: usize = 16;

/// Writes the transpose of numbers with so many columns.
fn transpose<V: Copy + Send + Sync>(from: &[V], to: &mut [V], columns: usize) {
    let rows = from.len() / columns;
    to.par_chunks_mut(rows * ROWS).enumerate().for_each(|(block, to)| {
        let own = to.len() / rows;
        for first in (0..rows).step_by(ROWS) {
            for j in 0..own {
                for i in first..rows.min(first + ROWS) {
                    to[j * rows + i] = from[i * columns + block * ROWS + j];
                }
            }
        }
    });
}

/// Transforms the last axis of `data`, and makes it the first one in `to`.
fn axis<T: FftNum + Default>(planner: &mut FftPlanner<T>, data: &mut [Complex<T>], to: &mut [Complex<T>], n: usize) {
    let fft = planner.plan_fft_forward(n);
    let scratch = fft.get_inplace_scratch_len();
    data.par_chunks_mut(n * ROWS).for_each_init(
        || vec![Complex::default(); scratch],
        |scratch, rows| fft.process_with_scratch(rows, scratch),
    );
    transpose(data, to, n);
}

/// Transforms complex numbers by RustFFT: `x` and `y` in turn, the result in `y`.
fn complex<T: FftNum + Default>(planner: &mut FftPlanner<T>, x: &mut [Complex<T>], y: &mut [Complex<T>], n: [usize; 3]) {
    axis(planner, x, y, n[2]);
    axis(planner, y, x, n[1]);
    axis(planner, x, y, n[0]);
}

/// Transforms reals by RealFFT along rows and by RustFFT along the others.
fn real<T: FftNum + Default>(
    planners: (&mut RealFftPlanner<T>, &mut FftPlanner<T>),
    x: &mut [T],
    [a, b]: [&mut [Complex<T>]; 2],
    n: [usize; 3],
) {
    let (rows, half) = (planners.0.plan_fft_forward(n[2]), n[2] / 2 + 1);
    let scratch = rows.get_scratch_len();
    x.par_chunks_mut(n[2]).zip(a.par_chunks_mut(half)).for_each_init(
        || vec![Complex::default(); scratch],
        |scratch, (x, a)| rows.process_with_scratch(x, a, scratch).expect("lengths agree"),
    );
    transpose(a, b, half);
    axis(planners.1, b, a, n[1]);
    axis(planners.1, a, b, n[0]);
}

/// Prints the median time of a function.
fn time(who: &str, kind: &str, precision: &str, n: [usize; 3], samples: usize, mut run: impl FnMut()) {
    run();
    let mut times: Vec<f64> = (0..samples)
        .map(|_| {
            let began = Instant::now();
            run();
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let [n1, n2, n3] = n;
    println!(
        "{{\"who\": \"{who}\", \"extents\": \"{n1}x{n2}x{n3}\", \"kind\": \"{kind}\", \"precision\": \"{precision}\", \"ms\": {:.4}, \"least\": {:.4}}}",
        times[times.len() / 2], times[0]
    );
}

fn all<T: Real + FftNum>(device: &Device, n: [usize; 3], samples: usize, precision: &str) -> Result<(), Failure> {
    let points: usize = n.iter().product();
    let components = n[0] * n[1] * (n[2] / 2 + 1);
    let number = |i: usize| <T as Real>::from_f64((i * 7919 % 1013) as f64 / 1013.0 - 0.5);
    let mut x: Vec<Complex<T>> = (0..points).map(|i| Complex::new(number(i), number(i + 5))).collect();
    let mut y = vec![Complex::default(); points];
    let mut reals: Vec<T> = (0..points).map(number).collect();

    let shape = Shape::new(&n);
    let plan = Plan::<T>::new(device, &shape)?;
    let (input, mut output) = (Buffer::from_slice(device, &x)?, Buffer::zeroed(device, points)?);
    time("lattice-linalg", "c2c", precision, n, samples, || {
        plan.forward(&input, &mut output).and_then(|done| Ok(done.wait()?)).expect("a device transforms");
    });
    let plan = RealPlan::<T>::new(device, &shape)?;
    let (input, mut output) = (Buffer::from_slice(device, &reals)?, Buffer::zeroed(device, components)?);
    time("lattice-linalg", "r2c", precision, n, samples, || {
        plan.forward(&input, &mut output).and_then(|done| Ok(done.wait()?)).expect("a device transforms");
    });

    let mut planner = FftPlanner::new();
    time("rustfft", "c2c", precision, n, samples, || complex(&mut planner, &mut x, &mut y, n));
    let mut rows = RealFftPlanner::new();
    time("rustfft", "r2c", precision, n, samples, || {
        let (a, b) = (&mut x[..components], &mut y[..components]);
        real((&mut rows, &mut planner), &mut reals, [a, b], n);
    });
    Ok(())
}

fn main() -> Result<(), Failure> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let samples = words.iter().position(|word| word == "--samples").map(|at| words.drain(at..at + 2).nth(1));
    let samples = samples.flatten().and_then(|text| text.parse().ok()).unwrap_or(9);
    rayon::ThreadPoolBuilder::new().num_threads(2).build_global()?;
    let team = Team::select([])?;
    for word in words {
        let n: Vec<usize> = word.split('x').map(str::parse).collect::<Result<_, _>>()?;
        let n: [usize; 3] = n.try_into().map_err(|_| "three extents are wanted, such as 64x60x45")?;
        all::<f32>(team.device()?, n, samples, "s")?;
        all::<f64>(team.device()?, n, samples, "d")?;
    }
    Ok(())
}
