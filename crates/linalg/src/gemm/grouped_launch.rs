//! One launch for many products: its list, its tiles, and the kernel.

use crate::error::{BlasError, BlasResult};
use crate::op::Op;
use lattice_compute::scalar::Precision;
use lattice_compute::{Argument, Buffer, Device, DeviceKind, Event, Kernel, KernelFamily, KernelKey, Range};
use serde::{Deserialize, Serialize};

const GROUPED: KernelFamily = KernelFamily::new("gemm_grouped", &[include_str!("../../cl/gemm_grouped.cl")]);

/// Where a column-major matrix lies in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixLocation {
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
    pub a: MatrixLocation,
    /// B, k×n.
    pub b: MatrixLocation,
    /// C, m×n. It has no element in common with another C of the list.
    pub c: MatrixLocation,
}

/// How devices other than processors compute a tile of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tile {
    /// Rows and columns of C that a work-group computes.
    pub tile: [usize; 2],
    /// Rows and columns of a work-item.
    pub item: [usize; 2],
    /// Terms in local memory.
    pub step: usize,
    /// Numbers that are read from local memory at once: 1, 2 or 4.
    pub vector: usize,
    /// Whether the next terms are fetched before the last are used.
    pub prefetch: bool,
}

impl Tile {
    /// Returns the work-items of a group.
    pub fn items(&self) -> usize {
        self.tile[0] / self.item[0] * (self.tile[1] / self.item[1])
    }

    /// Returns the bytes in local memory.
    pub fn local_bytes(&self, element: usize) -> usize {
        self.step * (self.tile[0] + self.tile[1] + 2 * self.vector) * element
    }

    /// Returns why a device cannot run it.
    pub fn complaint(&self, device: &Device, element: usize) -> Option<String> {
        let Self { tile, item, step, vector, .. } = *self;
        let info = device.info();
        let is_whole = [1, 2, 4].contains(&vector)
            && step > 0
            && (0..2).all(|k| {
                item[k] > 0
                    && item[k].is_multiple_of(vector)
                    && tile[k] > 0
                    && tile[k].is_multiple_of(item[k])
            });
        if !is_whole || (0..2).any(|k| !(step * tile[k]).is_multiple_of(self.items())) {
            return Some("its parts do not divide each other".to_owned());
        }
        if self.items() > info.max_work_group_size {
            let most = info.max_work_group_size;
            return Some(format!("it has {} work-items in a group, of at most {most}", self.items()));
        }
        let bytes = self.local_bytes(element);
        (bytes as u64 > info.local_memory_bytes)
            .then(|| format!("it needs {bytes} bytes of local memory, of {}", info.local_memory_bytes))
    }
}

/// Extents of tiles, and the constants of their kernel.
struct Shape {
    tile: [usize; 2],
    items: usize,
    lanes: usize,
    definitions: Vec<(&'static str, usize)>,
}

impl Shape {
    fn of(device: &Device, precision: Precision, transposed: bool, tile: &Tile) -> Self {
        let info = device.info();
        if info.kind != DeviceKind::Cpu {
            let Tile { tile: [rows, columns], item, step, vector, prefetch } = *tile;
            let definitions = vec![
                ("TILE_M", rows),
                ("TILE_N", columns),
                ("ITEM_M", item[0]),
                ("ITEM_N", item[1]),
                ("STEP", step),
                ("VECTOR", vector),
                ("PREFETCH", usize::from(prefetch)),
            ];
            return Self { tile: tile.tile, items: tile.items(), lanes: 1, definitions };
        }
        let native = match precision {
            Precision::Single => info.native_vector_width_float,
            Precision::Double => info.native_vector_width_double,
        };
        let lanes = native.clamp(2, 16);
        // As many sums as registers hold beside the vectors that are read: AVX-512 has 32 of them.
        let wide = lanes * precision.bytes() >= 64;
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

/// A list of products, prepared for a device.
#[derive(Debug)]
pub(super) struct Launch {
    kernel: Kernel,
    products: Buffer<u64>,
    tiles: Buffer<[u32; 4]>,
    items: usize,
}

impl Launch {
    /// Prepares products. The tile is for devices other than processors.
    pub fn new(
        device: &Device,
        precision: Precision,
        op: Op,
        products: &[Product],
        tile: &Tile,
    ) -> BlasResult<Self> {
        let transposed = op == Op::T;
        let shape = Shape::of(device, precision, transposed, tile);
        let mut key = KernelKey::new(GROUPED, precision)
            .lanes(shape.lanes)
            .define("A_TRANSPOSED", u8::from(transposed));
        for &(name, value) in &shape.definitions {
            key = key.define(name, value);
        }
        let kernel = device.program(&key)?.kernel("gemm_grouped")?;
        let words: Vec<u64> = products.iter().flat_map(Product::words).collect();
        Ok(Self {
            kernel,
            products: Buffer::from_slice(device, &words)?,
            tiles: Buffer::from_slice(device, &tiles(products, shape.tile))?,
            items: shape.items,
        })
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        self.products.device()
    }

    /// Starts all products; `None` if there is nothing to do. A, B and C hold all matrices.
    pub fn run(&self, [a, b, c]: [Argument<'_>; 3]) -> BlasResult<Option<Event>> {
        if self.tiles.is_empty() {
            return Ok(None);
        }
        let range = Range::groups(self.tiles.len(), self.items);
        let arguments = [(&self.products).into(), (&self.tiles).into(), a, b, c];
        Ok(Some(self.kernel.launch(range, &arguments)?))
    }
}

impl MatrixLocation {
    /// Returns the element behind the last one of a matrix.
    pub(super) fn end(self, rows: usize, columns: usize) -> BlasResult<usize> {
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
    pub(super) const EMPTY: Self = {
        let nowhere = MatrixLocation { first: 0, leading: 1 };
        Self { m: 0, n: 0, k: 0, a: nowhere, b: nowhere, c: nowhere }
    };

    /// Returns A, B and C with their stored rows and columns.
    pub(super) fn operands(&self, transposed: bool) -> [(MatrixLocation, [usize; 2]); 3] {
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
