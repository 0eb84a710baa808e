//! The nearest-neighbour stencil of the Wilson operator on the devices of a lattice.

use super::stencil_kernels::{Region, SlabKernels, Tuning};
use crate::device::{Argument, Buffer, DeviceError, Event};
use crate::host::{self, NDIM, Reconstruction, WilsonForm};
use crate::lattice::{
    GaugeField, GaugeStorage, Halo, Packing, ParityField, ParityStorage, SpinorField, SpinorStorage,
};
use crate::scalar::{Precision, Real};
use lattice_solvers::Work;
use std::cell::RefCell;

/// One form of the Wilson operator, or of its hop from one parity to the other, with the kernels that apply it.
pub(super) struct Stencil<T: Real> {
    links: GaugeField<T>,
    form: WilsonForm,
    region: Region,
    /// One for each slab; none on the host.
    kernels: Vec<SlabKernels>,
    /// Present if there are several slabs. It is scratch memory, so that applying an operator needs no exclusive reference to it.
    halo: Option<RefCell<Halo<T>>>,
}

impl<T: Real> Stencil<T> {
    pub fn new(links: &GaugeField<T>, form: WilsonForm, region: Region) -> Result<Self, DeviceError> {
        Self::tuned(links, form, region, None)
    }

    pub fn tuned(
        links: &GaugeField<T>,
        form: WilsonForm,
        region: Region,
        tuning: Option<Tuning>,
    ) -> Result<Self, DeviceError> {
        let lattice = links.lattice();
        let sharded = lattice.slabs().len() > 1;
        let kernels = lattice.slabs().iter().map(|slab| SlabKernels::new(slab, links, form, region, tuning));
        Ok(Self {
            links: links.clone(),
            form,
            region,
            kernels: kernels.collect::<Result<_, _>>()?,
            halo: if sharded { Some(RefCell::new(Halo::new(lattice)?)) } else { None },
        })
    }

    pub fn links(&self) -> &GaugeField<T> {
        &self.links
    }

    /// The kernel variant of the first device; `None` on the host.
    pub fn tuning(&self) -> Option<Tuning> {
        self.kernels.first().map(|kernels| kernels.tuning)
    }

    pub fn form(&self) -> WilsonForm {
        self.form
    }

    /// out = γ5^g (shift·ψ + coefficient·H ψ). Gives the event of each slab's kernel to `launched`.
    ///
    /// # Panics
    /// When a field lives on another lattice than the links, or the stencil is not of the full lattice.
    pub fn apply(
        &self,
        psi: &SpinorField<T>,
        out: &mut SpinorField<T>,
        launched: impl FnMut(Event),
    ) -> Result<(), DeviceError> {
        assert_eq!(self.region, Region::Full, "a stencil of one parity takes fields of one parity");
        self.links.lattice().expect_same(psi.lattice());
        self.links.lattice().expect_same(out.lattice());
        match (self.links.storage(), &psi.storage, &mut out.storage) {
            (GaugeStorage::Host(links), SpinorStorage::Host(psi), SpinorStorage::Host(out)) => {
                host::wilson(links, self.form, psi, out);
                Ok(())
            }
            (GaugeStorage::Devices(links), SpinorStorage::Devices(psi), SpinorStorage::Devices(out)) => {
                self.apply_on_devices(links, psi, None, out, launched)
            }
            _ => unreachable!("fields of one lattice are in one place"),
        }
    }

    /// out = γ5^g (shift·shifted + coefficient·H ψ) on the sites of one parity.
    ///
    /// # Panics
    /// When a field lives on another lattice than the links or has the wrong parity, or when `shifted` is
    /// there and the stencil was made without, or the other way round.
    pub fn apply_to_parity(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
        launched: impl FnMut(Event),
    ) -> Result<(), DeviceError> {
        let Region::Parity { parity, shift } = self.region else {
            panic!("a stencil of the full lattice takes fields of both parities");
        };
        assert_eq!((psi.parity(), out.parity()), (1 - parity, parity), "parities of the fields");
        for field in [Some(psi), shifted, Some(&*out)].into_iter().flatten() {
            self.links.lattice().expect_same(field.lattice());
        }
        assert_eq!(shifted.map(ParityField::parity), shift.then_some(parity), "parity of the shifted field");
        match (self.links.storage(), &psi.storage, &mut out.storage) {
            (GaugeStorage::Host(links), ParityStorage::Host(psi), ParityStorage::Host(out)) => {
                let shifted = shifted.map(|field| match &field.storage {
                    ParityStorage::Host(shifted) => shifted.as_slice(),
                    ParityStorage::Devices(_) => {
                        unreachable!("fields of one lattice are in one place")
                    }
                });
                host::hop_even_odd(links, self.form, parity, psi, shifted, out);
                Ok(())
            }
            (GaugeStorage::Devices(links), ParityStorage::Devices(psi), ParityStorage::Devices(out)) => {
                let shifted = shifted.map(|field| match &field.storage {
                    ParityStorage::Devices(shifted) => shifted.as_slice(),
                    ParityStorage::Host(_) => {
                        unreachable!("fields of one lattice are in one place")
                    }
                });
                self.apply_on_devices(links, psi, shifted, out, launched)
            }
            _ => unreachable!("fields of one lattice are in one place"),
        }
    }

    fn apply_on_devices(
        &self,
        links: &[Buffer<T>],
        psi: &[Buffer<T>],
        shifted: Option<&[Buffer<T>]>,
        out: &mut [Buffer<T>],
        mut launched: impl FnMut(Event),
    ) -> Result<(), DeviceError> {
        if let Some(halo) = &self.halo {
            let packings =
                self.kernels.iter().zip(psi.iter().zip(links)).filter_map(|(kernels, (psi, links))| {
                    let (kernel, range) = kernels.pack.as_ref()?;
                    let trailing = [
                        Argument::value(kernels.t_origin),
                        Argument::value(T::from_f64(kernels.t_sign)),
                        Argument::value(self.region.source_parity()),
                    ];
                    Some(Packing { kernel, range: *range, psi, links, trailing })
                });
            halo.borrow_mut().exchange(packings)?;
        }
        let halo = self.halo.as_ref().map(RefCell::borrow);
        for (k, kernels) in self.kernels.iter().enumerate() {
            let mut arguments = ArgumentList::new();
            arguments.push(Argument::from(&psi[k]));
            arguments.push(Argument::from(&mut out[k]));
            arguments.push(Argument::from(&links[k]));
            arguments.push(Argument::value(T::from_f64(self.form.coefficient)));
            arguments.push(Argument::value(kernels.t_origin));
            let shift = Argument::value(T::from_f64(self.form.shift));
            match (self.region, shifted) {
                (Region::Full, _) => arguments.push(shift),
                (Region::Parity { parity, .. }, None) => arguments.push(Argument::value(parity as u32)),
                (Region::Parity { parity, .. }, Some(shifted)) => {
                    arguments.push(Argument::value(parity as u32));
                    arguments.push(shift);
                    arguments.push(Argument::from(&shifted[k]));
                }
            }
            if let Some(halo) = &halo {
                let (from_ahead, from_behind) = halo.received(k);
                arguments.push(from_ahead.into());
                arguments.push(from_behind.into());
                arguments.push(Argument::value(T::from_f64(kernels.t_sign)));
            }
            launched(kernels.wilson.launch(kernels.wilson_range, arguments.as_slice())?);
        }
        Ok(())
    }

    /// What one application costs.
    pub fn work(&self) -> Work {
        let sites = self.links.lattice().dims().volume() as u64;
        work_per_site(self.region, T::PRECISION, self.links.reconstruction())
            .times(if self.region == Region::Full { sites } else { sites / 2 })
    }
}

/// Operations and least memory traffic for each site that is written: 1320 flops for H and 48 for the shift, as is usual; every
/// link that is used and every spinor passes through memory once. The full operator uses 4 links for each
/// site, each twice; the hop to one parity uses 8, each once.
pub fn work_per_site(region: Region, precision: Precision, reconstruction: Reconstruction) -> Work {
    let (links, spinors, shifted) = match region {
        Region::Full => (NDIM, 2, true),
        Region::Parity { shift: false, .. } => (2 * NDIM, 2, false),
        Region::Parity { shift: true, .. } => (2 * NDIM, 3, true),
    };
    let reals = links * reconstruction.reals() + 24 * spinors;
    Work { flops: if shifted { 1320 + 48 } else { 1320 }, bytes: (reals * precision.bytes()) as u64 }
}

/// The arguments of a launch, without an allocation.
struct ArgumentList<'a> {
    arguments: [Argument<'a>; 11],
    count: usize,
}

impl<'a> ArgumentList<'a> {
    fn new() -> Self {
        Self { arguments: [Argument::value(0u32); 11], count: 0 }
    }

    fn push(&mut self, argument: Argument<'a>) {
        self.arguments[self.count] = argument;
        self.count += 1;
    }

    fn as_slice(&self) -> &[Argument<'a>] {
        &self.arguments[..self.count]
    }
}
