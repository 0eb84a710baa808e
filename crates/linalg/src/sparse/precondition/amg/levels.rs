//! The levels of a matrix, on the host.

use super::aggregates::Graph;
use super::options::AmgOptions;
use super::spectrum::radius;
use super::tentative::prolongator;
use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::{real, reciprocal, size};
use crate::sparse::csr::Csr;
use crate::sparse::precondition::{PreconditionError, expect_square};

/// Strength of connections on the finest level.
const STRENGTH: f64 = 0.08;

/// Most levels. Each has at most three quarters of the rows of the one before.
const MOST_LEVELS: usize = 40;

/// Most near-null vectors.
const MOST_MODES: usize = 32;

/// Most rows of a level that is solved directly because it cannot be made smaller.
const MOST_DIRECT_ROWS: usize = 4000;

/// A level: the matrix, its diagonal, a smoother's bound, and the prolongator.
pub(super) struct HostLevel<T> {
    pub matrix: Csr<T>,
    pub diagonal: Vec<T>,
    /// A bound of the eigenvalues of D⁻¹A.
    pub radius: f64,
    /// The prolongator from the next level; `None` on the coarsest.
    pub transfer: Option<Csr<T>>,
}

/// Makes all levels.
pub(super) fn hierarchy<T: Arithmetic>(
    matrix: &Csr<T>,
    options: &AmgOptions<T>,
) -> Result<Vec<HostLevel<T>>, PreconditionError> {
    expect_square(matrix)?;
    let (rows, mut block) = (matrix.rows(), options.block.max(1));
    if !rows.is_multiple_of(block) {
        return Err(PreconditionError::Block { block, rows });
    }
    let mut near_null = match &options.near_null_space {
        Some(vectors) => vectors.clone(),
        None => {
            (0..rows * block).map(|k| real(f64::from(u8::from(k / block % block == k % block)))).collect()
        }
    };
    let mut modes = near_null.len().checked_div(rows).unwrap_or(1);
    if modes * rows != near_null.len() || modes > MOST_MODES || (modes == 0 && rows > 0) {
        return Err(PreconditionError::NearNullSpace { wanted: rows, found: near_null.len() });
    }
    let default = if block > 1 { 0.0 } else { STRENGTH };
    let mut strength = options.strength.unwrap_or(default);
    let mut matrix = matrix.clone();
    let mut levels = Vec::new();
    loop {
        let diagonal = matrix.diagonal();
        if let Some(row) = diagonal.iter().position(|value| size(*value) == 0.0) {
            return Err(PreconditionError::ZeroDiagonal { row: row + 1 });
        }
        let (estimate, bound) = radius(&matrix, &diagonal);
        if matrix.rows() <= options.coarse_rows || levels.len() + 1 >= MOST_LEVELS {
            levels.push(HostLevel { matrix, diagonal, radius: bound, transfer: None });
            return Ok(levels);
        }
        let mut aggregates = Graph::new(&matrix, block, strength).aggregates();
        let stalls = |count: usize| 4 * count * modes > 3 * matrix.rows();
        if stalls(aggregates.count) {
            // Weak connections are better than none.
            aggregates = Graph::new(&matrix, block, 0.0).aggregates();
        }
        if aggregates.count == 0 || stalls(aggregates.count) {
            if matrix.rows() > MOST_DIRECT_ROWS {
                // The points that are left have no connections: the smoother alone solves for them.
                let transfer = Some(Csr::from_rows(1, (0..matrix.rows()).map(|_| [])));
                let one = Csr::from_rows(1, [[(0, real(1.0))]]);
                levels.push(HostLevel { matrix, diagonal, radius: bound, transfer });
                levels.push(HostLevel {
                    matrix: one,
                    diagonal: vec![real(1.0)],
                    radius: 1.0,
                    transfer: None,
                });
            } else {
                levels.push(HostLevel { matrix, diagonal, radius: bound, transfer: None });
            }
            return Ok(levels);
        }
        let (tentative, coarse) = prolongator(&near_null, modes, block, &aggregates);
        let prolong = smoothed(&matrix, &diagonal, &tentative, 4.0 / 3.0 / estimate);
        let next = with_diagonal(&prolong.adjoint().times(&matrix.times(&prolong)));
        levels.push(HostLevel { matrix, diagonal, radius: bound, transfer: Some(prolong) });
        (matrix, near_null, block) = (next, coarse, modes);
        modes = block;
        strength *= 0.5;
    }
}

/// Returns T − ω D⁻¹ A T.
fn smoothed<T: Arithmetic>(matrix: &Csr<T>, diagonal: &[T], tentative: &Csr<T>, omega: f64) -> Csr<T> {
    let product = matrix.times(tentative);
    let row = |row: usize| {
        let factor = real::<T>(omega) * reciprocal(diagonal[row]);
        // Every entry of T has its place in A T, because no diagonal entry of A is zero.
        product
            .row(row)
            .map(move |(column, value)| (column as u32, tentative.at(row, column) - factor * value))
    };
    Csr::from_rows(tentative.columns(), (0..matrix.rows()).map(row))
}

/// Puts a one on the diagonal of empty rows.
///
/// Empty rows belong to near-null vectors that depend on others.
fn with_diagonal<T: Arithmetic>(matrix: &Csr<T>) -> Csr<T> {
    let row = |row: usize| -> Vec<(u32, T)> {
        if size(matrix.at(row, row)) == 0.0 && matrix.row(row).all(|(_, value)| size(value) == 0.0) {
            return vec![(row as u32, real(1.0))];
        }
        matrix.row(row).map(|(column, value)| (column as u32, value)).collect()
    };
    Csr::from_rows(matrix.columns(), (0..matrix.rows()).map(row))
}
