//! Solves a sparse system: −Δu = f on a square, with u = 0 around it.
//!
//! `cargo run --release --example sparse`

use lattice_cl::compute::{Selector, Team};
use lattice_cl::linalg::sparse::solve::{SolveOptions, solve};
use lattice_cl::linalg::sparse::{Csr, Processor};

/// Solves for u = x (1 − x) y (1 − y), of which differences are exact.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n = 80; // points in each direction
    let row = |row: usize| {
        let (i, j) = (row / n, row % n);
        let entries = [
            (i > 0, row.wrapping_sub(n), -1.0),
            (j > 0, row.wrapping_sub(1), -1.0),
            (true, row, 4.0),
            (j + 1 < n, row + 1, -1.0),
            (i + 1 < n, row + n, -1.0),
        ];
        entries.into_iter().filter(|entry| entry.0).map(|(_, column, value)| (column as u32, value))
    };
    // A matrix of your own: `Market::read(Path::new("A.mtx"))?.to_csr()?`.
    let matrix = Csr::from_rows(n * n, (0..n * n).map(row));
    let h = 1.0 / (n + 1) as f64;
    let bump = |i: usize| (i + 1) as f64 * h * (1.0 - (i + 1) as f64 * h);
    let b: Vec<f64> = (0..n * n).map(|row| 2.0 * h * h * (bump(row / n) + bump(row % n))).collect();

    let place = Processor::of_team(&Team::select(Selector::Auto)?); // the best OpenCL device, else the host
    let solved = solve(&place, matrix, &b, &SolveOptions::default(), None)?;

    let attempt = &solved.attempts[solved.best];
    println!("on {}", place.label());
    println!(
        "{} with {}: {} iterations",
        attempt.method.name(),
        attempt.preconditioner.kind,
        attempt.iterations
    );
    println!("|b - A x| / |b| = {:.1e}", solved.true_residual);
    let errors = solved.x.iter().enumerate().map(|(row, u)| (u - bump(row / n) * bump(row % n)).abs());
    let largest = errors.fold(0.0, f64::max);
    println!("largest error of u: {largest:.1e}");
    assert!(solved.converged && largest < 1e-8, "u is not x (1 - x) y (1 - y)");
    Ok(())
}
