//! The kernels of the stencil on one device: definitions.

use super::parts::{
    AnisotropyPart, BoundaryPart, EndingMemory, GroupParts, HaloPart, KernelPart, LaunchGroups, LinksPart,
    Packers,
};
use super::task::{Region, Task};
use super::traversal::{Groups, Traversal};
use super::variants::Tuning;
use crate::compute::{
    Device, DeviceError, Kernel, KernelFamily, KernelKey, NUMBER_SOURCE, REDUCTION_SOURCE, Range,
};
use crate::field::{GaugeField, LinkFormat, field_key};
use crate::geometry::{Layout, NDIM, Shard};
use crate::scalar::Storage;
use num_complex::Complex64;

/// The way through the domain, and the hop.
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
    ],
);

/// The kernels of one domain.
pub(crate) struct ShardKernels {
    pub tuning: Tuning,
    pub traversal: Traversal,
    /// Parity of the domain's first site.
    pub origin: u32,
    pub wilson: Kernel,
    /// The groups of a launch and their shares.
    pub groups: Groups,
    columns: usize,
    pub ending: EndingMemory,
    /// The phases of links that leave the lattice, if phases are parameters.
    pub phases: Vec<Complex64>,
    /// The packing of faces, if the lattice is divided among devices.
    pub pack: Option<Pack>,
    /// The groups in parts, if groups inside may run before faces arrive.
    pub group_parts: Option<GroupParts>,
}

/// The kernel that packs the faces of a domain.
pub(crate) struct Pack {
    pub kernel: Kernel,
    pub range: Range,
    /// The number of blocks that are packed.
    pub units: usize,
    /// The groups of the stencil that may pack instead, in front of those with sites.
    pub groups: Option<usize>,
    /// `true` if the stencil may add its sums over all devices.
    pub meets: bool,
    /// Phases of the links that leave the domain's last slice, for each cut direction.
    ///
    /// A phase is 1 if the stored links have it already.
    pub phases: Vec<Complex64>,
}

impl ShardKernels {
    pub fn new<T: Storage>(
        shard: &Shard,
        links: &GaugeField<T>,
        task: Task,
        tuning: Tuning,
    ) -> Result<Self, DeviceError> {
        let layout = shard.layout(T::STORAGE);
        let tuning = tuning.fitting(&shard.device, &layout, links.reconstruction(), task);
        let program = shard.device.program(&kernel_key::<T>(shard, links.format(), task, tuning))?;
        let groups = groups(&shard.device, &layout, task, tuning);
        let boundary = BoundaryPart::of(links.format(), &layout);
        let halo = HaloPart::of(shard, &layout, groups.count, task.ending);
        let items = tuning.work_group * (task.columns / tuning.columns_per_item);
        let pack = |units: usize| {
            Ok::<_, DeviceError>(Pack {
                kernel: program.kernel("pack_halos")?,
                range: HaloPart::packing_range(units, tuning.work_group),
                units,
                groups: halo.packing_groups(shard, units, items),
                meets: halo.meets(),
                phases: halo.directions().map(|mu| HaloPart::phase(shard, links.format(), mu)).collect(),
            })
        };
        let units = halo.packed_units(&layout, task.region.parities(), task.columns);
        let traversal = Traversal::new(&layout, tuning.tile_z, tuning.boxes);
        let (shares, size) = (shares(&layout, task, tuning), tuning.work_group);
        let blocks_of = |share| blocks_of_share(task.region, size, share);
        let at_faces = |cut| traversal.groups_at_faces(groups, shares, blocks_of, cut);
        Ok(Self {
            tuning,
            traversal,
            group_parts: halo.group_parts(shard, at_faces)?,
            origin: shard.domain.parity() as u32,
            wilson: program.kernel("wilson")?,
            columns: task.columns,
            groups,
            ending: EndingMemory::new(task.ending, &shard.device, task.columns, groups.count)?,
            phases: boundary.phases(),
            pack: (units > 0).then(|| pack(units)).transpose()?,
        })
    }
}

impl ShardKernels {
    /// Returns the number of these groups.
    pub fn group_count(&self, groups: LaunchGroups) -> usize {
        self.group_parts.as_ref().map_or(self.groups.count, |parts| parts.count(groups))
    }

    /// Returns the range of a launch of these groups, with the groups in front that may pack.
    pub fn range(&self, groups: LaunchGroups) -> Range {
        let packing = self.pack.as_ref().and_then(|pack| pack.groups).unwrap_or(0);
        range(packing + self.group_count(groups), self.columns, self.tuning)
    }

    /// Tells whether the stencil can pack its faces.
    ///
    /// Otherwise they are packed in a launch ahead of it. So they are when the host waits for the stencil,
    /// because a driver may compile it.
    pub fn packs(&self) -> bool {
        let packs = self.pack.as_ref().is_some_and(|pack| pack.groups.is_some());
        packs && self.wilson.is_compiled_for(&self.range(LaunchGroups::All))
    }

    /// Tells whether the stencil takes the arguments of a sum over all devices.
    pub fn meets(&self) -> bool {
        self.pack.as_ref().is_some_and(|pack| pack.meets)
    }

    /// Returns the groups of a launch that may pack.
    pub fn packers(&self, at_work: bool) -> Option<Packers<'_>> {
        let Pack { groups, units, phases, .. } = self.pack.as_ref()?;
        Some(Packers { groups: (*groups)?, units: if at_work { *units } else { 0 }, phases })
    }
}

/// Returns the groups of a stencil on a domain.
///
/// A group has blocks of one parity. In the full operator, half of its blocks have either parity.
fn groups(device: &Device, layout: &Layout, task: Task, tuning: Tuning) -> Groups {
    Groups::new(shares(layout, task, tuning), tuning.groups_at_once(device, task.columns), tuning.rounds)
}

/// Returns the number of shares of all groups together.
fn shares(layout: &Layout, task: Task, tuning: Tuning) -> usize {
    task.region.parities() * layout.blocks().div_ceil(tuning.work_group)
}

/// Returns the blocks of a share, of one parity or of both.
///
/// Twin of `ITEM_OF` of `cl/stencil/way.cl`.
fn blocks_of_share(region: Region, work_group: usize, share: usize) -> std::ops::Range<usize> {
    let (number, size) = match region {
        Region::Full if work_group.is_multiple_of(2) => (share, work_group / 2),
        Region::Full => (share / 2, work_group),
        Region::Parity { .. } => (share, work_group),
    };
    number * size..(number + 1) * size
}

/// Returns the range of `groups` groups.
///
/// Columns that are not in one work-item are side by side in its group.
fn range(groups: usize, columns: usize, tuning: Tuning) -> Range {
    match columns / tuning.columns_per_item {
        1 => Range::groups(groups, tuning.work_group),
        beside => Range::new([groups * tuning.work_group, beside], [tuning.work_group, beside]),
    }
}

/// Returns the key of the kernels of one domain, for a variant that fits.
pub(super) fn kernel_key<T: Storage>(
    shard: &Shard,
    links: &LinkFormat,
    task: Task,
    tuning: Tuning,
) -> KernelKey {
    let layout = &shard.layout(T::STORAGE);
    // Compilers for processors use a known order. On a GPU, lattices of all sizes share a kernel.
    let in_order = layout.lanes() > 1 && Traversal::new(layout, tuning.tile_z, tuning.boxes).is_in_order();
    let groups = groups(&shard.device, layout, task, tuning);
    let in_rounds = groups.are_in_rounds();
    let [nx, ny, nz, _] = layout.cuts();
    // Spinors are results of such kernels. Results that bypass the caches must be prefetched.
    let prefetch_spinors = tuning.prefetch > 0 && tuning.stream_output;
    // On a processor the field of a subtraction is in the caches, and would have to leave them.
    let stream_output = tuning.stream_output && !(layout.lanes() > 1 && task.ending.subtracts());
    let mut key = field_key::<T>(STENCIL, layout)
        .define("NX", nx)
        .define("NY", ny)
        .define("NZ", nz)
        .define("RECONSTRUCT", links.reconstruction.reals())
        .define("DAGGER", u8::from(task.factors.dagger))
        .define("GAMMA5", u8::from(task.factors.gamma5))
        .define("FULL", u8::from(task.region == Region::Full))
        .define("LOCAL_SIZE", tuning.work_group)
        .define("COLUMNS", task.columns)
        .define("COLUMNS_PER_ITEM", tuning.columns_per_item)
        .define("STREAM_LINKS", u8::from(tuning.stream_links))
        .define("STREAM_OUTPUT", u8::from(stream_output))
        .define("ROUNDS", u8::from(in_rounds))
        .define("IN_ORDER", u8::from(in_order))
        .define("PREFETCH", tuning.prefetch)
        .define("PREFETCH_SPINORS", u8::from(prefetch_spinors));
    for (mu, [ahead, behind]) in DIRECTION_MACROS.iter().enumerate() {
        if layout.cuts()[mu] > 1 {
            key = key
                .define(ahead, swizzle(&layout.neighbour_lanes(mu, true)))
                .define(behind, swizzle(&layout.neighbour_lanes(mu, false)));
        }
    }
    if task.ending.is_of_block() {
        key = key.define("ITEMS", tuning.work_group * task.columns);
    }
    key = AnisotropyPart::of(links.anisotropy).add_to(key);
    key = BoundaryPart::of(links, layout).add_to(LinksPart { shared: tuning.share_links }.add_to(key));
    key = HaloPart::of(shard, layout, groups.count, task.ending).add_to(key);
    key = task.ending.add_to(task.site_part().add_to(key));
    key = key.part("kernel", include_str!("../../../cl/stencil/kernel.cl"));
    if let (Some(count), true) = (tuning.max_registers, shard.device.supports_register_limit()) {
        key = key.max_registers(count);
    }
    key
}

/// The macros for each direction: swizzles that fetch a neighbour's lane.
const DIRECTION_MACROS: [[&str; 2]; NDIM] =
    [["AHEAD_x", "BEHIND_x"], ["AHEAD_y", "BEHIND_y"], ["AHEAD_z", "BEHIND_z"], ["AHEAD_t", "BEHIND_t"]];

/// Returns a swizzle of OpenCL C in this order of lanes: `s1032`.
fn swizzle(lanes: &[usize]) -> String {
    std::iter::once('s')
        .chain(lanes.iter().map(|&lane| char::from_digit(lane as u32, 16).unwrap_or('0')))
        .collect()
}
