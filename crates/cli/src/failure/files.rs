//! Failures of files.

use super::{Failure, Status};
use lattice_cl::io::{self, MatrixError, MeshError};
use lattice_linalg::sparse::ColumnsError;
use lattice_linalg::sparse::market::MarketError;

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let status = match error.is_mismatch() {
            true => Status::Failed,
            false => Status::File,
        };
        Self::new(status, error)
    }
}

impl From<MatrixError> for Failure {
    fn from(error: MatrixError) -> Self {
        match error {
            MatrixError::Write(error) => error.into(),
            error @ MatrixError::NoRoom { .. } => Self::new(Status::Usage, error),
            error => Self::new(Status::File, error),
        }
    }
}

impl From<MeshError> for Failure {
    fn from(error: MeshError) -> Self {
        Failure::new(Status::File, error)
    }
}

impl From<MarketError> for Failure {
    fn from(error: MarketError) -> Self {
        Self::new(Status::File, error)
    }
}

impl From<ColumnsError> for Failure {
    fn from(error: ColumnsError) -> Self {
        Self::new(Status::File, error)
    }
}
