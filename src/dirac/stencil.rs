//! The nearest-neighbour stencil of the Wilson operator on the devices of a lattice, and its kernels.

use crate::device::{
    Argument, Buffer, DeviceError, DeviceKind, Kernel, KernelFamily, KernelKey, Parameter, Range,
};
use crate::host::{self, Dims, NDIM, WilsonForm};
use crate::lattice::{GaugeField, GaugeStorage, Halo, Layout, Packing, Slab, SpinorField, SpinorStorage};
use crate::scalar::Real;
use lattice_solvers::Work;
use std::cell::RefCell;

const WILSON: KernelFamily =
    KernelFamily::new("wilson", &[include_str!("../../cl/lanes.cl"), include_str!("../../cl/wilson.cl")]);

/// One form of the Wilson operator with the kernels that apply it.
pub(super) struct Stencil<T: Real> {
    links: GaugeField<T>,
    form: WilsonForm,
    /// One for each slab; none on the host.
    kernels: Vec<SlabKernels>,
    /// Present if there are several slabs. It is scratch memory, so that applying an operator needs no exclusive reference to it.
    halo: Option<RefCell<Halo<T>>>,
}

struct SlabKernels {
    /// Parity of the slab's first time slice.
    t_origin: u32,
    wilson: Kernel,
    wilson_range: Range,
    pack: Option<(Kernel, Range)>,
}

impl<T: Real> Stencil<T> {
    pub fn new(links: &GaugeField<T>, form: WilsonForm) -> Result<Self, DeviceError> {
        let lattice = links.lattice();
        let slabs = lattice.slabs();
        let sharded = slabs.len() > 1;
        let kernels = slabs.iter().map(|slab| SlabKernels::new::<T>(slab, lattice.dims(), form, sharded));
        Ok(Self {
            links: links.clone(),
            form,
            kernels: kernels.collect::<Result<_, _>>()?,
            halo: if sharded { Some(RefCell::new(Halo::new(lattice)?)) } else { None },
        })
    }

    pub fn links(&self) -> &GaugeField<T> {
        &self.links
    }

    pub fn form(&self) -> WilsonForm {
        self.form
    }

    /// out = γ5^g (shift·ψ + coefficient·H ψ).
    ///
    /// # Panics
    /// When a field lives on another kind of team than the links.
    pub fn apply(&self, psi: &SpinorField<T>, out: &mut SpinorField<T>) -> Result<(), DeviceError> {
        match (self.links.storage(), &psi.storage, &mut out.storage) {
            (GaugeStorage::Host(links), SpinorStorage::Host(psi), SpinorStorage::Host(out)) => {
                host::wilson(links, self.form, psi, out);
                Ok(())
            }
            (GaugeStorage::Devices(links), SpinorStorage::Devices(psi), SpinorStorage::Devices(out)) => {
                self.apply_on_devices(links, psi, out)
            }
            _ => panic!("links and spinor fields live on different teams"),
        }
    }

    fn apply_on_devices(
        &self,
        links: &[Buffer<T>],
        psi: &[Buffer<T>],
        out: &mut [Buffer<T>],
    ) -> Result<(), DeviceError> {
        if let Some(halo) = &self.halo {
            let packings =
                self.kernels.iter().zip(psi.iter().zip(links)).filter_map(|(kernels, (psi, links))| {
                    let (kernel, range) = kernels.pack.as_ref()?;
                    Some(Packing { kernel, range: *range, psi, links, t_origin: kernels.t_origin })
                });
            halo.borrow_mut().exchange(packings)?;
        }
        let halo = self.halo.as_ref().map(RefCell::borrow);
        for (k, kernels) in self.kernels.iter().enumerate() {
            let fields = [
                Argument::from(&psi[k]),
                Argument::from(&mut out[k]),
                Argument::from(&links[k]),
                Argument::value(T::from_f64(self.form.shift)),
                Argument::value(T::from_f64(self.form.coefficient)),
                Argument::value(kernels.t_origin),
            ];
            match &halo {
                None => kernels.wilson.launch(kernels.wilson_range, &fields)?,
                Some(halo) => {
                    let (from_ahead, from_behind) = halo.received(k);
                    let [a, b, c, d, e, f] = fields;
                    let all = [a, b, c, d, e, f, from_ahead.into(), from_behind.into()];
                    kernels.wilson.launch(kernels.wilson_range, &all)?
                }
            };
        }
        Ok(())
    }

    /// Operations and least traffic of one application: 1320 flops a site for H and 48 for the shift; every link, and every spinor
    /// read and written, passes through memory once.
    pub fn work(&self) -> Work {
        let sites = self.links.lattice().dims().volume() as u64;
        let reals = (NDIM * 18 + 24 + 24) as u64;
        Work { flops: (1320 + 48) * sites, bytes: reals * T::PRECISION.bytes() as u64 * sites }
    }
}

impl SlabKernels {
    fn new<T: Real>(slab: &Slab, dims: Dims, form: WilsonForm, sharded: bool) -> Result<Self, DeviceError> {
        let layout = slab.layout(dims, T::PRECISION);
        let program = slab.device.program(&kernel_key::<T>(&layout, form, sharded))?;
        let mut parameters = vec![
            Parameter::input::<T>("in"),
            Parameter::output::<T>("out"),
            Parameter::input::<T>("links"),
            Parameter::value::<T>("shift"),
            Parameter::value::<T>("coefficient"),
            Parameter::value::<u32>("t_origin"),
        ];
        let mut pack = None;
        let local = work_group(slab.device.info().kind);
        if sharded {
            parameters.push(Parameter::input::<T>("from_ahead"));
            parameters.push(Parameter::input::<T>("from_behind"));
            let kernel = program.kernel(
                "pack_halo",
                &[
                    Parameter::input::<T>("in"),
                    Parameter::input::<T>("links"),
                    Parameter::output::<T>("to_behind"),
                    Parameter::output::<T>("to_ahead"),
                    Parameter::value::<u32>("t_origin"),
                ],
            )?;
            let blocks_of_face = layout.face_sites() / layout.lanes();
            pack = Some((kernel, Range::covering(2 * blocks_of_face, local)));
        }
        Ok(Self {
            t_origin: (layout.t_origin() % 2) as u32,
            wilson: program.kernel("wilson", &parameters)?,
            wilson_range: Range::covering(2 * layout.blocks(), local),
            pack,
        })
    }
}

/// Work-items in a group: a few warps on GPUs; on CPUs a few blocks, so that groups spread over the cores.
fn work_group(kind: DeviceKind) -> usize {
    if kind == DeviceKind::Cpu { 4 } else { 128 }
}

fn kernel_key<T: Real>(layout: &Layout, form: WilsonForm, sharded: bool) -> KernelKey {
    let [sx, sy, sz, st] = layout.sub_extents();
    let [nx, ny, nz, _] = layout.cuts();
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
        .define("DAGGER", u8::from(form.dagger))
        .define("GAMMA5", u8::from(form.gamma5))
        .define("HALO", u8::from(sharded));
    for (mu, [ahead, behind]) in SWIZZLES.iter().enumerate() {
        if layout.cuts()[mu] > 1 {
            key = key
                .define(ahead, swizzle(&layout.neighbour_lanes(mu, true)))
                .define(behind, swizzle(&layout.neighbour_lanes(mu, false)));
        }
    }
    key
}

/// The macros that hold the swizzles of each direction.
const SWIZZLES: [[&str; 2]; NDIM] =
    [["AHEAD_x", "BEHIND_x"], ["AHEAD_y", "BEHIND_y"], ["AHEAD_z", "BEHIND_z"], ["AHEAD_t", "BEHIND_t"]];

/// The vector components in this order, as OpenCL C writes them: `s1032`.
fn swizzle(lanes: &[usize]) -> String {
    std::iter::once('s')
        .chain(lanes.iter().map(|&lane| char::from_digit(lane as u32, 16).unwrap_or('0')))
        .collect()
}
