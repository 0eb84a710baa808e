//! Matrices by rows, in the host's memory.

use super::arithmetic::{conjugate, size};
use crate::host::level1::Arithmetic;
use crate::host::sparse;
use lattice_compute::parallel::*;
use lattice_compute::scalar::Element;
use lattice_solvers::range::larger;
use std::ops::Range;

/// A sparse matrix by rows: compressed sparse rows.
///
/// The entries of a row have ascending columns, each once. An entry may be zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<T> {
    pub(super) columns: usize,
    /// The first entry of each row, and behind them the number of all entries.
    pub(super) starts: Vec<u64>,
    pub(super) columns_of: Vec<u32>,
    pub(super) values: Vec<T>,
}

/// Some rows, one after the other: their lengths, columns and values.
pub(super) type Rows<T> = (Vec<u64>, Vec<u32>, Vec<T>);

impl<T: Arithmetic> Csr<T> {
    /// Makes a matrix without entries.
    pub fn empty(rows: usize, columns: usize) -> Self {
        Self { columns, starts: vec![0; rows + 1], columns_of: Vec::new(), values: Vec::new() }
    }

    /// Makes a matrix of rows, each a list of columns and values.
    ///
    /// # Panics
    /// If the columns of a row do not ascend, or one is outside of the matrix.
    pub fn from_rows<R>(columns: usize, rows: impl IntoIterator<Item = R>) -> Self
    where
        R: IntoIterator<Item = (u32, T)>,
    {
        let mut matrix = Self::empty(0, columns);
        for row in rows {
            let begin = matrix.values.len();
            for (column, value) in row {
                assert!((column as usize) < columns, "column {column} of {columns}");
                let ascends = matrix.columns_of[begin..].last().is_none_or(|&last| last < column);
                assert!(ascends, "columns of a row ascend");
                matrix.columns_of.push(column);
                matrix.values.push(value);
            }
            matrix.starts.push(matrix.values.len() as u64);
        }
        matrix
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of entries.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Returns the first entry of each row, and the number of all entries.
    pub fn starts(&self) -> &[u64] {
        &self.starts
    }

    /// Returns the column of each entry.
    pub fn columns_of(&self) -> &[u32] {
        &self.columns_of
    }

    /// Returns the value of each entry.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    pub(super) fn range(&self, row: usize) -> Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    /// Returns the entries of a row: columns and values.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, T)> {
        let range = self.range(row);
        let columns = self.columns_of[range.clone()].iter().map(|&column| column as usize);
        columns.zip(self.values[range].iter().copied())
    }

    /// Returns the number of entries of a row.
    pub fn row_length(&self, row: usize) -> usize {
        self.range(row).len()
    }

    /// Returns the value at a place, zero without an entry.
    pub fn at(&self, row: usize, column: usize) -> T {
        let range = self.range(row);
        let found = self.columns_of[range.clone()].binary_search(&(column as u32));
        found.map_or_else(|_| T::default(), |k| self.values[range.start + k])
    }

    /// Returns the diagonal, zero where there is no entry.
    pub fn diagonal(&self) -> Vec<T> {
        (0..self.rows().min(self.columns)).into_par_iter().map(|row| self.at(row, row)).collect()
    }

    /// Computes y = A x on the host.
    ///
    /// # Panics
    /// If the lengths of x and y are not those of columns and rows.
    pub fn multiply(&self, x: &[T], y: &mut [T]) {
        sparse::csr(&self.starts, &self.columns_of, &self.values, 1, self.columns, x, y);
    }

    /// Returns the transpose.
    pub fn transposed(&self) -> Self {
        self.turned(|value| value)
    }

    /// Returns the conjugate transpose.
    pub fn adjoint(&self) -> Self {
        self.turned(conjugate)
    }

    /// Returns the transpose, with a function of each value.
    fn turned(&self, map: impl Fn(T) -> T) -> Self {
        let mut turned = Self::empty(self.columns, self.rows());
        for &column in &self.columns_of {
            turned.starts[column as usize + 1] += 1;
        }
        for column in 0..self.columns {
            turned.starts[column + 1] += turned.starts[column];
        }
        turned.columns_of = vec![0; self.entries()];
        turned.values = vec![T::default(); self.entries()];
        let mut next = turned.starts.clone();
        for row in 0..self.rows() {
            for (column, value) in self.row(row) {
                let place = &mut next[column];
                turned.columns_of[*place as usize] = row as u32;
                turned.values[*place as usize] = map(value);
                *place += 1;
            }
        }
        turned
    }

    /// Returns the matrix with other values.
    ///
    /// `map` computes each value from its row, its column and the old value.
    pub fn map<U: Element>(&self, map: impl Fn(usize, usize, T) -> U + Sync) -> Csr<U> {
        let rows = (0..self.rows()).into_par_iter();
        let map = &map;
        let values = rows.flat_map_iter(|row| self.row(row).map(move |(j, value)| map(row, j, value)));
        Csr {
            columns: self.columns,
            starts: self.starts.clone(),
            columns_of: self.columns_of.clone(),
            values: values.collect(),
        }
    }

    /// Returns the matrix in other numbers, each the nearest.
    pub fn cast<U: Element>(&self) -> Csr<U> {
        self.map(|_, _, value| U::from_complex(value.to_complex()))
    }

    /// Returns the product A B.
    ///
    /// # Panics
    /// If B has not as many rows as this matrix has columns.
    pub fn times(&self, other: &Self) -> Self {
        assert_eq!(self.columns, other.rows(), "rows of the second factor");
        const PIECE: usize = 4096;
        // Sums of a row, the last row that had an entry in a column, and the columns of a row.
        let memory = || (vec![T::default(); other.columns], vec![u32::MAX; other.columns], Vec::<u32>::new());
        let pieces: Vec<Rows<T>> = (0..self.rows().div_ceil(PIECE)).into_par_iter().collect_with(
            memory,
            |(sums, seen, found), piece| {
                let (mut lengths, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
                for row in piece * PIECE..self.rows().min((piece + 1) * PIECE) {
                    found.clear();
                    for (k, a) in self.row(row) {
                        for (j, b) in other.row(k) {
                            if seen[j] != row as u32 {
                                seen[j] = row as u32;
                                sums[j] = T::default();
                                found.push(j as u32);
                            }
                            sums[j] = sums[j] + a * b;
                        }
                    }
                    found.sort_unstable();
                    lengths.push(found.len() as u64);
                    values.extend(found.iter().map(|&j| sums[j as usize]));
                    columns.extend_from_slice(found);
                }
                (lengths, columns, values)
            },
        );
        Self::joined(other.columns, pieces)
    }

    /// Joins pieces of rows.
    pub(super) fn joined(columns: usize, mut pieces: Vec<Rows<T>>) -> Self {
        let mut matrix = Self::empty(0, columns);
        matrix.starts.reserve_exact(pieces.iter().map(|(lengths, ..)| lengths.len()).sum());
        for length in pieces.iter().flat_map(|(lengths, ..)| lengths) {
            matrix.starts.push(matrix.starts[matrix.starts.len() - 1] + length);
        }
        if let [(_, columns_of, values)] = &mut pieces[..] {
            (matrix.columns_of, matrix.values) = (std::mem::take(columns_of), std::mem::take(values));
            return matrix;
        }
        let columns_of: Vec<&[u32]> = pieces.iter().map(|(_, columns, _)| &columns[..]).collect();
        let values: Vec<&[T]> = pieces.iter().map(|(.., values)| &values[..]).collect();
        (matrix.columns_of, matrix.values) = rayon::join(|| columns_of.concat(), || values.concat());
        matrix
    }

    /// Returns the largest |a_ij − conj(a_ji)| with its place.
    ///
    /// `None` if the matrix is not square. The matrix is Hermitian, or symmetric if it is real, if
    /// the difference is zero.
    pub fn asymmetry(&self) -> Option<Asymmetry> {
        let none = Asymmetry { difference: 0.0, row: 0, column: 0 };
        (self.rows() == self.columns).then(|| {
            let adjoint = self.adjoint();
            let of_row = |row: usize| {
                let mut worst = none;
                // Entries that only one of the two has count as well.
                for (own, other) in [(self, &adjoint), (&adjoint, self)] {
                    for (column, value) in own.row(row) {
                        let difference = size(value - other.at(row, column));
                        // A NaN is worse than all others.
                        if difference > worst.difference || difference.is_nan() {
                            worst = Asymmetry { difference, row, column };
                        }
                    }
                }
                worst
            };
            let worse = |a: Asymmetry, b: Asymmetry| {
                if b.difference > a.difference || b.difference.is_nan() { b } else { a }
            };
            let rows: Vec<_> = (0..self.rows()).into_par_iter().map(of_row).collect();
            rows.into_iter().fold(none, worse)
        })
    }

    /// Tells whether the matrix is its own conjugate transpose, to the last bit.
    pub fn is_hermitian(&self) -> bool {
        self.rows() == self.columns && self.adjoint() == *self
    }

    /// Returns a number that tells the places of entries from others: extents, starts and columns.
    pub fn pattern_hash(&self) -> u64 {
        const PIECE: usize = 1 << 16;
        // Odd constants of the golden ratio and of π. Pieces are mixed in their order.
        let mixed = |hash: u64, word: u64| {
            (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ 0x243f_6a88_85a3_08d3
        };
        let starts = self.starts.par_chunks(PIECE).map(|piece| piece.iter().copied().fold(1, mixed));
        let columns = self.columns_of.par_chunks(PIECE);
        let columns =
            columns.map(|piece| piece.iter().fold(2, |hash, column| mixed(hash, u64::from(*column))));
        let mut pieces: Vec<u64> = starts.collect();
        pieces.extend(columns.collect::<Vec<_>>());
        pieces.into_iter().fold(mixed(3, self.columns as u64), mixed)
    }

    /// Returns the largest row sum of sizes: the norm ‖A‖ for the largest component.
    pub fn norm_infinity(&self) -> f64 {
        let of_row = |row| self.row(row).map(|(_, value)| size(value)).sum::<f64>();
        (0..self.rows()).into_par_iter().map(of_row).reduce(|| 0.0, larger)
    }
}

/// The place where a matrix differs most from its conjugate transpose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asymmetry {
    /// The size of the difference.
    pub difference: f64,
    /// The row, from 0.
    pub row: usize,
    /// The column, from 0.
    pub column: usize,
}
