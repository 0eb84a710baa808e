//! The kernels of the stencil on one device: how they are specialised, and what they take.

use super::stencil_tuning;
use super::stencil_variants::Tuning;
use super::traversal::{Groups, Traversal};
use crate::device::{
    Device, DeviceError, Kernel, KernelFamily, KernelKey, NUMBER_SOURCE, Number, NumberMemory, Parameter,
    REDUCTION_SOURCE, Range, Reduction,
};
use crate::host::{NDIM, Reconstruction, WilsonForm};
use crate::lattice::{
    GaugeField, GramSums, Layout, LinkFormat, MATRIX_TILE, Matrices, Sites, Slab, field_key,
};
use crate::scalar::Storage;
use std::cell::OnceCell;
use std::sync::Mutex;

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

/// For endings of blocks.
const WILSON_BLOCK: KernelFamily = KernelFamily::new(
    "wilson_block",
    &[
        include_str!("../../cl/lanes.cl"),
        include_str!("../../cl/fields.cl"),
        include_str!("../../cl/links.cl"),
        REDUCTION_SOURCE,
        NUMBER_SOURCE,
        include_str!("../../cl/quads.cl"),
        include_str!("../../cl/fragments.cl"),
        include_str!("../../cl/block_ending.cl"),
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

    /// How many parities are written.
    fn parities(self) -> usize {
        match self {
            Region::Full => 2,
            Region::Parity { .. } => 1,
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

/// What becomes of a stencil's result. The first is for any number of sources, the next three are for one, the last two for several.
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
    /// It is stored, and its Gram matrix summed up.
    Gram,
    /// Its product with a matrix is subtracted from what is stored, and the Gram matrix of the difference summed up.
    SubtractBlock,
}

impl Ending {
    /// Whether it is one for several sources. Devices take it in double, in one lane, and for an even number of sources from 4 to 12; it is fast where they have
    /// matrix units.
    pub fn is_of_block(self) -> bool {
        matches!(self, Ending::Gram | Ending::SubtractBlock)
    }

    /// Whether it is one for so many sources.
    pub(super) fn is_for(self, sources: usize) -> bool {
        match self {
            Ending::Store => sources > 0,
            Ending::Norm2 | Ending::Products | Ending::Subtract => sources == 1,
            Ending::Gram | Ending::SubtractBlock => sources > 1,
        }
    }

    /// Whether it sums up numbers, which stay on the device.
    pub(super) fn makes_numbers(self) -> bool {
        !self.is_of_block() && self != Ending::Store
    }
}

/// Something for each ending, made when it is wanted first.
pub(super) struct ByEnding<S>([OnceCell<Box<S>>; 6]);

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
    /// Which shares the groups of this range do.
    pub groups: Groups,
    /// Where the multiple comes from, for [`Ending::Subtract`].
    pub numbers: Option<NumberMemory>,
    /// For [`Ending::Gram`] and [`Ending::SubtractBlock`].
    pub gram: Option<GramSums>,
    /// What the result is multiplied with, for [`Ending::SubtractBlock`].
    pub matrix: Option<Mutex<Matrices>>,
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
        let tuning = match tuning {
            Some(tuning) => expect_runs(tuning, &slab.device, task)?,
            None => stencil_tuning::chosen(slab, links, task),
        };
        let tuning = tuning.fitting(&slab.device, &layout, links.reconstruction(), task);
        let program = slab.device.program(&kernel_key::<T>(slab, links.format(), task, tuning))?;
        let mut parameters = vec![
            Parameter::input::<T::Stored>("in"),
            Parameter::output::<T::Stored>("out"),
            Parameter::input::<T::Stored>("links"),
        ];
        parameters.extend(Traversal::shape_parameters());
        parameters.extend(Traversal::order_parameters());
        parameters.extend([Parameter::value::<T::Real>("coefficient"), Parameter::value::<u32>("t_origin")]);
        let groups = groups(&slab.device, &layout, task, tuning);
        if groups.are_in_rounds() {
            parameters.push(Groups::parameter());
        }
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
            let items = task.region.parities() * layout.face_sites() / layout.lanes();
            let group = tuning.work_group.max(SMALLEST_PACKING_GROUP);
            pack = Some((kernel, Range::new([items.next_multiple_of(group), task.sources], [group, 1])));
        }
        let (mut numbers, mut matrix) = (None, None);
        match task.ending {
            Ending::Store | Ending::Norm2 | Ending::Gram => {}
            Ending::Products => parameters.push(Parameter::input::<T::Stored>("against")),
            Ending::Subtract => {
                parameters.push(Number::memory_parameter());
                parameters.extend(Number::parameters(["a_re", "a_im", "a_ratios"]));
                numbers = Some(slab.device.number_memory_argument()?);
            }
            Ending::SubtractBlock => {
                parameters.push(Parameter::input::<f64>("matrix"));
                matrix = Some(Mutex::new(Matrices::new(&slab.device, task.sources, 1)?));
            }
        }
        let mut gram = None;
        if task.ending.makes_numbers() {
            parameters.extend(Reduction::parameters());
        } else if task.ending.is_of_block() {
            parameters.push(Parameter::output::<f64>("partials"));
            gram = Some(GramSums::new(&slab.device, task.sources, MATRIX_TILE, groups.count)?);
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
            wilson_range: range(groups, task.sources, tuning),
            groups,
            numbers,
            gram,
            matrix,
            pack,
        })
    }
}

/// A variant that a caller asks for, if the device can run it.
fn expect_runs(tuning: Tuning, device: &Device, task: Task) -> Result<Tuning, DeviceError> {
    match tuning.complaint(device, task.sources) {
        None => Ok(tuning),
        Some(reason) => {
            let local = [tuning.work_group, 1, 1];
            Err(DeviceError::InvalidRange { kernel: "wilson".to_owned(), global: local, local, reason })
        }
    }
}

/// Blocks whose halos a work-group packs at least: a stencil's may have only one.
const SMALLEST_PACKING_GROUP: usize = 8;

/// The groups of a stencil on a slab, each of which has blocks of one parity, or of the full operator half of them of each.
fn groups(device: &Device, layout: &Layout, task: Task, tuning: Tuning) -> Groups {
    let shares = task.region.parities() * layout.blocks().div_ceil(tuning.work_group);
    Groups::new(shares, tuning.groups_at_once(device, task.sources), tuning.rounds)
}

/// The items of these groups; sources that are not in one work-item are side by side in its group.
fn range(groups: Groups, sources: usize, tuning: Tuning) -> Range {
    match sources / tuning.sources_per_item {
        1 => Range::groups(groups.count, tuning.work_group),
        beside => Range::new([groups.count * tuning.work_group, beside], [tuning.work_group, beside]),
    }
}

/// The key of the kernels that a slab uses for a task unless another variant is asked for; none is searched for.
pub(super) fn known_key<T: Storage>(slab: &Slab, links: &LinkFormat, task: Task) -> KernelKey {
    let layout = slab.layout(links.lattice.dims(), T::STORAGE);
    let tuning = stencil_tuning::known::<T>(slab, links, task);
    let tuning = tuning.fitting(&slab.device, &layout, links.reconstruction, task);
    kernel_key::<T>(slab, links, task, tuning)
}

fn kernel_key<T: Storage>(slab: &Slab, links: &LinkFormat, task: Task, tuning: Tuning) -> KernelKey {
    let LinkFormat { lattice, boundary, reconstruction } = links;
    let layout = &slab.layout(lattice.dims(), T::STORAGE);
    // Compilers for processors make use of it; on a GPU lattices of all sizes share a kernel.
    let in_order = layout.lanes() > 1 && Traversal::new(layout, tuning.tile_z, tuning.boxes).is_in_order();
    let in_rounds = groups(&slab.device, layout, task, tuning).are_in_rounds();
    let [nx, ny, nz, _] = layout.cuts();
    let sharded = lattice.slabs().len() > 1;
    // Spinors are results of such kernels: they have left the caches if results do.
    let prefetch_spinors = tuning.prefetch > 0 && tuning.stream_output;
    // On a processor what is subtracted from has been loaded, and would have to leave the caches first.
    let stream_output = tuning.stream_output && !(layout.lanes() > 1 && task.ending == Ending::Subtract);
    let shift = matches!(task.region, Region::Parity { shift: true, .. });
    let family = if task.ending.is_of_block() { WILSON_BLOCK } else { WILSON };
    let mut key = field_key::<T>(family, layout)
        .define("NX", nx)
        .define("NY", ny)
        .define("NZ", nz)
        .define("RECONSTRUCT", reconstruction.reals())
        .define("DAGGER", u8::from(task.form.dagger))
        .define("GAMMA5", u8::from(task.form.gamma5))
        .define("HALO", u8::from(sharded))
        .define("FULL", u8::from(task.region == Region::Full))
        .define("SHIFT", u8::from(shift))
        .define("NORM2", u8::from(task.ending.makes_numbers()))
        .define("PRODUCTS", u8::from(task.ending == Ending::Products))
        .define("SUBTRACT", u8::from(task.ending == Ending::Subtract))
        .define("GRAM", u8::from(task.ending.is_of_block()))
        .define("SUBTRACT_BLOCK", u8::from(task.ending == Ending::SubtractBlock))
        .define("LOCAL_SIZE", tuning.work_group)
        .define("SOURCES", task.sources)
        .define("SOURCES_PER_ITEM", tuning.sources_per_item)
        .define("SHARED_LINKS", u8::from(tuning.share_links))
        .define("STREAM_LINKS", u8::from(tuning.stream_links))
        .define("STREAM_OUTPUT", u8::from(stream_output))
        .define("ROUNDS", u8::from(in_rounds))
        .define("IN_ORDER", u8::from(in_order))
        .define("PREFETCH", tuning.prefetch)
        .define("PREFETCH_SPINORS", u8::from(prefetch_spinors));
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
    if task.ending.is_of_block() {
        key = key.define("ITEMS", tuning.work_group * task.sources);
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
