//! The kernels that read triangles, on one device.

use crate::block::Block;
use crate::matrix::Order;
use lattice_compute::scalar::{AnyFactor, ElementType};
use lattice_compute::{Argument, Device, DeviceKind, Event, Kernel, KernelFamily, KernelKey, Range, Result};
use std::sync::Arc;

/// Sources of kernels that invert triangular blocks in local memory.
pub(crate) const TRIANGLE_SOURCES: [&str; 3] = [
    include_str!("../../cl/elements.cl"),
    include_str!("../../cl/quotients.cl"),
    include_str!("../../cl/diagonal.cl"),
];

const TRIANGULAR: KernelFamily = KernelFamily::new(
    "triangular",
    &[TRIANGLE_SOURCES[0], TRIANGLE_SOURCES[1], TRIANGLE_SOURCES[2], include_str!("../../cl/triangular.cl")],
);

/// Edge of the work-groups that copy.
const TILE: usize = 16;

/// Most work-items of a group that inverts.
const MOST_ITEMS: usize = 256;

/// The way in which blocks along a diagonal are worked on.
///
/// The fields are the definitions of `cl/diagonal.cl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DiagonalShape {
    /// Rows of a block.
    pub edge: usize,
    /// Work-items that share a column.
    pub slices: usize,
}

impl DiagonalShape {
    /// Returns the shape for a device: the largest block that its local memory holds.
    pub fn of(device: &Device, element: ElementType) -> Self {
        let info = device.info();
        let holds = |edge: usize| edge * (edge + 1) * element.bytes() <= info.local_memory_bytes as usize;
        let edge = if holds(64) { 64 } else { 32 };
        let items =
            if info.kind == DeviceKind::Cpu { edge } else { info.max_work_group_size.min(MOST_ITEMS) };
        Self { edge, slices: (items / edge).max(1) }
    }

    /// Adds the definitions to a key.
    pub fn define(&self, key: KernelKey) -> KernelKey {
        key.define("EDGE", self.edge).define("SLICES", self.slices)
    }

    /// Returns the range of so many groups.
    pub fn groups(&self, count: usize) -> Range {
        Range::groups(count, self.edge * self.slices)
    }
}

/// The kernels for elements of one type.
pub(crate) struct Kernels {
    element: ElementType,
    shape: DiagonalShape,
    invert_diagonal: Kernel,
    spread_diagonal: Kernel,
    copy_scaled: Kernel,
    restore: Kernel,
    set_identity: Kernel,
    column_sums: Kernel,
}

impl Kernels {
    /// Returns the kernels of a device, built on first use.
    pub fn of(device: &Device, element: ElementType) -> Result<Arc<Self>> {
        device.attached_as(element, |device| Self::with(device, element, DiagonalShape::of(device, element)))
    }

    fn with(device: &Device, element: ElementType, shape: DiagonalShape) -> Result<Self> {
        let program = device.program(&shape.define(KernelKey::of(TRIANGULAR, element)))?;
        Ok(Self {
            element,
            shape,
            invert_diagonal: program.kernel("invert_diagonal")?,
            spread_diagonal: program.kernel("spread_diagonal")?,
            copy_scaled: program.kernel("copy_scaled")?,
            restore: program.kernel("restore")?,
            set_identity: program.kernel("set_identity")?,
            column_sums: program.kernel("column_sums")?,
        })
    }

    /// Returns the shape of the blocks that are inverted.
    pub fn shape(&self) -> DiagonalShape {
        self.shape
    }

    /// Starts the inversion of the blocks along the diagonal.
    ///
    /// The inverses lie one after another in `inverses`, column-major, with `edge` rows each.
    pub fn invert_diagonal(
        &self,
        a: Block<'_>,
        lower: bool,
        unit: bool,
        inverses: Argument<'_>,
    ) -> Result<Event> {
        let range = self.shape.groups(a.rows.div_ceil(self.shape.edge));
        let flags = [lower, unit].map(|flag| Argument::value(u32::from(flag)));
        let arguments = [&[Argument::value(a.rows as u64)][..], &a.arguments(), &flags, &[inverses]].concat();
        self.invert_diagonal.launch(range, &arguments)
    }

    /// Starts to make full matrices of the blocks of `edge` rows along the diagonal.
    pub fn spread_diagonal(
        &self,
        edge: usize,
        a: Block<'_>,
        lower: bool,
        unit: bool,
        full: Argument<'_>,
    ) -> Result<Event> {
        let side = edge.next_multiple_of(TILE);
        let range = Range::new([side, side, a.rows.div_ceil(edge)], [TILE, TILE, 1]);
        let extents = [a.rows, edge].map(|extent| Argument::value(extent as u64));
        let flags = [lower, unit].map(|flag| Argument::value(u32::from(flag)));
        let arguments = [&extents[..], &a.arguments(), &flags, &[full]].concat();
        self.spread_diagonal.launch(range, &arguments)
    }

    /// Starts Y = X for blocks of one shape.
    pub fn copy(&self, x: Block<'_>, y: Block<'_>) -> Result<Event> {
        self.copy_scaled(self.element.factor(1), x, y)
    }

    /// Starts Y = α X for blocks of one shape.
    pub fn copy_scaled(&self, alpha: AnyFactor, x: Block<'_>, y: Block<'_>) -> Result<Event> {
        // Neighbouring work-items write neighbouring elements.
        let (x, y) = if y.order == Order::ColumnMajor { (x, y) } else { (x.transposed(), y.transposed()) };
        let range = Range::new([y.rows, y.columns].map(|extent| extent.next_multiple_of(TILE)), [TILE, TILE]);
        let extents = [y.rows, y.columns].map(|extent| Argument::value(extent as u64));
        let arguments = [&extents[..], &[alpha.into()], &x.arguments(), &y.arguments()].concat();
        self.copy_scaled.launch(range, &arguments)
    }

    /// Starts Y = X for blocks of one shape, with rows or columns in reversed order.
    pub fn copy_reversed(&self, reversed: [bool; 2], x: Block<'_>, y: Block<'_>) -> Result<Event> {
        let along = y.order == Order::ColumnMajor;
        let (x, y) = if along { (x, y) } else { (x.transposed(), y.transposed()) };
        let [rows, columns] = if along { reversed } else { [reversed[1], reversed[0]] };
        let [down, across] = x.steps();
        // The kernel's arithmetic wraps around: a step back is a large step.
        let step = |step: usize, back: bool| if back { (step as u64).wrapping_neg() } else { step as u64 };
        let first =
            if rows { (x.rows - 1) * down } else { 0 } + if columns { (x.columns - 1) * across } else { 0 };
        let from = [
            x.elements.skip(first),
            Argument::value(step(down, rows)),
            Argument::value(step(across, columns)),
        ];
        let range = Range::new([y.rows, y.columns].map(|extent| extent.next_multiple_of(TILE)), [TILE, TILE]);
        let extents = [y.rows, y.columns].map(|extent| Argument::value(extent as u64));
        let arguments = [&extents[..], &[self.element.factor(1).into()], &from, &y.arguments()].concat();
        self.copy_scaled.launch(range, &arguments)
    }

    /// Starts Y = X for blocks of one shape, to be done only if the word is not 0.
    pub fn restore(&self, word: Argument<'_>, x: Block<'_>, y: Block<'_>) -> Result<Event> {
        let (x, y) = if y.order == Order::ColumnMajor { (x, y) } else { (x.transposed(), y.transposed()) };
        let range = Range::new([y.rows, y.columns].map(|extent| extent.next_multiple_of(TILE)), [TILE, TILE]);
        let extents = [y.rows, y.columns].map(|extent| Argument::value(extent as u64));
        let arguments = [&extents[..], &[word], &x.arguments(), &y.arguments()].concat();
        self.restore.launch(range, &arguments)
    }

    /// Starts Y = 1.
    pub fn set_identity(&self, y: Block<'_>) -> Result<Event> {
        let y = y.along_columns();
        let range = Range::new([y.rows, y.columns].map(|extent| extent.next_multiple_of(TILE)), [TILE, TILE]);
        let extents = [y.rows, y.columns].map(|extent| Argument::value(extent as u64));
        self.set_identity.launch(range, &[&extents[..], &y.arguments()].concat())
    }

    /// Starts the sums of the sizes in each column.
    ///
    /// Only a triangle of a Hermitian matrix is read: `Some(true)` for the lower one.
    pub fn column_sums(&self, x: Block<'_>, triangle: Option<bool>, sums: Argument<'_>) -> Result<Event> {
        let extents = [x.rows, x.columns].map(|extent| Argument::value(extent as u64));
        let flags = [triangle.is_some(), triangle == Some(true)].map(|flag| Argument::value(u32::from(flag)));
        let arguments = [&extents[..], &flags, &x.arguments(), &[sums]].concat();
        self.column_sums.launch(Range::covering(x.columns, 4 * TILE), &arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host;
    use crate::matrix::MatrixLayout;
    use lattice_compute::{Buffer, CacheMode, DeviceOptions, discover};
    use num_complex::Complex;

    type C64 = Complex<f64>;

    #[test]
    fn blocks_are_inverted_however_work_items_share_them() {
        let options = DeviceOptions::default().with_cache(CacheMode::Off);
        for found in discover().devices.into_iter().filter(|found| found.info.fp64) {
            let device = Device::open(&found, &options).unwrap();
            for shape in [DiagonalShape { edge: 32, slices: 1 }, DiagonalShape { edge: 32, slices: 4 }] {
                let kernels = Kernels::with(&device, ElementType::of::<C64>(), shape).unwrap();
                for (n, lower, unit) in
                    [(1, true, false), (37, true, false), (64, false, false), (37, false, true)]
                {
                    let layout = MatrixLayout::row_major(n, n).leading_dimension(n + 3);
                    let element = |i: usize, j: usize| match (i == j, (i > j) == lower) {
                        (true, _) if unit => C64::from(f64::NAN),
                        (true, _) => C64::new(2.0, 0.1 * i as f64),
                        (_, true) => C64::new((i as f64).sin(), (j as f64).cos()) / n as f64,
                        _ => C64::from(f64::NAN),
                    };
                    let mut a = vec![C64::from(f64::NAN); n * (n + 3)];
                    (0..n * n).for_each(|k| a[layout.index(k % n, k / n)] = element(k % n, k / n));
                    let a = Buffer::from_slice(&device, &a).unwrap();
                    let count = n.div_ceil(shape.edge);
                    let mut inverses =
                        Buffer::from_slice(&device, &vec![C64::default(); count * 32 * 32]).unwrap();
                    let block = Block::at((&a).into(), &layout);
                    kernels.invert_diagonal(block, lower, unit, (&mut inverses).into()).unwrap();
                    let found = inverses.to_vec().unwrap();
                    for first in (0..n).step_by(shape.edge) {
                        let size = (n - first).min(shape.edge);
                        let entry = |i: usize, j: usize| {
                            if unit && i == j { 1.0.into() } else { element(first + i, first + j) }
                        };
                        let mut expected = vec![C64::default(); size * size];
                        (0..size).for_each(|i| expected[i * (size + 1)] = 1.0.into());
                        host::triangular::solve(lower, 1, entry, &mut expected, size);
                        for (k, expected) in expected.iter().enumerate() {
                            let found = found[first * 32 + k % size + k / size * 32];
                            assert!(
                                (found - expected).norm() < 1e-14,
                                "{shape:?} {n} {k}: {found} for {expected}"
                            );
                        }
                    }
                }
            }
        }
    }
}
