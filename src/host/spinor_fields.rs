//! Plain vector operations on spinor fields.
//!
//! Fused updates are in [`updates`](super::updates). Sums are accumulated in double over parts of
//! fixed length. The parts are added in their order, so the bits do not depend on the number of
//! threads.

use super::spinor::Spinor;
use crate::compute::parallel::*;
use crate::scalar::Real;
use num_complex::{Complex, Complex64};

/// Sites in one part of a sum.
pub(super) const PART: usize = 512;

pub(super) fn cast<T: Real>(z: Complex64) -> Complex<T> {
    Complex::new(T::from_f64(z.re), T::from_f64(z.im))
}

/// Returns a + f b.
pub(super) fn combine<T: Real>(a: &Spinor<T>, f: Complex<T>, b: &Spinor<T>) -> Spinor<T> {
    Spinor::from_fn(|spin, colour| a.0[spin][colour] + f * b.0[spin][colour])
}

/// Returns (x, y) at one site, in double.
pub(super) fn local_dot<T: Real>(x: &Spinor<T>, y: &Spinor<T>) -> Complex64 {
    let (x, y) = (x.cast::<f64>(), y.cast::<f64>());
    (0..Spinor::<T>::COMPONENTS).map(|k| x.component(k).conj() * y.component(k)).sum()
}

/// Computes y = y + a x.
pub fn axpy<T: Real>(a: Complex64, x: &[Spinor<T>], y: &mut [Spinor<T>]) {
    let a = cast(a);
    y.par_iter_mut().zip(x).for_each(|(y, x)| *y = combine(y, a, x));
}

/// Computes (x, y) = Σ conj(xᵢ) yᵢ.
pub fn dot<T: Real>(x: &[Spinor<T>], y: &[Spinor<T>]) -> Complex64 {
    let parts: Vec<Complex64> = x
        .par_chunks(PART)
        .zip(y.par_chunks(PART))
        .map(|(x, y)| x.iter().zip(y).map(|(x, y)| local_dot(x, y)).sum())
        .collect();
    parts.iter().sum()
}

/// Computes (x, x).
pub fn norm2<T: Real>(x: &[Spinor<T>]) -> f64 {
    let parts: Vec<f64> = x.par_chunks(PART).map(|x| x.iter().map(Spinor::norm2).sum()).collect();
    parts.iter().sum()
}
