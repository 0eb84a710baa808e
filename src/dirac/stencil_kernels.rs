//! The kernels of the stencil on one device: how they are specialised, and what they take.

use super::stencil_tuning;
use crate::device::{Device, DeviceError, DeviceKind, Kernel, KernelFamily, KernelKey, Parameter, Range};
use crate::host::{NDIM, Reconstruction, WilsonForm};
use crate::lattice::{GaugeField, Layout, Slab};
use crate::scalar::{Precision, Real};

const WILSON: KernelFamily = KernelFamily::new(
    "wilson",
    &[
        include_str!("../../cl/lanes.cl"),
        include_str!("../../cl/fields.cl"),
        include_str!("../../cl/links.cl"),
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
    /// The parity that a field of the source starts with.
    pub(super) fn source_parity(self) -> u32 {
        match self {
            Region::Full => 0,
            Region::Parity { parity, .. } => 1 - parity as u32,
        }
    }
}

/// What may be varied in a kernel without changing what it computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Tuning {
    /// Work-items in a group.
    pub work_group: usize,
    /// Most registers that a work-item may have, where the compiler can be told (NVIDIA).
    pub max_registers: Option<u32>,
    /// Load links past the first-level cache, where the device has such loads.
    pub stream_links: bool,
    /// Store the result past the caches, where the device has such stores.
    pub stream_output: bool,
    /// Slices in z that are worked off together over all t; must divide the extent in z of a sub-lattice, 0 for all of it.
    pub tile_z: usize,
}

impl Tuning {
    /// The variant that is used where none is asked for and none was found by a search.
    ///
    /// For NVIDIA GPUs it is what was best, or within 3 % of it, on an H200 on both 32⁴ and 16³×32
    /// (`bench/runs/2026-11-20-h200/stencil`): a hop in double needs all registers, unless the links are rebuilt from 8 reals, which takes more
    /// work-items to hide, and it gains from leaving the first-level cache to the spinors. Elsewhere: a warp or two in a group on
    /// GPUs, on CPUs a few blocks, so that groups spread over the cores.
    pub fn shipped(device: &Device, precision: Precision, reconstruction: Reconstruction) -> Self {
        let processor = device.info().kind == DeviceKind::Cpu;
        let plain = Self {
            work_group: if processor { 4 } else { 64 },
            max_registers: None,
            stream_links: false,
            stream_output: false,
            tile_z: 0,
        };
        if !device.supports_register_limit() {
            return plain;
        }
        match (precision, reconstruction) {
            (Precision::Single, _) => Self { work_group: 128, max_registers: Some(128), ..plain },
            (Precision::Double, reconstruction) => Self {
                max_registers: Some(if reconstruction == Reconstruction::Eight { 128 } else { 255 }),
                stream_links: true,
                stream_output: true,
                ..plain
            },
        }
    }
}

/// The kernels of one slab.
pub(super) struct SlabKernels {
    pub tuning: Tuning,
    /// Parity of the slab's first time slice.
    pub t_origin: u32,
    /// Sign of the links that leave the slab's last time slice, if the stored ones do not have it.
    pub t_sign: f64,
    pub wilson: Kernel,
    pub wilson_range: Range,
    pub pack: Option<(Kernel, Range)>,
}

impl SlabKernels {
    pub fn new<T: Real>(
        slab: &Slab,
        links: &GaugeField<T>,
        form: WilsonForm,
        region: Region,
        tuning: Option<Tuning>,
    ) -> Result<Self, DeviceError> {
        let tuning = tuning.unwrap_or_else(|| stencil_tuning::chosen(slab, links, region));
        let lattice = links.lattice();
        let dims = lattice.dims();
        let sharded = lattice.slabs().len() > 1;
        let layout = slab.layout(dims, T::PRECISION);
        let program = slab.device.program(&kernel_key(&slab.device, &layout, links, form, region, tuning))?;
        let mut parameters = vec![
            Parameter::input::<T>("in"),
            Parameter::output::<T>("out"),
            Parameter::input::<T>("links"),
            Parameter::value::<T>("coefficient"),
            Parameter::value::<u32>("t_origin"),
        ];
        match region {
            Region::Full => parameters.push(Parameter::value::<T>("shift")),
            Region::Parity { shift, .. } => {
                parameters.push(Parameter::value::<u32>("parity"));
                if shift {
                    parameters.extend([Parameter::value::<T>("shift"), Parameter::input::<T>("shifted")]);
                }
            }
        }
        let local = tuning.work_group;
        let parities = if region == Region::Full { 2 } else { 1 };
        let mut pack = None;
        if sharded {
            parameters.extend([
                Parameter::input::<T>("from_ahead"),
                Parameter::input::<T>("from_behind"),
                Parameter::value::<T>("t_sign"),
            ]);
            let kernel = program.kernel(
                "pack_halo",
                &[
                    Parameter::input::<T>("in"),
                    Parameter::input::<T>("links"),
                    Parameter::output::<T>("to_behind"),
                    Parameter::output::<T>("to_ahead"),
                    Parameter::value::<u32>("t_origin"),
                    Parameter::value::<T>("t_sign"),
                    Parameter::value::<u32>("first_parity"),
                ],
            )?;
            let blocks_of_face = layout.face_sites() / layout.lanes();
            pack = Some((kernel, Range::covering(parities * blocks_of_face, local)));
        }
        let last = slab.t_origin + slab.t_extent == dims[NDIM - 1];
        let signed = last && links.reconstruction() != Reconstruction::None;
        Ok(Self {
            tuning,
            t_origin: (layout.t_origin() % 2) as u32,
            t_sign: if signed { f64::from(links.boundary().signs()[NDIM - 1]) } else { 1.0 },
            wilson: program.kernel("wilson", &parameters)?,
            wilson_range: Range::covering(parities * layout.blocks(), local),
            pack,
        })
    }
}

fn kernel_key<T: Real>(
    device: &Device,
    layout: &Layout,
    links: &GaugeField<T>,
    form: WilsonForm,
    region: Region,
    tuning: Tuning,
) -> KernelKey {
    let [sx, sy, sz, st] = layout.sub_extents();
    let [nx, ny, nz, _] = layout.cuts();
    let sharded = links.lattice().slabs().len() > 1;
    let shift = matches!(region, Region::Parity { shift: true, .. });
    let mut key = KernelKey::of_real::<T>(WILSON)
        .lanes(layout.lanes())
        .define("BLOCKS", layout.blocks())
        .define("SX", sx)
        .define("SY", sy)
        .define("SZ", sz)
        .define("ST", st)
        .define("NX", nx)
        .define("NY", ny)
        .define("NZ", nz)
        .define("RECONSTRUCT", links.reconstruction().reals())
        .define("DAGGER", u8::from(form.dagger))
        .define("GAMMA5", u8::from(form.gamma5))
        .define("HALO", u8::from(sharded))
        .define("FULL", u8::from(region == Region::Full))
        .define("SHIFT", u8::from(shift))
        .define("STREAM_LINKS", u8::from(tuning.stream_links))
        .define("STREAM_OUTPUT", u8::from(tuning.stream_output))
        .define("TILE_Z", if tuning.tile_z != 0 && sz % tuning.tile_z == 0 { tuning.tile_z } else { sz });
    for (mu, [ahead, behind, wrap]) in DIRECTION_MACROS.iter().enumerate() {
        if layout.cuts()[mu] > 1 {
            key = key
                .define(ahead, swizzle(&layout.neighbour_lanes(mu, true)))
                .define(behind, swizzle(&layout.neighbour_lanes(mu, false)));
        }
        let crosses_slabs = sharded && mu == NDIM - 1;
        if links.reconstruction() != Reconstruction::None
            && links.boundary().signs()[mu] < 0
            && !crosses_slabs
        {
            key = key.define(wrap, wrap_signs(layout, mu));
        }
    }
    if let (Some(count), true) = (tuning.max_registers, device.supports_register_limit()) {
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
