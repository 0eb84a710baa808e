//! The trait of a level that has a coarser level below it.
//!
//! The finest level of fields implements the trait, and so do coarse levels.

use super::coarse_operator::CoarseOperator;
use super::coarse_space::WholeVector;
use super::error::SetupError;
use super::transfer::{FinerNumbers, FinerPart, FinerParts};
use crate::device::{Buffer, Device, DeviceError, Number};
use crate::field::{
    Numbers, NumbersView, ParityField, SpinorField, buffer_of_mut, numbers_of, plain_spinors, set_numbers,
};
use crate::geometry::{NDIM, Shard};
use crate::host::{self, Philox, Spinor};
use crate::operator::{Dirac, SchurComplement, SchurSymmetry};
use crate::scalar::Real;
use lattice_solvers::{LinearOperator, VectorOf, VectorSpace};
use num_complex::Complex;
use rayon::prelude::*;

/// A level with a coarser one below it.
pub(super) trait Finer<R: Real> {
    /// Its system on the first half of its sites.
    type System: LinearOperator<Space: VectorSpace<Error = DeviceError, Scalar = Number>>;

    fn system(&self) -> &Self::System;

    /// How its numbers lie in memory.
    fn numbers(&self) -> FinerNumbers;

    /// Its sites, for each device.
    fn parts(&self) -> FinerParts;

    /// Gaussian random numbers on the first half: the same however the lattice is cut.
    fn random(&self, stream: u32) -> Result<VectorOf<Self::System>, SetupError>;

    /// Returns the numbers of all sites of a vector that is near-null for M.
    ///
    /// `half` is the first half of the vector, which is near-null for the system. The order of the
    /// numbers does not depend on how the lattice is cut.
    fn complete(&self, half: &VectorOf<Self::System>) -> Result<Vec<Complex<R>>, SetupError>;

    /// Room for the numbers of all sites.
    fn whole(&self) -> Result<Numbers<R>, SetupError>;

    /// Applies M on all sites, or its part from the neighbours ahead in `ahead`.
    ///
    /// The part is for directions in which blocks are thin. Then `x` is zero except for the first
    /// slices of blocks, and only the last slices of blocks count.
    fn apply(&mut self, x: &Numbers<R>, out: &mut Numbers<R>, ahead: Option<usize>)
    -> Result<(), SetupError>;
}

/// The key of the random numbers of a set-up.
const SEED: u64 = 0x6d75_6c74_6967_7269;

/// Gaussian numbers of a site.
fn gaussian<R: Real>(stream: u32, site: usize, count: usize) -> Vec<Complex<R>> {
    let mut random = Philox::new(SEED, stream, site as u64);
    let mut next = || {
        let z = random.gaussian();
        Complex::new(R::from_f64(z.re), R::from_f64(z.im))
    };
    (0..count).map(|_| next()).collect()
}

/// The finest level.
pub(super) struct FineLevel<R: Real> {
    dirac: Dirac<R>,
    schur: SchurComplement<R>,
    /// The blocks of the next level.
    ///
    /// In thin blocks, hops from ahead and from behind meet at a site.
    block: [usize; NDIM],
    room: Option<Room<R>>,
}

/// Fields between the order of this module and that of the operator.
struct Room<R: Real> {
    x: SpinorField<R>,
    out: SpinorField<R>,
    halves: [ParityField<R>; 2],
}

impl<R: Real> FineLevel<R> {
    pub fn new(dirac: Dirac<R>, block: [usize; NDIM]) -> Result<Self, SetupError> {
        let schur = dirac.schur_complement()?;
        Ok(Self { dirac, schur, block, room: None })
    }

    fn room(&mut self) -> Result<&mut Room<R>, SetupError> {
        if self.room.is_none() {
            let lattice = self.dirac.lattice();
            let half = |parity| lattice.parities::<R>(parity, 1);
            self.room =
                Some(Room { x: lattice.spinor()?, out: lattice.spinor()?, halves: [half(0)?, half(1)?] });
        }
        Ok(self.room.as_mut().expect("it was made"))
    }

    /// Lets go of what only the set-up needs.
    pub fn settle(self) -> SchurComplement<R> {
        self.schur
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
        let lattice = self.dirac.lattice();
        let dims = lattice.dims();
        let part = |device: Option<Device>, mut coordinates: Vec<[usize; NDIM]>| {
            coordinates.sort_by_key(|at| at.iter().sum::<usize>() % 2);
            let sites = coordinates.iter().map(|&at| dims.site(at)).collect();
            FinerPart { device, evens: coordinates.len() / 2, coordinates, sites }
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

    fn random(&self, stream: u32) -> Result<ParityField<R>, SetupError> {
        let lattice = self.dirac.lattice();
        let dims = lattice.dims();
        let evens: Vec<usize> = (0..dims.volume()).filter(|&site| dims.parity(site) == 0).collect();
        let spinor =
            |&site: &usize| host::multigrid::spinor(&gaussian(stream, site, Spinor::<R>::COMPONENTS));
        let spinors: Vec<Spinor<R>> = evens.par_iter().map(spinor).collect();
        Ok(lattice.parity_from_host(0, &spinors)?)
    }

    fn complete(&self, half: &ParityField<R>) -> Result<Vec<Complex<R>>, SetupError> {
        let lattice = self.dirac.lattice();
        let mut whole = lattice.spinor()?;
        // The half nearly solves the equation M x = 0: the other half follows from it.
        let parts = self.dirac.even_odd_parts(&lattice.spinor()?, SchurSymmetry::Asymmetric)?;
        parts.solution(half, &mut whole)?;
        let spinors = whole.to_host()?;
        let mut numbers = vec![Complex::default(); spinors.len() * Spinor::<R>::COMPONENTS];
        numbers
            .par_chunks_mut(Spinor::<R>::COMPONENTS)
            .zip(&spinors)
            .for_each(|(numbers, spinor)| numbers.copy_from_slice(&host::multigrid::plain(spinor)));
        Ok(numbers)
    }

    fn whole(&self) -> Result<Numbers<R>, SetupError> {
        Ok(plain_spinors::zero(self.dirac.lattice(), true)?)
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
}

/// A coarse level.
pub(super) struct CoarseLevel<'a, R: Real> {
    pub system: &'a CoarseOperator<R>,
    /// With the blocks as they are.
    pub raw: CoarseOperator<R>,
    room: Option<[WholeVector<R>; 2]>,
}

impl<'a, R: Real> CoarseLevel<'a, R> {
    pub fn new(system: &'a CoarseOperator<R>, raw: CoarseOperator<R>) -> Self {
        Self { system, raw, room: None }
    }

    /// Reals of the sites of a half, and where they begin among those of all.
    fn stretch(&self, half: usize) -> std::ops::Range<usize> {
        let [first, sites] = self.system.lattice().half(half);
        let reals = 2 * self.system.numbers().padded();
        first * reals..(first + sites) * reals
    }

    /// The fields of the halves become these numbers.
    fn put(&self, numbers: &Numbers<R>, to: &mut WholeVector<R>) -> Result<(), DeviceError> {
        for (half, field) in [Some(&mut to.even), to.odd.as_mut()].into_iter().flatten().enumerate() {
            let stretch = self.stretch(half);
            match numbers {
                Numbers::Host(numbers) => set_numbers(field, &numbers[stretch])?,
                Numbers::Devices(buffers) => {
                    let to = buffer_of_mut(field);
                    to.slice_mut(..stretch.len())?.copy_from(buffers[0].slice(stretch)?)?;
                }
            }
        }
        Ok(())
    }

    /// The reverse.
    fn take(&self, from: &WholeVector<R>, numbers: &mut Numbers<R>) -> Result<(), DeviceError> {
        for (half, field) in [Some(&from.even), from.odd.as_ref()].into_iter().flatten().enumerate() {
            let stretch = self.stretch(half);
            numbers_of(field, |own| match (own, &mut *numbers) {
                (NumbersView::Host(own), Numbers::Host(numbers)) => {
                    let count = stretch.len();
                    numbers[stretch].copy_from_slice(&own[..count]);
                    Ok(())
                }
                (NumbersView::Devices(own), Numbers::Devices(buffers)) => {
                    let count = stretch.len();
                    buffers[0].slice_mut(stretch)?.copy_from(own[0].slice(..count)?)
                }
                _ => unreachable!("the vectors of a level are in one place"),
            })?;
        }
        Ok(())
    }
}

impl<R: Real> Finer<R> for CoarseLevel<'_, R> {
    type System = CoarseOperator<R>;

    fn system(&self) -> &CoarseOperator<R> {
        self.system
    }

    fn numbers(&self) -> FinerNumbers {
        finer_numbers(self.system)
    }

    fn parts(&self) -> FinerParts {
        let lattice = self.system.lattice();
        let part = FinerPart {
            device: self.system.coarse_space().place().devices().first().cloned(),
            coordinates: (0..lattice.volume()).map(|place| lattice.coordinates(place)).collect(),
            sites: (0..lattice.volume()).collect(),
            evens: lattice.evens(),
        };
        // Each rank has all of it.
        FinerParts { own: vec![part], world: None }
    }

    fn random(&self, stream: u32) -> Result<SpinorField<R>, SetupError> {
        let (lattice, numbers) = (self.system.lattice(), self.system.numbers());
        let [nx, ny, nz, _] = lattice.extents();
        let site = |place| {
            let [x, y, z, t] = lattice.coordinates(place);
            ((t * nz + z) * ny + y) * nx + x
        };
        let all: Vec<Complex<R>> =
            (0..lattice.evens()).flat_map(|place| gaussian(stream, site(place), numbers.columns)).collect();
        let mut field = self.system.space().zero_vector()?;
        set_numbers(&mut field, &numbers.to_memory(&all))?;
        Ok(field)
    }

    fn complete(&self, half: &SpinorField<R>) -> Result<Vec<Complex<R>>, SetupError> {
        let whole = self.system.complete(half)?;
        let mut numbers = self.whole()?;
        self.take(&whole, &mut numbers)?;
        let memory = match numbers {
            Numbers::Host(numbers) => numbers,
            Numbers::Devices(buffers) => buffers[0].to_vec()?,
        };
        Ok(self.system.numbers().of_memory(&memory))
    }

    fn whole(&self) -> Result<Numbers<R>, SetupError> {
        let reals = self.system.lattice().volume() * 2 * self.system.numbers().padded();
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
                let zero = || WholeVector::zero(self.raw.coarse_space(), self.raw.lattice());
                [zero()?, zero()?]
            }
        };
        self.put(x, &mut field)?;
        match ahead {
            None => self.raw.apply_whole(&field, &mut image)?,
            Some(mu) => self.raw.apply_from_ahead(&field, &mut image, mu)?,
        }
        self.take(&image, out)?;
        self.room = Some([field, image]);
        Ok(())
    }
}

/// How the numbers of a coarse level lie in memory, seen from the level below it.
pub(super) fn finer_numbers<R: Real>(operator: &CoarseOperator<R>) -> FinerNumbers {
    let numbers = operator.numbers();
    FinerNumbers { half: numbers.columns / 2, padded: numbers.padded(), lanes: numbers.lanes }
}
