//! QR factorisation on the host.
//!
//! The twin of [`factor::geqrf`](crate::factor::geqrf).

use super::elements::{exponent_in_double, scale};
use super::reflector::Reflector;
use crate::op::Op;
use lattice_compute::scalar::Element;
use num_complex::Complex;

/// Computes A = Q R in the place of A by Householder's reflectors, and returns their τ.
///
/// `a` has columns of `rows` elements. Q = H₁ H₂ … with Hᵢ = 1 − τᵢ vᵢ vᵢᴴ, as in LAPACK: vᵢ starts
/// with i − 1 zeros and a one, and the rest takes the place of what becomes zero. The diagonal of R
/// is real, and may be negative. Arithmetic is in double.
///
/// # Panics
/// If `a` does not consist of whole columns.
pub fn factorise<T: Element>(rows: usize, a: &mut [T]) -> Vec<T> {
    if a.is_empty() {
        return Vec::new();
    }
    assert!(rows > 0 && a.len().is_multiple_of(rows), "A consists of whole columns");
    let columns = a.len() / rows;
    let mut wide: Vec<Complex<f64>> = a.iter().map(|x| x.to_complex()).collect();
    // Q does not depend on the units of columns.
    let powers: Vec<i32> = wide.chunks(rows).map(exponent_in_double).collect();
    wide.chunks_mut(rows).zip(&powers).for_each(|(column, power)| scale(column, -power));
    let mut taus = Vec::new();
    for j in 0..rows.min(columns) {
        let Some(Reflector { v, tau, beta }) = Reflector::of(&wide[j + j * rows..(j + 1) * rows]) else {
            taus.push(T::default());
            wide[j + 1 + j * rows..(j + 1) * rows].fill(Complex::default());
            continue;
        };
        for column in wide[j * rows..].chunks_mut(rows) {
            let product: Complex<f64> = v.iter().zip(&column[j..]).map(|(v, x)| v.conj() * x).sum();
            v.iter().zip(&mut column[j..]).for_each(|(v, x)| *x -= tau.conj() * product * v);
        }
        wide[j + j * rows] = beta.into();
        wide[j + 1 + j * rows..(j + 1) * rows].copy_from_slice(&v[1..]);
        taus.push(T::from_complex(tau));
    }
    // Reflectors have no scale.
    let factors = wide.chunks_mut(rows).zip(powers).enumerate();
    factors.for_each(|(j, (column, power))| scale(&mut column[..rows.min(j + 1)], power));
    a.iter_mut().zip(wide).for_each(|(a, wide)| *a = T::from_complex(wide));
    taus
}

/// Computes C = op(Q) C for a column C, with the reflectors of [`factorise`].
///
/// `reflectors` has a column of `rows` elements for each of `tau`. [`Op::T`] is for real elements.
/// Arithmetic is in double.
///
/// # Panics
/// If `column` has not `rows` elements, or if there are too few reflectors.
pub fn apply<T: Element>(op: Op, rows: usize, reflectors: &[T], tau: &[T], column: &mut [T]) {
    assert_eq!(column.len(), rows, "C has as many rows as Q");
    let mut wide: Vec<Complex<f64>> = column.iter().map(|x| x.to_complex()).collect();
    for step in 0..tau.len() {
        let i = if op == Op::N { tau.len() - 1 - step } else { step };
        let v = |k: usize| if k == i { Complex::from(1.0) } else { reflectors[k + i * rows].to_complex() };
        let product: Complex<f64> = (i..rows).map(|k| v(k).conj() * wide[k]).sum();
        let tau = tau[i].to_complex();
        let factor = if op == Op::N { tau } else { tau.conj() } * product;
        (i..rows).for_each(|k| wide[k] -= factor * v(k));
    }
    column.iter_mut().zip(wide).for_each(|(x, wide)| *x = T::from_complex(wide));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_may_be_as_unlike_as_numbers_are() {
        // Each column is an ordinary one in another unit.
        let ordinary = [3.0, 4.0, 1.0, 2.0];
        let mut expected = ordinary;
        let taus = factorise(2, &mut expected);
        for [p, q] in [[-1000, 1000], [1000, -1000], [0, 900], [-1000, 0]] {
            let [d, e] = [p, q].map(|power| 2.0_f64.powi(power));
            let mut a = [3.0 * d, 4.0 * d, e, 2.0 * e];
            assert_eq!(factorise(2, &mut a), taus);
            assert_eq!(a, [expected[0] * d, expected[1], expected[2] * e, expected[3] * e], "{p} {q}");
        }
    }

    #[test]
    fn small_factors_by_hand() {
        // A = [3; 4] has norm 5. H maps it to (−5, 0), with v = (1, 4/8) and τ = 8/5.
        let mut a = [3.0, 4.0];
        assert_eq!(factorise(2, &mut a), [1.6]);
        assert_eq!(a, [-5.0, 0.5]);
        // Nothing is to be done for a multiple of the first unit vector.
        let mut a = [-2.0, 0.0];
        assert_eq!(factorise(2, &mut a), [0.0]);
        assert_eq!(a, [-2.0, 0.0]);
        // A single complex number becomes real: H = 1 − τ and Hᴴ i = −1.
        let i = Complex::<f64>::i();
        let mut a = [i];
        let tau = factorise(1, &mut a)[0];
        assert_eq!((1.0 - tau.conj()) * i, a[0]);
        assert_eq!(a[0].im, 0.0);
    }

    #[test]
    fn q_and_its_adjoint_are_inverse_and_give_r() {
        let i = Complex::<f64>::i();
        let original: Vec<_> = (0..12).map(|k| (k as f64).sin() + i * (2.3 * k as f64).cos()).collect();
        let mut factors = original.clone();
        let tau = factorise(4, &mut factors);
        for (j, column) in original.chunks(4).enumerate() {
            let mut x = column.to_vec();
            apply(Op::C, 4, &factors, &tau, &mut x);
            for (k, x) in x.iter().enumerate() {
                let r = if k <= j { factors[k + 4 * j] } else { Complex::default() };
                assert!((x - r).norm() < 1e-14);
            }
            apply(Op::N, 4, &factors, &tau, &mut x);
            assert!(x.iter().zip(column).all(|(x, a)| (x - a).norm() < 1e-14));
        }
    }
}
