//! Numbers that are different for the two chiralities.

use crate::scalar::Real;
use num_complex::Complex;
use std::ops::{Mul, Neg};

/// scalar + i twist γ5, which is scalar ± i twist on the spins where γ5 = ±1. Such numbers commute.
///
/// With a twisted mass it is what a Dirac operator does within a site (R. Frezzotti and G. C. Rossi, JHEP 08 (2004) 007).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChiralNumber {
    /// The part that both chiralities have.
    pub scalar: f64,
    /// The coefficient of i γ5.
    pub twist: f64,
}

impl From<f64> for ChiralNumber {
    fn from(scalar: f64) -> Self {
        Self::scalar(scalar)
    }
}

impl ChiralNumber {
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

    /// It times z, of a spin where γ5 has this sign.
    pub fn times<T: Real>(self, gamma5: f64, z: Complex<T>) -> Complex<T> {
        let scaled = z * T::from_f64(self.scalar);
        if self.twist == 0.0 {
            return scaled;
        }
        scaled + Complex::new(-z.im, z.re) * T::from_f64(self.twist * gamma5)
    }
}

impl Mul<f64> for ChiralNumber {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self { scalar: self.scalar * factor, twist: self.twist * factor }
    }
}

impl Neg for ChiralNumber {
    type Output = Self;

    fn neg(self) -> Self {
        self * -1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_times_its_inverse_is_one() {
        let number = ChiralNumber { scalar: 1.3, twist: -0.4 };
        let (factor, remainder) = number.split_inverse();
        for gamma5 in [1.0, -1.0] {
            let one = (remainder * factor).times(gamma5, number.times(gamma5, Complex::new(1.0, 0.0)));
            assert!((one - 1.0).norm() < 1e-15, "{one}");
            let real = number.adjoint().times(gamma5, number.times(gamma5, Complex::new(1.0, 0.0)));
            assert!((real - (1.3 * 1.3 + 0.4 * 0.4)).norm() < 1e-15, "{real}");
        }
    }
}
