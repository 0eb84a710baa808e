//! The kernels of refinement.

use crate::block::Block;
use crate::level3::Triangle;
use crate::triangular::TRIANGLE_SOURCES;
use lattice_compute::scalar::ElementType;
use lattice_compute::{Argument, Device, Event, Kernel, KernelFamily, KernelKey, Range, Result};
use std::sync::Arc;

const MIXED: KernelFamily = KernelFamily::new(
    "mixed",
    &[TRIANGLE_SOURCES[0], TRIANGLE_SOURCES[1], include_str!("../../../cl/mixed.cl")],
);

/// Edge of the work-groups that convert.
const TILE: usize = 16;

/// Most work-items of a group that measures a column.
const MOST_ITEMS: usize = 128;

/// The kernels for elements of one type in double precision.
pub(super) struct Kernels {
    items: usize,
    narrow: Kernel,
    add_widened: Kernel,
    largest: Kernel,
}

impl Kernels {
    /// Returns the kernels of a device, built on first use.
    pub fn of(device: &Device, element: ElementType) -> Result<Arc<Self>> {
        device.attached_as(element, |device| Self::new(device, element))
    }

    fn new(device: &Device, element: ElementType) -> Result<Self> {
        let items = 1 << device.info().max_work_group_size.clamp(1, MOST_ITEMS).ilog2();
        let program = device.program(&KernelKey::of(MIXED, element).define("ITEMS", items))?;
        Ok(Self {
            items,
            narrow: program.kernel("narrow")?,
            add_widened: program.kernel("add_widened")?,
            largest: program.kernel("largest")?,
        })
    }

    /// Starts Y = X in single precision, or a triangle of it.
    pub fn narrow(
        &self,
        x: Block<'_>,
        triangle: Option<Triangle>,
        y: Argument<'_>,
        overflow: Argument<'_>,
    ) -> Result<Event> {
        let part = match triangle {
            None => 0,
            Some(Triangle::Lower) => 1,
            Some(Triangle::Upper) => 2,
        };
        let (range, extents) = plane(x);
        let arguments =
            [&extents[..], &[Argument::value(part as u32)], &x.arguments(), &[y, overflow]].concat();
        self.narrow.launch(range, &arguments)
    }

    /// Starts X = X + D, or the `first` X = D.
    pub fn add_widened(&self, first: bool, d: Argument<'_>, x: Block<'_>) -> Result<Event> {
        let (range, extents) = plane(x);
        let arguments = [&extents[..], &[Argument::value(u32::from(first)), d], &x.arguments()].concat();
        self.add_widened.launch(range, &arguments)
    }

    /// Starts the search for the largest numbers of each column of R and X, in pairs.
    pub fn largest(&self, r: Argument<'_>, x: Block<'_>, sizes: Argument<'_>) -> Result<Event> {
        let head = [Argument::value(x.rows as u64), r];
        let arguments = [&head[..], &x.arguments(), &[sizes]].concat();
        self.largest.launch(Range::groups(x.columns, self.items), &arguments)
    }
}

fn plane(x: Block<'_>) -> (Range, [Argument<'static>; 2]) {
    let range = Range::new([x.rows, x.columns].map(|extent| extent.next_multiple_of(TILE)), [TILE, TILE]);
    (range, [x.rows, x.columns].map(|extent| Argument::value(extent as u64)))
}
