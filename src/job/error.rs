//! Why a job ends without a result.

use super::invalid::Invalid;
use crate::gauge::SmearError;
use crate::geometry::LatticeError;
use crate::hadron::SourceError;
use crate::io;
use crate::multigrid::SetupFileError;
use crate::operator::DiracError;
use crate::solve::InvertError;

/// Why a job ends without a result.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The job makes no sense.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The lattice does not have a source, or the file of a source cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The configuration cannot be read.
    #[error(transparent)]
    Configuration(#[from] io::Error),
    /// A field or a device failed.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
    /// The operator cannot be made.
    #[error(transparent)]
    Operator(#[from] DiracError),
    /// A solve cannot begin, or not go on from the state that was kept.
    #[error(transparent)]
    Solve(#[from] InvertError),
    /// The file of a multigrid method's set-up is of no use.
    #[error(transparent)]
    SetupFile(#[from] SetupFileError),
    /// The links of a source's smearing cannot be made.
    #[error(transparent)]
    Smearing(#[from] SmearError),
    /// What the caller does with solutions failed.
    #[error(transparent)]
    Callback(Box<dyn std::error::Error + Send + Sync>),
}
