//! Products of matrices on the host.
//!
//! The functions are the twins of the kernels of [`blas::gemm`](mod@crate::gemm).

use super::level1::Arithmetic;
use lattice_compute::parallel::*;
use lattice_compute::scalar::Scalar;

/// Computes C = α A B + β C in the precision of the elements, by the definition.
///
/// The definition is c_ij = α Σ_p a_ip b_pj + β c_ij, the sum from p = 0 upwards. `a(i, p)` and
/// `b(p, j)` are the elements of the factors as they enter the product, transposed and conjugated
/// already. `inner` is the number of terms. `c` has `rows` rows, column after column. With β = 0, C
/// is not read. With α = 0, the factors are not read.
///
/// # Panics
/// If `c` does not consist of whole columns.
pub fn gemm<T: Arithmetic>(
    inner: usize,
    alpha: impl Scalar<T>,
    a: impl Fn(usize, usize) -> T + Sync,
    b: impl Fn(usize, usize) -> T + Sync,
    beta: impl Scalar<T>,
    c: &mut [T],
    rows: usize,
) {
    if c.is_empty() {
        return;
    }
    assert!(rows > 0 && c.len().is_multiple_of(rows), "C consists of whole columns");
    let (alpha, beta) = (alpha.factor(), beta.factor().keeping());
    if inner == 0 || alpha.is_zero() {
        let scaled = |c: T| if beta.is_zero() { T::default() } else { beta.times(c) };
        return c.par_iter_mut().for_each(|c| *c = scaled(*c));
    }
    c.par_chunks_mut(rows).enumerate().for_each(|(j, column)| {
        for (i, c) in column.iter_mut().enumerate() {
            let sum = (0..inner).fold(T::default(), |sum, p| sum + a(i, p) * b(p, j));
            let product = alpha.times(sum);
            *c = if beta.is_zero() { product } else { product + beta.times(*c) };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    #[test]
    fn a_small_product_by_hand() {
        let i = Complex::<f64>::i();
        let a = |row: usize, p: usize| Complex::from((1 + row + 2 * p) as f64) + i;
        let b = |p: usize, column: usize| i * (1 + p + 2 * column) as f64;
        // A = [1+i 3+i; 2+i 4+i], B = i [1 3; 2 4]
        let mut c = [Complex::new(1.0, 0.0); 4];
        gemm(2, 1, a, b, i, &mut c, 2);
        let expected = [(-3.0, 8.0), (-3.0, 11.0), (-7.0, 16.0), (-7.0, 23.0)];
        assert_eq!(c, expected.map(|(re, im)| Complex::new(re, im)));
    }

    #[test]
    fn what_a_zero_multiplies_is_not_read() {
        let mut c = [f64::NAN; 4];
        gemm(2, 2, |i, p| (i + p) as f64, |_, _| 1.0, 0, &mut c, 2);
        assert_eq!(c, [2.0, 6.0, 2.0, 6.0]);
        gemm(2, 0, |_, _| f64::NAN, |_, _| f64::NAN, 0.5, &mut c, 2);
        assert_eq!(c, [1.0, 3.0, 1.0, 3.0]);
        gemm(0, 1, |_, _| f64::NAN, |_, _| f64::NAN, 0, &mut c, 2);
        assert_eq!(c, [0.0; 4]);
        c[0] = -0.0;
        gemm(2, 0, |_, _| f64::NAN, |_, _| f64::NAN, 1, &mut c, 2);
        assert!(c[0].is_sign_negative());
    }
}
