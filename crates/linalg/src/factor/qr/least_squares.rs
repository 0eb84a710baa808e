//! Systems with more equations than unknowns, or fewer.

use super::kernels::Kernels;
use super::reflectors::{Form, Reflectors};
use super::{check_op, factorise};
use crate::block::{Block, Operand};
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::factor::check_rows;
use crate::factor::info::{Info, Word};
use crate::level2::{check_device, check_extent, check_single};
use crate::level3::Diagonal;
use crate::matrix::MatMut;
use crate::op::Op;
use crate::triangular::{Kernels as TriangleKernels, Triangular, clear, solve};
use lattice_compute::scalar::Element;
use lattice_compute::{Argument, Device, Event};

/// Starts the solution of op(A) X = B with the least residual, or else with the least X.
///
/// If op(A) has at least as many rows as columns, each column of X makes ‖b − op(A) x‖₂ smallest. Its
/// first rows in B are X, and the size of the others is that of the residual. If op(A) has fewer rows
/// than columns, x is the smallest solution in the 2-norm. B has as many rows as A has rows or
/// columns, the larger. Only as many as op(A) has are read.
///
/// A is overwritten by its factors: those of [`geqrf`](super::geqrf()) if it has at least as many
/// rows as columns, else those of Aᵀ, transposed. The [`Info`] is the number of the first zero on the
/// diagonal of R, counted from 1. A has not full rank then, and B is left as it was.
///
/// # Errors
/// [`BlasError::Shape`](crate::BlasError::Shape),
/// [`BlasError::SingleMatrix`](crate::BlasError::SingleMatrix),
/// [`BlasError::OtherDevice`](crate::BlasError::OtherDevice), and
/// [`BlasError::WrongOp`](crate::BlasError::WrongOp) for complex elements with [`Op::T`]: nothing is
/// started then. [`BlasError::Device`](crate::BlasError::Device) if a driver does not take the
/// kernels, memory is short or the device fails.
pub fn gels<T: Element>(op: Op, a: MatMut<'_, T>, b: MatMut<'_, T>) -> BlasResult<Info> {
    start(op, a.into(), b.into())
}

fn start(op: Op, a: Operand<'_>, b: Operand<'_>) -> BlasResult<Info> {
    check_op("gels", op, a.block.element.complex)?;
    check_system("gels", a, b)?;
    let (device, system, b) = (a.device, System::new(a.block), b.block);
    let mut word = Word::new(device)?;
    let mut events = Vec::new();
    if system.tall.columns == 0 {
        // Nothing is known of X, and its smallest solution is 0.
        events.extend(clear(device, b)?.into_events());
        return Ok(word.with(Completion::of(events)));
    }
    let mut tau = device.scratch_of(system.tall.element, system.tall.columns)?;
    factorise(device, system.tall, tau.output(), &mut events)?;
    events.push(Kernels::of(device, b.element)?.first_zero(system.triangle(), word.argument())?);
    system.solve(device, op, tau.input(), word.argument(), b, &mut events)?;
    Ok(word.with(Completion::of(events)))
}

/// Checks that B has the rows of a least squares problem.
pub(super) fn check_system(operation: &'static str, a: Operand<'_>, b: Operand<'_>) -> BlasResult<()> {
    let rows = a.block.rows.max(a.block.columns);
    check_rows(operation, rows)?;
    check_extent(operation, "B", "rows", rows, b.block.rows, "as A has rows or columns, the more")?;
    check_single(operation, a.count)?;
    check_single(operation, b.count)?;
    check_device(operation, "A", b.device, a.device)
}

/// A matrix, turned so that it has at least as many rows as columns.
pub(super) struct System<'a> {
    pub tall: Block<'a>,
    turned: bool,
}

impl<'a> System<'a> {
    pub fn new(a: Block<'a>) -> Self {
        let turned = a.rows < a.columns;
        Self { tall: if turned { a.transposed() } else { a }, turned }
    }

    /// Returns the square that holds R.
    pub fn triangle(&self) -> Block<'a> {
        self.tall.rows_of(0..self.tall.columns)
    }

    /// Starts the solution in the place of B, once the matrix holds its factors.
    ///
    /// B is left as it was if the word is not 0.
    pub fn solve(
        &self,
        device: &Device,
        op: Op,
        tau: Argument<'_>,
        word: Argument<'_>,
        b: Block<'_>,
        events: &mut Vec<Event>,
    ) -> BlasResult<()> {
        if b.columns == 0 {
            return Ok(());
        }
        let kernels = TriangleKernels::of(device, b.element)?;
        let count = self.tall.columns;
        let mut old = device.scratch_of(b.element, b.rows * b.columns)?;
        let old = Block::at(old.output(), &b.dense_layout());
        events.push(kernels.copy(b, old)?);
        // A turned A is the conjugate of a tall matrix's adjoint.
        let conjugate = self.turned && b.element.complex;
        let reflectors = Reflectors { matrix: self.tall, tau, count };
        let (upper, solution) = (self.triangle(), b.rows_of(0..count));
        if (op == Op::N) != self.turned {
            // op(A) = Q R, and R x = Qᴴ b.
            reflectors.apply(device, Form { adjoint: true, conjugate }, b, false, events)?;
            let tri = Triangular { matrix: upper, lower: false, conjugate };
            solve(device, tri, Diagonal::Stored, solution, events)?;
        } else {
            // op(A) = Rᴴ Qᴴ, and the smallest solution is Q R⁻ᴴ b.
            let adjoint = b.element.complex && !conjugate;
            let tri = Triangular { matrix: upper.transposed(), lower: true, conjugate: adjoint };
            solve(device, tri, Diagonal::Stored, solution, events)?;
            events.extend(clear(device, b.rows_of(count..b.rows))?.into_events());
            reflectors.apply(device, Form { adjoint: false, conjugate }, b, false, events)?;
        }
        events.push(kernels.restore(word, old, b)?);
        Ok(())
    }
}
