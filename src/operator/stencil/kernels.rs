//! The kernels of the stencil on one device: how they are specialised, and what they take.

use super::parts::{EndingMemory, KernelPart, LinksPart};
use super::task::{Region, Task};
use super::traversal::{Groups, Traversal};
use super::variants::Tuning;
use crate::device::{
    Device, DeviceError, Kernel, KernelFamily, KernelKey, NUMBER_SOURCE, Parameter, REDUCTION_SOURCE, Range,
};
use crate::field::{GaugeField, LinkFormat, field_key};
use crate::geometry::{Layout, NDIM, Slab};
use crate::host::Reconstruction;
use crate::scalar::Storage;

/// The way through the slab, and the hop.
const STENCIL: KernelFamily = KernelFamily::new(
    "stencil",
    &[
        include_str!("../../../cl/lanes.cl"),
        include_str!("../../../cl/fields.cl"),
        include_str!("../../../cl/links.cl"),
        REDUCTION_SOURCE,
        NUMBER_SOURCE,
        include_str!("../../../cl/stencil/way.cl"),
        include_str!("../../../cl/stencil/hop.cl"),
        include_str!("../../../cl/stencil/halo.cl"),
    ],
);

/// The kernels of one slab.
pub(crate) struct SlabKernels {
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
    pub ending: EndingMemory,
    pub pack: Option<(Kernel, Range)>,
}

impl SlabKernels {
    pub fn new<T: Storage>(
        slab: &Slab,
        links: &GaugeField<T>,
        task: Task,
        tuning: Tuning,
    ) -> Result<Self, DeviceError> {
        let lattice = links.lattice();
        let dims = lattice.dims();
        let sharded = lattice.slabs().len() > 1;
        let layout = slab.layout(dims, T::STORAGE);
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
        if task.region != Region::Full {
            parameters.push(Parameter::value::<u32>("parity"));
        }
        parameters.extend(task.site_part().parameters::<T>());
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
        parameters.extend(task.ending.parameters::<T>());
        let last = slab.t_origin + slab.t_extent == dims[NDIM - 1];
        let signed = last && links.reconstruction() != Reconstruction::None;
        Ok(Self {
            tuning,
            traversal: Traversal::new(&layout, tuning.tile_z, tuning.boxes),
            t_origin: (layout.t_origin() % 2) as u32,
            t_sign: if signed { f64::from(links.boundary().signs()[NDIM - 1]) } else { 1.0 },
            wilson: program.kernel("wilson", &parameters)?,
            wilson_range: range(groups, task.sources, tuning),
            groups,
            ending: EndingMemory::new(task.ending, &slab.device, task.sources, groups.count)?,
            pack,
        })
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

/// The key of the kernels of one slab, in a variant that fits.
pub(super) fn kernel_key<T: Storage>(
    slab: &Slab,
    links: &LinkFormat,
    task: Task,
    tuning: Tuning,
) -> KernelKey {
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
    let stream_output = tuning.stream_output && !(layout.lanes() > 1 && task.ending.subtracts());
    let mut key = field_key::<T>(STENCIL, layout)
        .define("NX", nx)
        .define("NY", ny)
        .define("NZ", nz)
        .define("RECONSTRUCT", reconstruction.reals())
        .define("DAGGER", u8::from(task.form.dagger))
        .define("GAMMA5", u8::from(task.form.gamma5))
        .define("HALO", u8::from(sharded))
        .define("FULL", u8::from(task.region == Region::Full))
        .define("LOCAL_SIZE", tuning.work_group)
        .define("SOURCES", task.sources)
        .define("SOURCES_PER_ITEM", tuning.sources_per_item)
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
    key = LinksPart { shared: tuning.share_links }.add_to(key);
    key = task.ending.add_to(task.site_part().add_to(key));
    key = key.part("kernel", include_str!("../../../cl/stencil/kernel.cl"));
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
