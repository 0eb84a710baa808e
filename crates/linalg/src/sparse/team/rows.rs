//! The rows of each place, and the entries that need components of other places.

use crate::host::level1::Arithmetic;
use crate::sparse::csr::Csr;
use crate::sparse::format::natural_block;
use std::ops::Range;

/// Returns the first row of each of `count` parts of about the same bytes, and the number of rows.
///
/// Dense blocks along the diagonal are not cut.
pub(super) fn starts<T: Arithmetic>(matrix: &Csr<T>, count: usize) -> Vec<usize> {
    let (rows, block) = (matrix.rows(), natural_block(matrix));
    // Entries with their columns; the start of a row, and its components of x and y.
    let (entry, row) = ((size_of::<T>() + 4) as u64, (8 + 2 * size_of::<T>()) as u64);
    let bytes = |first: usize| matrix.starts()[first] * entry + first as u64 * row;
    let total = bytes(rows);
    let first_row = |part: usize| {
        let wanted = (u128::from(total) * part as u128 / count as u128) as u64;
        let (mut low, mut high) = (0, rows);
        while low < high {
            let middle = low + (high - low) / 2;
            if bytes(middle) < wanted { low = middle + 1 } else { high = middle }
        }
        low.next_multiple_of(block).min(rows)
    };
    (0..=count).map(|part| if part == count { rows } else { first_row(part) }).collect()
}

/// Returns the first of each of `count` parts of about the same length, and the number of all.
pub(super) fn even_starts(len: usize, count: usize) -> Vec<usize> {
    (0..=count).map(|part| (len as u128 * part as u128 / count as u128) as usize).collect()
}

/// The rows of a place, cut by the owners of their columns.
pub(super) struct PartOfRows<T> {
    /// Entries in the columns whose components lie at the place, counted from its first.
    pub own: Csr<T>,
    /// Entries in the columns of others, only the rows that have any; columns are numbers in `halo`.
    pub others: Csr<T>,
    /// The rows of `others`, counted from the first of the place.
    pub rows: Vec<u32>,
    /// The columns of other places that are needed, ascending.
    pub halo: Vec<u32>,
}

impl<T: Arithmetic> PartOfRows<T> {
    /// Takes some rows, where the components of some columns lie at the same place.
    pub fn new(matrix: &Csr<T>, range: &Range<usize>, columns: &Range<usize>) -> Self {
        let is_own = |column: usize| columns.contains(&column);
        let mut halo: Vec<u32> = range
            .clone()
            .flat_map(|row| matrix.row(row))
            .filter(|(column, _)| !is_own(*column))
            .map(|(column, _)| column as u32)
            .collect();
        halo.sort_unstable();
        halo.dedup();
        let place = |column: usize| match halo.binary_search(&(column as u32)) {
            Ok(place) | Err(place) => place as u32,
        };
        let own = Csr::from_rows(
            columns.len(),
            range.clone().map(|row| {
                let entries = matrix.row(row).filter(|(column, _)| is_own(*column));
                entries.map(|(column, value)| ((column - columns.start) as u32, value))
            }),
        );
        let reaches_out = |row: &usize| matrix.row(*row).any(|(column, _)| !is_own(column));
        let rows: Vec<usize> = range.clone().filter(reaches_out).collect();
        let others = Csr::from_rows(
            halo.len(),
            rows.iter().map(|row| {
                let entries = matrix.row(*row).filter(|(column, _)| !is_own(*column));
                entries.map(|(column, value)| (place(column), value))
            }),
        );
        let rows = rows.into_iter().map(|row| (row - range.start) as u32).collect();
        Self { own, others, rows, halo }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::problem::Problem;

    #[test]
    fn parts_have_about_the_same_bytes_and_all_entries() {
        for (text, block) in [("poisson2d:31", 1), ("elasticity3d:3", 3), ("random:500,7,1", 1)] {
            let matrix = text.parse::<Problem>().unwrap().matrix().unwrap();
            for count in [1, 2, 3, 7] {
                let starts = starts(&matrix, count);
                assert_eq!((starts[0], starts[count]), (0, matrix.rows()), "{text}");
                let mut entries = 0;
                for bounds in starts.windows(2) {
                    let range = bounds[0]..bounds[1];
                    assert!(range.start % block == 0, "{text}: {range:?}");
                    let part = PartOfRows::new(&matrix, &range, &range);
                    let of_part = part.own.entries() + part.others.entries();
                    assert!(of_part * count < 2 * matrix.entries(), "{text}: {of_part} of {count}");
                    assert!(part.halo.iter().all(|column| !range.contains(&(*column as usize))), "{text}");
                    assert_eq!(part.rows.len(), part.others.rows(), "{text}");
                    entries += of_part;
                }
                assert_eq!(entries, matrix.entries(), "{text}");
            }
        }
        // More parts than rows: some are empty.
        let tiny = Csr::from_rows(2, [vec![(0, 1.0)], vec![(1, 1.0)]]);
        assert_eq!(starts(&tiny, 4).len(), 5);
    }
}
