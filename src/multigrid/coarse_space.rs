//! The vectors of a coarse level.

use super::coarse_lattice::CoarseLattice;
use crate::device::Team;
use crate::field::{SpinorField, SpinorSpace};
use crate::geometry::{Dims, Lattice, LatticeError};
use crate::host::Spinor;
use crate::scalar::Real;
use lattice_solvers::VectorSpace;
use num_complex::Complex;

/// How the numbers of a coarse site lie in memory.
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
    pub fn to_memory<R: Real>(self, numbers: &[Complex<R>]) -> Vec<R> {
        let mut memory = vec![R::zero(); numbers.len() / self.columns * self.padded() * 2];
        for (site, own) in numbers.chunks(self.columns).zip(memory.chunks_mut(2 * self.padded())) {
            for (column, z) in site.iter().enumerate() {
                let [re, im] = self.at(column);
                (own[re], own[im]) = (z.re, z.im);
            }
        }
        memory
    }

    /// The reverse.
    pub fn of_memory<R: Real>(self, memory: &[R]) -> Vec<Complex<R>> {
        let of_site = |own: &[R]| {
            let number = |column| {
                let [re, im] = self.at(column);
                Complex::new(own[re], own[im])
            };
            (0..self.columns).map(number).collect::<Vec<_>>()
        };
        memory.chunks(2 * self.padded()).flat_map(of_site).collect()
    }
}

/// The vector spaces of a coarse level.
///
/// Vectors on a half of the sites are spinor fields of a lattice that has room for their numbers.
/// So the updates of spinor fields serve them. Only the kernels of this module know the meaning of
/// the numbers.
#[derive(Clone)]
pub(super) struct CoarseSpace<R: Real> {
    pub numbers: SiteNumbers,
    space: SpinorSpace<R>,
}

/// The extent in t of a lattice for vectors is a multiple of this number.
///
/// The other extents are 2, 2, 2. The lattice can be cut into lanes of every width.
const TIMES: usize = 32;

impl<R: Real> CoarseSpace<R> {
    /// Makes the space for vectors of a coarse lattice, on the host or a device.
    ///
    /// Each site has `columns` numbers.
    pub fn new(place: &Team, lattice: &CoarseLattice, columns: usize) -> Result<Self, LatticeError> {
        // No more lanes than make two chunks, so that few numbers are padded.
        let wanted = lattice.evens() * columns.next_multiple_of(16);
        let times = TIMES * wanted.div_ceil(8 * TIMES * Spinor::<R>::COMPONENTS);
        let extents = Dims::new([2, 2, 2, times]).expect("even extents");
        let room = Lattice::new(place, extents)?;
        let lanes = room.shards().first().map_or(1, |shard| shard.layout(R::STORAGE).lanes());
        Ok(Self { numbers: SiteNumbers { columns, lanes }, space: room.spinor_space()? })
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
}
