//! The nearest-neighbour stencil of the Wilson operator on the devices of a lattice.

use super::kernels::SlabKernels;
use super::task::{Ending, Region, Task};
use super::variants::Tuning;
use crate::device::{Argument, ArgumentList, Buffer, DeviceError, Event, Number, NumberMemory};
use crate::field::{
    GaugeField, GaugeStorage, Halo, Packing, PendingGram, Sites, Spinors, matrix, sum_of_slabs,
};
use crate::geometry::{NDIM, Slab};
use crate::host::{self, LinkField, Reconstruction, Spinor};
use crate::scalar::{Real, Storage, StoragePrecision};
use crate::sync::lock;
use lattice_solvers::{SquareMatrix, Work};
use num_complex::Complex64;
use std::cell::RefCell;

/// One form of the Wilson operator, or of its hop from one parity to the other, with the kernels that apply it.
pub(crate) struct Stencil<T: Storage> {
    links: GaugeField<T>,
    task: Task,
    /// One for each slab; none on the host.
    kernels: Vec<SlabKernels>,
    /// Present if there are several slabs. It is scratch memory, so that applying an operator needs no exclusive reference to it.
    halo: Option<RefCell<Halo<T>>>,
    /// What is subtracted, on the host.
    scratch: RefCell<Vec<Spinor<T::Real>>>,
}

/// The fields of one application.
pub(crate) struct Fields<'a, T: Storage> {
    pub psi: &'a Spinors<T>,
    /// What the shift is a multiple of, on the sites of one parity; there if the task says so. Of the full lattice it is ψ.
    pub shifted: Option<&'a Spinors<T>>,
    pub out: &'a mut Spinors<T>,
    /// What `out` is multiplied with, for [`Ending::Products`].
    pub against: Option<&'a Spinors<T>>,
    /// How many times the result is subtracted, for [`Ending::Subtract`].
    pub multiple: Option<&'a Number>,
    /// By which matrix the result is multiplied before it is subtracted, for [`Ending::SubtractBlock`].
    pub matrix: Option<&'a SquareMatrix>,
}

/// What a stencil sums up.
pub(crate) enum Sums<'a> {
    /// Nothing.
    None,
    /// (against, out), if there is such a field, and (out, out).
    Numbers([Number; 2]),
    /// The Gram matrix of `out`.
    Gram(PendingGram<'a>),
}

impl<'a> Sums<'a> {
    /// # Panics
    /// When there are no numbers.
    pub fn numbers(self) -> [Number; 2] {
        match self {
            Sums::Numbers(numbers) => numbers,
            _ => panic!("this ending sums up no numbers"),
        }
    }

    /// # Panics
    /// When there is no Gram matrix.
    pub fn gram(self) -> PendingGram<'a> {
        match self {
            Sums::Gram(gram) => gram,
            _ => panic!("this ending makes no Gram matrix"),
        }
    }
}

impl<T: Storage> Stencil<T> {
    /// In the variant that `tuning` gives for each slab.
    pub(super) fn in_variants(
        links: &GaugeField<T>,
        task: Task,
        tuning: impl Fn(&Slab) -> Result<Tuning, DeviceError>,
    ) -> Result<Self, DeviceError> {
        let lattice = links.lattice();
        let sharded = lattice.slabs().len() > 1;
        let kernels = lattice.slabs().iter().map(|slab| SlabKernels::new(slab, links, task, tuning(slab)?));
        Ok(Self {
            links: links.clone(),
            task,
            kernels: kernels.collect::<Result<_, _>>()?,
            halo: if sharded { Some(RefCell::new(Halo::new(lattice, task.sources)?)) } else { None },
            scratch: RefCell::default(),
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
    /// slab's kernel to `observer`, if there is one. What is stored, and what is summed up, is as the task's [`Ending`] says.
    ///
    /// # Panics
    /// When a field lives on another lattice than the links or on other sites than the task says, there are not as many of them,
    /// or a field is missing or too many.
    pub fn apply(
        &self,
        fields: Fields<'_, T>,
        observer: Option<&mut dyn FnMut(Event)>,
    ) -> Result<Sums<'_>, DeviceError> {
        self.check(&fields);
        match self.links.storage() {
            GaugeStorage::Host(links) => self.apply_on_host(links, fields),
            GaugeStorage::Devices(links) => self.apply_on_devices(links, fields, observer),
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
        let ending = self.task.ending;
        assert_eq!(
            fields.against.is_some(),
            ending == Ending::Products,
            "whether there is a field to multiply with"
        );
        assert_eq!(fields.multiple.is_some(), ending == Ending::Subtract, "whether there is a multiple");
        let size = fields.matrix.map(SquareMatrix::size);
        let wanted = (ending == Ending::SubtractBlock).then_some(self.task.sources);
        assert_eq!(size, wanted, "size of the matrix, if there is one");
    }

    fn apply_on_host(
        &self,
        links: &LinkField<T::Real>,
        fields: Fields<'_, T>,
    ) -> Result<Sums<'_>, DeviceError> {
        let psi = fields.psi.on_host();
        let shifted = fields.shifted.map(Spinors::on_host);
        let out = fields.out.on_host_mut();
        let mut scratch = self.scratch.borrow_mut();
        let result = if matches!(self.task.ending, Ending::Subtract | Ending::SubtractBlock) {
            scratch.resize(out.len(), Spinor::default());
            &mut scratch[..]
        } else {
            &mut *out
        };
        let size = result.len() / self.task.sources;
        for (source, result) in result.chunks_mut(size).enumerate() {
            let own = source * size..(source + 1) * size;
            match self.task.region {
                Region::Full => host::wilson(links, self.task.form, &psi[own], result),
                Region::Parity { parity, .. } => {
                    let shifted = shifted.map(|field| &field[own.clone()]);
                    host::hop_even_odd(links, self.task.form, parity, &psi[own], shifted, result);
                }
            }
        }
        if let Some(multiple) = fields.multiple {
            host::spinor_fields::axpy(-multiple.value()?, &scratch, out);
        }
        let sources = self.task.sources;
        let gram = match self.task.ending {
            Ending::Store => return Ok(Sums::None),
            Ending::Gram => Some(host::block_fields::gram(sources, out)),
            _ => fields.matrix.map(|d| host::block_fields::subtract(sources, &scratch, d.elements(), out)),
        };
        if let Some(gram) = gram {
            return Ok(Sums::Gram(PendingGram::Known(matrix(sources, &gram))));
        }
        let product = fields.against.map(|against| host::spinor_fields::dot(against.on_host(), out));
        let norm2 = Complex64::from(host::spinor_fields::norm2(out));
        Ok(Sums::Numbers([product.unwrap_or_default().into(), norm2.into()]))
    }

    fn apply_on_devices(
        &self,
        links: &[Buffer<T::Stored>],
        fields: Fields<'_, T>,
        mut observer: Option<&mut dyn FnMut(Event)>,
    ) -> Result<Sums<'_>, DeviceError> {
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
                    let [extents, blocks] = kernels.traversal.shape();
                    let t_origin = Argument::value(kernels.t_origin);
                    let trailing = [extents, blocks, t_origin, real(kernels.t_sign), first_parity];
                    Some(Packing { kernel, range: *range, psi, links, trailing })
                });
            let parity =
                (self.task.region != Region::Full).then(|| self.task.region.source_parity() as usize);
            halo.borrow_mut().exchange(parity, packings)?;
        }
        let halo = self.halo.as_ref().map(RefCell::borrow);
        let (mut running, mut grams) = (Vec::new(), Vec::new());
        for (k, kernels) in self.kernels.iter().enumerate() {
            let mut arguments = ArgumentList::new([
                Argument::from(&psi[k]),
                Argument::from(&mut out[k]),
                Argument::from(&links[k]),
            ]);
            arguments.extend(kernels.traversal.shape());
            arguments.extend(kernels.traversal.order());
            arguments.extend([real(self.task.form.coefficient), Argument::value(kernels.t_origin)]);
            arguments.extend(kernels.groups.argument());
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
            arguments.extend(against.map(|against| Argument::from(&against[k])));
            if let Some(multiple) = fields.multiple {
                arguments.extend(kernels.numbers.as_ref().map(NumberMemory::argument));
                arguments.extend(multiple.arguments()?);
            }
            let mut launch = |arguments: &[Argument<'_>]| match &mut observer {
                Some(observer) => kernels.wilson.launch(range, arguments).map(observer),
                None => kernels.wilson.start(range, arguments),
            };
            if let Some(gram) = &kernels.gram {
                let mut there = kernels.matrix.as_ref().map(lock);
                if let (Some(there), Some(matrix)) = (&mut there, fields.matrix) {
                    arguments.extend([there.send([matrix])?]);
                }
                gram.start(|partials| launch(arguments.and([partials]).as_slice()))?;
                grams.push(gram);
            } else if self.task.ending.makes_numbers() {
                let mut reduction = kernels.device.reduction(range.group_count())?;
                launch(arguments.and(reduction.arguments()).as_slice())?;
                running.push(reduction);
            } else {
                launch(arguments.as_slice())?;
            }
        }
        if !grams.is_empty() {
            return Ok(Sums::Gram(PendingGram::OfSlabs(self.task.sources, grams)));
        }
        if running.is_empty() {
            return Ok(Sums::None);
        }
        let [first, third] = sum_of_slabs(running)?;
        // A norm alone is the first sum.
        let sums =
            if against.is_some() { [first, third] } else { [Number::from(Complex64::default()), first] };
        Ok(Sums::Numbers(sums))
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

/// Operations and least memory traffic for each site that is written, of all sources: 1320 flops for H, 48 for the shift, as is usual, 48 for
/// a norm, and with it 96 for a product or a subtraction; for each source of a block 96 for a product with a matrix, and 48 for a Gram matrix, of which half is
/// made. Every link that is used and every spinor passes through memory once. The full operator uses 4 links for each
/// site, each twice; the hop to one parity uses 8, each once.
pub fn work_per_site(task: Task, precision: StoragePrecision, reconstruction: Reconstruction) -> Work {
    let (links, spinors, shifted) = match task.region {
        Region::Full => (NDIM, 2, true),
        Region::Parity { shift: false, .. } => (2 * NDIM, 2, false),
        Region::Parity { shift: true, .. } => (2 * NDIM, 3, true),
    };
    let (more_spinors, more_flops) = match task.ending {
        Ending::Store => (0, 0),
        Ending::Norm2 => (0, 48),
        Ending::Products => (1, 144),
        Ending::Subtract => (1, 144),
        Ending::Gram => (0, 48 * (task.sources as u64 + 1)),
        Ending::SubtractBlock => (1, 48 * (3 * task.sources as u64 + 1)),
    };
    let spinors = spinors + more_spinors;
    // In half precision a spinor has a unit.
    let unit = if precision == StoragePrecision::Half { size_of::<f32>() } else { 0 };
    let links = links * reconstruction.reals() * precision.bytes();
    let spinors = task.sources * spinors * (24 * precision.bytes() + unit);
    let flops = 1320 + if shifted { 48 } else { 0 } + more_flops;
    Work { flops: task.sources as u64 * flops, bytes: (links + spinors) as u64 }
}
