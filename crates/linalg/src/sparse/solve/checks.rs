//! Systems and options that do not go together.

use super::options::{Kind, SolveOptions};
use super::outcome::{FoundSymmetry, SolveError};
use super::symmetry;
use crate::host::level1::Arithmetic;
use crate::sparse::csr::Csr;
use crate::sparse::precondition::Cycle;

/// Refuses a system that cannot be solved with these options, and returns the matrix's symmetry.
pub(super) fn expect_solvable<T: Arithmetic>(
    source: &Csr<T>,
    columns: &[&[T]],
    options: &SolveOptions<T>,
) -> Result<FoundSymmetry, SolveError> {
    let rows = source.rows();
    if rows != source.columns() {
        return Err(SolveError::NotSquare { rows, columns: source.columns() });
    }
    if let Some(b) = columns.iter().find(|b| b.len() != rows) {
        return Err(SolveError::RightSide { wanted: rows, found: b.len() });
    }
    symmetry::expect_no_empty_line(source)?;
    let (symmetry, asymmetry) = symmetry::found(source);
    let is_hermitian = matches!(symmetry, FoundSymmetry::Hermitian | FoundSymmetry::PositiveDefinite);
    if symmetry == FoundSymmetry::SkewHermitian && !T::IS_COMPLEX && !rows.is_multiple_of(2) {
        return Err(SolveError::OddSkew { rows });
    }
    if let Some(method) = options.method {
        if method.needs_hermitian() && !is_hermitian {
            let (row, column, difference) = (asymmetry.row + 1, asymmetry.column + 1, asymmetry.difference);
            return Err(SolveError::NotHermitian { method, row, column, difference });
        }
        if !method.takes_preconditioner() && options.preconditioner.is_some_and(|kind| kind != Kind::None) {
            return Err(SolveError::NoPreconditioner { method });
        }
        if options.matching && !method.takes_preconditioner() {
            return Err(SolveError::NoPreconditioner { method });
        }
        if options.matching && method.needs_hermitian_preconditioner() {
            return Err(SolveError::Matching { needs: method.name() });
        }
        if options.preconditioner == Some(Kind::Amg)
            && options.amg.cycle == Cycle::K
            && !method.bears_changes()
        {
            return Err(SolveError::Cycle { method });
        }
    }
    if options.matching && matches!(options.preconditioner, Some(Kind::Ic0(_))) {
        return Err(SolveError::Matching { needs: "ic0" });
    }
    Ok(symmetry)
}
