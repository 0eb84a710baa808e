//! The vectors of a coarse level.

use super::coarse_lattice::CoarseLattice;
use crate::compute::parallel::*;
use crate::compute::{DeviceError, Team};
use crate::field::{NumbersView, SpinorField, SpinorSpace, numbers_of, set_numbers};
use crate::geometry::{Dims, Lattice, LatticeError};
use crate::host::Spinor;
use crate::scalar::Real;
use bytemuck::Pod;
use lattice_solvers::VectorSpace;
use num_complex::Complex;
use std::borrow::Cow;

/// The memory layout of the numbers of a coarse site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SiteNumbers {
    /// Numbers of a site: two for each near-null vector.
    pub columns: usize,
    /// Real parts that lie together, before as many imaginary parts.
    pub lanes: usize,
}

impl SiteNumbers {
    /// With the zeros that make them whole chunks.
    pub fn padded(self) -> usize {
        self.columns.next_multiple_of(self.lanes)
    }

    pub fn chunks(self) -> usize {
        self.padded() / self.lanes
    }

    /// Returns the positions of both parts of a number of a site.
    ///
    /// Positions are counted from the first real of the site.
    pub fn at(self, column: usize) -> [usize; 2] {
        let re = column / self.lanes * 2 * self.lanes + column % self.lanes;
        [re, re + self.lanes]
    }

    /// Numbers of sites one after the other as they lie in memory.
    pub fn to_memory<T: ComplexComponent>(self, numbers: &[Complex<T>]) -> Cow<'_, [T]> {
        if self.lanes == 1 {
            return Cow::Borrowed(bytemuck::cast_slice(numbers));
        }
        let of_site = 2 * self.padded();
        let mut memory = vec![T::default(); numbers.len() / self.columns * of_site];
        let sites = numbers.par_chunks(self.columns).zip(memory.par_chunks_mut(of_site));
        sites.for_each(|(site, own)| self.copy_to_memory(site, own));
        Cow::Owned(memory)
    }

    /// Writes the numbers of [`to_memory`](Self::to_memory) into memory, which has zeros.
    pub fn copy_to_memory<T: ComplexComponent>(self, numbers: &[Complex<T>], memory: &mut [T]) {
        for (site, own) in numbers.chunks(self.columns).zip(memory.chunks_mut(2 * self.padded())) {
            for (site, own) in site.chunks(self.lanes).zip(own.chunks_mut(2 * self.lanes)) {
                let (re, im) = own.split_at_mut(self.lanes);
                for ((z, re), im) in site.iter().zip(re).zip(im) {
                    (*re, *im) = (z.re, z.im);
                }
            }
        }
    }

    /// The reverse.
    pub fn of_memory<T: ComplexComponent>(self, memory: &[T]) -> Vec<Complex<T>> {
        if self.lanes == 1 {
            return bytemuck::cast_slice(memory).to_vec();
        }
        let of_site = 2 * self.padded();
        let mut numbers = vec![Complex::default(); memory.len() / of_site * self.columns];
        let sites = numbers.par_chunks_mut(self.columns).zip(memory.par_chunks(of_site));
        sites.for_each(|(site, own)| {
            for (column, z) in site.iter_mut().enumerate() {
                let [re, im] = self.at(column);
                *z = Complex::new(own[re], own[im]);
            }
        });
        numbers
    }
}

/// A component of a complex number: a real, or a whole number of units.
pub(super) trait ComplexComponent: Pod + Default + Send + Sync {}

impl<T: Pod + Default + Send + Sync> ComplexComponent for T {}

/// The vector spaces of a coarse level.
///
/// Vectors on a half of the sites are spinor fields of a lattice that has room for their numbers.
/// So the updates of spinor fields serve them. Only the kernels of this module know the meaning of
/// the numbers.
///
/// A vector may have several right-hand sides, which lie one after the other. Inner products are
/// summed over all of them.
#[derive(Clone)]
pub(super) struct CoarseSpace<R: Real> {
    pub numbers: SiteNumbers,
    sources: usize,
    space: SpinorSpace<R>,
}

/// The extent in t of a lattice for vectors is a multiple of this number.
///
/// The other extents are 2, 2, 2. The lattice can be cut into lanes of every width.
const TIMES: usize = 32;

impl<R: Real> CoarseSpace<R> {
    /// Makes the space for vectors of a coarse lattice, on the host or a device.
    ///
    /// Each site has `columns` numbers for each of `sources` right-hand sides.
    pub fn new(
        place: &Team,
        lattice: &CoarseLattice,
        columns: usize,
        sources: usize,
    ) -> Result<Self, LatticeError> {
        // No more lanes than make two chunks, so that few numbers are padded.
        let wanted = lattice.evens() * columns.next_multiple_of(16);
        let times = TIMES * wanted.div_ceil(8 * TIMES * Spinor::<R>::COMPONENTS);
        let extents = Dims::new([2, 2, 2, times]).expect("even extents");
        let room = Lattice::new(place, extents)?;
        let lanes = room.shards().first().map_or(1, |shard| shard.layout(R::STORAGE).lanes());
        let space = room.spinor_block_space(sources)?;
        Ok(Self { numbers: SiteNumbers { columns, lanes }, sources, space })
    }

    /// Returns the space of vectors with another number of right-hand sides.
    pub fn for_sources(&self, sources: usize) -> Result<Self, LatticeError> {
        let space = self.space.lattice().spinor_block_space(sources)?;
        Ok(Self { numbers: self.numbers, sources, space })
    }

    /// Returns the space of the same vectors with other numbers at each site.
    pub fn with_numbers(&self, numbers: SiteNumbers) -> Self {
        Self { numbers, ..self.clone() }
    }

    /// Returns the number of right-hand sides of a vector.
    pub fn sources(&self) -> usize {
        self.sources
    }

    /// Returns how many reals there are from one right-hand side to the next.
    pub fn stride(&self) -> usize {
        2 * self.space.dimension() / self.sources
    }

    /// Sets the numbers of a half of the sites, right-hand sides one after the other.
    pub fn set(&self, field: &mut SpinorField<R>, numbers: &[Complex<R>]) -> Result<(), DeviceError> {
        let mut memory = vec![R::zero(); self.sources * self.stride()];
        let of_sources = numbers.chunks(numbers.len() / self.sources);
        for (memory, numbers) in memory.chunks_mut(self.stride()).zip(of_sources) {
            let numbers = self.numbers.to_memory(numbers);
            memory[..numbers.len()].copy_from_slice(&numbers);
        }
        set_numbers(field, &memory)
    }

    /// Returns the numbers of the first `sites` sites.
    ///
    /// Right-hand sides come one after the other.
    pub fn to_host(&self, field: &SpinorField<R>, sites: usize) -> Result<Vec<Complex<R>>, DeviceError> {
        let (reals, stride) = (2 * sites * self.numbers.padded(), self.stride());
        let wanted = (self.sources - 1) * stride + reals;
        let memory = numbers_of(field, |numbers| match numbers {
            NumbersView::Host(numbers) => Ok(numbers[..wanted].to_vec()),
            NumbersView::Devices(buffers) => buffers[0].slice(..wanted)?.to_vec(),
        })?;
        let of_source = |memory: &[R]| self.numbers.of_memory(&memory[..reals]);
        Ok(memory.chunks(stride).flat_map(of_source).collect())
    }

    pub fn space(&self) -> &SpinorSpace<R> {
        &self.space
    }

    /// The host, or the device.
    pub fn place(&self) -> &Team {
        self.space.lattice().team()
    }
}

/// A vector on all sites of a coarse level.
pub(super) struct WholeVector<R: Real> {
    pub even: SpinorField<R>,
    /// `None` where the sites have no parities.
    pub odd: Option<SpinorField<R>>,
}

impl<R: Real> WholeVector<R> {
    pub fn zero(space: &CoarseSpace<R>, lattice: &CoarseLattice) -> Result<Self, LatticeError> {
        let zero = || space.space.zero_vector().map_err(LatticeError::from);
        Ok(Self { even: zero()?, odd: lattice.has_parities().then(zero).transpose()? })
    }

    /// The fields of both halves.
    fn halves(&self) -> impl Iterator<Item = &SpinorField<R>> {
        std::iter::once(&self.even).chain(&self.odd)
    }

    /// Returns the numbers of all sites in the order of places.
    ///
    /// Right-hand sides come one after the other.
    pub fn to_host(
        &self,
        space: &CoarseSpace<R>,
        lattice: &CoarseLattice,
    ) -> Result<Vec<Complex<R>>, DeviceError> {
        let halves =
            self.halves().enumerate().map(|(half, field)| space.to_host(field, lattice.half(half)[1]));
        let halves = halves.collect::<Result<Vec<_>, _>>()?;
        let of_source = |source: usize| {
            halves.iter().flat_map(move |half| {
                let numbers = half.len() / space.sources;
                half[source * numbers..][..numbers].iter().copied()
            })
        };
        Ok((0..space.sources).flat_map(of_source).collect())
    }

    /// The reverse of [`to_host`](Self::to_host).
    pub fn set(
        &mut self,
        space: &CoarseSpace<R>,
        lattice: &CoarseLattice,
        numbers: &[Complex<R>],
    ) -> Result<(), DeviceError> {
        let (columns, of_source) = (space.numbers.columns, numbers.len() / space.sources);
        let of_half = |half: usize| -> Vec<Complex<R>> {
            let [first, sites] = lattice.half(half);
            let own = |numbers: &[Complex<R>]| numbers[first * columns..][..sites * columns].to_vec();
            numbers.chunks(of_source).flat_map(own).collect()
        };
        space.set(&mut self.even, &of_half(0))?;
        self.odd.as_mut().map_or(Ok(()), |odd| space.set(odd, &of_half(1)))
    }
}
