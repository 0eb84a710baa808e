//! Preconditioners: operators K ≈ A⁻¹ for the methods of `lattice-solvers`.
//!
//! Each is a fixed linear operator, but for the K-cycle of multigrid.
//! [`conjugate_gradient`](lattice_solvers::conjugate_gradient) and
//! [`minres`](lattice_solvers::minres()) take positive definite ones,
//! [`RightPreconditioned`](lattice_solvers::RightPreconditioned) gives any to any method. Set-ups run
//! on the host, but for large levels of multigrid on GPUs. Applications run where the matrix lies.
//!
//! | preconditioner | for | an application |
//! |---|---|---|
//! | [`Jacobi`] | a diagonal without zeros | one pass over vectors |
//! | [`BlockJacobi`] | small dense blocks on the diagonal | a product with the inverse blocks |
//! | [`Ilu0`] | pivots that do not vanish | two substitutions, level by level or by [`Substitution::Sweeps`] |
//! | [`Ic0`] | positive definite matrices | the same |
//! | [`Amg`] | elliptic problems, with near-null vectors for systems of them | a V-cycle or a K-cycle |
//! | [`Matched`] | zeros on the diagonal | a permutation, and one of the others |

/// Applies a preconditioner by the operator that it wraps.
macro_rules! by_what_it_wraps {
    ($Name:ident) => {
        impl<T: Arithmetic> LinearOperator for $Name<T> {
            type Space = Space<T>;

            fn space(&self) -> &Space<T> {
                self.0.space()
            }

            fn apply(&self, x: &Vector<T>, out: &mut Vector<T>) -> BlasResult<()> {
                self.0.apply(x, out)
            }

            fn work(&self) -> Work {
                self.0.work()
            }
        }
    };
}

mod amg;
mod dense;
mod ic;
mod ilu;
mod jacobi;
mod matched;
mod triangle;

pub use amg::{Amg, AmgOptions, Cycle};
pub use ic::Ic0;
pub use ilu::Ilu0;
pub use jacobi::{BlockJacobi, Jacobi};
pub use matched::Matched;
pub use triangle::Substitution;

use super::matching::Unmatched;
use crate::error::BlasError;

/// The reason why a matrix has no preconditioner of a kind.
///
/// Rows count from 1, as in files.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PreconditionError {
    /// The matrix is not square.
    #[error("a preconditioner needs a square matrix, {rows}×{columns} found")]
    NotSquare {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// A diagonal entry is zero or missing.
    #[error("the diagonal entry of row {row} is zero; choose another preconditioner")]
    ZeroDiagonal {
        /// The row.
        row: usize,
    },
    /// A block on the diagonal is singular.
    #[error(
        "the diagonal block of rows {first} to {last} is singular; choose another size of blocks or preconditioner"
    )]
    SingularBlock {
        /// First row of the block.
        first: usize,
        /// Last row of the block.
        last: usize,
    },
    /// A pivot of an incomplete factorisation vanishes.
    #[error("the pivot of row {row} is zero{}; choose another preconditioner", if *structurally { " because the row has no diagonal entry" } else { "" })]
    ZeroPivot {
        /// The row.
        row: usize,
        /// `true` if the diagonal entry is missing.
        structurally: bool,
    },
    /// A pivot of an incomplete Cholesky factorisation is not positive.
    #[error(
        "the pivot of row {row} is {pivot:.3e}, not positive; the incomplete factorisation ends there, choose ilu0 or amg"
    )]
    NotPositive {
        /// The row.
        row: usize,
        /// The pivot.
        pivot: f64,
    },
    /// No permutation of rows makes all diagonal entries nonzero.
    #[error(transparent)]
    StructurallySingular(#[from] Unmatched),
    /// The near-null vectors have another length than the matrix.
    #[error(
        "near-null vectors of {found} numbers in all; {wanted} rows need a multiple of {wanted}, at most 32 vectors"
    )]
    NearNullSpace {
        /// Rows of the matrix.
        wanted: usize,
        /// Numbers found.
        found: usize,
    },
    /// The next level of multigrid would have far more entries than the matrix.
    #[error(
        "levels of multigrid do not become smaller: {rows} rows have {entries} entries, and the next \
         {coarse_rows} rows up to {coarse_entries}; choose ic0 or jacobi"
    )]
    Outgrown {
        /// Rows of the level.
        rows: usize,
        /// Entries of the level.
        entries: usize,
        /// Rows of the next level.
        coarse_rows: usize,
        /// Entries of the next level, or a bound of them.
        coarse_entries: usize,
    },
    /// The number of unknowns of a point does not divide the rows.
    #[error("{block} unknowns of a point do not divide {rows} rows")]
    Block {
        /// Unknowns of a point.
        block: usize,
        /// Rows of the matrix.
        rows: usize,
    },
    /// The device fails, or its memory is short.
    #[error(transparent)]
    Operation(#[from] BlasError),
}

impl PreconditionError {
    /// Returns the error of a matrix whose first row has this number, from 0, in a larger one.
    pub(super) fn counted_from(self, before: usize) -> Self {
        match self {
            Self::ZeroDiagonal { row } => Self::ZeroDiagonal { row: before + row },
            Self::SingularBlock { first, last } => {
                Self::SingularBlock { first: before + first, last: before + last }
            }
            Self::ZeroPivot { row, structurally } => Self::ZeroPivot { row: before + row, structurally },
            Self::NotPositive { row, pivot } => Self::NotPositive { row: before + row, pivot },
            other => other,
        }
    }
}

/// Refuses a matrix that is not square.
fn expect_square<T: crate::host::level1::Arithmetic>(
    matrix: &super::csr::Csr<T>,
) -> Result<(), PreconditionError> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    if rows == columns { Ok(()) } else { Err(PreconditionError::NotSquare { rows, columns }) }
}
