//! Where a site lives in the memory of one device.
//!
//! A device holds a slab of whole time slices. Its sites are stored even ones first, then odd ones, and a field of
//! `components` complex numbers a site is stored as `[parity][block][component][re, im][lane]` with several lanes, and as
//! `[parity][component][site][re, im]` with one.
//!
//! With several lanes the slab is cut into as many equal sub-lattices; lane *l* of a block is the same site of
//! sub-lattice *l*. All extents of a sub-lattice that is cut off are even, so the lanes of a block have one parity.

use crate::host::{Dims, NDIM};

/// The site order and memory layout of one device's slab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    extents: [usize; NDIM],
    t_origin: usize,
    cuts: [usize; NDIM],
}

/// The place of a site: which parity, which block of that parity, which lane of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// 0 for even sites of the whole lattice, 1 for odd ones.
    pub parity: usize,
    /// Number of the block among those of its parity.
    pub block: usize,
    /// Lane within the block.
    pub lane: usize,
}

impl Layout {
    /// The layout of time slices `t_origin .. t_origin + t_extent` of a lattice, with at most `max_lanes` lanes (a power of two).
    ///
    /// Extents that are not multiples of four cannot be halved; what cannot be cut far enough has fewer lanes. A slab
    /// that is part of a larger lattice is not cut along t, so that whole blocks lie on its border.
    pub fn new(dims: Dims, t_origin: usize, t_extent: usize, max_lanes: usize) -> Self {
        let mut extents = dims.extents();
        extents[3] = t_extent;
        let directions = if t_extent == dims[3] { NDIM } else { NDIM - 1 };
        let mut cuts = [1; NDIM];
        while cuts.iter().product::<usize>() < max_lanes {
            let longest = (0..directions)
                .filter(|&mu| (extents[mu] / cuts[mu]).is_multiple_of(4))
                .max_by_key(|&mu| (extents[mu] / cuts[mu], mu));
            match longest {
                Some(mu) => cuts[mu] *= 2,
                None => break,
            }
        }
        Self { extents, t_origin, cuts }
    }

    /// Extents of the slab in x, y, z, t.
    pub fn extents(&self) -> [usize; NDIM] {
        self.extents
    }

    /// The time slice of the whole lattice that is the slab's first.
    pub fn t_origin(&self) -> usize {
        self.t_origin
    }

    /// Sub-lattices in each direction.
    pub fn cuts(&self) -> [usize; NDIM] {
        self.cuts
    }

    /// Sites in a block.
    pub fn lanes(&self) -> usize {
        self.cuts.iter().product()
    }

    /// Extents of a sub-lattice.
    pub fn sub_extents(&self) -> [usize; NDIM] {
        std::array::from_fn(|mu| self.extents[mu] / self.cuts[mu])
    }

    /// Sites of the slab.
    pub fn volume(&self) -> usize {
        self.extents.iter().product()
    }

    /// Blocks of each parity.
    pub fn blocks(&self) -> usize {
        self.volume() / (2 * self.lanes())
    }

    /// Sites of each parity on one time slice.
    pub fn face_sites(&self) -> usize {
        self.extents[..3].iter().product::<usize>() / 2
    }

    /// Reals in a field with this many complex components a site.
    pub fn reals(&self, components: usize) -> usize {
        2 * components * self.volume()
    }

    /// The place of the site at these coordinates within the slab.
    pub fn place(&self, coordinates: [usize; NDIM]) -> Place {
        let sub = self.sub_extents();
        let parity = (coordinates.iter().sum::<usize>() + self.t_origin) % 2;
        let [x, y, z, t] = std::array::from_fn(|mu| coordinates[mu] % sub[mu]);
        let lane = (0..NDIM).rev().fold(0, |lane, mu| lane * self.cuts[mu] + coordinates[mu] / sub[mu]);
        let block = ((t * sub[2] + z) * sub[1] + y) * (sub[0] / 2) + x / 2;
        Place { parity, block, lane }
    }

    /// The coordinates within the slab of the site at a place.
    pub fn coordinates(&self, place: Place) -> [usize; NDIM] {
        let sub = self.sub_extents();
        let half = sub[0] / 2;
        let mut c = [0; NDIM];
        let mut block = place.block / half;
        for mu in 1..NDIM {
            c[mu] = block % sub[mu];
            block /= sub[mu];
        }
        c[0] = 2 * (place.block % half) + (c[1] + c[2] + c[3] + self.t_origin + place.parity) % 2;
        let mut lane = place.lane;
        for mu in 0..NDIM {
            c[mu] += lane % self.cuts[mu] * sub[mu];
            lane /= self.cuts[mu];
        }
        c
    }

    /// Where the real and the imaginary part of a component at a place are, counted in reals.
    pub fn offsets(&self, components: usize, component: usize, place: Place) -> [usize; 2] {
        let Place { parity, block, lane } = place;
        let lanes = self.lanes();
        let start = parity * self.blocks() * components * 2 * lanes;
        if lanes == 1 {
            let re = start + 2 * (component * self.blocks() + block);
            [re, re + 1]
        } else {
            let re = start + (block * components + component) * 2 * lanes + lane;
            [re, re + lanes]
        }
    }

    /// The lanes from which each lane's neighbour comes when a step in direction `mu` leaves the sub-lattice.
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

/// Divides `extent` time slices among `parts` devices as evenly as whole slices allow; first and length of each.
/// With more devices than slices the last devices get none.
pub fn split_time(extent: usize, parts: usize) -> Vec<(usize, usize)> {
    let mut origin = 0;
    (0..parts)
        .map(|part| {
            let length = extent / parts + usize::from(part < extent % parts);
            origin += length;
            (origin - length, length)
        })
        .filter(|&(_, length)| length > 0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cuts_what_can_be_cut() {
        let lanes =
            |extents: [usize; 4], max| Layout::new(Dims::new(extents).unwrap(), 0, extents[3], max).cuts();
        assert_eq!(lanes([8, 8, 8, 16], 16), [1, 2, 2, 4]);
        assert_eq!(lanes([4, 4, 4, 4], 8), [1, 2, 2, 2]);
        assert_eq!(lanes([4, 6, 2, 10], 16), [2, 1, 1, 1]);
        assert_eq!(lanes([2, 6, 6, 2], 16), [1, 1, 1, 1]);
        assert_eq!(lanes([8, 8, 8, 16], 1), [1, 1, 1, 1]);
        let slab = Layout::new(Dims::new([4, 4, 4, 8]).unwrap(), 3, 3, 16);
        assert_eq!(slab.cuts(), [2, 2, 2, 1]);
    }

    #[test]
    fn time_is_divided_completely() {
        assert_eq!(split_time(8, 3), [(0, 3), (3, 3), (6, 2)]);
        assert_eq!(split_time(4, 2), [(0, 2), (2, 2)]);
        assert_eq!(split_time(2, 3), [(0, 1), (1, 1)]);
    }

    proptest! {
        #[test]
        fn layout_is_a_bijection(
            half in prop::array::uniform4(1usize..4),
            lanes in 0u32..5,
            parts in 1usize..4,
            components in 1usize..4,
        ) {
            let dims = Dims::new(half.map(|h| 2 * h)).unwrap();
            for (origin, length) in split_time(dims[3], parts) {
                let layout = Layout::new(dims, origin, length, 1 << lanes);
                let mut seen = vec![false; layout.reals(components)];
                for site in 0..layout.volume() {
                    let c = dims.coordinates(site);
                    let place = layout.place(c);
                    prop_assert_eq!(layout.coordinates(place), c);
                    prop_assert_eq!(place.parity, (c.iter().sum::<usize>() + origin) % 2);
                    for component in 0..components {
                        for offset in layout.offsets(components, component, place) {
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
            // What the kernel does: step in the sub-lattice, permute lanes where the step wraps.
            let dims = Dims::new(half.map(|h| 2 * h)).unwrap();
            let layout = Layout::new(dims, 0, dims[3], 1 << lanes);
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
