//! The forms of a matrix in memory, and which takes the fewest bytes.

use super::arithmetic::size;
use super::colouring::Colouring;
use super::csr::Csr;
use crate::host::level1::Arithmetic;
use lattice_compute::parallel::*;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The form of a sparse matrix in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Format {
    /// Compressed sparse rows.
    Csr,
    /// Slices of rows, sorted by length in windows: SELL-C-σ.
    ///
    /// Source: M. Kreutzer et al., SIAM J. Sci. Comput. 36 (2014) C401.
    Sell,
    /// Dense square blocks of so many rows, 2 to 8.
    Blocks(usize),
    /// Diagonals without column numbers.
    Diagonals,
    /// A list of entries, sorted by rows.
    Coo,
    /// Rows that are full between their first and last entry, without column numbers.
    ///
    /// The other rows are in slices.
    FullRows,
    /// The lower triangle of a Hermitian matrix, by rows.
    ///
    /// Each entry is read once for two terms. Coloured blocks of rows add them without atomics. For
    /// processors.
    Symmetric,
}

/// Sizes of blocks that are counted.
pub(super) const BLOCKS: std::ops::RangeInclusive<usize> = 2..=8;

/// Most diagonals of a matrix that is kept by them.
const MOST_DIAGONALS: usize = 256;

/// Entries of a row that is kept as a full one, at least.
const LEAST_FULL: usize = 128;

/// Slots in which rows are sorted by length.
pub(super) const WINDOW: usize = 1024;

impl Format {
    /// The names of the formats.
    pub const NAMES: &'static str = "csr, sell, bsr:2 to bsr:8, diagonals, coo, full-rows or symmetric";

    /// Returns the formats that this matrix can have, with their bytes.
    ///
    /// They are listed in the order of choice. [`Format::Symmetric`] is the last: it has the fewest
    /// bytes, but adds to scattered components, so only a measurement chooses it. Blocks need a size that divides rows and columns,
    /// and no more than half as many values again. Diagonals must be at most 256. Full rows need
    /// one such row. `height` is the number of rows of a slice.
    pub fn candidates<T: Arithmetic>(matrix: &Csr<T>, height: usize) -> Vec<(Self, u64)> {
        Self::candidates_of(matrix, height, size_of::<T>())
    }

    /// Returns the formats that this matrix can have, with values of so many bytes.
    pub(super) fn candidates_of<T: Arithmetic>(
        matrix: &Csr<T>,
        height: usize,
        value: usize,
    ) -> Vec<(Self, u64)> {
        let mut found = Self::counted(matrix, height, value);
        let suits = |colouring: &Colouring| {
            colouring.order.len() >= FEWEST_BLOCKS_OF_COLOUR * colouring.colours().max(1)
        };
        if height < GPU_SLICE && matrix.is_hermitian() {
            let colouring = Colouring::of(matrix);
            if suits(&colouring) {
                let lower = lower_entries(matrix) as u64;
                let lists = 8 * (matrix.rows() as u64 + 1) + 4 * colouring.order.len() as u64;
                found.push((Self::Symmetric, lower * (value as u64 + 4) + lists));
            }
        }
        found
    }

    /// Returns the formats that are chosen by their bytes alone.
    fn counted<T: Arithmetic>(matrix: &Csr<T>, height: usize, value: usize) -> Vec<(Self, u64)> {
        let (rows, entries, value) = (matrix.rows() as u64, matrix.entries() as u64, value as u64);
        let mut found = Vec::new();
        if let Some(offsets) = diagonals(matrix) {
            found.push((Self::Diagonals, offsets.len() as u64 * (rows * value + 8)));
        }
        for block in BLOCKS {
            if let Some(lengths) = block_lengths(matrix, block) {
                let (blocks, square) = (lengths.iter().sum::<usize>() as u64, (block * block) as u64);
                if 2 * blocks * square <= 3 * entries {
                    let bytes = bytes_of_slices(&lengths, block_slice(height), square * value + 4);
                    found.push((Self::Blocks(block), bytes));
                }
            }
        }
        let mut lengths = row_lengths(matrix);
        found.push((Self::Sell, bytes_of_slices(&lengths, height, value + 4)));
        found.push((Self::Csr, entries * (value + 4) + 8 * (rows + 1)));
        found.push((Self::Coo, entries * (value + 8)));
        let full = full_rows(matrix, value as usize);
        if !full.is_empty() {
            let spans: usize = full.iter().map(|row| span(matrix, *row).len()).sum();
            full.iter().for_each(|row| lengths[*row] = 0);
            let bytes = spans as u64 * value + BYTES_OF_FULL_ROW * full.len() as u64 + 8;
            found.push((Self::FullRows, bytes + bytes_of_slices(&lengths, height, value + 4)));
        }
        found
    }

    /// Returns the format of the fewest bytes, but for symmetric storage.
    ///
    /// Slices are taken before rows up to a twentieth more bytes, because neighbours read what lies
    /// side by side.
    pub fn of_fewest_bytes<T: Arithmetic>(matrix: &Csr<T>, height: usize) -> Self {
        Self::of_fewest_bytes_of(matrix, height, size_of::<T>())
    }

    /// Returns the format of the fewest bytes, with values of so many bytes.
    pub(super) fn of_fewest_bytes_of<T: Arithmetic>(matrix: &Csr<T>, height: usize, value: usize) -> Self {
        let weighed = |(format, bytes): &(Self, u64)| match format {
            Self::Sell => 20 * bytes,
            _ => 21 * bytes,
        };
        let candidates = Self::counted(matrix, height, value);
        candidates.iter().min_by_key(|candidate| weighed(candidate)).map_or(Self::Csr, |(format, _)| *format)
    }

    /// Tells in words what of a matrix suits this format.
    pub fn reason<T: Arithmetic>(self, matrix: &Csr<T>) -> String {
        let (rows, entries) = (matrix.rows().max(1), matrix.entries());
        let share = |values: usize| 100.0 * entries as f64 / values.max(1) as f64;
        let lengths = || (0..matrix.rows()).map(|row| matrix.row_length(row));
        let (least, most) = (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0));
        match self {
            Self::Csr => {
                format!("rows of {least} to {most} entries lie one behind the other, and nothing is padded")
            }
            Self::Sell => {
                format!(
                    "rows of {least} to {most} entries are alike in slices, and neighbours read side by side"
                )
            }
            Self::Blocks(size) => {
                let blocks: usize = block_lengths(matrix, size).unwrap_or_default().iter().sum();
                let full = share(blocks * size * size);
                format!(
                    "entries come in {size}×{size} blocks, which are {full:.0} % full: one column number for {} values",
                    size * size
                )
            }
            Self::Diagonals => {
                let count = diagonals(matrix).unwrap_or_default().len();
                let full = share(count * rows);
                format!(
                    "entries lie on {count} diagonals, which are {full:.0} % full, so no column number is read"
                )
            }
            Self::Coo => format!(
                "{entries} entries in {rows} rows of {least} to {most} go to work-items in equal shares"
            ),
            Self::Symmetric => {
                format!("{} entries of the lower triangle stand for all {entries}", lower_entries(matrix))
            }
            Self::FullRows => {
                let full = full_rows(matrix, size_of::<T>());
                let within: usize = full.iter().map(|row| matrix.row_length(*row)).sum();
                format!(
                    "{} rows are full, with {:.0} % of the entries, and need no column numbers",
                    full.len(),
                    100.0 * within as f64 / entries.max(1) as f64
                )
            }
        }
    }
}

/// Blocks of rows that may go at the same time, at least, where symmetric storage is tried.
const FEWEST_BLOCKS_OF_COLOUR: usize = 8;

/// Returns the number of entries on and below the diagonal.
fn lower_entries<T: Arithmetic>(matrix: &Csr<T>) -> usize {
    let of_row =
        |row: usize| matrix.columns_of[matrix.range(row)].partition_point(|&column| column as usize <= row);
    (0..matrix.rows()).into_par_iter().map(of_row).sum()
}

/// Bytes that a full row takes beside its values: its number, its start, its first column.
const BYTES_OF_FULL_ROW: u64 = 16;

/// Returns the columns from the first entry of a row to its last.
pub(super) fn span<T: Arithmetic>(matrix: &Csr<T>, row: usize) -> Range<usize> {
    let columns = &matrix.columns_of()[matrix.range(row)];
    match (columns.first(), columns.last()) {
        (Some(first), Some(last)) => *first as usize..*last as usize + 1,
        _ => 0..0,
    }
}

/// Returns the rows that take fewer bytes with zeros in their gaps than with column numbers.
pub(super) fn full_rows<T: Arithmetic>(matrix: &Csr<T>, value: usize) -> Vec<usize> {
    let is_full = |row: &usize| {
        let length = matrix.row_length(*row);
        length >= LEAST_FULL && span(matrix, *row).len() * value <= length * (value + size_of::<u32>())
    };
    (0..matrix.rows()).filter(is_full).collect()
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Csr => f.write_str("csr"),
            Self::Sell => f.write_str("sell"),
            Self::Blocks(size) => write!(f, "bsr:{size}"),
            Self::Diagonals => f.write_str("diagonals"),
            Self::Coo => f.write_str("coo"),
            Self::FullRows => f.write_str("full-rows"),
            Self::Symmetric => f.write_str("symmetric"),
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let block = text.strip_prefix("bsr:").and_then(|size| size.parse().ok());
        match (text, block) {
            ("csr", _) => Ok(Self::Csr),
            ("sell", _) => Ok(Self::Sell),
            ("diagonals", _) => Ok(Self::Diagonals),
            ("coo", _) => Ok(Self::Coo),
            ("full-rows", _) => Ok(Self::FullRows),
            ("symmetric", _) => Ok(Self::Symmetric),
            (_, Some(size)) if BLOCKS.contains(&size) => Ok(Self::Blocks(size)),
            _ => Err(format!("`{text}` is no format; choose {}", Self::NAMES)),
        }
    }
}

impl TryFrom<String> for Format {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Format> for String {
    fn from(format: Format) -> Self {
        format.to_string()
    }
}

/// Rows that one task looks at.
const PIECE: usize = 4096;

/// Returns the diagonals that have entries, or `None` if they are too many.
pub(super) fn diagonals<T: Arithmetic>(matrix: &Csr<T>) -> Option<Vec<i64>> {
    let of_piece = |piece: usize| {
        let mut offsets: Vec<i64> = Vec::new();
        for row in piece * PIECE..matrix.rows().min((piece + 1) * PIECE) {
            for column in &matrix.columns_of()[matrix.range(row)] {
                let offset = i64::from(*column) - row as i64;
                if let Err(place) = offsets.binary_search(&offset) {
                    offsets.insert(place, offset);
                }
            }
            if offsets.len() > MOST_DIAGONALS {
                return None;
            }
        }
        Some(offsets)
    };
    let merged = |mut all: Vec<i64>, more: Vec<i64>| {
        all.extend(more);
        all.sort_unstable();
        all.dedup();
        (all.len() <= MOST_DIAGONALS).then_some(all)
    };
    let pieces = (0..matrix.rows().div_ceil(PIECE)).into_par_iter().map(of_piece);
    pieces.collect::<Option<Vec<_>>>()?.into_iter().try_fold(Vec::new(), merged)
}

/// Returns the number of entries of each row.
pub(super) fn row_lengths<T: Arithmetic>(matrix: &Csr<T>) -> Vec<usize> {
    (0..matrix.rows()).map(|row| matrix.row_length(row)).collect()
}

/// Returns the number of blocks with entries of each row of blocks.
///
/// `None` if the size does not divide the matrix.
pub(super) fn block_lengths<T: Arithmetic>(matrix: &Csr<T>, block: usize) -> Option<Vec<usize>> {
    if !matrix.rows().is_multiple_of(block) || !matrix.columns().is_multiple_of(block) {
        return None;
    }
    // The rows of a block are merged: the next block column is the least of their next ones.
    let count = |block_row: usize| {
        let mut rest: [&[u32]; *BLOCKS.end()] = [&[]; *BLOCKS.end()];
        for (i, rest) in rest.iter_mut().enumerate().take(block) {
            *rest = &matrix.columns_of()[matrix.range(block_row * block + i)];
        }
        let mut count = 0;
        while let Some(next) = rest.iter().filter_map(|rest| rest.first()).min() {
            let end = (next / block as u32 + 1) * block as u32;
            for rest in &mut rest {
                let passed = rest.iter().take_while(|column| **column < end).count();
                *rest = &rest[passed..];
            }
            count += 1;
        }
        count
    };
    Some((0..matrix.rows() / block).into_par_iter().map(count).collect())
}

/// Rows of a slice on GPUs.
pub(super) const GPU_SLICE: usize = 32;

/// Returns the rows of blocks of a slice, where a slice has this many rows.
///
/// Processors compute a row of blocks at a time.
pub(super) fn block_slice(height: usize) -> usize {
    if height < GPU_SLICE { 1 } else { height }
}

/// Returns the bytes of rows in slices.
fn bytes_of_slices(lengths: &[usize], height: usize, bytes_of_entry: u64) -> u64 {
    let slots = slot_rows(lengths, height);
    let longest = |slots: &[Option<usize>]| slots[0].map_or(0, |row| lengths[row]);
    let padded = height * slots.chunks(height).map(longest).sum::<usize>();
    padded as u64 * bytes_of_entry + 8 * (slots.len() + slots.len() / height + 1) as u64
}

/// Returns the columns of the blocks of a row of blocks, ascending.
pub(super) fn block_columns<T: Arithmetic>(matrix: &Csr<T>, block: usize, block_row: usize) -> Vec<u32> {
    let rows = block * block_row..block * (block_row + 1);
    let mut columns: Vec<u32> = rows
        .flat_map(|row| matrix.columns_of()[matrix.range(row)].iter().map(|column| column / block as u32))
        .collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// Returns the largest size of blocks that the matrix consists of, or 1.
///
/// At least nine tenths of the values of the blocks are entries.
pub fn natural_block<T: Arithmetic>(matrix: &Csr<T>) -> usize {
    let is_natural = |block: &usize| {
        let blocks = block_lengths(matrix, *block).map(|lengths| lengths.iter().sum::<usize>());
        blocks.is_some_and(|blocks| 9 * blocks * (block * block) <= 10 * matrix.entries())
    };
    BLOCKS.rev().find(is_natural).unwrap_or(1)
}

/// Returns the row of each slot: rows of descending length in windows, `None` behind the last.
pub(super) fn slot_rows(lengths: &[usize], height: usize) -> Vec<Option<usize>> {
    let mut rows: Vec<Option<usize>> = (0..lengths.len()).map(Some).collect();
    rows.par_chunks_mut(WINDOW).for_each(|window| {
        // A stable sort keeps neighbours together.
        window.sort_by_key(|row| row.map(|row| std::cmp::Reverse(lengths[row])));
    });
    rows.resize(lengths.len().next_multiple_of(height), None);
    rows
}

/// Returns the first row whose diagonal entry is missing or zero.
pub fn zero_on_diagonal<T: Arithmetic>(matrix: &Csr<T>) -> Option<usize> {
    (0..matrix.rows().min(matrix.columns())).find(|&row| size(matrix.at(row, row)) == 0.0)
}
