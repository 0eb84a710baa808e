//! General matrices of a batch.

use super::info::BatchInfo;
use super::kernels::{Factorisations, Solutions};
use super::{check_small, check_systems, many, many_mut};
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::level2::check_extent;
use crate::matrix::{MatMut, MatRef};
use crate::op::Op;
use lattice_compute::scalar::{Element, ElementType};
use lattice_compute::{Buffer, BufferView, BufferViewMut};

/// Starts P A = L U of each matrix, with L and U in the place of A.
///
/// The contract is that of [`factor::getrf`](crate::factor::getrf()), with an `info` for each
/// matrix. `pivots` has as many elements for each matrix as it has rows or columns, the fewer.
/// They are counted from 0 in their matrix.
///
/// # Errors
/// [`BlasError::Shape`](crate::BlasError::Shape) for pivots of another number, more rows or columns
/// than [`MOST_ROWS`](super::MOST_ROWS), or more than the device's local memory holds: nothing is
/// started then. [`BlasError::Device`](crate::BlasError::Device) if a driver does not take the
/// kernels, memory is short or the device fails.
pub fn getrf<'p, T: Element>(
    a: MatMut<'_, T>,
    pivots: impl Into<BufferViewMut<'p, u32>>,
) -> BlasResult<BatchInfo> {
    let (operation, pivots) = ("getrf of a batch", pivots.into());
    let (device, count, fewer) = (a.device().clone(), a.count(), a.rows().min(a.columns()));
    let wanted = count * fewer;
    check_extent(operation, "pivots", "elements", wanted, pivots.len(), "as all A have rows or columns")?;
    let kernels = Factorisations::of(&device, ElementType::of::<T>())?;
    check_small(operation, [a.rows(), a.columns()], kernels.most_rows())?;
    let mut words = Buffer::zeroed(&device, count)?;
    if wanted == 0 {
        return Ok(BatchInfo::new(Completion::nothing(), words));
    }
    let event = kernels.getrf(&device, many_mut(a), pivots.into(), (&mut words).into())?;
    Ok(BatchInfo::new(Completion::of(vec![event]), words))
}

/// Starts X = op(A)⁻¹ B in the place of each B, with factors and pivots of [`getrf`].
///
/// # Errors
/// [`BlasError::NotSquare`](crate::BlasError::NotSquare);
/// [`BlasError::Shape`](crate::BlasError::Shape) if rows or numbers of matrices or pivots differ, or
/// for more rows than [`MOST_ROWS`](super::MOST_ROWS);
/// [`BlasError::OtherDevice`](crate::BlasError::OtherDevice): nothing is started then.
/// [`BlasError::Device`](crate::BlasError::Device) if a driver does not take the kernels or the
/// device fails.
pub fn getrs<'p, T: Element>(
    op: Op,
    factors: MatRef<'_, T>,
    pivots: impl Into<BufferView<'p, u32>>,
    b: MatMut<'_, T>,
) -> BlasResult<Completion> {
    let (operation, pivots) = ("getrs of a batch", pivots.into());
    check_systems(operation, factors, &b, b.rows())?;
    let wanted = factors.count() * factors.rows();
    check_extent(operation, "pivots", "elements", wanted, pivots.len(), "as all A have rows")?;
    if b.layout().is_empty() || b.count() == 0 {
        return Ok(Completion::nothing());
    }
    let kernels = Solutions::of(b.device(), ElementType::of::<T>())?;
    let form = [op != Op::N, op == Op::C && T::IS_COMPLEX];
    Ok(Completion::of(vec![kernels.getrs(form, many(factors), pivots.into(), many_mut(b))?]))
}

/// Starts the inverse of each A, with factors and pivots of [`getrf`].
///
/// The factors stay as they are. The inverse of a matrix whose `info` is not 0 has infinities and NaNs.
///
/// # Errors
/// The errors of [`getrs`], and [`BlasError::Shape`](crate::BlasError::Shape) if the inverses have
/// other columns than rows.
pub fn getri<'p, T: Element>(
    factors: MatRef<'_, T>,
    pivots: impl Into<BufferView<'p, u32>>,
    inverse: MatMut<'_, T>,
) -> BlasResult<Completion> {
    let (operation, pivots) = ("getri of a batch", pivots.into());
    check_systems(operation, factors, &inverse, inverse.rows())?;
    check_extent(operation, "the inverse", "columns", factors.rows(), inverse.columns(), "as A has")?;
    let wanted = factors.count() * factors.rows();
    check_extent(operation, "pivots", "elements", wanted, pivots.len(), "as all A have rows")?;
    if wanted == 0 {
        return Ok(Completion::nothing());
    }
    let kernels = Solutions::of(inverse.device(), ElementType::of::<T>())?;
    Ok(Completion::of(vec![kernels.getri(many(factors), pivots.into(), many_mut(inverse))?]))
}

/// Starts the solution of A X = B for each A of a batch.
///
/// A is overwritten by its factors, like in [`getrf`], and B by X. If the `info` of a matrix is not
/// 0, its X is undefined.
///
/// # Errors
/// The errors of [`getrf`] and [`getrs`].
pub fn gesv<'p, T: Element>(
    mut a: MatMut<'_, T>,
    pivots: impl Into<BufferViewMut<'p, u32>>,
    b: MatMut<'_, T>,
) -> BlasResult<BatchInfo> {
    check_systems("gesv of a batch", a.as_ref(), &b, b.rows())?;
    let mut pivots = pivots.into();
    let mut info = getrf(a.reborrow(), pivots.reborrow())?;
    info.append(getrs(Op::N, a.as_ref(), pivots.as_view(), b)?);
    Ok(info)
}
