//! The kernels of blocks of spinor fields on one device.

use super::Layout;
use super::layout::Shape;
use super::space::field_key;
use crate::device::{
    Argument, Buffer, Device, DeviceError, DeviceKind, Kernel, KernelFamily, Parameter, Pending,
    PinnedBuffer, Range,
};
use crate::host::Spinor;
use crate::scalar::{Storage, StoragePrecision};
use crate::sync::lock;
use lattice_solvers::{Advance, SquareMatrix};
use num_complex::Complex64;
use std::sync::{Mutex, MutexGuard};

const BLOCK: KernelFamily = KernelFamily::new(
    "block",
    &[
        include_str!("../../cl/lanes.cl"),
        include_str!("../../cl/fields.cl"),
        include_str!("../../cl/block.cl"),
    ],
);

/// Most numbers that a work-item adds up in single precision.
const MOST_IN_SINGLE: usize = 256;

/// Groups for each compute unit of a GPU: several times as many as run at once, which are three or four with the registers below, and a multiple of both.
const GROUPS_OF_UNIT: usize = 24;

/// Registers of a work-item on NVIDIA GPUs: with as many as compilers take, loads of too few of them are under way at once
/// (`bench/runs/2026-11-22-h200/blocks/kernels.txt`).
const REGISTERS: u32 = 168;

/// Columns whose numbers fit in these registers.
const COLUMNS_OF_LIMIT: usize = 12;

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

/// How the work is divided.
struct Division {
    tile: usize,
    local: usize,
    /// Pieces that a work-item stages.
    slots: usize,
    /// Work-items that share a tile.
    copies: usize,
    groups: usize,
}

impl Division {
    /// On a GPU an item has one piece, whose numbers in all fields are in its registers; there are groups enough for several on each compute unit at once. A
    /// tile is as large as the registers allow, and as many items as have no bank conflicts share one. A CPU has one item for each group, with vectors in lanes that it stages in its
    /// first-level cache; with one lane it does as a GPU.
    fn new<T: Storage>(device: &Device, layout: &Layout, parities: usize, columns: usize) -> Self {
        let info = device.info();
        let processor = info.kind == DeviceKind::Cpu;
        let most_groups = if processor { 4 } else { GROUPS_OF_UNIT } * info.compute_units.max(1);
        let half = T::STORAGE == StoragePrecision::Half;
        if layout.lanes() > 1 {
            let slots = match columns {
                _ if half => 1,
                0..=12 => 32,
                _ => 16,
            };
            return Self { tile: 3, local: 1, slots, copies: 1, groups: most_groups };
        }
        let double = T::STORAGE == StoragePrecision::Double;
        // A multiple of the pieces of a site in half precision.
        let (tile, most) = if double { (3, 128) } else { (4, 96) };
        let local = match columns {
            // Seven sites in half precision: some lattices fill such groups and most do not, so that tests see both.
            _ if processor => 42,
            0..=12 => most,
            13..=24 => most / 2,
            _ => most / 4,
        };
        let copies = match (local / tiles(columns, tile)).max(1) {
            few @ 0..8 => few,
            many => many / 8 * 8,
        };
        let piece = piece::<T>(layout);
        let rounds = (parities * pieces::<T>(layout)).div_ceil(local);
        let least_groups = if double { 1 } else { rounds * (local * piece / copies) / MOST_IN_SINGLE };
        let groups = rounds.clamp(1, most_groups.max(least_groups));
        Self { tile, local, slots: 1, copies, groups }
    }
}

/// Components of a spinor that a work-item has at a time: see `cl/block.cl`.
fn piece<T: Storage>(layout: &Layout) -> usize {
    match (T::STORAGE, layout.lanes()) {
        (StoragePrecision::Half, 1) => layout.pack() / 2,
        (StoragePrecision::Half, _) => Spinor::<f64>::COMPONENTS,
        (_, 1) => layout.pack(),
        _ => 1,
    }
}

/// Columns that a processor sums up at a time: of a vector in lanes four are in its registers. Spinors in half precision never are, and are converted each time.
fn width<T: Storage>() -> usize {
    if T::STORAGE == StoragePrecision::Half { 12 } else { 4 }
}

/// As many as there are of these in one parity of a field.
fn pieces<T: Storage>(layout: &Layout) -> usize {
    layout.blocks() * Spinor::<f64>::COMPONENTS / piece::<T>(layout)
}

/// Tiles on and above the diagonal.
fn tiles(columns: usize, tile: usize) -> usize {
    let across = columns.div_ceil(tile);
    across * (across + 1) / 2
}

impl BlockKernels {
    pub fn new<T: Storage>(
        device: &Device,
        layout: &Layout,
        parities: usize,
        columns: usize,
    ) -> Result<Self, DeviceError> {
        let Division { tile, local, slots, copies, groups } =
            Division::new::<T>(device, layout, parities, columns);
        let all_exist = pieces::<T>(layout).is_multiple_of(local * slots);
        // In single and double kernels are slower for it.
        let small = T::STORAGE == StoragePrecision::Half
            && u32::try_from(parities * layout.half_field(Shape::SPINOR) * T::STORAGE.bytes()).is_ok();
        let not_processor = u8::from(device.info().kind != DeviceKind::Cpu);
        let key = field_key::<T>(BLOCK, layout)
            .define("SOURCES", columns)
            .define("LOCAL_SIZE", local)
            .define("PIECE", piece::<T>(layout))
            .define("SLOTS", slots)
            .define("ALL_EXIST", u8::from(all_exist))
            .define("SMALL", u8::from(small))
            .define("COPIES", copies)
            .define("TILE", tile)
            .define("UNROLL", not_processor)
            .define("STREAM_LINKS", 0)
            // What comes next reads other fields first, or these from the first-level cache.
            .define("STREAM_OUTPUT", not_processor);
        let limited = device.supports_register_limit() && columns <= COLUMNS_OF_LIMIT;
        let key = if limited { key.max_registers(REGISTERS) } else { key };
        let key = if layout.lanes() > 1 { key.define("WIDTH", columns.min(width::<T>())) } else { key };
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
