//! Tiles: what a work-group transforms in registers, one axis of some lines or two axes of a plane.
//!
//! Large transforms on GPUs take them where lengths have radices. The first pass reads global memory,
//! the last one writes it, and local memory takes numbers from one pass to the next.

use super::cut::Cut;
use super::factors::factors;
use super::fixed::LEAST_ELEMENTS;
use super::lines::{Lines, Mode};
use super::variant::{FftAlgorithm, FftTuning};

/// Bytes side by side that neighbouring lines have at least, if their elements are distant.
const WIDTH: usize = 128;

/// Most numbers that a work-item holds in a pass.
const MOST_HELD: usize = 72;

/// What a tile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TileKind {
    /// Lines whose elements are neighbours in memory: the rows of the tile.
    Rows,
    /// Neighbouring lines with distant elements: the columns of the tile.
    Columns,
    /// Rows of reals that become half their results, in pairs.
    RealRows,
    /// Half the results of real rows that become these.
    HalfRows,
    /// A plane of complex numbers.
    Plane,
    /// A plane of reals that becomes half a spectrum. Rows go in pairs.
    RealPlane,
    /// Half a spectrum that becomes a plane of reals.
    HalfPlane,
}

/// The direction of an axis in a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    Rows,
    Columns,
}

/// The passes along one axis of a tile.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    pub along: Along,
    /// Rows and columns of the tile: for reals pairs of rows, and columns of half a spectrum.
    pub rows: usize,
    pub columns: usize,
    pub radices: Vec<usize>,
}

impl Phase {
    /// Returns the length of the transforms.
    pub fn length(&self) -> usize {
        match self.along {
            Along::Rows => self.columns,
            Along::Columns => self.rows,
        }
    }

    /// Returns after how many rows and columns one element of local memory is left out.
    ///
    /// The first pass writes elements as far apart as its radix. The gaps keep them out of one bank.
    pub fn gaps(&self) -> [Option<usize>; 2] {
        match self.along {
            Along::Rows => [None, Some(self.radices[0]).filter(|&radix| radix > 1)],
            Along::Columns => [(self.columns < 32).then(|| self.radices[0]), None],
        }
    }

    /// Returns the distance of two rows in local memory.
    pub fn pitch(&self) -> usize {
        self.columns + self.gaps()[1].map_or(0, |gap| self.columns / gap)
    }

    /// Returns the numbers of local memory that hold a part of each element.
    fn size(&self) -> usize {
        let rows = self.rows + self.gaps()[0].map_or(0, |gap| (self.rows - 1) / gap);
        rows * self.pitch() + 1
    }

    /// Returns the most elements that an item of a group holds in a pass.
    fn held(&self, items: usize) -> usize {
        let elements = self.rows * self.columns;
        let held = |radix: &usize| (elements / radix).div_ceil(items) * radix;
        self.radices.iter().map(held).max().unwrap_or(0)
    }
}

/// A tile and the group that transforms it.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    pub kind: TileKind,
    pub phases: Vec<Phase>,
    /// Work-items of the group.
    pub items: usize,
    /// `true` if real and imaginary parts go through local memory one after another.
    pub is_by_parts: bool,
    /// Rows of a plane of reals.
    pub real_rows: usize,
    /// Length of real rows.
    pub real_columns: usize,
}

impl Tile {
    /// Returns the numbers between the parts of an element in local memory.
    pub fn plane(&self) -> usize {
        let through_memory = self.phases.iter().enumerate().filter(|(number, phase)| {
            // Elements that are only written come from local memory as they are.
            number + 1 < self.phases.len() || phase.radices != [1]
        });
        through_memory.map(|(_, phase)| phase.size()).max().unwrap_or(0)
    }

    /// Returns the numbers of local memory that a group needs.
    pub fn work(&self) -> usize {
        if self.is_by_parts { self.plane() } else { 2 * self.plane() }
    }

    /// Returns how many lines a group takes; a plane counts as one.
    pub fn together(&self) -> usize {
        match self.kind {
            TileKind::Rows => self.phases[0].rows,
            TileKind::Columns => self.phases[0].columns,
            TileKind::RealRows | TileKind::HalfRows => self.real_rows,
            _ => 1,
        }
    }

    /// Chooses how parts go through local memory; `None` if a group has not enough of it.
    fn fitting(mut self, cut: Cut, real: usize) -> Option<Self> {
        self.is_by_parts = 2 * self.plane() * real > cut.local_bytes;
        (self.work() * real <= cut.local_bytes).then_some(self)
    }

    /// Returns the tile for lines, unless the device or their number is better off without.
    pub fn of_lines(cut: Cut, real: usize, lines: &Lines, tuning: &FftTuning) -> Option<Self> {
        let (n, count) = (lines.length, lines.count());
        let is_simple = lines.are_whole() && tuning.way == FftAlgorithm::Direct;
        if cut.lanes > 1 || !is_simple || n < 2 || n * count < LEAST_ELEMENTS || count >= 1 << 31 {
            return None;
        }
        Self::with_lines(cut, real, lines, tuning)
    }

    /// Returns the tile for lines that exist as a whole, for any number of them.
    pub fn with_lines(cut: Cut, real: usize, lines: &Lines, tuning: &FftTuning) -> Option<Self> {
        let (n, half, radices) = (lines.length, lines.length / 2 + 1, tuning.radices.clone());
        let is_contiguous = lines.from.stride == 1;
        if lines.are_paired() && !(is_contiguous && lines.to.stride == 1) {
            return None;
        }
        let count = if lines.are_paired() { lines.count().div_ceil(2) } else { lines.count() };
        let least = if is_contiguous { 1 } else { WIDTH / (2 * real) };
        // Registers and one half of local memory hold twice as much as the two halves of passes.
        let wanted = (2 * tuning.elements as usize / n).max(least).min(count);
        let wanted = if is_contiguous { wanted } else { 1 << wanted.ilog2() };
        let largest = radices.iter().copied().max().unwrap_or(1).max(8);
        let with = |together: usize| {
            let phase = |along, rows, columns| Phase { along, rows, columns, radices: radices.clone() };
            let rows = || phase(Along::Rows, together, n);
            let halves = || Phase { along: Along::Rows, rows: 2 * together, columns: half, radices: vec![1] };
            let (kind, phases) = match (lines.from.mode, lines.to.mode) {
                (Mode::Real, _) => (TileKind::RealRows, vec![rows(), halves()]),
                (_, Mode::Real) => (TileKind::HalfRows, vec![halves(), rows()]),
                _ if is_contiguous => (TileKind::Rows, vec![rows()]),
                _ => (TileKind::Columns, vec![phase(Along::Columns, n, together)]),
            };
            let most = (tuning.items as usize).min(cut.local);
            let items = (n * together / largest).next_multiple_of(32).clamp(32, most);
            let real_rows = if lines.are_paired() { 2 * together } else { 0 };
            Self { kind, phases, items, is_by_parts: false, real_rows, real_columns: n }
        };
        let fewer = std::iter::successors(Some(wanted), |together| Some(together / 2).filter(|&t| t > 0));
        fewer.map(with).find_map(|tile| {
            tile.fitting(cut, real)
                .filter(|tile| tile.phases.iter().all(|phase| phase.held(tile.items) <= MOST_HELD))
        })
    }

    /// Returns the tile for planes of n₂ rows of n₃, unless they are too large or have no radices.
    ///
    /// The modes are those of rows on both sides.
    pub fn of_planes(cut: Cut, real: usize, [n2, n3]: [usize; 2], modes: [Mode; 2]) -> Option<Self> {
        if cut.lanes > 1 || n2 < 2 || n3 < 2 {
            return None;
        }
        let [column, row] = [factors(n2)?.radices, factors(n3)?.radices];
        let rows = |rows| Phase { along: Along::Rows, rows, columns: n3, radices: row.clone() };
        let columns = |columns| Phase { along: Along::Columns, rows: n2, columns, radices: column.clone() };
        let (pairs, half) = (n2.div_ceil(2), n3 / 2 + 1);
        let (kind, phases) = match modes {
            [Mode::Complex, Mode::Complex] => (TileKind::Plane, vec![rows(n2), columns(n3)]),
            [Mode::Real, Mode::Half] => (TileKind::RealPlane, vec![rows(pairs), columns(half)]),
            [Mode::Half, Mode::Real] => (TileKind::HalfPlane, vec![columns(half), rows(pairs)]),
            _ => return None,
        };
        let elements = phases.iter().map(|phase| phase.rows * phase.columns).max().unwrap_or(0);
        let items = (elements / 16).next_multiple_of(32).clamp(32, cut.local);
        let tile = Self { kind, phases, items, is_by_parts: false, real_rows: n2, real_columns: n3 };
        let is_held = tile.phases.iter().all(|phase| phase.held(items) <= MOST_HELD);
        tile.fitting(cut, real).filter(|_| is_held)
    }
}
