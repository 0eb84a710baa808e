//! Rows with so many entries that coarser levels leave their points out.
//!
//! A dense row connects all aggregates with each other: the next level would be a dense matrix. The
//! smoother and the Krylov method solve for the few unknowns with such rows.

use crate::host::level1::Arithmetic;
use crate::sparse::csr::Csr;
use lattice_compute::parallel::*;

/// Fewest entries of a dense row.
const FEWEST: usize = 64;

/// Entries of a dense row, in those of a usual one.
const TIMES_USUAL: usize = 10;

/// The points of a matrix that have a dense row.
pub(super) struct DensePoints {
    block: usize,
    /// `None` if there are none.
    of_point: Option<Vec<bool>>,
}

impl DensePoints {
    /// Finds the points of `block` unknowns with a dense row.
    ///
    /// A row is dense if connections among all of its columns are more than the matrix has entries,
    /// and if it is far longer than the mean row.
    pub fn new<T: Arithmetic>(matrix: &Csr<T>, block: usize) -> Self {
        let (rows, entries) = (matrix.rows(), matrix.entries());
        let usual = entries / rows.max(1);
        let least = FEWEST.max(TIMES_USUAL * usual);
        let is_dense = |row: usize| {
            let length = matrix.row_length(row);
            length > least && length.saturating_mul(length) > entries
        };
        let any = (0..rows).into_par_iter().any(is_dense);
        let of_point = any.then(|| {
            let points = (0..rows / block).into_par_iter();
            points.map(|point| (point * block..(point + 1) * block).any(is_dense)).collect()
        });
        Self { block, of_point }
    }

    /// Returns `true` if no point has a dense row.
    pub fn is_empty(&self) -> bool {
        self.of_point.is_none()
    }

    /// Tells whether a point has a dense row.
    pub fn has(&self, point: usize) -> bool {
        self.of_point.as_ref().is_some_and(|dense| dense[point])
    }

    /// Returns the matrix with only the diagonal entries of the rows of these points.
    pub fn thinned<T: Arithmetic>(&self, matrix: &Csr<T>) -> Csr<T> {
        let row = |row: usize| {
            let dense = self.has(row / self.block);
            let entries = matrix.row(row).filter(move |(column, _)| !dense || *column == row);
            entries.map(|(column, value)| (column as u32, value))
        };
        Csr::from_rows(matrix.columns(), (0..matrix.rows()).map(row))
    }
}
