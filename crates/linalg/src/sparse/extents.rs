//! Extents that a file announces, believed as far as its entries support them.
//!
//! A file of sixty bytes may announce a hundred million rows. Rows take memory and time though they
//! are empty. So their number is compared with that of the entries before anything is made of it.

/// Rows and columns that need no entries.
const FREE: u64 = 1 << 22;

/// Rows and columns for each entry.
const OF_AN_ENTRY: u64 = 128;

/// Elements of a dense matrix that need no entries.
const FREE_ELEMENTS: u64 = 1 << 24;

/// Elements of a dense matrix for each entry: more than a band matrix has that fits into memory.
const ELEMENTS_OF_AN_ENTRY: u64 = 1 << 14;

/// Nearly all rows or columns of a matrix are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{rows} rows and {columns} columns, but {entries} {}: nearly all of them are empty; leave empty rows and columns out, or mend the sizes",
    if *entries == 1 { "entry" } else { "entries" }
)]
pub struct TooEmpty {
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub columns: usize,
    /// Entries that are listed.
    pub entries: usize,
}

/// Checks that entries support the extents of a sparse matrix.
///
/// # Errors
/// [`TooEmpty`].
pub fn expect_supported(rows: usize, columns: usize, entries: usize) -> Result<(), TooEmpty> {
    let most = FREE.saturating_add((entries as u64).saturating_mul(OF_AN_ENTRY));
    let lines = (rows as u64).saturating_add(columns as u64);
    if lines <= most { Ok(()) } else { Err(TooEmpty { rows, columns, entries }) }
}

/// Checks that entries support a dense matrix of all elements.
///
/// # Errors
/// [`TooEmpty`].
pub fn expect_dense(rows: usize, columns: usize, entries: usize) -> Result<(), TooEmpty> {
    let most = FREE_ELEMENTS.saturating_add((entries as u64).saturating_mul(ELEMENTS_OF_AN_ENTRY));
    let elements = (rows as u64).saturating_mul(columns as u64);
    if elements <= most { Ok(()) } else { Err(TooEmpty { rows, columns, entries }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_without_entries_are_refused() {
        for (rows, columns, entries) in [(99_999_999, 6, 1), (6, 99_999_999, 1), (usize::MAX, usize::MAX, 0)]
        {
            assert!(expect_supported(rows, columns, entries).is_err(), "{rows} {columns}");
            assert!(expect_dense(rows, columns, entries).is_err(), "{rows} {columns}");
        }
        // A source at one point, a matrix with a few empty rows, a band matrix as a dense one.
        assert_eq!(expect_supported(4_000_000, 1, 1), Ok(()));
        assert_eq!(expect_supported(100_000_000, 100_000_000, 2_000_000), Ok(()));
        assert_eq!(expect_dense(4_000_000, 1, 1), Ok(()));
        assert_eq!(expect_dense(40_000, 40_000, 120_000), Ok(()));
    }
}
