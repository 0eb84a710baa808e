//! Multiplies matrices in host memory on all OpenCL devices together.
//!
//! `cargo run --release --example gemm`

use lattice_cl::compute::{Selector, Team};
use lattice_cl::linalg::split::{HostMut, HostRef, SplitParams, gemm};
use lattice_cl::linalg::{MatrixLayout, Op};
use lattice_cl::philox::Philox;

/// Computes C = A B, and compares C x with A (B x).
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let team = Team::select(Selector::All)?; // every OpenCL device, else the host
    let (m, n, k) = (700, 500, 600);
    let mut random = Philox::new(1, 0, 0);
    let mut numbers = |count| -> Vec<f64> { (0..count).map(|_| random.uniform() - 0.5).collect() };
    let (a, b, x) = (numbers(m * k), numbers(k * n), numbers(n));

    let mut c = vec![0.0; m * n];
    let report = gemm(
        &team,
        &SplitParams::default(),
        Op::N,
        Op::N,
        1.0,
        HostRef::new(&a, MatrixLayout::row_major(m, k))?,
        HostRef::new(&b, MatrixLayout::row_major(k, n))?,
        0.0,
        HostMut::new(&mut c, MatrixLayout::row_major(m, n))?,
    )?;

    if team.is_host() {
        println!("there is no OpenCL device: the host multiplied");
    }
    for share in &report.shares {
        let lines = if report.by_columns { "columns" } else { "rows" };
        println!("{:4} {lines} of C on {}", share.rows, share.device);
    }
    let (cx, abx) = (apply(&c, &x), apply(&a, &apply(&b, &x)));
    let largest = cx.iter().zip(&abx).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
    println!("largest component of C x - A (B x): {largest:.1e}");
    assert!(largest < 1e-10, "C is not A B");
    Ok(())
}

/// Returns the product of a matrix, row after row, with a vector.
fn apply(matrix: &[f64], x: &[f64]) -> Vec<f64> {
    matrix.chunks(x.len()).map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
}
