//! Errors of multigrid methods.

use super::block::Block;
use crate::compute::DeviceError;
use crate::compute::mpi::World;
use crate::geometry::{Dims, LatticeError};
use crate::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The reason why the set-up of a multigrid method failed.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// No block fits the lattice and its domains.
    #[error(
        "no block of 2 or more sites in direction {} divides the {dims} lattice and the domains of its devices; cut it over a grid \
         with larger domains, or over fewer devices", Dims::direction_name(*mu)
    )]
    NoBlock {
        /// The extents.
        dims: Dims,
        /// The direction.
        mu: usize,
    },
    /// The set-up failed on another rank, which tells why.
    #[error("the set-up failed on rank {rank}")]
    OnAnotherRank {
        /// The rank.
        rank: usize,
    },
    /// The block that was asked for does not fit.
    #[error(
        "blocks of {block} sites do not fit: in direction {} they must have 2 or more sites, and divide {share}, the extent of the lattice or of a \
         device's domain", Dims::direction_name(*mu)
    )]
    BlockDoesNotDivide {
        /// The block.
        block: Block,
        /// The direction.
        mu: usize,
        /// The number of sites that the block has to divide.
        share: usize,
    },
    /// There are too many vectors.
    #[error(
        "{vectors} near-null vectors are too many: blocks of {block} sites allow at most {most}. Each chirality of a block has six numbers a site, \
         and coarse operators grow with the square of the vectors"
    )]
    TooManyVectors {
        /// The number of vectors.
        vectors: usize,
        /// The largest number for these blocks.
        most: usize,
        /// The block.
        block: Block,
    },
    /// There is too little memory.
    #[error(
        "a set-up takes {:.2} GB of {owner}, which has {:.2} GB; choose fewer vectors or larger blocks, or more devices",
        *needed as f64 / 1e9, *available as f64 / 1e9
    )]
    Memory {
        /// The device, or the machine.
        owner: String,
        /// Bytes that the set-up takes.
        needed: u64,
        /// Bytes that there are.
        available: u64,
    },
    /// The vectors are not independent within a block.
    #[error(
        "the {vectors} near-null vectors of level {level} are not independent within their blocks; choose fewer vectors or larger blocks"
    )]
    Dependent {
        /// The level, 0 for the finest.
        level: usize,
        /// The number of vectors.
        vectors: usize,
    },
    /// A coarse operator has a block without an inverse.
    #[error("the operator of level {level} has a site whose block has no inverse")]
    Singular {
        /// The level.
        level: usize,
    },
    /// The smoother cannot be made.
    #[error("the smoother of level {level} cannot be made: the operator is singular there, or not finite")]
    NoSmoother {
        /// The level.
        level: usize,
    },
    /// The set-up was to stop.
    #[error("interrupted after {done} of {of} near-null vectors of the finest level")]
    Interrupted {
        /// Vectors that are done.
        done: usize,
        /// All vectors.
        of: usize,
    },
    /// The file of the set-up cannot be used.
    #[error(transparent)]
    File(#[from] Box<SetupFileError>),
    /// A field or a device failed.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
}

impl SetupError {
    /// Tells whether other blocks or vectors must be asked for, whatever the links are.
    pub(crate) fn is_of_the_request(&self) -> bool {
        matches!(self, Self::NoBlock { .. } | Self::BlockDoesNotDivide { .. } | Self::TooManyVectors { .. })
    }
}

/// The reason why a file of a set-up is of no use.
#[derive(Debug, thiserror::Error)]
pub enum SetupFileError {
    /// The file cannot be read or written, or is damaged.
    #[error(transparent)]
    File(#[from] io::Error),
    /// A device failed that has the numbers.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The file is of another kind.
    #[error(
        "{}: this is no set-up of a multigrid method; name another file with --multigrid-setup",
        lattice_files::text::path(path)
    )]
    OfAnotherKind {
        /// The file.
        path: PathBuf,
    },
    /// The set-up belongs to another job.
    #[error(
        "{}: its {what} is {found}, here it is {here}; leave out --multigrid-setup, or name another file for this job", lattice_files::text::path(path), found = lattice_files::text::quoted(found)
    )]
    Other {
        /// The file.
        path: PathBuf,
        /// The part that differs.
        what: &'static str,
        /// In the file.
        found: String,
        /// In this job.
        here: String,
    },
}

impl From<SetupFileError> for SetupError {
    fn from(error: SetupFileError) -> Self {
        Self::File(Box::new(error))
    }
}

impl From<DeviceError> for SetupError {
    fn from(error: DeviceError) -> Self {
        Self::Lattice(error.into())
    }
}

/// Returns the result, or an error if another rank has one.
///
/// All ranks call this together, so that none goes on alone.
pub(super) fn agreed<T>(world: Option<&Arc<World>>, result: Result<T, SetupError>) -> Result<T, SetupError> {
    let Some(world) = world else { return result };
    let fine = world.gather(&[u8::from(result.is_ok())]).map_err(DeviceError::from)?;
    match (result, fine.iter().position(|&fine| fine == 0)) {
        (Ok(_), Some(rank)) => Err(SetupError::OnAnotherRank { rank }),
        (result, _) => result,
    }
}
