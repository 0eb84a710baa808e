//! Generalised eigenvalues of small symmetric matrices.

use nalgebra::{Cholesky, DMatrix, DVector, SymmetricEigen};

/// Eigenvalues with their vectors, which have norm 1 in the metric.
pub(crate) type Eigenpairs = Vec<(f64, Vec<f64>)>;

/// Returns the pairs of A v = λ B v, largest eigenvalue first.
///
/// `None` if B is not positive definite. Only the symmetric parts of A and B count.
pub(crate) fn solve(matrix: &DMatrix<f64>, metric: &DMatrix<f64>) -> Option<Eigenpairs> {
    // Operators of norm 1 keep products in range.
    let norms = metric.diagonal().map(f64::sqrt);
    if !norms.iter().all(|norm| *norm > 0.0 && norm.is_finite()) {
        return None;
    }
    let scaled = |matrix: &DMatrix<f64>| {
        DMatrix::from_fn(norms.len(), norms.len(), |row, column| {
            (0.5 * matrix[(row, column)] + 0.5 * matrix[(column, row)]) / norms[row] / norms[column]
        })
    };
    let factor = Cholesky::new(scaled(metric))?.l();
    let half = factor.solve_lower_triangular(&scaled(matrix))?;
    let standard = factor.solve_lower_triangular(&half.transpose())?;
    if standard.iter().any(|entry| !entry.is_finite()) {
        return None;
    }
    let eigen = SymmetricEigen::new(0.5 * (&standard + standard.transpose()));
    let vectors = factor.transpose().solve_upper_triangular(&eigen.eigenvectors)?;
    let pair = |state: usize| {
        let vector = vectors.column(state).iter().zip(&norms).map(|(entry, norm)| entry / norm).collect();
        (eigen.eigenvalues[state], vector)
    };
    let mut pairs: Vec<_> = (0..norms.len()).map(pair).collect();
    pairs.sort_by(|left, right| right.0.total_cmp(&left.0));
    Some(pairs)
}

/// Returns pairs in the order of the reference vectors that they overlap most with.
pub(crate) fn in_order_of(reference: &Eigenpairs, pairs: Eigenpairs, metric: &DMatrix<f64>) -> Eigenpairs {
    let dual = |(_, vector): &(f64, Vec<f64>)| metric * DVector::from_column_slice(vector);
    let duals: Vec<_> = reference.iter().map(dual).collect();
    let mut overlaps = Vec::new();
    for (place, dual) in duals.iter().enumerate() {
        for (state, (_, vector)) in pairs.iter().enumerate() {
            let overlap: f64 = dual.iter().zip(vector).map(|(left, right)| left * right).sum();
            overlaps.push((overlap.abs(), place, state));
        }
    }
    overlaps.sort_by(|left, right| right.0.total_cmp(&left.0));
    let mut state_at = vec![None; pairs.len()];
    for (_, place, state) in overlaps {
        if state_at[place].is_none() && !state_at.contains(&Some(state)) {
            state_at[place] = Some(state);
        }
    }
    state_at.into_iter().flatten().map(|state| pairs[state].clone()).collect()
}
