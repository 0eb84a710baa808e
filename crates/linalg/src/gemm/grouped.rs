//! Many products of different shapes in one launch.
//!
//! A list of products is prepared once and done as often as wanted. Each work-group computes a
//! tile of one product. Tiles are handed out in order of their cost, the longest first, so that no
//! long one begins when all others are done. The kernels are in `cl/gemm_grouped.cl`, the twin is
//! [`host::gemm`](crate::host::gemm::gemm()).

use crate::completion::Completion;
use crate::error::{BlasError, BlasResult};
use crate::op::Op;
use lattice_compute::scalar::{Element, Precision, Real};
use lattice_compute::{
    Argument, Buffer, BufferView, BufferViewMut, Device, DeviceKind, Kernel, KernelFamily, KernelKey,
    Parameter, Range,
};
use std::marker::PhantomData;

const GROUPED: KernelFamily = KernelFamily::new("gemm_grouped", &[include_str!("../../cl/gemm_grouped.cl")]);

/// Rows and columns of a GPU's tile.
const EDGE: usize = 64;

/// Where a column-major matrix lies in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The first element.
    pub first: usize,
    /// Elements from one column to the next.
    pub leading: usize,
}

/// One product C = op(A) B of a list. C has m rows and n columns; k is the number of terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Rows of C.
    pub m: usize,
    /// Columns of C.
    pub n: usize,
    /// Terms of a sum.
    pub k: usize,
    /// A as it is stored: m×k, or k×m if it enters transposed.
    pub a: Place,
    /// B, k×n.
    pub b: Place,
    /// C, m×n. It has no element in common with another C of the list.
    pub c: Place,
}

/// A list of products of real matrices that is done in one launch.
///
/// ```
/// use lattice_linalg::Op;
/// use lattice_linalg::gemm::{Grouped, Place, Product};
/// use lattice_compute::{Buffer, Selector, Team};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let team = Team::select(Selector::Auto)?;
/// let Some(device) = team.devices().first() else { return Ok(()) };
/// let at = |first, leading| Place { first, leading };
/// let products = [
///     Product { m: 1, n: 1, k: 2, a: at(0, 1), b: at(0, 2), c: at(0, 1) }, // (1 2) (1 2)ᵀ
///     Product { m: 2, n: 1, k: 1, a: at(2, 2), b: at(3, 1), c: at(1, 2) }, // (3 4)ᵀ (4)
/// ];
/// let x = Buffer::from_slice(device, &[1.0, 2.0, 3.0, 4.0])?;
/// let mut c = Buffer::zeroed(device, 3)?;
/// Grouped::<f64>::new(device, Op::N, &products)?.multiply(x.view(), x.view(), c.view_mut())?;
/// assert_eq!(c.to_vec()?, [5.0, 12.0, 16.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Grouped<T> {
    kernel: Kernel,
    products: Buffer<u64>,
    tiles: Buffer<[u32; 4]>,
    items: usize,
    /// The furthest matrix in A, B and C: its product, and the element behind its last one.
    ends: [(Product, usize); 3],
    flops: u64,
    element: PhantomData<T>,
}

/// Extents of tiles, and the constants of their kernel.
struct Shape {
    tile: [usize; 2],
    items: usize,
    lanes: usize,
    definitions: Vec<(&'static str, usize)>,
}

impl Shape {
    fn of<T: Real>(device: &Device, transposed: bool) -> Self {
        let info = device.info();
        if info.kind != DeviceKind::Cpu {
            // 256 work-items with 4×4 sums each, fewer where a group cannot have as many.
            let items = if info.max_work_group_size >= 256 { 16 } else { 8 };
            let definitions = vec![("EDGE", EDGE), ("ITEMS", items), ("STEP", 16)];
            return Self { tile: [EDGE, EDGE], items: items * items, lanes: 1, definitions };
        }
        let native = match T::PRECISION {
            Precision::Single => info.native_vector_width_float,
            Precision::Double => info.native_vector_width_double,
        };
        let lanes = native.clamp(2, 16);
        // As many sums as registers hold beside the vectors that are read: AVX-512 has 32 of them.
        let wide = lanes * size_of::<T>() >= 64;
        let (rows, columns) = match (transposed, wide) {
            (true, true) => (4, 6),
            (true, false) => (3, 4),
            (false, true) => (2, 12),
            (false, false) => (2, 6),
        };
        let tile = if transposed { 8 * rows } else { 4 * rows * lanes };
        let definitions = vec![("BLOCK_ROWS", rows), ("BLOCK_COLUMNS", columns), ("TILE_M", tile)];
        Self { tile: [tile, usize::MAX], items: 1, lanes, definitions }
    }
}

impl<T: Real + Element> Grouped<T> {
    /// Prepares products C = op(A) B on a device. The op is [`Op::N`] or [`Op::T`], for all products.
    ///
    /// # Errors
    /// [`BlasError::LeadingDimension`]; [`BlasError::WrongOp`]; a failure of the device.
    pub fn new(device: &Device, op: Op, products: &[Product]) -> BlasResult<Self> {
        if op == Op::C {
            return Err(BlasError::WrongOp { operation: "grouped gemm", found: op, wanted: "N or T" });
        }
        let transposed = op == Op::T;
        let mut ends = [(Product::EMPTY, 0); 3];
        for product in products {
            let operands = product.operands(transposed);
            for (end, (place, [rows, columns])) in ends.iter_mut().zip(operands) {
                let last = place.end(rows, columns)?;
                if last > end.1 {
                    *end = (*product, last);
                }
            }
        }
        let shape = Shape::of::<T>(device, transposed);
        let mut key =
            KernelKey::of_real::<T>(GROUPED).lanes(shape.lanes).define("A_TRANSPOSED", u8::from(transposed));
        for &(name, value) in &shape.definitions {
            key = key.define(name, value);
        }
        let parameters = [
            Parameter::input::<u64>("products"),
            Parameter::input::<[u32; 4]>("tiles"),
            Parameter::input_view::<T>("a"),
            Parameter::input_view::<T>("b"),
            Parameter::output_view::<T>("c"),
        ];
        let kernel = device.program(&key)?.kernel("gemm_grouped", &parameters)?;
        let words: Vec<u64> = products.iter().flat_map(Product::words).collect();
        Ok(Self {
            kernel,
            products: Buffer::from_slice(device, &words)?,
            tiles: Buffer::from_slice(device, &tiles(products, shape.tile))?,
            items: shape.items,
            ends,
            flops: products.iter().map(|product| 2 * (product.m * product.n * product.k) as u64).sum(),
            element: PhantomData,
        })
    }

    /// Returns the floating-point operations of all products.
    pub fn flops(&self) -> u64 {
        self.flops
    }

    /// Starts all products. Places count from the first element of each view.
    ///
    /// # Errors
    /// [`BlasError::BufferTooShort`], [`BlasError::OtherDevice`]: nothing is started then.
    /// [`BlasError::Device`] if the device fails.
    pub fn multiply(
        &self,
        a: BufferView<'_, T>,
        b: BufferView<'_, T>,
        c: BufferViewMut<'_, T>,
    ) -> BlasResult<Completion> {
        for (operand, device) in [("A", a.device()), ("B", b.device()), ("C", c.device())] {
            if device != self.products.device() {
                return Err(BlasError::OtherDevice {
                    operation: "grouped gemm",
                    operand,
                    wanted: self.products.device().label().to_owned(),
                    found: device.label().to_owned(),
                });
            }
        }
        for ((operand, found), (product, wanted)) in
            [(0, a.len()), (1, b.len()), (2, c.len())].into_iter().zip(self.ends)
        {
            if wanted > found {
                let Place { first, leading } = [product.a, product.b, product.c][operand];
                let [rows, columns] =
                    [[product.m, product.k], [product.k, product.n], [product.m, product.n]][operand];
                return Err(BlasError::BufferTooShort {
                    rows,
                    columns,
                    leading_dimension: leading,
                    offset: first,
                    wanted,
                    found,
                });
            }
        }
        if self.tiles.is_empty() {
            return Ok(Completion::nothing());
        }
        let range = Range::groups(self.tiles.len(), self.items);
        let arguments: [Argument<'_>; 5] =
            [(&self.products).into(), (&self.tiles).into(), a.into(), b.into(), c.into()];
        Ok(Completion::of(vec![self.kernel.launch(range, &arguments)?]))
    }
}

impl Place {
    /// Returns the element behind the last one of a matrix.
    fn end(self, rows: usize, columns: usize) -> BlasResult<usize> {
        if self.leading < rows.max(1) {
            return Err(BlasError::LeadingDimension {
                rows,
                columns,
                order: "column-major",
                line: "column",
                wanted: rows.max(1),
                found: self.leading,
            });
        }
        if rows == 0 || columns == 0 {
            return Ok(0);
        }
        Ok((columns - 1).saturating_mul(self.leading).saturating_add(self.first).saturating_add(rows))
    }
}

impl Product {
    const EMPTY: Self = {
        let nowhere = Place { first: 0, leading: 1 };
        Self { m: 0, n: 0, k: 0, a: nowhere, b: nowhere, c: nowhere }
    };

    /// Returns A, B and C with their stored rows and columns.
    fn operands(&self, transposed: bool) -> [(Place, [usize; 2]); 3] {
        let Self { m, n, k, a, b, c } = *self;
        [(a, if transposed { [k, m] } else { [m, k] }), (b, [k, n]), (c, [m, n])]
    }

    fn words(&self) -> [u64; 9] {
        let Self { m, n, k, a, b, c } = *self;
        [m, n, k, a.first, a.leading, b.first, b.leading, c.first, c.leading].map(|word| word as u64)
    }
}

/// Returns the tiles of all products, the longest first: product, first row, first column.
fn tiles(products: &[Product], [rows, columns]: [usize; 2]) -> Vec<[u32; 4]> {
    let mut tiles = Vec::new();
    for (number, product) in products.iter().enumerate() {
        for row in (0..product.m).step_by(rows) {
            for column in (0..product.n).step_by(columns) {
                let height = rows.min(product.m - row);
                let width = columns.min(product.n - column);
                tiles.push((height * width * product.k, [number as u32, row as u32, column as u32, 0]));
            }
        }
    }
    tiles.sort_by_key(|&(cost, _)| std::cmp::Reverse(cost));
    tiles.into_iter().map(|(_, tile)| tile).collect()
}
