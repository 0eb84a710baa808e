//! A = Q R by Householder's reflectors, and least squares.
//!
//! Panels of at most 32 columns take a step for each column, all in one launch where work-groups can
//! meet: the sums that make a reflector are also those that apply it. Panels are put together to
//! blocks of 128 or 256 columns, and blocks are applied by products. No number is ever read by the host.

mod constrained;
mod kernels;
mod least_squares;
mod owned;
mod reflectors;

pub use constrained::gglse;
pub use least_squares::gels;
pub use owned::Qr;

use super::check_rows;
use crate::block::{Block, Operand};
use crate::completion::Completion;
use crate::error::{BlasError, BlasResult};
use crate::level2::{check_device, check_extent, check_single};
use crate::level3::Side;
use crate::matrix::{MatMut, MatRef};
use crate::op::Op;
use crate::triangular::Kernels as TriangleKernels;
use crate::vector::{Line, VecMut, VecRef};
pub(super) use kernels::Kernels;
use kernels::WIDTH;
use lattice_compute::scalar::{Element, Precision};
use lattice_compute::{Argument, Buffer, BufferView, BufferViewMut, Device, DeviceKind, Event};
use reflectors::BLOCK;
pub(super) use reflectors::{Form, Reflectors};
use std::ops::Range;

/// Starts A = Q R, with R in the upper triangle of A and the reflectors of Q below it.
///
/// Q = H₁ H₂ … with Hᵢ = 1 − τᵢ vᵢ vᵢᴴ. vᵢ has i − 1 zeros, a one and then what is stored in column
/// i below the diagonal. `tau` has an element for each reflector, as many as A has rows or columns,
/// the fewer. The diagonal of R is real, and may be negative. Columns of numbers near the ends of the
/// range of doubles are scaled by powers of two while they are factorised.
///
/// # Errors
/// [`BlasError::Shape`] for a `tau` of another length or more than 2³² − 2 rows,
/// [`BlasError::SingleMatrix`]: nothing is started then. [`BlasError::Device`] if a driver does not
/// take the kernels, memory is short or the device fails.
pub fn geqrf<'p, T: Element>(
    a: MatMut<'_, T>,
    tau: impl Into<BufferViewMut<'p, T>>,
) -> BlasResult<Completion> {
    start(a.into(), VecMut::from(tau.into()).into())
}

fn start(a: Operand<'_>, tau: Line<'_>) -> BlasResult<Completion> {
    check_single("geqrf", a.count)?;
    check_rows("geqrf", a.block.rows)?;
    let count = a.block.rows.min(a.block.columns);
    check_extent("geqrf", "tau", "elements", count, tau.len, "as A has rows or columns, the fewer")?;
    let mut events = Vec::new();
    factorise(a.device, a.block, tau.elements, &mut events)?;
    Ok(Completion::of(events))
}

/// Starts the factorisation of a matrix of any shape.
fn factorise(
    device: &Device,
    matrix: Block<'_>,
    tau: Argument<'_>,
    events: &mut Vec<Event>,
) -> BlasResult<()> {
    let count = matrix.rows.min(matrix.columns);
    if count == 0 {
        return Ok(());
    }
    let kernels = Kernels::of(device, matrix.element)?;
    // Squares of singles are in the range of doubles anyway.
    let scales = matrix.element.precision == Precision::Double;
    let mut factors = device.scratch::<f64>(matrix.columns)?;
    if scales {
        events.push(kernels.column_factors(matrix, factors.output())?);
        events.push(kernels.scale_columns(matrix, false, factors.input())?);
    }
    let mut arrived = Buffer::<u32>::zeroed(device, count.div_ceil(WIDTH))?;
    let (reflectors, arrived) = (Reflectors { matrix, tau, count }, arrived.view_mut().into());
    let work = Factorisation { device, reflectors, arrived };
    let width = block_width(device, count);
    for first in (0..count).step_by(width) {
        let block = first..(first + width).min(count);
        work.columns(block.clone(), events)?;
        work.apply(block.clone(), block.end..matrix.columns, events)?;
    }
    if scales {
        events.push(kernels.scale_columns(matrix, true, factors.input())?);
    }
    Ok(())
}

/// Returns the reflectors that are applied to the rest of a matrix at a time.
///
/// Wide blocks make fewer products of more terms. On one H100 they are faster from 4096 columns on.
fn block_width(device: &Device, count: usize) -> usize {
    if device.info().kind == DeviceKind::Cpu || count < 4096 { BLOCK } else { 2 * BLOCK }
}

/// A matrix that is being factorised.
struct Factorisation<'a> {
    device: &'a Device,
    reflectors: Reflectors<'a>,
    /// A zero for each panel, with which its work-groups count each other.
    arrived: Argument<'a>,
}

impl Factorisation<'_> {
    /// Starts the factorisation of these columns, to which all earlier reflectors have been applied.
    fn columns(&self, range: Range<usize>, events: &mut Vec<Event>) -> BlasResult<()> {
        let Reflectors { matrix, tau, .. } = self.reflectors;
        if range.len() <= WIDTH {
            let panel = matrix.part(range.start..matrix.rows, range.clone());
            let written = [tau.skip(range.start), self.arrived.skip(range.start / WIDTH)];
            return Ok(Kernels::of(self.device, matrix.element)?.panel(
                self.device,
                panel,
                written,
                events,
            )?);
        }
        let middle = range.start + (range.len() / 2).next_multiple_of(WIDTH);
        self.columns(range.start..middle, events)?;
        self.apply(range.start..middle, middle..range.end, events)?;
        self.columns(middle..range.end, events)
    }

    /// Starts what the reflectors of the columns `done` do to those of `rest`.
    fn apply(&self, done: Range<usize>, rest: Range<usize>, events: &mut Vec<Event>) -> BlasResult<()> {
        let c = self.reflectors.matrix.part(done.start..self.reflectors.matrix.rows, rest);
        let form = Form { adjoint: true, conjugate: false };
        self.reflectors.apply_block(self.device, done, form, c, events)
    }
}

/// Starts C = op(Q) C, or with [`Side::Right`] C = C op(Q), with the reflectors of [`geqrf`].
///
/// The reflectors are in the columns of `factors`, of which there are as many as `tau` has elements.
/// Q has as many rows as `factors`. LAPACK names the operation `ormqr` for real elements.
///
/// # Errors
/// [`BlasError::Shape`], [`BlasError::SingleMatrix`], [`BlasError::OtherDevice`], and
/// [`BlasError::WrongOp`] for complex elements with [`Op::T`]: nothing is started then.
/// [`BlasError::Device`] if a driver does not take the kernels, memory is short or the device fails.
pub fn unmqr<'p, T: Element>(
    side: Side,
    op: Op,
    factors: MatRef<'_, T>,
    tau: impl Into<BufferView<'p, T>>,
    c: MatMut<'_, T>,
) -> BlasResult<Completion> {
    multiply(side, op, factors.into(), VecRef::from(tau.into()).into(), c.into())
}

fn multiply(
    side: Side,
    op: Op,
    factors: Operand<'_>,
    tau: Line<'_>,
    c: Operand<'_>,
) -> BlasResult<Completion> {
    check_op("unmqr", op, c.block.element.complex)?;
    let count = check_reflectors("unmqr", factors, tau)?;
    check_single("unmqr", c.count)?;
    check_device("unmqr", "A", c.device, factors.device)?;
    // C Q is the transpose of Qᵀ Cᵀ, and Qᵀ is the conjugate of Qᴴ.
    let (block, form) = match side {
        Side::Left => (c.block, Form { adjoint: op != Op::N, conjugate: false }),
        Side::Right => (c.block.transposed(), Form { adjoint: op == Op::N, conjugate: true }),
    };
    let extent = if side == Side::Left { "rows" } else { "columns" };
    check_extent("unmqr", "C", extent, factors.block.rows, block.rows, "as Q has rows")?;
    let mut events = Vec::new();
    let reflectors = Reflectors { matrix: factors.block, tau: tau.elements, count };
    reflectors.apply(c.device, form, block, false, &mut events)?;
    Ok(Completion::of(events))
}

/// Starts to write the first columns of Q in the place of the reflectors of [`geqrf`].
///
/// `factors` has at most as many columns as rows, and at least as many as `tau` has elements. The
/// operation takes scratch memory for the reflectors. LAPACK names it `orgqr` for real elements.
///
/// # Errors
/// [`BlasError::Shape`], [`BlasError::SingleMatrix`]: nothing is started then.
/// [`BlasError::Device`] if a driver does not take the kernels, memory is short or the device fails.
pub fn ungqr<'p, T: Element>(
    factors: MatMut<'_, T>,
    tau: impl Into<BufferView<'p, T>>,
) -> BlasResult<Completion> {
    write_columns(factors.into(), VecRef::from(tau.into()).into())
}

fn write_columns(factors: Operand<'_>, tau: Line<'_>) -> BlasResult<Completion> {
    let Operand { block: matrix, device, .. } = factors;
    let count = check_reflectors("ungqr", factors, tau)?;
    check_tall("ungqr", "A", matrix.rows, matrix.columns)?;
    if matrix.columns == 0 {
        return Ok(Completion::nothing());
    }
    let kept = matrix.part(0..matrix.rows, 0..count);
    let kernels = TriangleKernels::of(device, matrix.element)?;
    let mut room = device.scratch_of(matrix.element, matrix.rows * count)?;
    let copy = Block::at(room.output(), &kept.dense_layout());
    let mut events = Vec::new();
    if count > 0 {
        events.push(kernels.copy(kept, copy)?);
    }
    events.push(kernels.set_identity(matrix)?);
    let reflectors = Reflectors { matrix: copy, tau: tau.elements, count };
    reflectors.apply(device, Form { adjoint: false, conjugate: false }, matrix, true, &mut events)?;
    Ok(Completion::of(events))
}

/// Checks that there are columns for all reflectors, and returns how many there are.
fn check_reflectors(operation: &'static str, factors: Operand<'_>, tau: Line<'_>) -> BlasResult<usize> {
    let Block { rows, columns, .. } = factors.block;
    check_single(operation, factors.count)?;
    check_rows(operation, rows)?;
    let (most, found) = (rows.min(columns), tau.len);
    if found <= most {
        return Ok(found);
    }
    let reason = "the most reflectors that A has, its rows or columns, the fewer";
    Err(BlasError::Shape {
        operation,
        operand: "tau".to_owned(),
        extent: "elements",
        wanted: most,
        found,
        reason,
    })
}

/// Checks that a matrix has at most as many columns as rows.
fn check_tall(operation: &'static str, operand: &'static str, rows: usize, columns: usize) -> BlasResult<()> {
    if columns <= rows {
        return Ok(());
    }
    let reason = "the most columns that Q has, as many as its rows";
    Err(BlasError::Shape {
        operation,
        operand: operand.to_owned(),
        extent: "columns",
        wanted: rows,
        found: columns,
        reason,
    })
}

/// Refuses to transpose complex matrices without conjugating them.
pub(crate) fn check_op(operation: &'static str, op: Op, complex: bool) -> BlasResult<()> {
    if op == Op::T && complex {
        return Err(BlasError::WrongOp { operation, found: op, wanted: "N or C" });
    }
    Ok(())
}
