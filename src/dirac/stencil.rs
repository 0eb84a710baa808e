//! The nearest-neighbour stencil of the Wilson operator on the devices of a lattice.

use super::stencil_kernels::{Region, SlabKernels, Task, Tuning};
use crate::device::{Argument, ArgumentList, Buffer, DeviceError, Event, Number};
use crate::host::{self, LinkField, NDIM, Reconstruction};
use crate::lattice::{GaugeField, GaugeStorage, Halo, Packing, Sites, Spinors, sum_of_slabs};
use crate::scalar::{Real, Storage, StoragePrecision};
use lattice_solvers::Work;
use num_complex::Complex64;
use std::cell::RefCell;

/// One form of the Wilson operator, or of its hop from one parity to the other, with the kernels that apply it.
pub(super) struct Stencil<T: Storage> {
    links: GaugeField<T>,
    task: Task,
    /// One for each slab; none on the host.
    kernels: Vec<SlabKernels>,
    /// Present if there are several slabs. It is scratch memory, so that applying an operator needs no exclusive reference to it.
    halo: Option<RefCell<Halo<T>>>,
}

/// The fields of one application.
pub(super) struct Fields<'a, T: Storage> {
    pub psi: &'a Spinors<T>,
    /// What the shift is a multiple of, on the sites of one parity; there if the task says so. Of the full lattice it is ψ.
    pub shifted: Option<&'a Spinors<T>>,
    pub out: &'a mut Spinors<T>,
    /// What `out` is multiplied with; there if the task has a product.
    pub against: Option<&'a Spinors<T>>,
}

impl<T: Storage> Stencil<T> {
    /// With `tuning` instead of what is best known, if it is given.
    pub fn new(links: &GaugeField<T>, task: Task, tuning: Option<Tuning>) -> Result<Self, DeviceError> {
        let lattice = links.lattice();
        let sharded = lattice.slabs().len() > 1;
        let kernels = lattice.slabs().iter().map(|slab| SlabKernels::new(slab, links, task, tuning));
        Ok(Self {
            links: links.clone(),
            task,
            kernels: kernels.collect::<Result<_, _>>()?,
            halo: if sharded { Some(RefCell::new(Halo::new(lattice, task.sources)?)) } else { None },
        })
    }

    pub fn links(&self) -> &GaugeField<T> {
        &self.links
    }

    pub fn task(&self) -> Task {
        self.task
    }

    /// The kernel variant of the first device; `None` on the host.
    pub fn tuning(&self) -> Option<Tuning> {
        self.kernels.first().map(|kernels| kernels.tuning)
    }

    /// out = γ5^g (shift·ψ + coefficient·H ψ), with the shifted field instead of ψ on the sites of one parity. Gives the event of each
    /// slab's kernel to `launched`; if the task has a product, the result is (against, out) and (out, out).
    ///
    /// # Panics
    /// When a field lives on another lattice than the links or on other sites than the task says, there are not as many of them,
    /// or a field is missing or too many.
    pub fn apply(
        &self,
        fields: Fields<'_, T>,
        launched: impl FnMut(Event),
    ) -> Result<Option<[Number; 2]>, DeviceError> {
        self.check(&fields);
        match self.links.storage() {
            GaugeStorage::Host(links) => Ok(self.apply_on_host(links, fields)),
            GaugeStorage::Devices(links) => self.apply_on_devices(links, fields, launched),
        }
    }

    fn check(&self, fields: &Fields<'_, T>) {
        let (source, target) = self.task.region.sites();
        let check = |field: &Spinors<T>, sites: Sites| {
            self.links.lattice().expect_same(field.lattice());
            assert_eq!(field.sites(), sites, "sites of a field");
            assert_eq!(field.sources(), self.task.sources, "number of fields");
        };
        check(fields.psi, source);
        check(fields.out, target);
        for field in [fields.shifted, fields.against].into_iter().flatten() {
            check(field, target);
        }
        let shift = matches!(self.task.region, Region::Parity { shift: true, .. });
        assert_eq!(fields.shifted.is_some(), shift, "whether there is a shifted field");
        assert_eq!(fields.against.is_some(), self.task.product, "whether there is a field to multiply with");
    }

    fn apply_on_host(&self, links: &LinkField<T::Real>, fields: Fields<'_, T>) -> Option<[Number; 2]> {
        let psi = fields.psi.on_host();
        let shifted = fields.shifted.map(Spinors::on_host);
        let out = fields.out.on_host_mut();
        let size = out.len() / self.task.sources;
        for (source, out) in out.chunks_mut(size).enumerate() {
            let own = source * size..(source + 1) * size;
            match self.task.region {
                Region::Full => host::wilson(links, self.task.form, &psi[own], out),
                Region::Parity { parity, .. } => {
                    let shifted = shifted.map(|field| &field[own.clone()]);
                    host::hop_even_odd(links, self.task.form, parity, &psi[own], shifted, out);
                }
            }
        }
        let against = fields.against?.on_host();
        let norm2 = Complex64::from(host::spinor_fields::norm2(out));
        Some([host::spinor_fields::dot(against, out).into(), norm2.into()])
    }

    fn apply_on_devices(
        &self,
        links: &[Buffer<T::Stored>],
        fields: Fields<'_, T>,
        mut launched: impl FnMut(Event),
    ) -> Result<Option<[Number; 2]>, DeviceError> {
        let psi = fields.psi.on_devices();
        let (shifted, against) =
            (fields.shifted.map(Spinors::on_devices), fields.against.map(Spinors::on_devices));
        let out = fields.out.on_devices_mut();
        let real = |value: f64| Argument::value(T::Real::from_f64(value));
        if let Some(halo) = &self.halo {
            let packings =
                self.kernels.iter().zip(psi.iter().zip(links)).filter_map(|(kernels, (psi, links))| {
                    let (kernel, range) = kernels.pack.as_ref()?;
                    let first_parity = Argument::value(self.task.region.source_parity());
                    let trailing = [Argument::value(kernels.t_origin), real(kernels.t_sign), first_parity];
                    Some(Packing { kernel, range: *range, psi, links, trailing })
                });
            halo.borrow_mut().exchange(packings)?;
        }
        let halo = self.halo.as_ref().map(RefCell::borrow);
        let mut running = Vec::new();
        for (k, kernels) in self.kernels.iter().enumerate() {
            let mut arguments = ArgumentList::new([
                Argument::from(&psi[k]),
                Argument::from(&mut out[k]),
                Argument::from(&links[k]),
                real(self.task.form.coefficient),
                Argument::value(kernels.t_origin),
            ]);
            arguments.extend([match self.task.region {
                Region::Full => real(self.task.form.shift),
                Region::Parity { parity, .. } => Argument::value(parity as u32),
            }]);
            if let Some(shifted) = shifted {
                arguments.extend([real(self.task.form.shift), Argument::from(&shifted[k])]);
            }
            if let Some(halo) = &halo {
                let (from_ahead, from_behind) = halo.received(k);
                arguments.extend([from_ahead.into(), from_behind.into(), real(kernels.t_sign)]);
            }
            let range = kernels.wilson_range;
            let mut reduction = match against {
                Some(_) => Some(kernels.device.reduction(range.group_count())?),
                None => None,
            };
            if let (Some(against), Some(reduction)) = (against, &mut reduction) {
                arguments.extend([Argument::from(&against[k])]);
                arguments.extend(reduction.arguments());
            }
            launched(kernels.wilson.launch(range, arguments.as_slice())?);
            running.extend(reduction);
        }
        if against.is_none() { Ok(None) } else { sum_of_slabs(running).map(Some) }
    }

    /// What one application costs.
    pub fn work(&self) -> Work {
        self.work_of(self.task)
    }

    /// What one application of another task on the same sites costs.
    pub fn work_of(&self, task: Task) -> Work {
        let sites = self.links.lattice().dims().volume() as u64;
        let sites = if task.region == Region::Full { sites } else { sites / 2 };
        work_per_site(task, T::STORAGE, self.links.reconstruction()).times(sites)
    }
}

/// Operations and least memory traffic for each site that is written, of all sources: 1320 flops for H, 48 for the shift, as is usual, and 192 for
/// a product; every link that is used and every spinor passes through memory once. The full operator uses 4 links for each
/// site, each twice; the hop to one parity uses 8, each once.
pub fn work_per_site(task: Task, precision: StoragePrecision, reconstruction: Reconstruction) -> Work {
    let (links, spinors, shifted) = match task.region {
        Region::Full => (NDIM, 2, true),
        Region::Parity { shift: false, .. } => (2 * NDIM, 2, false),
        Region::Parity { shift: true, .. } => (2 * NDIM, 3, true),
    };
    let spinors = spinors + usize::from(task.product);
    // In half precision a spinor has a unit.
    let unit = if precision == StoragePrecision::Half { size_of::<f32>() } else { 0 };
    let links = links * reconstruction.reals() * precision.bytes();
    let spinors = task.sources * spinors * (24 * precision.bytes() + unit);
    let flops = 1320 + if shifted { 48 } else { 0 } + if task.product { 192 } else { 0 };
    Work { flops: task.sources as u64 * flops, bytes: (links + spinors) as u64 }
}
