//! The way from a level to the next coarser one, and back.

use super::coarse_lattice::CoarseLattice;
use super::coarse_space::{CoarseSpace, SiteNumbers, WholeVector};
use super::error::{SetupError, agreed};
use super::kept::Kept;
use super::kernels::{LOCAL_SIZE, kernel};
use crate::device::mpi::World;
use crate::device::{Argument, Buffer, Device, DeviceError, Kernel, Range};
use crate::field::{Numbers, NumbersView, buffer_of, buffer_of_mut, numbers_of, set_numbers};
use crate::geometry::NDIM;
use crate::host::multigrid::{self as twins, NO_MEMBER, NearNull};
use crate::scalar::Real;
use lattice_solvers::Work;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::sync::{Arc, Mutex};

/// The finer sites of one device: an aggregate has all of its own on one.
#[derive(Clone, Debug)]
pub(super) struct FinerPart {
    /// `None` on the host.
    pub device: Option<Device>,
    /// The coordinates in the whole finer lattice of each site of this part, in its order: those of the first half before the others.
    pub coordinates: Vec<[usize; NDIM]>,
    /// Their numbers in the order of near-null vectors.
    pub sites: Vec<usize>,
    /// Sites of the first half.
    pub evens: usize,
}

/// The finer sites of this process.
#[derive(Clone)]
pub(super) struct FinerParts {
    pub own: Vec<FinerPart>,
    /// The ranks, if they have other parts.
    pub world: Option<Arc<World>>,
}

/// Where a finer vector's numbers lie: 2 for each of `half` components, `padded` of them a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FinerNumbers {
    pub half: usize,
    pub padded: usize,
    pub lanes: usize,
}

/// Which members of the aggregates are summed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Members {
    /// Those of the first half of sites.
    Evens,
    All,
    /// Those in the last slice of their block in a direction.
    Last(usize),
}

/// The bit of the flags that all sites have; that of direction μ is of those in the first slice of their block.
pub(super) const EVERY_SITE: u32 = NDIM as u32;

/// Restriction V† and prolongation V between two levels, for orthonormal near-null vectors in each block and chirality.
pub(super) struct Transfer<R: Real> {
    finer: FinerNumbers,
    lattice: Arc<CoarseLattice>,
    space: CoarseSpace<R>,
    parts: Vec<Part<R>>,
    /// The ranks, if they have other parts, and the places of all of them, in the order of the ranks.
    ranks: Option<(Arc<World>, Vec<usize>)>,
}

struct Part<R: Real> {
    sites: usize,
    evens: usize,
    /// The places of its aggregates on the coarse lattice, in ascending order.
    places: Vec<usize>,
    lists: [List; 2 + NDIM],
    storage: Storage<R>,
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
    vectors: Kept<R>,
    aggregate_of: Buffer<u32>,
    flags: Buffer<u32>,
    restrict: Kernel,
    prolong: Kernel,
    take: Kernel,
    /// A coarse vector of this part's aggregates, where there are others; otherwise a number for kernels that want a second one.
    own: Mutex<Buffer<R>>,
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

impl<R: Real> Transfer<R> {
    /// With these vectors of a level, `2 half` numbers for each site, which are made orthonormal unless they are.
    ///
    /// The orthonormal vectors of each part come with it.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        level: usize,
        finer: FinerNumbers,
        parts: &FinerParts,
        block: [usize; NDIM],
        lattice: &Arc<CoarseLattice>,
        space: &CoarseSpace<R>,
        vectors: &[Vec<Complex<R>>],
        are_orthonormal: bool,
    ) -> Result<(Self, Orthonormal<R>), SetupError> {
        let FinerParts { own, world } = parts;
        let several = own.len() > 1 || world.is_some();
        let made = own.iter().map(|part| {
            let mut own = scattered(finer.half, space.numbers, vectors, &part.sites);
            let numbers = space.numbers;
            let part =
                Part::new(level, finer, part, block, lattice, numbers, &mut own, several, are_orthonormal)?;
            Ok((part, own))
        });
        let made = agreed(world.as_ref(), made.collect::<Result<Vec<_>, SetupError>>())?;
        let (parts, orthonormal): (Vec<_>, Vec<_>) = made.into_iter().unzip();
        let ranks = match world {
            None => None,
            Some(world) => {
                let places = parts.iter().flat_map(|part: &Part<R>| &part.places);
                let own: Vec<u64> = places.map(|&place| place as u64).collect();
                let all = world.gather_any(bytemuck::cast_slice(&own)).map_err(DeviceError::from)?;
                let place = |bytes: &[u8]| u64::from_ne_bytes(std::array::from_fn(|k| bytes[k])) as usize;
                let places = all.iter().flat_map(|rank| rank.chunks_exact(size_of::<u64>()).map(place));
                Some((Arc::clone(world), places.collect()))
            }
        };
        let transfer = Self { finer, lattice: Arc::clone(lattice), space: space.clone(), parts, ranks };
        Ok((transfer, Orthonormal(orthonormal)))
    }

    /// coarse = V† of numbers in the order of near-null vectors, on all sites.
    pub fn restrict_ordered(
        &self,
        parts: &FinerParts,
        vector: &[Complex<R>],
        coarse: &mut WholeVector<R>,
    ) -> Result<(), DeviceError> {
        let FinerNumbers { half, padded, lanes } = self.finer;
        let site_numbers = SiteNumbers { columns: 2 * half, lanes };
        debug_assert_eq!(site_numbers.padded(), padded);
        let numbers_of = |part: &FinerPart| {
            let of_site = |&site: &usize| vector[2 * half * site..][..2 * half].iter().copied();
            let own: Vec<_> = part.sites.par_iter().flat_map_iter(of_site).collect();
            site_numbers.to_memory(&own)
        };
        let numbers = match &parts.own[..] {
            [part @ FinerPart { device: None, .. }] => Numbers::Host(numbers_of(part)),
            _ => {
                let buffer = |part: &FinerPart| {
                    let device = part.device.as_ref().unwrap_or_else(|| unreachable!("{ONE_PLACE}"));
                    Buffer::from_slice(device, &numbers_of(part))
                };
                Numbers::Devices(parts.own.iter().map(buffer).collect::<Result<_, _>>()?)
            }
        };
        self.restrict(numbers.view(), Members::All, coarse)
    }

    pub fn lattice(&self) -> &Arc<CoarseLattice> {
        &self.lattice
    }

    /// The part that has all sites, if there is one.
    fn only_part(&self) -> Option<&Part<R>> {
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
                let list = &part.lists[members.index()];
                let (near_null, ..) = part.on_host(self);
                let fine: &[Complex<R>] = bytemuck::cast_slice(fine);
                let sums = twins::restrict(near_null, fine, &list.members, list.per_aggregate);
                self.set(coarse, &sums)
            }
            (Some(part), NumbersView::Devices([fine])) => {
                let evens = self.lattice.evens();
                let own = part.on_device();
                let WholeVector { even, odd } = coarse;
                let even = buffer_of_mut(even);
                let mut scratch = crate::sync::lock(&own.own);
                let odd = odd.as_mut().map_or(&mut *scratch, buffer_of_mut);
                part.start_restriction(self, fine, members, [even, odd], evens)
            }
            (_, NumbersView::Devices(fine)) => {
                let parts = &self.parts;
                // All devices are at work before the first is asked.
                for (part, fine) in parts.iter().zip(fine) {
                    let own = part.on_device();
                    let mut unused = Buffer::zeroed(&own.device, 1)?;
                    let mut sums = crate::sync::lock(&own.own);
                    part.start_restriction(
                        self,
                        fine,
                        members,
                        [&mut *sums, &mut unused],
                        part.places.len(),
                    )?;
                }
                let columns = self.space.numbers.columns;
                let mut own = Vec::new();
                for part in parts {
                    let sums = crate::sync::lock(&part.on_device().own).to_vec()?;
                    own.extend(self.space.numbers.of_memory(&sums));
                }
                let own_places = || parts.iter().flat_map(|part| part.places.iter().copied()).collect();
                let (places, sums) = match &self.ranks {
                    None => (own_places(), own),
                    Some((world, places)) => {
                        let mut sums = vec![Complex::default(); places.len() * columns];
                        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut sums);
                        let all = world.gather_any(bytemuck::cast_slice(&own)).map_err(DeviceError::from)?;
                        bytes.copy_from_slice(&all.concat());
                        (places.clone(), sums)
                    }
                };
                let mut all = vec![Complex::default(); self.lattice.volume() * columns];
                for (place, sums) in places.into_iter().zip(sums.chunks(columns)) {
                    all[place * columns..][..columns].copy_from_slice(sums);
                }
                self.set(coarse, &all)
            }
            _ => unreachable!("{ONE_PLACE}"),
        }
    }

    /// fine = V coarse on the first half of the finer sites.
    pub fn prolong(&self, coarse: &WholeVector<R>, fine: &mut Numbers<R>) -> Result<(), DeviceError> {
        let buffers = match fine {
            Numbers::Host(fine) => {
                let [part] = &self.parts[..] else { unreachable!("{ONE_PLACE}") };
                let (near_null, aggregate_of, _) = part.on_host(self);
                let coarse = self.on_host(coarse)?;
                let numbers = twins::prolong(near_null, &coarse, &aggregate_of[..part.evens]);
                let reals: &[R] = bytemuck::cast_slice(&numbers);
                fine[..reals.len()].copy_from_slice(reals);
                return Ok(());
            }
            Numbers::Devices(buffers) => buffers,
        };
        self.prolong_to(coarse, buffers)
    }

    /// As [`prolong`](Self::prolong), to the buffers of each device.
    pub fn prolong_to(&self, coarse: &WholeVector<R>, fine: &mut [Buffer<R>]) -> Result<(), DeviceError> {
        if let (Some(part), [fine]) = (self.only_part(), &mut *fine) {
            let even = buffer_of(&coarse.even);
            let odd = coarse.odd.as_ref().map_or(even, buffer_of);
            return part.start_prolongation(self, [even, odd], self.lattice.evens(), fine);
        }
        let columns = self.space.numbers.columns;
        let all = self.on_host(coarse)?;
        for (part, fine) in self.parts.iter().zip(fine) {
            let of_place = |place: &usize| &all[place * columns..][..columns];
            let own: Vec<_> = part.places.iter().flat_map(of_place).copied().collect();
            let mut buffer = crate::sync::lock(&part.on_device().own);
            buffer.write(&self.space.numbers.to_memory(&own))?;
            part.start_prolongation(self, [&buffer, &buffer], part.places.len(), fine)?;
        }
        Ok(())
    }

    /// fine = one column of V on the sites with this flag, and 0 elsewhere; all sites of both halves.
    pub fn take(&self, column: usize, bit: u32, fine: &mut Numbers<R>) -> Result<(), DeviceError> {
        match fine {
            Numbers::Host(fine) => {
                let [part] = &self.parts[..] else { unreachable!("{ONE_PLACE}") };
                let (near_null, _, flags) = part.on_host(self);
                let numbers = twins::take(near_null, flags, column, bit);
                fine.copy_from_slice(bytemuck::cast_slice(&numbers));
            }
            Numbers::Devices(buffers) => {
                for (part, fine) in self.parts.iter().zip(buffers) {
                    part.start_taking(self, column, bit, fine)?;
                }
            }
        }
        Ok(())
    }

    /// The numbers of a coarse vector, in the order of places.
    pub fn on_host(&self, coarse: &WholeVector<R>) -> Result<Vec<Complex<R>>, DeviceError> {
        let mut all = Vec::with_capacity(self.lattice.volume() * self.space.numbers.columns);
        for (half, field) in [Some(&coarse.even), coarse.odd.as_ref()].into_iter().flatten().enumerate() {
            let [_, sites] = self.lattice.half(half);
            let reals = sites * 2 * self.space.numbers.padded();
            let memory = numbers_of(field, |numbers| match numbers {
                NumbersView::Host(numbers) => Ok(numbers[..reals].to_vec()),
                NumbersView::Devices(buffers) => buffers[0].slice(..reals)?.to_vec(),
            })?;
            all.extend(self.space.numbers.of_memory(&memory));
        }
        Ok(all)
    }

    /// The reverse.
    fn set(&self, coarse: &mut WholeVector<R>, numbers: &[Complex<R>]) -> Result<(), DeviceError> {
        let site = self.space.numbers;
        let (even, odd) = numbers.split_at(self.lattice.evens() * site.columns);
        set_numbers(&mut coarse.even, &site.to_memory(even))?;
        coarse.odd.as_mut().map_or(Ok(()), |field| set_numbers(field, &site.to_memory(odd)))
    }

    /// The work of a restriction and a prolongation of the first half.
    pub fn work(&self) -> Work {
        let evens: usize = self.parts.iter().map(|part| part.evens).sum();
        let numbers = 2 * (evens * self.finer.half * self.space.numbers.columns) as u64;
        Work { flops: 8 * numbers, bytes: numbers * Kept::<R>::bytes_of_number() }
    }
}

const ONE_PLACE: &str = "the vectors of a level are in one place";

impl<R: Real> Part<R> {
    #[allow(clippy::too_many_arguments)]
    fn new(
        level: usize,
        finer: FinerNumbers,
        part: &FinerPart,
        block: [usize; NDIM],
        lattice: &CoarseLattice,
        numbers: SiteNumbers,
        own: &mut [R],
        several: bool,
        are_orthonormal: bool,
    ) -> Result<Self, SetupError> {
        let sites = part.coordinates.len();
        let place_of = |at: &[usize; NDIM]| lattice.place(std::array::from_fn(|mu| at[mu] / block[mu]));
        let place_of_site: Vec<usize> = part.coordinates.iter().map(place_of).collect();
        let mut places = place_of_site.clone();
        places.sort_unstable();
        places.dedup();
        let number_of = |place: usize| places.binary_search(&place).expect("a place of this part");
        let aggregate_of: Vec<u32> = place_of_site.iter().map(|&place| number_of(place) as u32).collect();
        let is_member = |members: Members, site: usize| match members {
            Members::Evens => site < part.evens,
            Members::All => true,
            Members::Last(mu) => part.coordinates[site][mu] % block[mu] == block[mu] - 1,
        };
        let lists = std::array::from_fn(|k| {
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
        });
        let flags: Vec<u32> = part
            .coordinates
            .iter()
            .map(|at| {
                let first = (0..NDIM).filter(|&mu| at[mu] % block[mu] == 0).map(|mu| 1 << mu).sum::<u32>();
                first | 1 << EVERY_SITE
            })
            .collect();
        let all: &List = &lists[Members::All.index()];
        if !are_orthonormal
            && !orthonormalise(finer.half, numbers, own, &all.members, all.per_aggregate, &aggregate_of)
        {
            return Err(SetupError::Dependent { level, vectors: numbers.columns / 2 });
        }
        let mut lists: [List; 2 + NDIM] = lists;
        let storage = match &part.device {
            None => Storage::Host { vectors: own.to_vec(), aggregate_of, flags },
            Some(device) => {
                for list in &mut lists {
                    // A list without members is never asked for.
                    if !list.members.is_empty() {
                        list.on_device = Some(Buffer::from_slice(device, &list.members)?);
                    }
                }
                let kernel = |name| kernel::<R>(device, name, numbers, finer.lanes);
                let room = if several { places.len() * 2 * numbers.padded() } else { 1 };
                Storage::Device(Box::new(OnDevice {
                    device: device.clone(),
                    vectors: Kept::new(device, own, 2 * numbers.padded())?,
                    aggregate_of: Buffer::from_slice(device, &aggregate_of)?,
                    flags: Buffer::from_slice(device, &flags)?,
                    restrict: kernel("restrict_vector")?,
                    prolong: kernel("prolong_vector")?,
                    take: kernel("take_vector")?,
                    own: Mutex::new(Buffer::zeroed(device, room)?),
                }))
            }
        };
        Ok(Self { sites, evens: part.evens, places, lists, storage })
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

    fn start_restriction(
        &self,
        of: &Transfer<R>,
        fine: &Buffer<R>,
        members: Members,
        [even, odd]: [&mut Buffer<R>; 2],
        evens: usize,
    ) -> Result<(), DeviceError> {
        let (own, list) = (self.on_device(), &self.lists[members.index()]);
        let (aggregates, chunks) = (self.places.len(), of.space.numbers.chunks());
        let members = list.on_device.as_ref().unwrap_or_else(|| unreachable!("a list that is asked for"));
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
        ];
        own.restrict.start(Range::covering(aggregates * chunks, LOCAL_SIZE.min(16)), &arguments)
    }

    fn start_prolongation(
        &self,
        of: &Transfer<R>,
        [even, odd]: [&Buffer<R>; 2],
        evens: usize,
        fine: &mut Buffer<R>,
    ) -> Result<(), DeviceError> {
        let own = self.on_device();
        let [vectors, units] = own.vectors.arguments();
        let arguments = [
            vectors,
            units,
            Argument::from(even),
            Argument::from(odd),
            Argument::from(&own.aggregate_of),
            Argument::from(fine),
            Argument::value(self.evens as u32),
            Argument::value(evens as u32),
            Argument::value(of.finer.half as u32),
            Argument::value(of.finer.padded as u32),
            Argument::value(of.space.numbers.chunks() as u32),
        ];
        own.prolong.start(Range::covering(self.evens * of.finer.half, LOCAL_SIZE), &arguments)
    }

    fn start_taking(
        &self,
        of: &Transfer<R>,
        column: usize,
        bit: u32,
        fine: &mut Buffer<R>,
    ) -> Result<(), DeviceError> {
        let own = self.on_device();
        let [vectors, units] = own.vectors.arguments();
        let arguments = [
            vectors,
            units,
            Argument::from(&own.flags),
            Argument::from(fine),
            Argument::value(self.sites as u32),
            Argument::value(column as u32),
            Argument::value(bit),
            Argument::value(of.finer.half as u32),
            Argument::value(of.finer.padded as u32),
            Argument::value(of.space.numbers.chunks() as u32),
        ];
        own.take.start(Range::covering(self.sites * of.finer.half, LOCAL_SIZE), &arguments)
    }
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

/// Orthonormal vectors, with those of a finer component beside each other, for each part.
pub(super) struct Orthonormal<R>(Vec<Vec<R>>);

impl<R: Real> Orthonormal<R> {
    /// Replaces the vectors that they were made of.
    pub fn copy_to(
        self,
        half: usize,
        numbers: SiteNumbers,
        parts: &[FinerPart],
        vectors: &mut [Vec<Complex<R>>],
    ) {
        let padded = 2 * numbers.padded();
        for (part, own) in parts.iter().zip(&self.0) {
            let mut number_of_site = vec![None; vectors.first().map_or(0, Vec::len) / (2 * half)];
            part.sites.iter().enumerate().for_each(|(k, &site)| number_of_site[site] = Some(k));
            for (j, vector) in vectors.iter_mut().enumerate() {
                vector.par_chunks_mut(2 * half).zip(&number_of_site).for_each(|(site, k)| {
                    let Some(k) = k else { return };
                    for (component, z) in site.iter_mut().enumerate() {
                        let row = &own[(k * half + component / 2) * padded..][..padded];
                        let [re, im] = numbers.at(2 * j + component % 2);
                        *z = Complex::new(row[re], row[im]);
                    }
                });
            }
        }
    }
}

/// The vectors, with those of a finer component beside each other.
fn scattered<R: Real>(
    half: usize,
    numbers: SiteNumbers,
    vectors: &[Vec<Complex<R>>],
    sites: &[usize],
) -> Vec<R> {
    let padded = 2 * numbers.padded();
    let mut own = vec![R::zero(); sites.len() * half * padded];
    own.par_chunks_mut(padded).enumerate().for_each(|(k, own)| {
        for (j, vector) in vectors.iter().enumerate() {
            for chirality in 0..2 {
                let [re, im] = numbers.at(2 * j + chirality);
                let z = vector[2 * (sites[k / half] * half + k % half) + chirality];
                (own[re], own[im]) = (z.re, z.im);
            }
        }
    });
    own
}

/// Real and imaginary parts apart, so that loops over them are vectorised.
#[derive(Clone)]
struct Planar {
    re: Vec<f64>,
    im: Vec<f64>,
}

impl Planar {
    fn zero(count: usize) -> Self {
        Self { re: vec![0.0; count], im: vec![0.0; count] }
    }

    fn of(numbers: &[Complex64]) -> Self {
        Self { re: numbers.iter().map(|z| z.re).collect(), im: numbers.iter().map(|z| z.im).collect() }
    }

    fn numbers(&self) -> Vec<Complex64> {
        self.re.iter().zip(&self.im).map(|(&re, &im)| Complex64::new(re, im)).collect()
    }

    /// self = self + z x, from element `from` on, where x begins at its element `at`.
    fn add(&mut self, from: usize, z: Complex64, x: &Self, at: usize) {
        let own = self.re[from..].iter_mut().zip(&mut self.im[from..]);
        for ((re, im), (x, y)) in own.zip(x.re[at..].iter().zip(&x.im[at..])) {
            *re += z.re * x - z.im * y;
            *im += z.re * y + z.im * x;
        }
    }
}

/// Makes the vectors orthonormal in each aggregate and chirality, by two Cholesky factorisations of their Gram matrices; false where they are dependent.
fn orthonormalise<R: Real>(
    half: usize,
    numbers: SiteNumbers,
    vectors: &mut [R],
    members: &[u32],
    per_aggregate: usize,
    aggregate_of: &[u32],
) -> bool {
    let count = numbers.columns / 2;
    let padded = 2 * numbers.padded();
    let at =
        |chirality: usize| -> Vec<[usize; 2]> { (0..count).map(|j| numbers.at(2 * j + chirality)).collect() };
    let places = [at(0), at(1)];
    let load = |row: &[R], chirality: usize, values: &mut Planar| {
        let values = values.re.iter_mut().zip(&mut values.im);
        for ((re, im), &[at_re, at_im]) in values.zip(&places[chirality]) {
            (*re, *im) = (row[at_re].to_f64(), row[at_im].to_f64());
        }
    };
    for _ in 0..2 {
        let source = &*vectors;
        let factors = members.par_chunks(per_aggregate).map(|members| {
            let mut grams = [vec![Planar::zero(count); count], vec![Planar::zero(count); count]];
            let mut values = Planar::zero(count);
            for &site in members {
                for i in 0..half {
                    let row = &source[(site as usize * half + i) * padded..][..padded];
                    for (chirality, gram) in grams.iter_mut().enumerate() {
                        load(row, chirality, &mut values);
                        for (l, sums) in gram.iter_mut().enumerate() {
                            let left = Complex64::new(values.re[l], -values.im[l]);
                            sums.add(l, left, &values, l);
                        }
                    }
                }
            }
            let factor = |gram: &[Planar]| {
                let gram = gram.iter().flat_map(Planar::numbers).collect();
                Some(inverse_factor(count, gram)?.chunks(count).map(Planar::of).collect::<Vec<_>>())
            };
            Some([factor(&grams[0])?, factor(&grams[1])?])
        });
        let Some(factors) = factors.collect::<Option<Vec<_>>>() else { return false };
        vectors.par_chunks_mut(padded * half).enumerate().for_each(|(site, rows)| {
            let (mut values, mut sums) = (Planar::zero(count), Planar::zero(count));
            for row in rows.chunks_mut(padded) {
                for (chirality, factor) in factors[aggregate_of[site] as usize].iter().enumerate() {
                    load(row, chirality, &mut values);
                    sums.re.fill(0.0);
                    sums.im.fill(0.0);
                    for (l, factor) in factor.iter().enumerate() {
                        sums.add(l, Complex64::new(values.re[l], values.im[l]), factor, l);
                    }
                    for (j, &[re, im]) in places[chirality].iter().enumerate() {
                        (row[re], row[im]) = (R::from_f64(sums.re[j]), R::from_f64(sums.im[j]));
                    }
                }
            }
        });
    }
    true
}

/// The part of a vector's square that must be its own.
const INDEPENDENT: f64 = 1e-10;

/// R⁻¹ for the Gram matrix R†R, whose upper triangle is given, row by row; `None` where the vectors are dependent.
fn inverse_factor(n: usize, mut gram: Vec<Complex64>) -> Option<Vec<Complex64>> {
    for k in 0..n {
        let whole = gram[k * n + k].re;
        let own = whole - (0..k).map(|l| gram[l * n + k].norm_sqr()).sum::<f64>();
        // False for what is not a number.
        let is_independent = own > INDEPENDENT * whole;
        if !is_independent {
            return None;
        }
        let root = own.sqrt();
        gram[k * n + k] = root.into();
        for j in k + 1..n {
            let known: Complex64 = (0..k).map(|l| gram[l * n + k].conj() * gram[l * n + j]).sum();
            gram[k * n + j] = (gram[k * n + j] - known) / root;
        }
    }
    let mut inverse = vec![Complex64::default(); n * n];
    for j in 0..n {
        inverse[j * n + j] = 1.0 / gram[j * n + j];
        for i in (0..j).rev() {
            let known: Complex64 = (i + 1..=j).map(|l| gram[i * n + l] * inverse[l * n + j]).sum();
            inverse[i * n + j] = -known / gram[i * n + i];
        }
    }
    Some(inverse)
}
