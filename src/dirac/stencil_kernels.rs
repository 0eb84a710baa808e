//! The kernels of the stencil on one device: how they are specialised, and what they take.

use super::stencil_tuning;
use super::traversal::Traversal;
use crate::device::{
    Device, DeviceError, DeviceKind, Kernel, KernelFamily, KernelKey, NUMBER_SOURCE, Number, NumberMemory,
    Parameter, REDUCTION_SOURCE, Range, Reduction,
};
use crate::host::{NDIM, Reconstruction, Spinor, WilsonForm};
use crate::lattice::{GaugeField, Layout, LinkFormat, Sites, Slab, field_key};
use crate::scalar::{Storage, StoragePrecision};
use std::cell::OnceCell;

const WILSON: KernelFamily = KernelFamily::new(
    "wilson",
    &[
        include_str!("../../cl/lanes.cl"),
        include_str!("../../cl/fields.cl"),
        include_str!("../../cl/links.cl"),
        REDUCTION_SOURCE,
        NUMBER_SOURCE,
        include_str!("../../cl/wilson.cl"),
    ],
);

/// On which sites a stencil works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// All sites, from a field on all sites.
    Full,
    /// The sites of one parity, from a field on the others.
    Parity {
        /// 0 to write even sites, 1 to write odd ones.
        parity: usize,
        /// Whether a multiple of a field of this parity is added.
        shift: bool,
    },
}

impl Region {
    /// The sites of the source, and those of the result.
    pub(super) fn sites(self) -> (Sites, Sites) {
        match self {
            Region::Full => (Sites::All, Sites::All),
            Region::Parity { parity, .. } => (Sites::Parity(1 - parity), Sites::Parity(parity)),
        }
    }

    /// The parity that a field of the source starts with.
    pub(super) fn source_parity(self) -> u32 {
        match self {
            Region::Full => 0,
            Region::Parity { parity, .. } => 1 - parity as u32,
        }
    }
}

/// What becomes of a stencil's result; anything but the first for one source only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Ending {
    /// It is stored.
    #[default]
    Store,
    /// It is stored, and its norm summed up.
    Norm2,
    /// It is stored, and its product with a field and its norm are summed up.
    Products,
    /// A multiple of it is subtracted from what is stored, and the norm of the difference summed up.
    Subtract,
}

/// Something for each ending, made when it is wanted first.
pub(super) struct ByEnding<S>([OnceCell<Box<S>>; 4]);

impl<S> Default for ByEnding<S> {
    fn default() -> Self {
        Self(Default::default())
    }
}

impl<S> ByEnding<S> {
    pub fn get<E>(&self, ending: Ending, make: impl FnOnce() -> Result<S, E>) -> Result<&S, E> {
        let cell = &self.0[ending as usize];
        if let Some(made) = cell.get() {
            return Ok(made);
        }
        let made = Box::new(make()?);
        Ok(cell.get_or_init(|| made))
    }
}

/// What a stencil computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// The numbers and signs of the operator.
    pub form: WilsonForm,
    /// The sites.
    pub region: Region,
    /// What becomes of the result.
    pub ending: Ending,
    /// How many fields it is applied to at once.
    pub sources: usize,
}

/// What may be varied in a kernel without changing what it computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Tuning {
    /// Blocks of sites in a work-group, each with all its sources.
    pub work_group: usize,
    /// Sources that a work-item computes, with the links in its registers; as many of them as divide the number of sources.
    pub sources_per_item: usize,
    /// Most registers that a work-item may have, where the compiler can be told (NVIDIA).
    pub max_registers: Option<u32>,
    /// Load links past the first-level cache, where the device has such loads.
    pub stream_links: bool,
    /// Store the result past the caches, where the device has such stores.
    pub stream_output: bool,
    /// Slices in z that are worked off together over all t; must divide the extent in z of a sub-lattice, 0 for all of it.
    pub tile_z: usize,
    /// Work rows off in boxes of 2 × 2 × 2 in y, z and t, where all three extents are even.
    pub boxes: bool,
    /// How many blocks early links and spinors are prefetched, where the device's compiler can be asked; 0 for not at all.
    pub prefetch: usize,
}

impl Tuning {
    /// With no more sources in a work-item than divide the number of sources.
    fn fitting(mut self, sources: usize) -> Self {
        while !sources.is_multiple_of(self.sources_per_item.max(1)) {
            self.sources_per_item -= 1;
        }
        self
    }

    /// The variant that is used where none is asked for and none was found by a search, on a slab of this layout.
    ///
    /// For NVIDIA GPUs it is what was best, or within 3 % of it, on an H200 (`bench/runs/2026-11-22-h200`). A hop needs all
    /// registers in double, and gains from leaving the first-level cache to the spinors. It is worked off in tiles whose time slices stay in the second-level
    /// cache until the next one is done. The full operator uses each link twice and several fields make
    /// the neighbours' spinors what is loaded most: both want smaller tiles. Where all sites are under way at
    /// once, a large group shares most in the first-level cache. Where a group has whole rows, boxes of them gain 1 to 2 % in double and single; where it cuts
    /// rows (48³×96) they lose as much. In half precision neither boxes nor cache hints gain anything.
    ///
    /// Elsewhere: a warp or two in a group on GPUs, on CPUs a few blocks, so that groups spread over the cores. CPUs prefetch, and store past the
    /// caches, when links and spinors do not stay in the cache anyway: where they do, prefetching costs up to a quarter.
    pub(super) fn shipped(
        device: &Device,
        layout: &Layout,
        reconstruction: Reconstruction,
        task: Task,
    ) -> Self {
        let (precision, sites, sources) = (layout.precision(), layout.volume(), task.sources);
        let plain = Self {
            work_group: (64 / sources).max(8),
            sources_per_item: 1,
            max_registers: None,
            stream_links: false,
            stream_output: false,
            tile_z: 0,
            boxes: false,
            prefetch: 0,
        };
        if device.info().kind == DeviceKind::Cpu {
            let reals = NDIM * reconstruction.reals() + 2 * sources * Spinor::<f64>::REALS;
            let cache_bytes = match device.info().cache_bytes as usize {
                0 => USUAL_CACHE_BYTES,
                bytes => bytes,
            };
            let beyond_caches = sites * reals * precision.bytes() > cache_bytes / 2;
            let prefetch = if beyond_caches { 2 } else { 0 };
            let enough_groups = layout.blocks() >= 64 * device.info().compute_units;
            let work_group = if !beyond_caches && enough_groups { 8 } else { 4 };
            return Self { work_group, stream_output: beyond_caches, prefetch, ..plain };
        }
        if !device.supports_register_limit() {
            return plain;
        }
        let in_double = precision == StoragePrecision::Double;
        let one_wave = sites <= ONE_WAVE;
        let registers = |count| Self { max_registers: Some(count), ..plain };
        if sources > 1 {
            let sources_per_item = if in_double || sources % 2 == 1 { 1 } else { 2 };
            let work_group = (128 * sources_per_item / sources).max(16);
            let (limit, tile_z) = if in_double { (255, 4) } else { (168, 8) };
            return Self { work_group, sources_per_item, tile_z, ..registers(limit) };
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
            let limit = if in_double { 255 } else { 168 };
            let boxes = precision != StoragePrecision::Half && whole_rows(64);
            return Self { work_group: 128, stream_output: true, tile_z: 8, boxes, ..registers(limit) };
        }
        let (limit, work_group) = match (precision, reconstruction) {
            (StoragePrecision::Double, _) | (StoragePrecision::Single, Reconstruction::None) => (255, 64),
            (StoragePrecision::Single, Reconstruction::Twelve) => (168, 128),
            (StoragePrecision::Single, Reconstruction::Eight) => (128, 128),
            (StoragePrecision::Half, Reconstruction::Twelve) => (128, 128),
            (StoragePrecision::Half, Reconstruction::None | Reconstruction::Eight) => (168, 64),
        };
        let past_caches = precision != StoragePrecision::Half;
        Self {
            work_group,
            stream_links: past_caches,
            stream_output: past_caches,
            tile_z: tile_in_cache(layout),
            boxes: past_caches && whole_rows(work_group),
            ..registers(limit)
        }
    }
}

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

/// The kernels of one slab.
pub(super) struct SlabKernels {
    pub device: Device,
    pub tuning: Tuning,
    pub traversal: Traversal,
    /// Parity of the slab's first time slice.
    pub t_origin: u32,
    /// Sign of the links that leave the slab's last time slice, if the stored ones do not have it.
    pub t_sign: f64,
    pub wilson: Kernel,
    pub wilson_range: Range,
    /// Where the multiple comes from, for [`Ending::Subtract`].
    pub numbers: Option<NumberMemory>,
    pub pack: Option<(Kernel, Range)>,
}

impl SlabKernels {
    pub fn new<T: Storage>(
        slab: &Slab,
        links: &GaugeField<T>,
        task: Task,
        tuning: Option<Tuning>,
    ) -> Result<Self, DeviceError> {
        let lattice = links.lattice();
        let dims = lattice.dims();
        let sharded = lattice.slabs().len() > 1;
        let layout = slab.layout(dims, T::STORAGE);
        let tuning =
            tuning.unwrap_or_else(|| stencil_tuning::chosen(slab, links, task)).fitting(task.sources);
        let program = slab.device.program(&kernel_key::<T>(slab, links.format(), task, tuning))?;
        let mut parameters = vec![
            Parameter::input::<T::Stored>("in"),
            Parameter::output::<T::Stored>("out"),
            Parameter::input::<T::Stored>("links"),
        ];
        parameters.extend(Traversal::shape_parameters());
        parameters.extend(Traversal::order_parameters());
        parameters.extend([Parameter::value::<T::Real>("coefficient"), Parameter::value::<u32>("t_origin")]);
        match task.region {
            Region::Full => parameters.push(Parameter::value::<T::Real>("shift")),
            Region::Parity { shift, .. } => {
                parameters.push(Parameter::value::<u32>("parity"));
                if shift {
                    parameters.extend([
                        Parameter::value::<T::Real>("shift"),
                        Parameter::input::<T::Stored>("shifted"),
                    ]);
                }
            }
        }
        let parities = if task.region == Region::Full { 2 } else { 1 };
        let mut pack = None;
        if sharded {
            parameters.extend([
                Parameter::input::<T::Real>("from_ahead"),
                Parameter::input::<T::Real>("from_behind"),
                Parameter::value::<T::Real>("t_sign"),
            ]);
            let [extents, blocks] = Traversal::shape_parameters();
            let kernel = program.kernel(
                "pack_halo",
                &[
                    Parameter::input::<T::Stored>("in"),
                    Parameter::input::<T::Stored>("links"),
                    Parameter::output::<T::Real>("to_behind"),
                    Parameter::output::<T::Real>("to_ahead"),
                    extents,
                    blocks,
                    Parameter::value::<u32>("t_origin"),
                    Parameter::value::<T::Real>("t_sign"),
                    Parameter::value::<u32>("first_parity"),
                ],
            )?;
            let items = parities * layout.face_sites() / layout.lanes();
            let group = tuning.work_group;
            pack = Some((kernel, Range::new([items.next_multiple_of(group), task.sources], [group, 1])));
        }
        let mut numbers = None;
        match task.ending {
            Ending::Store | Ending::Norm2 => {}
            Ending::Products => parameters.push(Parameter::input::<T::Stored>("against")),
            Ending::Subtract => {
                parameters.push(Number::memory_parameter());
                parameters.extend(Number::parameters(["a_re", "a_im", "a_ratios"]));
                numbers = Some(slab.device.number_memory_argument()?);
            }
        }
        if task.ending != Ending::Store {
            parameters.extend(Reduction::parameters());
        }
        let last = slab.t_origin + slab.t_extent == dims[NDIM - 1];
        let signed = last && links.reconstruction() != Reconstruction::None;
        Ok(Self {
            device: slab.device.clone(),
            tuning,
            traversal: Traversal::new(&layout, tuning.tile_z, tuning.boxes),
            t_origin: (layout.t_origin() % 2) as u32,
            t_sign: if signed { f64::from(links.boundary().signs()[NDIM - 1]) } else { 1.0 },
            wilson: program.kernel("wilson", &parameters)?,
            wilson_range: range(parities, layout.blocks(), task.sources, tuning),
            numbers,
            pack,
        })
    }
}

/// The items of a stencil on this many blocks of each parity, whose groups have blocks of one parity; sources that are not in one
/// work-item are side by side in its group.
fn range(parities: usize, blocks: usize, sources: usize, tuning: Tuning) -> Range {
    let items = parities * blocks.next_multiple_of(tuning.work_group);
    match sources / tuning.sources_per_item {
        1 => Range::covering(items, tuning.work_group),
        beside => Range::new([items, beside], [tuning.work_group, beside]),
    }
}

/// The key of the kernels that a slab uses for a task unless another variant is asked for; none is searched for.
pub(super) fn known_key<T: Storage>(slab: &Slab, links: &LinkFormat, task: Task) -> KernelKey {
    let tuning = stencil_tuning::known::<T>(slab, links, task).fitting(task.sources);
    kernel_key::<T>(slab, links, task, tuning)
}

fn kernel_key<T: Storage>(slab: &Slab, links: &LinkFormat, task: Task, tuning: Tuning) -> KernelKey {
    let LinkFormat { lattice, boundary, reconstruction } = links;
    let layout = &slab.layout(lattice.dims(), T::STORAGE);
    // Compilers for processors make use of it; on a GPU lattices of all sizes share a kernel.
    let in_order = layout.lanes() > 1 && Traversal::new(layout, tuning.tile_z, tuning.boxes).is_in_order();
    let [nx, ny, nz, _] = layout.cuts();
    let sharded = lattice.slabs().len() > 1;
    let shift = matches!(task.region, Region::Parity { shift: true, .. });
    let mut key = field_key::<T>(WILSON, layout)
        .define("NX", nx)
        .define("NY", ny)
        .define("NZ", nz)
        .define("RECONSTRUCT", reconstruction.reals())
        .define("DAGGER", u8::from(task.form.dagger))
        .define("GAMMA5", u8::from(task.form.gamma5))
        .define("HALO", u8::from(sharded))
        .define("FULL", u8::from(task.region == Region::Full))
        .define("SHIFT", u8::from(shift))
        .define("NORM2", u8::from(task.ending != Ending::Store))
        .define("PRODUCTS", u8::from(task.ending == Ending::Products))
        .define("SUBTRACT", u8::from(task.ending == Ending::Subtract))
        .define("LOCAL_SIZE", tuning.work_group)
        .define("SOURCES", task.sources)
        .define("SOURCES_PER_ITEM", tuning.sources_per_item)
        .define("STREAM_LINKS", u8::from(tuning.stream_links))
        .define("STREAM_OUTPUT", u8::from(tuning.stream_output))
        .define("IN_ORDER", u8::from(in_order))
        .define("PREFETCH", tuning.prefetch);
    for (mu, [ahead, behind, wrap]) in DIRECTION_MACROS.iter().enumerate() {
        if layout.cuts()[mu] > 1 {
            key = key
                .define(ahead, swizzle(&layout.neighbour_lanes(mu, true)))
                .define(behind, swizzle(&layout.neighbour_lanes(mu, false)));
        }
        let crosses_slabs = sharded && mu == NDIM - 1;
        if *reconstruction != Reconstruction::None && boundary.signs()[mu] < 0 && !crosses_slabs {
            key = key.define(wrap, wrap_signs(layout, mu));
        }
    }
    if let (Some(count), true) = (tuning.max_registers, slab.device.supports_register_limit()) {
        key = key.max_registers(count);
    }
    key
}

/// The macros for each direction: swizzles that fetch a neighbour's lane, and signs of the links that leave the lattice.
const DIRECTION_MACROS: [[&str; 3]; NDIM] = [
    ["AHEAD_x", "BEHIND_x", "WRAP_x"],
    ["AHEAD_y", "BEHIND_y", "WRAP_y"],
    ["AHEAD_z", "BEHIND_z", "WRAP_z"],
    ["AHEAD_t", "BEHIND_t", "WRAP_t"],
];

/// The vector components in this order, as OpenCL C writes them: `s1032`.
fn swizzle(lanes: &[usize]) -> String {
    std::iter::once('s')
        .chain(lanes.iter().map(|&lane| char::from_digit(lane as u32, 16).unwrap_or('0')))
        .collect()
}

/// −1 for the lanes whose sub-lattice is the last one in direction `mu`, 1 for the others: `1,1,-1,-1`.
fn wrap_signs(layout: &Layout, mu: usize) -> String {
    let stride: usize = layout.cuts()[..mu].iter().product();
    let count = layout.cuts()[mu];
    let signs = (0..layout.lanes()).map(|lane| if lane / stride % count == count - 1 { "-1" } else { "1" });
    signs.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Dims;

    #[test]
    fn tiles_divide_the_lattice_and_stay_in_the_cache() {
        let tile = |extents: [usize; NDIM], precision| {
            tile_in_cache(&Layout::new(Dims::new(extents).unwrap(), 0, extents[3], 1, precision))
        };
        // 24 · 48 spinors of 192 bytes in a slice of z: at most 28 of them fit.
        assert_eq!(tile([48, 48, 48, 96], StoragePrecision::Double), 24);
        assert_eq!(tile([48, 48, 48, 96], StoragePrecision::Single), 0);
        assert_eq!(tile([32, 32, 32, 32], StoragePrecision::Double), 0);
        assert_eq!(tile([64, 64, 64, 64], StoragePrecision::Single), 32);
        assert_eq!(tile([512, 512, 6, 2], StoragePrecision::Double), 1);
    }
}
