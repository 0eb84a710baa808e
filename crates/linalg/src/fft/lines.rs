//! Which lines are transformed, and where they lie.

use super::shape::Layout;
use lattice_compute::Argument;

/// How the numbers of lines are kept; the modes of `cl/fft.cl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Complex numbers.
    Complex = 0,
    /// Real numbers; lines go in pairs.
    Real = 1,
    /// The first n/2 + 1 results of real lines, which go in pairs.
    Half = 2,
}

/// Where lines lie on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub mode: Mode,
    /// Distance of neighbours on a line.
    pub stride: usize,
    /// Distances of neighbouring lines, for each dimension of [`Lines::extents`].
    pub distances: Vec<usize>,
    /// Number of first elements of a line that exist.
    ///
    /// Others are 0 where lines are read, and are dropped where they are written. Half a spectrum
    /// always exists as a whole, with the length of the line.
    pub present: usize,
}

/// Lines to be transformed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    /// Length of a line of complex numbers, or of reals.
    pub length: usize,
    /// How many lines there are in each dimension.
    pub extents: Vec<usize>,
    pub from: Side,
    pub to: Side,
}

/// Returns the lines of an array along one axis.
pub(super) fn lines(
    extents: &[usize],
    batch: usize,
    axis: usize,
    from: (&Layout, Mode),
    to: (&Layout, Mode),
) -> Lines {
    let others: Vec<usize> = (0..extents.len()).filter(|&other| other != axis).collect();
    let side = |(layout, mode): (&Layout, Mode)| Side {
        mode,
        stride: layout.strides[axis],
        present: extents[axis],
        distances: others.iter().map(|&other| layout.strides[other]).chain([layout.distance]).collect(),
    };
    Lines {
        length: extents[axis],
        extents: others.iter().map(|&other| extents[other]).chain([batch]).collect(),
        from: side(from),
        to: side(to),
    }
}

impl Lines {
    /// Sorts the dimensions, so that neighbouring lines are neighbours in memory.
    pub fn sorted(mut self) -> Self {
        let mut order: Vec<usize> = (0..self.extents.len()).filter(|&d| self.extents[d] > 1).collect();
        order.sort_by_key(|&d| (self.from.distances[d], self.to.distances[d]));
        let pick = |values: &[usize]| order.iter().map(|&d| values[d]).collect::<Vec<_>>();
        self.extents = pick(&self.extents);
        self.from.distances = pick(&self.from.distances);
        self.to.distances = pick(&self.to.distances);
        self
    }

    /// Returns how many lines there are.
    pub fn count(&self) -> usize {
        self.extents.iter().product()
    }

    /// Returns `true` if lines go in pairs.
    pub fn are_paired(&self) -> bool {
        self.from.mode != Mode::Complex || self.to.mode != Mode::Complex
    }

    /// Returns the numbers of elements that exist, as the argument of kernels.
    pub fn present(&self) -> Argument<'static> {
        Argument::value([self.from.present as u32, self.to.present as u32])
    }

    /// Returns `true` if all elements exist on both sides.
    pub fn are_whole(&self) -> bool {
        self.from.present == self.length && self.to.present == self.length
    }

    /// Adds a dimension in front.
    pub fn with_columns(&self, columns: usize, from: usize, to: usize) -> Self {
        let mut lines = self.clone();
        lines.extents.insert(0, columns);
        lines.from.distances.insert(0, from);
        lines.to.distances.insert(0, to);
        lines
    }

    /// The geometry of `places_of` in `cl/fft_lines.cl`.
    pub fn geometry(&self) -> Vec<u64> {
        let mut geometry = vec![self.extents.len() as u64];
        for d in 0..self.extents.len() {
            geometry
                .extend([self.extents[d], self.from.distances[d], self.to.distances[d]].map(|x| x as u64));
        }
        geometry
    }
}
