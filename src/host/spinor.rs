//! Dirac spinors with colour: the value of a fermion field at one site.

use crate::scalar::Real;
use num_complex::Complex;

/// A Dirac spinor with colour, `s.0[spin][colour]`, in the DeGrand-Rossi basis.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Spinor<T>(pub [[Complex<T>; 3]; 4]);

impl<T: Real> Spinor<T> {
    /// Complex components of a spinor: 4 spins × 3 colours.
    pub const COMPONENTS: usize = 12;

    /// Reals of a spinor.
    pub const REALS: usize = 2 * Self::COMPONENTS;

    /// Makes the spinor with components `f(spin, colour)`.
    pub fn from_fn(mut f: impl FnMut(usize, usize) -> Complex<T>) -> Self {
        Self(std::array::from_fn(|spin| std::array::from_fn(|colour| f(spin, colour))))
    }

    /// Returns component `3·spin + colour`.
    pub fn component(&self, index: usize) -> Complex<T> {
        self.0[index / 3][index % 3]
    }

    /// Converts the components to another precision.
    pub fn cast<R: Real>(&self) -> Spinor<R> {
        Spinor(
            self.0.map(|spin| {
                spin.map(|z| Complex::new(R::from_f64(z.re.to_f64()), R::from_f64(z.im.to_f64())))
            }),
        )
    }

    /// Returns the sum of |component|², accumulated in double.
    pub fn norm2(&self) -> f64 {
        self.0.iter().flatten().map(|z| z.re.to_f64().powi(2) + z.im.to_f64().powi(2)).sum()
    }
}
