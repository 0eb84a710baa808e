//! The places of sites in the memory of one device.
//!
//! A device holds a domain of the lattice. Its sites are stored even ones first, then odd ones.
//!
//! With several lanes a field is stored as
//! `[parity][group][block][component in the group][re, im][lane]`. The links of each direction are
//! read in the order of their sites, also the links that belong to neighbours.
//!
//! With one lane a field is stored as
//! `[parity][chunk][vector][site in the chunk][component in the vector][re, im]`. Vectors have up
//! to 16 bytes, the widest loads of a work-item. Each kind of vector lies together for all sites of
//! a chunk. A vector holds one complex number in double, two in single, four in half. The remainder
//! of a group of components is a narrower vector at the group's end.
//!
//! A chunk has as many sites as a GPU's work-items go together. The vectors of a site are thus at
//! distances that a compiler knows for lattices of all sizes. In half precision all sites of a
//! parity are one chunk: instructions count there, and finding a site's chunk would be one too
//! many.
//!
//! In half precision each parity of a spinor field ends with the units of its sites, one `f32`
//! each: `[block][lane]`.
//!
//! With several lanes the domain is cut into as many equal sub-lattices. Lane *l* of a block is the
//! same site of sub-lattice *l*. All extents of a sub-lattice that is cut off are even, so the
//! lanes of a block have one parity.

use super::{Domain, NDIM};
use crate::scalar::StoragePrecision;
use std::cmp::Reverse;

/// The groups of complex numbers of a field at each site.
///
/// The four links of a site are four groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Groups of numbers that are loaded together.
    pub groups: usize,
    /// Complex numbers in each group.
    pub group: usize,
    /// `true` if a site has a unit of its own in half precision.
    pub with_unit: bool,
}

impl Shape {
    /// A Dirac spinor with colour.
    pub const SPINOR: Self = Self { groups: 1, group: 12, with_unit: true };

    /// Returns the shape of the four links of a site, each stored in `reals` reals.
    pub fn links(reals: usize) -> Self {
        Self { groups: NDIM, group: reals / 2, with_unit: false }
    }

    /// Returns the shape of a block of so many complex numbers for each chirality.
    pub fn blocks(numbers: usize) -> Self {
        Self { groups: 2, group: numbers, with_unit: true }
    }

    /// Returns the number of complex numbers at each site.
    pub const fn components(self) -> usize {
        self.groups * self.group
    }
}

/// The site order and memory layout of one device's domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    domain: Domain,
    cuts: [usize; NDIM],
    precision: StoragePrecision,
}

/// Bytes of the widest load of a work-item.
const VECTOR_BYTES: usize = 16;

/// Most sites of a chunk, a power of two.
const CHUNK_SITES: usize = 32;

/// 16-bit numbers that take as much memory as a unit.
const UNIT_NUMBERS: usize = size_of::<f32>() / size_of::<i16>();

/// The position of a site: its parity, its block in the parity, its lane in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SitePosition {
    /// 0 for even sites of the whole lattice, 1 for odd ones.
    pub parity: usize,
    /// Number of the block among the blocks of its parity.
    pub block: usize,
    /// Lane in the block.
    pub lane: usize,
}

impl Layout {
    /// Makes the layout of a domain, with at most `max_lanes` lanes (a power of two).
    ///
    /// Extents that are not multiples of four cannot be halved. A domain that cannot be cut far
    /// enough has fewer lanes. Time is cut last: a step in t wants three time slices of a
    /// sub-lattice, and a cache keeps small ones better. A direction that is cut over devices is
    /// not cut into lanes, so that whole blocks lie on the border.
    pub fn new(domain: Domain, max_lanes: usize, precision: StoragePrecision) -> Self {
        let extents = domain.extents();
        let mut cuts = [1; NDIM];
        while cuts.iter().product::<usize>() < max_lanes {
            let longest = (0..NDIM)
                .filter(|&mu| !domain.is_cut(mu) && (extents[mu] / cuts[mu]).is_multiple_of(4))
                .max_by_key(|&mu| (mu < NDIM - 1, extents[mu] / cuts[mu], Reverse(mu)));
            match longest {
                Some(mu) => cuts[mu] *= 2,
                None => break,
            }
        }
        Self { domain, cuts, precision }
    }

    /// Returns the domain.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Returns the number of sub-lattices in each direction.
    pub fn cuts(&self) -> [usize; NDIM] {
        self.cuts
    }

    /// Returns the number of sites in a block.
    pub fn lanes(&self) -> usize {
        self.cuts.iter().product()
    }

    /// Returns the extents of a sub-lattice.
    pub fn sub_extents(&self) -> [usize; NDIM] {
        std::array::from_fn(|mu| self.domain.extents()[mu] / self.cuts[mu])
    }

    /// Returns the number of sites of the domain.
    pub fn volume(&self) -> usize {
        self.domain.volume()
    }

    /// Returns the number of blocks of each parity.
    pub fn blocks(&self) -> usize {
        self.volume() / (2 * self.lanes())
    }

    /// Returns the number of sites of each parity on a slice across direction `mu`.
    ///
    /// A slice across x may have one more site of one parity.
    pub fn face_sites(&self, mu: usize) -> usize {
        let extents = self.domain.extents();
        (0..NDIM).filter(|&nu| nu != mu).map(|nu| extents[nu]).product::<usize>().div_ceil(2)
    }

    /// Returns the number of blocks of each parity on a slice across direction `mu`.
    ///
    /// Across x the blocks of the first and the last slice are counted together.
    pub fn face_blocks(&self, mu: usize) -> usize {
        let [x, y, z, t] = self.sub_extents();
        let blocks = [x / 2, y, z, t];
        (0..NDIM).filter(|&nu| nu != mu).map(|nu| blocks[nu]).product()
    }

    /// Returns the precision in which the fields are stored.
    pub fn precision(&self) -> StoragePrecision {
        self.precision
    }

    /// Returns how many numbers one parity of a field has.
    ///
    /// Each number takes [`StoragePrecision::bytes`]; a unit counts as two numbers.
    pub fn half_field(&self, shape: Shape) -> usize {
        let unit = if self.has_units(shape) { UNIT_NUMBERS } else { 0 };
        (2 * shape.components() + unit) * self.blocks() * self.lanes()
    }

    /// Returns `true` if the sites of a field have units.
    pub fn has_units(&self, shape: Shape) -> bool {
        self.precision == StoragePrecision::Half && shape.with_unit
    }

    /// Returns the most complex numbers in a vector, with one lane.
    pub fn pack(&self) -> usize {
        VECTOR_BYTES / (2 * self.precision.bytes())
    }

    /// Returns the number of sites in a chunk, with one lane.
    ///
    /// Kernels are compiled with this number. `None` if all sites of a parity are one chunk.
    pub fn chunk(&self) -> Option<usize> {
        let divisor = CHUNK_SITES.min(1 << self.blocks().trailing_zeros());
        (self.lanes() == 1 && self.precision != StoragePrecision::Half).then_some(divisor)
    }

    /// Returns the place of the site at these coordinates in the domain.
    pub fn place(&self, coordinates: [usize; NDIM]) -> SitePosition {
        let sub = self.sub_extents();
        let parity = (coordinates.iter().sum::<usize>() + self.domain.parity()) % 2;
        let [x, y, z, t] = std::array::from_fn(|mu| coordinates[mu] % sub[mu]);
        let lane = (0..NDIM).rev().fold(0, |lane, mu| lane * self.cuts[mu] + coordinates[mu] / sub[mu]);
        let block = ((t * sub[2] + z) * sub[1] + y) * (sub[0] / 2) + x / 2;
        SitePosition { parity, block, lane }
    }

    /// Returns the coordinates in the domain of the site at a place.
    pub fn coordinates(&self, place: SitePosition) -> [usize; NDIM] {
        let sub = self.sub_extents();
        let half = sub[0] / 2;
        let mut c = [0; NDIM];
        let mut block = place.block / half;
        for mu in 1..NDIM {
            c[mu] = block % sub[mu];
            block /= sub[mu];
        }
        c[0] = 2 * (place.block % half) + (c[1] + c[2] + c[3] + self.domain.parity() + place.parity) % 2;
        let mut lane = place.lane;
        for mu in 0..NDIM {
            c[mu] += lane % self.cuts[mu] * sub[mu];
            lane /= self.cuts[mu];
        }
        c
    }

    /// Returns the offsets of a component's real and imaginary part at a place.
    ///
    /// Offsets are counted in stored numbers.
    pub fn offsets(&self, shape: Shape, component: usize, place: SitePosition) -> [usize; 2] {
        let SitePosition { parity, block, lane } = place;
        let lanes = self.lanes();
        let start = parity * self.half_field(shape);
        let (group, c) = (component / shape.group, component % shape.group);
        if lanes == 1 {
            let vector = c - c % self.pack();
            let width = self.pack().min(shape.group - vector);
            let chunk = self.chunk().unwrap_or(self.blocks());
            let (first, in_chunk) = (block - block % chunk, block % chunk);
            let vectors = first * shape.components() + (group * shape.group + vector) * chunk;
            let re = start + 2 * (vectors + in_chunk * width + c - vector);
            [re, re + 1]
        } else {
            let re = start + ((group * self.blocks() + block) * shape.group + c) * 2 * lanes + lane;
            [re, re + lanes]
        }
    }

    /// Returns the offset of a site's unit, counted in stored numbers.
    ///
    /// See [`has_units`](Self::has_units).
    pub fn unit_offset(&self, shape: Shape, place: SitePosition) -> usize {
        let sites = self.blocks() * self.lanes();
        place.parity * self.half_field(shape)
            + 2 * shape.components() * sites
            + UNIT_NUMBERS * (place.block * self.lanes() + place.lane)
    }

    /// Returns the lane of each lane's neighbour in direction `mu`.
    ///
    /// A step to these neighbours leaves the sub-lattice.
    pub fn neighbour_lanes(&self, mu: usize, forward: bool) -> Vec<usize> {
        let stride: usize = self.cuts[..mu].iter().product();
        let count = self.cuts[mu];
        let step = if forward { 1 } else { count - 1 };
        (0..self.lanes())
            .map(|lane| {
                let position = lane / stride % count;
                lane - position * stride + (position + step) % count * stride
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Dims, Grid};
    use proptest::prelude::*;

    #[test]
    fn cuts_what_can_be_cut() {
        let lanes = |extents: [usize; 4], max| {
            Layout::new(Domain::whole(Dims::new(extents).unwrap()), max, StoragePrecision::Double).cuts()
        };
        assert_eq!(lanes([8, 8, 8, 16], 16), [4, 2, 2, 1]);
        assert_eq!(lanes([4, 4, 4, 4], 8), [2, 2, 2, 1]);
        assert_eq!(lanes([4, 4, 6, 8], 16), [2, 2, 1, 4]);
        assert_eq!(lanes([4, 6, 2, 10], 16), [2, 1, 1, 1]);
        assert_eq!(lanes([2, 6, 6, 2], 16), [1, 1, 1, 1]);
        assert_eq!(lanes([8, 8, 8, 16], 1), [1, 1, 1, 1]);
    }

    #[test]
    fn lanes_lie_in_directions_that_are_not_cut_over_devices() {
        let lanes = |grid: [usize; 4]| {
            let dims = Dims::new([8, 8, 8, 8]).unwrap();
            let domains = Grid::new(grid).unwrap().domains(dims).unwrap();
            Layout::new(domains[1], 16, StoragePrecision::Single).cuts()
        };
        assert_eq!(lanes([1, 1, 1, 2]), [4, 2, 2, 1]);
        assert_eq!(lanes([1, 1, 2, 2]), [4, 4, 1, 1]);
        assert_eq!(lanes([2, 1, 1, 1]), [1, 4, 4, 1]);
        assert_eq!(lanes([2, 2, 2, 2]), [1, 1, 1, 1]);
    }

    #[test]
    fn faces_have_half_of_their_sites_in_each_parity() {
        let dims = Dims::new([4, 2, 6, 2]).unwrap();
        for domain in Grid::new([2, 2, 2, 2]).unwrap().domains(dims).unwrap() {
            let layout = Layout::new(domain, 1, StoragePrecision::Double);
            for mu in 0..NDIM {
                let on_face = |parity: usize, at: usize| {
                    let sites = (0..dims.volume()).map(|site| dims.coordinates(site));
                    let sites = sites.filter_map(|site| domain.local(site));
                    sites.filter(|c| c[mu] == at && layout.place(*c).parity == parity).count()
                };
                let last = domain.extents()[mu] - 1;
                let counts = [(0, 0), (1, 0), (0, last), (1, last)].map(|(parity, at)| on_face(parity, at));
                assert_eq!(*counts.iter().max().unwrap(), layout.face_sites(mu));
                if mu == 0 {
                    assert_eq!(layout.face_blocks(mu), counts[0] + counts[2]);
                    assert_eq!(layout.face_blocks(mu), counts[1] + counts[3]);
                } else {
                    assert_eq!(counts, [layout.face_blocks(mu); 4]);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn layout_is_a_bijection(
            half in prop::array::uniform4(1usize..4),
            lanes in 0u32..5,
            cuts in prop::array::uniform4(1usize..3),
            group in 1usize..13,
            groups in 1usize..5,
            precision in prop::sample::select(StoragePrecision::ALL.to_vec()),
            with_unit: bool,
        ) {
            let shape = Shape { groups, group, with_unit };
            let dims = Dims::new(half.map(|h| 2 * h)).unwrap();
            let parts = std::array::from_fn(|mu| cuts[mu].min(Grid::most_parts(dims, mu)));
            for domain in Grid::new(parts).unwrap().domains(dims).unwrap() {
                let layout = Layout::new(domain, 1 << lanes, precision);
                let mut seen = vec![false; 2 * layout.half_field(shape)];
                for site in 0..dims.volume() {
                    let Some(c) = domain.local(dims.coordinates(site)) else { continue };
                    let place = layout.place(c);
                    prop_assert_eq!(layout.coordinates(place), c);
                    prop_assert_eq!(place.parity, dims.parity(site));
                    for component in 0..shape.components() {
                        for offset in layout.offsets(shape, component, place) {
                            prop_assert!(!std::mem::replace(&mut seen[offset], true));
                        }
                    }
                    if layout.has_units(shape) {
                        let offset = layout.unit_offset(shape, place);
                        for offset in [offset, offset + 1] {
                            prop_assert!(!std::mem::replace(&mut seen[offset], true));
                        }
                    }
                }
                prop_assert!(seen.iter().all(|&s| s));
            }
        }

        #[test]
        fn neighbours_within_and_across_sub_lattices(
            half in prop::array::uniform4(1usize..5),
            lanes in 0u32..5,
        ) {
            // The kernel does the same: it steps in the sub-lattice and permutes lanes where the
            // step wraps.
            let dims = Dims::new(half.map(|h| 2 * h)).unwrap();
            let layout = Layout::new(Domain::whole(dims), 1 << lanes, StoragePrecision::Single);
            let sub = layout.sub_extents();
            for site in 0..dims.volume() {
                let c = dims.coordinates(site);
                for mu in 0..NDIM {
                    let ahead = layout.place(dims.coordinates(dims.forward(site, mu)));
                    let mut inside: [usize; 4] = std::array::from_fn(|nu| c[nu] % sub[nu]);
                    inside[mu] = (inside[mu] + 1) % sub[mu];
                    let lane = layout.place(c).lane;
                    let expected = if inside[mu] == 0 { layout.neighbour_lanes(mu, true)[lane] } else { lane };
                    prop_assert_eq!(ahead.lane, expected);
                    prop_assert_eq!(ahead.block, layout.place(inside).block);
                }
            }
        }
    }
}
