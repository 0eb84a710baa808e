//! A matrix in a device's memory, and its products.

use super::stored::{Sell, Stored};
use crate::host::level1::Arithmetic;
use crate::sparse::csr::Csr;
use crate::sparse::kernels::Kernels;
use crate::sparse::packs::Several;
use lattice_compute::{Argument, Buffer, Device, DeviceKind, Range, Result};
use std::sync::Arc;

/// Entries of a row above which a group, or several, work on it.
const LONG_ROW: usize = 2048;

/// The same on a processor, whose groups are single work-items.
const LONG_ROW_OF_PROCESSOR: usize = 1 << 16;

/// Entries of a long row that one group adds.
const PART: usize = 1 << 14;

/// Entries of a segment of a list, on a processor and elsewhere.
const SEGMENTS: [usize; 2] = [4096, 16];

/// The arrays of a matrix on a device.
pub(super) struct OnDevice<T> {
    pub(super) device: Device,
    pub(super) kernels: Arc<Kernels<T>>,
    pub(super) arrays: Arrays<T>,
    /// The kernels for numbers of vectors that were multiplied by.
    pub(super) several: Several<T>,
}

pub(super) enum Arrays<T> {
    Csr {
        starts: Buffer<u64>,
        columns_of: Buffer<u32>,
        values: Buffer<T>,
        team: usize,
        longest: usize,
        long: Option<LongRows>,
    },
    Sell(Slices<T>),
    Blocks {
        size: usize,
        slices: Slices<T>,
    },
    Diagonals {
        offsets: Buffer<i64>,
        values: Buffer<T>,
    },
    Coo {
        segment: usize,
        rows_of: Buffer<u32>,
        columns_of: Buffer<u32>,
        values: Buffer<T>,
    },
}

/// Slices of rows, or of rows of blocks.
///
/// Arrays are those of [`Sell`].
pub(in crate::sparse) struct Slices<T> {
    pub slots: usize,
    pub starts: Buffer<u64>,
    pub lengths: Buffer<u32>,
    pub rows_of: Buffer<u32>,
    pub columns_of: Buffer<u32>,
    pub values: Buffer<T>,
}

impl<T: Arithmetic> Slices<T> {
    fn new(device: &Device, slices: &Sell<T>) -> Result<Self> {
        let Sell { height: _, starts, lengths, rows_of, columns_of, values } = slices;
        Ok(Self {
            slots: rows_of.len(),
            starts: Buffer::from_slice(device, starts)?,
            lengths: Buffer::from_slice(device, lengths)?,
            rows_of: Buffer::from_slice(device, rows_of)?,
            columns_of: Buffer::from_slice(device, columns_of)?,
            values: Buffer::from_slice(device, values)?,
        })
    }

    /// Returns the bytes of the arrays.
    pub fn bytes(&self) -> u64 {
        let Self { slots: _, starts, lengths, rows_of, columns_of, values } = self;
        let bytes = size_of::<u64>() * starts.len()
            + size_of::<u32>() * (lengths.len() + rows_of.len() + columns_of.len())
            + size_of::<T>() * values.len();
        bytes as u64
    }

    pub(super) fn arguments(&self) -> [Argument<'_>; 5] {
        [of(&self.starts), of(&self.lengths), of(&self.rows_of), of(&self.columns_of), of(&self.values)]
    }
}

/// The rows that are longer than others, in parts.
pub(super) struct LongRows {
    parts: usize,
    rows: Buffer<u32>,
    /// The first part of each of the rows, and the number of all parts.
    first: Buffer<u32>,
    /// First entry and end of each part.
    bounds: Buffer<u64>,
}

impl LongRows {
    fn new<T: Arithmetic>(device: &Device, matrix: &Csr<T>, longest: usize) -> Result<Option<Self>> {
        let (mut rows, mut first, mut bounds) = (Vec::new(), vec![0_u32], Vec::new());
        for row in (0..matrix.rows()).filter(|&row| matrix.row_length(row) > longest) {
            let range = matrix.range(row);
            for begin in range.clone().step_by(PART) {
                bounds.extend([begin as u64, range.end.min(begin + PART) as u64]);
            }
            rows.push(row as u32);
            first.push((bounds.len() / 2) as u32);
        }
        if rows.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            parts: bounds.len() / 2,
            rows: Buffer::from_slice(device, &rows)?,
            first: Buffer::from_slice(device, &first)?,
            bounds: Buffer::from_slice(device, &bounds)?,
        }))
    }
}

impl<T: Arithmetic> OnDevice<T> {
    /// Returns the rows of a slice on a device.
    pub fn slice_height(device: &Device) -> usize {
        crate::sparse::kernels::Cut::of(device).slice
    }

    /// Copies the arrays to a device.
    pub fn new(device: &Device, stored: &Stored<T>) -> Result<Self> {
        let kernels = device.attached(Kernels::new)?;
        let on_processor = device.info().kind == DeviceKind::Cpu;
        let arrays = match stored {
            Stored::Csr(matrix) => {
                let longest = if on_processor { LONG_ROW_OF_PROCESSOR } else { LONG_ROW };
                Arrays::Csr {
                    starts: Buffer::from_slice(device, &matrix.starts)?,
                    columns_of: Buffer::from_slice(device, &matrix.columns_of)?,
                    values: Buffer::from_slice(device, &matrix.values)?,
                    team: kernels.cut.team(matrix.entries() / matrix.rows().max(1)),
                    longest,
                    long: LongRows::new(device, matrix, longest)?,
                }
            }
            Stored::Sell(slices) => Arrays::Sell(Slices::new(device, slices)?),
            Stored::Blocks { size, slices } => {
                Arrays::Blocks { size: *size, slices: Slices::new(device, slices)? }
            }
            Stored::Diagonals { offsets, values } => Arrays::Diagonals {
                offsets: Buffer::from_slice(device, offsets)?,
                values: Buffer::from_slice(device, values)?,
            },
            Stored::Coo { source, rows_of } => Arrays::Coo {
                segment: SEGMENTS[usize::from(!on_processor)],
                rows_of: Buffer::from_slice(device, rows_of)?,
                columns_of: Buffer::from_slice(device, &source.columns_of)?,
                values: Buffer::from_slice(device, &source.values)?,
            },
        };
        Ok(Self { device: device.clone(), kernels, arrays, several: Several::default() })
    }

    /// Takes slices that lie on the device.
    pub fn of_slices(device: &Device, slices: Slices<T>) -> Result<Self> {
        let kernels = device.attached(Kernels::new)?;
        let arrays = Arrays::Sell(slices);
        Ok(Self { device: device.clone(), kernels, arrays, several: Several::default() })
    }

    /// Takes a diagonal that lies on the device.
    pub fn of_diagonal(device: &Device, values: Buffer<T>) -> Result<Self> {
        let kernels = device.attached(Kernels::new)?;
        let arrays = Arrays::Diagonals { offsets: Buffer::from_slice(device, &[0])?, values };
        Ok(Self { device: device.clone(), kernels, arrays, several: Several::default() })
    }

    /// Starts the rows of Y = A X that are longer than others.
    fn multiply_long_rows(&self, vectors: usize, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
        let Arrays::Csr { columns_of, values, long: Some(long), .. } = &self.arrays else { return Ok(()) };
        let LongRows { parts, rows, first, bounds } = long;
        let Kernels { cut, .. } = &*self.kernels;
        let int = |value: usize| Argument::value(value as u32);
        let mut partials = self.device.scratch::<T>(parts * vectors)?;
        self.kernels.csr_parts.start(
            Range::groups(parts * vectors, cut.local),
            &[int(vectors), of(bounds), of(columns_of), of(values), of(x), partials.output()],
        )?;
        let results = rows.len() * vectors;
        let sizes = [Argument::value(results as u64), int(vectors)];
        let arrays = [of(rows), of(first), partials.input(), Argument::from(y)];
        self.kernels.csr_long_rows.start(Range::covering(results, cut.local), &[&sizes[..], &arrays].concat())
    }

    /// Starts Y = A X for some vectors.
    pub fn multiply(
        &self,
        [rows, columns, vectors]: [usize; 3],
        x: &Buffer<T>,
        y: &mut Buffer<T>,
    ) -> Result<()> {
        if rows * vectors == 0 {
            return Ok(());
        }
        let long = |value: usize| Argument::value(value as u64);
        let int = |value: usize| Argument::value(value as u32);
        let Kernels { cut, .. } = &*self.kernels;
        if let Some(packs) = self.packs([rows, columns, vectors])? {
            self.multiply_packs(&packs, [rows, columns, vectors], x, y)?;
            return self.multiply_long_rows(vectors, x, y);
        }
        match &self.arrays {
            Arrays::Csr { values, .. } | Arrays::Coo { values, .. } if values.is_empty() => {
                y.fill(T::default())
            }
            Arrays::Csr { starts, columns_of, values, team, longest, .. } => {
                let results = rows * vectors;
                let (range, chunk) = cut.range(results, *team);
                self.kernels.csr_rows.start(
                    range,
                    &[
                        long(results),
                        int(vectors),
                        Argument::value(chunk),
                        int(*team),
                        int(*longest),
                        of(starts),
                        of(columns_of),
                        of(values),
                        of(x),
                        Argument::from(&mut *y),
                    ],
                )?;
                self.multiply_long_rows(vectors, x, y)
            }
            Arrays::Sell(slices) => {
                let results = slices.slots / cut.rows_of_item[0] * vectors;
                let (range, chunk) = cut.range(results, 1);
                let sizes = [long(results), int(vectors), Argument::value(chunk), int(rows)];
                let vectors = [of(x), Argument::from(y)];
                self.kernels.sell.start(range, &[&sizes[..], &slices.arguments(), &vectors].concat())
            }
            Arrays::Blocks { .. } => unreachable!("blocks are multiplied in packs"),
            Arrays::Diagonals { offsets, values } => {
                let results = rows.div_ceil(cut.rows_of_item[1]) * vectors;
                let (range, chunk) = cut.range(results, 1);
                self.kernels.diagonals.start(
                    range,
                    &[
                        long(results),
                        int(vectors),
                        Argument::value(chunk),
                        long(rows),
                        long(columns),
                        int(offsets.len()),
                        of(offsets),
                        of(values),
                        of(x),
                        Argument::from(y),
                    ],
                )
            }
            Arrays::Coo { segment, rows_of, columns_of, values } => {
                // Rows without entries are written by nobody else.
                y.fill(T::default())?;
                let results = values.len().div_ceil(*segment) * vectors;
                let range = Range::covering(results, cut.local);
                let mut heads = self.device.scratch::<T>(results)?;
                let sizes = [long(results), int(vectors), long(values.len()), long(*segment)];
                let list = [of(rows_of), of(columns_of), of(values), of(x), heads.output()];
                self.kernels
                    .coo_segments
                    .start(range, &[&sizes[..], &list, &[Argument::from(&mut *y)]].concat())?;
                let list = [of(rows_of), heads.input(), Argument::from(y)];
                self.kernels.coo_heads.start(range, &[&sizes[..], &list].concat())
            }
        }
    }
}

/// The argument of a kernel that reads a whole buffer.
pub(super) fn of<E: bytemuck::Pod>(buffer: &Buffer<E>) -> Argument<'_> {
    buffer.into()
}
