//! Vector operations: the twins of `cl/level1.cl`.
//!
//! Vectors are slices of equal length, factors any [`Scalar`] of their elements. With α = 0, x is
//! not read. With β = 0, y is only written. (x, y) = Σ conj(xᵢ) yᵢ.
//!
//! Sums are accumulated in double over pieces of a fixed length. The sums of the pieces are added
//! in the order of the pieces. So the result does not depend on the number of threads.
//!
//! # Panics
//! All functions panic if lengths differ.

use super::safe_squares::SafeSquares;
use lattice_compute::parallel::*;
use lattice_compute::scalar::{Element, Real, Scalar};
use num_complex::Complex;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

/// Elements that one task works on.
///
/// The number is large enough to pay for a task, and small enough to share among many.
const PIECE: usize = 4096;

/// Elements with the arithmetic of their field.
pub trait Arithmetic: Element + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {}

impl<T: Element + Add<Output = T> + Sub<Output = T> + Mul<Output = T>> Arithmetic for T {}

/// Computes y = x.
pub fn copy<T: Arithmetic>(x: &[T], y: &mut [T]) {
    update1(x, y, |x, y| *y = x);
}

/// Exchanges x and y.
pub fn swap<T: Arithmetic>(x: &mut [T], y: &mut [T]) {
    check(x.len(), y.len());
    x.par_chunks_mut(PIECE).zip(y.par_chunks_mut(PIECE)).for_each(|(x, y)| x.swap_with_slice(y));
}

/// Computes x = αx.
///
/// With α = 0, NaNs and infinities become NaN.
pub fn scal<T: Arithmetic>(alpha: impl Scalar<T>, x: &mut [T]) {
    let alpha = alpha.factor().keeping();
    x.par_chunks_mut(PIECE).for_each(|x| x.iter_mut().for_each(|x| *x = alpha.times(*x)));
}

/// Computes y = y + αx.
///
/// With α = 0, x is not read.
pub fn axpy<T: Arithmetic>(alpha: impl Scalar<T>, x: &[T], y: &mut [T]) {
    let alpha = alpha.factor();
    if alpha.is_zero() {
        return check(x.len(), y.len());
    }
    update1(x, y, |x, y| *y = *y + alpha.times(x));
}

/// Computes y = αx + βy.
///
/// With α = 0, x is not read. With β = 0, y is not read.
pub fn axpby<T: Arithmetic>(alpha: impl Scalar<T>, x: &[T], beta: impl Scalar<T>, y: &mut [T]) {
    let (alpha, beta) = (alpha.factor(), beta.factor().keeping());
    match (alpha.is_zero(), beta.is_zero()) {
        (true, true) => y.fill(T::default()),
        (true, false) => scal(beta, y),
        (false, true) => update1(x, y, |x, y| *y = alpha.times(x)),
        (false, false) => update1(x, y, |x, y| *y = alpha.times(x) + beta.times(*y)),
    }
}

/// Computes y = x + βy.
///
/// With β = 0, y is not read.
pub fn xpby<T: Arithmetic>(x: &[T], beta: impl Scalar<T>, y: &mut [T]) {
    let beta = beta.factor().keeping();
    if beta.is_zero() {
        copy(x, y);
    } else {
        update1(x, y, |x, y| *y = x + beta.times(*y));
    }
}

/// Returns Σ xᵢ yᵢ of real vectors.
pub fn dot<T: Arithmetic + Real>(x: &[T], y: &[T]) -> f64 {
    dotu(x, y).re
}

/// Returns Σ conj(xᵢ) yᵢ.
pub fn dotc<T: Arithmetic>(x: &[T], y: &[T]) -> Complex<f64> {
    sum2(x, y, |x, y| x.to_complex().conj() * y.to_complex())
}

/// Returns Σ xᵢ yᵢ.
pub fn dotu<T: Arithmetic>(x: &[T], y: &[T]) -> Complex<f64> {
    sum2(x, y, |x, y| x.to_complex() * y.to_complex())
}

/// Returns ‖x‖² = Σ |xᵢ|².
pub fn norm2<T: Arithmetic>(x: &[T]) -> f64 {
    ordered_sum(x.par_chunks(PIECE).map(|x| x.iter().map(|x| x.to_complex().norm_sqr()).sum()))
}

/// Returns ‖x‖, without overflow or underflow in between ([`SafeSquares`]).
pub fn nrm2<T: Arithmetic>(x: &[T]) -> f64 {
    let squares = |x: &[T]| {
        let mut sum = SafeSquares::default();
        for z in x.iter().map(|x| x.to_complex()) {
            sum.add(z.re);
            sum.add(z.im);
        }
        sum
    };
    ordered_sum(x.par_chunks(PIECE).map(squares)).root()
}

/// Returns Σ |Re xᵢ| + |Im xᵢ|.
pub fn asum<T: Arithmetic>(x: &[T]) -> f64 {
    ordered_sum(x.par_chunks(PIECE).map(|x| x.iter().map(|x| x.to_complex().l1_norm()).sum()))
}

/// Returns the number of the first element with the largest |Re xᵢ| + |Im xᵢ|.
///
/// NaNs are passed over. `None` if there is nothing else.
pub fn iamax<T: Arithmetic>(x: &[T]) -> Option<usize> {
    let sizes = x.iter().map(|x| x.to_complex().l1_norm()).enumerate().filter(|(_, size)| !size.is_nan());
    sizes.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(number, _)| number)
}

/// Returns (x, y) and ‖x‖².
pub fn dot_norm2<T: Arithmetic>(x: &[T], y: &[T]) -> (Complex<f64>, f64) {
    (dotc(x, y), norm2(x))
}

/// Computes y = y + αx and returns ‖y‖².
///
/// With α = 0, x is not read.
pub fn axpy_norm2<T: Arithmetic>(alpha: impl Scalar<T>, x: &[T], y: &mut [T]) -> f64 {
    axpy(alpha, x, y);
    norm2(y)
}

/// Computes one step of Conjugate Residual and returns ‖r‖².
///
/// The step is x = x + αp, r = r − αAp. With α = 0, p and Ap are not read.
pub fn cr_step<T: Arithmetic>(alpha: impl Scalar<T>, p: &[T], x: &mut [T], ap: &[T], r: &mut [T]) -> f64 {
    let alpha = alpha.factor();
    axpy(alpha, p, x);
    axpy(alpha.negated(), ap, r);
    norm2(r)
}

/// Computes the next direction of Conjugate Residual.
///
/// The direction is p = r + βp, Ap = Ar + βAp. Returns (r, Ap) and ‖Ap‖². With β = 0, p and Ap are
/// not read.
pub fn cr_direction<T: Arithmetic>(
    beta: impl Scalar<T>,
    r: &[T],
    p: &mut [T],
    ar: &[T],
    ap: &mut [T],
) -> (Complex<f64>, f64) {
    let beta = beta.factor();
    xpby(r, beta, p);
    xpby(ar, beta, ap);
    (dotc(r, ap), norm2(ap))
}

fn check(x: usize, y: usize) {
    assert_eq!(x, y, "vectors of different lengths");
}

fn update1<T: Arithmetic>(x: &[T], y: &mut [T], update: impl Fn(T, &mut T) + Sync) {
    check(x.len(), y.len());
    x.par_chunks(PIECE)
        .zip(y.par_chunks_mut(PIECE))
        .for_each(|(x, y)| x.iter().zip(y).for_each(|(&x, y)| update(x, y)));
}

fn sum2<T: Arithmetic>(x: &[T], y: &[T], term: impl Fn(T, T) -> Complex<f64> + Sync) -> Complex<f64> {
    check(x.len(), y.len());
    let pieces = x.par_chunks(PIECE).zip(y.par_chunks(PIECE));
    ordered_sum(pieces.map(|(x, y)| sum_piece(x, y, &term)))
}

/// Returns Σ term(xᵢ, yᵢ) over one piece, in eight partial sums.
///
/// A single sum would wait for each addition before the next.
fn sum_piece<T: Arithmetic, S: Copy + Default + AddAssign + Sum>(
    x: &[T],
    y: &[T],
    term: impl Fn(T, T) -> S,
) -> S {
    let mut sums = [S::default(); 8];
    let (x, x_rest) = x.as_chunks::<8>();
    let (y, y_rest) = y.as_chunks::<8>();
    for (x, y) in x.iter().zip(y) {
        for lane in 0..8 {
            sums[lane] += term(x[lane], y[lane]);
        }
    }
    for (sum, (&x, &y)) in sums.iter_mut().zip(x_rest.iter().zip(y_rest)) {
        *sum += term(x, y);
    }
    sums.into_iter().sum()
}

/// Adds the sums of the pieces in the order of the pieces.
///
/// The order does not depend on the threads that made the sums.
fn ordered_sum<S: Sum + Send>(pieces: impl Indexed<Item = S>) -> S {
    let mut sums = Vec::new();
    pieces.collect_into_vec(&mut sums);
    sums.into_iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(len: usize, seed: f64) -> Vec<Complex<f64>> {
        (0..len).map(|i| Complex::new((seed + i as f64).sin(), (seed * i as f64).cos())).collect()
    }

    #[test]
    fn sums_agree_with_their_definitions() {
        for len in [0, 1, 5, PIECE, 3 * PIECE + 7] {
            let (x, y) = (vector(len, 0.3), vector(len, 1.7));
            let naive: Complex<f64> = x.iter().zip(&y).map(|(x, y)| x.conj() * y).sum();
            let unconjugated: Complex<f64> = x.iter().zip(&y).map(|(x, y)| x * y).sum();
            let tolerance = 1e-13 * (1.0 + len as f64);
            assert!((dotc(&x, &y) - naive).norm() < tolerance);
            assert!((dotu(&x, &y) - unconjugated).norm() < tolerance);
            assert!((dotc(&x, &x) - norm2(&x)).norm() < tolerance);
            assert!((nrm2(&x).powi(2) - norm2(&x)).abs() < tolerance);
            assert_eq!(dot_norm2(&x, &y), (dotc(&x, &y), norm2(&x)));
            let sizes: f64 = x.iter().map(|z| z.re.abs() + z.im.abs()).sum();
            assert!((asum(&x) - sizes).abs() < tolerance);
        }
    }

    #[test]
    fn sums_do_not_depend_on_the_number_of_threads() {
        let (x, y) = (vector(5 * PIECE + 3, 0.3), vector(5 * PIECE + 3, 1.7));
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (dotc(&x, &y), norm2(&x)))
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn single_precision_is_accumulated_in_double() {
        let x = vec![0.1_f32; 1 << 20];
        let exact = f64::from(0.1_f32).powi(2) * x.len() as f64;
        assert!((norm2(&x) / exact - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_a_zero_multiplies_is_not_read() {
        let nan = [f32::NAN; 2];
        let mut y = [1.0_f32, -0.0];
        axpy(1e-60, &nan, &mut y);
        axpby(0, &nan, 1, &mut y);
        assert_eq!(y.map(f32::to_bits), [1.0_f32, -0.0].map(f32::to_bits));
        axpby(0, &nan, 2.0, &mut y);
        assert_eq!(y.map(f32::to_bits), [2.0_f32, -0.0].map(f32::to_bits));
        let mut y = nan;
        axpby(0.0, &nan, 0.0, &mut y);
        assert_eq!(y, [0.0; 2]);
        let mut x = [Complex::new(f64::INFINITY, 1.0)];
        scal(2.0, &mut x);
        assert_eq!(x, [Complex::new(f64::INFINITY, 2.0)]);
        scal(Complex::new(1.0, 0.0), &mut x);
        assert_eq!(x, [Complex::new(f64::INFINITY, 2.0)]);
    }

    #[test]
    fn the_largest_is_the_first_of_equals_and_no_nan() {
        let nan = f64::NAN;
        assert_eq!(iamax::<f64>(&[]), None);
        assert_eq!(iamax(&[nan, nan]), None);
        assert_eq!(iamax(&[nan, 0.0]), Some(1));
        assert_eq!(iamax(&[1.0, -3.0, 3.0, nan, 2.0]), Some(1));
        assert_eq!(iamax(&[Complex::new(2.0, 2.0), Complex::new(0.0, -3.0)]), Some(0));
    }

    #[test]
    fn updates_follow_their_formulas() {
        let len = PIECE + 11;
        let (alpha, beta) = (Complex::new(0.5, -2.0), Complex::new(1.5, 0.25));
        let (x, y) = (vector(len, 0.3), vector(len, 1.7));
        let mut z = y.clone();
        axpby(alpha, &x, beta, &mut z);
        for i in 0..len {
            assert!((z[i] - (alpha * x[i] + beta * y[i])).norm() < 1e-14);
        }
        let mut undefined = vec![Complex::new(f64::NAN, f64::NAN); len];
        axpby(alpha, &x, 0, &mut undefined);
        assert!(undefined.iter().zip(&x).all(|(u, x)| (u - alpha * x).norm() < 1e-14), "y is not read");

        let (mut a, mut b) = (x.clone(), y.clone());
        swap(&mut a, &mut b);
        assert!(a == y && b == x);
        scal(2, &mut a);
        axpy(-2.0, &y, &mut a);
        assert!(a.iter().all(|z| z.norm() < 1e-14));

        let (p, ap) = (vector(len, 2.1), vector(len, 3.1));
        let (mut solution, mut residual) = (x.clone(), y.clone());
        let norm = cr_step(alpha, &p, &mut solution, &ap, &mut residual);
        for i in 0..len {
            assert!((solution[i] - (x[i] + alpha * p[i])).norm() < 1e-14);
            assert!((residual[i] - (y[i] - alpha * ap[i])).norm() < 1e-14);
        }
        assert_eq!(norm, norm2(&residual));

        let (mut direction, mut image) = (p.clone(), ap.clone());
        let (product, norm) = cr_direction(beta, &x, &mut direction, &y, &mut image);
        for i in 0..len {
            assert!((direction[i] - (x[i] + beta * p[i])).norm() < 1e-14);
            assert!((image[i] - (y[i] + beta * ap[i])).norm() < 1e-14);
        }
        assert_eq!(product, dotc(&x, &image));
        assert_eq!(norm, norm2(&image));
    }
}
