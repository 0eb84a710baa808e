//! Failures of linear algebra and transforms.

use super::{Failure, Status};
use lattice_linalg::BlasError;
use lattice_linalg::fft::FftError;
use lattice_linalg::sparse::FormatError;
use lattice_linalg::sparse::precondition::PreconditionError;
use lattice_linalg::sparse::solve::SolveError;

impl From<BlasError> for Failure {
    fn from(error: BlasError) -> Self {
        match error {
            BlasError::Device(error) => error.into(),
            BlasError::Variant { .. } => Self::new(Status::Usage, error),
            other => Self::new(Status::Failed, other),
        }
    }
}

impl From<FftError> for Failure {
    fn from(error: FftError) -> Self {
        match error {
            FftError::Device(error) => error.into(),
            error => Failure::new(Status::Usage, error),
        }
    }
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::Operation(error) => error.into(),
            other => Self::new(Status::Usage, other),
        }
    }
}

impl From<PreconditionError> for Failure {
    fn from(error: PreconditionError) -> Self {
        match error {
            PreconditionError::Operation(error) => error.into(),
            other => Self::new(Status::Failed, other),
        }
    }
}

impl From<SolveError> for Failure {
    fn from(error: SolveError) -> Self {
        let status = match &error {
            SolveError::NotSquare { .. }
            | SolveError::Empty { .. }
            | SolveError::OddSkew { .. }
            | SolveError::StructurallySingular(_)
            | SolveError::Source(_) => Status::File,
            SolveError::Operation(BlasError::Device(_)) => Status::Device,
            SolveError::Precondition { .. } => Status::Failed,
            _ => Status::Usage,
        };
        Self::new(status, error)
    }
}
