//! Inverses of small dense matrices on the host.

use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::{real, reciprocal, size};
use lattice_compute::parallel::*;

/// Rows from which several threads eliminate.
const FEWEST_PARALLEL_ROWS: usize = 128;

/// Returns the inverse of a matrix, or `None` if it is singular.
///
/// The matrix has `n` rows, row after row. The method is Gauss-Jordan elimination with the largest
/// pivot of each column.
pub(super) fn inverse<T: Arithmetic>(n: usize, matrix: &[T]) -> Option<Vec<T>> {
    // A row of the matrix, and behind it that of the inverse.
    let row = |i: usize| -> Vec<T> {
        let unit = (0..n).map(|j| if i == j { real(1.0) } else { T::default() });
        matrix[i * n..(i + 1) * n].iter().copied().chain(unit).collect()
    };
    let mut rows: Vec<Vec<T>> = (0..n).map(row).collect();
    for column in 0..n {
        let pivot = (column..n).max_by(|&i, &j| size(rows[i][column]).total_cmp(&size(rows[j][column])))?;
        let found = size(rows[pivot][column]);
        if found == 0.0 || !found.is_finite() {
            return None;
        }
        rows.swap(column, pivot);
        let factor = reciprocal(rows[column][column]);
        rows[column].iter_mut().for_each(|value| *value = factor * *value);
        let pivot = std::mem::take(&mut rows[column]);
        let eliminate = |row: &mut Vec<T>| {
            // The row of the pivot itself is away.
            let factor = row.get(column).copied().unwrap_or_default();
            if size(factor) != 0.0 {
                row.iter_mut().zip(&pivot).for_each(|(value, pivot)| *value = *value - factor * *pivot);
            }
        };
        if n < FEWEST_PARALLEL_ROWS {
            rows.iter_mut().for_each(eliminate);
        } else {
            rows.par_iter_mut().with_min_len(FEWEST_PARALLEL_ROWS / 4).for_each(eliminate);
        }
        rows[column] = pivot;
    }
    Some(rows.into_iter().flat_map(|row| row.into_iter().skip(n)).collect())
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
