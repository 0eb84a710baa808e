//! The arrays of a matrix in each format, on the host.

use crate::host::level1::Arithmetic;
use crate::host::sparse;
use crate::sparse::colouring::Colouring;
use crate::sparse::csr::Csr;
use crate::sparse::format::{
    Format, block_columns, block_lengths, block_slice, diagonals, full_rows, row_lengths, slot_rows, span,
};
use lattice_compute::parallel::*;
use std::sync::Arc;

/// The arrays of a matrix.
///
/// The functions of [`sparse`](crate::host::sparse) describe their contents.
pub(super) enum Stored<T> {
    Csr(Arc<Csr<T>>),
    Sell(Sell<T>),
    /// Slices of rows of blocks.
    Blocks {
        size: usize,
        slices: Sell<T>,
    },
    Diagonals {
        offsets: Vec<i64>,
        values: Vec<T>,
    },
    Coo {
        source: Arc<Csr<T>>,
        rows_of: Vec<u32>,
    },
    FullRows {
        /// The other rows. Those that are full are empty here.
        rest: Sell<T>,
        full: FullRows<T>,
    },
    Symmetric {
        colouring: Colouring,
        /// The entries on and below the diagonal.
        lower: Csr<T>,
    },
}

/// The arrays of rows that are full between their first and last entry.
pub(super) struct FullRows<T> {
    pub rows: Vec<u32>,
    pub starts: Vec<u64>,
    pub first_columns: Vec<u32>,
    pub values: Vec<T>,
}

/// The arrays of slices of rows, or of rows of blocks.
pub(super) struct Sell<T> {
    pub height: usize,
    pub starts: Vec<u64>,
    pub lengths: Vec<u32>,
    pub rows_of: Vec<u32>,
    pub columns_of: Vec<u32>,
    pub values: Vec<T>,
}

impl<T: Arithmetic> Stored<T> {
    /// Brings a matrix into a format that it can have.
    ///
    /// Values take `value` bytes, which decides on full rows.
    pub fn new(source: &Arc<Csr<T>>, format: Format, height: usize, value: usize) -> Self {
        match format {
            Format::Csr => Self::Csr(Arc::clone(source)),
            Format::Sell => Self::Sell(Sell::of_rows(source, height, &row_lengths(source))),
            Format::FullRows => {
                let (full, mut lengths) = (full_rows(source, value), row_lengths(source));
                full.iter().for_each(|row| lengths[*row] = 0);
                let rest = Sell::of_rows(source, height, &lengths);
                Self::FullRows { rest, full: FullRows::new(source, &full) }
            }
            Format::Blocks(size) => {
                Self::Blocks { size, slices: Sell::of_blocks(source, size, block_slice(height)) }
            }
            Format::Symmetric => {
                let row = |row: usize| {
                    let entries = source.row(row).take_while(move |(column, _)| *column <= row);
                    entries.map(|(column, value)| (column as u32, value))
                };
                let lower = Csr::from_rows(source.columns(), (0..source.rows()).map(row));
                Self::Symmetric { colouring: Colouring::of(source), lower }
            }
            Format::Diagonals => Self::diagonals(source),
            Format::Coo => {
                let rows = (0..source.rows())
                    .flat_map(|row| std::iter::repeat_n(row as u32, source.row_length(row)));
                Self::Coo { rows_of: rows.collect(), source: Arc::clone(source) }
            }
        }
    }

    fn diagonals(source: &Csr<T>) -> Self {
        let offsets = diagonals(source).unwrap_or_default();
        let rows = source.rows();
        let mut values = vec![T::default(); rows * offsets.len()];
        values.par_chunks_mut(rows.max(1)).zip(&offsets).for_each(|(values, offset)| {
            for (row, value) in values.iter_mut().enumerate() {
                let column = row as i64 + offset;
                if (0..source.columns() as i64).contains(&column) {
                    *value = source.at(row, column as usize);
                }
            }
        });
        Self::Diagonals { offsets, values }
    }

    /// Computes Y = A X for some vectors.
    pub fn multiply(&self, [rows, columns, vectors]: [usize; 3], x: &[T], y: &mut [T]) {
        let extents = [rows, columns, vectors];
        match self {
            Self::Csr(a) => sparse::csr(&a.starts, &a.columns_of, &a.values, vectors, columns, x, y),
            Self::Sell(Sell { height, starts, lengths, rows_of, columns_of, values }) => {
                sparse::sell(*height, starts, lengths, rows_of, columns_of, values, extents, x, y)
            }
            Self::Blocks { size, slices: Sell { height, starts, lengths, rows_of, columns_of, values } } => {
                let sizes = [*size, *height];
                sparse::blocks(sizes, starts, lengths, rows_of, columns_of, values, extents, x, y)
            }
            Self::Diagonals { offsets, values } => sparse::diagonals(offsets, values, extents, x, y),
            Self::Coo { source, rows_of } => {
                sparse::coo(rows_of, &source.columns_of, &source.values, extents, x, y)
            }
            Self::FullRows { rest, full } => {
                let Sell { height, starts, lengths, rows_of, columns_of, values } = rest;
                sparse::sell(*height, starts, lengths, rows_of, columns_of, values, extents, x, y);
                let FullRows { rows, starts, first_columns, values } = full;
                sparse::full_rows(rows, starts, first_columns, values, vectors, x, y);
            }
            Self::Symmetric { colouring, lower } => {
                let Csr { starts, columns_of, values, .. } = lower;
                let (order, block_rows) = (&colouring.order, colouring.block_rows);
                sparse::symmetric(order, block_rows, starts, columns_of, values, vectors, x, y);
            }
        }
    }

    /// Returns the bytes of the arrays, with values of `value` bytes.
    pub fn bytes(&self, value: usize) -> u64 {
        let slices = |slices: &Sell<T>| {
            let Sell { height: _, starts, lengths, rows_of, columns_of, values } = slices;
            size_of_val(&starts[..])
                + size_of_val(&lengths[..])
                + size_of_val(&rows_of[..])
                + size_of_val(&columns_of[..])
                + value * values.len()
        };
        let bytes = match self {
            Self::Csr(a) => {
                size_of_val(&a.starts[..]) + size_of_val(&a.columns_of[..]) + value * a.values.len()
            }
            Self::Sell(rows) | Self::Blocks { slices: rows, .. } => slices(rows),
            Self::Diagonals { offsets, values } => size_of_val(&offsets[..]) + value * values.len(),
            Self::Coo { source, rows_of } => {
                size_of_val(&rows_of[..]) + size_of_val(&source.columns_of[..]) + value * source.values.len()
            }
            Self::Symmetric { colouring, lower } => {
                size_of_val(&colouring.order[..])
                    + size_of_val(&lower.starts[..])
                    + size_of_val(&lower.columns_of[..])
                    + value * lower.values.len()
            }
            Self::FullRows { rest, full } => {
                let FullRows { rows, starts, first_columns, values } = full;
                let numbers =
                    size_of_val(&rows[..]) + size_of_val(&starts[..]) + size_of_val(&first_columns[..]);
                slices(rest) + numbers + value * values.len()
            }
        };
        bytes as u64
    }
}

impl<T: Arithmetic> FullRows<T> {
    fn new(source: &Csr<T>, rows: &[usize]) -> Self {
        let spans: Vec<_> = rows.iter().map(|row| span(source, *row)).collect();
        let mut starts = vec![0];
        for span in &spans {
            starts.push(starts[starts.len() - 1] + span.len() as u64);
        }
        let filled = rows.par_iter().zip(&spans).map(|(row, span)| {
            let mut values = vec![T::default(); span.len()];
            source.row(*row).for_each(|(column, value)| values[column - span.start] = value);
            values
        });
        let filled: Vec<Vec<T>> = filled.collect();
        Self {
            rows: rows.iter().map(|row| *row as u32).collect(),
            starts,
            first_columns: spans.iter().map(|span| span.start as u32).collect(),
            values: filled.concat(),
        }
    }
}

/// Slices that one task makes.
const PIECE: usize = 256;

impl<T: Arithmetic> Sell<T> {
    /// Makes slices of the rows whose lengths are given. A row of length zero stays empty.
    fn of_rows(source: &Csr<T>, height: usize, lengths: &[usize]) -> Self {
        Self::new(lengths, [1, height], |row, columns_of, values| {
            for (k, (column, value)) in source.row(row).enumerate() {
                columns_of[height * k] = column as u32;
                values[height * k] = value;
            }
        })
    }

    fn of_blocks(source: &Csr<T>, size: usize, height: usize) -> Self {
        let lengths = block_lengths(source, size).unwrap_or_default();
        Self::new(&lengths, [size * size, height], |block_row, columns_of, values| {
            let columns = block_columns(source, size, block_row);
            for (k, column) in columns.iter().enumerate() {
                columns_of[height * k] = *column;
            }
            for i in 0..size {
                for (column, value) in source.row(block_row * size + i) {
                    let found = columns.binary_search(&((column / size) as u32));
                    let block = found.expect("the block of an entry is listed");
                    values[height * ((block * size + column % size) * size + i)] = value;
                }
            }
        })
    }

    /// Makes slices of rows with so many columns each, and `square` values for each column.
    ///
    /// `fill` puts a row into the slices of columns and values that begin with its first ones.
    fn new(
        row_lengths: &[usize],
        [square, height]: [usize; 2],
        fill: impl Fn(usize, &mut [u32], &mut [T]) + Sync,
    ) -> Self {
        let slots = slot_rows(row_lengths, height);
        let length = |slot: &Option<usize>| slot.map_or(0, |row| row_lengths[row]);
        let mut starts = vec![0_u64];
        for slice in slots.chunks(height) {
            starts.push(starts[starts.len() - 1] + (height * length(&slice[0])) as u64);
        }
        let pieces: Vec<(Vec<u32>, Vec<T>)> = slots
            .par_chunks(PIECE * height)
            .map(|slots| {
                let padded: usize = slots.chunks(height).map(|slice| height * length(&slice[0])).sum();
                let (mut columns_of, mut values) = (vec![0; padded], vec![T::default(); padded * square]);
                let mut first = 0;
                for slice in slots.chunks(height) {
                    for (l, row) in slice.iter().enumerate() {
                        if let Some(row) = row.filter(|row| row_lengths[*row] > 0) {
                            fill(row, &mut columns_of[first + l..], &mut values[first * square + l..]);
                        }
                    }
                    first += height * length(&slice[0]);
                }
                (columns_of, values)
            })
            .collect();
        let (mut columns_of, mut values) = (Vec::new(), Vec::new());
        for (columns, numbers) in pieces {
            columns_of.extend_from_slice(&columns);
            values.extend_from_slice(&numbers);
        }
        Self {
            height,
            starts,
            lengths: slots.iter().map(|slot| length(slot) as u32).collect(),
            rows_of: slots.iter().map(|row| row.map_or(u32::MAX, |row| row as u32)).collect(),
            columns_of,
            values,
        }
    }
}
