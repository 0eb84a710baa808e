//! Matrices between spins.

use crate::host::gamma::{GAMMA, Phase, SpinMatrix, spin_product};
use num_complex::Complex64;
use std::array::from_fn;
use std::ops::{Add, Mul};

/// Γ(n) = γ1^b0 γ2^b1 γ3^b2 γ4^b3 with n = b0 + 2 b1 + 4 b2 + 8 b3, as in Chroma.
///
/// Γ(15) = γ5. Directions 1 to 4 are x, y, z, t.
///
/// # Panics
/// If n is above 15.
pub fn gamma(n: usize) -> SpinMatrix {
    assert!(n < 16, "there are sixteen matrices");
    let one: SpinMatrix = from_fn(|s| (s, Phase::One));
    (0..4).filter(|mu| n >> mu & 1 == 1).fold(one, |left, mu| spin_product(&left, &GAMMA[mu]))
}

/// A matrix between spins with any entries, `[row][column]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpinTensor(pub [[Complex64; 4]; 4]);

impl SpinTensor {
    /// Returns Γ(n).
    ///
    /// # Panics
    /// If n is above 15.
    pub fn gamma(n: usize) -> Self {
        let mut all = Self::default();
        for (row, (column, phase)) in gamma(n).into_iter().enumerate() {
            all.0[row][column] = phase.times(1.0.into());
        }
        all
    }

    /// Returns the sum of the diagonal.
    pub fn trace(&self) -> Complex64 {
        (0..4).map(|k| self.0[k][k]).sum()
    }
}

impl Mul for SpinTensor {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(from_fn(|i| from_fn(|j| (0..4).map(|k| self.0[i][k] * other.0[k][j]).sum())))
    }
}

impl Mul<SpinTensor> for Complex64 {
    type Output = SpinTensor;

    fn mul(self, other: SpinTensor) -> SpinTensor {
        SpinTensor(other.0.map(|row| row.map(|z| self * z)))
    }
}

impl Add for SpinTensor {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(from_fn(|i| from_fn(|j| self.0[i][j] + other.0[i][j])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::gamma::GAMMA5;

    #[test]
    fn products_are_in_the_order_of_directions() {
        for n in 0..16 {
            let factors = (0..4).filter(|mu| n >> mu & 1 == 1).map(|mu| SpinTensor::gamma(1 << mu));
            let product = factors.fold(SpinTensor::gamma(0), |left, right| left * right);
            assert_eq!(SpinTensor::gamma(n), product, "Γ({n})");
            // Each squares to ±1.
            let square = product * product;
            assert_eq!(square.trace().norm(), 4.0, "Γ({n})");
        }
        assert_eq!(gamma(15), GAMMA5);
        let half = Complex64::from(0.5);
        let projector = half * (SpinTensor::gamma(0) + SpinTensor::gamma(8));
        assert_eq!(projector * projector, projector);
        assert_eq!(projector.trace(), 2.0.into());
    }
}
