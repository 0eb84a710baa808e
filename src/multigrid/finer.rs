//! The trait of a level that has a coarser level below it.
//!
//! The finest level of fields implements the trait, and so do coarse levels.

use super::coarse_operator::CoarseOperator;
use super::coarse_space::WholeVector;
use super::error::SetupError;
use super::finer_sites::{FinerNumbers, FinerPart, FinerParts};
use super::random::RandomNumbers;
use crate::compute::{Buffer, Device, DeviceError, Number};
use crate::field::{
    Numbers, NumbersView, ParityField, SpinorField, buffer_of_mut, numbers_of, plain_spinors, set_numbers,
};
use crate::geometry::{Lattice, NDIM, Shard};
use crate::host::Spinor;
use crate::operator::{Dirac, SchurComplement, SchurSymmetry};
use crate::scalar::Real;
use lattice_solvers::{LinearOperator, VectorOf, VectorSpace};
use std::ops::Range;

/// A level with a coarser one below it.
pub(super) trait Finer<R: Real> {
    /// The system on the first half of the sites, for some number of right-hand sides.
    type System: LinearOperator<Space: VectorSpace<Error = DeviceError, Scalar = Number>>;

    fn system(&self) -> &Self::System;

    /// Returns the memory layout of its numbers.
    fn numbers(&self) -> FinerNumbers;

    /// Its sites, for each device.
    fn parts(&self) -> FinerParts;

    /// Right-hand sides of its vectors.
    fn sources(&self) -> usize;

    /// Returns random numbers on the first half of the sites.
    ///
    /// Each right-hand side has a stream of its own. The numbers do not depend on how the lattice
    /// is cut.
    fn random(&self, first_stream: u32) -> Result<VectorOf<Self::System>, SetupError>;

    /// Returns the numbers of all sites of vectors that are near-null for M.
    ///
    /// `half` is the first half of the vectors, which is near-null for the system.
    fn complete(&self, half: &VectorOf<Self::System>) -> Result<Numbers<R>, SetupError>;

    /// Returns room for the numbers of all sites and right-hand sides.
    fn whole(&self) -> Result<Numbers<R>, SetupError>;

    /// Applies M on all sites, or its part from the neighbours ahead in `ahead`.
    ///
    /// The part is for directions in which blocks are thin. Then `x` is zero except for the first
    /// slices of blocks, and only the last slices of blocks count.
    fn apply(&mut self, x: &Numbers<R>, out: &mut Numbers<R>, ahead: Option<usize>)
    -> Result<(), SetupError>;

    /// Releases the memory that [`apply`](Self::apply) has kept.
    fn release(&mut self);
}

/// The finest level, for as many right-hand sides as its operator has.
pub(super) struct FineLevel<R: Real> {
    sources: usize,
    dirac: Dirac<R>,
    schur: SchurComplement<R>,
    /// The blocks of the next level.
    ///
    /// In thin blocks, hops from ahead and from behind meet at a site.
    block: [usize; NDIM],
    parts: FinerParts,
    room: Option<Room<R>>,
}

/// Fields between the order of this module and that of the operator.
struct Room<R: Real> {
    x: SpinorField<R>,
    out: SpinorField<R>,
    halves: [ParityField<R>; 2],
}

impl<R: Real> FineLevel<R> {
    pub fn new(dirac: &Dirac<R>, block: [usize; NDIM], sources: usize) -> Result<Self, SetupError> {
        let dirac = dirac.for_columns(sources)?;
        let schur = dirac.schur_complement()?;
        let parts = parts(dirac.lattice());
        Ok(Self { sources, dirac, schur, block, parts, room: None })
    }

    fn room(&mut self) -> Result<&mut Room<R>, SetupError> {
        if self.room.is_none() {
            let lattice = self.dirac.lattice();
            let half = |parity| lattice.parities::<R>(parity, self.sources);
            let whole = || lattice.spinors(self.sources);
            self.room = Some(Room { x: whole()?, out: whole()?, halves: [half(0)?, half(1)?] });
        }
        Ok(self.room.as_mut().expect("it was made"))
    }
}

impl<R: Real> Finer<R> for FineLevel<R> {
    type System = SchurComplement<R>;

    fn system(&self) -> &SchurComplement<R> {
        &self.schur
    }

    fn numbers(&self) -> FinerNumbers {
        FinerNumbers { half: Spinor::<R>::COMPONENTS / 2, padded: Spinor::<R>::COMPONENTS, lanes: 1 }
    }

    fn parts(&self) -> FinerParts {
        self.parts.clone()
    }

    fn sources(&self) -> usize {
        self.sources
    }

    fn random(&self, first_stream: u32) -> Result<ParityField<R>, SetupError> {
        let (lattice, sources) = (self.dirac.lattice(), self.sources);
        let mut numbers = plain_spinors::zero(lattice, false, sources)?;
        for (k, FinerPart { sites, evens, .. }) in self.parts.own.iter().enumerate() {
            let sites = &sites[..*evens];
            let random = RandomNumbers { sites, of_site: Spinor::<R>::COMPONENTS, first_stream };
            match &mut numbers {
                Numbers::Host(numbers) => {
                    numbers.copy_from_slice(bytemuck::cast_slice(&random.on_host::<R>(sources)));
                }
                Numbers::Devices(buffers) => random.on_device(&mut buffers[k], sources)?,
            }
        }
        let mut half = lattice.parities(0, sources)?;
        plain_spinors::put(&numbers, &mut half)?;
        Ok(half)
    }

    fn complete(&self, half: &ParityField<R>) -> Result<Numbers<R>, SetupError> {
        let lattice = self.dirac.lattice();
        let mut whole = lattice.spinors(self.sources)?;
        // The half nearly solves the equation M x = 0: the other half follows from it.
        let parts = self.dirac.even_odd_parts(&whole, SchurSymmetry::Asymmetric)?;
        parts.solution(half, &mut whole)?;
        let mut numbers = self.whole()?;
        for parity in 0..2 {
            let mut half = lattice.parities(parity, self.sources)?;
            whole.copy_parity_to(&mut half)?;
            plain_spinors::take(&half, &mut numbers)?;
        }
        Ok(numbers)
    }

    fn whole(&self) -> Result<Numbers<R>, SetupError> {
        Ok(plain_spinors::zero(self.dirac.lattice(), true, self.sources)?)
    }

    fn apply(
        &mut self,
        x: &Numbers<R>,
        out: &mut Numbers<R>,
        ahead: Option<usize>,
    ) -> Result<(), SetupError> {
        let block = self.block;
        self.room()?;
        let Some(Room { x: field, out: image, halves }) = &mut self.room else { unreachable!("made above") };
        for half in &mut *halves {
            plain_spinors::put(x, half)?;
            field.copy_parity_from(half)?;
        }
        self.dirac.apply(field, image)?;
        for half in &mut *halves {
            image.copy_parity_to(half)?;
            plain_spinors::take(half, out)?;
        }
        // Hops from behind have the other projector.
        if let Some(mu) = ahead.filter(|&mu| block[mu] == 2) {
            plain_spinors::project(self.dirac.lattice(), out, mu)?;
        }
        Ok(())
    }

    fn release(&mut self) {
        self.room = None;
    }
}

/// A coarse level, for as many right-hand sides as its operators have.
pub(super) struct CoarseLevel<R: Real> {
    pub system: CoarseOperator<R>,
    /// The operator with the blocks as they are, if it is to be applied.
    pub raw: Option<CoarseOperator<R>>,
    room: Option<[WholeVector<R>; 2]>,
}

impl<R: Real> CoarseLevel<R> {
    pub fn new(system: CoarseOperator<R>, raw: Option<CoarseOperator<R>>) -> Self {
        Self { system, raw, room: None }
    }

    /// Returns the places of the reals of a half, for each right-hand side.
    ///
    /// The first place is among the numbers of all sites, the second in the field of the half.
    fn stretches(&self, half: usize) -> impl Iterator<Item = [Range<usize>; 2]> + use<R> {
        let [first, sites] = self.system.lattice().half(half);
        let reals = 2 * self.system.numbers().padded();
        let (whole, field) = (self.reals(), self.system.coarse_space().stride());
        (0..self.sources()).map(move |source| {
            [source * whole + first * reals, source * field].map(|start| start..start + sites * reals)
        })
    }

    /// Returns the number of reals of all sites, of one right-hand side.
    fn reals(&self) -> usize {
        self.system.lattice().volume() * 2 * self.system.numbers().padded()
    }

    /// The fields of the halves become these numbers.
    fn put(&self, numbers: &Numbers<R>, to: &mut WholeVector<R>) -> Result<(), DeviceError> {
        for (half, field) in [Some(&mut to.even), to.odd.as_mut()].into_iter().flatten().enumerate() {
            match numbers {
                Numbers::Host(numbers) => {
                    let mut memory = vec![R::zero(); self.sources() * self.system.coarse_space().stride()];
                    for [whole, own] in self.stretches(half) {
                        memory[own].copy_from_slice(&numbers[whole]);
                    }
                    set_numbers(field, &memory)?;
                }
                Numbers::Devices(buffers) => {
                    for [whole, own] in self.stretches(half) {
                        buffer_of_mut(field).slice_mut(own)?.copy_from(buffers[0].slice(whole)?)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The reverse of [`put`](Self::put).
    fn take(&self, from: &WholeVector<R>, numbers: &mut Numbers<R>) -> Result<(), DeviceError> {
        for (half, field) in [Some(&from.even), from.odd.as_ref()].into_iter().flatten().enumerate() {
            numbers_of(field, |own| match (own, &mut *numbers) {
                (NumbersView::Host(field), Numbers::Host(numbers)) => {
                    for [whole, own] in self.stretches(half) {
                        numbers[whole].copy_from_slice(&field[own]);
                    }
                    Ok(())
                }
                (NumbersView::Devices(field), Numbers::Devices(buffers)) => {
                    self.stretches(half).try_for_each(|[whole, own]| {
                        buffers[0].slice_mut(whole)?.copy_from(field[0].slice(own)?)
                    })
                }
                _ => unreachable!("the vectors of a level are in one place"),
            })?;
        }
        Ok(())
    }
}

impl<R: Real> Finer<R> for CoarseLevel<R> {
    type System = CoarseOperator<R>;

    fn system(&self) -> &CoarseOperator<R> {
        &self.system
    }

    fn numbers(&self) -> FinerNumbers {
        let numbers = self.system.numbers();
        FinerNumbers { half: numbers.columns / 2, padded: numbers.padded(), lanes: numbers.lanes }
    }

    fn sources(&self) -> usize {
        self.system.coarse_space().sources()
    }

    fn parts(&self) -> FinerParts {
        let lattice = self.system.lattice();
        let part = FinerPart {
            device: self.system.coarse_space().place().devices().first().cloned(),
            coordinates: (0..lattice.volume()).map(|place| lattice.coordinates(place)).collect(),
            sites: (0..lattice.volume()).collect(),
            order: (0..lattice.volume()).collect(),
            evens: lattice.evens(),
        };
        // Each rank has all of it.
        FinerParts { own: vec![part], world: None }
    }

    fn random(&self, first_stream: u32) -> Result<SpinorField<R>, SetupError> {
        let (lattice, numbers) = (self.system.lattice(), self.system.numbers());
        let [nx, ny, nz, _] = lattice.extents();
        let site = |place| {
            let [x, y, z, t] = lattice.coordinates(place);
            ((t * nz + z) * ny + y) * nx + x
        };
        let sites: Vec<usize> = (0..lattice.evens()).map(site).collect();
        let random = RandomNumbers { sites: &sites, of_site: numbers.columns, first_stream };
        let all = random.on_host(self.sources());
        let mut field = self.system.space().zero_vector()?;
        self.system.coarse_space().set(&mut field, &all)?;
        Ok(field)
    }

    fn complete(&self, half: &SpinorField<R>) -> Result<Numbers<R>, SetupError> {
        let whole = self.system.complete(half)?;
        let mut numbers = self.whole()?;
        self.take(&whole, &mut numbers)?;
        Ok(numbers)
    }

    fn whole(&self) -> Result<Numbers<R>, SetupError> {
        let reals = self.sources() * self.reals();
        Ok(match self.system.coarse_space().place().devices().first() {
            None => Numbers::Host(vec![R::zero(); reals]),
            Some(device) => Numbers::Devices(vec![Buffer::zeroed(device, reals)?]),
        })
    }

    fn apply(
        &mut self,
        x: &Numbers<R>,
        out: &mut Numbers<R>,
        ahead: Option<usize>,
    ) -> Result<(), SetupError> {
        let [mut field, mut image] = match self.room.take() {
            Some(room) => room,
            None => {
                let zero = || WholeVector::zero(self.system.coarse_space(), self.system.lattice());
                [zero()?, zero()?]
            }
        };
        self.put(x, &mut field)?;
        let raw = self.raw.as_ref().unwrap_or_else(|| unreachable!("coarser operators are known otherwise"));
        match ahead {
            None => raw.apply_whole(&field, &mut image)?,
            Some(mu) => raw.apply_from_ahead(&field, &mut image, mu)?,
        }
        self.take(&image, out)?;
        self.room = Some([field, image]);
        Ok(())
    }

    fn release(&mut self) {
        self.room = None;
    }
}

/// The sites of a lattice on each of its devices here.
fn parts(lattice: &Lattice) -> FinerParts {
    let dims = lattice.dims();
    let part = |device: Option<Device>, coordinates: Vec<[usize; NDIM]>| {
        let is_even = |at: &[usize; NDIM]| at.iter().sum::<usize>().is_multiple_of(2);
        let (mut coordinates, odds): (Vec<_>, Vec<_>) = coordinates.into_iter().partition(is_even);
        let evens = coordinates.len();
        coordinates.extend(odds);
        let sites: Vec<_> = coordinates.iter().map(|&at| dims.site(at)).collect();
        // Even sites come first. Extents are even: of two sites beside each other in x, one is even.
        let order = |(k, &site): (usize, &usize)| site / 2 + if k < evens { 0 } else { dims.volume() / 2 };
        let order = sites.iter().enumerate().map(order).collect();
        FinerPart { device, evens, coordinates, sites, order }
    };
    if lattice.team().is_host() {
        let all = (0..dims.volume()).map(|site| dims.coordinates(site)).collect();
        return FinerParts { own: vec![part(None, all)], world: None };
    }
    let of_shard = |shard: &Shard| {
        let [nx, ny, nz, _] = shard.domain.extents();
        let volume = shard.domain.volume();
        let at =
            |k: usize| shard.domain.global([k % nx, k / nx % ny, k / (nx * ny) % nz, k / (nx * ny * nz)]);
        part(Some(shard.device.clone()), (0..volume).map(at).collect())
    };
    let world = lattice.ranks().filter(|world| world.size() > 1).cloned();
    FinerParts { own: lattice.shards().iter().map(of_shard).collect(), world }
}
