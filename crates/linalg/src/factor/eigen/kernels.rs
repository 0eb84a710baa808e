//! The kernels of the reduction to a tridiagonal matrix.

use crate::triangular::TRIANGLE_SOURCES;
use lattice_compute::scalar::Element;
use lattice_compute::{
    Argument, Device, DeviceKind, Event, Kernel, KernelFamily, KernelKey, Parameter, Range, Result,
};
use std::marker::PhantomData;
use std::sync::Arc;

const TRIDIAGONAL: KernelFamily = KernelFamily::new(
    "tridiagonal",
    &[
        TRIANGLE_SOURCES[0],
        TRIANGLE_SOURCES[1],
        include_str!("../../../cl/wide.cl"),
        include_str!("../../../cl/tridiagonal.cl"),
    ],
);

/// Columns of a panel.
pub(super) const WIDTH: usize = 32;

/// Edge of the tiles, and work-items of a group that multiplies.
const TILE: usize = 32;

/// Work-items of a group that works on a column.
const GROUP: usize = 64;

/// The way in which a device multiplies by a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Product {
    /// A work-group for each tile: many small pieces of work.
    Tiles,
    /// This many work-items that take whole columns: few large ones.
    Strips(usize),
}

impl Product {
    fn of(device: &Device) -> Self {
        let info = device.info();
        if info.kind == DeviceKind::Cpu { Self::Strips(info.compute_units.max(1)) } else { Self::Tiles }
    }

    /// Returns the numbers that are added up for a row.
    fn slots(self, rows: usize) -> usize {
        match self {
            Self::Tiles => rows.div_ceil(TILE),
            Self::Strips(count) => count,
        }
    }
}

/// The kernels for elements of type `T`.
pub(super) struct Kernels<T> {
    product: Product,
    update_column: Kernel,
    finish_panel: Kernel,
    make_reflector: Kernel,
    multiply: Kernel,
    combine: Kernel,
    to_elements: Kernel,
    element: PhantomData<T>,
}

/// The memory of a reduction.
pub(super) struct Memory<'a> {
    pub a: Argument<'a>,
    pub v: Argument<'a>,
    pub w: Argument<'a>,
    /// The last column of W, before its part along v is taken off.
    pub fresh: Argument<'a>,
    /// The [`slots`](Kernels::slots) of each row.
    pub parts: Argument<'a>,
    pub dots: Argument<'a>,
    /// A number for each group.
    pub squares: Argument<'a>,
    /// Two numbers for each group.
    pub products: Argument<'a>,
    pub tau: Argument<'a>,
    pub diagonal: Argument<'a>,
    pub beside: Argument<'a>,
}

impl<T: Element> Kernels<T> {
    /// Returns the kernels of a device, built on first use.
    pub fn of(device: &Device) -> Result<Arc<Self>> {
        device.attached(|device| Self::with(device, Product::of(device)))
    }

    /// Builds the kernels that multiply in this way.
    pub fn with(device: &Device, product: Product) -> Result<Self> {
        let strips = u32::from(product != Product::Tiles);
        let key = KernelKey::of_element::<T>(TRIDIAGONAL)
            .define("TILE", TILE)
            .define("GROUP", GROUP)
            .define("STRIPS", strips);
        let program = device.program(&key)?;
        let count = Parameter::value::<u32>;
        let (input, output) = (Parameter::input::<T>, Parameter::output::<T>);
        let (numbers, written) = (Parameter::input::<f64>, Parameter::output::<f64>);
        let [n, k, j, groups] = ["n", "k", "j", "groups"].map(count);
        let column = [n, k, j, groups];
        let with = |more: &[Parameter]| [&column[..], more].concat();
        let factors = [input("a"), input("v"), input("w"), output("parts"), output("dots")];
        let (name, pieces) = match product {
            Product::Tiles => ("multiply_tiles", count("tiles")),
            Product::Strips(_) => ("multiply_strips", count("strips")),
        };
        Ok(Self {
            product,
            update_column: program.kernel(
                "update_column",
                &with(&[
                    output("a"),
                    input("v"),
                    output("w"),
                    input("fresh"),
                    input("tau"),
                    numbers("products"),
                    written("squares"),
                    written("diagonal"),
                ]),
            )?,
            finish_panel: program.kernel(
                "finish_panel",
                &with(&[input("v"), output("w"), input("fresh"), input("tau"), numbers("products")]),
            )?,
            make_reflector: program.kernel(
                "make_reflector",
                &with(&[output("a"), output("v"), numbers("squares"), output("tau"), written("beside")]),
            )?,
            multiply: program.kernel(name, &[&[n, count("base"), j, pieces], &factors[..]].concat())?,
            combine: program.kernel(
                "combine",
                &[
                    &[n, k, j, count("slots"), input("parts"), input("v"), input("w"), output("fresh")],
                    &[input("dots"), input("tau"), written("products")][..],
                ]
                .concat(),
            )?,
            to_elements: program.kernel(
                "to_elements",
                &[Parameter::value::<u64>("count"), numbers("numbers"), output("elements")],
            )?,
            element: PhantomData,
        })
    }

    /// Returns the numbers that are added up for a row of a matrix with so many rows.
    pub fn slots(&self, rows: usize) -> usize {
        self.product.slots(rows)
    }

    /// Returns the groups that share so many rows.
    pub fn groups(rows: usize) -> usize {
        rows.div_ceil(GROUP)
    }

    /// Starts the reduction of column k, the j-th of its panel.
    ///
    /// Column j of W is left to be completed, in `fresh`.
    pub fn column(&self, n: usize, k: usize, j: usize, memory: &Memory<'_>) -> Result<()> {
        let Memory { a, v, w, fresh, parts, dots, squares, products, tau, diagonal, beside } = *memory;
        let value = |count: usize| Argument::value(count as u32);
        let column = [n, k, j].map(value);
        let (from_diagonal, rows) = (n - k, n - k - 1);
        // Column k − 1 had this column's rows.
        let groups = value(Self::groups(from_diagonal));
        let arguments = [a, v, w, fresh, tau, products, squares, diagonal];
        self.update_column.start(Self::on(from_diagonal), &[&column[..], &[groups], &arguments].concat())?;
        if rows == 0 {
            return Ok(());
        }
        let arguments = [a, v, squares, tau, beside];
        self.make_reflector.start(Self::on(rows), &[&column[..], &[groups], &arguments].concat())?;
        let slots = self.slots(rows);
        let (pieces, items) = match self.product {
            Product::Tiles => (slots * (slots + 1) / 2, TILE),
            Product::Strips(count) => (count, 1),
        };
        let arguments = [value(n), value(k + 1), value(j), value(pieces), a, v, w, parts, dots];
        self.multiply.start(Range::groups(pieces + 2 * j, items), &arguments)?;
        let arguments = [value(slots), parts, v, w, fresh, dots, tau, products];
        self.combine.start(Self::on(rows), &[&column[..], &arguments].concat())
    }

    /// Completes the last of `j` columns of W, before column k.
    pub fn finish_panel(&self, n: usize, k: usize, j: usize, memory: &Memory<'_>) -> Result<()> {
        let Memory { v, w, fresh, tau, products, .. } = *memory;
        let counts = [n, k, j, Self::groups(n - k)].map(|count| Argument::value(count as u32));
        self.finish_panel.start(Self::on(n - k), &[&counts[..], &[v, w, fresh, tau, products]].concat())
    }

    /// Starts to make elements of real numbers.
    pub fn to_elements(&self, count: usize, from: Argument<'_>, to: Argument<'_>) -> Result<Event> {
        self.to_elements.launch(Self::on(count), &[Argument::value(count as u64), from, to])
    }

    fn on(rows: usize) -> Range {
        Range::groups(Self::groups(rows), GROUP)
    }
}
