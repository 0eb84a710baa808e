//! Eigenvalues of a diagonal matrix plus a matrix of rank one, on the host.
//!
//! The twin of the kernels that merge the halves of a tridiagonal matrix: `cl/secular.cl`.
//!
//! D + ρ z zᵀ with d₀ < d₁ < … and ρ > 0 has one eigenvalue between each pair of neighbours, and one
//! above. They are the roots of 1 + ρ Σ zᵢ²/(dᵢ − λ).

use lattice_solvers::range::{exponent, larger, times_power};

/// An eigenvalue as its distance from one of the poles, which keeps differences to poles accurate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Root {
    /// The index of the pole.
    pub pole: usize,
    /// λ − d of this pole.
    pub distance: f64,
}

/// Most steps to a root. Six are usual.
const STEPS: usize = 200;

/// Steps after which an interval is only halved.
const RATIONAL_STEPS: usize = 40;

impl Root {
    /// Returns dᵢ − λ.
    pub fn below(&self, d: &[f64], i: usize) -> f64 {
        (d[i] - d[self.pole]) - self.distance
    }

    /// Returns λ.
    pub fn value(&self, d: &[f64]) -> f64 {
        d[self.pole] + self.distance
    }
}

/// The function and its parts at a point.
struct Value {
    /// The sum over the poles up to the j-th, not positive, and its derivative.
    psi: [f64; 2],
    /// The sum over the poles above, not negative, and its derivative.
    phi: [f64; 2],
}

/// Returns root number `j` for the poles `d` and the weights `z2` = z².
///
/// Each step solves for the root of a rational function that has the two neighbouring poles, and the
/// values and derivatives of both sums (J. R. Bunch, C. P. Nielsen and D. C. Sorensen, Numer. Math.
/// 31 (1978) 31). An interval that holds the root is halved where the step leads out of it.
pub fn root(d: &[f64], z2: &[f64], rho: f64, j: usize) -> Root {
    let power = exponent(d.iter().map(|d| d.abs()).fold(rho, larger));
    if power == 0 {
        return root_of_ordinary(d, z2, rho, j);
    }
    let scaled: Vec<f64> = d.iter().map(|d| times_power(*d, -power)).collect();
    let Root { pole, distance } = root_of_ordinary(&scaled, z2, times_power(rho, -power), j);
    Root { pole, distance: times_power(distance, power) }
}

/// Returns a root where squares of differences of poles are in range.
fn root_of_ordinary(d: &[f64], z2: &[f64], rho: f64, j: usize) -> Root {
    let k = d.len();
    let is_last = j + 1 == k;
    let total: f64 = z2.iter().sum();
    let gap = if is_last { rho * total } else { d[j + 1] - d[j] };
    let value = |pole: usize, mu: f64| {
        let sum = |range: std::ops::Range<usize>| {
            range.fold([0.0, 0.0], |[sum, slope], i| {
                let distance = (d[i] - d[pole]) - mu;
                let term = rho * z2[i] / distance;
                [sum + term, slope + term / distance]
            })
        };
        Value { psi: sum(0..j + 1), phi: sum(j + 1..k) }
    };
    let at_middle = value(j, 0.5 * gap);
    let lower_half = is_last || 1.0 + at_middle.psi[0] + at_middle.phi[0] >= 0.0;
    let pole = if lower_half { j } else { j + 1 };
    // The interval that holds the root, as distances from the pole.
    let (mut low, mut high) = match (is_last, lower_half) {
        (true, _) => (0.0, gap),
        (false, true) => (0.0, 0.5 * gap),
        (false, false) => (-0.5 * gap, 0.0),
    };
    let mut mu = if is_last { 0.5 * gap } else { 0.5 * (low + high) };
    for count in 0..STEPS {
        let Value { psi, phi } = value(pole, mu);
        let f = 1.0 + psi[0] + phi[0];
        if f.abs() <= 2.0 * f64::EPSILON * (1.0 + psi[0].abs() + phi[0].abs()) {
            break;
        }
        if f < 0.0 {
            low = mu
        } else {
            high = mu
        }
        if high - low <= f64::EPSILON * low.abs().max(high.abs()) {
            break;
        }
        let first = (d[j] - d[pole]) - mu;
        let mut next = if is_last {
            // ψ ≈ r + s/(d − x).
            let s = first * first * psi[1];
            let r = 1.0 + psi[0] - first * psi[1];
            mu + first + s / r
        } else {
            let second = (d[j + 1] - d[pole]) - mu;
            let c = 1.0 + psi[0] + phi[0] - first * psi[1] - second * phi[1];
            let a = (first + second) * f - first * second * (psi[1] + phi[1]);
            let b = first * second * f;
            let root = (a * a - 4.0 * b * c).max(0.0).sqrt();
            let eta = if a <= 0.0 { (a - root) / (2.0 * c) } else { 2.0 * b / (a + root) };
            mu + eta
        };
        let inside = next > low && next < high;
        if !inside || count > RATIONAL_STEPS {
            next = middle(low, high);
        }
        if next == mu {
            break;
        }
        mu = next;
    }
    Root { pole, distance: mu }
}

/// Returns the sizes of the zᵢ for which the computed roots are exact.
///
/// With them the eigenvectors are orthogonal to working precision: M. Gu and S. C. Eisenstat, SIAM J.
/// Matrix Anal. Appl. 16 (1995) 172. The common factor √ρ is left in.
pub fn exact_weights(d: &[f64], roots: &[Root]) -> Vec<f64> {
    let weight = |i: usize| {
        let others = (0..d.len()).filter(|&j| j != i).map(|j| roots[j].below(d, i) / (d[i] - d[j]));
        // Ratios of neighbours keep the product in range.
        others.fold(-roots[i].below(d, i), |product, ratio| product * ratio).abs().sqrt()
    };
    (0..d.len()).map(weight).collect()
}

/// Returns a point between two, near zero in steps of powers of two.
fn middle(low: f64, high: f64) -> f64 {
    let (small, large) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
    if small >= 0.1 * large {
        return 0.5 * (low + high);
    }
    let sign = if low + high < 0.0 { -1.0 } else { 1.0 };
    let least = if small > 0.0 { small } else { large * 1e-16 };
    let geometric = sign * (least * large).sqrt();
    if geometric > low && geometric < high { geometric } else { 0.5 * (low + high) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(d: &[f64], z: &[f64], rho: f64) {
        let z2: Vec<f64> = z.iter().map(|z| z * z).collect();
        let roots: Vec<Root> = (0..d.len()).map(|j| root(d, &z2, rho, j)).collect();
        for (j, root) in roots.iter().enumerate() {
            let above = if j + 1 < d.len() { d[j + 1] } else { f64::INFINITY };
            assert!(root.value(d) >= d[j] && root.value(d) <= above, "{j}: {root:?}");
            assert!(root.distance != 0.0, "{j}");
            let terms: Vec<f64> = (0..d.len()).map(|i| rho * z2[i] / root.below(d, i)).collect();
            let size = 1.0 + terms.iter().map(|term| term.abs()).sum::<f64>();
            let f = 1.0 + terms.iter().sum::<f64>();
            assert!(f.abs() < 1e-13 * size, "{j}: {f:e} of {size:e}");
        }
        // The trace.
        let (found, expected): (f64, f64) = (
            roots.iter().map(|root| root.value(d)).sum(),
            d.iter().sum::<f64>() + rho * z2.iter().sum::<f64>(),
        );
        let size = d.iter().map(|d| d.abs()).sum::<f64>() + expected.abs();
        assert!((found - expected).abs() < 1e-14 * size, "{found} {expected}");
    }

    #[test]
    fn roots_lie_between_the_poles_and_are_zeros() {
        check(&[1.0], &[0.5], 2.0);
        check(&[0.0, 1.0], &[0.6, 0.8], 1.0);
        check(&[0.0, 1e-8, 1.0, 1.0 + 1e-7], &[0.5, 0.5, 0.5, 0.5], 1e-3);
        check(&[-3.0, -1.0, 0.0, 2.0, 9.0], &[1e-7, 0.7, 1e-12, 0.7, 1e-9], 4.0);
        let d: Vec<f64> = (0..60).map(|k| (k as f64).sin() * 1e-3 + k as f64 * 0.01).collect();
        let z: Vec<f64> = (0..60).map(|k| ((k * k) as f64).cos() * 0.1 + 0.001).collect();
        check(&d, &z, 0.3);
    }
}
