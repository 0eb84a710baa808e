//! Factorises many small matrices in one launch, and solves with each.
//!
//! `cargo run --release --example batch`
//!
//! Matrix k has the elements ρ^|i−j|, the correlations of a chain of n numbers, with a ρ of its own.

use lattice_cl::compute::{Buffer, Selector, Team};
use lattice_cl::linalg::factor::batch::posv;
use lattice_cl::linalg::{MatMut, MatrixLayout, Triangle};

/// Solves for 1000 systems, and compares solutions and determinants.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let team = Team::select(Selector::Auto)?;
    let Some(device) = team.devices().first() else {
        println!("there is no OpenCL device, and batches need one: nothing was computed");
        return Ok(());
    };
    let (n, count) = (12, 1000);
    let rho = |k: usize| 0.9 * k as f64 / count as f64;
    let mut matrices = Vec::with_capacity(count * n * n);
    let mut sums = Vec::with_capacity(count * n); // of rows, so that x = (1, …, 1)
    for k in 0..count {
        for i in 0..n {
            let row: Vec<f64> = (0..n).map(|j| rho(k).powi(i.abs_diff(j) as i32)).collect();
            sums.push(row.iter().sum());
            matrices.extend(row);
        }
    }

    let mut a = Buffer::from_slice(device, &matrices)?;
    let mut b = Buffer::from_slice(device, &sums)?;
    let square = MatMut::batch(&mut a, MatrixLayout::row_major(n, n), count, n * n)?;
    let column = MatMut::batch(&mut b, MatrixLayout::column_major(n, 1), count, n)?;
    let info = posv(Triangle::Lower, square, column)?.wait()?; // a number for each matrix, 0 if it is positive
    let (factors, x) = (a.to_vec()?, b.to_vec()?);

    println!("on {}: {count} systems of {n} equations", device.label());
    assert!(info.iter().all(|&info| info == 0), "a matrix is not positive definite");
    let error = x.iter().map(|x| (x - 1.0).abs()).fold(0.0, f64::max);
    println!("largest error of x: {error:.1e}");
    // det = (1 − ρ²)ⁿ⁻¹ is the square of the product of the diagonal of the factor.
    let determinants = factors.chunks(n * n).enumerate().map(|(k, factor)| {
        let product: f64 = (0..n).map(|i| factor[i * n + i]).product();
        (product * product / (1.0 - rho(k) * rho(k)).powi(n as i32 - 1) - 1.0).abs()
    });
    let relative = determinants.fold(0.0, f64::max);
    println!("largest relative error of a determinant: {relative:.1e}");
    assert!(error < 1e-10 && relative < 1e-10, "a factorisation is wrong");
    Ok(())
}
