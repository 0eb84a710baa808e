//! Least squares under linear constraints, by an RQ and a QR factorisation.

use super::factorise;
use super::kernels::Kernels;
use super::reflectors::{Form, Reflectors};
use crate::block::{Block, Operand};
use crate::completion::Completion;
use crate::error::{BlasError, BlasResult};
use crate::factor::check_rows;
use crate::factor::info::{Info, Word};
use crate::gemm::multiply_blocks;
use crate::level2::{check_device, check_extent, check_single};
use crate::level3::Diagonal;
use crate::matrix::{MatMut, MatrixLayout};
use crate::triangular::{Kernels as TriangleKernels, Triangular, solve};
use lattice_compute::scalar::Element;
use lattice_compute::{Argument, Device, Event};

/// Starts the solution of min ‖c − A x‖₂ under the constraint B x = d, for each column of C and D.
///
/// A is m×n and B is p×n, with p ≤ n ≤ m + p. B and A stacked have full column rank, and B has full
/// row rank. X has n rows.
///
/// With B = (0 R) Q and A = Z T Q, R takes the place of the last p columns of B, and T that of A. Both
/// are upper triangles, and what is beside them holds reflectors. D is overwritten. The rows of C from
/// n − p on get the residual: their squares have its sum of squares.
///
/// The [`Info`] is 0, or the number of the first zero on the diagonals of R and then of the first n − p
/// columns of T, counted from 1. Up to p, B has not full rank. Beyond p, B and A stacked have not. X is
/// left as it was then.
///
/// # Errors
/// [`BlasError::Shape`], [`BlasError::SingleMatrix`], [`BlasError::OtherDevice`]: nothing is started
/// then. [`BlasError::Device`] if a driver does not take the kernels, memory is short or the device
/// fails.
pub fn gglse<T: Element>(
    a: MatMut<'_, T>,
    b: MatMut<'_, T>,
    c: MatMut<'_, T>,
    d: MatMut<'_, T>,
    x: MatMut<'_, T>,
) -> BlasResult<Info> {
    start([a, b, c, d, x].map(Operand::from))
}

fn start(operands: [Operand<'_>; 5]) -> BlasResult<Info> {
    check(operands)?;
    let ([a, b, c, d, x], device) = (operands.map(|operand| operand.block), operands[0].device);
    let mut word = Word::new(device)?;
    let mut events = Vec::new();
    if a.columns > 0 {
        Constrained { device, a, b, c, d }.solve(word.argument(), x, &mut events)?;
    }
    Ok(word.with(Completion::of(events)))
}

/// Checks that the operands fit each other.
fn check(operands: [Operand<'_>; 5]) -> BlasResult<()> {
    let [a, b, c, d, x] = operands.map(|operand| operand.block);
    let (m, n, p) = (a.rows, a.columns, b.rows);
    check_rows("gglse", m.max(n))?;
    check_extent("gglse", "B", "columns", n, b.columns, "as A has columns")?;
    let limit = |operand: &str, extent, wanted, found, reason| {
        Err(BlasError::Shape {
            operation: "gglse",
            operand: operand.to_owned(),
            extent,
            wanted,
            found,
            reason,
        })
    };
    if p > n {
        return limit("B", "rows", n, p, "the most constraints that n unknowns satisfy");
    }
    if n > m + p {
        return limit("A", "columns", m + p, n, "the most unknowns that the rows of A and B determine");
    }
    for (name, matrix, rows, reason) in
        [("C", c, m, "as A has rows"), ("D", d, p, "as B has rows"), ("X", x, n, "as A has columns")]
    {
        check_extent("gglse", name, "rows", rows, matrix.rows, reason)?;
        check_extent("gglse", name, "columns", c.columns, matrix.columns, "as C has columns")?;
    }
    for (name, operand) in ["A", "B", "C", "D", "X"].into_iter().zip(operands) {
        check_single("gglse", operand.count)?;
        check_device("gglse", name, operands[0].device, operand.device)?;
    }
    Ok(())
}

/// A problem under way.
struct Constrained<'a> {
    device: &'a Device,
    a: Block<'a>,
    b: Block<'a>,
    c: Block<'a>,
    d: Block<'a>,
}

impl Constrained<'_> {
    /// Starts the factorisations and the solution.
    ///
    /// Reflectors work from the first row on, and RQ needs them from the last one on. So B and the
    /// unknowns are factorised in reversed order: the transpose of the reversed B is Q̂ R̂.
    fn solve(&self, word: Argument<'_>, x: Block<'_>, events: &mut Vec<Event>) -> BlasResult<()> {
        let Self { device, a, b, c, d } = *self;
        let (m, n, p, element) = (a.rows, a.columns, b.rows, a.element);
        let (free, kept) = (n - p, m.min(n));

        let mut room = device.scratch_of(element, n * p)?;
        let tall = Block::at(room.output(), &MatrixLayout::column_major(n, p));
        let mut tau = device.scratch_of(element, p)?;
        reverse(device, [true, true], b.transposed(), tall, events)?;
        factorise(device, tall, tau.output(), events)?;
        reverse(device, [true, true], tall, b.transposed(), events)?;
        let reflectors = Reflectors { matrix: tall, tau: tau.input(), count: p };

        // A Qᴴ, the transpose of which is Q̂ᴴ times the transpose of the reversed A.
        let mut turned = device.scratch_of(element, m * n)?;
        let turned = Block::at(turned.output(), &MatrixLayout::column_major(m, n));
        reverse(device, [false, true], a, turned, events)?;
        let adjoint = Form { adjoint: true, conjugate: false };
        reflectors.apply(device, adjoint, turned.transposed(), false, events)?;
        reverse(device, [false, true], turned, a, events)?;

        let mut tau = device.scratch_of(element, kept)?;
        factorise(device, a, tau.output(), events)?;
        let of_a = Reflectors { matrix: a, tau: tau.input(), count: kept };
        of_a.apply(device, adjoint, c, false, events)?;

        let r = b.part(0..p, free..n);
        let t = a.part(0..free, 0..free);
        first_zero(device, [r, t], word, events)?;
        let upper = |matrix| Triangular { matrix, lower: false, conjugate: false };
        solve(device, upper(r), Diagonal::Stored, d, events)?;
        self.subtract(a.part(0..free, free..n), d, c.rows_of(0..free), events)?;
        solve(device, upper(t), Diagonal::Stored, c.rows_of(0..free), events)?;
        self.residual(free, kept, events)?;

        let mut y = device.scratch_of(element, n * x.columns)?;
        let y = Block::at(y.output(), &MatrixLayout::column_major(n, x.columns));
        reverse(device, [true, false], d, y.rows_of(0..p), events)?;
        reverse(device, [true, false], c.rows_of(0..free), y.rows_of(p..n), events)?;
        let conjugate = element.complex;
        reflectors.apply(device, Form { adjoint: false, conjugate }, y, false, events)?;
        if x.columns > 0 {
            let kernels = TriangleKernels::of(device, element)?;
            let mut old = device.scratch_of(element, n * x.columns)?;
            let old = Block::at(old.output(), &x.dense_layout());
            events.push(kernels.copy(x, old)?);
            reverse(device, [true, false], y, x, events)?;
            events.push(kernels.restore(word, old, x)?);
        }
        Ok(())
    }

    /// Starts to subtract what the constraints add to the rows of C beyond the free unknowns.
    fn residual(&self, free: usize, kept: usize, events: &mut Vec<Event>) -> BlasResult<()> {
        let Self { device, a, c, d, .. } = *self;
        let (n, rows) = (a.columns, kept - free);
        if rows == 0 {
            return Ok(());
        }
        let to = c.rows_of(free..kept);
        // What is below the diagonal belongs to reflectors.
        let mut full = device.scratch_of(a.element, rows * rows)?;
        let square = a.part(free..kept, free..kept);
        let kernels = TriangleKernels::of(device, a.element)?;
        events.push(kernels.spread_diagonal(rows, square, false, false, full.output())?);
        let full = Block::at(full.input(), &MatrixLayout::column_major(rows, rows));
        self.subtract(full, d.rows_of(0..rows), to, events)?;
        self.subtract(a.part(free..kept, kept..n), d.rows_of(rows..d.rows), to, events)
    }

    /// Starts C = C − A B, unless one of them has no elements.
    fn subtract(&self, a: Block<'_>, b: Block<'_>, c: Block<'_>, events: &mut Vec<Event>) -> BlasResult<()> {
        if a.columns > 0 && c.rows > 0 && c.columns > 0 {
            let product = multiply_blocks(self.device, -1, [(a, false), (b, false)], 1, c)?;
            events.extend(product.into_events());
        }
        Ok(())
    }
}

/// Starts to copy a block with its rows, or its columns, in reversed order.
fn reverse(
    device: &Device,
    reversed: [bool; 2],
    from: Block<'_>,
    to: Block<'_>,
    events: &mut Vec<Event>,
) -> BlasResult<()> {
    if to.rows > 0 && to.columns > 0 {
        events.push(TriangleKernels::of(device, to.element)?.copy_reversed(reversed, from, to)?);
    }
    Ok(())
}

/// Starts the search of the first zero on the diagonals of two squares, one after the other.
fn first_zero(
    device: &Device,
    squares: [Block<'_>; 2],
    word: Argument<'_>,
    events: &mut Vec<Event>,
) -> BlasResult<()> {
    let count = squares[0].rows + squares[1].rows;
    let mut line = device.scratch_of(squares[0].element, count)?;
    let mut first = 0;
    for square in squares {
        let part = Block::at(line.output().skip(first), &MatrixLayout::column_major(square.rows, 1));
        if square.rows > 0 {
            let from = square.diagonal();
            events.push(TriangleKernels::of(device, square.element)?.copy(from, part)?);
        }
        first += square.rows;
    }
    // A square whose columns lie on each other has the line as its diagonal.
    let square = MatrixLayout { leading_dimension: 0, ..MatrixLayout::column_major(count, count) };
    let line = Block::at(line.input(), &square);
    events.push(Kernels::of(device, line.element)?.first_zero(line, word)?);
    Ok(())
}
