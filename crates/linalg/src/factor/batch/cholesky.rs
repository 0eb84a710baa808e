//! Hermitian, positive definite matrices of a batch.

use super::info::BatchInfo;
use super::kernels::{Factorisations, Many, Solutions};
use super::{check_small, check_systems, many, many_mut};
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::level3::{Triangle, check_square};
use crate::matrix::{MatMut, MatRef};
use lattice_compute::Buffer;
use lattice_compute::scalar::{Element, ElementType};

/// Starts A = L Lᴴ or A = Uᴴ U of each matrix, in the triangle's place.
///
/// The contract is that of [`factor::potrf`](crate::factor::potrf()), with an `info` for each
/// matrix. If the leading minor of order k is not positive, the first k − 1 columns of L, or rows of
/// U, are computed. The rest of the triangle is left as it was.
///
/// # Errors
/// [`BlasError::NotSquare`](crate::BlasError::NotSquare);
/// [`BlasError::Shape`](crate::BlasError::Shape) for more rows than
/// [`MOST_ROWS`](super::MOST_ROWS), or than the device's local memory holds: nothing is started then.
/// [`BlasError::Device`](crate::BlasError::Device) if a driver does not take the kernels, memory is
/// short or the device fails.
pub fn potrf<T: Element>(triangle: Triangle, a: MatMut<'_, T>) -> BlasResult<BatchInfo> {
    check_square("potrf of a batch", "A", a.rows(), a.columns())?;
    let (device, n, count) = (a.device().clone(), a.rows(), a.count());
    let kernels = Factorisations::of(&device, ElementType::of::<T>())?;
    check_small("potrf of a batch", [n, n], kernels.most_rows_of_triangles())?;
    let mut words = Buffer::zeroed(&device, count)?;
    if n == 0 || count == 0 {
        return Ok(BatchInfo::new(Completion::nothing(), words));
    }
    let event = kernels.potrf(&device, lower(triangle, many_mut(a)), (&mut words).into())?;
    Ok(BatchInfo::new(Completion::of(vec![event]), words))
}

/// Starts X = A⁻¹ B in the place of each B, with the factors of [`potrf`].
///
/// # Errors
/// [`BlasError::NotSquare`](crate::BlasError::NotSquare);
/// [`BlasError::Shape`](crate::BlasError::Shape) if rows or numbers of matrices differ, or for more
/// rows than [`MOST_ROWS`](super::MOST_ROWS);
/// [`BlasError::OtherDevice`](crate::BlasError::OtherDevice): nothing is started then.
/// [`BlasError::Device`](crate::BlasError::Device) if a driver does not take the kernels or the
/// device fails.
pub fn potrs<T: Element>(
    triangle: Triangle,
    factor: MatRef<'_, T>,
    b: MatMut<'_, T>,
) -> BlasResult<Completion> {
    check_systems("potrs of a batch", factor, &b, b.rows())?;
    if b.layout().is_empty() || b.count() == 0 {
        return Ok(Completion::nothing());
    }
    let kernels = Solutions::of(b.device(), ElementType::of::<T>())?;
    // A = Uᴴ U = L* Lᵀ for L = Uᵀ.
    let conjugate = T::IS_COMPLEX && triangle == Triangle::Upper;
    let event = kernels.potrs(conjugate, lower(triangle, many(factor)), many_mut(b))?;
    Ok(Completion::of(vec![event]))
}

/// Starts the solution of A X = B for each A of a batch.
///
/// Each A is Hermitian and positive definite. It is overwritten by its factor, like in
/// [`potrf`], and B by X. If the `info` of a matrix is not 0, its X is undefined.
///
/// # Errors
/// The errors of [`potrf`] and [`potrs`].
pub fn posv<T: Element>(triangle: Triangle, mut a: MatMut<'_, T>, b: MatMut<'_, T>) -> BlasResult<BatchInfo> {
    check_systems("posv of a batch", a.as_ref(), &b, b.rows())?;
    let mut info = potrf(triangle, a.reborrow())?;
    info.append(potrs(triangle, a.as_ref(), b)?);
    Ok(info)
}

/// Returns matrices with the named triangle as their lower one.
///
/// The upper triangle of A is the lower one of Aᵀ.
fn lower(triangle: Triangle, matrices: Many<'_>) -> Many<'_> {
    if triangle == Triangle::Lower { matrices } else { matrices.transposed() }
}
