//! LU factorisation with partial pivoting on the host.
//!
//! The twin of [`factor::getrf`](crate::factor::getrf).

use super::elements::divided;
use super::level1::{Arithmetic, iamax};
use std::ops::Div;

/// Computes P A = L U in the place of A, column by column.
///
/// Returns the pivots and LAPACK's `info`. `a` has columns of `rows` elements. Row i is exchanged
/// with row `pivots[i]`. The pivot has the largest |Re| + |Im|, and is the first of equal ones.
/// `info` is 0, or the number of the first pivot that is exactly zero, counted from 1.
///
/// # Panics
/// If `a` does not consist of whole columns.
pub fn factorise<T: Arithmetic + Div<Output = T>>(rows: usize, a: &mut [T]) -> (Vec<u32>, usize) {
    if a.is_empty() {
        return (Vec::new(), 0);
    }
    assert!(rows > 0 && a.len().is_multiple_of(rows), "A consists of whole columns");
    let columns = a.len() / rows;
    let (mut pivots, mut info) = (Vec::new(), 0);
    for j in 0..rows.min(columns) {
        let pivot = j + iamax(&a[j + j * rows..(j + 1) * rows]).unwrap_or(0);
        pivots.push(pivot as u32);
        (0..columns).for_each(|k| a.swap(j + k * rows, pivot + k * rows));
        if a[j + j * rows] == T::default() {
            info = if info == 0 { j + 1 } else { info };
            continue;
        }
        for i in j + 1..rows {
            let factor = divided(a[i + j * rows], a[j + j * rows]);
            a[i + j * rows] = factor;
            (j + 1..columns).for_each(|k| a[i + k * rows] = a[i + k * rows] - factor * a[j + k * rows]);
        }
    }
    (pivots, info)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_factors_by_hand() {
        // A = [0 2; 4 1]
        let mut a = [0.0, 4.0, 2.0, 1.0];
        assert_eq!(factorise(2, &mut a), (vec![1, 1], 0));
        assert_eq!(a, [4.0, 0.0, 1.0, 2.0]);
        // The second column is zero below the diagonal, and the third pivot is found.
        let mut a = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 4.0, 6.0];
        assert_eq!(factorise(3, &mut a), (vec![0, 1, 2], 2));
        assert_eq!(a, [1.0, 1.0, 1.0, 2.0, 0.0, 0.0, 3.0, 1.0, 3.0]);
    }
}
