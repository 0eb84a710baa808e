//! Factorisations of many small matrices, one launch for all.
//!
//! Batches are views of equally many matrices ([`MatMut::batch`]) of at most [`MOST_ROWS`] rows. A
//! work-group factorises a matrix in local memory. The kernels are in `cl/batch.cl`, the twin is
//! [`host::cholesky`](crate::host::cholesky).

mod info;
mod kernels;

pub use info::BatchInfo;
pub use kernels::MOST_ROWS;

use crate::block::Block;
use crate::completion::Completion;
use crate::error::{BlasError, BlasResult};
use crate::level2::{check_device, check_extent};
use crate::level3::{Triangle, check_square};
use crate::matrix::{MatMut, MatRef};
use kernels::{Kernels, Many};
use lattice_compute::Buffer;
use lattice_compute::scalar::Element;

/// Starts A = L Lᴴ or A = Uᴴ U of each matrix, in the triangle's place.
///
/// The contract is that of [`factor::potrf`](super::potrf()), with an `info` for each matrix. If
/// the leading minor of order k is not positive, the first k − 1 columns of L, or rows of U, are
/// computed. The rest of the triangle is left as it was.
///
/// # Errors
/// [`BlasError::NotSquare`]; [`BlasError::Shape`] for more rows than [`MOST_ROWS`], or than the
/// device's local memory holds: nothing is started then. [`BlasError::Device`] if a driver does not
/// take the kernels, memory is short or the device fails.
pub fn potrf<T: Element>(triangle: Triangle, a: MatMut<'_, T>) -> BlasResult<BatchInfo> {
    check_square("potrf of a batch", "A", a.rows(), a.columns())?;
    let (device, n, count, stride) = (a.device().clone(), a.rows(), a.count(), a.stride());
    let kernels = Kernels::<T>::of(&device)?;
    if n > kernels.most_rows() {
        return Err(BlasError::Shape {
            operation: "potrf of a batch",
            operand: "A".to_owned(),
            extent: "rows",
            wanted: kernels.most_rows(),
            found: n,
            reason: "the most that local memory holds, at most 64",
        });
    }
    let mut words = Buffer::zeroed(&device, count)?;
    if n == 0 || count == 0 {
        return Ok(BatchInfo::new(Completion::nothing(), words));
    }
    let many = Many { first: lower(triangle, Block::of_mut(a)), count, stride };
    let event = kernels.potrf(many, (&mut words).into())?;
    Ok(BatchInfo::new(Completion::of(vec![event]), words))
}

/// Starts X = A⁻¹ B in the place of each B, with the factors of [`potrf`].
///
/// # Errors
/// [`BlasError::NotSquare`]; [`BlasError::Shape`] if rows or numbers of matrices differ, or for
/// more rows than [`MOST_ROWS`]; [`BlasError::OtherDevice`]: nothing is started then.
/// [`BlasError::Device`] if a driver does not take the kernels or the device fails.
pub fn potrs<T: Element>(
    triangle: Triangle,
    factor: MatRef<'_, T>,
    b: MatMut<'_, T>,
) -> BlasResult<Completion> {
    let operation = "potrs of a batch";
    check_square(operation, "A", factor.rows(), factor.columns())?;
    check_extent(operation, "B", "rows", factor.rows(), b.rows(), "as A has")?;
    check_extent(operation, "B", "matrices", factor.count(), b.count(), "as A has")?;
    check_device(operation, "A", b.device(), factor.device())?;
    if factor.rows() > MOST_ROWS {
        let (operand, found) = ("A".to_owned(), factor.rows());
        let reason = "the most rows of a matrix in a batch";
        return Err(BlasError::Shape {
            operation,
            operand,
            extent: "rows",
            wanted: MOST_ROWS,
            found,
            reason,
        });
    }
    if b.layout().is_empty() || b.count() == 0 {
        return Ok(Completion::nothing());
    }
    let kernels = Kernels::<T>::of(b.device())?;
    let l =
        Many { first: lower(triangle, Block::of(factor)), count: factor.count(), stride: factor.stride() };
    let (count, stride) = (b.count(), b.stride());
    let b = Many { first: Block::of_mut(b), count, stride };
    // A = Uᴴ U = L* Lᵀ for L = Uᵀ.
    Ok(Completion::of(vec![kernels.potrs(T::IS_COMPLEX && triangle == Triangle::Upper, l, b)?]))
}

/// Starts the solution of A X = B for each A of a batch.
///
/// Each A is Hermitian and positive definite. It is overwritten by its factor, like in
/// [`potrf`], and B by X. If the `info` of a matrix is not 0, its X is undefined.
///
/// # Errors
/// The errors of [`potrf`] and [`potrs`].
pub fn posv<T: Element>(triangle: Triangle, mut a: MatMut<'_, T>, b: MatMut<'_, T>) -> BlasResult<BatchInfo> {
    let operation = "posv of a batch";
    check_extent(operation, "B", "rows", a.rows(), b.rows(), "as A has")?;
    check_extent(operation, "B", "matrices", a.count(), b.count(), "as A has")?;
    check_device(operation, "A", b.device(), a.device())?;
    let mut info = potrf(triangle, a.reborrow())?;
    info.append(potrs(triangle, a.as_ref(), b)?);
    Ok(info)
}

/// Returns the matrix with the named triangle as its lower one.
///
/// The upper triangle of A is the lower one of Aᵀ.
fn lower(triangle: Triangle, matrix: Block<'_>) -> Block<'_> {
    if triangle == Triangle::Lower { matrix } else { matrix.transposed() }
}
