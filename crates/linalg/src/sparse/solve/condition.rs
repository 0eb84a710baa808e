//! An estimate of the condition number by a few solves.
//!
//! Source: N. J. Higham, ACM Trans. Math. Softw. 14 (1988) 381, algorithm 4.1.

use super::options::SolveOptions;
use super::options::Watch;
use super::ordinary;
use super::outcome::SolveError;
use super::solve_columns;
use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::{real, size};
use crate::sparse::csr::Csr;
use crate::sparse::processor::Processor;
use lattice_solvers::range::larger;
use std::sync::Arc;

/// Most pairs of solves with A and its adjoint.
const MOST_PAIRS: usize = 5;

/// Estimates the condition number ‖A‖ ‖A⁻¹‖ for the norm of column sums.
///
/// It is a lower bound, to the accuracy of the solves, and mostly within a factor of three. Up to
/// eleven systems with A and its conjugate transpose are solved. `None` if one of them is not solved.
///
/// # Errors
/// Those of [`solve()`](super::solve()).
pub fn condition_estimate<T: Arithmetic>(
    places: &[Processor],
    matrix: impl Into<Arc<Csr<T>>>,
    options: &SolveOptions<T>,
    mut watch: Option<Watch<'_>>,
) -> Result<Option<f64>, SolveError> {
    // The condition has no scale.
    let (matrix, _) = ordinary::matrix(matrix.into());
    let n = matrix.rows();
    let adjoint = Arc::new(matrix.adjoint());
    let norm = adjoint.norm_infinity();
    let adjoint = if *adjoint == *matrix { Arc::clone(&matrix) } else { adjoint };
    let mut solved = |matrix: &Arc<Csr<T>>, b: &[T]| -> Result<Option<Vec<T>>, SolveError> {
        let watch = watch.as_mut().map(|watch| &mut **watch as Watch<'_>);
        let solved = solve_columns(places, Arc::clone(matrix), &[b], options, watch)?.remove(0);
        Ok(solved.converged.then_some(solved.x))
    };
    if n == 0 {
        return Ok(None);
    }
    let sum = |y: &[T]| y.iter().map(|y| size(*y)).sum::<f64>();
    let mut largest = 0.0_f64;
    let mut x: Vec<T> = vec![real(1.0 / n as f64); n];
    let mut before = None;
    for _ in 0..MOST_PAIRS {
        let Some(y) = solved(&matrix, &x)? else { return Ok(None) };
        let found = sum(&y);
        if !found.is_finite() {
            return Ok(None);
        }
        if found <= largest {
            break;
        }
        largest = found;
        let signs: Vec<T> = y.iter().map(|y| sign(*y)).collect();
        let Some(z) = solved(&adjoint, &signs)? else { return Ok(None) };
        // The column of the inverse that promises the largest sum.
        let place = (0..n).fold(0, |best, k| if size(z[k]) > size(z[best]) { k } else { best });
        if before == Some(place) {
            break;
        }
        before = Some(place);
        x = vec![T::default(); n];
        x[place] = real(1.0);
    }
    // A vector whose parts do not cancel where those before may have.
    let step = |k: usize| k as f64 / (n - 1).max(1) as f64;
    let last = |k: usize| real(if k.is_multiple_of(2) { 1.0 + step(k) } else { -1.0 - step(k) });
    let Some(y) = solved(&matrix, &(0..n).map(last).collect::<Vec<T>>())? else { return Ok(None) };
    let estimate = norm * larger(largest, 2.0 * sum(&y) / (3 * n) as f64);
    Ok(estimate.is_finite().then_some(estimate))
}

/// Returns y/|y|, or 1 for zero.
fn sign<T: Arithmetic>(y: T) -> T {
    let size = size(y);
    if size == 0.0 { real(1.0) } else { T::from_complex(y.to_complex() / size) }
}
