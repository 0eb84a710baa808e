//! The reasons why there are no modes.

use crate::compute::DeviceError;
use crate::geometry::LatticeError;
use lattice_files::number::shown;
use lattice_solvers::{Failure, ForeignState, LanczosError, LanczosInfo};

/// The reason why there are no modes.
#[derive(Debug, thiserror::Error)]
pub enum ModesError {
    /// The search ended before all modes were found.
    #[error("{found} of {wanted} modes were found after {} applications: {failure}", info.applications)]
    NotConverged {
        /// The reason.
        failure: Failure,
        /// Number of modes that were found.
        found: usize,
        /// Number of modes that were wanted.
        wanted: usize,
        /// The course of the search.
        info: Box<LanczosInfo>,
    },
    /// A parameter makes no sense.
    #[error("{name} = {value} is not allowed: {allowed}", value = shown(.value))]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// The parameter's value.
        value: f64,
        /// The values that are allowed.
        allowed: &'static str,
    },
    /// There are fewer modes than were wanted.
    #[error(
        "{wanted} modes are wanted, and the operator has {dimension} on this lattice, twelve for each site that it acts \
         on; ask for at most {dimension}"
    )]
    TooMany {
        /// Number of modes that were wanted.
        wanted: usize,
        /// Number of modes that there are.
        dimension: usize,
    },
    /// The operator is not Hermitian.
    #[error(
        "{0} is not Hermitian for this operator (one flavour of twisted mass, a clover term with symmetric even-odd preconditioning, or M itself); take the modes of M†M"
    )]
    NotHermitian(&'static str),
    /// The state to go on from belongs to another method.
    #[error(transparent)]
    ForeignState(ForeignState),
    /// A field or a device failed.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
}

impl From<DeviceError> for ModesError {
    fn from(error: DeviceError) -> Self {
        Self::Lattice(error.into())
    }
}

impl ModesError {
    /// Returns the error of a search for this number of modes.
    pub(super) fn of<V>(error: LanczosError<V, DeviceError>, wanted: usize) -> Self {
        match error {
            LanczosError::NotConverged { failure, found, info } => {
                Self::NotConverged { failure, found: found.len(), wanted, info }
            }
            LanczosError::Parameter { name, value, allowed } => Self::Parameter { name, value, allowed },
            LanczosError::ForeignState(error) => Self::ForeignState(error),
            LanczosError::Operation(error) => error.into(),
        }
    }
}
