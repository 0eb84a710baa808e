//! What multiplies a spinor within a site: a number, and one that is different for the two chiralities.

use super::spinor::Spinor;
use crate::scalar::Real;
use num_complex::Complex;
use std::ops::Mul;

/// scalar + i twist γ5, which is scalar ± i twist on the spins where γ5 = ±1. Such numbers commute.
///
/// With a twisted mass it is what a Dirac operator does within a site (R. Frezzotti and G. C. Rossi, JHEP 08 (2004) 007).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SiteNumber {
    /// The part that both chiralities have.
    pub scalar: f64,
    /// The coefficient of i γ5.
    pub twist: f64,
}

impl From<f64> for SiteNumber {
    fn from(scalar: f64) -> Self {
        Self::scalar(scalar)
    }
}

impl SiteNumber {
    /// A plain number.
    pub const fn scalar(scalar: f64) -> Self {
        Self { scalar, twist: 0.0 }
    }

    /// The adjoint, scalar − i twist γ5.
    pub fn adjoint(self) -> Self {
        Self { twist: -self.twist, ..self }
    }

    /// Its inverse as a number f and a remainder 1 − i r γ5: 1/(s + i t γ5) = f (1 − i r γ5), r = t/s, f = 1/(s (1 + r²)).
    ///
    /// The remainder stays near 1, where fixed point has its numbers.
    ///
    /// # Panics
    /// When the scalar part is zero.
    pub fn split_inverse(self) -> (f64, Self) {
        assert!(self.scalar != 0.0, "a mass term without a scalar part");
        let ratio = self.twist / self.scalar;
        (1.0 / self.scalar / (1.0 + ratio * ratio), Self { scalar: 1.0, twist: -ratio })
    }

    /// Whether it is a real number.
    pub fn is_plain(self) -> bool {
        self.twist == 0.0
    }

    /// Whether γ5 A† γ5 = A for this A.
    pub fn is_gamma5_hermitian(self) -> bool {
        self.twist == 0.0
    }

    /// Its product with a spinor.
    pub fn times<T: Real>(self, psi: &Spinor<T>) -> Spinor<T> {
        let (scalar, twist) = (T::from_f64(self.scalar), T::from_f64(self.twist));
        let plain = self.is_plain();
        Spinor::from_fn(|spin, colour| {
            let z = psi.0[spin][colour];
            let gamma5 = if spin >= 2 { -T::one() } else { T::one() };
            if plain { z * scalar } else { z * scalar + Complex::new(-z.im, z.re) * (twist * gamma5) }
        })
    }
}

impl Mul<f64> for SiteNumber {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self { scalar: self.scalar * factor, twist: self.twist * factor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_times_its_inverse_is_one() {
        let number = SiteNumber { scalar: 1.3, twist: -0.4 };
        let (factor, remainder) = number.split_inverse();
        let psi = Spinor::<f64>::from_fn(|spin, colour| Complex::new(spin as f64 - 0.3, 0.7 * colour as f64));
        let near = |a: &Spinor<f64>, scale: f64| {
            let left = Spinor::from_fn(|s, c| a.0[s][c] - psi.0[s][c] * scale);
            left.norm2().sqrt() < 1e-15 * scale * psi.norm2().sqrt()
        };
        assert!(near(&(remainder * factor).times(&number.times(&psi)), 1.0));
        assert!(near(&number.adjoint().times(&number.times(&psi)), 1.3 * 1.3 + 0.4 * 0.4));
    }
}
