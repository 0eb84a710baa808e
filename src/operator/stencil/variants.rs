//! The variants of a stencil's kernels, which differ in speed alone.
//!
//! The module also knows the variants that are used unless a search has found others.

use super::parts::{Ending, LinksPart};
use super::task::{Region, Task};
use crate::compute::{Device, DeviceKind};
use crate::geometry::{Layout, NDIM};
use crate::host::{Reconstruction, Spinor};
use crate::scalar::StoragePrecision;
use std::ops::RangeInclusive;

/// The choices in a kernel that do not change its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Tuning {
    /// Blocks of sites in a work-group, each with all its columns.
    pub work_group: usize,
    /// Columns that a work-item computes, with the links in its registers.
    ///
    /// The number is reduced until it divides the number of columns.
    #[serde(rename = "sources_per_item")]
    pub columns_per_item: usize,
    /// Reconstructs links once per work-group, in local memory.
    ///
    /// Applies with several columns per group, one lane, and enough local memory.
    pub share_links: bool,
    /// Most registers of a work-item, if the compiler takes a limit (NVIDIA).
    pub max_registers: Option<u32>,
    /// Loads links past the first-level cache, if the device has such loads.
    pub stream_links: bool,
    /// Stores the result past the caches, if the device has such stores.
    ///
    /// A CPU does not if the result is subtracted from the stored field.
    pub stream_output: bool,
    /// Slices in z that are worked off together over all t.
    ///
    /// The number must divide the extent in z of a sub-lattice. 0 means the whole extent.
    pub tile_z: usize,
    /// Works rows off in boxes of 2 × 2 × 2 in y, z and t.
    ///
    /// Applies if all three extents are even.
    pub boxes: bool,
    /// Most shares of work-groups that one group does one after the other.
    ///
    /// A GPU takes fewer if it would not be full otherwise. With more rounds, fewer groups end and
    /// make sums. On a GPU, groups that run at once may drift apart, out of each other's reach in
    /// the caches.
    pub rounds: usize,
    /// Number of blocks by which prefetches of links run ahead; 0 for no prefetches.
    ///
    /// Spinors are prefetched too if results are stored past the caches. Prefetches need a device
    /// whose compiler can be asked for them.
    pub prefetch: usize,
}

impl Tuning {
    /// Returns why a device cannot run this variant for so many columns, if it cannot.
    pub(crate) fn complaint(&self, device: &Device, columns: usize) -> Option<&'static str> {
        let limited = device.supports_register_limit();
        let most = device.info().max_work_group_size;
        if self.work_group == 0 || self.columns_per_item == 0 || self.rounds == 0 {
            return Some("work_group, sources_per_item and rounds are at least 1");
        }
        if self.work_group > most {
            return Some("work_group is above the device's largest work-group");
        }
        if self.columns_per_item > MOST_COLUMNS_OF_ITEM {
            return Some("sources_per_item is at most 64");
        }
        // The same choice as in `fitting`: columns are at most some tens.
        let per_item = (1..=self.columns_per_item).rev().find(|count| columns.is_multiple_of(*count));
        let items = self.work_group * columns / per_item.unwrap_or(1);
        if items > most {
            return Some("the columns of work_group blocks are more than the device's largest work-group");
        }
        if self.prefetch > MOST_BLOCKS_AHEAD {
            return Some("prefetch is at most 64 blocks");
        }
        match self.max_registers {
            Some(count) if !REGISTERS_OF_ITEM.contains(&count) => Some("max_registers is from 16 to 255"),
            Some(count) if limited && items * registers_taken(count) > REGISTERS_OF_UNIT => {
                Some("a work-group needs more registers than a compute unit has")
            }
            _ => None,
        }
    }

    /// Adapts the variant to a task.
    ///
    /// The number of columns in a work-item is made to divide the number of columns. Links are
    /// shared only if they can be. An ending for several columns fixes the groups to those that
    /// matrix units take.
    pub(crate) fn fitting(
        mut self,
        device: &Device,
        layout: &Layout,
        reconstruction: Reconstruction,
        task: Task,
    ) -> Self {
        if task.ending.is_of_block() {
            return Self {
                work_group: PLACES_OF_BLOCK,
                columns_per_item: 1,
                share_links: true,
                rounds: 1,
                ..self
            };
        }
        let columns = task.columns;
        while !columns.is_multiple_of(self.columns_per_item.max(1)) {
            self.columns_per_item -= 1;
        }
        let local_memory = device.info().local_memory_bytes as usize;
        self.share_links &= columns > self.columns_per_item
            && layout.lanes() == 1
            && self.work_group * LinksPart::bytes_of_block(layout.precision(), reconstruction)
                <= local_memory;
        self
    }

    /// Returns the number of work-groups whose shares lie beside each other.
    ///
    /// A GPU runs these groups at a time: as many as there are registers for. If that number is not
    /// known, a GPU runs one group on each unit. A CPU has one: the core goes on beside the
    /// previous share, which is in the core's own cache.
    pub(crate) fn groups_at_once(&self, device: &Device, columns: usize) -> usize {
        if device.info().kind == DeviceKind::Cpu {
            return 1;
        }
        let items = self.work_group * columns / self.columns_per_item;
        let of_unit = match self.max_registers.filter(|_| device.supports_register_limit()) {
            Some(registers) => REGISTERS_OF_UNIT / (items * registers_taken(registers)),
            None => 1,
        };
        device.info().compute_units * of_unit.max(1)
    }

    /// Returns the variant that is used on a domain of this layout by default.
    ///
    /// The default applies if the caller asks for no variant and no search has found one.
    ///
    /// **NVIDIA GPUs.** The variant was the best one, or within 3 % of it, on an H200
    /// (`bench/runs/2026-11-22-h200/rounds`).
    /// * A hop needs all registers in double. A hop gains if it leaves the first-level cache to the
    ///   spinors.
    /// * Tiles of a hop are such that their time slices stay in the second-level cache until the
    ///   next slice is done.
    /// * The full operator uses each link twice. With several fields, most loads are the
    ///   neighbours' spinors. Both want smaller tiles.
    /// * Groups for several fields have a power of two of blocks, and up to 192 items.
    /// * Sharing links saves arithmetic, in double and in half precision with a shift.
    /// * If all sites are under way at once, a large group shares most in the first-level cache.
    /// * If a group has whole rows, boxes of rows gain 1 to 2 % in double and single. If a group
    ///   cuts rows (48³×96), boxes lose as much.
    /// * In half precision neither boxes nor cache hints gain anything.
    /// * Kernels that make sums gain 5 to 10 % from rounds. A group then sums up once instead of
    ///   once for each share, while its place on the device is idle.
    ///
    /// **Other GPUs.** A group is a warp or two.
    ///
    /// **CPUs.**
    /// * A group is one work-item, for each column, with some tens of blocks. Work common to these
    ///   blocks is done once, and a sum is made and published once. Such a group is 3 to 13 %
    ///   faster than groups with an item for each block.
    /// * Kernels prefetch, and store past the caches, if links and spinors do not stay in the cache
    ///   anyway. If links and spinors stay, prefetching costs up to a quarter.
    /// * In between are links and spinors that may stay in a last-level cache which others use as
    ///   well. Links are then prefetched, and results stay. From 260 MiB of cache, two cores kept
    ///   48 MiB at all hours, 96 MiB in quiet ones and 120 MiB in none.
    pub(crate) fn shipped(
        device: &Device,
        layout: &Layout,
        reconstruction: Reconstruction,
        task: Task,
    ) -> Self {
        let (precision, sites, columns) = (layout.precision(), layout.volume(), task.columns);
        let plain = Self {
            work_group: (64 / columns).max(8),
            columns_per_item: 1,
            share_links: false,
            max_registers: None,
            stream_links: false,
            stream_output: false,
            tile_z: 0,
            boxes: false,
            rounds: 1,
            prefetch: 0,
        };
        if device.info().kind == DeviceKind::Cpu {
            let reals = NDIM * reconstruction.reals() + 2 * columns * Spinor::<f64>::REALS;
            let units = device.info().compute_units;
            let cache_bytes = match device.info().cache_bytes as usize {
                0 => USUAL_CACHE_BYTES,
                bytes => bytes,
            };
            let bytes = sites * reals * precision.bytes();
            let stays = cache_bytes.min(units * CACHE_OF_UNIT) / 2;
            let may_stay = stays.max(cache_bytes / 4);
            let prefetch = if bytes > stays { 2 } else { 0 };
            let fewest = (FEWEST_ROUNDS_OF_CORE / columns).max(1);
            let rounds = (layout.blocks() / (GROUPS_OF_CORE * units)).clamp(fewest, ROUNDS_OF_CORE);
            return Self { work_group: 1, stream_output: bytes > may_stay, prefetch, rounds, ..plain };
        }
        if !device.supports_register_limit() {
            return plain;
        }
        let in_double = precision == StoragePrecision::Double;
        let sums = task.ending != Ending::Store;
        let one_wave = sites <= ONE_WAVE;
        let registers = |count| Self { max_registers: Some(count), ..plain };
        if columns > 1 {
            let hop = task.region != Region::Full;
            let shifted = matches!(task.region, Region::Parity { shift: true, .. });
            let half = precision == StoragePrecision::Half;
            let share_links = if half { shifted && columns >= 8 } else { in_double && columns >= 6 };
            let columns_per_item = if in_double || share_links || columns % 2 == 1 { 1 } else { 2 };
            let items_of_block = columns / columns_per_item;
            let most_items = if half && hop && !share_links { 128 } else { 192 };
            // A power of two, so that blocks lie beside each other like chunks.
            let work_group = 1 << (most_items / items_of_block).max(1).ilog2();
            let all_registers = in_double && !share_links && work_group * items_of_block <= 128;
            let limit = match (half && share_links, all_registers) {
                (true, _) => 80,
                (false, true) => 255,
                (false, false) => 168,
            };
            return Self {
                work_group,
                columns_per_item,
                share_links,
                stream_links: share_links,
                stream_output: !half,
                tile_z: if in_double { 4 } else { 8 },
                ..registers(limit)
            };
        }
        if precision == StoragePrecision::Single && one_wave {
            let group = |work_group, limit| Self { work_group, stream_output: true, ..registers(limit) };
            return match reconstruction {
                Reconstruction::None => group(256, 128),
                Reconstruction::Twelve => Self { stream_links: true, ..group(256, 96) },
                Reconstruction::Eight => Self { tile_z: 4, ..group(128, 128) },
            };
        }
        let whole_rows = |sites: usize| sites.is_multiple_of(layout.sub_extents()[0] / 2);
        if task.region == Region::Full {
            let limit = match precision {
                StoragePrecision::Double => 255,
                StoragePrecision::Single => 168,
                StoragePrecision::Half => 128,
            };
            let boxes = precision != StoragePrecision::Half && whole_rows(64);
            // On an H100 groups that go on beside blocks of a clover term drift apart
            // (`bench/runs/2026-11-25-h100/clover-search-double.json`).
            let drifts = task.has_blocks()
                && !sums
                && (precision, reconstruction) == (StoragePrecision::Double, Reconstruction::Twelve);
            let rounds = if drifts { 1 } else { rounds_of_full(precision, reconstruction, sites, sums) };
            return Self {
                work_group: if drifts { 256 } else { 128 },
                stream_output: true,
                tile_z: 8,
                boxes,
                rounds,
                ..registers(limit)
            };
        }
        let (limit, work_group) = match (precision, reconstruction) {
            // All sites are under way at once if there are registers for them.
            (StoragePrecision::Double, Reconstruction::Eight) if one_wave => (128, 128),
            (StoragePrecision::Double, Reconstruction::Eight) if sums => (168, 64),
            (StoragePrecision::Double, _) | (StoragePrecision::Single, Reconstruction::None) => (255, 64),
            (StoragePrecision::Single, Reconstruction::Twelve) => (168, 128),
            (StoragePrecision::Single, Reconstruction::Eight) => (128, 128),
            (StoragePrecision::Half, Reconstruction::Twelve | Reconstruction::None) => (128, 128),
            (StoragePrecision::Half, Reconstruction::Eight) => (128, 64),
        };
        let past_caches = precision != StoragePrecision::Half;
        Self {
            work_group,
            stream_links: past_caches,
            stream_output: past_caches,
            tile_z: tile_in_cache(layout),
            boxes: past_caches && whole_rows(work_group),
            rounds: rounds_of_hop(precision, reconstruction, sites, sums),
            ..registers(limit)
        }
    }
}

/// Sites of a group that ends with matrix units.
///
/// See `cl/stencil/ending_columns.cl`.
const PLACES_OF_BLOCK: usize = 16;

/// Registers of a compute unit of NVIDIA's, in all generations since Maxwell.
const REGISTERS_OF_UNIT: usize = 1 << 16;

/// Limits on the registers of a work-item that NVIDIA's compilers take.
const REGISTERS_OF_ITEM: RangeInclusive<u32> = 16..=255;

/// Returns the registers that a work-item with this limit takes.
///
/// Registers are given out in eights.
fn registers_taken(limit: u32) -> usize {
    (limit as usize).next_multiple_of(8)
}

/// Most columns of a work-item: more than any operator is applied to.
const MOST_COLUMNS_OF_ITEM: usize = 64;

/// Most blocks by which prefetches run ahead.
///
/// Data that is fetched earlier has left the caches again.
const MOST_BLOCKS_AHEAD: usize = 64;

/// Returns the rounds of a hop on NVIDIA GPUs.
fn rounds_of_hop(
    precision: StoragePrecision,
    reconstruction: Reconstruction,
    sites: usize,
    sums: bool,
) -> usize {
    let (half, near) = (precision == StoragePrecision::Half, sites <= NEAR_ENOUGH);
    let gains = if sums { half || near } else { half && near && reconstruction != Reconstruction::Eight };
    if gains { 16 } else { 1 }
}

/// Returns the rounds of the full operator on NVIDIA GPUs.
///
/// The full operator shares links among groups. The full operator therefore loses more than a hop
/// when groups drift apart.
fn rounds_of_full(
    precision: StoragePrecision,
    reconstruction: Reconstruction,
    sites: usize,
    sums: bool,
) -> usize {
    match (precision, reconstruction) {
        (StoragePrecision::Half, _) if sums => 16,
        (StoragePrecision::Half, _) | (_, Reconstruction::None) => 1,
        (StoragePrecision::Single, _) if sites <= NEAR_ENOUGH => 64,
        (StoragePrecision::Double, Reconstruction::Eight) if !sums => 1,
        (StoragePrecision::Double, _) if sites <= NEAR_ENOUGH / 2 => 64,
        _ => 1,
    }
}

/// Most sites of a lattice on which groups may drift apart.
///
/// Such groups still find most of their common data in the second-level cache. On 48³×96 they do
/// not.
const NEAR_ENOUGH: usize = 1 << 21;

/// Returns the slices in z of a tile; 0 for all.
///
/// The number divides the extent in z. The spinors of the tile's time slice take at most
/// [`TILE_BYTES`].
fn tile_in_cache(layout: &Layout) -> usize {
    let [x, y, z, _] = layout.sub_extents();
    let slice_bytes = x * y / 2 * Spinor::<f64>::REALS * layout.precision().bytes();
    let fits = |&tile: &usize| z.is_multiple_of(tile) && tile * slice_bytes <= TILE_BYTES;
    let tile = (1..=z).rev().find(fits).unwrap_or(1);
    if tile == z { 0 } else { tile }
}

/// Most bytes of the spinors on one time slice of a tile.
///
/// A GPU's second-level cache keeps three such slices while links stream by. An H200 has 50 MB.
/// With slices of 10.6 MB a hop loses a tenth.
const TILE_BYTES: usize = 6 << 20;

/// Most sites for which a GPU of today computes one parity all at once.
const ONE_WAVE: usize = 1 << 17;

/// The last-level cache of a CPU that does not tell its size.
///
/// Links and spinors stay in half of such a cache. With more of them, a hop without prefetches
/// takes half as long again.
const USUAL_CACHE_BYTES: usize = 32 << 20;

/// Fewest work-groups for each core of a CPU, to balance the cores.
///
/// There may be fewer if the groups would become too small. With eight groups a core, a hop on
/// 8³×16 takes 6 % longer on two cores.
const GROUPS_OF_CORE: usize = 4;

/// Fewest rounds of a group on a CPU, for one column.
///
/// Fewer rounds are done before a runtime has woken up a thread for them. On sixteen cores a hop on
/// 8³×16 takes a quarter less time than with four rounds.
const FEWEST_ROUNDS_OF_CORE: usize = 16;

/// Most rounds of a group on a CPU: more gain nothing.
const ROUNDS_OF_CORE: usize = 32;

/// Bytes of a last-level cache that a core can count on.
///
/// Drivers tell the size of the whole cache, even to a machine with two of a processor's sixty
/// cores.
const CACHE_OF_UNIT: usize = 32 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Dims, Domain};

    #[test]
    fn tiles_divide_the_lattice_and_stay_in_the_cache() {
        let tile = |extents: [usize; NDIM], precision| {
            tile_in_cache(&Layout::new(Domain::whole(Dims::new(extents).unwrap()), 1, precision))
        };
        // 24 · 48 spinors of 192 bytes in a slice of z: at most 28 of them fit.
        assert_eq!(tile([48, 48, 48, 96], StoragePrecision::Double), 24);
        assert_eq!(tile([48, 48, 48, 96], StoragePrecision::Single), 0);
        assert_eq!(tile([32, 32, 32, 32], StoragePrecision::Double), 0);
        assert_eq!(tile([64, 64, 64, 64], StoragePrecision::Single), 32);
        assert_eq!(tile([512, 512, 6, 2], StoragePrecision::Double), 1);
    }
}
