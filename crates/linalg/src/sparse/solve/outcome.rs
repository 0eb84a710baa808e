//! Results of a solve.

use super::options::{Kind, Method};
use crate::error::BlasError;
use crate::sparse::format::Format;
use crate::sparse::matching::Unmatched;
use crate::sparse::matrix::FormatError;
use crate::sparse::precondition::PreconditionError;
use lattice_files::number::shown;
use lattice_solvers::{Failure, SourceError};

/// A solution, or the best iterate, and how it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved<T> {
    /// The solution, or the iterate of the smallest residual of all attempts.
    pub x: Vec<T>,
    /// The attempts, the last of them the one that solved the system if one did.
    pub attempts: Vec<Attempt>,
    /// The number of the attempt that `x` is of.
    pub best: usize,
    /// ‖b − A x‖ / ‖b‖, or ‖A x‖ for b = 0.
    ///
    /// The host computes it from the numbers of the matrix.
    pub true_residual: f64,
    /// ‖b − A x‖ / (‖A‖ ‖x‖ + ‖b‖), for the largest components.
    pub backward_error: f64,
    /// `true` if the true residual meets the tolerance.
    pub converged: bool,
    /// Format of the matrix in memory.
    pub format: Format,
    /// Bytes of the matrix in memory.
    pub bytes: u64,
    /// The symmetry found in the matrix.
    pub symmetry: FoundSymmetry,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Seconds for bringing the matrix to the device.
    pub transfer_seconds: f64,
    /// Refinement of the solution, with values in single precision.
    pub refinement: Option<Refinement>,
}

/// Refinement of a solution by systems with rounded values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refinement {
    /// Systems solved after the first.
    pub steps: usize,
    /// `true` if that was not enough, and whole values were taken.
    pub fell_back: bool,
}

/// One try of a method with a preconditioner.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The method.
    pub method: Method,
    /// The preconditioner.
    pub preconditioner: PreconditionerInfo,
    /// Iterations done.
    pub iterations: usize,
    /// The last relative residual by the recurrence.
    pub iterated: f64,
    /// The relative residual from its definition.
    pub true_residual: f64,
    /// Relative residual by the recurrence, before the first iteration and after each.
    pub history: Vec<f64>,
    /// Seconds of the method.
    pub seconds: f64,
    /// The reason why the method gave up; `None` if it did not.
    pub failure: Option<Failure>,
}

/// A preconditioner and its costs.
#[derive(Clone, Debug, PartialEq)]
pub struct PreconditionerInfo {
    /// The kind.
    pub kind: Kind,
    /// `true` if it is that of the permuted and scaled matrix.
    pub matched: bool,
    /// Rows of each level of multigrid.
    pub levels: Option<Vec<usize>>,
    /// Entries of all levels over those of the matrix.
    pub operator_complexity: Option<f64>,
    /// Seconds for making it.
    pub setup_seconds: f64,
    /// Its bytes.
    pub bytes: u64,
}

/// The relation of a square matrix to its conjugate transpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundSymmetry {
    /// None.
    General,
    /// A = Aᴴ, but not positive definite as far as a part of it shows.
    Hermitian,
    /// A = Aᴴ with a positive diagonal and a leading part that is positive definite.
    PositiveDefinite,
    /// A = −Aᴴ.
    SkewHermitian,
}

impl FoundSymmetry {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Hermitian => "symmetric",
            Self::PositiveDefinite => "symmetric, positive definite as far as looked at",
            Self::SkewHermitian => "skew-symmetric",
        }
    }
}

/// The reason why a system is not solved at all.
///
/// Rows count from 1, as in files.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// The matrix is not square.
    #[error("the matrix is {rows}×{columns}, not square; a least-squares method is needed")]
    NotSquare {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// The right-hand side has another length.
    #[error("the right-hand side has {found} components, the matrix {wanted} rows")]
    RightSide {
        /// Rows of the matrix.
        wanted: usize,
        /// Components of the right-hand side.
        found: usize,
    },
    /// A row or a column without an entry other than zero.
    #[error("the matrix is singular: {what} {number} is zero")]
    Empty {
        /// `row` or `column`.
        what: &'static str,
        /// The number of the row or column.
        number: usize,
    },
    /// A skew-symmetric matrix of odd order.
    #[error("the matrix is singular: it is skew-symmetric and has an odd number of rows, {rows}")]
    OddSkew {
        /// Rows of the matrix.
        rows: usize,
    },
    /// The method is for Hermitian matrices.
    #[error(
        "{} needs a symmetric matrix, or a Hermitian one: entries ({row}, {column}) and ({column}, {row}) differ by {difference:.3e}; choose bicgstab or gcr",
        method.name()
    )]
    NotHermitian {
        /// The method.
        method: Method,
        /// Row of the largest difference.
        row: usize,
        /// Column of the largest difference.
        column: usize,
        /// The difference.
        difference: f64,
    },
    /// The method needs a fixed preconditioner, and the K-cycle is none.
    #[error("{} needs the same preconditioner in each iteration, which the K-cycle is not; choose the V-cycle, or the method cg or gcr", method.name())]
    Cycle {
        /// The method.
        method: Method,
    },
    /// Permuted rows make no Hermitian preconditioner.
    #[error(
        "{needs} needs a symmetric preconditioner, which a matching of rows does not give; choose the method bicgstab or gcr, and another preconditioner than ic0"
    )]
    Matching {
        /// The method or the preconditioner.
        needs: &'static str,
    },
    /// The matrix is singular, whatever the values of its entries.
    #[error(transparent)]
    StructurallySingular(#[from] Unmatched),
    /// The method takes no preconditioner.
    #[error("{} takes no preconditioner; choose none, or the method cg, minres, bicgstab or gcr", method.name())]
    NoPreconditioner {
        /// The method.
        method: Method,
    },
    /// The preconditioner cannot be made.
    #[error("preconditioner {kind}: {source}")]
    Precondition {
        /// The kind that was asked for.
        kind: Kind,
        /// The reason.
        source: Box<PreconditionError>,
    },
    /// The matrix cannot have the format.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The right-hand side is out of range.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A parameter makes no sense.
    #[error("{name} = {value} is not allowed: {allowed}", value = shown(.value))]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// The value of the parameter.
        value: f64,
        /// The allowed values.
        allowed: &'static str,
    },
    /// The device failed, or its memory is short.
    #[error(transparent)]
    Operation(#[from] BlasError),
}
