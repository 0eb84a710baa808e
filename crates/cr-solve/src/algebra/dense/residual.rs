//! Facts of a dense system, from its definition in double.

use super::direct::System;
use super::factors::Number;
use lattice_cl::compute::parallel::*;
use lattice_cl::io::DenseMatrix;
use lattice_cl::scalar::Element;
use lattice_solvers::range::{complex_times_power, exponent_beyond, larger, norm, part_size, times_power};
use num_complex::Complex64;
use serde::Serialize;

/// A backward error up to which equations count as solved exactly.
const CONSISTENT: f64 = 1e-10;

/// Multiples of ε times the larger extent up to which a backward error is rounding.
const ROUNDINGS: f64 = 100.0;

/// The residual of a solution, the largest of all right-hand sides.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Residual {
    /// ‖b − A x‖₂ / ‖b‖₂, or ‖A x‖₂ if b = 0.
    #[serde(rename = "true")]
    pub of_definition: f64,
    /// ‖Aᴴ r‖₂ / (‖A‖ ‖r‖₂) for r = b − A x, with the Frobenius norm: 0 for least squares.
    ///
    /// It is 0 if r is no more than rounding.
    pub normal: f64,
    /// ‖r‖∞ / (‖A‖∞ ‖x‖∞ + ‖b‖∞).
    ///
    /// None for more equations than unknowns without an exact solution, whose r is not small.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backward_error: Option<f64>,
    /// ‖Aᴴ r‖₂ / (‖A‖ (‖A‖ ‖x‖₂ + ‖b‖₂)), which is rounding for least squares, however small r is.
    #[serde(skip)]
    pub of_normal_equations: f64,
}

/// Most pieces of the rows that are summed up at once.
const MOST_PIECES: usize = 64;

impl Residual {
    pub fn of<T: Number>(system: &System<'_, T>, all_x: &[T]) -> Self {
        let System { a, b, rows, columns, sides } = *system;
        // A and b are taken in units of powers of two, so that no product leaves the range.
        let (of_a, of_b) = (power(a.iter()), power(b.iter()));
        let unit = 2.0_f64.powi(-of_a);
        let entry = |a: &T| a.to_complex() * unit;
        let row_norms = a.par_chunks(columns).map(|row| row.iter().map(|a| entry(a).norm()).sum::<f64>());
        let largest_row = row_norms.reduce(|| 0.0, larger);
        let squares = a.par_chunks(columns).map(|row| row.iter().map(|a| entry(a).norm_sqr()).sum::<f64>());
        let frobenius = squares.collect::<Vec<f64>>().iter().sum::<f64>().sqrt();
        // A x is summed in units of the columns of A: elements may be as unlike as 1e-200 and 1e200.
        let of_columns = column_powers(a, columns);
        let column_units: Vec<f64> = of_columns.iter().map(|&power| 2.0_f64.powi(-power)).collect();
        let mut all =
            Self { of_definition: 0.0, normal: 0.0, backward_error: None, of_normal_equations: 0.0 };
        let mut backward_error = 0.0;
        let of_side = |elements: &[T], count: usize, side: usize, power: i32| -> Vec<Complex64> {
            (0..count).map(|k| complex_times_power(elements[k * sides + side].to_complex(), power)).collect()
        };
        for side in 0..sides {
            let x = of_side(all_x, columns, side, of_a - of_b);
            let in_columns = |(k, power): (usize, &i32)| {
                complex_times_power(all_x[k * sides + side].to_complex(), power - of_b)
            };
            let in_columns: Vec<Complex64> = of_columns.iter().enumerate().map(in_columns).collect();
            let b = of_side(b, rows, side, -of_b);
            let term = |((a, unit), x): ((&T, &f64), &Complex64)| a.to_complex() * *unit * x;
            let image =
                |row: &[T]| row.iter().zip(&column_units).zip(&in_columns).map(term).sum::<Complex64>();
            let rest: Vec<Complex64> = a.par_chunks(columns).zip(&b).map(|(row, b)| b - image(row)).collect();
            let (size, size_of_b) = (norm(rest.iter().copied()), norm(b.iter().copied()));
            // The pieces and their order depend on the shape alone, and so do the bits of the sums.
            let at_once = rows.div_ceil(MOST_PIECES).max(1);
            let pieces = a.par_chunks(at_once * columns).zip(rest.par_chunks(at_once)).map(|(rows, rest)| {
                let mut sums = vec![Complex64::default(); columns];
                for (row, rest) in rows.chunks(columns).zip(rest) {
                    sums.iter_mut().zip(row).for_each(|(sum, a)| *sum += entry(a).conj() * rest);
                }
                sums
            });
            let mut normal = vec![Complex64::default(); columns];
            for piece in pieces.collect::<Vec<_>>() {
                normal.iter_mut().zip(piece).for_each(|(sum, part)| *sum += part);
            }
            let bound = largest_row * largest(&x) + largest(&b);
            let backward = over(largest(&rest), bound);
            let rounding = ROUNDINGS * f64::EPSILON * rows.max(columns) as f64;
            let along = over(norm(normal.iter().copied()), frobenius);
            let of_definition = if size_of_b > 0.0 { size / size_of_b } else { times_power(size, of_b) };
            all.of_definition = larger(all.of_definition, of_definition);
            all.normal = larger(all.normal, if backward <= rounding { 0.0 } else { over(along, size) });
            let whole = frobenius * norm(x.iter().copied()) + size_of_b;
            all.of_normal_equations = larger(all.of_normal_equations, over(along, whole));
            backward_error = larger(backward_error, backward);
        }
        let is_solved = backward_error <= CONSISTENT;
        all.backward_error = (rows <= columns || is_solved).then_some(backward_error);
        all
    }
}

/// Returns a/b, and 0 for 0/0.
fn over(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a / b }
}

/// Returns the exponent of the largest element, within those that powers of two and their inverses have.
fn power<'a, T: Number>(elements: impl Iterator<Item = &'a T>) -> i32 {
    exponent_beyond(elements.map(|x| part_size(x.to_complex())).fold(0.0, larger), 0).clamp(-1000, 1000)
}

/// Returns the exponent of the largest element of each column, as [`power`] does.
fn column_powers<T: Number>(a: &[T], columns: usize) -> Vec<i32> {
    let mut sizes = vec![0.0; columns];
    for row in a.chunks(columns) {
        sizes.iter_mut().zip(row).for_each(|(size, a)| *size = larger(*size, part_size(a.to_complex())));
    }
    sizes.into_iter().map(|size| exponent_beyond(size, 0).clamp(-1000, 1000)).collect()
}

fn largest(x: &[Complex64]) -> f64 {
    x.iter().map(|z| z.norm()).fold(0.0, larger)
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
        assert_eq!(residual.backward_error, None, "no x solves the equations");
        let system = System { b: &[1.0, 0.0, 0.0], ..system };
        let residual = Residual::of(&system, &x);
        assert_eq!(residual.of_definition, 2.0);
        assert_eq!(residual.normal, 4.0 / (5.0_f64.sqrt() * 2.0));
        let expected = 4.0 / (5.0_f64.sqrt() * (10.0_f64.sqrt() + 1.0));
        assert!((residual.of_normal_equations - expected).abs() < 1e-15);
        let system = System { b: &[1.0, 2.0, 0.0], ..system };
        assert_eq!(Residual::of(&system, &x).backward_error, Some(0.0), "x solves the equations");
        let square = System { a: &a[..4], b: &[1.0, 4.0], rows: 2, ..system };
        assert_eq!(Residual::of(&square, &x).backward_error, Some(2.0 / (2.0 + 4.0)));
    }

    #[test]
    fn elements_may_be_as_unlike_as_numbers_are() {
        let a = [1e-200, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1e200];
        let system = System { a: &a, b: &[1.0; 3], rows: 3, columns: 3, sides: 1 };
        let residual = Residual::of(&system, &[1e200, 1.0, 1e-200]);
        assert!(residual.of_definition < 1e-15, "{residual:?}");
        let residual = Residual::of(&system, &[2e200, 1.0, 1e-200]);
        assert!((residual.of_definition - 1.0 / 3.0_f64.sqrt()).abs() < 1e-15, "{residual:?}");
    }

    #[test]
    fn residuals_have_no_scale() {
        let entries = |power| [1.0, 0.3, -0.2, 2.0, 0.7, 0.9].map(|a| times_power(a, power));
        let of = |of_a: i32, of_b: i32, b: [f64; 3]| {
            let (a, b) = (entries(of_a), b.map(|b| times_power(b, of_b)));
            let x = [0.4, -0.1].map(|x| times_power(x, of_b - of_a));
            Residual::of(&System { a: &a, b: &b, rows: 3, columns: 2, sides: 1 }, &x)
        };
        let b = [1.0, -2.0, 0.5];
        let expected = of(0, 0, b);
        for (of_a, of_b) in [(-1000, 0), (1000, 0), (0, 1000), (0, -1000), (1000, 1000), (-1000, -1000)] {
            let found = of(of_a, of_b, b);
            assert_eq!(found.of_definition, expected.of_definition, "{of_a} {of_b}");
            assert_eq!(found.normal, expected.normal, "{of_a} {of_b}");
            assert_eq!(found.of_normal_equations, expected.of_normal_equations, "{of_a} {of_b}");
        }
        let nothing = of(0, 0, [f64::NAN, 0.0, 0.0]);
        assert!(nothing.of_definition.is_nan() && nothing.normal.is_nan());
        assert!(nothing.of_normal_equations.is_nan() && nothing.backward_error.is_none());
    }

    #[test]
    fn residuals_have_the_same_bits_on_any_number_of_threads() {
        // A sequence without pattern.
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let (rows, columns, sides) = (301, 17, 2);
        let mut numbers = |count: usize| -> Vec<f64> { (0..count).map(|_| next()).collect() };
        let (a, b, x) = (numbers(rows * columns), numbers(rows * sides), numbers(columns * sides));
        let of = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let residual = pool.install(|| Residual::of(&System { a: &a, b: &b, rows, columns, sides }, &x));
            [residual.of_definition, residual.normal, residual.of_normal_equations].map(f64::to_bits)
        };
        let alone = of(1);
        for threads in [2, 3, 8, 8, 8] {
            assert_eq!(of(threads), alone, "{threads} threads");
        }
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
