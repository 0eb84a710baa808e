//! Vector operations on spinor fields, twin of `cl/spinor.cl`.
//!
//! Sums are accumulated in double over parts of fixed length and the parts added in their order: the same bits whatever
//! the number of threads.

use super::spinor::Spinor;
use crate::scalar::Real;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;

/// Sites in one part of a sum.
pub(super) const PART: usize = 512;

pub(super) fn cast<T: Real>(z: Complex64) -> Complex<T> {
    Complex::new(T::from_f64(z.re), T::from_f64(z.im))
}

/// a + f b
pub(super) fn combine<T: Real>(a: &Spinor<T>, f: Complex<T>, b: &Spinor<T>) -> Spinor<T> {
    Spinor::from_fn(|spin, colour| a.0[spin][colour] + f * b.0[spin][colour])
}

/// (x, y) at one site, in double.
pub(super) fn local_dot<T: Real>(x: &Spinor<T>, y: &Spinor<T>) -> Complex64 {
    let (x, y) = (x.cast::<f64>(), y.cast::<f64>());
    (0..Spinor::<T>::COMPONENTS).map(|k| x.component(k).conj() * y.component(k)).sum()
}

/// y = y + a x
pub fn axpy<T: Real>(a: Complex64, x: &[Spinor<T>], y: &mut [Spinor<T>]) {
    let a = cast(a);
    y.par_iter_mut().zip(x).for_each(|(y, x)| *y = combine(y, a, x));
}

/// y = x + b y
pub fn xpby<T: Real>(x: &[Spinor<T>], b: Complex64, y: &mut [Spinor<T>]) {
    let b = cast(b);
    y.par_iter_mut().zip(x).for_each(|(y, x)| *y = combine(x, b, y));
}

/// (x, y) = Σ conj(xᵢ) yᵢ
pub fn dot<T: Real>(x: &[Spinor<T>], y: &[Spinor<T>]) -> Complex64 {
    let parts: Vec<Complex64> = x
        .par_chunks(PART)
        .zip(y.par_chunks(PART))
        .map(|(x, y)| x.iter().zip(y).map(|(x, y)| local_dot(x, y)).sum())
        .collect();
    parts.iter().sum()
}

/// (x, x)
pub fn norm2<T: Real>(x: &[Spinor<T>]) -> f64 {
    let parts: Vec<f64> = x.par_chunks(PART).map(|x| x.iter().map(Spinor::norm2).sum()).collect();
    parts.iter().sum()
}

/// x = x + a p; r = r − a q; gives (r, r).
pub fn advance<T: Real>(
    a: Complex64,
    p: &[Spinor<T>],
    x: &mut [Spinor<T>],
    q: &[Spinor<T>],
    r: &mut [Spinor<T>],
) -> f64 {
    axpy(a, p, x);
    axpy(-a, q, r);
    norm2(r)
}

/// p = r + b p; q = s + b q; gives (r, q) and (q, q).
pub fn redirect<T: Real>(
    b: Complex64,
    r: &[Spinor<T>],
    p: &mut [Spinor<T>],
    s: &[Spinor<T>],
    q: &mut [Spinor<T>],
) -> (Complex64, f64) {
    xpby(r, b, p);
    xpby(s, b, q);
    (dot(r, q), norm2(q))
}

/// x = x + a p; p = r + b p; q = s + b q; gives (r, q) and (q, q).
pub fn follow_and_redirect<T: Real>(
    [a, b]: [Complex64; 2],
    [r, s]: [&[Spinor<T>]; 2],
    x: &mut [Spinor<T>],
    p: &mut [Spinor<T>],
    q: &mut [Spinor<T>],
) -> (Complex64, f64) {
    axpy(a, p, x);
    redirect(b, r, p, s, q)
}

/// r = r − a q; gives (r, r).
pub fn subtract<T: Real>(a: Complex64, q: &[Spinor<T>], r: &mut [Spinor<T>]) -> f64 {
    axpy(-a, q, r);
    norm2(r)
}

/// x = x + a p; p = r + b p.
pub fn follow<T: Real>(
    a: Complex64,
    b: Complex64,
    r: &[Spinor<T>],
    x: &mut [Spinor<T>],
    p: &mut [Spinor<T>],
) {
    axpy(a, p, x);
    xpby(r, b, p);
}

/// x = x + a p + b r; r = r − b t; gives (q, r) and (r, r).
pub fn stabilise<T: Real>(
    [a, b]: [Complex64; 2],
    [p, t, q]: [&[Spinor<T>]; 3],
    x: &mut [Spinor<T>],
    r: &mut [Spinor<T>],
) -> (Complex64, f64) {
    axpy(a, p, x);
    axpy(b, r, x);
    axpy(-b, t, r);
    (dot(q, r), norm2(r))
}

/// p = r + b (p − c v).
pub fn turn<T: Real>(b: Complex64, c: Complex64, r: &[Spinor<T>], v: &[Spinor<T>], p: &mut [Spinor<T>]) {
    axpy(-c, v, p);
    xpby(r, b, p);
}
