//! Triangular systems and products on the host.
//!
//! The functions are the twins of [`blas::triangular`](crate::triangular).

use super::elements::divided;
use super::level1::Arithmetic;
use lattice_compute::parallel::*;
use lattice_compute::scalar::Scalar;
use std::ops::Div;

/// Computes X = α A⁻¹ B by substitution, in the place of B.
///
/// `a(i, j)` are the elements of A as it enters, within its triangle. `b` has `rows` rows, column
/// after column. With α = 0, neither A nor B is read.
///
/// # Panics
/// If `b` does not consist of whole columns.
pub fn solve<T: Arithmetic + Div<Output = T>>(
    lower: bool,
    alpha: impl Scalar<T>,
    a: impl Fn(usize, usize) -> T + Sync + Send,
    b: &mut [T],
    rows: usize,
) {
    let alpha = alpha.factor().keeping();
    for_each_column(b, rows, |column| {
        if alpha.is_zero() {
            return column.fill(T::default());
        }
        column.iter_mut().for_each(|x| *x = alpha.times(*x));
        for step in 0..rows {
            let i = if lower { step } else { rows - 1 - step };
            let known = if lower { 0..i } else { i + 1..rows };
            let rest = known.fold(column[i], |rest, j| rest - a(i, j) * column[j]);
            column[i] = divided(rest, a(i, i));
        }
    });
}

/// Computes B = α A B, by the definition.
///
/// The arguments are those of [`solve`].
///
/// # Panics
/// If `b` does not consist of whole columns.
pub fn multiply<T: Arithmetic>(
    lower: bool,
    alpha: impl Scalar<T>,
    a: impl Fn(usize, usize) -> T + Sync + Send,
    b: &mut [T],
    rows: usize,
) {
    let alpha = alpha.factor();
    for_each_column(b, rows, |column| {
        if alpha.is_zero() {
            return column.fill(T::default());
        }
        // Each row is overwritten when no other needs it any more.
        for step in 0..rows {
            let i = if lower { rows - 1 - step } else { step };
            let terms = if lower { 0..i + 1 } else { i..rows };
            let sum = terms.fold(T::default(), |sum, j| sum + a(i, j) * column[j]);
            column[i] = alpha.times(sum);
        }
    });
}

fn for_each_column<T: Arithmetic>(b: &mut [T], rows: usize, work: impl Fn(&mut [T]) + Sync + Send) {
    if b.is_empty() {
        return;
    }
    assert!(rows > 0 && b.len().is_multiple_of(rows), "B consists of whole columns");
    b.par_chunks_mut(rows).for_each(work);
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    #[test]
    fn a_small_system_by_hand() {
        // [2 0; 4 1] X = 2 [1; 6]
        let a = |i: usize, j: usize| [[2.0, f64::NAN], [4.0, 1.0]][i][j];
        let mut b = [1.0, 6.0];
        solve(true, 2, a, &mut b, 2);
        assert_eq!(b, [1.0, 8.0]);
        multiply(true, 0.5, a, &mut b, 2);
        assert_eq!(b, [1.0, 6.0]);
    }

    #[test]
    fn a_product_undoes_a_solution() {
        let element =
            |i: usize, j: usize| Complex::new(if i == j { 3.0 } else { 0.5 }, (i + 2 * j) as f64 / 9.0);
        for lower in [true, false] {
            let a = |i: usize, j: usize| {
                assert!(if lower { i >= j } else { i <= j }, "({i}, {j}) is in the other triangle");
                element(i, j)
            };
            let original: Vec<_> = (0..10).map(|k| Complex::new(k as f64, 1.0)).collect();
            let mut b = original.clone();
            solve(lower, 1, a, &mut b, 5);
            multiply(lower, 1, a, &mut b, 5);
            assert!(b.iter().zip(&original).all(|(b, o)| (b - o).norm() < 1e-13));
            solve(lower, 0, |_, _| -> Complex<f64> { unreachable!() }, &mut b, 5);
            assert_eq!(b, [Complex::default(); 10]);
        }
    }
}
