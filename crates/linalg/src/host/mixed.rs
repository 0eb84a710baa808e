//! Solutions in double precision with factors in single, on the host.
//!
//! The twin of [`factor::mixed_gesv`](crate::factor::mixed_gesv).

use super::elements::{divided, scale};
use super::level1::Arithmetic;
use super::lu;
use lattice_compute::scalar::Element;
use lattice_solvers::range::{exponent_beyond, larger, part_size};
use num_complex::Complex;
use std::ops::Div;

/// Largest exponent of elements that single precision takes as they are.
const SAFE: i32 = 40;

/// Most corrections before A is factorised in double precision.
pub const MOST_STEPS: usize = 30;

/// An element of double precision, with the one of single precision that stands for it.
pub trait Wide: Element<Real = f64> {
    /// The element of single precision.
    type Narrow: Element<Real = f32>;
}

impl Wide for f64 {
    type Narrow = f32;
}

impl Wide for Complex<f64> {
    type Narrow = Complex<f32>;
}

/// Solves A x = b for one right-hand side; returns x and the number of its corrections.
///
/// `a` has `n` columns of `n` elements. The result is `None` if the factorisation in single precision
/// fails, or if the residual is too large after all corrections.
/// Numbers far from 1 are multiplied by powers of two first.
///
/// # Panics
/// If `a` has not n² elements, or `b` not n.
pub fn solve<T: Wide>(n: usize, a: &[T], b: &[T]) -> Option<(Vec<T>, usize)>
where
    T::Narrow: Arithmetic + Div<Output = T::Narrow>,
{
    assert_eq!((a.len(), b.len()), (n * n, n), "A is square, and b has its rows");
    let power =
        |x: &[T]| exponent_beyond(x.iter().map(|x| part_size(x.to_complex())).fold(0.0, larger), SAFE);
    let (of_a, of_b) = (power(a), power(b));
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    scale(&mut a, -of_a);
    scale(&mut b, -of_b);
    let (mut x, steps) = solve_ordinary(n, &a, &b)?;
    scale(&mut x, of_b - of_a);
    Some((x, steps))
}

/// Solves a system whose numbers single precision has.
fn solve_ordinary<T: Wide>(n: usize, a: &[T], b: &[T]) -> Option<(Vec<T>, usize)>
where
    T::Narrow: Arithmetic + Div<Output = T::Narrow>,
{
    let wide = |x: T| x.to_complex();
    let mut factors: Vec<T::Narrow> = a.iter().map(|&x| T::Narrow::from_complex(wide(x))).collect();
    let (pivots, info) = lu::factorise(n, &mut factors);
    if info != 0 {
        return None;
    }
    let sum_of_row = |i: usize| (0..n).map(|j| wide(a[i + j * n]).norm()).sum::<f64>();
    let norm = (0..n).map(sum_of_row).fold(0.0, larger);
    let size = |z: &Complex<f64>| z.re.abs() + z.im.abs();
    let largest = |x: &[Complex<f64>]| x.iter().map(size).fold(0.0, larger);
    let (mut x, mut rest) = (vec![Complex::default(); n], b.iter().map(|&b| wide(b)).collect::<Vec<_>>());
    for steps in 0..=MOST_STEPS {
        let narrow = rest.iter().map(|&r| T::Narrow::from_complex(r)).collect();
        let correction = substituted(n, &factors, &pivots, narrow);
        x.iter_mut().zip(correction).for_each(|(x, d)| *x += d.to_complex());
        for (i, rest) in rest.iter_mut().enumerate() {
            *rest = (0..n).fold(wide(b[i]), |sum, j| sum - wide(a[i + j * n]) * x[j]);
        }
        if largest(&rest) <= (n as f64).sqrt() * (f64::EPSILON / 2.0) * norm * largest(&x) {
            return Some((x.into_iter().map(T::from_complex).collect(), steps));
        }
    }
    None
}

/// Returns the solution of L U x = P b.
fn substituted<N: Arithmetic + Div<Output = N>>(n: usize, lu: &[N], pivots: &[u32], mut x: Vec<N>) -> Vec<N> {
    pivots.iter().enumerate().for_each(|(i, &row)| x.swap(i, row as usize));
    for i in 0..n {
        x[i] = (0..i).fold(x[i], |sum, k| sum - lu[i + k * n] * x[k]);
    }
    for i in (0..n).rev() {
        let rest = (i + 1..n).fold(x[i], |sum, k| sum - lu[i + k * n] * x[k]);
        x[i] = divided(rest, lu[i + i * n]);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_single_precision_has_not_is_corrected() {
        // A = [3 1; 1 2] and x = (1/3, 1).
        let a = [3.0, 1.0, 1.0, 2.0];
        let (x, steps) = solve(2, &a, &[2.0, 7.0 / 3.0]).unwrap();
        assert!((x[0] - 1.0 / 3.0).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15 && steps > 0, "{x:?} {steps}");
        assert_eq!(solve(2, &[0.0, 0.0, 1.0, 2.0], &[1.0, 1.0]), None);
    }
}
