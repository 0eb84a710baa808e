//! Factors within a site: a number, a spin matrix, or clover matrices.

use super::clover::SiteBlocks;
use super::gamma::{I_GAMMA5, SpinMatrix, adjoint_sign, gamma5_sign, square_sign};
use super::site_matrix::{CloverMatrix, SiteMatrix};
use super::spinor::Spinor;
use crate::scalar::Real;
use std::ops::Mul;

/// scalar + twist Γ, or more with a clover term T: see [`SiteMatrix`].
///
/// Γ is a spin matrix with Γ² = ±1, Γ† = ±Γ and γ5 Γ† γ5 = ±Γ. It is iγ5 unless a site term has
/// another one. With a twisted mass the factor is the site term of a Dirac operator (R. Frezzotti
/// and G. C. Rossi, JHEP 08 (2004) 007).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteFactor {
    /// The number that multiplies 1.
    pub scalar: f64,
    /// The coefficient of Γ.
    pub twist: f64,
    /// Γ, which is iγ5 for a factor with a matrix.
    pub gamma: SpinMatrix,
    /// The part that differs from site to site.
    pub matrix: SiteMatrix,
}

impl Default for SiteFactor {
    fn default() -> Self {
        Self::scalar(0.0)
    }
}

impl From<f64> for SiteFactor {
    fn from(scalar: f64) -> Self {
        Self::scalar(scalar)
    }
}

impl SiteFactor {
    /// Makes a plain number.
    pub const fn scalar(scalar: f64) -> Self {
        Self { scalar, twist: 0.0, gamma: I_GAMMA5, matrix: SiteMatrix::None }
    }

    /// Returns the adjoint. T is Hermitian.
    pub fn adjoint(self) -> Self {
        let matrix = match self.matrix {
            SiteMatrix::Inverse(of) => SiteMatrix::Inverse(CloverMatrix { twist: -of.twist, ..of }),
            matrix => matrix,
        };
        Self { twist: adjoint_sign(&self.gamma) * self.twist, matrix, ..self }
    }

    /// Splits the inverse into a number f and a remainder: A⁻¹ = f · remainder.
    ///
    /// For s + t Γ the remainder is 1 − r Γ with r = t/s, f = 1/(s (1 − r² Γ²)). With iγ5 it stays
    /// near 1, where fixed point has its numbers. For a matrix f is 1.
    ///
    /// # Panics
    /// When the scalar part is zero, the factor is an inverse, or a matrix has another Γ than iγ5.
    pub fn split_inverse(self) -> (f64, Self) {
        assert!(self.scalar != 0.0, "a mass term without a scalar part");
        let Self { scalar, twist, gamma, matrix } = self;
        match matrix {
            SiteMatrix::None => {
                let ratio = twist / scalar;
                let square = square_sign(&gamma) * ratio * ratio;
                (1.0 / scalar / (1.0 - square), Self { scalar: 1.0, twist: -ratio, ..self })
            }
            SiteMatrix::Clover { factor } => {
                assert!(twist == 0.0 || gamma == I_GAMMA5, "a clover term with another spin matrix than iγ5");
                let matrix = SiteMatrix::Inverse(CloverMatrix { scalar, twist, factor });
                (1.0, Self { matrix, ..Self::scalar(1.0) })
            }
            SiteMatrix::Inverse(_) => panic!("the inverse of an inverse"),
        }
    }

    /// Returns `true` if the factor is a real number.
    pub fn is_plain(self) -> bool {
        self.twist == 0.0 && self.matrix == SiteMatrix::None
    }

    /// Returns `true` if γ5 A† γ5 = A for this factor A. T commutes with γ5.
    pub fn is_gamma5_hermitian(self) -> bool {
        let inner = match self.matrix {
            SiteMatrix::Inverse(of) => of.twist,
            SiteMatrix::None | SiteMatrix::Clover { .. } => 0.0,
        };
        (self.twist == 0.0 || gamma5_sign(&self.gamma) == 1.0) && inner == 0.0
    }

    /// Multiplies a spinor by the factor.
    ///
    /// `blocks` are the blocks of the factor's matrix at this site.
    ///
    /// # Panics
    /// When the factor has a matrix and there are no blocks.
    pub fn times<T: Real>(&self, psi: &Spinor<T>, blocks: Option<SiteBlocks<'_, T>>) -> Spinor<T> {
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

    /// Returns (scalar + twist Γ) ψ.
    #[inline]
    fn numbers_times<T: Real>(&self, psi: &Spinor<T>) -> Spinor<T> {
        if self.twist != 0.0 {
            return self.twisted_times(psi);
        }
        let scalar = T::from_f64(self.scalar);
        Spinor(psi.0.map(|spin| spin.map(|z| z * scalar)))
    }

    /// Returns (scalar + twist Γ) ψ, apart from the loops of operators without a twist.
    #[inline(never)]
    fn twisted_times<T: Real>(&self, psi: &Spinor<T>) -> Spinor<T> {
        let (scalar, twist) = (T::from_f64(self.scalar), T::from_f64(self.twist));
        let mut out = Spinor::default();
        for (spin, &(column, phase)) in self.gamma.iter().enumerate() {
            for colour in 0..3 {
                let turned = phase.times(psi.0[column][colour]);
                out.0[spin][colour] = psi.0[spin][colour] * scalar + turned * twist;
            }
        }
        out
    }
}

impl Mul<f64> for SiteFactor {
    type Output = Self;

    fn mul(self, number: f64) -> Self {
        let matrix = match self.matrix {
            SiteMatrix::Clover { factor } => SiteMatrix::Clover { factor: factor * number },
            matrix => matrix,
        };
        Self { scalar: self.scalar * number, twist: self.twist * number, matrix, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::super::gamma::{GAMMA, GAMMA5, spin_product};
    use super::*;
    use num_complex::Complex;

    #[test]
    fn a_factor_times_its_inverse_is_one() {
        let psi = Spinor::<f64>::from_fn(|spin, colour| Complex::new(spin as f64 - 0.3, 0.7 * colour as f64));
        let near = |a: &Spinor<f64>, scale: f64| {
            let left = Spinor::from_fn(|s, c| a.0[s][c] - psi.0[s][c] * scale);
            left.norm2().sqrt() < 1e-15 * scale * psi.norm2().sqrt()
        };
        let axial = spin_product(&GAMMA5, &GAMMA[3]);
        for gamma in [I_GAMMA5, axial, GAMMA5] {
            let number = SiteFactor { scalar: 1.3, twist: -0.4, gamma, ..Default::default() };
            let (factor, remainder) = number.split_inverse();
            assert!(near(&(remainder * factor).times(&number.times(&psi, None), None), 1.0));
            if gamma != GAMMA5 {
                let square = number.adjoint().times(&number.times(&psi, None), None);
                assert!(near(&square, 1.3 * 1.3 + 0.4 * 0.4));
            }
        }
    }
}
