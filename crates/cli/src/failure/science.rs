//! Failures of potentials, particles and exchange-correlation energies.

use super::{Failure, Status};
use lattice_md::{FileError, MdError};
use lattice_poisson::PoissonError;
use lattice_xc::XcError;

impl From<PoissonError> for Failure {
    fn from(error: PoissonError) -> Self {
        let status = match error {
            PoissonError::Device(error) => return error.into(),
            PoissonError::Memory { .. } => {
                let hint = "--out-of-core lets a periodic density go through the device by slabs";
                return Failure::new(Status::Device, error).hint(hint);
            }
            PoissonError::NotFinite { .. } => Status::File,
            PoissonError::Fft(_) => Status::Device,
            _ => Status::Usage,
        };
        Failure::new(status, error)
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Failure::new(Status::File, error)
    }
}

impl From<MdError> for Failure {
    fn from(error: MdError) -> Self {
        let status = match error {
            MdError::Device(error) => return error.into(),
            MdError::Energy(_)
            | MdError::NotFinite { .. }
            | MdError::TooFast { .. }
            | MdError::BelowRange { .. } => Status::Failed,
            MdError::NoImages(_) => Status::Device,
            MdError::Overlap { .. } => Status::File,
            _ => Status::Usage,
        };
        Failure::new(status, error)
    }
}

impl From<XcError> for Failure {
    fn from(error: XcError) -> Self {
        let status = match error {
            XcError::Device(error) => return error.into(),
            XcError::Blas(_) | XcError::Budget { .. } => Status::Device,
            XcError::Option { .. } | XcError::Angular { .. } | XcError::NoDouble { .. } => Status::Usage,
            _ => Status::File,
        };
        Failure::new(status, error)
    }
}
