//! The nearest-neighbour stencil of Dirac operators on the devices of a lattice.

use super::kernels::{Pack, ShardKernels};
use super::parts::{
    AnisotropyPart, BoundaryPart, EndingFields, HaloPart, KernelPart, LaunchGroups, SiteBuffers, Sums,
    end_on_host, parts, work_of,
};
use super::task::{Region, Task};
use super::variants::Tuning;
use crate::compute::{
    Argument, ArgumentList, Buffer, DeviceError, Event, Meeting, Number, Peers, Reduction, Undertaking,
};
use crate::field::{
    BlockField, Carrier, Communicator, GaugeField, GaugeStorage, GramSums, Halo, Packing, PendingGram,
    SharedHalo, Sites, Spinors,
};
use crate::geometry::{LatticeError, NDIM, Shard};
use crate::host::{self, LinkField, Reconstruction, SiteMatrix, Spinor};
use crate::scalar::{Real, Storage, StoragePrecision};
use crate::sync::lock;
use lattice_solvers::Work;
use num_complex::Complex64;
use std::cell::RefCell;
use std::sync::Arc;

/// A Dirac operator, or its hop from one parity to the other, with its kernels.
pub(crate) struct Stencil<T: Storage> {
    links: GaugeField<T>,
    task: Task,
    /// The blocks of the shift and of the hop, if the factors have matrices.
    blocks: [Option<Arc<BlockField<T>>>; 2],
    /// Kernels of each device; none on the host.
    kernels: Vec<ShardKernels>,
    /// The communicator of faces and sums.
    communicator: Carrier,
    /// The halo, if there are several domains.
    halo: Option<SharedHalo<T>>,
    /// The field to subtract, on the host.
    scratch: RefCell<Vec<Spinor<T::Real>>>,
}

/// The fields of one application.
pub(crate) struct Fields<'a, T: Storage> {
    pub psi: &'a Spinors<T>,
    /// The field that the shift multiplies, on one parity.
    ///
    /// `None` without shift, and on the full lattice, where the shift multiplies ψ.
    pub shifted: Option<&'a Spinors<T>>,
    pub out: &'a mut Spinors<T>,
    pub ending: EndingFields<'a, Spinors<T>>,
}

/// The fields' parts on each device, and the links.
struct Buffers<'a, T: Storage> {
    psi: &'a [Buffer<T::Stored>],
    shifted: Option<&'a [Buffer<T::Stored>]>,
    out: &'a mut [Buffer<T::Stored>],
    links: &'a [Buffer<T::Stored>],
    ending: EndingFields<'a, [Buffer<T::Stored>]>,
}

impl<T: Storage> Stencil<T> {
    /// Makes the stencil in the variant that `tuning` gives for each device.
    pub(super) fn in_variants(
        links: &GaugeField<T>,
        task: Task,
        tuning: impl Fn(&Shard) -> Result<Tuning, DeviceError>,
    ) -> Result<Self, DeviceError> {
        let lattice = links.lattice();
        let sharded = lattice.grid().count() > 1;
        let blocks =
            [prepared(links, task.factors.shift.matrix)?, prepared(links, task.factors.coefficient.matrix)?];
        let kernels =
            lattice.shards().iter().map(|shard| ShardKernels::new(shard, links, task, tuning(shard)?));
        let communicator = Carrier::new(lattice)?;
        let halo = sharded.then(|| Halo::shared(lattice, task.columns, &communicator));
        Ok(Self {
            links: links.clone(),
            task,
            blocks,
            kernels: kernels.collect::<Result<_, _>>()?,
            halo: halo.transpose()?,
            communicator,
            scratch: RefCell::default(),
        })
    }

    pub fn links(&self) -> &GaugeField<T> {
        &self.links
    }

    pub fn task(&self) -> Task {
        self.task
    }

    /// Returns the kernel variant of the first device; `None` on the host.
    pub fn tuning(&self) -> Option<Tuning> {
        self.kernels.first().map(|kernels| kernels.tuning)
    }

    /// Computes out = γ5^g (shift·ψ + coefficient·H ψ).
    ///
    /// On one parity the shift multiplies the shifted field instead of ψ. `observer` receives the
    /// event of each device's kernel. The task's ending decides about storing and sums.
    ///
    /// # Panics
    /// * A field is missing or not wanted.
    /// * A field lives on another lattice than the links, or on other sites than the task's.
    /// * A field has another number of columns.
    pub fn apply(
        &self,
        fields: Fields<'_, T>,
        observer: Option<&mut dyn FnMut(Event)>,
    ) -> Result<Sums<'_>, DeviceError> {
        self.check(&fields);
        match self.links.storage() {
            GaugeStorage::Host(links) => self.apply_on_host(links, fields),
            GaugeStorage::Devices(links) => self.apply_on_devices(links.buffers(), fields, observer),
        }
    }

    fn check(&self, fields: &Fields<'_, T>) {
        let (source, target) = self.task.region.sites();
        let check = |field: &Spinors<T>, sites: Sites| {
            self.links.lattice().expect_same(field.lattice());
            assert_eq!(field.sites(), sites, "sites of a field");
            assert_eq!(field.columns(), self.task.columns, "number of fields");
        };
        check(fields.psi, source);
        check(fields.out, target);
        for field in [fields.shifted, fields.ending.against].into_iter().flatten() {
            check(field, target);
        }
        let shift = matches!(self.task.region, Region::Parity { shift: true, .. });
        assert_eq!(fields.shifted.is_some(), shift, "whether there is a shifted field");
        fields.ending.check(self.task.ending, self.task.columns);
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
        let result = if self.task.ending.subtracts() {
            scratch.resize(out.len(), Spinor::default());
            &mut scratch[..]
        } else {
            &mut *out
        };
        let adjoint = [self.task.factors.shift, self.task.factors.coefficient]
            .map(|factor| factor.matrix.block_use().is_some_and(|usage| usage.adjoint));
        let held = &self.blocks;
        let blocks =
            |site: usize| std::array::from_fn(|k| held[k].as_ref().map(|blocks| blocks.at(site, adjoint[k])));
        let size = result.len() / self.task.columns;
        for (source, result) in result.chunks_mut(size).enumerate() {
            let own = source * size..(source + 1) * size;
            match self.task.region {
                Region::Full => host::stencil_with(links, self.task.factors, &blocks, &psi[own], result),
                Region::Parity { parity, .. } => {
                    let shifted = shifted.map(|field| &field[own.clone()]);
                    let factors = self.task.factors;
                    host::hop_even_odd_with(links, factors, &blocks, parity, &psi[own], shifted, result);
                }
            }
        }
        let ending = fields.ending.map(Spinors::on_host);
        end_on_host(self.task.ending, &ending, self.task.columns, &scratch, out)
    }

    fn apply_on_devices(
        &self,
        links: &[Buffer<T::Stored>],
        fields: Fields<'_, T>,
        mut observer: Option<&mut dyn FnMut(Event)>,
    ) -> Result<Sums<'_>, DeviceError> {
        let mut buffers = Buffers {
            psi: fields.psi.on_devices(),
            shifted: fields.shifted.map(Spinors::on_devices),
            out: fields.out.on_devices_mut(),
            links,
            ending: fields.ending.map(Spinors::on_devices),
        };
        // Made before any launch, because stencils that pack wait for each other.
        let reductions = self.kernels.iter().map(|kernels| kernels.ending.reduction(kernels.groups.count));
        let mut reductions: Vec<Option<Reduction>> = reductions.collect::<Result<_, _>>()?;
        let mut halo = self.halo.as_ref().map(|halo| lock(halo));
        let mut meeting = self.meets().then(|| self.communicator.meeting()).flatten();
        let peers = halo.as_ref().and_then(|halo| halo.waiting_peers());
        let mut order = peers.as_ref().map(|peers| peers.in_order());
        let mut undertaking = None;
        let undertake = || peers.as_ref().map(Peers::undertaking).transpose();
        let packs = order.is_some() && self.kernels.iter().all(ShardKernels::packs);
        let under_way = match &mut halo {
            Some(halo) if packs => {
                // An error comes before the exchange: an epoch that nobody sends would break the turns.
                meeting.as_mut().map(Meeting::begin).transpose()?;
                undertaking = undertake()?;
                halo.begin();
                false
            }
            Some(halo) => {
                undertaking = undertake()?;
                self.start_exchange(halo, buffers.psi, links)?
            }
            None => false,
        };
        if !packs {
            order = None;
        }
        // While faces are under way, the groups that need none run.
        let has_inside = |kernels: &ShardKernels| {
            let has_both = [LaunchGroups::Inside, LaunchGroups::AtFaces]
                .iter()
                .all(|&groups| kernels.group_count(groups) > 0);
            under_way && has_both && !kernels.ending.wants_one_launch()
        };
        for (k, reduction) in reductions.iter_mut().enumerate() {
            if has_inside(&self.kernels[k]) {
                let reduction = reduction.as_mut();
                let exchange = halo.as_deref_mut().map(|halo| (halo, packs, meeting.as_ref()));
                self.launch(k, LaunchGroups::Inside, exchange, &mut buffers, reduction, &mut None)?;
                self.links.lattice().shards()[k].device.flush_launches()?;
            }
        }
        if let (Some(halo), true) = (&mut halo, under_way) {
            halo.finish(&self.communicator)?;
        }
        let mut grams = Vec::new();
        for (k, reduction) in reductions.iter_mut().enumerate() {
            let groups = if has_inside(&self.kernels[k]) { LaunchGroups::AtFaces } else { LaunchGroups::All };
            let exchange = halo.as_deref_mut().map(|halo| (halo, packs, meeting.as_ref()));
            let reduction = reduction.as_mut();
            grams.extend(self.launch(k, groups, exchange, &mut buffers, reduction, &mut observer)?);
        }
        if packs {
            let mut shards = self.links.lattice().shards().iter();
            shards.try_for_each(|shard| shard.device.flush_launches())?;
        }
        undertaking.into_iter().for_each(Undertaking::is_done);
        drop(order);
        drop(halo);
        if !grams.is_empty() {
            return Ok(Sums::Gram(PendingGram::OfShards(&self.communicator, self.task.columns, grams)));
        }
        let running: Vec<Reduction> = reductions.into_iter().flatten().collect();
        if running.is_empty() {
            return Ok(Sums::None);
        }
        // Kernels that met have added the sums.
        let [first, third] = match meeting.and_then(Meeting::numbers) {
            Some(numbers) => numbers,
            None => self.communicator.numbers(running)?,
        };
        // A norm alone is the first sum.
        let sums = if buffers.ending.against.is_some() {
            [first, third]
        } else {
            [Number::from(Complex64::default()), first]
        };
        Ok(Sums::Numbers(sums))
    }

    /// Tells whether kernels may add their sums over all devices.
    fn meets(&self) -> bool {
        self.kernels.iter().any(ShardKernels::meets)
    }

    /// Packs and sends the faces of each domain.
    ///
    /// Returns `true` if the exchange must be finished before kernels need the faces.
    fn start_exchange(
        &self,
        halo: &mut Halo<T>,
        psi: &[Buffer<T::Stored>],
        links: &[Buffer<T::Stored>],
    ) -> Result<bool, DeviceError> {
        let first_parity = self.task.region.source_parity();
        let packings =
            self.kernels.iter().zip(psi.iter().zip(links)).filter_map(|(kernels, (psi, links))| {
                let Pack { kernel, range, phases, .. } = kernels.pack.as_ref()?;
                let [extents, blocks] = kernels.traversal.shape();
                let [origin, parity] = [kernels.origin, first_parity].map(Argument::value);
                let phases = phases.iter().map(|&phase| parts::<T>(phase)).collect();
                Some(Packing {
                    kernel,
                    range: *range,
                    psi,
                    links,
                    place: [extents, blocks, origin, parity],
                    phases,
                })
            });
        let parity = (self.task.region != Region::Full).then(|| self.task.region.source_parity() as usize);
        halo.start(&self.communicator, parity, packings)
    }

    /// Launches these groups on device `k`.
    ///
    /// `exchange` has the halo of several domains, whether the first groups pack the faces, and the sum over
    /// the devices. Sums of numbers go to `reduction`. A Gram matrix is returned.
    fn launch<'s>(
        &'s self,
        k: usize,
        groups: LaunchGroups,
        exchange: Option<(&mut Halo<T>, bool, Option<&Meeting<'_>>)>,
        buffers: &mut Buffers<'_, T>,
        reduction: Option<&mut Reduction>,
        observer: &mut Option<&mut dyn FnMut(Event)>,
    ) -> Result<Option<&'s GramSums>, DeviceError> {
        let kernels = &self.kernels[k];
        let real = |value: f64| Argument::value(T::Real::from_f64(value));
        let mut arguments = ArgumentList::new([
            Argument::from(&buffers.psi[k]),
            Argument::from(&mut buffers.out[k]),
            Argument::from(&buffers.links[k]),
        ]);
        arguments.extend(kernels.traversal.shape());
        arguments.extend(kernels.traversal.order());
        let coefficient = real(self.task.factors.coefficient.scalar * self.links.scale());
        arguments.extend([coefficient, Argument::value(kernels.origin)]);
        arguments.extend(kernels.groups.argument());
        if let Region::Parity { parity, .. } = self.task.region {
            arguments.extend([Argument::value(parity as u32)]);
        }
        let site = SiteBuffers {
            shifted: buffers.shifted.map(|shifted| &shifted[k]),
            blocks: self
                .blocks
                .each_ref()
                .map(|blocks| blocks.as_ref().map(|blocks| &blocks.on_devices()[k])),
        };
        arguments.extend(self.task.site_part().arguments::<T>(&self.task.factors, site));
        arguments.extend(AnisotropyPart::of(self.links.anisotropy()).arguments::<T>());
        arguments.extend(BoundaryPart::arguments::<T>(&kernels.phases));
        if let Some((halo, packs, meeting)) = exchange {
            let meeting = meeting.filter(|_| kernels.meets());
            arguments.extend(HaloPart::arguments::<T>(halo, k, kernels.packers(packs), meeting)?);
        }
        if let Some(parts) = &kernels.group_parts {
            arguments.extend(parts.arguments(groups));
        }
        let range = kernels.range(groups);
        let launch = |arguments: &[Argument<'_>]| match observer {
            Some(observer) => kernels.wilson.launch(range, arguments).map(observer),
            None => kernels.wilson.start(range, arguments),
        };
        let ending = buffers.ending.map(|fields| &fields[k]);
        kernels.ending.launch::<T>(&ending, arguments, reduction, launch)
    }

    /// Returns the cost of one application.
    pub fn work(&self) -> Work {
        self.work_of(self.task)
    }

    /// Returns the cost of one application of another task on the same sites.
    pub fn work_of(&self, task: Task) -> Work {
        let sites = self.links.lattice().dims().volume() as u64;
        let sites = if task.region == Region::Full { sites } else { sites / 2 };
        work_per_site(task, T::STORAGE, self.links.reconstruction()).times(sites)
    }
}

/// Returns the blocks of a matrix that is known to exist.
///
/// [`GaugeField::blocks`] makes an inverse before it is used here.
pub(super) fn prepared<T: Storage>(
    links: &GaugeField<T>,
    matrix: SiteMatrix,
) -> Result<Option<Arc<BlockField<T>>>, DeviceError> {
    links.blocks(matrix).map_err(|error| match error {
        LatticeError::Device(error) => error,
        error => panic!("a stencil with a matrix that does not exist: {error}"),
    })
}

/// Returns operations and least memory traffic for each written site.
///
/// The work is that of all right-hand sides: 1320 flops for H, and the cost of the task's parts. Every
/// used link and every spinor is read or written once. The full operator uses 4 links for each site,
/// each twice. The hop to one parity uses 8 links, each once.
pub fn work_per_site(task: Task, precision: StoragePrecision, reconstruction: Reconstruction) -> Work {
    let links = if task.region == Region::Full { NDIM } else { 2 * NDIM };
    let (site, ending) = (task.site_part().cost(task.columns), task.ending.cost(task.columns));
    let flops = 1320 + site.flops + ending.flops;
    let spinors = 2 + site.spinors + ending.spinors;
    let mut work = work_of(flops, task.columns, spinors, &site.blocks, precision);
    work.bytes += (links * reconstruction.reals() * precision.bytes()) as u64;
    work
}
