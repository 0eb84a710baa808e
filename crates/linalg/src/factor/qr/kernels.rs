//! The kernels of reflectors.

use crate::block::Block;
use crate::factor::meeting::{MEETING, launches};
use crate::triangular::TRIANGLE_SOURCES;
use lattice_compute::scalar::ElementType;
use lattice_compute::{
    Argument, Device, DeviceKind, Event, Kernel, KernelFamily, KernelKey, Profiling, Range, Result,
};
use std::sync::Arc;

const QR: KernelFamily = KernelFamily::new(
    "qr",
    &[
        TRIANGLE_SOURCES[0],
        TRIANGLE_SOURCES[1],
        include_str!("../../../cl/wide.cl"),
        MEETING,
        include_str!("../../../cl/qr.cl"),
    ],
);

/// Most columns of a panel.
pub(super) const WIDTH: usize = 32;

/// Most rows that a work-item keeps its elements of in registers.
const MOST_KEPT: usize = 4;

/// Edge of the work-groups that copy.
const TILE: usize = 16;

/// The way in which the rows of a panel are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// Rows that a group works on at once.
    rows: usize,
    /// Work-items that share the columns of a row.
    slots: usize,
    /// Rows that are worth a group.
    least_rows: usize,
    /// Most groups.
    groups: usize,
    /// Rows that a work-item keeps its elements of in registers, if groups have no more.
    kept: usize,
}

impl Shape {
    fn of(device: &Device) -> Self {
        let info = device.info();
        if info.kind == DeviceKind::Cpu {
            return Self { rows: 16, slots: 1, least_rows: 128, groups: info.compute_units, kept: 0 };
        }
        let slots = (info.max_work_group_size / 32).clamp(1, 8);
        Self {
            rows: 32.min(info.max_work_group_size),
            slots,
            least_rows: 32,
            groups: info.compute_units.clamp(1, 128),
            kept: MOST_KEPT,
        }
    }

    fn items(&self) -> usize {
        self.rows * self.slots
    }
}

/// The kernels for elements of one type.
pub(in crate::factor) struct Kernels {
    element: ElementType,
    shape: Shape,
    reflect: Kernel,
    reflect_in_registers: Kernel,
    spread_reflectors: Kernel,
    set_reciprocals: Kernel,
    column_factors: Kernel,
    scale_columns: Kernel,
    first_zero: Kernel,
}

impl Kernels {
    /// Returns the kernels of a device, built on first use.
    pub fn of(device: &Device, element: ElementType) -> Result<Arc<Self>> {
        device.attached_as(element, |device| Self::with(device, element, Shape::of(device)))
    }

    fn with(device: &Device, element: ElementType, shape: Shape) -> Result<Self> {
        let key = KernelKey::of(QR, element)
            .define("WIDTH", WIDTH)
            .define("ROWS", shape.rows)
            .define("SLOTS", shape.slots)
            .define("KEPT", MOST_KEPT);
        let program = device.program(&key)?;
        Ok(Self {
            element,
            shape,
            reflect: program.kernel("reflect")?,
            reflect_in_registers: program.kernel("reflect_in_registers")?,
            spread_reflectors: program.kernel("spread_reflectors")?,
            set_reciprocals: program.kernel("set_reciprocals")?,
            column_factors: program.kernel("column_factors")?,
            scale_columns: program.kernel("scale_columns")?,
            first_zero: program.kernel("first_zero")?,
        })
    }

    /// Starts A = Q R of a panel with at most [`WIDTH`] columns and at least as many rows.
    ///
    /// Each column is a stage, and one more starts the sums. Only the last launch has an event,
    /// unless the device is profiled. `arrived` is a zero that the panel counts groups with.
    pub fn panel(
        &self,
        device: &Device,
        a: Block<'_>,
        [tau, arrived]: [Argument<'_>; 2],
        events: &mut Vec<Event>,
    ) -> Result<()> {
        let Shape { rows, least_rows, groups, kept, .. } = self.shape;
        let groups = a.rows.div_ceil(least_rows).clamp(1, groups);
        let fits = a.rows.div_ceil(groups) <= kept.min(MOST_KEPT) * rows;
        let kernel = if fits { &self.reflect_in_registers } else { &self.reflect };
        let mut dots = device.scratch::<f64>(2 * groups * WIDTH * self.element.reals())?;
        let mut pivot_rows = device.scratch_of(self.element, 2 * WIDTH)?;
        let range = Range::groups(groups, self.shape.items());
        for stages in launches(device, groups, a.columns + 1) {
            let counts = [a.rows, a.columns, stages.start, stages.end];
            let counts = counts.map(|count| Argument::value(count as u32));
            let outcome = [dots.output(), pivot_rows.output(), tau, arrived];
            let arguments = [&counts[..], &a.arguments(), &outcome].concat();
            if stages.end > a.columns || device.profiling() == Profiling::On {
                events.push(kernel.launch(range, &arguments)?);
            } else {
                kernel.start(range, &arguments)?;
            }
        }
        Ok(())
    }

    /// Starts to write the vectors of reflectors as a dense matrix, column-major.
    pub fn spread_reflectors(&self, a: Block<'_>, tau: Argument<'_>, v: Argument<'_>) -> Result<Event> {
        let extents = [a.rows, a.columns].map(|extent| Argument::value(extent as u64));
        let arguments = [&extents[..], &a.arguments(), &[tau, v]].concat();
        self.spread_reflectors.launch(tiles(a), &arguments)
    }

    /// Starts to put the reciprocals of τ on the diagonal of a dense matrix.
    pub fn set_reciprocals(&self, width: usize, tau: Argument<'_>, products: Argument<'_>) -> Result<Event> {
        let arguments = [Argument::value(width as u64), tau, products];
        self.set_reciprocals.launch(Range::covering(width, 4 * TILE), &arguments)
    }

    /// Starts to choose a power of two for each column, which keeps squares in range.
    pub fn column_factors(&self, a: Block<'_>, factors: Argument<'_>) -> Result<Event> {
        let arguments = [&[Argument::value(a.rows as u64)][..], &a.arguments(), &[factors]].concat();
        self.column_factors.launch(Range::groups(a.columns, self.shape.items()), &arguments)
    }

    /// Starts to multiply all of the columns by their factors, or to divide the upper triangle.
    pub fn scale_columns(&self, a: Block<'_>, divides: bool, factors: Argument<'_>) -> Result<Event> {
        let extents = [a.rows, a.columns].map(|extent| Argument::value(extent as u64));
        // What is below the diagonal after the factorisation has no scale.
        let flags = [divides, divides].map(|flag| Argument::value(u32::from(flag)));
        let arguments = [&extents[..], &flags, &[factors], &a.arguments()].concat();
        self.scale_columns.launch(tiles(a), &arguments)
    }

    /// Starts the search of the first zero on the diagonal of a square matrix.
    pub fn first_zero(&self, a: Block<'_>, info: Argument<'_>) -> Result<Event> {
        let arguments = [&[Argument::value(a.rows as u64)][..], &a.arguments(), &[info]].concat();
        self.first_zero.launch(Range::groups(1, self.shape.items()), &arguments)
    }
}

/// Returns a range with a work-item for each element.
fn tiles(a: Block<'_>) -> Range {
    Range::new([a.rows, a.columns].map(|extent| extent.next_multiple_of(TILE)), [TILE, TILE])
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
    fn a_panel_has_the_reflectors_of_the_twin_however_groups_share_its_rows() {
        let options = DeviceOptions::default().with_cache(CacheMode::Off);
        for found in discover().devices.into_iter().filter(|found| found.info.fp64) {
            let device = Device::open(&found, &options).unwrap();
            for shape in [
                Shape { rows: 8, slots: 3, least_rows: 1, groups: 9, kept: 0 },
                Shape { rows: 16, slots: 2, least_rows: 16, groups: 128, kept: 0 },
                Shape { rows: 16, slots: 2, least_rows: 16, groups: 4, kept: 4 },
                Shape { rows: 8, slots: 3, least_rows: 8, groups: 9, kept: 4 },
            ] {
                let kernels = Kernels::with(&device, ElementType::of::<C64>(), shape).unwrap();
                for (rows, columns) in [(1, 1), (200, 32), (33, 7), (9, 9)] {
                    let number = |k: usize| (0.7 * k as f64 * k as f64).cos();
                    let a: Vec<C64> =
                        (0..rows * columns).map(|k| C64::new(number(k), number(k + 5000))).collect();
                    let mut buffer = Buffer::from_slice(&device, &a).unwrap();
                    let mut tau = Buffer::<C64>::zeroed(&device, columns).unwrap();
                    let block = Block::at((&mut buffer).into(), &MatrixLayout::column_major(rows, columns));
                    let mut arrived = Buffer::<u32>::zeroed(&device, 1).unwrap();
                    let written = [(&mut tau).into(), arrived.view_mut().into()];
                    kernels.panel(&device, block, written, &mut Vec::new()).unwrap();
                    let mut twin = a.clone();
                    let expected = host::qr::factorise(rows, &mut twin);
                    let (found, tau) = (buffer.to_vec().unwrap(), tau.to_vec().unwrap());
                    let pairs = found.iter().zip(&twin).chain(tau.iter().zip(&expected));
                    let error = pairs.map(|(f, t)| (f - t).norm()).fold(0.0, f64::max);
                    assert!(error < 1e-12, "{shape:?} {rows}×{columns}: {error}");
                }
            }
        }
    }
}
