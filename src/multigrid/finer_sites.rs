//! The sites that a transfer restricts from, and the layout of their numbers.

use crate::compute::Device;
use crate::compute::mpi::World;
use crate::geometry::NDIM;
use std::sync::Arc;

/// The finer sites of one device.
///
/// All sites of an aggregate are on the same device.
#[derive(Clone, Debug)]
pub(super) struct FinerPart {
    /// `None` on the host.
    pub device: Option<Device>,
    /// The coordinates of each site in the whole finer lattice.
    ///
    /// Sites of the first half come before the others.
    pub coordinates: Vec<[usize; NDIM]>,
    /// Their numbers in the whole lattice, which random numbers belong to.
    pub sites: Vec<usize>,
    /// Their numbers in the order in which near-null vectors are kept.
    ///
    /// A part with all sites has them in this order.
    pub order: Vec<usize>,
    /// Sites of the first half.
    pub evens: usize,
}

/// The finer sites of this process.
#[derive(Clone)]
pub(super) struct FinerParts {
    pub own: Vec<FinerPart>,
    /// The ranks, if they have other parts.
    pub world: Option<Arc<World>>,
}

/// The layout of the numbers of a finer vector.
///
/// A site has two numbers for each of `half` components, and `padded` numbers in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FinerNumbers {
    pub half: usize,
    pub padded: usize,
    pub lanes: usize,
}
