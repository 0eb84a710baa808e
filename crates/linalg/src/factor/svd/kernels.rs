//! The kernels of one-sided Jacobi rotations.

use crate::block::Block;
use crate::triangular::TRIANGLE_SOURCES;
use lattice_compute::scalar::ElementType;
use lattice_compute::{Argument, Device, Event, Kernel, KernelFamily, KernelKey, Range, Result};
use std::sync::Arc;

const JACOBI: KernelFamily = KernelFamily::new(
    "jacobi",
    &[
        TRIANGLE_SOURCES[0],
        TRIANGLE_SOURCES[1],
        include_str!("../../../cl/wide.cl"),
        include_str!("../../../cl/rotations.cl"),
        include_str!("../../../cl/jacobi.cl"),
    ],
);

/// Work-items of a group that works on columns.
const GROUP: usize = 64;

/// Edge of the work-groups that copy.
const TILE: usize = 16;

/// The kernels for elements of one type.
pub(super) struct Kernels {
    rotate_pairs: Kernel,
    column_norms: Kernel,
    gather_columns: Kernel,
}

impl Kernels {
    /// Returns the kernels of a device, built on first use.
    pub fn of(device: &Device, element: ElementType) -> Result<Arc<Self>> {
        device.attached_as(element, |device| {
            let program = device.program(&KernelKey::of(JACOBI, element).define("GROUP", GROUP))?;
            Ok(Self {
                rotate_pairs: program.kernel("rotate_pairs")?,
                column_norms: program.kernel("column_norms")?,
                gather_columns: program.kernel("gather_columns")?,
            })
        })
    }

    /// Returns the rounds of a sweep, and the pairs of each.
    ///
    /// In a sweep each column meets every other one.
    pub fn rounds(columns: usize) -> (usize, usize) {
        let players = columns.next_multiple_of(2);
        (players - 1, players / 2)
    }

    /// Starts a round of rotations of the columns of X, which has `rows` rows, and of those of V.
    pub fn rotate(
        &self,
        [rows, columns]: [usize; 2],
        round: usize,
        tolerance: f64,
        [x, v, worst]: [Argument<'_>; 3],
    ) -> Result<()> {
        let (_, pairs) = Self::rounds(columns);
        let counts = [rows, columns, 2 * pairs, round].map(|count| Argument::value(count as u32));
        let arguments = [&counts[..], &[Argument::value(tolerance), x, v, worst]].concat();
        self.rotate_pairs.start(Range::groups(pairs, GROUP), &arguments)
    }

    /// Starts the norms of the columns of X.
    pub fn norms(&self, [rows, columns]: [usize; 2], x: Argument<'_>, norms: Argument<'_>) -> Result<Event> {
        let arguments = [Argument::value(rows as u32), x, norms];
        self.column_norms.launch(Range::groups(columns, GROUP), &arguments)
    }

    /// Starts to write columns of X in an order, times factors, and conjugate if asked for.
    pub fn gather(
        &self,
        conjugate: bool,
        [order, factors, x]: [Argument<'_>; 3],
        y: Block<'_>,
    ) -> Result<Event> {
        let range = Range::new([y.rows, y.columns].map(|extent| extent.next_multiple_of(TILE)), [TILE, TILE]);
        let extents = [y.rows, y.columns].map(|extent| Argument::value(extent as u64));
        let flag = [Argument::value(u32::from(conjugate))];
        let arguments = [&extents[..], &flag, &[order, factors, x], &y.arguments()].concat();
        self.gather_columns.launch(range, &arguments)
    }
}
