//! Properties of a matrix that its entries tell.

use super::outcome::{FoundSymmetry, SolveError};
use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::size;
use crate::sparse::csr::{Asymmetry, Csr};
use num_complex::Complex64;

/// Part of the largest row sum below which a difference is rounding.
const ROUNDING: f64 = 1e-14;

/// Rows of the leading part that is factorised.
const SAMPLE: usize = 200;

/// Returns the symmetry of a square matrix, and its largest asymmetry.
pub(super) fn found<T: Arithmetic>(matrix: &Csr<T>) -> (FoundSymmetry, Asymmetry) {
    let none = Asymmetry { difference: 0.0, row: 0, column: 0 };
    let asymmetry = matrix.asymmetry().unwrap_or(none);
    let rounding = ROUNDING * matrix.norm_infinity();
    let symmetry = if asymmetry.difference <= rounding {
        if may_be_positive(matrix) { FoundSymmetry::PositiveDefinite } else { FoundSymmetry::Hermitian }
    } else if is_skew(matrix, rounding) {
        FoundSymmetry::SkewHermitian
    } else {
        FoundSymmetry::General
    };
    (symmetry, asymmetry)
}

fn is_skew<T: Arithmetic>(matrix: &Csr<T>, rounding: f64) -> bool {
    let adjoint = matrix.adjoint();
    let of_row = |row: usize| {
        matrix.row(row).all(|(column, value)| size(value + adjoint.at(row, column)) <= rounding)
            && adjoint.row(row).all(|(column, value)| size(value + matrix.at(row, column)) <= rounding)
    };
    (0..matrix.rows()).all(of_row)
}

/// Tells whether the matrix may be positive definite.
///
/// The diagonal must be positive, and the leading rows must have a Cholesky factorisation.
fn may_be_positive<T: Arithmetic>(matrix: &Csr<T>) -> bool {
    let diagonal = matrix.diagonal();
    if !diagonal.iter().all(|value| value.to_complex().re > 0.0) {
        return false;
    }
    let n = matrix.rows().min(SAMPLE);
    let mut lower = vec![Complex64::default(); n * n];
    for row in 0..n {
        for (column, value) in matrix.row(row).filter(|(column, _)| *column <= row) {
            lower[row * n + column] = value.to_complex();
        }
    }
    for j in 0..n {
        let known: f64 = (0..j).map(|k| lower[j * n + k].norm_sqr()).sum();
        let pivot = lower[j * n + j].re - known;
        // Written so that a NaN is not positive.
        let positive = pivot > 0.0;
        if !positive {
            return false;
        }
        lower[j * n + j] = pivot.sqrt().into();
        for i in j + 1..n {
            let known: Complex64 = (0..j).map(|k| lower[i * n + k] * lower[j * n + k].conj()).sum();
            lower[i * n + j] = (lower[i * n + j] - known) / pivot.sqrt();
        }
    }
    true
}

/// Refuses a matrix with a row or a column of zeros.
pub(super) fn expect_no_empty_line<T: Arithmetic>(matrix: &Csr<T>) -> Result<(), SolveError> {
    let mut has_entry = vec![false; matrix.columns()];
    for row in 0..matrix.rows() {
        let mut is_empty = true;
        for (column, _) in matrix.row(row).filter(|(_, value)| size(*value) != 0.0) {
            has_entry[column] = true;
            is_empty = false;
        }
        if is_empty {
            return Err(SolveError::Empty { what: "row", number: row + 1 });
        }
    }
    match has_entry.iter().position(|has| !has) {
        Some(column) => Err(SolveError::Empty { what: "column", number: column + 1 }),
        None => Ok(()),
    }
}
