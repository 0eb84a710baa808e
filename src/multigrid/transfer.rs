//! The way from a level to the next coarser one, and back.

use super::coarse_lattice::CoarseLattice;
use super::coarse_space::{CoarseSpace, WholeVector};
use super::error::{SetupError, agreed};
use super::finer_sites::{FinerNumbers, FinerPart, FinerParts};
use super::kept::{DeviceNumbers, HostNumbers};
use super::kernels::{LOCAL_SIZE, kernel, range_of_chunks};
use super::orthonormal::{Aggregates, orthonormal_on_device, orthonormal_on_host};
use crate::compute::mpi::World;
use crate::compute::parallel::*;
use crate::compute::{Argument, Buffer, Device, DeviceError, Kernel, Range};
use crate::field::{Numbers, NumbersView, buffer_of, buffer_of_mut};
use crate::geometry::{LatticeError, NDIM};
use crate::host::multigrid::{self as twins, NO_MEMBER, NearNull};
use crate::scalar::Real;
use lattice_solvers::Work;
use num_complex::Complex;
use std::sync::{Arc, Mutex};

/// The members of aggregates that a restriction sums over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Members {
    /// Members on the first half of the sites.
    Evens,
    All,
    /// Members in the last slice of their block in a direction.
    Last(usize),
}

/// The bit of the flags that all sites have.
///
/// Bit μ marks sites in the first slice of their block in direction μ.
pub(super) const EVERY_SITE: u32 = NDIM as u32;

/// Restriction V† and prolongation V between two levels.
///
/// The columns of V are near-null vectors, orthonormal in each block and chirality. Vectors of both
/// levels have as many right-hand sides as the coarse space.
pub(super) struct Transfer<R: Real> {
    finer: FinerNumbers,
    lattice: Arc<CoarseLattice>,
    space: CoarseSpace<R>,
    parts: Vec<ProlongatorOnDevice<R>>,
    /// The ranks that have other parts, and the places of all aggregates.
    ///
    /// The places are in the order of ranks.
    ranks: Option<(Arc<World>, Vec<usize>)>,
}

/// A part of V on one device, with its kernels for some number of right-hand sides.
struct ProlongatorOnDevice<R: Real> {
    columns: Arc<PartOfColumns<R>>,
    kernels: Option<Kernels<R>>,
}

/// The part of V on one device.
struct PartOfColumns<R: Real> {
    sites: usize,
    evens: usize,
    /// The numbers of its sites in an order that does not depend on how the lattice is cut.
    order: Vec<usize>,
    /// The places of its aggregates on the coarse lattice, in ascending order.
    places: Vec<usize>,
    /// Of each kind of [`Members`].
    lists: Vec<List>,
    /// `true` if other devices or ranks have other parts.
    several: bool,
    storage: Storage<R>,
}

struct Kernels<R: Real> {
    restrict: Kernel,
    prolong: Kernel,
    take: Kernel,
    /// A coarse vector of the aggregates of this part, if there are other parts.
    ///
    /// Otherwise a number for kernels that want a second vector.
    own: Mutex<Buffer<R>>,
}

/// Members of all aggregates, equally many of each.
struct List {
    members: Vec<u32>,
    per_aggregate: usize,
    on_device: Option<Buffer<u32>>,
}

enum Storage<R: Real> {
    Host { vectors: Vec<R>, aggregate_of: Vec<u32>, flags: Vec<u32> },
    Device(Box<OnDevice<R>>),
}

struct OnDevice<R: Real> {
    device: Device,
    vectors: DeviceNumbers<R>,
    aggregate_of: Buffer<u32>,
    flags: Buffer<u32>,
}

impl Members {
    fn index(self) -> usize {
        match self {
            Self::Evens => 0,
            Self::All => 1,
            Self::Last(mu) => 2 + mu,
        }
    }
}

/// The near-null vectors of a level.
#[derive(Clone, Copy)]
pub(super) enum Vectors<'a, R: Real> {
    /// As they are made: equally many in each group, in the order of the parts' sites.
    Made(&'a [Numbers<R>]),
    /// As [`Transfer::kept`] returns them.
    Kept(&'a HostNumbers<R>),
}

/// The levels that a transfer is between.
pub(super) struct Levels<'a, R: Real> {
    /// The number of the finer level, 0 for the finest.
    pub level: usize,
    pub finer: FinerNumbers,
    pub parts: &'a FinerParts,
    pub block: [usize; NDIM],
    pub lattice: &'a Arc<CoarseLattice>,
    pub space: &'a CoarseSpace<R>,
}

impl<R: Real> Transfer<R> {
    /// Makes the transfer of these vectors of a level.
    ///
    /// Vectors that are made are made orthonormal.
    ///
    /// # Errors
    /// When the vectors are dependent, or a device fails.
    pub fn new(levels: &Levels<'_, R>, vectors: Vectors<'_, R>) -> Result<Self, SetupError> {
        let Levels { finer, parts: FinerParts { own, world }, lattice, space, .. } = *levels;
        let several = own.len() > 1 || world.is_some();
        let made = own.iter().enumerate().map(|(k, part)| {
            let columns = PartOfColumns::new(levels, (k, part), vectors, several)?;
            Ok(ProlongatorOnDevice::new(Arc::new(columns), finer, space)?)
        });
        let parts = agreed(world.as_ref(), made.collect::<Result<Vec<_>, SetupError>>())?;
        let ranks = match world {
            None => None,
            Some(world) => {
                let places = parts
                    .iter()
                    .flat_map(|part: &ProlongatorOnDevice<R>| part.columns.places.iter().copied());
                Some((Arc::clone(world), places_of_all_ranks(world, &places.collect::<Vec<_>>())?))
            }
        };
        Ok(Self { finer, lattice: Arc::clone(lattice), space: space.clone(), parts, ranks })
    }

    /// Returns the near-null vectors of all sites, in an order that does not depend on how the lattice is cut.
    ///
    /// There is a row of numbers for each component of a site. All ranks call this together.
    pub fn kept(&self) -> Result<HostNumbers<R>, DeviceError> {
        let (numbers, of_site) = (self.space.numbers, self.finer.half * self.space.numbers.columns);
        let mut all: Option<HostNumbers<R>> = None;
        let mut sites = Vec::new();
        for ProlongatorOnDevice { columns, .. } in &self.parts {
            let own = match &columns.storage {
                Storage::Host { vectors, .. } => HostNumbers::Whole(numbers.of_memory(vectors)),
                Storage::Device(own) => own.vectors.to_host(numbers)?,
            };
            match &mut all {
                None => all = Some(own),
                Some(all) => all.append(own),
            }
            sites.extend_from_slice(&columns.order);
        }
        let mut all = all.unwrap_or_else(|| HostNumbers::Whole(Vec::new()));
        if let Some((world, _)) = &self.ranks {
            all = all.of_all_ranks(world)?;
            sites = places_of_all_ranks(world, &sites)?;
        }
        Ok(all.sorted(of_site, &sites))
    }

    /// Returns this transfer for another number of right-hand sides.
    pub fn for_sources(&self, sources: usize) -> Result<Self, LatticeError> {
        let space = self.space.for_sources(sources)?;
        let part = |part: &ProlongatorOnDevice<R>| {
            ProlongatorOnDevice::new(Arc::clone(&part.columns), self.finer, &space)
        };
        let parts = self.parts.iter().map(part).collect::<Result<_, _>>()?;
        let (lattice, ranks) = (Arc::clone(&self.lattice), self.ranks.clone());
        Ok(Self { finer: self.finer, lattice, space, parts, ranks })
    }

    pub fn lattice(&self) -> &Arc<CoarseLattice> {
        &self.lattice
    }

    /// Returns the part that has all sites, if there is one.
    fn only_part(&self) -> Option<&ProlongatorOnDevice<R>> {
        match (&self.parts[..], &self.ranks) {
            ([part], None) => Some(part),
            _ => None,
        }
    }

    pub fn coarse_space(&self) -> &CoarseSpace<R> {
        &self.space
    }

    /// coarse = V† fine, summed over these members of each aggregate.
    pub fn restrict(
        &self,
        fine: NumbersView<'_, R>,
        members: Members,
        coarse: &mut WholeVector<R>,
    ) -> Result<(), DeviceError> {
        match (self.only_part(), fine) {
            (Some(part), NumbersView::Host(fine)) => {
                let list = &part.columns.lists[members.index()];
                let (near_null, ..) = part.columns.on_host(self);
                let of_source = |fine: &[R]| {
                    let fine: &[Complex<R>] = bytemuck::cast_slice(fine);
                    twins::restrict(near_null, fine, &list.members, list.per_aggregate)
                };
                let sums: Vec<_> = fine.chunks(self.stride(fine.len())).flat_map(of_source).collect();
                coarse.set(&self.space, &self.lattice, &sums)
            }
            (Some(part), NumbersView::Devices([fine])) => {
                let evens = self.lattice.evens();
                let WholeVector { even, odd } = coarse;
                let even = buffer_of_mut(even);
                let mut scratch = crate::sync::lock(&part.kernels().own);
                let odd = odd.as_mut().map_or(&mut *scratch, buffer_of_mut);
                part.start_restriction(self, fine, members, [even, odd], evens)
            }
            (_, NumbersView::Devices(fine)) => {
                let parts = &self.parts;
                // All devices are at work before the first is asked.
                for (part, fine) in parts.iter().zip(fine) {
                    let mut unused = Buffer::zeroed(&part.columns.on_device().device, 1)?;
                    let mut sums = crate::sync::lock(&part.kernels().own);
                    let aggregates = part.columns.places.len();
                    part.start_restriction(self, fine, members, [&mut *sums, &mut unused], aggregates)?;
                }
                // Numbers of aggregates, with all right-hand sides beside each other.
                let (columns, sources) = (self.space.numbers.columns, self.space.sources());
                let mut own = Vec::new();
                for part in parts {
                    let sums = crate::sync::lock(&part.kernels().own).to_vec()?;
                    let sums = self.space.numbers.of_memory(&sums);
                    let aggregates = part.columns.places.len();
                    for aggregate in 0..aggregates {
                        for source in 0..sources {
                            own.extend_from_slice(
                                &sums[(source * aggregates + aggregate) * columns..][..columns],
                            );
                        }
                    }
                }
                let own_places =
                    || parts.iter().flat_map(|part| part.columns.places.iter().copied()).collect();
                let (places, sums) = match &self.ranks {
                    None => (own_places(), own),
                    Some((world, places)) => {
                        let mut sums = vec![Complex::default(); places.len() * columns * sources];
                        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut sums);
                        let all = world.gather_any(bytemuck::cast_slice(&own)).map_err(DeviceError::from)?;
                        bytes.copy_from_slice(&all.concat());
                        (places.clone(), sums)
                    }
                };
                let volume = self.lattice.volume();
                let mut all = vec![Complex::default(); sources * volume * columns];
                for (place, sums) in places.into_iter().zip(sums.chunks(columns * sources)) {
                    for (source, sums) in sums.chunks(columns).enumerate() {
                        all[(source * volume + place) * columns..][..columns].copy_from_slice(sums);
                    }
                }
                coarse.set(&self.space, &self.lattice, &all)
            }
            _ => unreachable!("{ONE_PLACE}"),
        }
    }

    /// fine = V coarse on the first half of the finer sites.
    pub fn prolong(&self, coarse: &WholeVector<R>, fine: &mut Numbers<R>) -> Result<(), DeviceError> {
        let buffers = match fine {
            Numbers::Host(fine) => {
                let [part] = &self.parts[..] else { unreachable!("{ONE_PLACE}") };
                let (near_null, aggregate_of, _) = part.columns.on_host(self);
                let coarse = coarse.to_host(&self.space, &self.lattice)?;
                let stride = self.stride(fine.len());
                let of_source = coarse.chunks(coarse.len() / self.space.sources());
                for (fine, coarse) in fine.chunks_mut(stride).zip(of_source) {
                    let numbers = twins::prolong(near_null, coarse, &aggregate_of[..part.columns.evens]);
                    let reals: &[R] = bytemuck::cast_slice(&numbers);
                    fine[..reals.len()].copy_from_slice(reals);
                }
                return Ok(());
            }
            Numbers::Devices(buffers) => buffers,
        };
        self.prolong_to(coarse, buffers)
    }

    /// Prolongs like [`prolong`](Self::prolong), to the buffers of each device.
    pub fn prolong_to(&self, coarse: &WholeVector<R>, fine: &mut [Buffer<R>]) -> Result<(), DeviceError> {
        if let (Some(part), [fine]) = (self.only_part(), &mut *fine) {
            let even = buffer_of(&coarse.even);
            let odd = coarse.odd.as_ref().map_or(even, buffer_of);
            return part.start_prolongation(self, [even, odd], self.lattice.evens(), fine);
        }
        let columns = self.space.numbers.columns;
        let all = coarse.to_host(&self.space, &self.lattice)?;
        for (part, fine) in self.parts.iter().zip(fine) {
            let places = &part.columns.places;
            let of_source = |all: &[Complex<R>]| -> Vec<Complex<R>> {
                let of_place = |place: &usize| &all[place * columns..][..columns];
                places.iter().flat_map(of_place).copied().collect()
            };
            let own: Vec<_> = all.chunks(self.lattice.volume() * columns).flat_map(of_source).collect();
            let mut buffer = crate::sync::lock(&part.kernels().own);
            buffer.write(&self.space.numbers.to_memory(&own))?;
            part.start_prolongation(self, [&buffer, &buffer], places.len(), fine)?;
        }
        Ok(())
    }

    /// fine = columns of V on the sites with this flag, and 0 elsewhere.
    ///
    /// Right-hand side r gets column `column` + r, on the sites of both halves.
    pub fn take(&self, column: usize, bit: u32, fine: &mut Numbers<R>) -> Result<(), DeviceError> {
        match fine {
            Numbers::Host(fine) => {
                let [part] = &self.parts[..] else { unreachable!("{ONE_PLACE}") };
                let (near_null, _, flags) = part.columns.on_host(self);
                let stride = self.stride(fine.len());
                for (source, fine) in fine.chunks_mut(stride).enumerate() {
                    let numbers = twins::take(near_null, flags, column + source, bit);
                    fine.copy_from_slice(bytemuck::cast_slice(&numbers));
                }
            }
            Numbers::Devices(buffers) => {
                for (part, fine) in self.parts.iter().zip(buffers) {
                    part.start_taking(self, column, bit, fine)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the number of reals from one right-hand side to the next.
    ///
    /// All right-hand sides together have `reals` reals.
    fn stride(&self, reals: usize) -> usize {
        reals / self.space.sources()
    }

    /// Returns the work of a restriction and a prolongation of the first half.
    pub fn work(&self) -> Work {
        let evens: usize = self.parts.iter().map(|part| part.columns.evens).sum();
        let numbers = 2 * (evens * self.finer.half * self.space.numbers.columns) as u64;
        let flops = 8 * numbers * self.space.sources() as u64;
        Work { flops, bytes: numbers * DeviceNumbers::<R>::bytes_of_number() }
    }
}

const ONE_PLACE: &str = "the vectors of a level are in one place";

impl<R: Real> PartOfColumns<R> {
    /// Makes part number `number`. `several` tells whether there are others.
    fn new(
        levels: &Levels<'_, R>,
        (number, part): (usize, &FinerPart),
        vectors: Vectors<'_, R>,
        several: bool,
    ) -> Result<Self, SetupError> {
        let Levels { level, finer, block, lattice, space, .. } = *levels;
        let numbers = space.numbers;
        let sites = part.coordinates.len();
        let place_of = |at: &[usize; NDIM]| lattice.place(std::array::from_fn(|mu| at[mu] / block[mu]));
        let place_of_site: Vec<usize> = part.coordinates.par_iter().map(place_of).collect();
        let mut is_here = vec![false; lattice.volume()];
        place_of_site.iter().for_each(|&place| is_here[place] = true);
        let places: Vec<usize> = (0..lattice.volume()).filter(|&place| is_here[place]).collect();
        let mut numbers_of_places = vec![0; lattice.volume()];
        places.iter().zip(0_u32..).for_each(|(&place, number)| numbers_of_places[place] = number);
        let aggregate_of: Vec<u32> = place_of_site.iter().map(|&place| numbers_of_places[place]).collect();
        let is_member = |members: Members, site: usize| match members {
            Members::Evens => site < part.evens,
            Members::All => true,
            Members::Last(mu) => part.coordinates[site][mu] % block[mu] == block[mu] - 1,
        };
        let list = |k: usize| {
            let members = match k {
                0 => Members::Evens,
                1 => Members::All,
                _ => Members::Last(k - 2),
            };
            let mut of_aggregate = vec![Vec::new(); places.len()];
            for site in (0..sites).filter(|&site| is_member(members, site)) {
                of_aggregate[aggregate_of[site] as usize].push(site as u32);
            }
            members_list(of_aggregate)
        };
        let mut lists: Vec<List> = (0..2 + NDIM).into_par_iter().map(list).collect();
        let flags: Vec<u32> = part
            .coordinates
            .par_iter()
            .map(|at| {
                let first = (0..NDIM).filter(|&mu| at[mu] % block[mu] == 0).map(|mu| 1 << mu).sum::<u32>();
                first | 1 << EVERY_SITE
            })
            .collect();
        let dependent = || SetupError::Dependent { level, vectors: numbers.columns / 2 };
        let storage = match &part.device {
            None => {
                let vectors = match vectors {
                    Vectors::Kept(kept) => {
                        let own = kept.chosen(finer.half * numbers.columns, &part.order);
                        numbers.to_memory(&own.into_owned().into_whole()).into_owned()
                    }
                    Vectors::Made(groups) => {
                        let all: &List = &lists[Members::All.index()];
                        let aggregates = Aggregates {
                            sites,
                            count: places.len(),
                            members: &all.members[..],
                            per_aggregate: all.per_aggregate,
                            aggregate_of: &aggregate_of[..],
                        };
                        let own: Vec<&[R]> = groups.iter().map(Numbers::on_host).collect();
                        orthonormal_on_host(finer, numbers, &own, &aggregates).ok_or_else(dependent)?
                    }
                };
                Storage::Host { vectors, aggregate_of, flags }
            }
            Some(device) => {
                for list in &mut lists {
                    // A list without members is never asked for.
                    if !list.members.is_empty() {
                        list.on_device = Some(Buffer::from_slice(device, &list.members)?);
                    }
                }
                let aggregate_of = Buffer::from_slice(device, &aggregate_of)?;
                let vectors = match vectors {
                    Vectors::Kept(kept) => {
                        let own = kept.chosen(finer.half * numbers.columns, &part.order);
                        DeviceNumbers::of_host(device, &own, numbers, 1)?
                    }
                    Vectors::Made(groups) => {
                        let all = &lists[Members::All.index()];
                        let aggregates = Aggregates {
                            sites,
                            count: places.len(),
                            members: all.on_device(),
                            per_aggregate: all.per_aggregate,
                            aggregate_of: &aggregate_of,
                        };
                        let own: Vec<&Buffer<R>> =
                            groups.iter().map(|group| &group.on_devices()[number]).collect();
                        orthonormal_on_device(device, finer, numbers, &own, &aggregates)?
                            .ok_or_else(dependent)?
                    }
                };
                Storage::Device(Box::new(OnDevice {
                    device: device.clone(),
                    vectors,
                    aggregate_of,
                    flags: Buffer::from_slice(device, &flags)?,
                }))
            }
        };
        let order = part.order.clone();
        Ok(Self { sites, evens: part.evens, order, places, lists, several, storage })
    }

    fn on_device(&self) -> &OnDevice<R> {
        match &self.storage {
            Storage::Device(own) => own,
            Storage::Host { .. } => unreachable!("{ONE_PLACE}"),
        }
    }

    fn on_host(&self, of: &Transfer<R>) -> (NearNull<'_, R>, &[u32], &[u32]) {
        match &self.storage {
            Storage::Host { vectors, aggregate_of, flags } => {
                let vectors = bytemuck::cast_slice(vectors);
                let near_null = NearNull { vectors, half: of.finer.half, columns: of.space.numbers.columns };
                (near_null, aggregate_of, flags)
            }
            Storage::Device(_) => unreachable!("{ONE_PLACE}"),
        }
    }
}

impl<R: Real> ProlongatorOnDevice<R> {
    /// With kernels for as many right-hand sides as the space has.
    fn new(
        columns: Arc<PartOfColumns<R>>,
        finer: FinerNumbers,
        space: &CoarseSpace<R>,
    ) -> Result<Self, DeviceError> {
        let kernels = match &columns.storage {
            Storage::Host { .. } => None,
            Storage::Device(own) => {
                let device = &own.device;
                let kernel = |name| kernel::<R>(device, name, space.numbers, finer.lanes, space.sources());
                let of_aggregates = columns.places.len() * 2 * space.numbers.padded() * space.sources();
                let room = if columns.several { of_aggregates } else { 1 };
                Some(Kernels {
                    restrict: kernel("restrict_vector")?,
                    prolong: kernel("prolong_vector")?,
                    take: kernel("take_vector")?,
                    own: Mutex::new(Buffer::zeroed(device, room)?),
                })
            }
        };
        Ok(Self { columns, kernels })
    }

    fn kernels(&self) -> &Kernels<R> {
        self.kernels.as_ref().unwrap_or_else(|| unreachable!("{ONE_PLACE}"))
    }

    /// Returns the number of reals from one right-hand side to the next.
    ///
    /// The right-hand sides are those of a coarse vector.
    fn coarse_stride(&self, of: &Transfer<R>) -> Argument<'static> {
        let of_aggregates = self.columns.places.len() * 2 * of.space.numbers.padded();
        Argument::value(if self.columns.several { of_aggregates } else { of.space.stride() } as u32)
    }

    fn start_restriction(
        &self,
        of: &Transfer<R>,
        fine: &Buffer<R>,
        members: Members,
        [even, odd]: [&mut Buffer<R>; 2],
        evens: usize,
    ) -> Result<(), DeviceError> {
        let (own, list) = (self.columns.on_device(), &self.columns.lists[members.index()]);
        let (aggregates, chunks) = (self.columns.places.len(), of.space.numbers.chunks());
        let members = list.on_device();
        let [vectors, units] = own.vectors.arguments();
        let arguments = [
            vectors,
            units,
            Argument::from(fine),
            Argument::from(members),
            Argument::from(even),
            Argument::from(odd),
            Argument::value(aggregates as u32),
            Argument::value(evens as u32),
            Argument::value(list.per_aggregate as u32),
            Argument::value(of.finer.half as u32),
            Argument::value(of.finer.padded as u32),
            Argument::value(chunks as u32),
            Argument::value(of.stride(fine.len()) as u32),
            self.coarse_stride(of),
        ];
        self.kernels().restrict.start(range_of_chunks(aggregates * chunks, of.space.numbers), &arguments)
    }

    fn start_prolongation(
        &self,
        of: &Transfer<R>,
        [even, odd]: [&Buffer<R>; 2],
        evens: usize,
        fine: &mut Buffer<R>,
    ) -> Result<(), DeviceError> {
        let own = self.columns.on_device();
        let [vectors, units] = own.vectors.arguments();
        let (evens_of_part, stride) = (self.columns.evens, of.stride(fine.len()));
        let arguments = [
            vectors,
            units,
            Argument::from(even),
            Argument::from(odd),
            Argument::from(&own.aggregate_of),
            Argument::from(fine),
            Argument::value(evens_of_part as u32),
            Argument::value(evens as u32),
            Argument::value(of.finer.half as u32),
            Argument::value(of.finer.padded as u32),
            Argument::value(of.space.numbers.chunks() as u32),
            Argument::value(stride as u32),
            self.coarse_stride(of),
        ];
        self.kernels().prolong.start(Range::covering(evens_of_part * of.finer.half, LOCAL_SIZE), &arguments)
    }

    fn start_taking(
        &self,
        of: &Transfer<R>,
        column: usize,
        bit: u32,
        fine: &mut Buffer<R>,
    ) -> Result<(), DeviceError> {
        let own = self.columns.on_device();
        let [vectors, units] = own.vectors.arguments();
        let (sites, stride) = (self.columns.sites, of.stride(fine.len()));
        let arguments = [
            vectors,
            units,
            Argument::from(&own.flags),
            Argument::from(fine),
            Argument::value(sites as u32),
            Argument::value(column as u32),
            Argument::value(bit),
            Argument::value(of.finer.half as u32),
            Argument::value(of.finer.padded as u32),
            Argument::value(of.space.numbers.chunks() as u32),
            Argument::value(stride as u32),
        ];
        self.kernels().take.start(Range::covering(sites * of.finer.half, LOCAL_SIZE), &arguments)
    }
}

impl List {
    fn on_device(&self) -> &Buffer<u32> {
        self.on_device.as_ref().unwrap_or_else(|| unreachable!("a list that is asked for"))
    }
}

/// Returns the places of all ranks, in the order of ranks.
pub(super) fn places_of_all_ranks(world: &World, own: &[usize]) -> Result<Vec<usize>, DeviceError> {
    let own: Vec<u64> = own.iter().map(|&number| number as u64).collect();
    let all = world.gather_any(bytemuck::cast_slice(&own)).map_err(DeviceError::from)?;
    let number = |bytes: &[u8]| u64::from_ne_bytes(std::array::from_fn(|k| bytes[k])) as usize;
    Ok(all.iter().flat_map(|rank| rank.chunks_exact(size_of::<u64>()).map(number)).collect())
}

fn members_list(of_aggregate: Vec<Vec<u32>>) -> List {
    let per_aggregate = of_aggregate.iter().map(Vec::len).max().unwrap_or(0);
    // In blocks with an odd number of sites one parity has a member more.
    let padded = of_aggregate.into_iter().flat_map(|mut members| {
        members.resize(per_aggregate, NO_MEMBER);
        members
    });
    List { members: padded.collect(), per_aggregate, on_device: None }
}
