//! The operator of a coarse level.
//!
//! A matrix with a block for each site and each of its neighbours.

use super::coarse_lattice::CoarseLattice;
use super::coarse_space::{CoarseSpace, SiteNumbers, WholeVector};
use super::error::SetupError;
use super::kept::{DeviceNumbers, HostNumbers};
use super::kernels::{Hop, kernel};
use super::raw_blocks::{HOPS, INVERSE, KeptBlocks, RawBlocks, WITHIN};
use crate::compute::{Buffer, DeviceError, Kernel};
use crate::field::{SpinorField, SpinorSpace};
use crate::geometry::{LatticeError, NDIM};
use crate::host::multigrid::CoarseBlocks;
use crate::scalar::Real;
use lattice_solvers::{LinearOperator, VectorSpace, Work};
use num_complex::Complex;
use std::sync::{Arc, Mutex};

/// The blocks of an operator on all sites.
enum Storage<R: Real> {
    Host { blocks: Vec<Complex<R>>, neighbours: Vec<u32> },
    Device { blocks: DeviceNumbers<R>, neighbours: Buffer<u32> },
}

/// The system of a coarse level on its first half of sites.
///
/// The blocks of a site are multiplied by the inverse of its own block: M = D (1 + Â). With
/// parities the system is the Schur complement 1 − Â_eo Â_oe, without them 1 + Â.
pub(super) struct CoarseOperator<R: Real> {
    lattice: Arc<CoarseLattice>,
    space: CoarseSpace<R>,
    storage: Arc<Storage<R>>,
    /// `None` on the host.
    kernel: Option<Kernel>,
    /// A vector on the second half of sites.
    between: Mutex<SpinorField<R>>,
}

impl<R: Real> CoarseOperator<R> {
    /// Makes the operator with its blocks unscaled.
    ///
    /// [`apply_whole`](Self::apply_whole) applies it.
    pub fn raw(
        space: &CoarseSpace<R>,
        lattice: &Arc<CoarseLattice>,
        raw: &RawBlocks<R>,
    ) -> Result<Self, LatticeError> {
        Self::of_blocks(space, lattice, raw.kept()?)
    }

    /// Makes the system of level `level`.
    ///
    /// # Errors
    /// When a site's own block has no inverse, or a device fails.
    pub fn scaled(
        space: &CoarseSpace<R>,
        lattice: &Arc<CoarseLattice>,
        raw: &mut RawBlocks<R>,
        level: usize,
    ) -> Result<Self, SetupError> {
        let blocks = raw.scaled()?.ok_or(SetupError::Singular { level })?;
        Ok(Self::of_blocks(space, lattice, blocks)?)
    }

    /// Makes the system of kept blocks.
    pub fn of_kept(
        space: &CoarseSpace<R>,
        lattice: &Arc<CoarseLattice>,
        kept: HostNumbers<R>,
    ) -> Result<Self, LatticeError> {
        let blocks = if space.place().is_host() {
            KeptBlocks::Host(kept.into_whole())
        } else {
            let (device, numbers) = (space.place().device()?, space.numbers);
            KeptBlocks::Device(DeviceNumbers::of_host(device, &kept, numbers, numbers.columns)?)
        };
        Self::of_blocks(space, lattice, blocks)
    }

    /// Returns the blocks, to be kept.
    pub fn kept(&self) -> Result<HostNumbers<R>, DeviceError> {
        match &*self.storage {
            Storage::Host { blocks, .. } => Ok(HostNumbers::Whole(blocks.clone())),
            Storage::Device { blocks, .. } => blocks.to_host(self.space.numbers),
        }
    }

    fn of_blocks(
        space: &CoarseSpace<R>,
        lattice: &Arc<CoarseLattice>,
        blocks: KeptBlocks<R>,
    ) -> Result<Self, LatticeError> {
        let neighbours = lattice.neighbours_within_halves();
        let storage = match blocks {
            KeptBlocks::Host(blocks) => Storage::Host { blocks, neighbours },
            KeptBlocks::Device(blocks) => {
                let device = space.place().device()?;
                Storage::Device { blocks, neighbours: Buffer::from_slice(device, &neighbours)? }
            }
        };
        Self::of_storage(Arc::clone(lattice), space.clone(), Arc::new(storage))
    }

    fn of_storage(
        lattice: Arc<CoarseLattice>,
        space: CoarseSpace<R>,
        storage: Arc<Storage<R>>,
    ) -> Result<Self, LatticeError> {
        let between = Mutex::new(space.space().zero_vector()?);
        let kernel = match &*storage {
            Storage::Host { .. } => None,
            Storage::Device { .. } => {
                let device = space.place().device()?;
                Some(kernel::<R>(device, "coarse_hop", space.numbers, 1, space.sources())?)
            }
        };
        Ok(Self { lattice, space, storage, kernel, between })
    }

    /// Returns this operator for another number of right-hand sides.
    pub fn for_sources(&self, sources: usize) -> Result<Self, LatticeError> {
        let space = self.space.for_sources(sources)?;
        Self::of_storage(Arc::clone(&self.lattice), space, Arc::clone(&self.storage))
    }

    pub fn lattice(&self) -> &Arc<CoarseLattice> {
        &self.lattice
    }

    pub fn coarse_space(&self) -> &CoarseSpace<R> {
        &self.space
    }

    pub fn numbers(&self) -> SiteNumbers {
        self.space.numbers
    }

    /// out = alpha own + beta (the blocks of `mask`) on the sites of a half.
    ///
    /// `others` has the vectors of the neighbours, `own` those of the sites themselves.
    fn hop(
        &self,
        half: usize,
        vectors: [&SpinorField<R>; 2],
        out: &mut SpinorField<R>,
        mask: u32,
        factors: [f64; 2],
    ) -> Result<(), DeviceError> {
        let [first, sites] = self.lattice.half(half);
        let hop = Hop { first, sites, mask, factors: factors.map(R::from_f64) };
        match (&*self.storage, &self.kernel) {
            (Storage::Device { blocks, neighbours }, Some(kernel)) => {
                hop.start(kernel, &self.space, (blocks.arguments(), neighbours), vectors, out)
            }
            (Storage::Host { blocks, neighbours }, _) => {
                let operator = CoarseBlocks { blocks, neighbours, columns: self.space.numbers.columns };
                hop.on_host(operator, &self.space, vectors, out)
            }
            (Storage::Device { .. }, None) => unreachable!("blocks on a device have a kernel"),
        }
    }

    /// out = the part of M x that the blocks of `mask` make, for blocks as they are.
    fn apply_blocks(
        &self,
        x: &WholeVector<R>,
        out: &mut WholeVector<R>,
        mask: u32,
    ) -> Result<(), DeviceError> {
        match (&x.odd, &mut out.odd) {
            (Some(odd), Some(out_odd)) => {
                self.hop(0, [odd, &x.even], &mut out.even, mask, [0.0, 1.0])?;
                self.hop(1, [&x.even, odd], out_odd, mask, [0.0, 1.0])
            }
            _ => self.hop(0, [&x.even, &x.even], &mut out.even, mask, [0.0, 1.0]),
        }
    }

    /// out = M x, for blocks as they are.
    pub fn apply_whole(&self, x: &WholeVector<R>, out: &mut WholeVector<R>) -> Result<(), DeviceError> {
        self.apply_blocks(x, out, HOPS | 1 << WITHIN)
    }

    /// out = the part of M x that comes from the neighbours ahead in direction `mu`.
    ///
    /// Blocks are as they are.
    pub fn apply_from_ahead(
        &self,
        x: &WholeVector<R>,
        out: &mut WholeVector<R>,
        mu: usize,
    ) -> Result<(), DeviceError> {
        self.apply_blocks(x, out, 1 << (2 * mu))
    }

    /// out = D x on the first half, for the blocks D of the sites themselves.
    ///
    /// A residual of the system becomes one of M x = b by it.
    pub fn within(&self, x: &SpinorField<R>, out: &mut SpinorField<R>) -> Result<(), DeviceError> {
        self.hop(0, [x, x], out, 1 << WITHIN, [0.0, 1.0])
    }

    /// Makes the right-hand side of the system from that of M x = c.
    ///
    /// `turned` becomes D⁻¹ c, which [`solution`](Self::solution) needs.
    pub fn source(
        &self,
        c: &WholeVector<R>,
        turned: &mut WholeVector<R>,
        source: &mut SpinorField<R>,
    ) -> Result<(), DeviceError> {
        let inverse = 1 << INVERSE;
        self.hop(0, [&c.even, &c.even], &mut turned.even, inverse, [0.0, 1.0])?;
        let (Some(odd), Some(turned_odd)) = (&c.odd, &mut turned.odd) else {
            return self.space.space().copy(&turned.even, source);
        };
        self.hop(1, [odd, odd], turned_odd, inverse, [0.0, 1.0])?;
        self.hop(0, [turned_odd, &turned.even], source, HOPS, [1.0, -1.0])
    }

    /// Completes a solution by its second half, which follows from the first.
    pub fn solution(&self, turned: &WholeVector<R>, x: &mut WholeVector<R>) -> Result<(), DeviceError> {
        let (Some(turned), Some(odd)) = (&turned.odd, &mut x.odd) else { return Ok(()) };
        self.hop(1, [&x.even, turned], odd, HOPS, [1.0, -1.0])
    }

    /// Completes a vector that is near-null for the system by its second half.
    pub fn complete(&self, even: &SpinorField<R>) -> Result<WholeVector<R>, LatticeError> {
        let mut whole = WholeVector::zero(&self.space, &self.lattice)?;
        let turned = WholeVector::zero(&self.space, &self.lattice)?;
        self.space.space().copy(even, &mut whole.even)?;
        self.solution(&turned, &mut whole)?;
        Ok(whole)
    }

    /// Returns the work of a pass over so many blocks of every site.
    fn work_of(&self, blocks: usize, sites: usize) -> Work {
        let n = self.space.numbers.columns as u64;
        let numbers = (blocks * sites) as u64 * n * n;
        let flops = 8 * numbers * self.space.sources() as u64;
        Work { flops, bytes: numbers * DeviceNumbers::<R>::bytes_of_number() }
    }

    /// Returns the work of computing source and solution of the Schur system.
    ///
    /// The sum of [`source`](Self::source) and [`solution`](Self::solution).
    pub fn work_of_sides(&self) -> Work {
        let mut work = self.work_of(1, self.lattice.volume());
        if self.lattice.has_parities() {
            work += self.work_of(2 * NDIM, self.lattice.volume());
        }
        work
    }
}

impl<R: Real> LinearOperator for CoarseOperator<R> {
    type Space = SpinorSpace<R>;

    fn space(&self) -> &SpinorSpace<R> {
        self.space.space()
    }

    fn apply(&self, x: &SpinorField<R>, out: &mut SpinorField<R>) -> Result<(), DeviceError> {
        if !self.lattice.has_parities() {
            return self.hop(0, [x, x], out, HOPS, [1.0, 1.0]);
        }
        let mut between = crate::sync::lock(&self.between);
        self.hop(1, [x, x], &mut between, HOPS, [0.0, 1.0])?;
        self.hop(0, [&between, x], out, HOPS, [1.0, -1.0])
    }

    fn work(&self) -> Work {
        self.work_of(2 * NDIM, self.lattice.volume())
    }
}
