//! The division of the work of the kernels of columns.

use crate::compute::{Device, DeviceKind, MatrixOperation};
use crate::geometry::Layout;
use crate::host::Spinor;
use crate::scalar::{Storage, StoragePrecision};

/// Most numbers that a work-item adds up in single precision.
const MOST_IN_SINGLE: usize = 256;

/// Groups for each compute unit of a GPU.
///
/// Three or four groups run at once with the registers that `mod.rs` allows. The number is several
/// times as large, and a multiple of three and of four.
const GROUPS_OF_UNIT: usize = 24;

/// Groups for each compute unit with matrix units, and the work-items of a group.
///
/// Measured in `bench/runs/2026-11-23-h200/block-cg-matrix-units.txt`.
const MATRIX_GROUPS_OF_UNIT: usize = 8;
const MATRIX_LOCAL: usize = 256;

/// Rows and columns of the Gram matrix tiles of matrix units: see `cl/quads.cl`.
pub(crate) const MATRIX_TILE: usize = 4;

/// Numbers of each field that a warp multiplies at a time.
///
/// `WARP` is the number of work-items in a warp.
const NUMBERS_OF_WARP: usize = 16;
const WARP: usize = 32;

/// Work-items and sites of a group with matrix units in half precision.
///
/// See `cl/columns_mma_half.cl` and `bench/runs/2026-11-24-h200/block-cg-half.txt`.
const HALF_LOCAL: usize = 96;
const HALF_SITES: usize = 8;

/// Most rounds of matrix unit products that a group sums in single precision.
const MOST_ROUNDS_IN_SINGLE: usize = 64;

/// Numbers of columns that matrix units are used for.
///
/// Four columns are multiplied at a time. With more than twelve the registers are too few.
const MATRIX_COLUMNS: std::ops::RangeInclusive<usize> = 4..=12;

/// The unit that multiplies: work-items or matrix units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Work-items: `cl/columns.cl`.
    Items,
    /// Matrix units: `cl/columns_mma.cl`, in half precision `cl/columns_mma_half.cl`.
    MatrixUnits,
}

impl Method {
    /// Returns the faster method on a device.
    pub fn of<T: Storage>(device: &Device, layout: &Layout, columns: usize) -> Self {
        let supported =
            matrix_operation::<T>().is_some_and(|operation| device.supports_matrix_units(operation));
        if supported && suits_matrix_units(layout, columns) { Self::MatrixUnits } else { Self::Items }
    }
}

/// Returns the operation of matrix units in the kernels for fields stored in `T`.
///
/// `None` if there is none.
pub(super) fn matrix_operation<T: Storage>() -> Option<MatrixOperation> {
    match T::STORAGE {
        StoragePrecision::Double => Some(MatrixOperation::SmallDouble),
        StoragePrecision::Single => None,
        StoragePrecision::Half => Some(MatrixOperation::Bfloat16),
    }
}

/// Returns `true` if matrix units suit the layout and the number of columns.
fn suits_matrix_units(layout: &Layout, columns: usize) -> bool {
    layout.lanes() == 1 && MATRIX_COLUMNS.contains(&columns)
}

/// Returns `true` if kernels of hops can end with products of so many columns.
///
/// Their groups are whole warps: see `cl/stencil/ending_columns.cl`.
pub(crate) fn can_end_blocks<T: Storage>(layout: &Layout, columns: usize) -> bool {
    T::STORAGE == StoragePrecision::Double && suits_matrix_units(layout, columns) && columns.is_multiple_of(2)
}

/// Returns `true` if the ending of these hops runs on matrix units.
///
/// The operation of matrix units is imitated elsewhere.
pub(crate) fn ends_on_matrix_units<T: Storage>(device: &Device, layout: &Layout, columns: usize) -> bool {
    can_end_blocks::<T>(layout, columns) && Method::of::<T>(device, layout, columns) == Method::MatrixUnits
}

/// The division of the work.
pub struct Division {
    /// Rows and columns of a tile of a Gram matrix.
    pub tile: usize,
    /// Work-items of a group.
    pub local: usize,
    /// Work-groups.
    pub groups: usize,
    /// Pieces that a work-item stages.
    pub slots: usize,
    /// Work-items that share a tile.
    pub copies: usize,
    /// `true` if every work-item has something to do in every round.
    pub all_exist: bool,
}

impl Division {
    pub fn new<T: Storage>(
        method: Method,
        device: &Device,
        layout: &Layout,
        parities: usize,
        columns: usize,
    ) -> Self {
        match method {
            Method::Items => Self::of_items::<T>(device, layout, parities, columns),
            Method::MatrixUnits => Self::of_matrix_units::<T>(device, layout, parities),
        }
    }

    /// Divides the work among work-items, without matrix units.
    ///
    /// On a GPU an item has one piece, whose numbers in all fields are in its registers. There are
    /// groups enough for several on each compute unit at once. A tile is as large as the registers
    /// allow. A tile is shared by as many items as have no bank conflicts. On a CPU with several
    /// lanes each group has one item, which stages vectors in its first-level cache. A CPU with one
    /// lane works like a GPU.
    fn of_items<T: Storage>(device: &Device, layout: &Layout, parities: usize, columns: usize) -> Self {
        let info = device.info();
        let processor = info.kind == DeviceKind::Cpu;
        let most_groups = if processor { 4 } else { GROUPS_OF_UNIT } * info.compute_units.max(1);
        let half = T::STORAGE == StoragePrecision::Half;
        let all_exist = |in_group: usize| pieces::<T>(layout).is_multiple_of(in_group);
        if layout.lanes() > 1 {
            let slots = match columns {
                _ if half => 1,
                0..=12 => 32,
                _ => 16,
            };
            let all_exist = all_exist(slots);
            return Self { tile: 3, local: 1, slots, copies: 1, groups: most_groups, all_exist };
        }
        let double = T::STORAGE == StoragePrecision::Double;
        // A multiple of the pieces of a site in half precision.
        let (tile, most) = if double { (3, 128) } else { (4, 96) };
        let local = match columns {
            // Seven sites in half precision. Some lattices fill such groups and most do not, so
            // that tests see both.
            _ if processor => 42,
            0..=12 => most,
            13..=24 => most / 2,
            _ => most / 4,
        };
        let copies = match (local / tiles(columns, tile)).max(1) {
            few @ 0..8 => few,
            many => many / 8 * 8,
        };
        let piece = piece::<T>(layout);
        let rounds = (parities * pieces::<T>(layout)).div_ceil(local);
        let least_groups = if double { 1 } else { rounds * (local * piece / copies) / MOST_IN_SINGLE };
        let groups = rounds.clamp(1, most_groups.max(least_groups));
        Self { tile, local, slots: 1, copies, groups, all_exist: all_exist(local) }
    }

    /// Divides the work among warps with matrix units.
    ///
    /// Each warp has some numbers of all fields, in the fragments that its instructions take. In
    /// half precision a group has whole sites.
    fn of_matrix_units<T: Storage>(device: &Device, layout: &Layout, parities: usize) -> Self {
        let half = T::STORAGE == StoragePrecision::Half;
        let numbers = layout.blocks() * Spinor::<f64>::COMPONENTS;
        let (local, in_parity, in_group, groups_of_unit) = if half {
            (HALF_LOCAL, layout.blocks(), HALF_SITES, GROUPS_OF_UNIT)
        } else {
            (MATRIX_LOCAL, numbers, MATRIX_LOCAL / WARP * NUMBERS_OF_WARP, MATRIX_GROUPS_OF_UNIT)
        };
        let rounds = (parities * in_parity).div_ceil(in_group);
        let least_groups = if half { rounds / MOST_ROUNDS_IN_SINGLE } else { 1 };
        let most_groups = groups_of_unit * device.info().compute_units.max(1);
        let groups = rounds.clamp(1, most_groups.max(least_groups));
        let all_exist = in_parity.is_multiple_of(in_group);
        Self { tile: MATRIX_TILE, local, slots: 1, copies: 1, groups, all_exist }
    }
}

/// Returns the components of a spinor that a work-item has at a time.
///
/// See `cl/columns.cl`.
pub fn piece<T: Storage>(layout: &Layout) -> usize {
    match (T::STORAGE, layout.lanes()) {
        (StoragePrecision::Half, 1) => layout.pack() / 2,
        (StoragePrecision::Half, _) => Spinor::<f64>::COMPONENTS,
        (_, 1) => layout.pack(),
        _ => 1,
    }
}

/// Returns the number of pieces in one parity of a field.
fn pieces<T: Storage>(layout: &Layout) -> usize {
    layout.blocks() * Spinor::<f64>::COMPONENTS / piece::<T>(layout)
}

/// Returns the number of tiles on and above the diagonal.
pub fn tiles(columns: usize, tile: usize) -> usize {
    let across = columns.div_ceil(tile);
    across * (across + 1) / 2
}
