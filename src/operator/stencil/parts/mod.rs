//! The parts of the stencil's kernel besides its hop.
//!
//! `cl/stencil/kernel.cl` says what the text of each defines.

mod ending;
mod halo;
mod shared_links;
mod site_term;

pub use ending::Ending;
pub(crate) use ending::{ByEnding, EndingFields, Sums};
pub(super) use ending::{EndingMemory, Summing, end_on_host};
pub(super) use halo::HaloPart;
pub(super) use shared_links::LinksPart;
pub(super) use site_term::{SiteBuffers, SitePart};

use crate::device::{KernelKey, Parameter};
use crate::host::BlockForm;
use crate::scalar::Storage;

/// A part of the kernel: its text, what it is compiled with, what it takes, what it costs.
pub(super) trait KernelPart {
    /// Adds its text and its definitions.
    fn add_to(&self, key: KernelKey) -> KernelKey;

    /// The parameters that the kernel has for it, in order.
    fn parameters<T: Storage>(&self) -> Vec<Parameter>;

    /// What it costs with so many right-hand sides.
    fn cost(&self, sources: usize) -> Cost;
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
