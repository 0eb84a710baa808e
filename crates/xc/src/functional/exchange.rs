//! Exchange energies of one spin, by the density of twice that spin.

use std::f64::consts::PI;

/// κ of Perdew, Burke and Ernzerhof (1996).
const KAPPA: f64 = 0.804;

/// μ = βπ²/3 there.
const MU: f64 = super::correlation::BETA * PI * PI / 3.0;

/// An energy of one spin per volume, and its derivatives by this spin's ρ and σ.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct OfSpin {
    pub energy: f64,
    pub by_rho: f64,
    pub by_sigma: f64,
}

/// Returns the energy of Slater's exchange, −¾ (3/π)^⅓ n^{4/3}, for the unpolarised density n.
fn slater_energy(n: f64) -> f64 {
    -0.75 * (3.0 / PI).cbrt() * n * n.cbrt()
}

/// Slater's exchange: E[ρ↑, ρ↓] = ½ (E[2ρ↑] + E[2ρ↓]).
pub(super) fn slater(rho: f64, _: f64) -> OfSpin {
    let energy = slater_energy(2.0 * rho);
    OfSpin { energy: 0.5 * energy, by_rho: 4.0 / 3.0 * energy / (2.0 * rho), by_sigma: 0.0 }
}

/// The exchange of Perdew, Burke and Ernzerhof: Slater's times F = 1 + κ − κ/(1 + μs²/κ).
///
/// Of one spin, n = 2ρ and σ → 4σ; s² = 4σ/(4 k_F² n²), with k_F = (3π²n)^⅓.
pub(super) fn pbe(rho: f64, sigma: f64) -> OfSpin {
    let n = 2.0 * rho;
    let energy = slater_energy(n);
    let fermi = (3.0 * PI * PI * n).cbrt();
    let per_sigma = 1.0 / (4.0 * fermi * fermi * n * n);
    let square = 4.0 * sigma * per_sigma;
    let denominator = 1.0 + MU * square / KAPPA;
    let factor = 1.0 + KAPPA - KAPPA / denominator;
    let by_square = MU / (denominator * denominator);
    OfSpin {
        energy: 0.5 * energy * factor,
        by_rho: 4.0 / 3.0 * energy / n * factor - energy * by_square * 8.0 / 3.0 * square / n,
        by_sigma: 2.0 * energy * by_square * per_sigma,
    }
}
