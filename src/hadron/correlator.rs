//! Correlators: numbers over distances.

use super::observable::Observable;

/// A complete correlator.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlator {
    /// The observable that was measured.
    pub observable: Observable,
    /// The direction of the distances, 0 to 3.
    pub along: usize,
    /// The values C(0), C(1), ….
    pub values: Vec<f64>,
}

impl Correlator {
    /// Returns the [`effective_mass`] at each distance.
    pub fn effective_mass(&self) -> Vec<Option<f64>> {
        effective_mass(&self.values)
    }
}

/// Returns the effective mass at each distance n.
///
/// The mass m solves C(n−1) + C(n+1) = 2 cosh(m) C(n). The equation holds for a single state on a
/// periodic lattice. `None` at n = 0 and if the ratio is below 1.
pub fn effective_mass(correlator: &[f64]) -> Vec<Option<f64>> {
    let extent = correlator.len();
    (0..extent)
        .map(|n| {
            let ahead = correlator[(n + 1) % extent];
            let behind = correlator[(n + extent - 1) % extent];
            let cosh = (0.5 * ahead + 0.5 * behind) / correlator[n];
            (n > 0 && cosh >= 1.0 && cosh.is_finite()).then(|| cosh.acosh())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effective_mass_of_a_single_state() {
        let mass: f64 = 0.37;
        let correlator: Vec<f64> = (0..16).map(|t| (mass * (t as f64 - 8.0)).cosh()).collect();
        for value in &effective_mass(&correlator)[1..16] {
            assert!((value.unwrap() - mass).abs() < 1e-12);
        }
        assert_eq!(effective_mass(&[1.0, 1.0, 3.0, 1.0])[2], None);
    }
}
