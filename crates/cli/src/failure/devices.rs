//! Failures of devices, threads and files of kernel variants.

use super::{Failure, Status};
use lattice_cl::field::RESTORING_A_FIELD;
use lattice_compute::tuning::{RenewError, TuningFileError};
use lattice_compute::{Absence, DeviceError};
use lattice_files::threads::NoThread;
use std::error::Error;

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        let status = match error {
            DeviceError::AmbiguousDevice { .. } | DeviceError::NotCombinable { .. } => Status::Usage,
            // The blocks of a checkpoint come from a file.
            DeviceError::LengthMismatch { what: RESTORING_A_FIELD, .. } => Status::File,
            _ => Status::Device,
        };
        let hint = match error {
            DeviceError::LengthMismatch { what: RESTORING_A_FIELD, .. } => {
                Some("the blocks of the checkpoint are not those of this job; start anew without --resume")
            }
            DeviceError::HostMemory(_) => Some(
                "raise the limit on the process's memory (ulimit -v), or take a lower --precision, fewer --links or another machine",
            ),
            DeviceError::Absent(Absence::HostChosen) => None,
            DeviceError::Absent(_) => Some("`invert` and `spectrum` need no OpenCL: --device host"),
            DeviceError::UnknownDevice { .. } => {
                Some("`cr-solve devices` shows them; --device host needs none")
            }
            _ => None,
        };
        let failure = Failure::new(status, error);
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<NoThread> for Failure {
    fn from(error: NoThread) -> Self {
        DeviceError::from(error).into()
    }
}

impl From<TuningFileError> for Failure {
    fn from(error: TuningFileError) -> Self {
        Self::new(Status::File, error)
    }
}

impl<E: Error + Into<Failure>> From<RenewError<E>> for Failure {
    fn from(error: RenewError<E>) -> Self {
        match error {
            RenewError::Kernel(error) => error.into(),
            RenewError::File(error) => error.into(),
        }
    }
}
