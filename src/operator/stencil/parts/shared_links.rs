//! Links that a work-group shares: twin of `cl/stencil/shared_links.cl`.

use super::{Cost, KernelPart};
use crate::device::{KernelKey, Parameter};
use crate::geometry::NDIM;
use crate::host::Reconstruction;
use crate::scalar::{Storage, StoragePrecision};

/// Whether links are reconstructed once for each work-group, in local memory, or by each work-item that needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinksPart {
    pub shared: bool,
}

impl LinksPart {
    /// Bytes of local memory that the links of all hops to a block take, as `keep_link` of `cl/links.cl` has them.
    pub fn bytes_of_block(precision: StoragePrecision, reconstruction: Reconstruction) -> usize {
        let numbers = if reconstruction == Reconstruction::Eight { 6 } else { 9 };
        let real_bytes = precision.bytes().max(size_of::<f32>());
        2 * NDIM * numbers * 2 * real_bytes
    }
}

impl KernelPart for LinksPart {
    fn add_to(&self, key: KernelKey) -> KernelKey {
        key.define("SHARED_LINKS", u8::from(self.shared))
            .part("links", include_str!("../../../../cl/stencil/shared_links.cl"))
    }

    /// None: the links are parameters of every kernel.
    fn parameters<T: Storage>(&self) -> Vec<Parameter> {
        Vec::new()
    }

    /// Nothing: links are counted once for each site, however they are loaded.
    fn cost(&self, _: usize) -> Cost {
        Cost { flops: 0, spinors: 0, blocks: Vec::new() }
    }
}
