//! Links that a work-group shares: twin of `cl/stencil/shared_links.cl`.

use super::{Cost, KernelPart};
use crate::compute::KernelKey;
use crate::geometry::NDIM;
use crate::host::Reconstruction;
use crate::scalar::StoragePrecision;

/// The place where links are reconstructed.
///
/// `shared` is `true` if each work-group reconstructs links once, in local memory. `shared` is
/// `false` if each work-item reconstructs the links that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinksPart {
    pub shared: bool,
}

impl LinksPart {
    /// Returns the bytes of local memory that the links of all hops to a block take.
    ///
    /// `keep_link` of `cl/links.cl` stores these links.
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

    /// Returns no cost: links are counted once for each site, however they are loaded.
    fn cost(&self, _: usize) -> Cost {
        Cost { flops: 0, spinors: 0, blocks: Vec::new() }
    }
}
