//! The parts of the stencil's kernel besides its hop.
//!
//! `cl/stencil/kernel.cl` says what the text of each defines.

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
pub(super) use halo::{GroupParts, HaloPart, Part};
pub(super) use shared_links::LinksPart;
pub(super) use site_term::{SiteBuffers, SitePart};

use crate::device::{KernelKey, Parameter};
use crate::geometry::Shape;
use crate::host::BlockForm;
use crate::scalar::{Storage, StoragePrecision};
use lattice_solvers::Work;

/// A part of the kernel: its text, what it is compiled with, what it takes, what it costs.
pub(super) trait KernelPart {
    /// Adds its text and its definitions.
    fn add_to(&self, key: KernelKey) -> KernelKey;

    /// The parameters that the kernel has for it, in order.
    fn parameters<T: Storage>(&self) -> Vec<Parameter>;

    /// What it costs with so many right-hand sides.
    fn cost(&self, columns: usize) -> Cost;
}

/// What a part costs for each site and right-hand side.
pub(super) struct Cost {
    /// Floating-point operations.
    pub flops: u64,
    /// Spinors that pass through memory.
    pub spinors: usize,
    /// Sites' blocks of a clover term that do, once for all right-hand sides.
    pub blocks: Vec<BlockForm>,
}

impl Cost {
    /// Of one site, with `more` spinors of each of so many right-hand sides.
    pub fn work<T: Storage>(&self, columns: usize, more: usize) -> Work {
        work_of(self.flops, columns, self.spinors + more, &self.blocks, T::STORAGE)
    }
}

/// Operations and bytes of a site: of its right-hand sides, each with so many flops and spinors, and of its blocks.
pub(super) fn work_of(
    flops: u64,
    columns: usize,
    spinors: usize,
    blocks: &[BlockForm],
    precision: StoragePrecision,
) -> Work {
    // In half precision a spinor has a unit, and so have the blocks of a site.
    let unit = if precision == StoragePrecision::Half { size_of::<f32>() } else { 0 };
    let bytes_of = |numbers: usize| 2 * numbers * precision.bytes() + unit;
    let of_blocks: usize =
        blocks.iter().map(|form| bytes_of(Shape::blocks(form.numbers()).components())).sum();
    let bytes = columns * spinors * bytes_of(Shape::SPINOR.components()) + of_blocks;
    Work { flops: columns as u64 * flops, bytes: bytes as u64 }
}
