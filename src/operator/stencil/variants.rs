//! Variants of a stencil's kernels, which differ in speed and in nothing else, and those that are used unless others are found.

use super::parts::{Ending, LinksPart};
use super::task::{Region, Task};
use crate::device::{Device, DeviceKind};
use crate::geometry::{Layout, NDIM};
use crate::host::{Reconstruction, Spinor};
use crate::scalar::StoragePrecision;
use std::ops::RangeInclusive;

/// What may be varied in a kernel without changing what it computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Tuning {
    /// Blocks of sites in a work-group, each with all its columns.
    pub work_group: usize,
    /// Columns that a work-item computes, with the links in its registers; as many of them as divide the number of columns.
    #[serde(rename = "sources_per_item")]
    pub columns_per_item: usize,
    /// Make the links of a work-group's blocks whole once, in local memory, for all its work-items; where there are several columns beside each other, one
    /// lane, and the memory.
    pub share_links: bool,
    /// Most registers that a work-item may have, where the compiler can be told (NVIDIA).
    pub max_registers: Option<u32>,
    /// Load links past the first-level cache, where the device has such loads.
    pub stream_links: bool,
    /// Store the result past the caches, where the device has such stores; on a CPU not if it is subtracted from what is there.
    pub stream_output: bool,
    /// Slices in z that are worked off together over all t; must divide the extent in z of a sub-lattice, 0 for all of it.
    pub tile_z: usize,
    /// Work rows off in boxes of 2 × 2 × 2 in y, z and t, where all three extents are even.
    pub boxes: bool,
    /// How many work-groups' shares a group does one after the other, at most; fewer on a GPU, if else it would not be full. Fewer groups end and make sums; on a
    /// GPU those that run at once may drift apart, and out of each other's reach in the caches.
    pub rounds: usize,
    /// How many blocks early links are prefetched, and spinors too if results are stored past the caches, where the device's compiler can be asked; 0 for
    /// not at all.
    pub prefetch: usize,
}

impl Tuning {
    /// Why a device cannot run this variant for so many columns, if it cannot.
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
        // As `fitting` takes it, columns being at most some tens.
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

    /// With no more columns in a work-item than divide the number of columns, and links shared only where they can be. Where matrix units end it, groups are as
    /// they take them.
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

    /// Work-groups whose shares lie beside each other: those that a GPU runs at a time, as many as there are registers for, if that is known, or one on each
    /// unit. On a CPU it is one: the core goes on beside what it has just done, and finds that in its own cache.
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

    /// The variant that is used where none is asked for and none was found by a search, on a domain of this layout.
    ///
    /// For NVIDIA GPUs it is what was best, or within 3 % of it, on an H200 (`bench/runs/2026-11-22-h200/rounds`). A hop needs all
    /// registers in double, and gains from leaving the first-level cache to the spinors. It is worked off in tiles whose time slices stay in the second-level
    /// cache until the next one is done. The full operator uses each link twice and several fields make
    /// the neighbours' spinors what is loaded most: both want smaller tiles. Groups for several fields have a power of two
    /// of blocks, and up to 192 items. What they gain where they share links, in double and in half precision with a shift, is arithmetic. Where all sites are under way at once, a large group shares most in the first-level cache. Where a group has whole rows, boxes of them gain 1 to 2 % in double and single; where it cuts
    /// rows (48³×96) they lose as much. In half precision neither boxes nor cache hints gain anything. Kernels that make sums gain 5 to 10 % from rounds, as a group
    /// sums up once instead of once for each share, while its place on the device is idle.
    ///
    /// Elsewhere: a warp or two in a group on GPUs. On CPUs a group is one work-item, for each source, with some tens of blocks, so that what is the
    /// same for all of them is done once, and a sum made and published once: 3 to 13 % faster than groups with an item for each block. CPUs prefetch, and store past the
    /// caches, when links and spinors do not stay in the cache anyway: where they do, prefetching costs up to a quarter. In between are those that may stay in a
    /// last-level cache which others use as well: links are prefetched, and results stay. Of 260 MiB, two cores kept 48 MiB at all hours, 96 MiB in quiet ones and 120 MiB in none.
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
            // A power of two, so that blocks lie beside each other as chunks do.
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
            // On an H100 groups that go on beside blocks of a clover term drift apart (`bench/runs/2026-11-25-h100/clover-search-double.json`).
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
            // Where all sites are under way at once if there are registers for them.
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

/// Sites of a group that goes on with matrix units: see `cl/stencil/ending_columns.cl`.
const PLACES_OF_BLOCK: usize = 16;

/// Registers of a compute unit of NVIDIA's, of whatever generation since Maxwell.
const REGISTERS_OF_UNIT: usize = 1 << 16;

/// Limits on the registers of a work-item that NVIDIA's compilers take.
const REGISTERS_OF_ITEM: RangeInclusive<u32> = 16..=255;

/// Registers that a work-item with this limit takes: they are given out in eights.
fn registers_taken(limit: u32) -> usize {
    (limit as usize).next_multiple_of(8)
}

/// Sources of a work-item at most: more than any operator is applied to.
const MOST_COLUMNS_OF_ITEM: usize = 64;

/// Prefetches reach at most this far: what is fetched earlier has left the caches again.
const MOST_BLOCKS_AHEAD: usize = 64;

/// Rounds of a hop on NVIDIA GPUs.
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

/// Rounds of the full operator on NVIDIA GPUs. It shares links among groups, and loses more than a hop when these drift apart.
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

/// Sites of lattices on which groups that drift apart still find most of what they share in the second-level cache: on 48³×96 they do not.
const NEAR_ENOUGH: usize = 1 << 21;

/// Slices in z, a divisor of the extent, of which one time slice of spinors has at most [`TILE_BYTES`]; 0 for all.
fn tile_in_cache(layout: &Layout) -> usize {
    let [x, y, z, _] = layout.sub_extents();
    let slice_bytes = x * y / 2 * Spinor::<f64>::REALS * layout.precision().bytes();
    let fits = |&tile: &usize| z.is_multiple_of(tile) && tile * slice_bytes <= TILE_BYTES;
    let tile = (1..=z).rev().find(fits).unwrap_or(1);
    if tile == z { 0 } else { tile }
}

/// Spinors on one time slice of a tile of which a GPU's second-level cache, of 50 MB on an H200, keeps three while links stream by: with slices of
/// 10.6 MB a hop loses a tenth.
const TILE_BYTES: usize = 6 << 20;

/// Sites up to which a GPU of today computes those of one parity all at once.
const ONE_WAVE: usize = 1 << 17;

/// The last-level cache of a CPU that does not tell. Links and spinors stay in half of one: with more, a hop without prefetches takes half as long again.
const USUAL_CACHE_BYTES: usize = 32 << 20;

/// Work-groups that each core of a CPU shall have at least, to even out what the cores do, unless they become too small. With eight of them a hop on 8³×16
/// takes 6 % longer on two cores.
const GROUPS_OF_CORE: usize = 4;

/// Rounds of a group on a CPU at least, for one source: fewer are done before a runtime has woken up a thread for them. On sixteen cores a hop on 8³×16 takes
/// a quarter less time than with four.
const FEWEST_ROUNDS_OF_CORE: usize = 16;

/// Rounds of a group on a CPU, beyond which nothing is gained.
const ROUNDS_OF_CORE: usize = 32;

/// What a core can count on of a last-level cache. Drivers tell the size of all of it, also where they have two cores of a processor with sixty.
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
