//! The arrays of a matrix in each format, on the host.

use crate::host::level1::Arithmetic;
use crate::host::sparse;
use crate::sparse::csr::Csr;
use crate::sparse::format::{Format, block_columns, diagonals, slot_rows};
use std::sync::Arc;

/// The arrays of a matrix.
///
/// The functions of [`sparse`](crate::host::sparse) describe their contents.
pub(super) enum Stored<T> {
    Csr(Arc<Csr<T>>),
    Sell(Sell<T>),
    Blocks { size: usize, starts: Vec<u64>, columns_of: Vec<u32>, values: Vec<T> },
    Diagonals { offsets: Vec<i64>, values: Vec<T> },
    Coo { source: Arc<Csr<T>>, rows_of: Vec<u32> },
}

/// The arrays of slices.
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
    pub fn new(source: &Arc<Csr<T>>, format: Format, height: usize) -> Self {
        match format {
            Format::Csr => Self::Csr(Arc::clone(source)),
            Format::Sell => Self::Sell(Sell::new(source, height)),
            Format::Blocks(size) => Self::blocks(source, size),
            Format::Diagonals => Self::diagonals(source),
            Format::Coo => {
                let rows = (0..source.rows())
                    .flat_map(|row| std::iter::repeat_n(row as u32, source.row_length(row)));
                Self::Coo { rows_of: rows.collect(), source: Arc::clone(source) }
            }
        }
    }

    fn blocks(source: &Csr<T>, size: usize) -> Self {
        let (mut starts, mut columns_of, mut values) = (vec![0], Vec::new(), Vec::new());
        for block_row in 0..source.rows() / size {
            let columns = block_columns(source, size, block_row);
            let first = columns_of.len();
            values.resize((first + columns.len()) * size * size, T::default());
            for i in 0..size {
                for (column, value) in source.row(block_row * size + i) {
                    let found = columns.binary_search(&((column / size) as u32));
                    let block = first + found.expect("the block of an entry is listed");
                    values[(block * size + column % size) * size + i] = value;
                }
            }
            columns_of.extend(columns);
            starts.push(columns_of.len() as u64);
        }
        Self::Blocks { size, starts, columns_of, values }
    }

    fn diagonals(source: &Csr<T>) -> Self {
        let offsets = diagonals(source).unwrap_or_default();
        let rows = source.rows();
        let mut values = vec![T::default(); rows * offsets.len()];
        for row in 0..rows {
            for (column, value) in source.row(row) {
                let found = offsets.binary_search(&(column as i64 - row as i64));
                values[rows * found.expect("the diagonal of an entry is listed") + row] = value;
            }
        }
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
            Self::Blocks { size, starts, columns_of, values } => {
                sparse::blocks(*size, starts, columns_of, values, extents, x, y)
            }
            Self::Diagonals { offsets, values } => sparse::diagonals(offsets, values, extents, x, y),
            Self::Coo { source, rows_of } => {
                sparse::coo(rows_of, &source.columns_of, &source.values, extents, x, y)
            }
        }
    }

    /// Returns the bytes of the arrays.
    pub fn bytes(&self) -> u64 {
        let bytes = match self {
            Self::Csr(a) => {
                size_of_val(&a.starts[..]) + size_of_val(&a.columns_of[..]) + size_of_val(&a.values[..])
            }
            Self::Sell(Sell { height: _, starts, lengths, rows_of, columns_of, values }) => {
                size_of_val(&starts[..])
                    + size_of_val(&lengths[..])
                    + size_of_val(&rows_of[..])
                    + size_of_val(&columns_of[..])
                    + size_of_val(&values[..])
            }
            Self::Blocks { size: _, starts, columns_of, values } => {
                size_of_val(&starts[..]) + size_of_val(&columns_of[..]) + size_of_val(&values[..])
            }
            Self::Diagonals { offsets, values } => size_of_val(&offsets[..]) + size_of_val(&values[..]),
            Self::Coo { source, rows_of } => {
                size_of_val(&rows_of[..])
                    + size_of_val(&source.columns_of[..])
                    + size_of_val(&source.values[..])
            }
        };
        bytes as u64
    }
}

impl<T: Arithmetic> Sell<T> {
    fn new(source: &Csr<T>, height: usize) -> Self {
        let slots = slot_rows(source, height);
        let length = |slot: &Option<usize>| slot.map_or(0, |row| source.row_length(row));
        let mut starts = vec![0_u64];
        for slice in slots.chunks(height) {
            starts.push(starts[starts.len() - 1] + (height * length(&slice[0])) as u64);
        }
        let padded = starts[starts.len() - 1] as usize;
        let mut columns_of = vec![0; padded];
        let mut values = vec![T::default(); padded];
        for (slot, row) in slots.iter().enumerate() {
            let first = starts[slot / height] as usize + slot % height;
            for (k, (column, value)) in row.iter().flat_map(|&row| source.row(row)).enumerate() {
                columns_of[first + height * k] = column as u32;
                values[first + height * k] = value;
            }
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
