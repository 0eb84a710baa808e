//! Lists of entries.

use super::arithmetic::{conjugate, negative};
use super::csr::{Csr, Rows};
use crate::host::level1::Arithmetic;
use lattice_compute::NoRoom;
use lattice_compute::parallel::*;
use std::ops::Range;

/// Most bands of rows that are sorted at once. Each thread reads all entries.
const MOST_BANDS: usize = 8;

/// Entries below which one thread sorts.
const FEWEST_OF_BANDS: usize = 1 << 16;

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
        let inside = |entry: &Entry<T>| {
            let Entry { row, column, .. } = *entry;
            assert!((row as usize) < self.rows, "row {row} of {}", self.rows);
            assert!((column as usize) < self.columns, "column {column} of {}", self.columns);
        };
        self.entries.iter().for_each(inside);
        // Each thread looks at all entries and takes those of its rows, which it then writes alone.
        let few = self.entries.len() < FEWEST_OF_BANDS;
        let bands = if few { 1 } else { rayon::current_num_threads().clamp(1, MOST_BANDS) };
        let height = self.rows.div_ceil(bands).max(1);
        let rows_of = |band: usize| band * height..self.rows.min((band + 1) * height);
        let sorted = (0..self.rows.div_ceil(height)).into_par_iter().map(|band| {
            let rows = rows_of(band);
            rows_sorted(&rows, || all().filter(|entry| rows.contains(&(entry.row as usize))))
        });
        let pieces = sorted.collect::<Result<Vec<Rows<T>>, NoRoom>>()?;
        let entries: usize = pieces.iter().map(|(_, columns, _)| columns.len()).sum();
        lattice_compute::expect_room((entries * (size_of::<u32>() + size_of::<T>()) + 8 * self.rows) as u64)?;
        Ok(Csr::joined(self.columns, pieces))
    }
}

/// Sorts the entries of some rows, and adds those of one place in their order.
fn rows_sorted<T: Arithmetic, I: Iterator<Item = Entry<T>>>(
    rows: &Range<usize>,
    entries: impl Fn() -> I,
) -> Result<Rows<T>, NoRoom> {
    // Sorts by rows first, by counting. The order of a row's entries stays.
    let mut starts = Vec::new();
    lattice_compute::reserve(&mut starts, rows.len() + 1)?;
    starts.resize(rows.len() + 1, 0_usize);
    entries().for_each(|entry| starts[entry.row as usize - rows.start + 1] += 1);
    for row in 0..rows.len() {
        starts[row + 1] += starts[row];
    }
    let count = starts[rows.len()];
    let mut sorted: Vec<(u32, T)> = Vec::new();
    lattice_compute::reserve(&mut sorted, count)?;
    sorted.resize(count, (0, T::default()));
    let mut next = starts.clone();
    for entry in entries() {
        let place = &mut next[entry.row as usize - rows.start];
        sorted[*place] = (entry.column, entry.value);
        *place += 1;
    }
    let (mut lengths, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    lattice_compute::reserve(&mut lengths, rows.len())?;
    lattice_compute::reserve(&mut columns, count)?;
    lattice_compute::reserve(&mut values, count)?;
    for row in 0..rows.len() {
        let entries = &mut sorted[starts[row]..starts[row + 1]];
        if !entries.is_sorted_by_key(|(column, _)| *column) {
            // A stable sort, so that the order of additions is that of the list.
            entries.sort_by_key(|(column, _)| *column);
        }
        let begin = values.len();
        for &(column, value) in entries.iter() {
            match columns[begin..].last() {
                Some(&last) if last == column => {
                    let sum: &mut T = values.last_mut().expect("there is a value for each column");
                    *sum = *sum + value;
                }
                _ => {
                    columns.push(column);
                    values.push(value);
                }
            }
        }
        lengths.push((values.len() - begin) as u64);
    }
    Ok((lengths, columns, values))
}
