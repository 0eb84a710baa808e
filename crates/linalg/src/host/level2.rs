//! Matrices with vectors on the host.
//!
//! The functions are the twins of the kernels of [`blas::level2`](crate::level2).

use super::level1::Arithmetic;
use lattice_compute::scalar::Scalar;

/// Computes y = α A x + β y in the precision of the elements, by the definition.
///
/// `a(i, j)` are the elements of A as it enters, transposed and conjugated already. With β = 0, y
/// is not read. With α = 0, A and x are not read.
pub fn gemv<T: Arithmetic>(
    alpha: impl Scalar<T>,
    a: impl Fn(usize, usize) -> T + Sync,
    x: &[T],
    beta: impl Scalar<T>,
    y: &mut [T],
) {
    let rows = y.len();
    super::gemm::gemm(x.len(), alpha, a, |p, _| x[p], beta, y, rows);
}

/// Computes A = A + α x yᵀ, by the definition.
///
/// `a` has a column for each element of y. With α = 0, x and y are not read.
///
/// # Panics
/// If `a` has not one element for each pair.
pub fn ger<T: Arithmetic>(alpha: impl Scalar<T>, x: &[T], y: &[T], a: &mut [T]) {
    assert_eq!(a.len(), x.len() * y.len(), "A has a row for each element of x, a column for each of y");
    let alpha = alpha.factor();
    if alpha.is_zero() {
        return;
    }
    for (column, &y) in a.chunks_exact_mut(x.len().max(1)).zip(y) {
        for (a, &x) in column.iter_mut().zip(x) {
            *a = *a + alpha.times(y) * x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    #[test]
    fn small_products_by_hand() {
        let i = Complex::<f64>::i();
        let mut y = [Complex::from(1.0), Complex::from(f64::NAN)];
        gemv(2.0, |row, column| i * (row + 3 * column) as f64, &[i, 1.0.into()], 0, &mut y);
        assert_eq!(y, [i * 6.0, i * 8.0 - 2.0]);
        let mut a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        ger(2, &[1.0, -1.0], &[1.0, 0.0, 3.0], &mut a);
        assert_eq!(a, [3.0, 0.0, 3.0, 4.0, 11.0, 0.0]);
        ger(2.0, &[], &[1.0], &mut a[..0]);
    }
}
