//! The nearest-neighbour stencil of the Wilson operator on the devices of a lattice.

use super::stencil_kernels::{Region, SlabKernels, Task, Tuning};
use crate::device::{Argument, Buffer, DeviceError, Event, Reduction};
use crate::host::{self, LinkField, NDIM, Reconstruction, Spinor};
use crate::lattice::{GaugeField, GaugeStorage, Halo, Packing, Sites, SpinorStorage, Spinors};
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

/// Sums over all sites that are made while the result is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Products {
    /// (against, out)
    pub product: Complex64,
    /// (out, out)
    pub norm2: f64,
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
    /// slab's kernel to `launched`.
    ///
    /// # Panics
    /// When a field lives on another lattice than the links or on other sites than the task says, there are not as many of them,
    /// or a field is missing or too many.
    pub fn apply(
        &self,
        fields: Fields<'_, T>,
        launched: impl FnMut(Event),
    ) -> Result<Option<Products>, DeviceError> {
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

    fn apply_on_host(&self, links: &LinkField<T::Real>, fields: Fields<'_, T>) -> Option<Products> {
        let psi = on_host(fields.psi);
        let shifted = fields.shifted.map(on_host);
        let SpinorStorage::Host(out) = &mut fields.out.storage else { unreachable!("{ONE_PLACE}") };
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
        fields.against.map(on_host).map(|against| Products {
            product: host::spinor_fields::dot(against, out),
            norm2: host::spinor_fields::norm2(out),
        })
    }

    fn apply_on_devices(
        &self,
        links: &[Buffer<T::Stored>],
        fields: Fields<'_, T>,
        mut launched: impl FnMut(Event),
    ) -> Result<Option<Products>, DeviceError> {
        let psi = on_devices(fields.psi);
        let (shifted, against) = (fields.shifted.map(on_devices), fields.against.map(on_devices));
        let SpinorStorage::Devices(out) = &mut fields.out.storage else { unreachable!("{ONE_PLACE}") };
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
            let mut arguments = ArgumentList::new();
            arguments.push(Argument::from(&psi[k]));
            arguments.push(Argument::from(&mut out[k]));
            arguments.push(Argument::from(&links[k]));
            arguments.push(real(self.task.form.coefficient));
            arguments.push(Argument::value(kernels.t_origin));
            match self.task.region {
                Region::Full => arguments.push(real(self.task.form.shift)),
                Region::Parity { parity, .. } => arguments.push(Argument::value(parity as u32)),
            }
            if let Some(shifted) = shifted {
                arguments.push(real(self.task.form.shift));
                arguments.push(Argument::from(&shifted[k]));
            }
            if let Some(halo) = &halo {
                let (from_ahead, from_behind) = halo.received(k);
                arguments.push(from_ahead.into());
                arguments.push(from_behind.into());
                arguments.push(real(kernels.t_sign));
            }
            let mut reduction = match against {
                Some(_) => Some(kernels.device.reduction(kernels.wilson_range.group_count())?),
                None => None,
            };
            if let (Some(against), Some(reduction)) = (against, &mut reduction) {
                arguments.push(Argument::from(&against[k]));
                reduction.arguments().into_iter().for_each(|argument| arguments.push(argument));
            }
            launched(kernels.wilson.launch(kernels.wilson_range, arguments.as_slice())?);
            if reduction.is_some() {
                kernels.device.flush()?;
            }
            running.extend(reduction);
        }
        if against.is_none() {
            return Ok(None);
        }
        let mut sums = Products { product: Complex64::default(), norm2: 0.0 };
        for [re, im, norm2] in running.into_iter().map(Reduction::read).collect::<Result<Vec<_>, _>>()? {
            sums.product += Complex64::new(re, im);
            sums.norm2 += norm2;
        }
        Ok(Some(sums))
    }

    /// What one application costs.
    pub fn work(&self) -> Work {
        let sites = self.links.lattice().dims().volume() as u64;
        let sites = if self.task.region == Region::Full { sites } else { sites / 2 };
        work_per_site(self.task, T::STORAGE, self.links.reconstruction()).times(sites)
    }
}

const ONE_PLACE: &str = "fields of one lattice are in one place";

fn on_host<T: Storage>(field: &Spinors<T>) -> &[Spinor<T::Real>] {
    match &field.storage {
        SpinorStorage::Host(spinors) => spinors,
        SpinorStorage::Devices(_) => unreachable!("{ONE_PLACE}"),
    }
}

fn on_devices<T: Storage>(field: &Spinors<T>) -> &[Buffer<T::Stored>] {
    match &field.storage {
        SpinorStorage::Devices(buffers) => buffers,
        SpinorStorage::Host(_) => unreachable!("{ONE_PLACE}"),
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

/// The arguments of a launch, without an allocation.
struct ArgumentList<'a> {
    arguments: [Argument<'a>; 15],
    count: usize,
}

impl<'a> ArgumentList<'a> {
    fn new() -> Self {
        Self { arguments: [Argument::value(0u32); 15], count: 0 }
    }

    fn push(&mut self, argument: Argument<'a>) {
        self.arguments[self.count] = argument;
        self.count += 1;
    }

    fn as_slice(&self) -> &[Argument<'a>] {
        &self.arguments[..self.count]
    }
}
