//! Estimates of condition numbers by a few solutions.

use crate::error::BlasResult;
use lattice_solvers::range::{exponent_beyond, larger};
use num_complex::Complex;

type C64 = Complex<f64>;

/// Most solutions with A after the first.
const MOST_STEPS: usize = 5;

/// The matrix that a system is solved with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// A itself.
    Plain,
    /// Its adjoint.
    Adjoint,
}

/// Largest exponent of norms whose inverse is in range in single precision, times a condition number.
const SAFE: i32 = 40;

/// Powers of two that single precision has without loss.
const POWERS_OF_SINGLE: i32 = 100;

/// Returns a lower bound of ‖A‖₁ ‖A⁻¹‖₁, which is seldom below a third of it.
///
/// The matrix has `n` rows and the given norm. `solve` replaces its vector b by the solution x of A x = b
/// or Aᴴ x = b. The result is infinite or NaN if a solution is not finite.
pub(super) fn condition(
    n: usize,
    norm: f64,
    mut solve: impl FnMut(Which, &mut [C64]) -> BlasResult<()>,
) -> BlasResult<f64> {
    // In units of A, solutions have the size of the condition.
    let power = exponent_beyond(norm, SAFE).clamp(-POWERS_OF_SINGLE, POWERS_OF_SINGLE);
    let unit = 2.0_f64.powi(power);
    let inverse = inverse_norm1(n, |which, x| {
        x.iter_mut().for_each(|x| *x *= unit);
        solve(which, x)
    })?;
    Ok(norm / unit * inverse)
}

/// Returns a lower bound of ‖A⁻¹‖₁, which is seldom below a third of it.
///
/// Source: N. J. Higham, ACM Trans. Math. Softw. 14, 381 (1988), with the last test vector of
/// LAPACK's `xLACN2`.
fn inverse_norm1(n: usize, mut solve: impl FnMut(Which, &mut [C64]) -> BlasResult<()>) -> BlasResult<f64> {
    if n == 0 {
        return Ok(0.0);
    }
    let mut x = vec![C64::from(1.0 / n as f64); n];
    solve(Which::Plain, &mut x)?;
    let mut estimate = sum(&x);
    if n == 1 || !estimate.is_finite() {
        return Ok(estimate);
    }
    let mut last = None;
    for _ in 0..MOST_STEPS {
        let mut z: Vec<C64> = x.iter().map(|&x| direction(x)).collect();
        solve(Which::Adjoint, &mut z)?;
        let most = largest(&z);
        if last.is_some_and(|last: usize| z[last].norm() >= z[most].norm()) {
            break;
        }
        last = Some(most);
        x.fill(C64::default());
        x[most] = 1.0.into();
        solve(Which::Plain, &mut x)?;
        let norm = sum(&x);
        if !norm.is_finite() {
            return Ok(norm);
        }
        if norm <= estimate {
            break;
        }
        estimate = norm;
    }
    // The steps are blind where the contributions to a column cancel.
    let slope = |i: usize| (1.0 + i as f64 / (n - 1) as f64) * if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let mut x: Vec<C64> = (0..n).map(|i| slope(i).into()).collect();
    solve(Which::Plain, &mut x)?;
    Ok(larger(estimate, 2.0 * sum(&x) / (3 * n) as f64))
}

fn sum(x: &[C64]) -> f64 {
    x.iter().map(|z| z.norm()).sum()
}

/// Returns x/|x|, and 1 for 0.
fn direction(x: C64) -> C64 {
    let size = x.norm();
    if size > 0.0 { x / size } else { 1.0.into() }
}

fn largest(x: &[C64]) -> usize {
    (1..x.len()).fold(0, |best, i| if x[i].norm() > x[best].norm() { i } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagonal_inverse_is_found_exactly() {
        let diagonal = [4.0, 0.25, -2.0, 1.0];
        let solve = |_, x: &mut [C64]| {
            x.iter_mut().zip(diagonal).for_each(|(x, d)| *x /= d);
            Ok(())
        };
        assert_eq!(inverse_norm1(4, solve).unwrap(), 4.0);
        assert_eq!(inverse_norm1(0, |_, _| unreachable!()).unwrap(), 0.0);
    }

    #[test]
    fn the_estimate_lies_between_a_third_and_the_norm() {
        // The inverse is known: bidiagonal A with ones and −a has columns of powers of a.
        let (n, a) = (30, C64::new(0.6, 0.7));
        let solve = |which, x: &mut [C64]| {
            match which {
                Which::Plain => (1..n).for_each(|i| x[i] += a * x[i - 1]),
                Which::Adjoint => (0..n - 1).rev().for_each(|i| x[i] += a.conj() * x[i + 1]),
            }
            Ok(())
        };
        let exact: f64 = (0..n).map(|k| a.norm().powi(k as i32)).sum();
        let estimate = inverse_norm1(n, solve).unwrap();
        assert!(estimate <= exact * (1.0 + 1e-12) && estimate >= exact / 3.0, "{estimate} of {exact}");
    }
}
