//! The key of kernels that work on fields.

use crate::compute::{KernelFamily, KernelKey};
use crate::geometry::Layout;
use crate::scalar::Storage;

/// Returns the key of kernels that work on fields of this layout.
pub(crate) fn field_key<T: Storage>(family: KernelFamily, layout: &Layout) -> KernelKey {
    let key = KernelKey::of_real::<T::Real>(family)
        .lanes(layout.lanes())
        .define("STORED", T::STORAGE.opencl_name())
        .define("STORED_BITS", 8 * T::STORAGE.bytes())
        .define("PACK", layout.pack());
    match layout.chunk() {
        Some(sites) => key.define("CHUNK", sites),
        None => key,
    }
}
