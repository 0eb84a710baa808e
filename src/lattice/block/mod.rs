//! The kernels of blocks of spinor fields on one device.

mod division;
#[cfg(test)]
mod tests;

use super::Layout;
use super::layout::Shape;
use super::space::field_key;
use crate::device::{
    Argument, Buffer, Device, DeviceError, DeviceKind, Kernel, KernelFamily, KernelKey, Parameter, Pending,
    PinnedBuffer, Range,
};
use crate::scalar::{Storage, StoragePrecision};
use crate::sync::lock;
use division::{Division, Method, piece, tiles};
use lattice_solvers::{Advance, SquareMatrix};
use num_complex::Complex64;
use std::sync::{Mutex, MutexGuard};

const ITEMS: KernelFamily = KernelFamily::new(
    "block",
    &[
        include_str!("../../../cl/lanes.cl"),
        include_str!("../../../cl/fields.cl"),
        include_str!("../../../cl/block_sum.cl"),
        include_str!("../../../cl/block.cl"),
    ],
);

const MATRIX_UNITS: KernelFamily = KernelFamily::new(
    "block_mma",
    &[
        include_str!("../../../cl/lanes.cl"),
        include_str!("../../../cl/fields.cl"),
        include_str!("../../../cl/block_sum.cl"),
        include_str!("../../../cl/block_mma.cl"),
    ],
);

/// Registers of a work-item on NVIDIA GPUs: with as many as compilers take, loads of too few of them are under way at once
/// (`bench/runs/2026-11-22-h200/blocks/kernels.txt`).
const REGISTERS: u32 = 168;

/// Columns whose numbers fit in these registers.
const COLUMNS_OF_LIMIT: usize = 12;

/// Columns that a processor sums up at a time: of a vector in lanes four are in its registers. Spinors in half precision never are, and are converted each time.
fn width<T: Storage>() -> usize {
    if T::STORAGE == StoragePrecision::Half { 12 } else { 4 }
}

/// What both programs are told.
fn key<T: Storage>(
    family: KernelFamily,
    device: &Device,
    layout: &Layout,
    columns: usize,
    division: &Division,
) -> KernelKey {
    field_key::<T>(family, layout)
        .define("SOURCES", columns)
        .define("LOCAL_SIZE", division.local)
        .define("ALL_EXIST", u8::from(division.all_exist))
        .define("STREAM_LINKS", 0)
        // What comes next reads other fields first, or these from the first-level cache.
        .define("STREAM_OUTPUT", u8::from(device.info().kind != DeviceKind::Cpu))
}

/// That of `cl/block.cl`.
fn items_key<T: Storage>(
    device: &Device,
    layout: &Layout,
    parities: usize,
    columns: usize,
    division: &Division,
) -> KernelKey {
    // In single and double kernels are slower for it.
    let small = T::STORAGE == StoragePrecision::Half
        && u32::try_from(parities * layout.half_field(Shape::SPINOR) * T::STORAGE.bytes()).is_ok();
    let key = key::<T>(ITEMS, device, layout, columns, division)
        .define("PIECE", piece::<T>(layout))
        .define("SLOTS", division.slots)
        .define("SMALL", u8::from(small))
        .define("COPIES", division.copies)
        .define("TILE", division.tile)
        .define("UNROLL", u8::from(device.info().kind != DeviceKind::Cpu));
    let limited = device.supports_register_limit() && columns <= COLUMNS_OF_LIMIT;
    let key = if limited { key.max_registers(REGISTERS) } else { key };
    if layout.lanes() > 1 { key.define("WIDTH", columns.min(width::<T>())) } else { key }
}

/// The kernels for blocks on one slab, and the memory that they share.
pub struct BlockKernels {
    device: Device,
    columns: usize,
    /// Rows and columns of a tile of a Gram matrix.
    tile: usize,
    parities: u32,
    blocks: u32,
    range: Range,
    sum_range: Range,
    gram: Kernel,
    subtract: Kernel,
    advance: Kernel,
    sum: Kernel,
    scratch: Mutex<Scratch>,
}

/// What lies between the host and the kernels. The queue runs in order, so that a command may overwrite what one before it reads.
struct Scratch {
    /// Four matrices, row after row, as pairs of numbers.
    matrices: Buffer<f64>,
    /// They under way to the device.
    sent: Option<Pending<Vec<f64>>>,
    /// Sums of each work-group.
    partials: Buffer<f64>,
    /// The numbers of the tiles.
    sums: Buffer<f64>,
    /// Where they go on the host, while they are not on their way.
    sums_on_host: Option<PinnedBuffer<f64>>,
    /// They on their way, until somebody reads them.
    read: Option<Pending<PinnedBuffer<f64>>>,
}

impl BlockKernels {
    pub fn new<T: Storage>(
        device: &Device,
        layout: &Layout,
        parities: usize,
        columns: usize,
    ) -> Result<Self, DeviceError> {
        let method = Method::of::<T>(device, layout, columns);
        Self::with::<T>(method, device, layout, parities, columns)
    }

    fn with<T: Storage>(
        method: Method,
        device: &Device,
        layout: &Layout,
        parities: usize,
        columns: usize,
    ) -> Result<Self, DeviceError> {
        let division = Division::new::<T>(method, device, layout, parities, columns);
        let key = match method {
            Method::Items => items_key::<T>(device, layout, parities, columns, &division),
            Method::MatrixUnits => key::<T>(MATRIX_UNITS, device, layout, columns, &division),
        };
        let Division { tile, local, groups, .. } = division;
        let program = device.program(&key)?;
        let count = Parameter::value::<u32>;
        let (input, output) = (Parameter::input::<T::Stored>, Parameter::output::<T::Stored>);
        let (numbers, sums) = (Parameter::input::<f64>, Parameter::output::<f64>);
        let elements = tiles(columns, tile) * tile * tile;
        Ok(Self {
            device: device.clone(),
            columns,
            tile,
            parities: parities as u32,
            blocks: layout.blocks() as u32,
            range: Range::groups(groups, local),
            sum_range: Range::groups(elements, local),
            gram: program
                .kernel("block_gram", &[count("parities"), count("blocks"), input("x"), sums("partials")])?,
            subtract: program.kernel(
                "block_subtract",
                &[
                    count("parities"),
                    count("blocks"),
                    numbers("matrices"),
                    input("z"),
                    output("q"),
                    sums("partials"),
                ],
            )?,
            advance: program.kernel(
                "block_advance",
                &[
                    count("parities"),
                    count("blocks"),
                    count("with_earlier"),
                    count("with_step"),
                    count("overwrite"),
                    numbers("matrices"),
                    output("x"),
                    output("q"),
                    output("p"),
                    output("o"),
                ],
            )?,
            sum: program.kernel("block_sum", &[count("count"), numbers("partials"), sums("results")])?,
            scratch: Mutex::new(Scratch {
                matrices: Buffer::zeroed(device, 4 * 2 * columns * columns)?,
                sent: None,
                partials: Buffer::zeroed(device, 2 * elements * groups)?,
                sums: Buffer::zeroed(device, 2 * elements)?,
                sums_on_host: None,
                read: None,
            }),
        })
    }

    /// Starts to make X†X.
    pub fn gram(&self, x: Argument<'_>) -> Result<(), DeviceError> {
        let mut scratch = self.scratch();
        let [parities, blocks] = self.extent();
        self.gram.start(self.range, &[parities, blocks, x, Argument::from(&mut scratch.partials)])?;
        self.add_partials(&mut scratch)
    }

    /// Starts Q = Q − Z D and Q†Q.
    pub fn subtract(&self, d: &SquareMatrix, z: Argument<'_>, q: Argument<'_>) -> Result<(), DeviceError> {
        let mut scratch = self.scratch();
        scratch.send([d; 4])?;
        let Scratch { matrices, partials, .. } = &mut *scratch;
        let [parities, blocks] = self.extent();
        let arguments = [parities, blocks, Argument::from(&*matrices), z, q, partials.into()];
        self.subtract.start(self.range, &arguments)?;
        self.add_partials(&mut scratch)
    }

    /// Starts X = X + O D + P E, Q T + P F in the place of O or, without one, of P, and Q = Q T if it is to be overwritten.
    pub fn advance(
        &self,
        matrices: Advance<'_>,
        [x, q, p]: [Argument<'_>; 3],
        o: Option<Argument<'_>>,
    ) -> Result<(), DeviceError> {
        let Advance { earlier, step, turn, keep, overwrite } = matrices;
        let mut scratch = self.scratch();
        // The kernel does not look at those that are missing.
        scratch.send([earlier.unwrap_or(turn), step.unwrap_or(turn), turn, keep])?;
        let [parities, blocks] = self.extent();
        let flags = [earlier.is_some() && o.is_some(), step.is_some(), overwrite];
        let [earlier, step, overwrite] = flags.map(|flag| Argument::value(u32::from(flag)));
        let matrices = Argument::from(&scratch.matrices);
        let arguments = [parities, blocks, earlier, step, overwrite, matrices, x, q, p, o.unwrap_or(p)];
        self.advance.start(self.range, &arguments)
    }

    /// The matrix that was started last; to be called once for each.
    pub fn read_gram(&self) -> Result<SquareMatrix, DeviceError> {
        let mut scratch = self.scratch();
        let on_host = scratch.read.take().expect("a matrix has been started").wait()?;
        let sums = on_host.as_slice();
        let size = self.tile;
        let across = self.columns.div_ceil(size);
        let mut gram = SquareMatrix::zero(self.columns);
        let corners = (0..across).flat_map(|row| (row..across).map(move |column| (row, column)));
        for (tile, (row, column)) in corners.enumerate() {
            for k in 0..size * size {
                let (i, j) = (size * row + k / size, size * column + k % size);
                if i <= j && j < self.columns {
                    let at = 2 * (tile * size * size + k);
                    gram[(i, j)] = Complex64::new(sums[at], sums[at + 1]);
                    gram[(j, i)] = gram[(i, j)].conj();
                }
            }
        }
        scratch.sums_on_host = Some(on_host);
        Ok(gram)
    }

    /// What the kernels take of the size of a field.
    fn extent(&self) -> [Argument<'static>; 2] {
        [self.parities, self.blocks].map(Argument::value)
    }

    fn add_partials(&self, scratch: &mut Scratch) -> Result<(), DeviceError> {
        let Scratch { partials, sums, sums_on_host, read, .. } = scratch;
        let count = Argument::value(self.range.group_count() as u32);
        self.sum.start(self.sum_range, &[count, Argument::from(&*partials), Argument::from(&mut *sums)])?;
        let on_host = match sums_on_host.take() {
            Some(on_host) => on_host,
            None => PinnedBuffer::zeroed(&self.device, sums.len())?,
        };
        *read = Some(on_host.read_from_in_order(&*sums)?);
        Ok(())
    }

    fn scratch(&self) -> MutexGuard<'_, Scratch> {
        // What a panic left here is overwritten before it is read.
        lock(&self.scratch)
    }
}

impl Scratch {
    /// Starts to bring matrices to the device.
    fn send(&mut self, matrices: [&SquareMatrix; 4]) -> Result<(), DeviceError> {
        let elements = matrices.into_iter().flat_map(SquareMatrix::elements);
        let numbers = elements.flat_map(|z| [z.re, z.im]).collect();
        self.sent = Some(self.matrices.upload(numbers)?);
        Ok(())
    }
}
