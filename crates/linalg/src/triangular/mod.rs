//! Systems and products with a triangular matrix: [`trsm`] and [`trmm`].
//!
//! Only one [`Triangle`] of the matrix is read. With [`Diagonal::Ones`] its diagonal is not read
//! either. Both operations take scratch memory for a copy of B.
//!
//! [`trsm`] inverts the blocks of 32 or 64 rows along the diagonal in local memory, all at once.
//! Everything else is products. So an infinity or a NaN in B reaches all rows of X in its block, also
//! those that substitution would compute before it. The same holds for [`trmm`] and blocks of 128
//! rows. A zero on the diagonal makes infinities and NaNs.
//!
//! The kernels are in `cl/triangular.cl`, the twins in [`host::triangular`](crate::host::triangular).

mod kernels;
mod solve;

pub(crate) use kernels::{DiagonalShape, Kernels, TRIANGLE_SOURCES};
pub(crate) use solve::{Triangular, solve};

use super::block::{Block, Operand};
use super::completion::Completion;
use super::error::{BlasResult, operand_name};
use super::gemm::multiply_blocks;
use super::level2::{check_device, check_extent, check_single};
use super::level3::{Diagonal, Side, Triangle, check_square};
use super::matrix::{MatMut, MatRef};
use super::op::Op;
use lattice_compute::scalar::{AnyFactor, Element, Scalar};
use lattice_compute::{Device, Event};

/// Starts X = α op(A)⁻¹ B, or X = α B op(A)⁻¹, in the place of B.
///
/// [`Side::Right`] selects the second one. A is triangular. With α = 0, neither A nor B is read. If
/// B has at most 64 columns, or rows with [`Side::Right`], X is corrected once in each diagonal block:
/// residuals are those of a substitution then.
///
/// # Errors
/// [`BlasError::NotSquare`](crate::BlasError::NotSquare),
/// [`BlasError::Shape`](crate::BlasError::Shape),
/// [`BlasError::SingleMatrix`](crate::BlasError::SingleMatrix),
/// [`BlasError::OtherDevice`](crate::BlasError::OtherDevice): nothing is started then.
/// [`BlasError::Device`](crate::BlasError::Device) if a driver does not take the kernels, memory is
/// short or the device fails.
pub fn trsm<T: Element>(
    side: Side,
    triangle: Triangle,
    op: Op,
    diagonal: Diagonal,
    alpha: impl Scalar<T>,
    a: MatRef<'_, T>,
    b: MatMut<'_, T>,
) -> BlasResult<Completion> {
    let alpha = alpha.factor().keeping().into();
    started("trsm", solve::solve_well, side, triangle, op, diagonal, alpha, [a.into(), b.into()])
}

/// Starts B = α op(A) B, or with [`Side::Right`] B = α B op(A).
///
/// A is triangular. With α = 0, neither A nor B is read.
///
/// # Errors
/// The errors of [`trsm`].
pub fn trmm<T: Element>(
    side: Side,
    triangle: Triangle,
    op: Op,
    diagonal: Diagonal,
    alpha: impl Scalar<T>,
    a: MatRef<'_, T>,
    b: MatMut<'_, T>,
) -> BlasResult<Completion> {
    let alpha = alpha.factor().into();
    started("trmm", solve::multiply, side, triangle, op, diagonal, alpha, [a.into(), b.into()])
}

/// Starts X = op(A)⁻¹ B in the place of B.
pub(crate) fn solve_left(
    triangle: Triangle,
    op: Op,
    diagonal: Diagonal,
    a: Operand<'_>,
    b: Operand<'_>,
) -> BlasResult<Completion> {
    let one = b.block.element.factor(1);
    started("trsm", solve::solve_well, Side::Left, triangle, op, diagonal, one, [a, b])
}

/// An operation on B with a triangular matrix on its left.
type Work = fn(&Device, Triangular<'_>, Diagonal, AnyFactor, Block<'_>, &mut Vec<Event>) -> BlasResult<()>;

/// Checks the operands and starts the work.
#[allow(clippy::too_many_arguments)]
fn started(
    operation: &'static str,
    work: Work,
    side: Side,
    triangle: Triangle,
    op: Op,
    diagonal: Diagonal,
    alpha: AnyFactor,
    [a, b]: [Operand<'_>; 2],
) -> BlasResult<Completion> {
    check_square(operation, "A", a.block.rows, a.block.columns)?;
    let (name, n) = (operand_name("A", op), a.block.rows);
    match side {
        Side::Left => check_extent(operation, &name, "columns", b.block.rows, n, "as B has rows")?,
        Side::Right => check_extent(operation, &name, "rows", b.block.columns, n, "as B has columns")?,
    }
    for operand in [a, b] {
        check_single(operation, operand.count)?;
    }
    check_device(operation, "A", b.device, a.device)?;
    let (tri, block) = Triangular::entering(side, triangle, op, a.block, b.block);
    if block.rows == 0 || block.columns == 0 {
        return Ok(Completion::nothing());
    }
    if alpha.is_zero() {
        return clear(b.device, block);
    }
    let mut events = Vec::new();
    work(b.device, tri, diagonal, alpha, block, &mut events)?;
    Ok(Completion::of(events))
}

/// Starts B = 0.
pub(crate) fn clear(device: &Device, b: Block<'_>) -> BlasResult<Completion> {
    // A product without terms, times 0.
    let nothing = [(b.part(0..b.rows, 0..0), false), (b.part(0..0, 0..b.columns), false)];
    multiply_blocks(device, 1, nothing, 0, b)
}
