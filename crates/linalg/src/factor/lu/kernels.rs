//! The kernels of panels and row exchanges.

use crate::block::Block;
use crate::factor::meeting::{MEETING, launches};
use crate::matrix::Order;
use crate::triangular::TRIANGLE_SOURCES;
use lattice_compute::scalar::ElementType;
use lattice_compute::{
    Argument, Device, DeviceKind, Event, Kernel, KernelFamily, KernelKey, Profiling, Range, Result,
};
use std::sync::Arc;

const LU: KernelFamily = KernelFamily::new(
    "lu",
    &[TRIANGLE_SOURCES[0], TRIANGLE_SOURCES[1], MEETING, include_str!("../../../cl/lu.cl")],
);

/// Most columns of a panel.
pub(super) const WIDTH: usize = 32;

/// Edge of the work-groups that move rows.
const TILE: usize = 16;

/// The way in which the rows of a panel are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// Work-items of a group.
    items: usize,
    /// Rows that are worth a group.
    least_rows: usize,
    /// Most groups.
    groups: usize,
    /// Work-items keep a row each in registers, if there are enough of them.
    keeps_rows: bool,
}

impl Shape {
    fn of(device: &Device) -> Self {
        let info = device.info();
        if info.kind == DeviceKind::Cpu {
            return Self { items: 16, least_rows: 128, groups: info.compute_units, keeps_rows: false };
        }
        // A power of two, for the sums in a tree.
        let items = 1 << info.max_work_group_size.clamp(1, 128).ilog2();
        Self { items, least_rows: items, groups: info.compute_units.clamp(1, 128), keeps_rows: true }
    }
}

/// The kernels for elements of one type.
pub(super) struct Kernels {
    element: ElementType,
    shape: Shape,
    panel_steps: Kernel,
    panel_in_registers: Kernel,
    substitute: Kernel,
    trace_exchanges: Kernel,
    move_rows: Kernel,
}

/// Pivots on the device.
#[derive(Clone, Copy)]
pub(super) struct Pivots<'a> {
    /// The row that each was exchanged with, counted in the whole matrix.
    pub rows: Argument<'a>,
    pub count: usize,
    /// The first row that exchanges may reach. Exchange j is that of row `first` + j.
    pub first: usize,
}

impl Kernels {
    /// Returns the kernels of a device, built on first use.
    pub fn of(device: &Device, element: ElementType) -> Result<Arc<Self>> {
        device.attached_as(element, |device| Self::with(device, element, Shape::of(device)))
    }

    fn with(device: &Device, element: ElementType, shape: Shape) -> Result<Self> {
        let key = KernelKey::of(LU, element).define("WIDTH", WIDTH).define("PANEL_ITEMS", shape.items);
        let program = device.program(&key)?;
        Ok(Self {
            element,
            shape,
            panel_steps: program.kernel("panel_steps")?,
            substitute: program.kernel("substitute")?,
            panel_in_registers: program.kernel("panel_in_registers")?,
            trace_exchanges: program.kernel("trace_exchanges")?,
            move_rows: program.kernel("move_rows")?,
        })
    }

    /// Starts P A = L U of a panel of at most [`WIDTH`] columns.
    ///
    /// Each column is a step, and another one searches the first pivot. Only the last launch has an
    /// event, unless the device is profiled. `arrived` is a zero that the panel counts groups with.
    pub fn panel(
        &self,
        device: &Device,
        a: Block<'_>,
        pivots: Pivots<'_>,
        [info, arrived]: [Argument<'_>; 2],
        events: &mut Vec<Event>,
    ) -> Result<()> {
        let Shape { items, least_rows, groups, keeps_rows } = self.shape;
        let (groups, kernel) = if keeps_rows && a.rows <= groups * items {
            (a.rows.div_ceil(items), &self.panel_in_registers)
        } else {
            (a.rows.div_ceil(least_rows).clamp(1, groups), &self.panel_steps)
        };
        let mut rows = device.scratch_of(self.element, 2 * (groups + 1) * WIDTH)?;
        let mut sizes = device.scratch_of(self.element.real(), 2 * groups)?;
        let mut places = device.scratch::<u32>(2 * groups)?;
        let range = Range::groups(groups, items);
        for steps in launches(device, groups, pivots.count + 1) {
            let counts = [a.rows, a.columns, steps.start, steps.end, pivots.count];
            let counts = counts.map(|count| Argument::value(count as u32));
            let workspace = [rows.output(), sizes.output(), places.output()];
            let outcome = [pivots.rows, Argument::value(pivots.first as u32), info, arrived];
            let arguments = [&counts[..], &a.arguments(), &workspace, &outcome].concat();
            if steps.end > pivots.count || device.profiling() == Profiling::On {
                events.push(kernel.launch(range, &arguments)?);
            } else {
                kernel.start(range, &arguments)?;
            }
        }
        Ok(())
    }

    /// Most rows of a triangle for which a substitution is faster than products with inverses.
    pub fn most_substituted(&self) -> usize {
        // Groups of few work-items belong to processors.
        if self.shape.keeps_rows { 2 * WIDTH } else { 0 }
    }

    /// Starts X = L⁻¹ X with a triangle below a diagonal of ones, of at most [`WIDTH`] rows.
    pub fn substitute(&self, l: Block<'_>, x: Block<'_>) -> Result<Event> {
        let counts = [Argument::value(x.rows as u32), Argument::value(x.columns as u64)];
        let arguments = [&counts[..], &l.arguments(), &x.arguments()].concat();
        self.substitute.launch(Range::covering(x.columns, self.shape.items), &arguments)
    }

    /// Starts the exchanges of rows of X, or undoes them, last first.
    pub fn exchange(
        &self,
        device: &Device,
        x: Block<'_>,
        pivots: Pivots<'_>,
        undo: bool,
        events: &mut Vec<Event>,
    ) -> Result<()> {
        if x.rows == 0 || x.columns == 0 || pivots.count == 0 {
            return Ok(());
        }
        let mut origins = device.scratch::<u32>(x.rows)?;
        let count = |count: usize| Argument::value(count as u32);
        let exchanges =
            [pivots.rows, count(pivots.first), Argument::value(u32::from(undo)), origins.output()];
        let arguments = [&[count(x.rows), count(pivots.count)][..], &exchanges].concat();
        events.push(self.trace_exchanges.launch(Range::covering(x.rows, 4 * TILE), &arguments)?);

        let mut room = device.scratch_of(self.element, x.rows * x.columns)?;
        let aside = Block::at(room.output(), &x.dense_layout());
        let columns_first = x.order == Order::RowMajor;
        let extents = [x.rows, x.columns].map(|extent| extent.next_multiple_of(TILE));
        let extents = if columns_first { [extents[1], extents[0]] } else { extents };
        for (from, to, to_origins) in [(x, aside, true), (aside, x, false)] {
            let flags = [to_origins, columns_first].map(|flag| Argument::value(u32::from(flag)));
            let head = [count(x.rows), Argument::value(x.columns as u64), origins.input()];
            let arguments = [&head[..], &flags, &from.arguments(), &to.arguments()].concat();
            events.push(self.move_rows.launch(Range::new(extents, [TILE, TILE]), &arguments)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host;
    use crate::matrix::MatrixLayout;
    use lattice_compute::{Buffer, CacheMode, DeviceOptions, discover};

    #[test]
    fn a_panel_is_factorised_however_groups_share_its_rows() {
        let options = DeviceOptions::default().with_cache(CacheMode::Off);
        for found in discover().devices.into_iter().filter(|found| found.info.fp64) {
            let device = Device::open(&found, &options).unwrap();
            for shape in [
                Shape { items: 8, least_rows: 1, groups: 9, keeps_rows: false },
                Shape { items: 64, least_rows: 64, groups: 128, keeps_rows: false },
                Shape { items: 128, least_rows: 128, groups: 2, keeps_rows: true },
                Shape { items: 64, least_rows: 64, groups: 4, keeps_rows: true },
                Shape { items: 8, least_rows: 8, groups: 25, keeps_rows: true },
            ] {
                let kernels = Kernels::with(&device, ElementType::of::<f64>(), shape).unwrap();
                for (rows, columns) in [(1, 1), (157, 32), (200, 32), (33, 7), (5, 9)] {
                    let number = |k: usize| (0.7 * k as f64 * k as f64).cos();
                    let a: Vec<f64> = (0..rows * columns).map(number).collect();
                    let mut buffer = Buffer::from_slice(&device, &a).unwrap();
                    let count = rows.min(columns);
                    let mut pivots = Buffer::<u32>::zeroed(&device, count).unwrap();
                    let mut info = Buffer::<u32>::zeroed(&device, 1).unwrap();
                    let block = Block::at((&mut buffer).into(), &MatrixLayout::column_major(rows, columns));
                    let to = Pivots { rows: (&mut pivots).into(), count, first: 1000 };
                    let mut arrived = Buffer::<u32>::zeroed(&device, 1).unwrap();
                    let counts = [(&mut info).into(), arrived.view_mut().into()];
                    kernels.panel(&device, block, to, counts, &mut Vec::new()).unwrap();
                    let mut twin = a.clone();
                    let (expected, _) = host::lu::factorise(rows, &mut twin);
                    let expected: Vec<u32> = expected.into_iter().map(|row| row + 1000).collect();
                    assert_eq!(pivots.to_vec().unwrap(), expected, "{shape:?} {rows}×{columns}");
                    assert_eq!(info.to_vec().unwrap(), [0]);
                    let found = buffer.to_vec().unwrap();
                    let error = found.iter().zip(&twin).map(|(f, t)| (f - t).abs()).fold(0.0, f64::max);
                    assert!(error < 1e-12, "{shape:?} {rows}×{columns}: {error}");
                    // Exchanges and their undoing leave everything where it was.
                    let mut events = Vec::new();
                    let block = Block::at((&mut buffer).into(), &MatrixLayout::column_major(rows, columns));
                    let pivots = Pivots { rows: (&pivots).into(), count, first: 1000 };
                    kernels.exchange(&device, block, pivots, false, &mut events).unwrap();
                    kernels.exchange(&device, block, pivots, true, &mut events).unwrap();
                    assert_eq!(buffer.to_vec().unwrap(), found);
                }
            }
        }
    }

    #[test]
    fn a_substitution_is_undone_by_a_product() {
        let options = DeviceOptions::default().with_cache(CacheMode::Off);
        for found in discover().devices.into_iter().filter(|found| found.info.fp64) {
            let device = Device::open(&found, &options).unwrap();
            let shape = Shape { items: 8, least_rows: 8, groups: 1, keeps_rows: true };
            let kernels = Kernels::with(&device, ElementType::of::<f64>(), shape).unwrap();
            for (n, columns) in [(1, 3), (32, 9), (17, 8)] {
                let number = |k: usize| (0.7 * k as f64 * k as f64).cos() / 4.0;
                // The diagonal and what is above it do not count.
                let l = |i: usize, k: usize| if k < i { number(i + 40 * k) } else { f64::NAN };
                let lower: Vec<f64> = (0..n * n).map(|p| l(p % n, p / n)).collect();
                let b: Vec<f64> = (0..n * columns).map(|p| number(p + 7)).collect();
                let lower = Buffer::from_slice(&device, &lower).unwrap();
                let mut x = Buffer::from_slice(&device, &b).unwrap();
                let triangle = Block::at((&lower).into(), &MatrixLayout::column_major(n, n));
                let to = Block::at((&mut x).into(), &MatrixLayout::column_major(n, columns));
                kernels.substitute(triangle, to).unwrap();
                let x = x.to_vec().unwrap();
                for (i, j) in (0..n).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                    let sum = x[i + j * n] + (0..i).map(|k| l(i, k) * x[k + j * n]).sum::<f64>();
                    assert!((sum - b[i + j * n]).abs() < 1e-13, "({i}, {j}) of {n}×{columns}");
                }
            }
        }
    }
}
