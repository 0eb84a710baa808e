//! Triangular systems of a batch.

use super::kernels::{Many, Solutions};
use super::{check_systems, many};
use crate::block::Block;
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::level3::{Diagonal, Side, Triangle};
use crate::matrix::{MatMut, MatRef};
use crate::op::Op;
use crate::triangular::Triangular;
use lattice_compute::scalar::{Element, ElementType, Scalar};

/// Starts X = α op(A)⁻¹ B, or X = α B op(A)⁻¹, in the place of each B.
///
/// [`Side::Right`] selects the second one. Each A is triangular. Solutions are substitutions, so that
/// a number of B reaches only the rows of X that depend on it.
///
/// # Errors
/// [`BlasError::NotSquare`](crate::BlasError::NotSquare);
/// [`BlasError::Shape`](crate::BlasError::Shape) if rows or numbers of matrices differ, or for more
/// rows than [`MOST_ROWS`](super::MOST_ROWS);
/// [`BlasError::OtherDevice`](crate::BlasError::OtherDevice): nothing is started then.
/// [`BlasError::Device`](crate::BlasError::Device) if a driver does not take the kernels or the
/// device fails.
pub fn trsm<T: Element>(
    side: Side,
    triangle: Triangle,
    op: Op,
    diagonal: Diagonal,
    alpha: impl Scalar<T>,
    a: MatRef<'_, T>,
    mut b: MatMut<'_, T>,
) -> BlasResult<Completion> {
    let rows = if side == Side::Left { b.rows() } else { b.columns() };
    check_systems("trsm of a batch", a, &b, rows)?;
    if b.layout().is_empty() || b.count() == 0 {
        return Ok(Completion::nothing());
    }
    let kernels = Solutions::of(b.device(), ElementType::of::<T>())?;
    let (t, count, stride) = (many(a), b.count(), b.stride());
    let (form, first) = Triangular::entering(side, triangle, op, t.first, Block::of_mut(b.reborrow()));
    let (t, b) = (Many { first: form.matrix, ..t }, Many { first, count, stride });
    let event = kernels.trsm(form, diagonal == Diagonal::Ones, alpha.factor().keeping().into(), t, b)?;
    Ok(Completion::of(vec![event]))
}
