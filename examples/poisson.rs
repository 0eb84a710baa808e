//! Computes the potential of a charge in free space.
//!
//! `cargo run --release --example poisson`

use lattice_cl::compute::{Selector, Team};
use lattice_poisson::{Boundary, Cell, Options, Plan};
use std::f64::consts::PI;

/// Solves ∇²V = −4πρ for ρ = (α/π)^{3/2} exp(−α r²), in Hartree atomic units.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (n, side, alpha) = (40, 12.0, 1.0);
    let cell = Cell::new([[side, 0.0, 0.0], [0.0, side, 0.0], [0.0, 0.0, side]])?;
    let from_middle = |i: usize| side * (i as f64 / n as f64 - 0.5);
    let density: Vec<f64> = (0..n * n * n)
        .map(|l| {
            let r2: f64 = [l / (n * n), l / n % n, l % n].map(|i| from_middle(i).powi(2)).iter().sum();
            (alpha / PI).powf(1.5) * (-alpha * r2).exp()
        })
        .collect();

    let team = Team::select(Selector::Auto)?; // the best OpenCL device, else the host
    let options = Options::default().with_boundary(Boundary::Isolated);
    let mut plan = Plan::new(&team, cell, [n; 3], options)?; // serves any number of densities
    let solution = plan.solve(&density)?;

    println!("on {}", if team.is_host() { "the host".into() } else { team.labels().join(", ") });
    println!("charge {:.9} e", solution.charge);
    let middle = solution.potential[(n / 2 * n + n / 2) * n + n / 2];
    // The error function of V(r) = erf(√α r)/r has the slope 2/√π at 0.
    let exact = [
        ("energy", solution.energy, (alpha / (2.0 * PI)).sqrt()),
        ("V(0)", middle, 2.0 * (alpha / PI).sqrt()),
    ];
    for (name, found, exact) in exact {
        println!("{name:<6} {found:.9} hartree, exactly {exact:.9}");
        assert!((found - exact).abs() < 1e-7, "{name} is wrong");
    }
    Ok(())
}
