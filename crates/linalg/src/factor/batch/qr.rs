//! Orthogonal factors of the matrices of a batch.

use super::kernels::Factorisations;
use super::{check_small, many_mut};
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::level2::check_extent;
use crate::matrix::MatMut;
use lattice_compute::BufferViewMut;
use lattice_compute::scalar::{Element, ElementType};

/// Starts A = Q R of each matrix, with R in the upper triangle and the reflectors of Q below.
///
/// The contract is that of [`factor::geqrf`](crate::factor::geqrf()). `tau` has as many elements for
/// each matrix as it has rows or columns, the fewer.
///
/// # Errors
/// [`BlasError::Shape`](crate::BlasError::Shape) for a `tau` of another length, more rows or columns
/// than [`MOST_ROWS`](super::MOST_ROWS), or more than the device's local memory holds: nothing is
/// started then. [`BlasError::Device`](crate::BlasError::Device) if a driver does not take the
/// kernels, memory is short or the device fails.
pub fn geqrf<'p, T: Element>(
    a: MatMut<'_, T>,
    tau: impl Into<BufferViewMut<'p, T>>,
) -> BlasResult<Completion> {
    let (operation, tau) = ("geqrf of a batch", tau.into());
    let (device, wanted) = (a.device().clone(), a.count() * a.rows().min(a.columns()));
    check_extent(operation, "tau", "elements", wanted, tau.len(), "as all A have rows or columns")?;
    let kernels = Factorisations::of(&device, ElementType::of::<T>())?;
    check_small(operation, [a.rows(), a.columns()], kernels.most_rows())?;
    if wanted == 0 {
        return Ok(Completion::nothing());
    }
    Ok(Completion::of(vec![kernels.geqrf(&device, many_mut(a), tau.into())?]))
}
