//! The kernels of a set-up.

use super::coarse_space::SiteNumbers;
use crate::compute::{Device, DeviceError, Kernel, KernelFamily, KernelKey};
use crate::scalar::{Precision, Real};

const SETUP: KernelFamily = KernelFamily::new(
    "multigrid_setup",
    &[
        include_str!("../../cl/lanes.cl"),
        include_str!("../../cl/multigrid/chunks.cl"),
        include_str!("../../cl/multigrid/setup.cl"),
    ],
);

/// Tells whether numbers of this precision are kept in 16 bits.
pub(super) fn is_fixed<R: Real>() -> bool {
    R::PRECISION == Precision::Single
}

/// Columns that a work-item of the kernels of rows has.
const TILE: usize = 8;

/// Returns the number of tiles of a row of so many vectors.
pub(super) fn tiles(vectors: usize) -> usize {
    vectors.div_ceil(TILE)
}

/// Returns the number of reals of such a row.
pub(super) fn reals_of_row(vectors: usize) -> usize {
    2 * TILE * tiles(vectors)
}

/// Returns the kernel of this name.
///
/// `fine_lanes` are the lanes of vectors of the finer level.
pub(super) fn kernel<R: Real>(
    device: &Device,
    name: &str,
    coarse: SiteNumbers,
    fine_lanes: usize,
) -> Result<Kernel, DeviceError> {
    let key = KernelKey::of_real::<R>(SETUP)
        .lanes(coarse.lanes)
        .define("IN_LANES", fine_lanes)
        .define("VECTORS", coarse.columns / 2)
        .define("FIXED", u8::from(is_fixed::<R>()));
    device.program(&key)?.kernel(name)
}
