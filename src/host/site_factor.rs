//! Factors within a site: a number, one for each chirality, or clover matrices.

use super::clover::SiteBlocks;
use super::site_matrix::{CloverMatrix, SiteMatrix};
use super::spinor::Spinor;
use crate::scalar::Real;
use num_complex::Complex;
use std::ops::Mul;

/// scalar + i twist γ5, or more with a clover term T: see [`SiteMatrix`].
///
/// With a twisted mass the factor is the site term of a Dirac operator (R. Frezzotti and G. C.
/// Rossi, JHEP 08 (2004) 007).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SiteFactor {
    /// The part that both chiralities have.
    pub scalar: f64,
    /// The coefficient of i γ5.
    pub twist: f64,
    /// The part that differs from site to site.
    pub matrix: SiteMatrix,
}

impl From<f64> for SiteFactor {
    fn from(scalar: f64) -> Self {
        Self::scalar(scalar)
    }
}

impl SiteFactor {
    /// Makes a plain number.
    pub const fn scalar(scalar: f64) -> Self {
        Self { scalar, twist: 0.0, matrix: SiteMatrix::None }
    }

    /// Returns the adjoint. T is Hermitian.
    pub fn adjoint(self) -> Self {
        let Self { scalar, twist, matrix } = self;
        let matrix = match matrix {
            SiteMatrix::Inverse(of) => SiteMatrix::Inverse(CloverMatrix { twist: -of.twist, ..of }),
            matrix => matrix,
        };
        Self { scalar, twist: -twist, matrix }
    }

    /// Splits the inverse into a number f and a remainder: A⁻¹ = f · remainder.
    ///
    /// For a number s + i t γ5 the remainder is 1 − i r γ5 with r = t/s, f = 1/(s (1 + r²)). The
    /// remainder stays near 1, where fixed point has its numbers. For a matrix f is 1.
    ///
    /// # Panics
    /// When the scalar part is zero, or the factor is an inverse.
    pub fn split_inverse(self) -> (f64, Self) {
        assert!(self.scalar != 0.0, "a mass term without a scalar part");
        let Self { scalar, twist, matrix } = self;
        match matrix {
            SiteMatrix::None => {
                let ratio = twist / scalar;
                (1.0 / scalar / (1.0 + ratio * ratio), Self { scalar: 1.0, twist: -ratio, matrix })
            }
            SiteMatrix::Clover { factor } => {
                let matrix = SiteMatrix::Inverse(CloverMatrix { scalar, twist, factor });
                (1.0, Self { scalar: 1.0, twist: 0.0, matrix })
            }
            SiteMatrix::Inverse(_) => panic!("the inverse of an inverse"),
        }
    }

    /// Returns `true` if the factor is a real number.
    pub fn is_plain(self) -> bool {
        let Self { scalar: _, twist, matrix } = self;
        twist == 0.0 && matrix == SiteMatrix::None
    }

    /// Returns `true` if γ5 A† γ5 = A for this factor A. T commutes with γ5.
    pub fn is_gamma5_hermitian(self) -> bool {
        let Self { scalar: _, twist, matrix } = self;
        let inner = match matrix {
            SiteMatrix::Inverse(of) => of.twist,
            SiteMatrix::None | SiteMatrix::Clover { .. } => 0.0,
        };
        twist == 0.0 && inner == 0.0
    }

    /// Multiplies a spinor by the factor.
    ///
    /// `blocks` are the blocks of the factor's matrix at this site.
    ///
    /// # Panics
    /// When the factor has a matrix and there are no blocks.
    pub fn times<T: Real>(self, psi: &Spinor<T>, blocks: Option<SiteBlocks<'_, T>>) -> Spinor<T> {
        let with_blocks = || blocks.expect("the blocks of a clover term").times(psi);
        let numbers = self.numbers_times(psi);
        match self.matrix {
            SiteMatrix::None => numbers,
            SiteMatrix::Clover { factor } => {
                let (factor, product) = (T::from_f64(factor), with_blocks());
                Spinor::from_fn(|spin, colour| numbers.0[spin][colour] + product.0[spin][colour] * factor)
            }
            SiteMatrix::Inverse(_) => {
                let (scalar, product) = (T::from_f64(self.scalar), with_blocks());
                Spinor::from_fn(|spin, colour| product.0[spin][colour] * scalar)
            }
        }
    }

    /// Returns (scalar + i twist γ5) ψ.
    fn numbers_times<T: Real>(self, psi: &Spinor<T>) -> Spinor<T> {
        let Self { scalar, twist, matrix: _ } = self;
        let plain = twist == 0.0;
        let (scalar, twist) = (T::from_f64(scalar), T::from_f64(twist));
        Spinor::from_fn(|spin, colour| {
            let z = psi.0[spin][colour];
            let gamma5 = if spin >= 2 { -T::one() } else { T::one() };
            if plain { z * scalar } else { z * scalar + Complex::new(-z.im, z.re) * (twist * gamma5) }
        })
    }
}

impl Mul<f64> for SiteFactor {
    type Output = Self;

    fn mul(self, number: f64) -> Self {
        let matrix = match self.matrix {
            SiteMatrix::Clover { factor } => SiteMatrix::Clover { factor: factor * number },
            matrix => matrix,
        };
        Self { scalar: self.scalar * number, twist: self.twist * number, matrix }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_times_its_inverse_is_one() {
        let number = SiteFactor { scalar: 1.3, twist: -0.4, ..Default::default() };
        let (factor, remainder) = number.split_inverse();
        let psi = Spinor::<f64>::from_fn(|spin, colour| Complex::new(spin as f64 - 0.3, 0.7 * colour as f64));
        let near = |a: &Spinor<f64>, scale: f64| {
            let left = Spinor::from_fn(|s, c| a.0[s][c] - psi.0[s][c] * scale);
            left.norm2().sqrt() < 1e-15 * scale * psi.norm2().sqrt()
        };
        assert!(near(&(remainder * factor).times(&number.times(&psi, None), None), 1.0));
        assert!(near(&number.adjoint().times(&number.times(&psi, None), None), 1.3 * 1.3 + 0.4 * 0.4));
    }
}
