//! Action density and topological charge of links.

use super::observables::plaquette;
use crate::host::{FieldStrength, LinksOfSites, doubled_links, ordered_sum};
use serde::Serialize;

/// The density of the action, averaged over sites, in three discretisations.
///
/// The three agree for smooth fields.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Energy {
    /// −Σ_{μ<ν} tr F_μν² with the traceless field strength of four-leaf clovers.
    ///
    /// Source: M. Lüscher, JHEP 08 (2010) 071.
    pub clover: f64,
    /// 2 Σ_{μ<ν} Re tr(1 − P_μν).
    pub plaquette: f64,
    /// The improved energy, without errors of order a².
    ///
    /// 5/3 of `clover` − 1/6 of the clover energy with [rectangles](FieldStrength::of_rectangles).
    pub improved: f64,
}

/// The topological charge in two discretisations.
///
/// Q = −Σ_x tr[F_12 F_34 − F_13 F_24 + F_14 F_23]/(4π²), with directions x, y, z, t and a traceless
/// field strength.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TopologicalCharge {
    /// From four-leaf clovers.
    pub clover: f64,
    /// The improved charge: 5/3 of `clover` − 1/6 of the charge with rectangles.
    ///
    /// See [rectangles](FieldStrength::of_rectangles).
    pub improved: f64,
}

/// Returns the action density of links.
pub fn energy(links: &impl LinksOfSites) -> Energy {
    energy_and_charge(links).0
}

/// Returns the topological charge of links.
pub fn topological_charge(links: &impl LinksOfSites) -> TopologicalCharge {
    energy_and_charge(links).1
}

/// Returns both, from field strengths that are computed once.
pub fn energy_and_charge(links: &impl LinksOfSites) -> (Energy, TopologicalCharge) {
    let doubled = doubled_links(links);
    let volume = links.dims().volume();
    let sums = ordered_sum(volume, [0.0; 4], add, |site| {
        let plaquettes = FieldStrength::at(links, site).traceless();
        let rectangles = FieldStrength::of_rectangles(links, &doubled, site).traceless();
        [plaquettes.energy(), rectangles.energy(), plaquettes.charge_density(), rectangles.charge_density()]
    });
    let [energy, of_rectangles, charge, charge_of_rectangles] = sums;
    from_sums(volume, [energy, charge], [of_rectangles, charge_of_rectangles], plaquette(links).average)
}

/// Makes the energy of sums over `volume` sites and the average plaquette.
///
/// The sums are −Σ tr F² and the charge, with loops of plaquettes and of rectangles.
pub(super) fn from_sums(
    volume: usize,
    of_plaquettes: [f64; 2],
    of_rectangles: [f64; 2],
    average_plaquette: f64,
) -> (Energy, TopologicalCharge) {
    let [clover, charge] = of_plaquettes;
    let [improved_energy, improved_charge] =
        std::array::from_fn(|k| improved(of_plaquettes[k], of_rectangles[k]));
    let density = |sum: f64| sum / volume as f64;
    let plaquette = 36.0 * (1.0 - average_plaquette);
    (
        Energy { clover: density(clover), plaquette, improved: density(improved_energy) },
        TopologicalCharge { clover: charge, improved: improved_charge },
    )
}

/// Returns the action density from four-leaf clovers alone, [`Energy::clover`].
pub(super) fn clover_energy(links: &impl LinksOfSites) -> f64 {
    let density = |site| FieldStrength::at(links, site).traceless().energy();
    let volume = links.dims().volume();
    ordered_sum(volume, 0.0, |a, b| a + b, density) / volume as f64
}

/// Combines both values so that errors of order a² cancel.
///
/// Rectangles count four times.
fn improved(of_plaquettes: f64, of_rectangles: f64) -> f64 {
    of_plaquettes * (5.0 / 3.0) - of_rectangles / 6.0
}

fn add(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    std::array::from_fn(|k| a[k] + b[k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Dims;
    use crate::host::{GaugeConfiguration, Matrix3};
    use num_complex::Complex;

    /// Returns a weak Abelian wave of A_t along x, and its continuum action density.
    ///
    /// The wave has one period.
    fn wave(length: usize) -> (GaugeConfiguration, f64) {
        let dims = Dims::new([length, 2, 2, 2]).unwrap();
        let (p, amplitude) = (std::f64::consts::TAU / length as f64, 1e-3);
        let mut configuration = GaugeConfiguration::unit(dims);
        for site in 0..dims.volume() {
            let z = Complex::from_polar(1.0, amplitude * (p * dims.coordinates(site)[0] as f64).cos());
            let diagonal = [z, z.conj(), Complex::new(1.0, 0.0)];
            let link = Matrix3::from_fn(|i, j| if i == j { diagonal[i] } else { Complex::default() });
            configuration.set_link(site, 3, link);
        }
        // −tr F² = 2 (∂_x A)², and the mean of sin² is 1/2.
        (configuration, (p * amplitude).powi(2))
    }

    /// Doubling the sites of the wave divides errors of order a² by 4.
    ///
    /// Errors of order a⁴ become a sixteenth.
    #[test]
    fn the_improved_energy_has_errors_of_fourth_order() {
        let errors = |length| {
            let (configuration, exact) = wave(length);
            let found = energy(&configuration);
            [found.clover, found.improved].map(|energy| 1.0 - energy / exact)
        };
        let ([clover, improved], [clover_fine, improved_fine]) = (errors(16), errors(32));
        assert!((clover / clover_fine - 4.0).abs() < 0.1, "{clover} {clover_fine}");
        assert!((improved / improved_fine - 16.0).abs() < 1.0, "{improved} {improved_fine}");
    }
}
