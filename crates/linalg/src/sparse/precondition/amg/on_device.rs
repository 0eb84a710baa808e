//! The steps of a set-up on a device.
//!
//! Each has the result of its namesake on the host. A step that makes rows of unknown lengths counts
//! them first, and the host reads how many entries there are in all.

use super::kernels::{CHUNK, Kernels};
use super::tentative::DEPENDENT;
use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::sparse::csr::Csr;
use crate::sparse::format::{GPU_SLICE, WINDOW};
use crate::sparse::matrix::{Placed, Slices};
use lattice_compute::{Argument, Buffer, Device, Kernel, Range, Result};
use std::sync::Arc;

/// Work-items that look at the rows of a matrix.
const ITEMS: usize = 1 << 16;

/// Terms of a row of a product from which a group makes it.
const TERMS_OF_GROUP: usize = 40;

/// A matrix by rows in the memory of a device.
///
/// Its arrays may be longer than they are used.
pub(super) struct DeviceCsr<T> {
    pub rows: usize,
    pub columns: usize,
    pub entries: usize,
    starts: Buffer<u64>,
    columns_of: Buffer<u32>,
    values: Buffer<T>,
}

/// The diagonal of a matrix, and what its rows tell.
pub(super) struct Facts<T> {
    pub diagonal: Buffer<T>,
    pub inverse: Buffer<T>,
    /// The largest sum of the sizes of a row over its diagonal entry.
    pub ratio: f64,
    /// `true` if the diagonal is real and positive.
    pub is_positive: bool,
    /// The first row with a diagonal entry of zero.
    pub zero: Option<usize>,
}

/// Strong connections between points.
pub(super) struct DeviceGraph {
    points: usize,
    starts: Buffer<u64>,
    neighbours: Buffer<u32>,
    strengths: Buffer<f32>,
}

/// The aggregate of each point.
pub(super) struct DeviceAggregates {
    points: usize,
    of_point: Buffer<u32>,
    pub count: usize,
}

/// The entries of a matrix by columns.
struct ByColumns {
    starts: Buffer<u64>,
    rows_of: Buffer<u32>,
    entries_of: Buffer<u64>,
}

/// Carries out the steps on a device.
pub(super) struct Builder<T> {
    device: Device,
    kernels: Arc<Kernels<T>>,
}

fn of<E: bytemuck::Pod>(buffer: &Buffer<E>) -> Argument<'_> {
    buffer.into()
}

fn to<E: bytemuck::Pod>(buffer: &mut Buffer<E>) -> Argument<'_> {
    buffer.into()
}

fn int(value: usize) -> Argument<'static> {
    Argument::value(value as u32)
}

fn long(value: usize) -> Argument<'static> {
    Argument::value(value as u64)
}

impl<T: Arithmetic> Builder<T> {
    /// Compiles the kernels of a device.
    pub fn new(device: &Device) -> BlasResult<Self> {
        Ok(Self { device: device.clone(), kernels: device.attached(Kernels::new)? })
    }

    fn room<E: bytemuck::Pod>(&self, len: usize) -> Result<Buffer<E>> {
        Buffer::uninitialised(&self.device, len.max(1))
    }

    fn zeros<E: bytemuck::Pod>(&self, len: usize) -> Result<Buffer<E>> {
        Buffer::zeroed(&self.device, len.max(1))
    }

    /// Starts a kernel with a work-item for each of `items`.
    fn start(&self, kernel: &Kernel, items: usize, arguments: &[Argument<'_>]) -> Result<()> {
        kernel.start(Range::covering(items.max(1), self.kernels.local), arguments)
    }

    /// Copies a matrix to the device.
    pub fn upload(&self, matrix: &Csr<T>) -> BlasResult<DeviceCsr<T>> {
        Ok(DeviceCsr {
            rows: matrix.rows(),
            columns: matrix.columns(),
            entries: matrix.entries(),
            starts: Buffer::from_slice(&self.device, &matrix.starts)?,
            columns_of: Buffer::from_slice(&self.device, &matrix.columns_of)?,
            values: Buffer::from_slice(&self.device, &matrix.values)?,
        })
    }

    /// Copies a matrix to the host.
    pub fn download(&self, matrix: &DeviceCsr<T>) -> BlasResult<Csr<T>> {
        let mut found = Csr {
            columns: matrix.columns,
            starts: matrix.starts.to_vec()?,
            columns_of: matrix.columns_of.to_vec()?,
            values: matrix.values.to_vec()?,
        };
        found.starts.truncate(matrix.rows + 1);
        found.columns_of.truncate(matrix.entries);
        found.values.truncate(matrix.entries);
        Ok(found)
    }

    /// Copies numbers to the device.
    pub fn numbers(&self, values: &[T]) -> BlasResult<Buffer<T>> {
        Ok(Buffer::from_slice(&self.device, values)?)
    }

    /// Copies numbers to the host.
    pub fn read(&self, numbers: &Buffer<T>) -> BlasResult<Vec<T>> {
        Ok(numbers.to_vec()?)
    }

    /// Returns the sums of the lengths before each one and of all, and the latter alone.
    fn starts(&self, count: usize, lengths: &Buffer<u32>) -> BlasResult<(Buffer<u64>, usize)> {
        let chunks = count.div_ceil(CHUNK);
        let mut sums = self.zeros::<u64>(chunks)?;
        self.start(&self.kernels.chunk_sums, chunks, &[int(count), of(lengths), to(&mut sums)])?;
        let mut before = sums.to_vec()?;
        let mut total = 0;
        for sum in &mut before {
            total += std::mem::replace(sum, total);
        }
        sums.write(&before)?;
        let mut starts = self.zeros::<u64>(count + 1)?;
        let arguments = [int(count), of(lengths), of(&sums), to(&mut starts)];
        self.start(&self.kernels.chunk_starts, chunks, &arguments)?;
        Ok((starts, total as usize))
    }

    /// Looks at the rows of a square matrix.
    pub fn facts(&self, matrix: &DeviceCsr<T>) -> BlasResult<Facts<T>> {
        let items = matrix.rows.clamp(1, ITEMS).next_multiple_of(self.kernels.local);
        let (mut diagonal, mut inverse) = (self.room(matrix.rows)?, self.room(matrix.rows)?);
        let (mut ratios, mut least) = (self.room::<f64>(items)?, self.room::<f64>(items)?);
        let mut zeros = self.room::<u32>(items)?;
        self.start(
            &self.kernels.row_facts,
            items,
            &[
                int(matrix.rows),
                of(&matrix.starts),
                of(&matrix.columns_of),
                of(&matrix.values),
                to(&mut diagonal),
                to(&mut inverse),
                to(&mut ratios),
                to(&mut least),
                to(&mut zeros),
            ],
        )?;
        let first = zeros.to_vec()?.into_iter().min().unwrap_or(u32::MAX);
        Ok(Facts {
            diagonal,
            inverse,
            ratio: ratios.to_vec()?.into_iter().fold(0.0, f64::max),
            is_positive: least.to_vec()?.into_iter().all(|least| least > 0.0),
            zero: (first != u32::MAX).then_some(first as usize),
        })
    }

    /// Makes a diagonal matrix of a copy of numbers.
    pub fn diagonal(&self, numbers: &Buffer<T>) -> BlasResult<Placed<T>> {
        let mut copy = self.room(numbers.len())?;
        copy.copy_from(numbers)?;
        Placed::of_diagonal(&self.device, copy)
    }

    /// Finds the strong connections of points of `block` rows.
    pub fn graph(&self, matrix: &DeviceCsr<T>, block: usize, least: f32) -> BlasResult<DeviceGraph> {
        let points = matrix.rows / block;
        let rows = [of(&matrix.starts), of(&matrix.columns_of), of(&matrix.values)];
        let mut sizes = self.room::<f64>(points)?;
        let arguments = [&[int(points), int(block)], &rows[..], &[to(&mut sizes)]].concat();
        self.start(&self.kernels.point_sizes, points, &arguments)?;
        let mut lengths = self.room::<u32>(points)?;
        let bound = [int(points), int(block), Argument::value(least)];
        let arguments = [&bound[..], &rows, &[of(&sizes), to(&mut lengths)]].concat();
        self.start(&self.kernels.graph_lengths, points, &arguments)?;
        let (starts, connections) = self.starts(points, &lengths)?;
        let (mut neighbours, mut strengths) = (self.room(connections)?, self.room(connections)?);
        let results = [of(&sizes), of(&starts), to(&mut neighbours), to(&mut strengths)];
        self.start(&self.kernels.graph_fill, points, &[&bound[..], &rows, &results].concat())?;
        Ok(DeviceGraph { points, starts, neighbours, strengths })
    }

    /// Makes aggregates of neighbours.
    pub fn aggregates(&self, graph: &DeviceGraph) -> BlasResult<DeviceAggregates> {
        let DeviceGraph { points, starts, neighbours, strengths } = graph;
        let points = *points;
        let mut states = self.room::<u64>(points)?;
        self.start(&self.kernels.seeds_begin, points, &[int(points), of(starts), to(&mut states)])?;
        let mut around = self.room::<u64>(points)?;
        loop {
            let mut left = self.zeros::<u32>(1)?;
            let arguments = [int(points), of(starts), of(neighbours), of(&states), to(&mut around)];
            self.start(&self.kernels.seeds_spread, points, &arguments)?;
            let arguments =
                [int(points), of(starts), of(neighbours), of(&around), to(&mut states), to(&mut left)];
            self.start(&self.kernels.seeds_decide, points, &arguments)?;
            if left.to_vec()?[0] == 0 {
                break;
            }
        }
        let mut flags = self.room::<u32>(points)?;
        self.start(&self.kernels.seed_flags, points, &[int(points), of(&states), to(&mut flags)])?;
        let (numbers, count) = self.starts(points, &flags)?;
        let (mut first, mut of_point) = (self.room::<u32>(points)?, self.room::<u32>(points)?);
        let arguments = [int(points), of(starts), of(neighbours), of(&states), of(&numbers), to(&mut first)];
        self.start(&self.kernels.join_seeds, points, &arguments)?;
        let arguments =
            [int(points), of(starts), of(neighbours), of(strengths), of(&first), to(&mut of_point)];
        self.start(&self.kernels.join_others, points, &arguments)?;
        Ok(DeviceAggregates { points, of_point, count })
    }

    /// Computes the tentative prolongator and the near-null vectors of the next level.
    pub fn prolongator(
        &self,
        near_null: &Buffer<T>,
        modes: usize,
        block: usize,
        aggregates: &DeviceAggregates,
    ) -> BlasResult<(DeviceCsr<T>, Buffer<T>)> {
        let DeviceAggregates { points, of_point, count } = aggregates;
        let (points, count, rows) = (*points, *count, *points * block);
        let mut flags = self.room::<u32>(points)?;
        self.start(&self.kernels.member_flags, points, &[int(points), of(of_point), to(&mut flags)])?;
        let (member_starts, members) = self.starts(points, &flags)?;
        let mut columns = self.room::<u32>(members)?;
        let arguments = [int(points), of(of_point), of(&member_starts), to(&mut columns)];
        self.start(&self.kernels.member_columns, points, &arguments)?;
        let by_aggregate = self.by_columns([points, count, members], &member_starts, &columns)?;
        let entries = members * block * modes;
        let (mut starts, mut columns_of) = (self.zeros::<u64>(rows + 1)?, self.room::<u32>(entries)?);
        let sizes = [int(rows), int(block), int(modes)];
        let arrays = [of(of_point), of(&member_starts), to(&mut starts), to(&mut columns_of)];
        self.start(&self.kernels.tentative_pattern, rows, &[&sizes[..], &arrays].concat())?;
        let (mut values, mut coarse) = (self.zeros::<T>(entries)?, self.zeros::<T>(count * modes * modes)?);
        let sizes = [int(count), int(block), int(modes), Argument::value(DEPENDENT)];
        let arrays = [
            of(&by_aggregate.starts),
            of(&by_aggregate.rows_of),
            of(&starts),
            of(near_null),
            to(&mut values),
            to(&mut coarse),
        ];
        self.start(&self.kernels.orthonormalise, count, &[&sizes[..], &arrays].concat())?;
        Ok((DeviceCsr { rows, columns: count * modes, entries, starts, columns_of, values }, coarse))
    }

    /// Sorts the entries of a matrix by columns, those of a column by rows.
    fn by_columns(
        &self,
        [rows, columns, entries]: [usize; 3],
        starts: &Buffer<u64>,
        columns_of: &Buffer<u32>,
    ) -> BlasResult<ByColumns> {
        let mut lengths = self.zeros::<u32>(columns)?;
        let arguments = [long(entries), of(columns_of), to(&mut lengths)];
        self.start(&self.kernels.count_columns, entries, &arguments)?;
        let (column_starts, _) = self.starts(columns, &lengths)?;
        let mut filled = self.zeros::<u32>(columns)?;
        let (mut rows_of, mut entries_of) = (self.room::<u32>(entries)?, self.room::<u64>(entries)?);
        self.start(
            &self.kernels.fill_columns,
            rows,
            &[
                int(rows),
                of(starts),
                of(columns_of),
                of(&column_starts),
                to(&mut filled),
                to(&mut rows_of),
                to(&mut entries_of),
            ],
        )?;
        let arguments = [int(columns), of(&column_starts), to(&mut rows_of), to(&mut entries_of)];
        self.start(&self.kernels.sort_columns, columns, &arguments)?;
        Ok(ByColumns { starts: column_starts, rows_of, entries_of })
    }

    /// Returns the conjugate transpose.
    pub fn adjoint(&self, matrix: &DeviceCsr<T>) -> BlasResult<DeviceCsr<T>> {
        let DeviceCsr { rows, columns, entries, starts, columns_of, values } = matrix;
        let turned = self.by_columns([*rows, *columns, *entries], starts, columns_of)?;
        let mut gathered = self.room::<T>(*entries)?;
        let arguments = [long(*entries), of(&turned.entries_of), of(values), to(&mut gathered)];
        self.start(&self.kernels.gather_conjugate, *entries, &arguments)?;
        Ok(DeviceCsr {
            rows: *columns,
            columns: *rows,
            entries: *entries,
            starts: turned.starts,
            columns_of: turned.rows_of,
            values: gathered,
        })
    }

    /// Returns the product A B.
    ///
    /// A work-item makes a short row, and a group a row of many terms.
    pub fn product(&self, a: &DeviceCsr<T>, b: &DeviceCsr<T>) -> BlasResult<DeviceCsr<T>> {
        let rows = a.rows;
        let of_row = |matrix: &DeviceCsr<T>| matrix.entries / matrix.rows.max(1);
        let by_groups = rows > 0 && of_row(a) * of_row(b) >= TERMS_OF_GROUP;
        let groups = Range::groups(rows.max(1), self.kernels.local);
        let mut lengths = self.room::<u32>(rows)?;
        let pattern = [of(&a.starts), of(&a.columns_of), of(&b.starts), of(&b.columns_of)];
        if by_groups {
            let arguments = [&pattern[..], &[to(&mut lengths)]].concat();
            self.kernels.product_lengths_by_groups.start(groups, &arguments)?;
        } else {
            let arguments = [&[int(rows)], &pattern[..], &[to(&mut lengths)]].concat();
            self.start(&self.kernels.product_lengths, rows, &arguments)?;
        }
        let (starts, entries) = self.starts(rows, &lengths)?;
        let (mut columns_of, mut values) = (self.room::<u32>(entries)?, self.room::<T>(entries)?);
        let arrays = [
            of(&a.starts),
            of(&a.columns_of),
            of(&a.values),
            of(&b.starts),
            of(&b.columns_of),
            of(&b.values),
            of(&starts),
            to(&mut columns_of),
            to(&mut values),
        ];
        if by_groups {
            self.kernels.product_fill_by_groups.start(groups, &arrays)?;
        } else {
            self.start(&self.kernels.product_fill, rows, &[&[int(rows)], &arrays[..]].concat())?;
        }
        Ok(DeviceCsr { rows, columns: b.columns, entries, starts, columns_of, values })
    }

    /// Returns T − ω D⁻¹ A T.
    pub fn smoothed(
        &self,
        matrix: &DeviceCsr<T>,
        diagonal: &Buffer<T>,
        tentative: &DeviceCsr<T>,
        omega: f64,
    ) -> BlasResult<DeviceCsr<T>> {
        let mut product = self.product(matrix, tentative)?;
        self.start(
            &self.kernels.smooth_prolongator,
            matrix.rows,
            &[
                int(matrix.rows),
                Argument::value(omega),
                of(&product.starts),
                of(&product.columns_of),
                of(diagonal),
                of(&tentative.starts),
                of(&tentative.columns_of),
                of(&tentative.values),
                to(&mut product.values),
            ],
        )?;
        Ok(product)
    }

    /// Puts a one on the diagonal of rows of zeros.
    pub fn with_diagonal(&self, mut matrix: DeviceCsr<T>) -> BlasResult<DeviceCsr<T>> {
        let DeviceCsr { rows, starts, columns_of, values, .. } = &mut matrix;
        let arguments = [int(*rows), of(starts), of(columns_of), to(values)];
        self.start(&self.kernels.mend_rows, *rows, &arguments)?;
        Ok(matrix)
    }

    /// Makes the slices of a matrix whose values are times those of columns and over those of rows.
    pub fn placed(
        &self,
        matrix: &DeviceCsr<T>,
        of_columns: Option<&Buffer<T>>,
        of_rows: Option<&Buffer<T>>,
    ) -> BlasResult<Placed<T>> {
        let DeviceCsr { rows, columns, entries, starts, columns_of, values } = matrix;
        let rows = *rows;
        let mut scaled = None;
        if of_columns.is_some() || of_rows.is_some() {
            let scaled = scaled.insert(self.room::<T>(*entries)?);
            let flags = [of_columns, of_rows].map(|numbers| int(usize::from(numbers.is_some())));
            let arrays = [
                of(starts),
                of(columns_of),
                of(values),
                of(of_columns.unwrap_or(values)),
                of(of_rows.unwrap_or(values)),
                to(scaled),
            ];
            let arguments = [&[int(rows)], &flags[..], &arrays].concat();
            self.start(&self.kernels.scale_entries, rows, &arguments)?;
        }
        let slots = rows.next_multiple_of(GPU_SLICE);
        let (mut rows_of, mut lengths) = (self.room::<u32>(slots)?, self.zeros::<u32>(slots)?);
        rows_of.fill(u32::MAX)?;
        let arguments = [int(rows), int(WINDOW), of(starts), to(&mut rows_of), to(&mut lengths)];
        self.start(&self.kernels.slots, rows, &arguments)?;
        let slices = slots / GPU_SLICE;
        let mut padded = self.room::<u32>(slices)?;
        let arguments = [int(slices), int(GPU_SLICE), of(&lengths), to(&mut padded)];
        self.start(&self.kernels.slice_lengths, slices, &arguments)?;
        let (slice_starts, padded) = self.starts(slices, &padded)?;
        let (mut slice_columns, mut slice_values) = (self.zeros::<u32>(padded)?, self.zeros::<T>(padded)?);
        self.start(
            &self.kernels.slice_fill,
            slots,
            &[
                int(slots),
                int(GPU_SLICE),
                of(starts),
                of(columns_of),
                of(scaled.as_ref().unwrap_or(values)),
                of(&slice_starts),
                of(&rows_of),
                of(&lengths),
                to(&mut slice_columns),
                to(&mut slice_values),
            ],
        )?;
        let arrays = Slices {
            slots,
            starts: slice_starts,
            lengths,
            rows_of,
            columns_of: slice_columns,
            values: slice_values,
        };
        Placed::of_slices(&self.device, [rows, *columns], *entries, arrays)
    }
}
