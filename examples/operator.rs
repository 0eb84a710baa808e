//! Solves with an operator of one's own, a closure, by a method of `lattice_solvers`.
//!
//! `cargo run --release --example operator`
//!
//! The operator is the Laplacian of a network of resistors: the edges of a cube in D dimensions, of
//! 1 Ω each. Nothing here needs a device.

use lattice_solvers::{CgOptions, conjugate_gradient, vec::from_fn};

/// Dimensions of the cube.
const D: usize = 10;

/// Computes the resistance between opposite corners of the cube.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let corners = 1 << D;
    // The current that leaves each corner, from the voltages. Neighbours differ in one bit.
    let laplacian = from_fn(corners, |u: &[f64], current: &mut [f64]| {
        for i in 0..corners {
            current[i] = (0..D).map(|bit| u[i] - u[i ^ (1 << bit)]).sum();
        }
    });
    let mut current = vec![0.0; corners];
    current[0] = 1.0; // 1 A goes in at a corner,
    current[corners - 1] = -1.0; // and out at the opposite one.

    let (u, info) = conjugate_gradient(&laplacian, &current, None, &CgOptions::default(), None, None)?;

    let resistance = u[0] - u[corners - 1];
    println!("{} iterations, |b - A x| / |b| = {:.1e}", info.iterations, info.residual.true_residual);
    println!("{resistance:.10} ohm between opposite corners of a cube in {D} dimensions");
    // The corners at distance k are equivalent, so the edges between k and k + 1 are in parallel.
    let mut edges = D as f64;
    let mut exact = 0.0;
    for k in 0..D {
        exact += 1.0 / edges;
        edges *= (D - k - 1) as f64 / (k + 1) as f64;
    }
    println!("{exact:.10} ohm by symmetry");
    assert!((resistance - exact).abs() < 1e-8, "the resistance is wrong");
    Ok(())
}
