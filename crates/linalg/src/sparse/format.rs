//! The forms of a matrix in memory, and which takes the fewest bytes.

use super::arithmetic::size;
use super::csr::Csr;
use crate::host::level1::Arithmetic;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The form of a sparse matrix in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
}

/// Sizes of blocks that are counted.
pub(super) const BLOCKS: std::ops::RangeInclusive<usize> = 2..=8;

/// Most diagonals of a matrix that is kept by them.
const MOST_DIAGONALS: usize = 256;

/// Slots in which rows are sorted by length.
pub(super) const WINDOW: usize = 1024;

impl Format {
    /// Returns the formats that this matrix can have, with their bytes.
    ///
    /// They are listed in the order of choice. Blocks need a size that divides rows and columns,
    /// and no more than half as many values again. Diagonals must be at most 256. `height` is the
    /// number of rows of a slice.
    pub fn candidates<T: Arithmetic>(matrix: &Csr<T>, height: usize) -> Vec<(Self, u64)> {
        let (rows, entries, value) = (matrix.rows() as u64, matrix.entries() as u64, size_of::<T>() as u64);
        let mut found = Vec::new();
        if let Some(offsets) = diagonals(matrix) {
            found.push((Self::Diagonals, offsets.len() as u64 * (rows * value + 8)));
        }
        for block in BLOCKS {
            if let Some(blocks) = count_blocks(matrix, block) {
                let square = (block * block) as u64;
                if 2 * blocks * square <= 3 * entries {
                    let bytes = blocks * (square * value + 4) + 8 * (rows / block as u64 + 1);
                    found.push((Self::Blocks(block), bytes));
                }
            }
        }
        let slots = rows.div_ceil(height as u64) * height as u64;
        let padded: u64 = slot_rows(matrix, height)
            .chunks(height)
            .map(|slots| slots[0].map_or(0, |row| (matrix.row_length(row) * height) as u64))
            .sum();
        found.push((Self::Sell, padded * (value + 4) + 8 * slots + 8 * (slots / height as u64 + 1)));
        found.push((Self::Csr, entries * (value + 4) + 8 * (rows + 1)));
        found.push((Self::Coo, entries * (value + 8)));
        found
    }

    /// Returns the format of the fewest bytes.
    ///
    /// Slices are taken before rows up to a twentieth more bytes, because neighbours read what lies
    /// side by side.
    pub fn of_fewest_bytes<T: Arithmetic>(matrix: &Csr<T>, height: usize) -> Self {
        let weighed = |(format, bytes): &(Self, u64)| match format {
            Self::Sell => 20 * bytes,
            _ => 21 * bytes,
        };
        let candidates = Self::candidates(matrix, height);
        candidates.iter().min_by_key(|candidate| weighed(candidate)).map_or(Self::Csr, |(format, _)| *format)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Csr => f.write_str("csr"),
            Self::Sell => f.write_str("sell"),
            Self::Blocks(size) => write!(f, "bsr:{size}"),
            Self::Diagonals => f.write_str("diagonals"),
            Self::Coo => f.write_str("coo"),
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
            (_, Some(size)) if BLOCKS.contains(&size) => Ok(Self::Blocks(size)),
            _ => Err(format!("`{text}` is no format; choose csr, sell, bsr:2 to bsr:8, diagonals or coo")),
        }
    }
}

/// Returns the diagonals that have entries, or `None` if they are too many.
pub(super) fn diagonals<T: Arithmetic>(matrix: &Csr<T>) -> Option<Vec<i64>> {
    let mut offsets = BTreeSet::new();
    for row in 0..matrix.rows() {
        for (column, _) in matrix.row(row) {
            if offsets.insert(column as i64 - row as i64) && offsets.len() > MOST_DIAGONALS {
                return None;
            }
        }
    }
    Some(offsets.into_iter().collect())
}

/// Returns the number of blocks with entries.
///
/// `None` if the size does not divide the matrix.
fn count_blocks<T: Arithmetic>(matrix: &Csr<T>, block: usize) -> Option<u64> {
    if !matrix.rows().is_multiple_of(block) || !matrix.columns().is_multiple_of(block) {
        return None;
    }
    Some((0..matrix.rows() / block).map(|row| block_columns(matrix, block, row).len() as u64).sum())
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
        let blocks = count_blocks(matrix, *block);
        blocks.is_some_and(|blocks| 9 * blocks * (block * block) as u64 <= 10 * matrix.entries() as u64)
    };
    BLOCKS.rev().find(is_natural).unwrap_or(1)
}

/// Returns the row of each slot, or `None` behind the last row.
///
/// Rows are sorted by descending length in windows.
pub(super) fn slot_rows<T: Arithmetic>(matrix: &Csr<T>, height: usize) -> Vec<Option<usize>> {
    let mut rows: Vec<Option<usize>> = (0..matrix.rows()).map(Some).collect();
    for window in rows.chunks_mut(WINDOW) {
        // A stable sort keeps neighbours together.
        window.sort_by_key(|row| row.map(|row| std::cmp::Reverse(matrix.row_length(row))));
    }
    rows.resize(matrix.rows().next_multiple_of(height), None);
    rows
}

/// Returns the first row whose diagonal entry is missing or zero.
pub fn zero_on_diagonal<T: Arithmetic>(matrix: &Csr<T>) -> Option<usize> {
    (0..matrix.rows().min(matrix.columns())).find(|&row| size(matrix.at(row, row)) == 0.0)
}
