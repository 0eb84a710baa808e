//! How the work-items of a stencil go through a slab: numbers that its kernels take, so that lattices of all sizes share them.

use crate::device::{Argument, Parameter};
use crate::host::NDIM;
use crate::lattice::Layout;

/// The shape of a slab, and the order of its blocks, as `cl/wilson.cl` takes them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traversal {
    extents: [u32; NDIM],
    blocks: u32,
    /// Blocks in a row, rows in a slice of z, slices of z in a tile, time slices.
    divisors: [Divisor; NDIM],
}

/// A number that others are divided by, as a multiplication: ⌊n/d⌋ = ⌊n·factor / 2^(31 + shift)⌋ for n < 2³¹, with factor = ⌈2^(31 + shift)/d⌉ and
/// 2^shift ≥ d. The factor is too large by less than d/2^(31 + shift) of itself, which moves the quotient by less than 1/d.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    number: u32,
    factor: u32,
    shift: u32,
}

impl Divisor {
    /// `number` is from 1 to 2³¹.
    fn new(number: usize) -> Self {
        let shift = number.next_power_of_two().trailing_zeros();
        // At most 2³¹ · 2 − 1, as 2^shift < 2 · number.
        let factor = (1_u64 << (31 + shift)).div_ceil(number as u64);
        Self { number: number as u32, factor: factor as u32, shift }
    }
}

impl Traversal {
    /// Of a slab that is worked off in tiles of so many slices in z, if its sub-lattices can be cut into them; 0 for a single one.
    pub fn new(layout: &Layout, tile_z: usize) -> Self {
        let [x, y, z, t] = layout.sub_extents();
        let tile = if tile_z != 0 && z.is_multiple_of(tile_z) { tile_z } else { z };
        Self {
            extents: layout.sub_extents().map(|extent| extent as u32),
            blocks: layout.blocks() as u32,
            divisors: [x / 2, y, tile, t].map(Divisor::new),
        }
    }

    /// Whether there are several tiles.
    pub fn is_tiled(&self) -> bool {
        self.divisors[2].number != self.extents[2]
    }

    /// What a kernel declares that takes the shape of a slab.
    pub fn shape_parameters() -> [Parameter; 2] {
        [Parameter::value::<[u32; 4]>("extents"), Parameter::value::<u32>("blocks")]
    }

    pub fn shape(&self) -> [Argument<'static>; 2] {
        [Argument::value(self.extents), Argument::value(self.blocks)]
    }

    /// What a kernel declares that takes the order of blocks as well.
    pub fn order_parameters() -> [Parameter; 3] {
        ["divisors", "factors", "shifts"].map(Parameter::value::<[u32; 4]>)
    }

    pub fn order(&self) -> [Argument<'static>; 3] {
        let divisors = self.divisors;
        [divisors.map(|d| d.number), divisors.map(|d| d.factor), divisors.map(|d| d.shift)]
            .map(Argument::value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
