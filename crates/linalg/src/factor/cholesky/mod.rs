//! A = L Lᴴ or A = Uᴴ U for Hermitian, positive definite matrices.
//!
//! A panel of 256 columns is worked off by blocks of 32 or 64. The columns of the panel before a block
//! are subtracted from it by one product. One work-group factorises the block on the diagonal and
//! inverts its factor. A product with the inverse makes the rows below. Then the panel is subtracted
//! from everything behind it.

mod kernels;
mod owned;

pub use owned::Cholesky;

use super::check_rows;
use super::info::{Info, Word};
use crate::block::{Block, Operand};
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::gemm::multiply_blocks;
use crate::level2::check_single;
use crate::level3::{Diagonal, RankUpdate, Triangle, check_square};
use crate::matrix::{MatMut, MatRef, MatrixLayout};
use crate::op::Op;
use crate::triangular::{self, Kernels as TriangleKernels, Triangular};
use kernels::Kernels;
use lattice_compute::scalar::Element;
use lattice_compute::{Argument, Device, Event};
use std::ops::Range;

/// Columns that are subtracted from all columns behind them at once.
const PANEL: usize = 256;

/// Starts A = L Lᴴ of a lower triangle, or A = Uᴴ U of an upper one, in place.
///
/// The other triangle is neither read nor written. Imaginary parts on the diagonal are not read and
/// become zero. If the leading minor of order k is not positive, the [`Info`] is k. Then the
/// leading k − 1 rows and columns are factorised, and all others are undefined. A NaN on the
/// diagonal is not positive.
///
/// # Errors
/// [`BlasError::NotSquare`](crate::BlasError::NotSquare),
/// [`BlasError::SingleMatrix`](crate::BlasError::SingleMatrix),
/// [`BlasError::Shape`](crate::BlasError::Shape) for more than 2³² − 2 rows: nothing is started
/// then. [`BlasError::Device`](crate::BlasError::Device) if a driver does not take the kernels,
/// memory is short or the device fails.
pub fn potrf<T: Element>(triangle: Triangle, a: MatMut<'_, T>) -> BlasResult<Info> {
    start(triangle, a.into())
}

fn start(triangle: Triangle, a: Operand<'_>) -> BlasResult<Info> {
    check_square("potrf", "A", a.block.rows, a.block.columns)?;
    check_single("potrf", a.count)?;
    check_rows("potrf", a.block.rows)?;
    // The upper triangle of A is the lower one of Aᵀ = Uᵀ (Uᵀ)ᴴ.
    factorise(a.device, if triangle == Triangle::Lower { a.block } else { a.block.transposed() })
}

/// Starts the first columns of L, of which `a` has all rows, in place.
///
/// The matrix has at least as many rows as columns. Its upper triangle is neither read nor written.
pub(crate) fn potrf_columns<T: Element>(a: MatMut<'_, T>) -> BlasResult<Info> {
    check_rows("potrf", a.rows())?;
    let device = a.device().clone();
    factorise(&device, Block::of_mut(a))
}

/// Starts the columns of L for a lower triangle, with the rows below it.
fn factorise(device: &Device, matrix: Block<'_>) -> BlasResult<Info> {
    let Block { rows, columns, .. } = matrix;
    let mut word = Word::new(device)?;
    let edge = TriangleKernels::of(device, matrix.element)?.shape().edge;
    let [rest, inverse] = [rows * edge, edge * edge].map(|len| device.scratch_of(matrix.element, len));
    let (mut rest, mut inverse) = (rest?, inverse?);
    let (rest, inverse) = (rest.output(), inverse.output());
    let work = Factorisation { device, matrix, rest, inverse, edge, info: word.argument() };
    let mut events = Vec::new();
    for first in (0..columns).step_by(PANEL) {
        let panel = first..(first + PANEL).min(columns);
        for start in panel.clone().step_by(edge) {
            work.block(first, start..(start + edge).min(panel.end), &mut events)?;
        }
        work.subtract(panel.clone(), panel.end..columns, &mut events)?;
    }
    Ok(word.with(Completion::of(events)))
}

/// A lower triangle that is being factorised, with the rows below it.
struct Factorisation<'a> {
    device: &'a Device,
    matrix: Block<'a>,
    /// Memory for the columns of a block while they are no columns of L yet.
    rest: Argument<'a>,
    /// Memory for the inverse of a block of L on the diagonal.
    inverse: Argument<'a>,
    /// Most columns of a block.
    edge: usize,
    info: Argument<'a>,
}

impl Factorisation<'_> {
    /// Starts the columns of a block.
    ///
    /// The columns before those of its panel, which begins with column `panel`, have been subtracted.
    fn block(&self, panel: usize, block: Range<usize>, events: &mut Vec<Event>) -> BlasResult<()> {
        let Self { device, matrix, edge, info, .. } = *self;
        let (rows, width) = (block.start..matrix.rows, block.len());
        let whole = matrix.part(rows.clone(), block.clone());
        let rest = Block::at(self.rest, &whole.dense_layout());
        let triangles = TriangleKernels::of(device, matrix.element)?;
        events.push(triangles.copy(whole, rest)?);
        if panel < block.start {
            let before = matrix.part(rows, panel..block.start);
            let factors = [(before, false), (before.rows_of(0..width).transposed(), matrix.element.complex)];
            events.extend(multiply_blocks(device, -1, factors, 1, rest)?.into_events());
        }
        let [diagonal, l] = [rest, whole].map(|columns| columns.rows_of(0..width));
        let kernels = Kernels::of(device, matrix.element)?;
        events.push(kernels.block(diagonal, l, block.start, self.inverse, info)?);
        let below = width..whole.rows;
        if !below.is_empty() {
            // L₂₁ = A₂₁ L₁₁⁻ᴴ
            let layout = MatrixLayout::column_major(width, width).leading_dimension(edge);
            let inverse = Block::at(self.inverse, &layout).transposed();
            let factors = [(rest.rows_of(below.clone()), false), (inverse, matrix.element.complex)];
            events.extend(multiply_blocks(device, 1, factors, 0, whole.rows_of(below))?.into_events());
        }
        Ok(())
    }

    /// Starts to subtract the products of finished columns from the columns behind them.
    fn subtract(&self, done: Range<usize>, behind: Range<usize>, events: &mut Vec<Event>) -> BlasResult<()> {
        let Self { device, matrix, .. } = *self;
        if behind.is_empty() {
            return Ok(());
        }
        let left = matrix.part(behind.clone(), done.clone());
        let complex = matrix.element.complex;
        let right = (left.transposed(), complex);
        let update = RankUpdate { device, lower: true, hermitian: complex };
        let square = matrix.part(behind.clone(), behind.clone());
        let updated = update.start(
            [-1, 1].map(|number| square.element.factor(number)),
            [(left, false), right],
            square,
        )?;
        events.extend(updated.into_events());
        let below = behind.end..matrix.rows;
        if !below.is_empty() {
            let factors = [(matrix.part(below.clone(), done), false), right];
            let product = multiply_blocks(device, -1, factors, 1, matrix.part(below, behind))?;
            events.extend(product.into_events());
        }
        Ok(())
    }
}

/// Starts X = A⁻¹ B in the place of B, with the factor of A from [`potrf`].
///
/// # Errors
/// The errors of [`trsm`](crate::trsm).
pub fn potrs<T: Element>(
    triangle: Triangle,
    factor: MatRef<'_, T>,
    b: MatMut<'_, T>,
) -> BlasResult<Completion> {
    solve(triangle, factor.into(), b.into())
}

fn solve(triangle: Triangle, factor: Operand<'_>, b: Operand<'_>) -> BlasResult<Completion> {
    let ops = if triangle == Triangle::Lower { [Op::N, Op::C] } else { [Op::C, Op::N] };
    let mut events = Vec::new();
    for op in ops {
        let solved = triangular::solve_left(triangle, op, Diagonal::Stored, factor, b)?;
        events.extend(solved.into_events());
    }
    Ok(Completion::of(events))
}

/// Starts the inverse of A in the place of its factor from [`potrf`].
///
/// The other triangle is neither read nor written. The operation takes scratch memory for two
/// matrices.
///
/// # Errors
/// The errors of [`potrf`].
pub fn potri<T: Element>(triangle: Triangle, factor: MatMut<'_, T>) -> BlasResult<Completion> {
    check_square("potri", "A", factor.rows(), factor.columns())?;
    check_single("potri", factor.count())?;
    let (device, block) = (factor.device(), Block::of_mut(factor));
    invert(device, if triangle == Triangle::Lower { block } else { block.transposed() })
}

/// Starts the lower triangle of A⁻¹ in the place of L.
fn invert(device: &Device, matrix: Block<'_>) -> BlasResult<Completion> {
    let (n, element) = (matrix.rows, matrix.element);
    if n == 0 {
        return Ok(Completion::nothing());
    }
    let mut events = Vec::new();
    let mut room = device.scratch_of(element, n * n)?;
    let inverse = Block::at(room.output(), &matrix.dense_layout());
    inverse_of_lower(device, matrix, inverse, &mut events)?;
    // A⁻¹ = L⁻ᴴ L⁻¹
    let update = RankUpdate { device, lower: true, hermitian: element.complex };
    let factors = [(inverse.transposed(), element.complex), (inverse, false)];
    let updated = update.start([1, 0].map(|number| element.factor(number)), factors, matrix)?;
    events.extend(updated.into_events());
    Ok(Completion::of(events))
}

/// Starts X = L⁻¹.
fn inverse_of_lower(
    device: &Device,
    matrix: Block<'_>,
    inverse: Block<'_>,
    events: &mut Vec<Event>,
) -> BlasResult<()> {
    events.push(TriangleKernels::of(device, inverse.element)?.set_identity(inverse)?);
    let tri = Triangular { matrix, lower: true, conjugate: false };
    triangular::solve(device, tri, Diagonal::Stored, inverse, events)
}

/// Starts the solution of A X = B for a Hermitian, positive definite A.
///
/// A is overwritten by its factor, as [`potrf`] does it, and B by X. If the [`Info`] is not 0, B stays
/// as it was. The operation takes scratch memory for a copy of B.
///
/// # Errors
/// The errors of [`potrf`] and [`potrs`]. If B does not fit A, nothing is started.
pub fn posv<T: Element>(triangle: Triangle, a: MatMut<'_, T>, b: MatMut<'_, T>) -> BlasResult<Info> {
    start_and_solve(triangle, a.into(), b.into())
}

fn start_and_solve(triangle: Triangle, a: Operand<'_>, b: Operand<'_>) -> BlasResult<Info> {
    super::check_right_side("posv", a, b)?;
    let mut info = start(triangle, a)?;
    info.keep_unless_solved(b, |b| solve(triangle, a, b))?;
    Ok(info)
}
