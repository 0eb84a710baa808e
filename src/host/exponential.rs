//! The Lie algebra of SU(3) and its exponentials.
//!
//! The algebra has traceless anti-Hermitian matrices.

use super::matrix3::Matrix3;
use num_complex::Complex64;

/// Terms of the Taylor series. A norm of 1 leaves out less than 1e-17.
const TERMS: u32 = 18;

/// Most squarings; more are for what is not finite.
const MOST_SQUARINGS: i32 = 64;

impl Matrix3<f64> {
    /// Returns the traceless anti-Hermitian part: (X − X†)/2 − tr(X − X†)/6.
    pub fn traceless_anti_hermitian(&self) -> Self {
        let third = self.trace().im / 3.0;
        Self::from_fn(|i, j| {
            let z = (self.0[i][j] - self.0[j][i].conj()) * 0.5;
            if i == j { Complex64::new(0.0, z.im - third) } else { z }
        })
    }

    /// Returns e^A of a traceless anti-Hermitian matrix A, an element of SU(3).
    ///
    /// The Taylor series of a matrix of norm 1 at most, 2^(−k) A, squared k times. A³ = ½ tr(A²) A + det A (Cayley and Hamilton)
    /// makes a combination of 1, A and A² of each partial sum, in Horner's scheme.
    pub fn exponential(&self) -> Self {
        let norm = self.0.as_flattened().iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
        let squarings = if norm > 1.0 { (norm.log2().ceil() as i32).min(MOST_SQUARINGS) } else { 0 };
        let a = self.scale(0.5f64.powi(squarings));
        let square = a * a;
        let (half_trace, determinant) = (0.5 * square.trace().re, a.determinant());
        // Sums of c_k A^k from the last term down: the sum so far times A, plus the next
        // coefficient.
        let mut q = [Complex64::default(); 3];
        let mut coefficient = (1..=TERMS).fold(1.0, |product, k| product / f64::from(k));
        for k in (0..=TERMS).rev() {
            q = [determinant * q[2] + coefficient, q[0] + half_trace * q[2], q[1]];
            coefficient *= f64::from(k.max(1));
        }
        let mut exponential = Self::from_fn(|i, j| {
            let unit = if i == j { q[0] } else { Complex64::default() };
            unit + q[1] * a.0[i][j] + q[2] * square.0[i][j]
        });
        for _ in 0..squarings {
            exponential = exponential * exponential;
        }
        exponential
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Philox;

    fn algebra_element(seed: u64, size: f64) -> Matrix3<f64> {
        let mut random = Philox::new(seed, 0, 0);
        Matrix3::from_fn(|_, _| random.gaussian()).traceless_anti_hermitian().scale(size)
    }

    #[test]
    fn the_part_is_traceless_and_anti_hermitian_and_a_projection() {
        for seed in 0..10 {
            let a = algebra_element(seed, 1.0);
            assert!(a.trace().norm() < 1e-15);
            assert_eq!(a.adjoint(), a.scale(-1.0));
            assert!(a.traceless_anti_hermitian().max_difference(&a) < 1e-15);
        }
    }

    #[test]
    fn exponentials_are_in_su3_and_add_up_along_a_line() {
        for seed in 0..20 {
            for size in [1e-6, 0.02, 0.4, 1.0, 3.0, 20.0] {
                let a = algebra_element(seed, size);
                let u = a.exponential();
                // Each squaring doubles what rounding has left.
                let bound = 1e-14 * size.max(1.0);
                assert!(u.unitarity_deviation() < bound && (u.determinant() - 1.0).norm() < bound, "{size}");
                assert!((u * a.scale(-1.0).exponential()).max_difference(&Matrix3::identity()) < bound);
                let sum = a.scale(0.3).exponential() * a.scale(0.7).exponential();
                assert!(sum.max_difference(&u) < bound, "{size}: {}", sum.max_difference(&u));
            }
        }
    }

    /// Degenerate eigenvalues are nothing special.
    #[test]
    fn diagonal_matrices_have_the_exponentials_of_their_entries() {
        for angles in [[0.3, 0.3, -0.6], [2.5, -2.5, 0.0], [0.0; 3], [1e-9, 1e-9, -2e-9]] {
            let diagonal =
                |z: [Complex64; 3]| Matrix3::from_fn(|i, j| if i == j { z[i] } else { Complex64::default() });
            let found = diagonal(angles.map(|angle| Complex64::new(0.0, angle))).exponential();
            let expected = diagonal(angles.map(|angle| Complex64::from_polar(1.0, angle)));
            assert!(found.max_difference(&expected) < 1e-14);
        }
    }
}
