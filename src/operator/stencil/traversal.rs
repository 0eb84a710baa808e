//! The order in which the work-items of a stencil go through a domain.
//!
//! Kernels take the order as numbers, so that lattices of all sizes share kernels.

use crate::compute::Argument;
use crate::compute::parallel::*;
use crate::geometry::{Layout, NDIM};
use std::ops::Range;

/// The shape of a domain and the order of its blocks, for `cl/stencil/way.cl`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traversal {
    extents: [u32; NDIM],
    blocks: u32,
    /// Blocks in a row; boxes of rows in y, in z in a tile, and in t.
    divisors: [Divisor; NDIM],
    /// log₂ of the side of a box of rows.
    boxes: u32,
    /// The slice in t of the first block.
    first_slice: u32,
}

/// A divisor d whose divisions are multiplications.
///
/// ⌊n/d⌋ = ⌊n·factor / 2^(31 + shift)⌋ for n < 2³¹, with factor = ⌈2^(31 + shift)/d⌉ and
/// 2^shift ≥ d. The relative error of the factor is less than d/2^(31 + shift). Therefore the
/// quotient moves by less than 1/d.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    number: u32,
    factor: u32,
    shift: u32,
}

impl Divisor {
    /// Makes the divisor `number`, from 1 to 2³¹.
    fn new(number: usize) -> Self {
        let shift = number.next_power_of_two().trailing_zeros();
        // The factor is at most 2³¹ · 2 − 1, because 2^shift < 2 · number.
        let factor = (1_u64 << (31 + shift)).div_ceil(number as u64);
        Self { number: number as u32, factor: factor as u32, shift }
    }
}

impl Traversal {
    /// Makes the order of a domain in tiles and boxes.
    ///
    /// Tiles have `tile_z` slices, and boxes 2 × 2 × 2 rows. `tile_z` = 0 is a single tile. Tiles
    /// and boxes are used as far as they divide the sub-lattices.
    ///
    /// On a GPU a domain that is cut along t begins in its middle. The first groups then need no faces,
    /// which are still under way.
    pub fn new(layout: &Layout, tile_z: usize, boxes: bool) -> Self {
        let [x, y, z, t] = layout.sub_extents();
        let tile = if tile_z != 0 && z.is_multiple_of(tile_z) { tile_z } else { z };
        let boxed = boxes && [y, tile, t].iter().all(|extent| extent.is_multiple_of(2));
        let side = if boxed { 2 } else { 1 };
        Self {
            extents: layout.sub_extents().map(|extent| extent as u32),
            blocks: layout.blocks() as u32,
            divisors: [x / 2, y / side, tile / side, t / side].map(Divisor::new),
            boxes: u32::from(boxed),
            first_slice: if layout.lanes() == 1 && layout.domain().is_cut(NDIM - 1) {
                t as u32 / 2
            } else {
                0
            },
        }
    }

    /// Tells whether blocks are computed in their order in memory.
    pub fn is_in_order(&self) -> bool {
        self.boxes == 0 && self.first_slice == 0 && self.divisors[2].number == self.extents[2]
    }

    /// Returns the place of a work-item's block: its number in its row, y, z and t.
    ///
    /// Twin of `position_of_item` of `cl/stencil/way.cl`.
    fn place(&self, item: u32) -> [u32; NDIM] {
        let quotient = |n: u32, d: usize| {
            let Divisor { factor, shift, .. } = self.divisors[d];
            ((u64::from(2 * n) * u64::from(factor)) >> 32 >> shift) as u32
        };
        let [x, y, z, t] = self.divisors.map(|divisor| divisor.number);
        let row = quotient(item, 0);
        let in_box = row & if self.boxes == 1 { 7 } else { 0 };
        let boxes = row >> (3 * self.boxes);
        let slice = quotient(boxes, 1);
        let time = quotient(slice, 2);
        let tile = quotient(time, 3);
        let within = |n: u32, bit: u32| (n << self.boxes) + (in_box >> bit & 1);
        [
            item - row * x,
            within(boxes - slice * y, 0),
            within(slice - (time - tile) * z, 1),
            (within(time - tile * t, 2) + self.first_slice) % self.extents[3],
        ]
    }

    /// Tells whether the block of a work-item touches a face of the domain.
    ///
    /// Faces across the directions `cut` count, with sites of either parity.
    fn is_at_face(&self, item: u32, cut: [bool; NDIM]) -> bool {
        let [x, y, z, t] = self.extents;
        let ends =
            self.place(item).into_iter().zip([x / 2, y, z, t]).map(|(at, count)| at == 0 || at + 1 == count);
        ends.zip(cut).any(|(is_end, is_cut)| is_end && is_cut)
    }

    /// Tells for each group whether one of its blocks touches a face.
    ///
    /// `shares` is the number of shares. `share` gives the blocks of a share, like `ITEM_OF` of
    /// `cl/stencil/way.cl`.
    pub fn groups_at_faces(
        &self,
        groups: Groups,
        shares: usize,
        share: impl Fn(usize) -> Range<usize> + Sync,
        cut: [bool; NDIM],
    ) -> Vec<bool> {
        // The blocks of a row follow each other, and are at the same faces if x is not cut.
        let row = if cut[0] { 1 } else { self.divisors[0].number as usize };
        let one_a_row = |blocks: Range<usize>| {
            let rows = (blocks.start / row + 1) * row..blocks.end;
            blocks.take(1).chain(rows.step_by(row))
        };
        let at_face = |group: usize| {
            let mut blocks = groups.shares_of(group, shares).map(&share).flat_map(one_a_row);
            blocks.any(|block| block < self.blocks as usize && self.is_at_face(block as u32, cut))
        };
        (0..groups.count).into_par_iter().map(at_face).collect()
    }

    /// Returns the shape of a domain: extents and blocks.
    pub fn shape(&self) -> [Argument<'static>; 2] {
        [Argument::value(self.extents), Argument::value(self.blocks)]
    }

    /// Returns the order of blocks: divisors, factors, shifts, and the order itself.
    pub fn order(&self) -> [Argument<'static>; 4] {
        let list = |part: fn(Divisor) -> u32| Argument::value(self.divisors.map(part));
        let order = Argument::value([self.boxes, self.first_slice]);
        [list(|d| d.number), list(|d| d.factor), list(|d| d.shift), order]
    }
}

/// The work-groups of a launch: their number, and the shares of each group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Groups {
    /// Number of groups of a launch.
    pub count: usize,
    /// Groups that run at once and their rounds, if a group has several shares.
    rounds: Option<[u32; 2]>,
}

impl Groups {
    /// Divides `shares` among groups with up to `rounds` shares each.
    ///
    /// The device runs `at_once` groups beside each other
    /// (see [`Tuning::groups_at_once`](super::stencil_variants::Tuning::groups_at_once)).
    ///
    /// The remainder after full rounds goes to further groups, which begin as others end. Without
    /// further groups the last round would wait for the slowest group. With only two or three rounds,
    /// further groups would be too many.
    pub fn new(shares: usize, at_once: usize, rounds: usize) -> Self {
        let full = shares / at_once;
        let rounds = rounds.min(if full < 3 { shares.div_ceil(at_once) } else { full });
        if rounds <= 1 {
            return Self { count: shares, rounds: None };
        }
        let count = shares.div_ceil(at_once * rounds) * at_once;
        Self { count, rounds: Some([at_once as u32, rounds as u32]) }
    }

    /// Tells whether groups have several shares.
    ///
    /// Kernels are compiled for several shares.
    pub fn are_in_rounds(&self) -> bool {
        self.rounds.is_some()
    }

    /// Returns the shares of a group.
    ///
    /// Twin of `FOR_SHARES` of `cl/stencil/way.cl`, without shares beyond the last one.
    fn shares_of(self, group: usize, shares: usize) -> impl Iterator<Item = usize> {
        let [at_once, rounds] = self.rounds.unwrap_or([1, 1]).map(|number| number as usize);
        let first = group / at_once * at_once * rounds + group % at_once;
        (0..rounds).map(move |round| first + round * at_once).take_while(move |&share| share < shares)
    }

    /// Returns the argument of a kernel that works in rounds.
    pub fn argument(&self) -> Option<Argument<'static>> {
        self.rounds.map(Argument::value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Dims, Grid};
    use crate::scalar::StoragePrecision;
    use std::collections::HashSet;

    #[test]
    fn every_block_is_worked_off_once() {
        for (extents, grid) in
            [([6, 4, 12, 8], [1; NDIM]), ([4, 2, 4, 2], [1; NDIM]), ([10, 6, 8, 6], [1, 2, 1, 2])]
        {
            let domains = Grid::new(grid).unwrap().domains(Dims::new(extents).unwrap()).unwrap();
            let layout = Layout::new(domains[0], 1, StoragePrecision::Double);
            for (tile_z, boxes) in [(0, false), (0, true), (4, false), (4, true)] {
                let way = Traversal::new(&layout, tile_z, boxes);
                let places: Vec<_> = (0..way.blocks).map(|item| way.place(item)).collect();
                let [x, y, z, t] = way.extents;
                let inside = |p: &[u32; NDIM]| p[0] < x / 2 && p[1] < y && p[2] < z && p[3] < t;
                assert!(places.iter().all(inside), "{extents:?} {tile_z} {boxes}");
                let distinct: HashSet<_> = places.iter().collect();
                assert_eq!(distinct.len(), places.len(), "{extents:?} {tile_z} {boxes}");
                let number = |&[n, y_, z_, t_]: &[u32; NDIM]| ((t_ * z + z_) * y + y_) * (x / 2) + n;
                let in_order = places.iter().map(number).eq(0..way.blocks);
                assert_eq!(way.is_in_order(), in_order, "{extents:?} {tile_z} {boxes}");
            }
        }
    }

    /// Checks that groups inside have no block on a face, and that faces are few.
    #[test]
    fn groups_inside_have_no_block_on_a_face() {
        let domains = Grid::new([1, 1, 2, 3]).unwrap().domains(Dims::new([4, 4, 20, 30]).unwrap()).unwrap();
        let layout = Layout::new(domains[0], 1, StoragePrecision::Double);
        let cut = [false, false, true, true];
        for (tile_z, boxes, size, at_once, rounds) in
            [(0, false, 8, 1, 1), (0, false, 4, 7, 3), (5, false, 8, 1, 2), (10, true, 8, 1, 1)]
        {
            let way = Traversal::new(&layout, tile_z, boxes);
            let shares = layout.blocks().div_ceil(size);
            let groups = Groups::new(shares, at_once, rounds);
            let blocks = |share: usize| share * size..(share + 1) * size;
            let found = way.groups_at_faces(groups, shares, blocks, cut);
            let on_face = |block: u32| {
                let [_, _, z, t] = way.place(block);
                z == 0 || z == 9 || t == 0 || t == 9
            };
            for (group, at_face) in found.iter().enumerate() {
                let blocks = groups.shares_of(group, shares).flat_map(blocks).map(|block| block as u32);
                let expected = blocks.filter(|&block| block < way.blocks).any(on_face);
                assert_eq!(*at_face, expected, "{tile_z} {boxes} {size} {at_once} {rounds}: {group}");
            }
            let at_faces = found.iter().filter(|&&at_face| at_face).count();
            assert!(0 < at_faces && at_faces < found.len(), "{at_faces} of {}", found.len());
        }
    }

    #[test]
    fn every_share_is_done_once() {
        for (shares, at_once, rounds) in [
            (4096, 528, 8),
            (4096, 528, 100),
            (16384, 264, 4),
            (1000, 7, 3),
            (5, 7, 3),
            (14, 7, 2),
            (1000, 1, 32),
        ] {
            let groups = Groups::new(shares, at_once, rounds);
            let mut done: Vec<_> =
                (0..groups.count).flat_map(|group| groups.shares_of(group, shares)).collect();
            done.sort_unstable();
            assert!(done.into_iter().eq(0..shares), "{shares} {at_once} {rounds}");
            assert_eq!(groups.are_in_rounds(), shares > at_once);
        }
        assert_eq!(Groups::new(100, 10, 1).count, 100);
        assert_eq!(Groups::new(4096, 528, 64), Groups { count: 2 * 528, rounds: Some([528, 7]) });
        assert_eq!(Groups::new(1000, 528, 64), Groups { count: 528, rounds: Some([528, 2]) });
    }

    #[test]
    fn a_multiplication_divides() {
        let most = (1_u64 << 31) - 1;
        let divisors = (1..=300).chain([511, 512, 513, 65_535, 65_537, 1 << 30, (1 << 30) + 1, 1 << 31]);
        for d in divisors {
            let Divisor { number, factor, shift } = Divisor::new(d);
            let d = u64::from(number);
            // Quotients change at multiples of the divisor.
            let edges =
                [1, 2, 3, 7, 1000, most / d / 2, most / d].into_iter().flat_map(|k| [k * d, k * d + d - 1]);
            for n in edges.chain([0, 1, most - 1, most]).flat_map(|n| [n.saturating_sub(1), n]) {
                if n <= most {
                    let high = (2 * n * u64::from(factor)) >> 32;
                    assert_eq!(high >> shift, n / d, "{n} / {d}");
                }
            }
        }
    }
}
