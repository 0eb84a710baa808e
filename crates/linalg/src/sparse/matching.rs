//! Permutations of rows that bring large entries to the diagonal.
//!
//! The product of the sizes on the diagonal is the largest that a permutation gives. With costs
//! cᵢⱼ = log maxₖ |aₖⱼ| − log |aᵢⱼ| it is the assignment of the least cost. Shortest augmenting paths
//! find it, and with it numbers uᵢ + vⱼ ≤ cᵢⱼ, equal on the diagonal. The scalings exp(uᵢ) and
//! exp(vⱼ) / maxₖ |aₖⱼ| make every entry at most 1 in size, and 1 on the diagonal.
//! Source: I. S. Duff and J. Koster, SIAM J. Matrix Anal. Appl. 22 (2001) 973.

use super::arithmetic::{real, size};
use super::csr::Csr;
use crate::host::level1::Arithmetic;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A permutation of the rows of a matrix, with scalings of rows and columns.
///
/// The scaled and permuted matrix has entries of at most 2, and of at least 1/2 on the diagonal.
/// Scalings are powers of two, so they round no number.
#[derive(Clone, Debug, PartialEq)]
pub struct Matching {
    /// The row that comes to the place of each column.
    pub rows: Vec<u32>,
    /// The factor of each row, in the order before the permutation.
    pub row_scales: Vec<f64>,
    /// The factor of each column.
    pub column_scales: Vec<f64>,
}

/// The reason why no permutation makes all diagonal entries nonzero.
///
/// The matrix is singular, whatever the values of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the matrix is structurally singular: its nonzero entries pair at most {rank} rows and columns of {rows}, and column {column} stays alone"
)]
pub struct Unmatched {
    /// The largest number of pairs: the structural rank.
    pub rank: usize,
    /// Rows of the matrix.
    pub rows: usize,
    /// A column that stays alone, counted from 1.
    pub column: usize,
}

const NONE: u32 = u32::MAX;

/// A row at a distance. The order is that of distances, then of rows.
#[derive(Clone, Copy, PartialEq)]
struct At(f64, u32);

impl Eq for At {}

impl PartialOrd for At {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for At {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// Columns with the costs of their rows, and the pairs that are known.
struct Search {
    starts: Vec<usize>,
    rows_of: Vec<u32>,
    costs: Vec<f64>,
    /// The numbers u and v.
    of_rows: Vec<f64>,
    of_columns: Vec<f64>,
    column_of: Vec<u32>,
    row_of: Vec<u32>,
}

/// What a search for a path knows of each row.
struct Paths {
    distances: Vec<f64>,
    /// The column from which a row was reached.
    from: Vec<u32>,
    is_settled: Vec<bool>,
    reached: Vec<u32>,
    settled: Vec<u32>,
    heap: BinaryHeap<Reverse<At>>,
}

impl Matching {
    /// Finds the permutation of a square matrix.
    ///
    /// # Errors
    /// [`Unmatched`] if the matrix is structurally singular.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn new<T: Arithmetic>(matrix: &Csr<T>) -> Result<Self, Unmatched> {
        let n = matrix.rows();
        assert_eq!(n, matrix.columns(), "the matrix is square");
        let columns = matrix.transposed();
        let largest: Vec<f64> =
            (0..n).map(|j| columns.row(j).map(|(_, value)| size(value)).fold(0.0, f64::max)).collect();
        let mut search = Search::new(&columns, &largest);
        search.pair_cheaply();
        let mut paths = Paths {
            distances: vec![f64::INFINITY; n],
            from: vec![NONE; n],
            is_settled: vec![false; n],
            reached: Vec::new(),
            settled: Vec::new(),
            heap: BinaryHeap::new(),
        };
        let mut alone = None;
        let mut rank = n;
        for column in 0..n as u32 {
            if search.row_of[column as usize] == NONE && !search.pair(column, &mut paths) {
                alone.get_or_insert(column as usize + 1);
                rank -= 1;
            }
        }
        if let Some(column) = alone {
            return Err(Unmatched { rank, rows: n, column });
        }
        // Elements in single precision bear smaller powers.
        let most = if size_of::<T::Real>() < size_of::<f64>() { 100.0 } else { 900.0 };
        let power = |logarithm: f64| logarithm.clamp(-most, most).round().exp2();
        let row_scales = search.of_rows.iter().map(|u| power(u * std::f64::consts::LOG2_E)).collect();
        let of_column = |(v, largest): (&f64, &f64)| power(v * std::f64::consts::LOG2_E - largest.log2());
        let column_scales = search.of_columns.iter().zip(&largest).map(of_column).collect();
        Ok(Self { rows: search.row_of, row_scales, column_scales })
    }

    /// Returns the scaled and permuted matrix.
    pub fn applied<T: Arithmetic>(&self, matrix: &Csr<T>) -> Csr<T> {
        let row = |row: &u32| {
            let row = *row as usize;
            let scale = self.row_scales[row];
            matrix.row(row).map(move |(column, value)| {
                (column as u32, real::<T>(scale) * value * real(self.column_scales[column]))
            })
        };
        Csr::from_rows(matrix.columns(), self.rows.iter().map(row))
    }
}

impl Search {
    fn new<T: Arithmetic>(columns: &Csr<T>, largest: &[f64]) -> Self {
        let n = columns.rows();
        let (mut starts, mut rows_of, mut costs) = (vec![0], Vec::new(), Vec::new());
        let mut of_rows = vec![f64::INFINITY; n];
        for (column, largest) in largest.iter().enumerate() {
            for (row, value) in columns.row(column).filter(|(_, value)| size(*value) != 0.0) {
                let cost = largest.ln() - size(value).ln();
                rows_of.push(row as u32);
                costs.push(cost);
                of_rows[row] = of_rows[row].min(cost);
            }
            starts.push(rows_of.len());
        }
        let mut search = Self {
            starts,
            rows_of,
            costs,
            of_rows,
            of_columns: Vec::new(),
            column_of: vec![NONE; n],
            row_of: vec![NONE; n],
        };
        let least = |column: usize| {
            search.column(column).map(|(row, cost)| cost - search.of_rows[row]).fold(f64::INFINITY, f64::min)
        };
        search.of_columns = (0..n).map(least).collect();
        search
    }

    fn column(&self, column: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[column]..self.starts[column + 1];
        range.map(|k| (self.rows_of[k] as usize, self.costs[k]))
    }

    /// Pairs each column with a row that costs no more than the bound and is free.
    fn pair_cheaply(&mut self) {
        for column in 0..self.row_of.len() {
            let bound = self.of_columns[column];
            let fits = |(row, cost): &(usize, f64)| {
                self.column_of[*row] == NONE && cost - self.of_rows[*row] <= bound
            };
            let found = self.column(column).find(fits);
            if let Some((row, _)) = found {
                (self.column_of[row], self.row_of[column]) = (column as u32, row as u32);
            }
        }
    }

    /// Pairs one more column along the shortest path to a free row.
    ///
    /// Returns `false` if there is no path.
    fn pair(&mut self, first: u32, paths: &mut Paths) -> bool {
        let (mut column, mut passed) = (first as usize, 0.0);
        let end = loop {
            for (row, cost) in self.column(column) {
                let reduced = (cost - self.of_rows[row] - self.of_columns[column]).max(0.0);
                let distance = passed + reduced;
                if !paths.is_settled[row] && distance < paths.distances[row] {
                    if paths.distances[row] == f64::INFINITY {
                        paths.reached.push(row as u32);
                    }
                    (paths.distances[row], paths.from[row]) = (distance, column as u32);
                    paths.heap.push(Reverse(At(distance, row as u32)));
                }
            }
            let Some(Reverse(At(distance, row))) = paths.next() else { break None };
            if self.column_of[row as usize] == NONE {
                break Some((row, distance));
            }
            paths.is_settled[row as usize] = true;
            paths.settled.push(row);
            (column, passed) = (self.column_of[row as usize] as usize, distance);
        };
        if let Some((end, length)) = end {
            self.of_columns[first as usize] += length;
            for &row in &paths.settled {
                let rest = length - paths.distances[row as usize];
                self.of_rows[row as usize] -= rest;
                self.of_columns[self.column_of[row as usize] as usize] += rest;
            }
            let mut row = end;
            loop {
                let column = paths.from[row as usize];
                self.column_of[row as usize] = column;
                // The row that the column had goes to the one before.
                row = std::mem::replace(&mut self.row_of[column as usize], row);
                if column == first {
                    break;
                }
            }
        }
        paths.clear();
        end.is_some()
    }
}

impl Paths {
    /// Takes the nearest row that is not settled.
    fn next(&mut self) -> Option<Reverse<At>> {
        while let Some(next) = self.heap.pop() {
            if !self.is_settled[next.0.1 as usize] {
                return Some(next);
            }
        }
        None
    }

    fn clear(&mut self) {
        for &row in &self.reached {
            (self.distances[row as usize], self.is_settled[row as usize]) = (f64::INFINITY, false);
        }
        self.reached.clear();
        self.settled.clear();
        self.heap.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex64;

    /// The largest product of sizes on the diagonal, of all permutations of the rows.
    fn best(matrix: &Csr<f64>) -> f64 {
        fn beyond(matrix: &Csr<f64>, column: usize, used: &mut [bool]) -> f64 {
            if column == matrix.columns() {
                return 1.0;
            }
            let mut best = 0.0_f64;
            for row in 0..matrix.rows() {
                let value = matrix.at(row, column).abs();
                if value > 0.0 && !used[row] {
                    used[row] = true;
                    best = best.max(value * beyond(matrix, column + 1, used));
                    used[row] = false;
                }
            }
            best
        }
        beyond(matrix, 0, &mut vec![false; matrix.rows()])
    }

    /// A matrix of entries that look random, about `share` of all places.
    fn random(n: usize, seed: u64, share: f64) -> Csr<f64> {
        let number = |i: usize, j: usize, k: u64| {
            let x = (i as f64 * 12.9898 + j as f64 * 78.233 + (seed + k) as f64 * 37.719).sin() * 43758.5453;
            x - x.floor()
        };
        Csr::from_rows(
            n,
            (0..n).map(|i| {
                let entry = |j: usize| (j as u32, (20.0 * number(i, j, 1) - 10.0).exp());
                (0..n).filter(|j| number(i, *j, 0) < share).map(entry).collect::<Vec<_>>()
            }),
        )
    }

    #[test]
    fn the_product_is_the_largest() {
        let mut singular = 0;
        for (n, share) in [(1, 1.0), (3, 0.7), (6, 0.4), (7, 0.5)] {
            for seed in 0..40 {
                let matrix = random(n, seed, share);
                let best = best(&matrix);
                match Matching::new(&matrix) {
                    Ok(matching) => {
                        let found: f64 = matching
                            .rows
                            .iter()
                            .enumerate()
                            .map(|(j, i)| matrix.at(*i as usize, j))
                            .product();
                        assert!((found / best - 1.0).abs() < 1e-9, "{n} {seed}: {found} {best}");
                        let scaled = matching.applied(&matrix);
                        for (row, column, value) in
                            (0..n).flat_map(|i| scaled.row(i).map(move |(j, value)| (i, j, value)))
                        {
                            assert!(value <= 2.0 + 1e-9, "{n} {seed}: {value}");
                            assert!(row != column || value >= 0.5 - 1e-9, "{n} {seed}: {value}");
                        }
                    }
                    Err(Unmatched { rank, rows, .. }) => {
                        assert!(best == 0.0 && rank < n && rows == n, "{n} {seed}");
                        singular += 1;
                    }
                }
            }
        }
        assert!(singular > 5, "{singular}");
    }

    #[test]
    fn a_matrix_that_no_permutation_mends_has_a_rank() {
        // Columns 2 and 3 have entries in row 1 alone.
        let rows = [vec![(0, 1.0), (1, 2.0), (2, 3.0)], vec![(0, 4.0)], vec![(0, 5.0), (2, 0.0)]];
        let error = Matching::new(&Csr::from_rows(3, rows)).unwrap_err();
        assert_eq!((error.rank, error.rows), (2, 3));
        assert!(error.to_string().contains("at most 2 rows and columns of 3"), "{error}");
        assert_eq!(Matching::new(&Csr::<f64>::empty(0, 0)).unwrap().rows, Vec::<u32>::new());
    }

    #[test]
    fn complex_entries_count_by_their_size() {
        let i = Complex64::i();
        let one = Complex64::from(1.0);
        let matrix = Csr::from_rows(2, [vec![(0, one), (1, 4.0 * i)], vec![(0, 2.0 * i), (1, one)]]);
        let matching = Matching::new(&matrix).unwrap();
        assert_eq!(matching.rows, [1, 0]);
        let permuted = matching.applied(&matrix);
        assert!(permuted.at(0, 0).im > 0.0 && permuted.at(1, 1).im > 0.0, "{permuted:?}");
    }
}
