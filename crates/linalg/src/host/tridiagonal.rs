//! Reduction of a Hermitian matrix to a tridiagonal one, on the host.
//!
//! The twin of the kernels of [`factor::heevd`](crate::factor::heevd).

use super::elements::{exponent_in_double, scale};
use super::reflector::Reflector;
use lattice_compute::scalar::Element;
use lattice_solvers::range::times_power;
use num_complex::Complex;

/// A Hermitian matrix A = Q T Qᴴ that has become real and tridiagonal.
#[derive(Clone, Debug, PartialEq)]
pub struct Tridiagonal<T> {
    /// The diagonal of T.
    pub diagonal: Vec<f64>,
    /// The elements beside the diagonal, one fewer.
    pub beside: Vec<f64>,
    /// τ of each reflector, one fewer than rows.
    pub tau: Vec<T>,
}

/// Computes A = Q T Qᴴ by Householder's reflectors, for the lower triangle of A.
///
/// `a` has columns of `n` elements. Q = H₁ H₂ … with Hₖ = 1 − τₖ vₖ vₖᴴ as LAPACK's `hetrd` has them:
/// vₖ starts with k zeros and a one. The rest takes its place in column k below the elements beside
/// the diagonal. Arithmetic is in double.
///
/// # Panics
/// If `a` does not have n² elements.
pub fn reduce<T: Element>(n: usize, a: &mut [T]) -> Tridiagonal<T> {
    assert_eq!(a.len(), n * n, "elements of a square matrix");
    let mut wide: Vec<Complex<f64>> = (0..n * n)
        .map(|at| match (at % n, at / n) {
            (i, j) if i == j => a[at].to_complex().re.into(),
            (i, j) if i > j => a[at].to_complex(),
            (i, j) => a[j + i * n].to_complex().conj(),
        })
        .collect();
    let power = exponent_in_double(&wide);
    scale(&mut wide, -power);
    let (mut tau, mut beside) = (Vec::new(), Vec::new());
    for k in 0..n.saturating_sub(1) {
        let column = &wide[k + 1 + k * n..(k + 1) * n];
        let mut v = vec![Complex::default(); n];
        v[k + 1] = 1.0.into();
        let (mut beta, mut factor) = (column[0].re, Complex::default());
        if let Some(reflector) = Reflector::of(column) {
            (beta, factor) = (reflector.beta, reflector.tau);
            v[k + 1..].copy_from_slice(&reflector.v);
        }
        // Hᴴ A H, the rows and then the columns.
        for j in k..n {
            let product: Complex<f64> = (k + 1..n).map(|i| v[i].conj() * wide[i + j * n]).sum();
            (k + 1..n).for_each(|i| wide[i + j * n] -= factor.conj() * product * v[i]);
        }
        for i in k..n {
            let product: Complex<f64> = (k + 1..n).map(|j| wide[i + j * n] * v[j]).sum();
            (k + 1..n).for_each(|j| wide[i + j * n] -= factor * product * v[j].conj());
        }
        (k + 2..n).for_each(|i| a[i + k * n] = T::from_complex(v[i]));
        beside.push(times_power(beta, power));
        tau.push(T::from_complex(factor));
    }
    Tridiagonal { diagonal: (0..n).map(|k| times_power(wide[k + k * n].re, power)).collect(), beside, tau }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_matrix_by_hand() {
        // Column (2; 3, 4) has norm 5 below the diagonal: H maps it to (−5, 0).
        let mut a = [2.0, 3.0, 4.0, f64::NAN, 1.0, 0.0, f64::NAN, f64::NAN, 1.0];
        let Tridiagonal { diagonal, beside, tau } = reduce(3, &mut a);
        // Below is the identity, which no reflector changes.
        assert_eq!(diagonal[0], 2.0);
        assert!((diagonal[1] - 1.0).abs() < 1e-15 && (diagonal[2] - 1.0).abs() < 1e-15);
        assert!((beside[0] + 5.0).abs() < 1e-15 && beside[1].abs() < 1e-15);
        assert!((tau[0] - 1.6).abs() < 1e-15 && (a[2] - 0.5).abs() < 1e-15);
    }
}
