//! Errors of multigrid methods.

use super::block::Block;
use crate::device::DeviceError;
use crate::device::mpi::World;
use crate::geometry::{Dims, LatticeError};
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
    /// A field or a device failed.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
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
