//! The kernels of columns, which are several spinor fields, on one device.

mod division;
mod gram_sums;
mod matrices;
mod recurrence;
#[cfg(test)]
mod recurrence_tests;
#[cfg(test)]
mod tests;

use crate::compute::{Argument, Device, DeviceError, DeviceKind, Kernel, KernelFamily, KernelKey, Range};
use crate::field::key::field_key;
use crate::geometry::Layout;
use crate::geometry::Shape;
use crate::scalar::{Storage, StoragePrecision};
use crate::sync::lock;
use division::{Division, Method, piece};
use lattice_solvers::Advance;
use std::sync::Mutex;

pub(crate) use division::{MATRIX_TILE, can_end_blocks, ends_on_matrix_units};
pub(crate) use gram_sums::{GramSums, PendingGram};
pub(crate) use matrices::Matrices;
pub use recurrence::ColumnRecurrence;
pub(crate) use recurrence::{ColumnMatrix, OnDevices, RecurrenceMatrices};

const ITEMS: KernelFamily = KernelFamily::new(
    "columns",
    &[
        include_str!("../../../cl/lanes.cl"),
        include_str!("../../../cl/fields.cl"),
        include_str!("../../../cl/columns.cl"),
    ],
);

const MATRIX_UNITS: KernelFamily = KernelFamily::new(
    "columns_mma",
    &[
        include_str!("../../../cl/lanes.cl"),
        include_str!("../../../cl/fields.cl"),
        include_str!("../../../cl/quads.cl"),
        include_str!("../../../cl/fragments.cl"),
        include_str!("../../../cl/columns_mma.cl"),
    ],
);

const MATRIX_UNITS_IN_HALF: KernelFamily = KernelFamily::new(
    "columns_mma_half",
    &[
        include_str!("../../../cl/lanes.cl"),
        include_str!("../../../cl/fields.cl"),
        include_str!("../../../cl/quads.cl"),
        include_str!("../../../cl/columns_mma_half.cl"),
    ],
);

/// Registers of a work-item on NVIDIA GPUs.
///
/// With as many registers as compilers take, too few loads are under way at once
/// (`bench/runs/2026-11-22-h200/blocks/kernels.txt`).
const REGISTERS: u32 = 168;

/// Registers of a work-item in `cl/columns_mma_half.cl`.
///
/// Loads are fewer there, and more work-items are wanted.
const REGISTERS_IN_HALF: u32 = 96;

/// Columns whose numbers fit in the registers of `cl/columns.cl`.
const COLUMNS_OF_LIMIT: usize = 12;

/// Returns the number of columns that a processor sums at a time.
///
/// Four columns of a vector in lanes are in the processor's registers. Spinors in half precision
/// never are: they are converted each time.
fn width<T: Storage>() -> usize {
    if T::STORAGE == StoragePrecision::Half { 12 } else { 4 }
}

/// Returns the common part of the keys of both programs.
fn key<T: Storage>(
    family: KernelFamily,
    device: &Device,
    layout: &Layout,
    columns: usize,
    division: &Division,
) -> KernelKey {
    field_key::<T>(family, layout)
        .define("COLUMNS", columns)
        .define("LOCAL_SIZE", division.local)
        .define("ALL_EXIST", u8::from(division.all_exist))
        .define("STREAM_LINKS", 0)
        // The next operation reads other fields first, or reads these from the first-level cache.
        .define("STREAM_OUTPUT", u8::from(device.info().kind != DeviceKind::Cpu))
}

/// Returns the key of `cl/columns.cl`.
fn items_key<T: Storage>(
    device: &Device,
    layout: &Layout,
    parities: usize,
    columns: usize,
    division: &Division,
) -> KernelKey {
    // In single and double, kernels with 32-bit distances are slower.
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

/// Returns the key of `cl/columns_mma.cl` or `cl/columns_mma_half.cl`.
fn matrix_units_key<T: Storage>(
    device: &Device,
    layout: &Layout,
    columns: usize,
    division: &Division,
) -> KernelKey {
    let half = T::STORAGE == StoragePrecision::Half;
    let family = if half { MATRIX_UNITS_IN_HALF } else { MATRIX_UNITS };
    let key = key::<T>(family, device, layout, columns, division).define("ITEMS", division.local);
    if half && device.supports_register_limit() { key.max_registers(REGISTERS_IN_HALF) } else { key }
}

/// The kernels for columns on one device, and the memory that they share.
pub struct ColumnKernels {
    parities: u32,
    blocks: u32,
    range: Range,
    gram: Kernel,
    subtract: Kernel,
    advance: Kernel,
    sums: GramSums,
    subtrahend: Mutex<Matrices>,
    matrices: Mutex<Matrices>,
}

impl ColumnKernels {
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
            Method::MatrixUnits => matrix_units_key::<T>(device, layout, columns, &division),
        };
        let Division { tile, local, groups, .. } = division;
        let program = device.program(&key)?;
        Ok(Self {
            parities: parities as u32,
            blocks: layout.blocks() as u32,
            range: Range::groups(groups, local),
            gram: program.kernel("columns_gram")?,
            subtract: program.kernel("columns_subtract")?,
            advance: program.kernel("columns_advance")?,
            sums: GramSums::new(device, columns, tile, groups)?,
            subtrahend: Mutex::new(Matrices::new(device, columns, 1)?),
            matrices: Mutex::new(Matrices::new(device, columns, 4)?),
        })
    }

    /// Returns the sums that are under way after a Gram matrix was started.
    pub fn sums(&self) -> &GramSums {
        &self.sums
    }

    /// Starts to compute X†X.
    pub fn gram(&self, x: Argument<'_>) -> Result<(), DeviceError> {
        let [parities, blocks] = self.extent();
        self.sums.start(|partials| self.gram.start(self.range, &[parities, blocks, x, partials]))
    }

    /// Starts Q = Q − Z D and Q†Q, on the device with this number.
    pub fn subtract(
        &self,
        k: usize,
        d: ColumnMatrix<'_>,
        z: Argument<'_>,
        q: Argument<'_>,
    ) -> Result<(), DeviceError> {
        let mut subtrahend = lock(&self.subtrahend);
        let matrix = match d {
            ColumnMatrix::Known(d) => subtrahend.send([d], false)?,
            ColumnMatrix::OnDevices(matrices) => matrices.arguments(k)[0],
        };
        let [parities, blocks] = self.extent();
        self.sums
            .start(|partials| self.subtract.start(self.range, &[parities, blocks, matrix, z, q, partials]))
    }

    /// Starts X = X + O D + P E, then the next directions Q T + P F.
    ///
    /// The next directions replace O if there is an O, and P otherwise. Q = Q T if Q is to be
    /// overwritten.
    pub fn advance(
        &self,
        matrices: Advance<'_>,
        fields: [Argument<'_>; 3],
        o: Option<Argument<'_>>,
    ) -> Result<(), DeviceError> {
        let Advance { earlier, step, turn, keep, overwrite } = matrices;
        let mut there = lock(&self.matrices);
        // The kernel does not read matrices that are missing.
        let all = [earlier.unwrap_or(turn), step.unwrap_or(turn), turn, keep];
        let matrices = there.send(all, overwrite)?;
        self.advance_by(matrices, [earlier.is_some(), step.is_some()], fields, o)
    }

    /// Starts like [`advance`](Self::advance), with matrices that are on the device.
    ///
    /// The flags tell whether there is a D and whether there is an E.
    pub fn advance_by(
        &self,
        matrices: Argument<'_>,
        [earlier, step]: [bool; 2],
        [x, q, p]: [Argument<'_>; 3],
        o: Option<Argument<'_>>,
    ) -> Result<(), DeviceError> {
        let [parities, blocks] = self.extent();
        let flags = [earlier && o.is_some(), step];
        let [earlier, step] = flags.map(|flag| Argument::value(u32::from(flag)));
        let arguments = [parities, blocks, earlier, step, matrices, x, q, p, o.unwrap_or(p)];
        self.advance.start(self.range, &arguments)
    }

    /// Returns the arguments of the kernels for the size of a field.
    fn extent(&self) -> [Argument<'static>; 2] {
        [self.parities, self.blocks].map(Argument::value)
    }
}
