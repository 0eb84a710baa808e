//! Cholesky's factorisation on the host.
//!
//! The twin of [`factor::potrf`](crate::factor::potrf).

use super::elements::{exponent_of, scale};
use super::level1::Arithmetic;
use lattice_compute::scalar::Real;
use num_complex::Complex;

/// Computes the lower L of A = L Lᴴ in the place of A, by the definition.
///
/// `a` has `n` columns of `n` elements. The upper triangle and imaginary parts on the diagonal are
/// not read. Returns 0, or the order of the first leading minor that is not positive. Then the
/// columns before it are those of L.
///
/// # Panics
/// If `a` has not n² elements.
pub fn factorise<T: Arithmetic>(n: usize, a: &mut [T]) -> usize {
    assert_eq!(a.len(), n * n, "A is square");
    // D A D has the factor D L. Its diagonal is brought near to 1 by powers of two, which round nothing.
    let powers: Vec<i32> = (0..n).map(|k| exponent_of([a[k + k * n].real_part()].into_iter()) / 2).collect();
    let scale_element = |a: &mut [T], place: usize, power| scale(&mut a[place..=place], power);
    let lower = (0..n).flat_map(|j| (j..n).map(move |i| (i, j)));
    lower.clone().for_each(|(i, j)| scale_element(a, i + j * n, -powers[i] - powers[j]));
    let info = of_ordinary(n, a);
    let done = if info == 0 { n } else { info - 1 };
    for (i, j) in lower {
        let of_column = if j < done { 0 } else { powers[j] };
        scale_element(a, i + j * n, powers[i] + of_column);
    }
    info
}

/// Computes L of a matrix whose products are in range.
fn of_ordinary<T: Arithmetic>(n: usize, a: &mut [T]) -> usize {
    for j in 0..n {
        for i in j..n {
            // l_ij l_jj = a_ij − Σ_k l_ik l_jk*
            let sum = (0..j).fold(a[i + j * n], |rest, k| rest - a[i + k * n] * conjugate(a[j + k * n]));
            if i > j {
                a[i + j * n] = T::from_complex(sum.to_complex() / a[j + j * n].real_part().to_f64());
                continue;
            }
            let pivot = sum.real_part().to_f64();
            if pivot.is_nan() || pivot <= 0.0 {
                return j + 1;
            }
            a[j + j * n] = T::from_complex(Complex::from(pivot.sqrt()));
        }
    }
    0
}

fn conjugate<T: Arithmetic>(x: T) -> T {
    T::from_complex(x.to_complex().conj())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagonals_may_be_as_unlike_as_numbers_are() {
        // D B D with B = [4 2; 2 5] has the factor D [2 0; 1 2].
        for [p, q] in [[-330, 330], [330, -330], [-500, 0], [0, -500], [400, 500]] {
            let [d, e] = [p, q].map(|power| 2.0_f64.powi(power));
            let mut a = [4.0 * d * d, 2.0 * d * e, f64::NAN, 5.0 * e * e];
            assert_eq!(factorise(2, &mut a), 0, "{p} {q}");
            assert_eq!([a[0], a[1], a[3]], [2.0 * d, e, 2.0 * e], "{p} {q}");
        }
        // Not positive definite, in whatever units: what is not L stays A.
        let [d, e] = [2.0_f64.powi(-330), 2.0_f64.powi(330)];
        let mut a = [4.0 * d * d, 6.0 * d * e, f64::NAN, 5.0 * e * e];
        assert_eq!(factorise(2, &mut a), 2);
    }

    #[test]
    fn small_factors_by_hand() {
        let i = Complex::<f64>::i();
        let unread = Complex::from(f64::NAN);
        // A = [4 −2i; 2i 10]
        let mut a = [4.0 + 0.0 * i, 2.0 * i, unread, 10.0 + i];
        assert_eq!(factorise(2, &mut a), 0);
        assert_eq!([a[0], a[1], a[3]], [2.0 + 0.0 * i, i, 3.0 + 0.0 * i]);
        assert_eq!(factorise(2, &mut [1.0, 2.0, f64::NAN, 3.0]), 2);
        assert_eq!(factorise(1, &mut [f64::NAN]), 1);
        assert_eq!(factorise::<f64>(0, &mut []), 0);
    }
}
