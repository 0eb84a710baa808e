//! QR factorisation on the host.
//!
//! The twin of [`factor::geqrf`](crate::factor::geqrf).

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
    let mut taus = Vec::new();
    for j in 0..rows.min(columns) {
        let alpha = wide[j + j * rows];
        let below: f64 = wide[j + 1 + j * rows..(j + 1) * rows].iter().map(Complex::norm_sqr).sum();
        if below == 0.0 && alpha.im == 0.0 {
            taus.push(T::default());
            continue;
        }
        let beta = -(alpha.norm_sqr() + below).sqrt().copysign(alpha.re);
        let tau = (beta - alpha) / beta;
        let mut v = vec![Complex::from(1.0); rows - j];
        (1..rows - j).for_each(|i| v[i] = wide[j + i + j * rows] / (alpha - beta));
        for column in wide[j * rows..].chunks_mut(rows) {
            let product: Complex<f64> = v.iter().zip(&column[j..]).map(|(v, x)| v.conj() * x).sum();
            v.iter().zip(&mut column[j..]).for_each(|(v, x)| *x -= tau.conj() * product * v);
        }
        wide[j + j * rows] = beta.into();
        wide[j + 1 + j * rows..(j + 1) * rows].copy_from_slice(&v[1..]);
        taus.push(T::from_complex(tau));
    }
    a.iter_mut().zip(wide).for_each(|(a, wide)| *a = T::from_complex(wide));
    taus
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
