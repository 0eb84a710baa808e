//! Factorisations of many small matrices, one launch for all.
//!
//! Batches are views of equally many matrices ([`MatMut::batch`](crate::MatMut::batch)) of at most
//! [`MOST_ROWS`] rows and columns. A work-group factorises a matrix in local memory. Solutions take a
//! work-item for each column. The kernels are in `cl/batch_*.cl`. The twins are
//! [`host::cholesky`](crate::host::cholesky), [`host::jacobi`](crate::host::jacobi),
//! [`host::lu`](crate::host::lu), [`host::qr`](crate::host::qr) and
//! [`host::triangular`](crate::host::triangular).
//!
//! Pivots, and the factors τ of reflectors, lie one matrix after another in one buffer.

mod cholesky;
mod info;
mod jacobi;
mod kernels;
mod lu;
mod qr;
mod triangular;

pub use cholesky::{posv, potrf, potrs};
pub use info::BatchInfo;
pub use jacobi::{gesvj, heev};
pub use kernels::MOST_ROWS;
pub use lu::{gesv, getrf, getri, getrs};
pub use qr::geqrf;
pub use triangular::trsm;

use crate::block::Block;
use crate::error::{BlasError, BlasResult};
use crate::level2::{check_device, check_extent};
use crate::level3::check_square;
use crate::matrix::{MatMut, MatRef};
use kernels::Many;
use lattice_compute::scalar::Element;

/// Returns the matrices of a view that is read.
fn many<'a, T: Element>(a: MatRef<'a, T>) -> Many<'a> {
    Many { first: Block::of(a), count: a.count(), stride: a.stride() }
}

/// Returns the matrices of a view that is written.
fn many_mut<'a, T: Element>(a: MatMut<'a, T>) -> Many<'a> {
    let (count, stride) = (a.count(), a.stride());
    Many { first: Block::of_mut(a), count, stride }
}

/// Checks that the matrices of a batch are small enough.
fn check_small(operation: &'static str, extents: [usize; 2], most: usize) -> BlasResult<()> {
    for (extent, found) in [("rows", extents[0]), ("columns", extents[1])] {
        if found > most {
            let (operand, wanted) = ("A".to_owned(), most);
            let reason = "the most that local memory holds, at most 64";
            return Err(BlasError::Shape { operation, operand, extent, wanted, found, reason });
        }
    }
    Ok(())
}

/// Checks that right-hand sides B fit square matrices A of a batch.
fn check_systems<T: Element>(
    operation: &'static str,
    a: MatRef<'_, T>,
    b: &MatMut<'_, T>,
    rows_of_b: usize,
) -> BlasResult<()> {
    check_square(operation, "A", a.rows(), a.columns())?;
    check_extent(operation, "B", "rows", a.rows(), rows_of_b, "as A has")?;
    check_extent(operation, "B", "matrices", a.count(), b.count(), "as A has")?;
    check_device(operation, "A", b.device(), a.device())?;
    check_small(operation, [a.rows(), a.columns()], MOST_ROWS)
}
