//! The parts of the stencil's kernel besides its hop.
//!
//! `cl/stencil/kernel.cl` lists the definitions of each part.

mod anisotropy;
mod boundary;
mod ending;
mod ending_memory;
mod halo;
mod shared_links;
mod site_term;

pub(super) use anisotropy::AnisotropyPart;
pub(super) use boundary::{BoundaryPart, parts};
pub(crate) use ending::ByEnding;
pub use ending::Ending;
pub(crate) use ending_memory::{EndingFields, Sums};
pub(super) use ending_memory::{EndingMemory, end_on_host};
pub(super) use halo::{GroupParts, HaloPart, LaunchGroups, Packers};
pub(super) use shared_links::LinksPart;
pub(super) use site_term::{SiteBuffers, SitePart};

use crate::compute::KernelKey;
use crate::geometry::Shape;
use crate::host::BlockLayout;
use crate::scalar::{Storage, StoragePrecision};
use lattice_solvers::Work;

/// A part of the kernel: its text, definitions and cost.
pub(super) trait KernelPart {
    /// Adds the text and the definitions of the part.
    fn add_to(&self, key: KernelKey) -> KernelKey;

    /// Returns the cost with this number of right-hand sides.
    fn cost(&self, columns: usize) -> Cost;
}

/// The cost of a part for each site and right-hand side.
pub(super) struct Cost {
    /// Floating-point operations.
    pub flops: u64,
    /// Spinors that are read or written.
    pub spinors: usize,
    /// Clover blocks that are read, once for all right-hand sides.
    pub blocks: Vec<BlockLayout>,
}

impl Cost {
    /// Returns the work of one site, with `more` spinors for each right-hand side.
    pub fn work<T: Storage>(&self, columns: usize, more: usize) -> Work {
        work_of(self.flops, columns, self.spinors + more, &self.blocks, T::STORAGE)
    }
}

/// Returns operations and bytes of a site: right-hand sides and blocks.
///
/// `flops` and `spinors` count for each right-hand side.
pub(super) fn work_of(
    flops: u64,
    columns: usize,
    spinors: usize,
    blocks: &[BlockLayout],
    precision: StoragePrecision,
) -> Work {
    // In half precision a spinor has a unit, and so have the blocks of a site.
    let unit = if precision == StoragePrecision::Half { size_of::<f32>() } else { 0 };
    let bytes_of = |numbers: usize| 2 * numbers * precision.bytes() + unit;
    let of_blocks: usize =
        blocks.iter().map(|layout| bytes_of(Shape::blocks(layout.numbers()).components())).sum();
    let bytes = columns * spinors * bytes_of(Shape::SPINOR.components()) + of_blocks;
    Work { flops: columns as u64 * flops, bytes: bytes as u64 }
}
