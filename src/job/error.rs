//! The errors of a job that ends without a result.

use super::invalid::Invalid;
use crate::gauge::SmearError;
use crate::geometry::LatticeError;
use crate::hadron::{MomentaError, SourceError};
use crate::host::NoRoom;
use crate::io;
use crate::modes::{ModesError, ModesFileError};
use crate::multigrid::{SetupError, SetupFileError};
use crate::operator::DiracError;
use crate::solve::InvertError;
use std::path::PathBuf;

/// The reason why a job ends without a result.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The job is not valid.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// A source lies outside the lattice, or its file cannot be read.
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
    /// A solve cannot begin, or cannot continue from the kept state.
    #[error(transparent)]
    Solve(#[from] InvertError),
    /// The file of a multigrid set-up cannot be used.
    #[error(transparent)]
    SetupFile(#[from] SetupFileError),
    /// Multigrid was asked for by its name, and the lattice has no such blocks.
    #[error(transparent)]
    Multigrid(Box<SetupError>),
    /// The set-up of a multigrid method was interrupted.
    #[error("interrupted during the multigrid set-up, after {done} of {of} near-null vectors")]
    SetUpInterrupted {
        /// Vectors of the finest level that are done.
        done: usize,
        /// All of them.
        of: usize,
        /// The file that has them.
        kept: Option<PathBuf>,
    },
    /// The file of modes cannot be used.
    #[error(transparent)]
    ModesFile(#[from] ModesFileError),
    /// The modes that deflate solves cannot be found.
    #[error(transparent)]
    Modes(#[from] ModesError),
    /// The search for modes that deflate solves was interrupted.
    #[error(
        "interrupted in the search for modes, with {found} of {of} found after {applications} applications"
    )]
    SearchInterrupted {
        /// Modes that were found.
        found: usize,
        /// Modes that are wanted.
        of: usize,
        /// Applications of M†M or γ5M.
        applications: usize,
    },
    /// The links of a source's smearing cannot be made.
    #[error(transparent)]
    Smearing(#[from] SmearError),
    /// The lattice does not have the momenta of hadrons.
    #[error(transparent)]
    Momenta(#[from] MomentaError),
    /// There is not enough memory for the propagators of hadrons.
    #[error(transparent)]
    OutOfMemory(#[from] NoRoom),
    /// A callback of the caller failed.
    #[error(transparent)]
    Callback(Box<dyn std::error::Error + Send + Sync>),
}
