//! The kernels of the reduction to a tridiagonal matrix.

use crate::factor::meeting::{MEETING, launches};
use crate::triangular::TRIANGLE_SOURCES;
use lattice_compute::scalar::ElementType;
use lattice_compute::{Argument, Device, DeviceKind, Event, Kernel, KernelFamily, KernelKey, Range, Result};
use std::sync::Arc;

const TRIDIAGONAL: KernelFamily = KernelFamily::new(
    "tridiagonal",
    &[
        TRIANGLE_SOURCES[0],
        TRIANGLE_SOURCES[1],
        include_str!("../../../cl/wide.cl"),
        MEETING,
        include_str!("../../../cl/tridiagonal.cl"),
    ],
);

/// Columns of a panel.
pub(super) const WIDTH: usize = 32;

/// Stages of a column.
const STAGES: usize = 3;

/// Work-items of a group that works on a column.
const GROUP: usize = 64;

/// The way in which a device works on a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PanelVariant {
    /// This many work-items multiply by whole columns, and other steps have launches of their own.
    Strips(usize),
    /// Many work-items take rows, all of them in one launch where they can meet.
    Rows(Shape),
}

/// The groups of [`PanelVariant::Rows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Rows that a group works on at once where several work-items share a row.
    pub lanes: usize,
    /// Work-items that share a row.
    pub slots: usize,
    /// Columns that a work-item multiplies a row of. They divide the work-items of a group.
    pub strip: usize,
    /// Columns of a strip that are summed up at once.
    pub batch: usize,
    /// Most groups.
    pub groups: usize,
}

impl Shape {
    fn items(&self) -> usize {
        self.lanes * self.slots
    }

    /// Returns the groups for a panel of so many rows: each has rows, and perhaps a part of a product.
    fn groups(&self, rows: usize) -> usize {
        let (strips, depth) = (rows.div_ceil(self.strip), self.items() / self.strip);
        let whole = strips / depth;
        let units = depth * whole * (whole + 1) / 2 + (strips % depth) * (whole + 1);
        rows.div_ceil(self.lanes).max(units).clamp(1, self.groups)
    }
}

impl PanelVariant {
    fn of(device: &Device, element: ElementType) -> Self {
        let info = device.info();
        if info.kind == DeviceKind::Cpu {
            return Self::Strips(info.compute_units.max(1));
        }
        // At most 32 KiB of local memory, which every GPU has.
        let wide = element.bytes() > 8;
        let (slots, strip) = if wide { (4, 16) } else { (8, 32) };
        let slots = if info.max_work_group_size >= 32 * slots { slots } else { 2 };
        Self::Rows(Shape { lanes: 32, slots, strip, batch: 4, groups: info.compute_units.max(1) })
    }

    /// Returns the sums that each row of a matrix with so many rows gets of a product, and how many
    /// more each column gets.
    pub fn parts(self, rows: usize) -> [usize; 2] {
        match self {
            Self::Strips(count) => [count, 0],
            Self::Rows(shape) => [rows.div_ceil(shape.strip), rows.div_ceil(shape.items()) + 1],
        }
    }

    /// Returns the most groups that share so many rows.
    pub fn groups(self, rows: usize) -> usize {
        match self {
            Self::Strips(_) => groups(rows),
            Self::Rows(shape) => shape.groups,
        }
    }
}

/// The kernels for elements of one type.
pub(super) struct Kernels {
    pub variant: PanelVariant,
    panel: Panel,
    to_elements: Kernel,
}

enum Panel {
    Strips {
        update_column: Kernel,
        finish_panel: Kernel,
        make_reflector: Kernel,
        multiply: Kernel,
        combine: Kernel,
    },
    Rows(Kernel),
}

/// The memory of a reduction.
pub(super) struct Memory<'a> {
    pub a: Argument<'a>,
    /// V, W and V once more.
    pub v: Argument<'a>,
    /// The last column of W, before its part along v is taken off.
    pub fresh: Argument<'a>,
    /// Sums for each row, and for each column: [`parts`](PanelVariant::parts).
    pub parts: [Argument<'a>; 2],
    pub dots: Argument<'a>,
    /// A number for each group.
    pub squares: Argument<'a>,
    /// Two numbers for each group.
    pub products: Argument<'a>,
    pub tau: Argument<'a>,
    pub diagonal: Argument<'a>,
    pub beside: Argument<'a>,
    /// A zero for each panel.
    pub arrived: Argument<'a>,
}

impl Kernels {
    /// Returns the kernels of a device, built on first use.
    pub fn of(device: &Device, element: ElementType) -> Result<Arc<Self>> {
        device.attached_as(element, |device| Self::with(device, element, PanelVariant::of(device, element)))
    }

    /// Builds the kernels that work in this way.
    pub fn with(device: &Device, element: ElementType, variant: PanelVariant) -> Result<Self> {
        let key = KernelKey::of(TRIDIAGONAL, element).define("WIDTH", WIDTH);
        let key = match variant {
            PanelVariant::Strips(_) => key.define("STRIPS", 1).define("GROUP", GROUP),
            PanelVariant::Rows(shape) => key
                .define("STRIPS", 0)
                .define("GROUP", shape.items())
                .define("LANES", shape.lanes)
                .define("SLOTS", shape.slots)
                .define("STRIP", shape.strip)
                .define("BATCH", shape.batch),
        };
        let program = device.program(&key)?;
        let panel = match variant {
            PanelVariant::Strips(_) => Panel::Strips {
                update_column: program.kernel("update_column")?,
                finish_panel: program.kernel("finish_panel")?,
                make_reflector: program.kernel("make_reflector")?,
                multiply: program.kernel("multiply_strips")?,
                combine: program.kernel("combine")?,
            },
            PanelVariant::Rows(_) => Panel::Rows(program.kernel("reduce_panel")?),
        };
        let to_elements = program.kernel("to_elements")?;
        Ok(Self { variant, panel, to_elements })
    }

    /// Starts the reduction of the columns of panel `number`, from column `first` on.
    ///
    /// Leaves its `width` columns in V and W.
    pub fn panel(
        &self,
        device: &Device,
        n: usize,
        [number, first, width]: [usize; 3],
        memory: &Memory<'_>,
    ) -> Result<()> {
        let is_last = first + width == n;
        let (Panel::Rows(kernel), PanelVariant::Rows(shape)) = (&self.panel, self.variant) else {
            (0..width).try_for_each(|j| self.column(n, first + j, j, memory))?;
            return if is_last { Ok(()) } else { self.finish_panel(n, first + width, width, memory) };
        };
        // The last column has nothing below it.
        let stages = if is_last { STAGES * (width - 1) } else { STAGES * width } + 1;
        let groups = shape.groups(n - first);
        let Memory { a, v, fresh, parts: [parts, column_parts], dots, .. } = *memory;
        let Memory { squares, products, tau, diagonal, beside, arrived, .. } = *memory;
        let arrays = [a, v, fresh, parts, column_parts, dots, squares, products, tau, diagonal, beside];
        for stages in launches(device, groups, stages) {
            let counts = [n, first, width, stages.start, stages.end];
            let counts = counts.map(|count| Argument::value(count as u32));
            let arguments = [&counts[..], &arrays, &[arrived.skip(number)]].concat();
            kernel.start(Range::groups(groups, shape.items()), &arguments)?;
        }
        Ok(())
    }

    /// Starts the reduction of column k, the j-th of its panel.
    ///
    /// Column j of W is left to be completed, in `fresh`.
    fn column(&self, n: usize, k: usize, j: usize, memory: &Memory<'_>) -> Result<()> {
        let (
            Panel::Strips { update_column, make_reflector, multiply, combine, .. },
            PanelVariant::Strips(strips),
        ) = (&self.panel, self.variant)
        else {
            return Ok(());
        };
        let Memory { a, v, fresh, parts: [parts, _], dots, .. } = *memory;
        let Memory { squares, products, tau, diagonal, beside, .. } = *memory;
        let value = |count: usize| Argument::value(count as u32);
        let column = [n, k, j].map(value);
        let (from_diagonal, rows) = (n - k, n - k - 1);
        // Column k − 1 had this column's rows.
        let shares = value(groups(from_diagonal));
        let arguments = [a, v, fresh, tau, products, squares, diagonal];
        update_column.start(on(from_diagonal), &[&column[..], &[shares], &arguments].concat())?;
        if rows == 0 {
            return Ok(());
        }
        let arguments = [a, v, squares, tau, beside];
        make_reflector.start(on(rows), &[&column[..], &[shares], &arguments].concat())?;
        let arguments = [value(n), value(k + 1), value(j), value(strips), a, v, parts, dots];
        multiply.start(Range::groups(strips + 2 * j, 1), &arguments)?;
        let arguments = [value(strips), parts, v, fresh, dots, tau, products];
        combine.start(on(rows), &[&column[..], &arguments].concat())
    }

    /// Completes the last of `j` columns of W, before column k.
    fn finish_panel(&self, n: usize, k: usize, j: usize, memory: &Memory<'_>) -> Result<()> {
        let Panel::Strips { finish_panel, .. } = &self.panel else { return Ok(()) };
        let Memory { v, fresh, tau, products, .. } = *memory;
        let counts = [n, k, j, groups(n - k)].map(|count| Argument::value(count as u32));
        finish_panel.start(on(n - k), &[&counts[..], &[v, fresh, tau, products]].concat())
    }

    /// Starts to make elements of real numbers.
    pub fn to_elements(&self, count: usize, from: Argument<'_>, to: Argument<'_>) -> Result<Event> {
        let items = match self.variant {
            PanelVariant::Strips(_) => GROUP,
            PanelVariant::Rows(shape) => shape.items(),
        };
        self.to_elements.launch(Range::covering(count, items), &[Argument::value(count as u64), from, to])
    }
}

/// Returns the groups of [`PanelVariant::Strips`] that share so many rows.
fn groups(rows: usize) -> usize {
    rows.div_ceil(GROUP)
}

fn on(rows: usize) -> Range {
    Range::groups(groups(rows), GROUP)
}
