//! Time of factorisations of matrices in host memory, by one device or several.
//!
//! `cargo run --release -p lattice-linalg --example factor_teams -- DEVICES potrf|getrf|geqrf|gemm N [GIB]`,
//! for example `1.0,1.1 potrf 32768`. Elements are double. GIB bounds the memory that is taken of each
//! device. Rates of devices and kernels are there before the time runs. The result is checked by a
//! product with a vector.

use lattice_compute::parallel::*;
use lattice_compute::{DeviceOptions, Selector, Team, TuningMode};
use lattice_linalg::split::factor::{FactorParams, geqrf, getrf, potrf};
use lattice_linalg::split::{HostMut, HostRef, SplitParams, gemm};
use lattice_linalg::{MatrixLayout, Op, Triangle};
use std::error::Error;
use std::time::Instant;

type ExampleResult<T> = Result<T, Box<dyn Error>>;

/// Columns that one thread adds up at a time.
const CHUNK: usize = 256;

fn main() -> ExampleResult<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [devices, routine, n, rest @ ..] = &arguments[..] else {
        return Err("arguments: DEVICES potrf|getrf|geqrf|gemm N [GIB]".into());
    };
    let n: usize = n.parse()?;
    let gib = rest.first().map(|text| text.parse::<f64>()).transpose()?;
    let selectors = devices.split(',').map(str::parse).collect::<Result<Vec<Selector>, _>>()?;
    let options = DeviceOptions::default().with_tuning(TuningMode::Shipped);
    let team = Team::select_with(selectors, &options)?;
    let memory = gib.map(|gib| (gib * f64::from(1 << 30)) as u64);
    let params = FactorParams::default().with_products(SplitParams::default().with_memory(memory));
    run(&team, &params, routine, 4096.min(n))?;
    let begin = Instant::now();
    let (seconds, ratio) = run(&team, &params, routine, n)?;
    let rate = 1e-12 * operations(routine, n as f64) / seconds;
    let all = begin.elapsed().as_secs_f64();
    let within = gib.map_or_else(String::new, |gib| format!(", {gib} GiB of each"));
    println!(
        "{devices} {routine} {n}{within}: {seconds:.2} s, {rate:.1} TFLOP/s, ratio {ratio:.2e} ({all:.0} s in all)"
    );
    Ok(())
}

/// Returns the multiplications and additions that LAPACK counts.
fn operations(routine: &str, n: f64) -> f64 {
    n * n
        * n
        * match routine {
            "potrf" => 1.0 / 3.0,
            "getrf" => 2.0 / 3.0,
            "geqrf" => 4.0 / 3.0,
            _ => 2.0,
        }
}

/// Returns element (i, j) of a matrix without a pattern, symmetric with a large diagonal if `definite`.
fn element(n: usize, definite: bool, i: usize, j: usize) -> f64 {
    let (i, j) = if definite { (i.min(j), i.max(j)) } else { (i, j) };
    let mut bits = (i * n + j + 1) as u64;
    for factor in [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03] {
        bits = bits.wrapping_mul(factor);
        bits ^= bits >> 29;
    }
    let number = (bits >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
    if definite && i == j { n as f64 } else { number }
}

/// Returns the seconds of an operation, and the ratio of its residual for one vector.
fn run(team: &Team, params: &FactorParams, routine: &str, n: usize) -> ExampleResult<(f64, f64)> {
    let definite = routine == "potrf";
    let layout = MatrixLayout::column_major(n, n);
    let filled = || {
        let mut a = vec![0.0; n * n];
        a.par_chunks_mut(n).enumerate().for_each(|(j, column)| {
            column.iter_mut().enumerate().for_each(|(i, to)| *to = element(n, definite, i, j));
        });
        a
    };
    let mut a = filled();
    let (mut pivots, mut tau) = (vec![0; n], vec![0.0; n]);
    let y: Vec<f64> = (0..n).map(|i| 1.0 - 2.0 * ((i * 37 % 101) as f64) / 101.0).collect();
    let mut product = if routine == "gemm" { vec![0.0; n * n] } else { Vec::new() };
    let begin = Instant::now();
    let info = match routine {
        "potrf" => potrf(team, params, &mut |_| true, Triangle::Lower, HostMut::new(&mut a, layout)?)?,
        "getrf" => getrf(team, params, &mut |_| true, HostMut::new(&mut a, layout)?, &mut pivots)?,
        "geqrf" => geqrf(team, params, &mut |_| true, HostMut::new(&mut a, layout)?, &mut tau).map(|()| 0)?,
        "gemm" => {
            let factor = HostRef::new(&a, layout)?;
            let to = HostMut::new(&mut product, layout)?;
            gemm(team, &params.products, Op::N, Op::N, 1, factor, factor, 0, to).map(|_| 0)?
        }
        _ => return Err(format!("{routine} is none of potrf, getrf, geqrf, gemm").into()),
    };
    let seconds = begin.elapsed().as_secs_f64();
    if info != 0 {
        return Err(format!("{routine} returned {info}").into());
    }
    let every = |_: usize, _: usize| true;
    let original = |y: &[f64]| -> Vec<f64> {
        (0..n)
            .into_par_iter()
            .map(|i| y.iter().enumerate().map(|(j, y)| element(n, definite, i, j) * y).sum())
            .collect()
    };
    let wanted = if routine == "gemm" { original(&original(&y)) } else { original(&y) };
    let found = match routine {
        "potrf" => times(&a, &transposed_times(&a, &y), |i, j| i >= j),
        "getrf" => {
            let upper = times(&a, &y, |i, j| i <= j);
            let mut sums = times(&a, &upper, |i, j| i > j);
            sums.iter_mut().zip(&upper).for_each(|(sum, own)| *sum += own);
            for (row, other) in pivots.iter().enumerate().rev() {
                sums.swap(row, *other as usize);
            }
            sums
        }
        "geqrf" => reflected(&a, &tau, times(&a, &y, |i, j| i <= j)),
        _ => times(&product, &y, every),
    };
    let sum = |x: &[f64]| x.iter().map(|x| x.abs()).sum::<f64>();
    let norm = if definite { 1.25 * n as f64 } else { 0.25 * n as f64 };
    let apart: Vec<f64> = wanted.iter().zip(&found).map(|(wanted, found)| wanted - found).collect();
    let scale = if routine == "gemm" { norm * norm } else { norm };
    Ok((seconds, sum(&apart) / (n as f64 * f64::EPSILON * scale * sum(&y))))
}

/// Returns the product of a part of a matrix with a vector.
fn times(a: &[f64], y: &[f64], keeps: impl Fn(usize, usize) -> bool + Sync) -> Vec<f64> {
    let n = y.len();
    let chunks = a.par_chunks(n * CHUNK).zip(y.par_chunks(CHUNK)).enumerate();
    let sums = chunks.map(|(number, (columns, y))| {
        let mut sums = vec![0.0; n];
        for (k, (column, y)) in columns.chunks(n).zip(y).enumerate() {
            let j = number * CHUNK + k;
            for (i, (sum, a)) in sums.iter_mut().zip(column).enumerate() {
                *sum += if keeps(i, j) { a * y } else { 0.0 };
            }
        }
        sums
    });
    let add = |mut left: Vec<f64>, right: Vec<f64>| {
        left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
        left
    };
    sums.reduce(|| vec![0.0; n], add)
}

/// Returns the product of the transpose of a lower triangle with a vector.
fn transposed_times(a: &[f64], y: &[f64]) -> Vec<f64> {
    let n = y.len();
    let dot = |(j, column): (usize, &[f64])| column[j..].iter().zip(&y[j..]).map(|(a, y)| a * y).sum();
    a.par_chunks(n).enumerate().map(dot).collect()
}

/// Returns H₁ H₂ … y with the reflectors below a diagonal.
fn reflected(a: &[f64], tau: &[f64], mut y: Vec<f64>) -> Vec<f64> {
    let n = y.len();
    for (j, tau) in tau.iter().enumerate().rev() {
        let v = &a[j * n + j + 1..(j + 1) * n];
        let dot = y[j] + v.iter().zip(&y[j + 1..]).map(|(v, y)| v * y).sum::<f64>();
        y[j] -= tau * dot;
        v.iter().zip(&mut y[j + 1..]).for_each(|(v, y)| *y -= tau * dot * v);
    }
    y
}
