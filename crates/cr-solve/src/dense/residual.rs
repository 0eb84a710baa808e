//! Facts of a dense system, from its definition in double.

use super::direct::System;
use super::factors::Number;
use lattice_cl::io::DenseMatrix;
use lattice_cl::scalar::Element;
use num_complex::Complex64;
use rayon::prelude::*;
use serde::Serialize;

/// The residual of a solution, the largest of all right-hand sides.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Residual {
    /// ‖b − A x‖₂ / ‖b‖₂, or ‖A x‖₂ if b = 0.
    #[serde(rename = "true")]
    pub of_definition: f64,
    /// ‖Aᴴ (b − A x)‖₂ / (‖A‖ ‖b − A x‖₂), with the Frobenius norm: 0 for least squares.
    pub normal: f64,
    /// ‖b − A x‖∞ / (‖A‖∞ ‖x‖∞ + ‖b‖∞).
    pub backward_error: f64,
}

impl Residual {
    pub fn of<T: Number>(system: &System<'_, T>, x: &[T]) -> Self {
        let System { a, b, rows, columns, sides } = *system;
        let row_norms =
            a.par_chunks(columns).map(|row| row.iter().map(|a| a.to_complex().norm()).sum::<f64>());
        let largest_row = row_norms.reduce(|| 0.0, f64::max);
        let frobenius = a.par_iter().map(|a| a.to_complex().norm_sqr()).sum::<f64>().sqrt();
        let mut residual = Self { of_definition: 0.0, normal: 0.0, backward_error: 0.0 };
        for side in 0..sides {
            let x: Vec<Complex64> = (0..columns).map(|j| x[j * sides + side].to_complex()).collect();
            let b: Vec<Complex64> = (0..rows).map(|i| b[i * sides + side].to_complex()).collect();
            let rest: Vec<Complex64> = a
                .par_chunks(columns)
                .zip(&b)
                .map(|(row, b)| b - row.iter().zip(&x).map(|(a, x)| a.to_complex() * x).sum::<Complex64>())
                .collect();
            let size = norm(&rest);
            let of_b = norm(&b);
            let pieces = a.par_chunks(columns).zip(&rest).fold(
                || vec![Complex64::default(); columns],
                |mut sums, (row, rest)| {
                    sums.iter_mut().zip(row).for_each(|(sum, a)| *sum += a.to_complex().conj() * rest);
                    sums
                },
            );
            let normal = pieces.reduce(
                || vec![Complex64::default(); columns],
                |mut left, right| {
                    left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
                    left
                },
            );
            let bound = largest_row * largest(&x) + largest(&b);
            residual.of_definition =
                worse(residual.of_definition, if of_b > 0.0 { size / of_b } else { size });
            let normal = if size > 0.0 { norm(&normal) / (frobenius * size) } else { 0.0 };
            residual.normal = worse(residual.normal, normal);
            let backward = if bound > 0.0 { largest(&rest) / bound } else { 0.0 };
            residual.backward_error = worse(residual.backward_error, backward);
        }
        residual
    }
}

/// Returns the larger number, or NaN if one is.
fn worse(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

fn norm(x: &[Complex64]) -> f64 {
    x.iter().map(Complex64::norm_sqr).sum::<f64>().sqrt()
}

fn largest(x: &[Complex64]) -> f64 {
    x.iter().map(|z| z.norm()).fold(0.0, worse)
}

/// Tells whether a square matrix is equal to its adjoint.
pub fn is_hermitian<T: Element>(a: &[T], n: usize) -> bool {
    let equal = |i: usize| (0..=i).all(|j| a[i * n + j].to_complex() == a[j * n + i].to_complex().conj());
    (0..n).into_par_iter().all(equal)
}

/// Tells whether all elements on the diagonal are positive.
pub fn has_positive_diagonal<T: Element>(a: &[T], n: usize) -> bool {
    (0..n).all(|i| a[i * n + i].to_complex().re > 0.0)
}

/// Returns an element of a square matrix that is not that of its adjoint.
pub fn asymmetry(a: &DenseMatrix) -> Option<(usize, usize)> {
    let differs = |i: usize| (0..=i).find(|&j| a.at(i, j) != a.at(j, i).conj()).map(|j| (i, j));
    (0..a.rows).into_par_iter().find_map_first(differs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residuals_by_hand() {
        // A = [1 0; 0 2; 0 0], x = (1, 1): A x = (1, 2, 0).
        let (a, x) = ([1.0, 0.0, 0.0, 2.0, 0.0, 0.0], [1.0, 1.0]);
        let system = System { a: &a, b: &[1.0, 2.0, 2.0], rows: 3, columns: 2, sides: 1 };
        let residual = Residual::of(&system, &x);
        assert_eq!(residual.of_definition, 2.0 / 3.0);
        assert_eq!(residual.normal, 0.0, "the residual is orthogonal to the columns");
        assert_eq!(residual.backward_error, 2.0 / (2.0 + 2.0));
        let system = System { b: &[1.0, 0.0, 0.0], ..system };
        let residual = Residual::of(&system, &x);
        assert_eq!(residual.of_definition, 2.0);
        assert_eq!(residual.normal, 4.0 / (5.0_f64.sqrt() * 2.0));
    }

    #[test]
    fn adjoints_are_compared() {
        let i = Complex64::i();
        let one = Complex64::from(1.0);
        assert!(is_hermitian(&[one, i, -i, one], 2));
        assert!(!is_hermitian(&[one, i, i, one], 2));
        assert!(!is_hermitian(&[i], 1));
        assert!(has_positive_diagonal(&[1.0, -3.0, -3.0, 2.0], 2));
    }
}
