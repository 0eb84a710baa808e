//! A matrix in a device's memory, and its products.

use super::stored::{FullRows, Sell, Stored};
use super::values::Values;
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
    /// `true` if values are rounded to single precision.
    pub(super) single: bool,
    /// The kernels for numbers of vectors that were multiplied by.
    pub(super) several: Several<T>,
}

pub(super) enum Arrays<T> {
    Csr {
        starts: Buffer<u64>,
        columns_of: Buffer<u32>,
        values: Values<T>,
        team: usize,
        longest: usize,
        long: Option<Parts>,
    },
    Sell(SliceArrays<T>),
    Blocks {
        size: usize,
        slices: SliceArrays<T>,
    },
    Diagonals {
        offsets: Buffer<i64>,
        values: Values<T>,
    },
    Coo {
        segment: usize,
        rows_of: Buffer<u32>,
        columns_of: Buffer<u32>,
        values: Values<T>,
    },
    FullRows {
        rest: Box<SliceArrays<T>>,
        parts: Parts,
        first_columns: Buffer<u32>,
        values: Values<T>,
    },
    Symmetric {
        block_rows: usize,
        order: Buffer<u32>,
        /// The first block of each colour in `order`, and the number of all.
        colours: Vec<usize>,
        starts: Buffer<u64>,
        columns_of: Buffer<u32>,
        values: Values<T>,
    },
}

impl<T> Arrays<T> {
    /// Returns the slices of a format that has some.
    pub fn slices(&self) -> Option<&SliceArrays<T>> {
        match self {
            Self::Sell(slices) | Self::Blocks { slices, .. } => Some(slices),
            Self::FullRows { rest, .. } => Some(rest),
            Self::Csr { .. } | Self::Diagonals { .. } | Self::Coo { .. } | Self::Symmetric { .. } => None,
        }
    }
}

/// Slices whose values may be rounded.
pub(super) struct SliceArrays<T> {
    pub slots: usize,
    starts: Buffer<u64>,
    lengths: Buffer<u32>,
    rows_of: Buffer<u32>,
    columns_of: Buffer<u32>,
    values: Values<T>,
}

impl<T: Arithmetic> SliceArrays<T> {
    fn new(device: &Device, slices: &Sell<T>, single: bool) -> Result<Self> {
        let Sell { height: _, starts, lengths, rows_of, columns_of, values } = slices;
        Ok(Self {
            slots: rows_of.len(),
            starts: Buffer::from_slice(device, starts)?,
            lengths: Buffer::from_slice(device, lengths)?,
            rows_of: Buffer::from_slice(device, rows_of)?,
            columns_of: Buffer::from_slice(device, columns_of)?,
            values: Values::new(device, values, single)?,
        })
    }

    pub fn arguments(&self) -> [Argument<'_>; 5] {
        let Self { slots: _, starts, lengths, rows_of, columns_of, values } = self;
        [of(starts), of(lengths), of(rows_of), of(columns_of), values.argument()]
    }
}

/// Slices of rows that a device has made.
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
    /// Returns the bytes of the arrays.
    pub fn bytes(&self) -> u64 {
        let Self { slots: _, starts, lengths, rows_of, columns_of, values } = self;
        let bytes = size_of::<u64>() * starts.len()
            + size_of::<u32>() * (lengths.len() + rows_of.len() + columns_of.len())
            + size_of::<T>() * values.len();
        bytes as u64
    }
}

/// Rows that work-groups share, in parts.
pub(super) struct Parts {
    count: usize,
    rows: Buffer<u32>,
    /// The first part of each of the rows, and the number of all parts.
    first: Buffer<u32>,
    /// First value and end of each part.
    bounds: Buffer<u64>,
}

impl Parts {
    /// Cuts rows with these values.
    ///
    /// Returns the parts, and for each the number of its row in the list and its place there.
    fn new(device: &Device, rows: &[(u32, std::ops::Range<usize>)]) -> Result<(Self, Vec<[usize; 2]>)> {
        let (mut first, mut bounds, mut places) = (vec![0_u32], Vec::new(), Vec::new());
        for (k, (_, range)) in rows.iter().enumerate() {
            for begin in range.clone().step_by(PART) {
                bounds.extend([begin as u64, range.end.min(begin + PART) as u64]);
                places.push([k, begin - range.start]);
            }
            first.push(places.len() as u32);
        }
        let rows: Vec<u32> = rows.iter().map(|(row, _)| *row).collect();
        let parts = Self {
            count: places.len(),
            rows: Buffer::from_slice(device, &rows)?,
            first: Buffer::from_slice(device, &first)?,
            bounds: Buffer::from_slice(device, &bounds)?,
        };
        Ok((parts, places))
    }

    /// Returns the parts of rows that are longer than others.
    fn of_long_rows<T: Arithmetic>(device: &Device, matrix: &Csr<T>, longest: usize) -> Result<Option<Self>> {
        let long = (0..matrix.rows()).filter(|&row| matrix.row_length(row) > longest);
        let rows: Vec<_> = long.map(|row| (row as u32, matrix.range(row))).collect();
        if rows.is_empty() { Ok(None) } else { Ok(Some(Self::new(device, &rows)?.0)) }
    }
}

impl<T: Arithmetic> OnDevice<T> {
    /// Returns the rows of a slice on a device.
    pub fn slice_height(device: &Device) -> usize {
        crate::sparse::kernels::Cut::of(device).slice
    }

    /// Copies the arrays to a device, with values rounded to single precision if `single`.
    pub fn new(device: &Device, stored: &Stored<T>, single: bool) -> Result<Self> {
        let kernels = Kernels::of(device, single)?;
        let on_processor = device.info().kind == DeviceKind::Cpu;
        let arrays = match stored {
            Stored::Csr(matrix) => {
                let longest = if on_processor { LONG_ROW_OF_PROCESSOR } else { LONG_ROW };
                Arrays::Csr {
                    starts: Buffer::from_slice(device, &matrix.starts)?,
                    columns_of: Buffer::from_slice(device, &matrix.columns_of)?,
                    values: Values::new(device, &matrix.values, single)?,
                    team: kernels.cut.team(matrix.entries() / matrix.rows().max(1)),
                    longest,
                    long: Parts::of_long_rows(device, matrix, longest)?,
                }
            }
            Stored::Sell(slices) => Arrays::Sell(SliceArrays::new(device, slices, single)?),
            Stored::Blocks { size, slices } => {
                Arrays::Blocks { size: *size, slices: SliceArrays::new(device, slices, single)? }
            }
            Stored::Diagonals { offsets, values } => Arrays::Diagonals {
                offsets: Buffer::from_slice(device, offsets)?,
                values: Values::new(device, values, single)?,
            },
            Stored::Coo { source, rows_of } => Arrays::Coo {
                segment: SEGMENTS[usize::from(!on_processor)],
                rows_of: Buffer::from_slice(device, rows_of)?,
                columns_of: Buffer::from_slice(device, &source.columns_of)?,
                values: Values::new(device, &source.values, single)?,
            },
            Stored::Symmetric { colouring, lower } => Arrays::Symmetric {
                block_rows: colouring.block_rows,
                order: Buffer::from_slice(device, &colouring.order)?,
                colours: colouring.starts.clone(),
                starts: Buffer::from_slice(device, &lower.starts)?,
                columns_of: Buffer::from_slice(device, &lower.columns_of)?,
                values: Values::new(device, &lower.values, single)?,
            },
            Stored::FullRows { rest, full } => {
                let FullRows { rows, starts, first_columns, values } = full;
                let ranges = starts.windows(2).map(|bounds| bounds[0] as usize..bounds[1] as usize);
                let rows: Vec<_> = rows.iter().copied().zip(ranges).collect();
                let (parts, places) = Parts::new(device, &rows)?;
                let first = |[row, place]: &[usize; 2]| first_columns[*row] + *place as u32;
                Arrays::FullRows {
                    rest: Box::new(SliceArrays::new(device, rest, single)?),
                    parts,
                    first_columns: Buffer::from_slice(device, &places.iter().map(first).collect::<Vec<_>>())?,
                    values: Values::new(device, values, single)?,
                }
            }
        };
        Ok(Self { device: device.clone(), kernels, arrays, single, several: Several::default() })
    }

    /// Takes slices that lie on the device.
    pub fn of_slices(device: &Device, slices: Slices<T>) -> Result<Self> {
        let Slices { slots, starts, lengths, rows_of, columns_of, values } = slices;
        let values = Values::Own(values);
        Self::of_arrays(
            device,
            Arrays::Sell(SliceArrays { slots, starts, lengths, rows_of, columns_of, values }),
        )
    }

    /// Takes a diagonal that lies on the device.
    pub fn of_diagonal(device: &Device, values: Buffer<T>) -> Result<Self> {
        let values = Values::Own(values);
        Self::of_arrays(device, Arrays::Diagonals { offsets: Buffer::from_slice(device, &[0])?, values })
    }

    fn of_arrays(device: &Device, arrays: Arrays<T>) -> Result<Self> {
        let kernels = Kernels::of(device, false)?;
        Ok(Self { device: device.clone(), kernels, arrays, single: false, several: Several::default() })
    }

    /// Starts the rows of Y = A X that work-groups share.
    fn multiply_parts(&self, vectors: usize, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
        let Kernels { cut, csr_parts, full_parts, .. } = &*self.kernels;
        let (kernel, parts, columns, values) = match &self.arrays {
            Arrays::Csr { columns_of, values, long: Some(parts), .. } => {
                (csr_parts, parts, columns_of, values)
            }
            Arrays::FullRows { rest: _, parts, first_columns, values } => {
                (full_parts, parts, first_columns, values)
            }
            _ => return Ok(()),
        };
        let Parts { count, rows, first, bounds } = parts;
        if *count == 0 {
            return Ok(());
        }
        let int = |value: usize| Argument::value(value as u32);
        let mut partials = self.device.scratch::<T>(count * vectors)?;
        kernel.start(
            Range::groups(count * vectors, cut.local),
            &[int(vectors), of(bounds), of(columns), values.argument(), of(x), partials.output()],
        )?;
        let results = rows.len() * vectors;
        let sizes = [Argument::value(results as u64), int(vectors)];
        let arrays = [of(rows), of(first), partials.input(), Argument::from(y)];
        self.kernels.part_sums.start(Range::covering(results, cut.local), &[&sizes[..], &arrays].concat())
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
            return self.multiply_parts(vectors, x, y);
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
                        values.argument(),
                        of(x),
                        Argument::from(&mut *y),
                    ],
                )?;
                self.multiply_parts(vectors, x, y)
            }
            Arrays::Sell(_) | Arrays::FullRows { .. } => {
                let slices = self.arrays.slices().expect("both have slices");
                let results = slices.slots / cut.rows_of_item[0] * vectors;
                let (range, chunk) = cut.range(results, 1);
                let sizes = [long(results), int(vectors), Argument::value(chunk), int(rows)];
                let arrays = [of(x), Argument::from(&mut *y)];
                self.kernels.sell.start(range, &[&sizes[..], &slices.arguments(), &arrays].concat())?;
                self.multiply_parts(vectors, x, y)
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
                        values.argument(),
                        of(x),
                        Argument::from(y),
                    ],
                )
            }
            Arrays::Symmetric { block_rows, order, colours, starts, columns_of, values } => {
                // All blocks add to it.
                y.fill(T::default())?;
                for bounds in colours.windows(2) {
                    let count = bounds[1] - bounds[0];
                    let sizes = [int(count), int(bounds[0]), int(vectors), int(rows), int(*block_rows)];
                    let arrays = [
                        of(order),
                        of(starts),
                        of(columns_of),
                        values.argument(),
                        of(x),
                        Argument::from(&mut *y),
                    ];
                    let range = Range::covering(count, cut.local);
                    self.kernels.symmetric.start(range, &[&sizes[..], &arrays].concat())?;
                }
                Ok(())
            }
            Arrays::Coo { segment, rows_of, columns_of, values } => {
                // Rows without entries are written by nobody else.
                y.fill(T::default())?;
                let results = values.len().div_ceil(*segment) * vectors;
                let range = Range::covering(results, cut.local);
                let mut heads = self.device.scratch::<T>(results)?;
                let sizes = [long(results), int(vectors), long(values.len()), long(*segment)];
                let list = [of(rows_of), of(columns_of), values.argument(), of(x), heads.output()];
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
