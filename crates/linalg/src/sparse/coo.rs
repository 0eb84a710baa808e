//! Lists of entries.

use super::arithmetic::{conjugate, negative};
use super::csr::Csr;
use crate::host::level1::Arithmetic;
use lattice_compute::NoRoom;

/// One entry of a matrix, with its place counted from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry<T> {
    /// The row.
    pub row: u32,
    /// The column.
    pub column: u32,
    /// The value.
    pub value: T,
}

/// The entry on the other side of the diagonal that an entry stands for as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirror {
    /// No entry.
    None,
    /// The same value.
    Symmetric,
    /// The negative value.
    Skew,
    /// The complex conjugate.
    Hermitian,
}

/// A matrix as a list of entries, in any order.
///
/// Entries at one place are added.
#[derive(Clone, Debug, PartialEq)]
pub struct Coo<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// The entries. Each lies within the matrix.
    pub entries: Vec<Entry<T>>,
}

impl<T: Arithmetic> Coo<T> {
    /// Returns the matrix by rows, with all entries of one place added.
    ///
    /// Entries are added in the order of the list.
    ///
    /// # Errors
    /// [`NoRoom`] if memory is short.
    ///
    /// # Panics
    /// If an entry lies outside of the matrix.
    pub fn to_csr(&self) -> Result<Csr<T>, NoRoom> {
        self.to_csr_with(Mirror::None)
    }

    /// Returns the matrix by rows, whose entries off the diagonal stand for two.
    ///
    /// # Errors
    /// [`NoRoom`] if memory is short.
    ///
    /// # Panics
    /// If an entry lies outside of the matrix.
    pub fn to_csr_with(&self, mirror: Mirror) -> Result<Csr<T>, NoRoom> {
        let other = |entry: &Entry<T>| {
            let value = match mirror {
                Mirror::None => return None,
                Mirror::Symmetric => entry.value,
                Mirror::Skew => negative(entry.value),
                Mirror::Hermitian => conjugate(entry.value),
            };
            (entry.row != entry.column).then_some(Entry { row: entry.column, column: entry.row, value })
        };
        let all = || self.entries.iter().flat_map(|entry| [Some(*entry), other(entry)]).flatten();
        // Sorts by rows first, by counting. The order of a row's entries stays.
        let mut starts = Vec::new();
        lattice_compute::reserve(&mut starts, self.rows + 1)?;
        starts.resize(self.rows + 1, 0_u64);
        let mut count = 0;
        for entry in all() {
            starts[entry.row as usize + 1] += 1;
            count += 1;
        }
        for row in 0..self.rows {
            starts[row + 1] += starts[row];
        }
        let mut sorted: Vec<(u32, T)> = Vec::new();
        lattice_compute::reserve(&mut sorted, count)?;
        sorted.resize(count, (0, T::default()));
        let mut next = starts.clone();
        for entry in all() {
            assert!((entry.column as usize) < self.columns, "column {} of {}", entry.column, self.columns);
            let place = &mut next[entry.row as usize];
            sorted[*place as usize] = (entry.column, entry.value);
            *place += 1;
        }
        let mut csr = Csr::empty(self.rows, self.columns);
        lattice_compute::reserve(&mut csr.columns_of, count)?;
        lattice_compute::reserve(&mut csr.values, count)?;
        for row in 0..self.rows {
            let entries = &mut sorted[starts[row] as usize..starts[row + 1] as usize];
            // A stable sort, so that the order of additions is that of the list.
            entries.sort_by_key(|(column, _)| *column);
            let begin = csr.values.len();
            for &(column, value) in entries.iter() {
                match csr.columns_of[begin..].last() {
                    Some(&last) if last == column => {
                        let sum = csr.values.last_mut().expect("there is a value for each column");
                        *sum = *sum + value;
                    }
                    _ => {
                        csr.columns_of.push(column);
                        csr.values.push(value);
                    }
                }
            }
            csr.starts[row + 1] = csr.values.len() as u64;
        }
        Ok(csr)
    }
}
