//! Inverses of small dense matrices on the host.

use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::{real, reciprocal, size};

/// Returns the inverse of a matrix, or `None` if it is singular.
///
/// The matrix has `n` rows, row after row. The method is Gauss-Jordan elimination with the largest
/// pivot of each column.
pub(super) fn inverse<T: Arithmetic>(n: usize, matrix: &[T]) -> Option<Vec<T>> {
    let mut left: Vec<Vec<T>> = matrix.chunks(n.max(1)).map(<[T]>::to_vec).collect();
    let mut right: Vec<Vec<T>> =
        (0..n).map(|i| (0..n).map(|j| if i == j { real(1.0) } else { T::default() }).collect()).collect();
    for column in 0..n {
        let pivot = (column..n).max_by(|&i, &j| size(left[i][column]).total_cmp(&size(left[j][column])))?;
        let found = size(left[pivot][column]);
        if found == 0.0 || !found.is_finite() {
            return None;
        }
        left.swap(column, pivot);
        right.swap(column, pivot);
        let factor = reciprocal(left[column][column]);
        for rows in [&mut left, &mut right] {
            rows[column].iter_mut().for_each(|value| *value = factor * *value);
        }
        let (pivot_left, pivot_right) = (left[column].clone(), right[column].clone());
        for row in (0..n).filter(|&row| row != column) {
            let factor = left[row][column];
            if size(factor) == 0.0 {
                continue;
            }
            for (rows, pivot) in [(&mut left, &pivot_left), (&mut right, &pivot_right)] {
                rows[row].iter_mut().zip(pivot).for_each(|(value, pivot)| *value = *value - factor * *pivot);
            }
        }
    }
    Some(right.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex64;

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        for n in [0, 1, 2, 7, 19] {
            let element = |k: usize| Complex64::new((1.3 * (k * k) as f64).sin(), (0.7 * k as f64).cos());
            let matrix: Vec<_> = (0..n * n).map(element).collect();
            let inverse = inverse(n, &matrix).unwrap();
            for i in 0..n {
                for j in 0..n {
                    let sum: Complex64 = (0..n).map(|k| matrix[i * n + k] * inverse[k * n + j]).sum();
                    assert!((sum - f64::from(u8::from(i == j))).norm() < 1e-11, "{n}: {sum}");
                }
            }
        }
        assert_eq!(inverse(2, &[1.0, 2.0, 2.0, 4.0]), None);
        assert_eq!(inverse(2, &[0.0, 2.0, 4.0, 0.0]), Some(vec![0.0, 0.25, 0.5, 0.0]));
    }
}
