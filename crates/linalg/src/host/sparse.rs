//! Products with sparse matrices: the twins of `cl/sparse.cl` and `cl/sparse_team.cl`.
//!
//! All compute Y = A X for `vectors` vectors at once. X and Y have a row for each component, row
//! after row. Sums are in the precision of the elements, entry after entry.
//!
//! # Panics
//! All functions panic if the lengths of X and Y do not fit the matrix, or if a column does not.

use super::level1::Arithmetic;
use lattice_compute::parallel::*;

/// Rows that one task works on.
const PIECE: usize = 1024;

/// Checks the lengths of X and Y.
fn check<T>([rows, columns, vectors]: [usize; 3], x: &[T], y: &[T]) {
    assert_eq!(x.len(), columns * vectors, "elements of X");
    assert_eq!(y.len(), rows * vectors, "elements of Y");
}

/// Multiplies by compressed sparse rows.
///
/// `starts` has the first entry of each row and the number of all entries.
pub fn csr<T: Arithmetic>(
    starts: &[u64],
    columns_of: &[u32],
    values: &[T],
    vectors: usize,
    columns: usize,
    x: &[T],
    y: &mut [T],
) {
    let rows = starts.len() - 1;
    check([rows, columns, vectors], x, y);
    if vectors == 0 {
        return;
    }
    y.par_chunks_mut(PIECE * vectors).enumerate().for_each(|(piece, y)| {
        for (k, y) in y.chunks_mut(vectors).enumerate() {
            let row = piece * PIECE + k;
            let range = starts[row] as usize..starts[row + 1] as usize;
            for (v, y) in y.iter_mut().enumerate() {
                let entries = columns_of[range.clone()].iter().zip(&values[range.clone()]);
                *y = entries.fold(T::default(), |sum, (&column, &value)| {
                    sum + value * x[column as usize * vectors + v]
                });
            }
        }
    });
}

/// Multiplies by slices of `height` rows whose entries lie side by side (SELL-C-σ).
///
/// Slot `height` s + l is row l of slice s. `rows_of` has the row of each slot, or a number too
/// large for one, and `lengths` its entries. Entry k of slot l of a slice is number
/// `starts[s] + height k + l`.
#[allow(clippy::too_many_arguments)]
pub fn sell<T: Arithmetic>(
    height: usize,
    starts: &[u64],
    lengths: &[u32],
    rows_of: &[u32],
    columns_of: &[u32],
    values: &[T],
    [rows, columns, vectors]: [usize; 3],
    x: &[T],
    y: &mut [T],
) {
    check([rows, columns, vectors], x, y);
    for (slot, (&row, &length)) in rows_of.iter().zip(lengths).enumerate() {
        let first = starts[slot / height] as usize + slot % height;
        for v in 0..if (row as usize) < rows { vectors } else { 0 } {
            let entries = (0..length as usize).map(|k| first + height * k);
            y[row as usize * vectors + v] = entries.fold(T::default(), |sum, entry| {
                sum + values[entry] * x[columns_of[entry] as usize * vectors + v]
            });
        }
    }
}

/// Multiplies by square blocks of `size` rows, in slices of `height` rows of blocks.
///
/// Rows of blocks lie in slots like the rows of [`sell`]. Column k of slot l of a slice has number
/// `starts[s] + height k + l`. Element (i, j) of its block has number
/// `size² (starts[s] + height k) + height (size j + i) + l`.
#[allow(clippy::too_many_arguments)]
pub fn blocks<T: Arithmetic>(
    [size, height]: [usize; 2],
    starts: &[u64],
    lengths: &[u32],
    rows_of: &[u32],
    columns_of: &[u32],
    values: &[T],
    [rows, columns, vectors]: [usize; 3],
    x: &[T],
    y: &mut [T],
) {
    check([rows, columns, vectors], x, y);
    for (slot, (&block_row, &length)) in rows_of.iter().zip(lengths).enumerate() {
        if block_row as usize >= rows / size {
            continue;
        }
        let l = slot % height;
        for (i, v) in (0..size).flat_map(|i| (0..vectors).map(move |v| (i, v))) {
            let mut sum = T::default();
            for first in (0..length as usize).map(|k| starts[slot / height] as usize + height * k) {
                for j in 0..size {
                    let value = values[size * size * first + height * (size * j + i) + l];
                    let column = columns_of[first + l] as usize * size + j;
                    sum = sum + value * x[column * vectors + v];
                }
            }
            y[(block_row as usize * size + i) * vectors + v] = sum;
        }
    }
}

/// Multiplies by diagonals.
///
/// Element `rows d + i` of `values` belongs to row i and column i + `offsets[d]`. It is not read if
/// there is no such column.
pub fn diagonals<T: Arithmetic>(
    offsets: &[i64],
    values: &[T],
    [rows, columns, vectors]: [usize; 3],
    x: &[T],
    y: &mut [T],
) {
    check([rows, columns, vectors], x, y);
    if vectors == 0 {
        return;
    }
    y.par_chunks_mut(PIECE * vectors).enumerate().for_each(|(piece, y)| {
        for (k, y) in y.chunks_mut(vectors).enumerate() {
            let row = piece * PIECE + k;
            for (v, y) in y.iter_mut().enumerate() {
                let mut sum = T::default();
                for (d, offset) in offsets.iter().enumerate() {
                    let column = row as i64 + offset;
                    if (0..columns as i64).contains(&column) {
                        sum = sum + values[rows * d + row] * x[column as usize * vectors + v];
                    }
                }
                *y = sum;
            }
        }
    });
}

/// Multiplies by a list of entries, sorted by rows.
pub fn coo<T: Arithmetic>(
    rows_of: &[u32],
    columns_of: &[u32],
    values: &[T],
    [rows, columns, vectors]: [usize; 3],
    x: &[T],
    y: &mut [T],
) {
    check([rows, columns, vectors], x, y);
    y.fill(T::default());
    for ((&row, &column), &value) in rows_of.iter().zip(columns_of).zip(values) {
        for v in 0..vectors {
            let y = &mut y[row as usize * vectors + v];
            *y = *y + value * x[column as usize * vectors + v];
        }
    }
}

/// Multiplies by rows that are full between their first and last entry. Other rows of Y stay.
///
/// Row `rows[i]` has the values from `starts[i]` to `starts[i + 1]`, in the columns from
/// `first_columns[i]` on.
pub fn full_rows<T: Arithmetic>(
    rows: &[u32],
    starts: &[u64],
    first_columns: &[u32],
    values: &[T],
    vectors: usize,
    x: &[T],
    y: &mut [T],
) {
    for (i, (&row, &first)) in rows.iter().zip(first_columns).enumerate() {
        let values = &values[starts[i] as usize..starts[i + 1] as usize];
        for v in 0..vectors {
            let entries = values.iter().enumerate();
            y[row as usize * vectors + v] = entries
                .fold(T::default(), |sum, (k, &value)| sum + value * x[(first as usize + k) * vectors + v]);
        }
    }
}

/// Multiplies by the lower triangle of a Hermitian matrix, by rows.
///
/// Blocks of `block_rows` rows come in the order `order`. An entry below the diagonal gives a term
/// to its row, and its conjugate one to its column.
#[allow(clippy::too_many_arguments)]
pub fn symmetric<T: Arithmetic>(
    order: &[u32],
    block_rows: usize,
    starts: &[u64],
    columns_of: &[u32],
    values: &[T],
    vectors: usize,
    x: &[T],
    y: &mut [T],
) {
    let rows = starts.len() - 1;
    check([rows, rows, vectors], x, y);
    y.fill(T::default());
    for begin in order.iter().map(|block| *block as usize * block_rows) {
        for (row, v) in
            (begin..rows.min(begin + block_rows)).flat_map(|row| (0..vectors).map(move |v| (row, v)))
        {
            let own = row * vectors + v;
            let mut sum = T::default();
            for k in starts[row] as usize..starts[row + 1] as usize {
                let other = columns_of[k] as usize * vectors + v;
                sum = sum + values[k] * x[other];
                if other != own {
                    let conjugate = T::from_complex(values[k].to_complex().conj());
                    y[other] = y[other] + conjugate * x[own];
                }
            }
            y[own] = y[own] + sum;
        }
    }
}

/// Returns the rows of X at some places.
pub fn gather<T: Arithmetic>(places: &[u32], vectors: usize, x: &[T]) -> Vec<T> {
    let row = |place: &u32| &x[*place as usize * vectors..(*place as usize + 1) * vectors];
    places.iter().flat_map(row).copied().collect()
}

/// Adds terms to the rows of Y at some places.
pub fn add_at<T: Arithmetic>(places: &[u32], vectors: usize, terms: &[T], y: &mut [T]) {
    for (i, place) in places.iter().enumerate() {
        for v in 0..vectors {
            let y = &mut y[*place as usize * vectors + v];
            *y = *y + terms[i * vectors + v];
        }
    }
}

/// Solves T x = b by substitution, for a triangular matrix T.
///
/// `starts`, `columns_of` and `values` are the rows of T without its diagonal, `inverse` the
/// inverses of its diagonal. The rows come in the order `order`. Each needs only rows before it.
pub fn substitute<T: Arithmetic>(
    order: &[u32],
    starts: &[u64],
    columns_of: &[u32],
    values: &[T],
    inverse: &[T],
    b: &[T],
    x: &mut [T],
) {
    for &row in order {
        let row = row as usize;
        let mut sum = b[row];
        for k in starts[row] as usize..starts[row + 1] as usize {
            sum = sum - values[k] * x[columns_of[k] as usize];
        }
        x[row] = inverse[row] * sum;
    }
}

/// Sweeps over all rows of a triangular matrix at once: x = D⁻¹ (b − N x′).
///
/// N is in `starts`, `columns_of` and `values`, `inverse` has the inverses of D. x′ = 0 if `before`
/// is `None`.
pub fn sweep<T: Arithmetic>(
    starts: &[u64],
    columns_of: &[u32],
    values: &[T],
    inverse: &[T],
    b: &[T],
    before: Option<&[T]>,
    x: &mut [T],
) {
    x.par_iter_mut().with_min_len(PIECE).enumerate().for_each(|(row, x)| {
        let entries = starts[row] as usize..starts[row + 1] as usize;
        let sum = before.map_or(b[row], |before| {
            entries.fold(b[row], |sum, k| sum - values[k] * before[columns_of[k] as usize])
        });
        *x = inverse[row] * sum;
    });
}
