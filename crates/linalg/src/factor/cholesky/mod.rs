//! A = L Lᴴ or A = Uᴴ U for Hermitian, positive definite matrices.
//!
//! The factorisation halves the matrix until a block fits into local memory. The block is factorised
//! and its factor inverted by one work-group. The columns below it and the update of the rest are
//! products.

mod kernels;
mod owned;

pub use owned::Cholesky;

use super::check_rows;
use super::info::{Info, Word};
use crate::block::Block;
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::level2::check_single;
use crate::level3::{Diagonal, RankUpdate, Side, Triangle, check_square};
use crate::matrix::{MatMut, MatRef};
use crate::op::Op;
use crate::triangular::{self, Inverses, Kernels as TriangleKernels, Triangular, solve_with, trsm};
use kernels::Kernels;
use lattice_compute::scalar::{Element, Scalar};
use lattice_compute::{Argument, Device, Event};
use std::ops::Range;

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
    check_square("potrf", "A", a.rows(), a.columns())?;
    check_single("potrf", a.count())?;
    check_rows("potrf", a.rows())?;
    let device = a.device().clone();
    // The upper triangle of A is the lower one of Aᵀ = Uᵀ (Uᵀ)ᴴ.
    let block = Block::of_mut(a);
    let matrix = if triangle == Triangle::Lower { block } else { block.transposed() };
    factorise::<T>(&device, matrix)
}

/// Starts the first columns of L, of which `a` has all rows, in place.
///
/// The matrix has at least as many rows as columns. Its upper triangle is neither read nor written.
pub(crate) fn potrf_columns<T: Element>(a: MatMut<'_, T>) -> BlasResult<Info> {
    check_rows("potrf", a.rows())?;
    let device = a.device().clone();
    factorise::<T>(&device, Block::of_mut(a))
}

/// Starts the columns of L for a lower triangle, with the rows below it.
fn factorise<T: Element>(device: &Device, matrix: Block<'_>) -> BlasResult<Info> {
    let mut word = Word::new(device)?;
    let mut events = Vec::new();
    let (mut room, edge) = Inverses::room::<T>(device, matrix.columns)?;
    let inverses = Inverses { elements: room.output(), edge };
    let work = Factorisation { device, matrix, inverses, info: word.argument() };
    work.columns::<T>(0..matrix.columns, &mut events)?;
    work.below::<T>(0..matrix.columns, matrix.columns..matrix.rows, &mut events)?;
    Ok(word.with(Completion::of(events)))
}

/// A lower triangle that is being factorised.
struct Factorisation<'a> {
    device: &'a Device,
    matrix: Block<'a>,
    /// The inverses of the blocks of L along the diagonal, as far as they are known.
    inverses: Inverses<'a>,
    info: Argument<'a>,
}

impl Factorisation<'_> {
    /// Starts the factorisation of a range of rows and columns.
    ///
    /// The products with earlier columns have been subtracted from it already.
    fn columns<T: Element>(&self, range: Range<usize>, events: &mut Vec<Event>) -> BlasResult<()> {
        let Self { device, matrix, inverses, info } = *self;
        if range.is_empty() {
            return Ok(());
        }
        if range.len() <= inverses.edge {
            let block = matrix.part(range.clone(), range.clone());
            let inverse = inverses.elements.skip(range.start * inverses.edge);
            events.push(Kernels::<T>::of(device)?.block(block, range.start, inverse, info)?);
            return Ok(());
        }
        let middle = range.start + (range.len() / 2).next_multiple_of(inverses.edge);
        let (first, second) = (range.start..middle, middle..range.end);
        self.columns::<T>(first.clone(), events)?;
        self.below::<T>(first.clone(), second.clone(), events)?;
        let below = matrix.part(second.clone(), first);
        let update = RankUpdate { device, lower: true, hermitian: T::IS_COMPLEX };
        let rest = matrix.part(second.clone(), second.clone());
        let (left, right) = ((below, false), (below.transposed(), T::IS_COMPLEX));
        let updated = update.start::<T>((-1).factor(), left, right, 1.factor().keeping(), rest)?;
        events.extend(updated.into_events());
        self.columns::<T>(second, events)
    }

    /// Starts L₂₁ = A₂₁ L₁₁⁻ᴴ, as L₁₁* L₂₁ᵀ = A₂₁ᵀ, for finished columns and rows below them.
    fn below<T: Element>(
        &self,
        columns: Range<usize>,
        rows: Range<usize>,
        events: &mut Vec<Event>,
    ) -> BlasResult<()> {
        let Self { device, matrix, inverses, .. } = *self;
        if columns.is_empty() || rows.is_empty() {
            return Ok(());
        }
        let below = matrix.part(rows, columns.clone());
        let tri = Triangular {
            matrix: matrix.part(columns.clone(), columns.clone()),
            lower: true,
            conjugate: T::IS_COMPLEX,
        };
        let elements = inverses.elements.skip(columns.start * inverses.edge);
        let known = Inverses { elements, ..inverses };
        solve_with::<T>(device, tri, known, 1.factor().keeping(), below.transposed(), events)
    }
}

/// Starts X = A⁻¹ B in the place of B, with the factor of A from [`potrf`].
///
/// # Errors
/// The errors of [`trsm`].
pub fn potrs<T: Element>(
    triangle: Triangle,
    factor: MatRef<'_, T>,
    mut b: MatMut<'_, T>,
) -> BlasResult<Completion> {
    let ops = if triangle == Triangle::Lower { [Op::N, Op::C] } else { [Op::C, Op::N] };
    let mut events = Vec::new();
    for op in ops {
        let solved = trsm(Side::Left, triangle, op, Diagonal::Stored, 1, factor, b.reborrow())?;
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
    let (device, n) = (factor.device().clone(), factor.rows());
    if n == 0 {
        return Ok(Completion::nothing());
    }
    let block = Block::of_mut(factor);
    let matrix = if triangle == Triangle::Lower { block } else { block.transposed() };
    let mut events = Vec::new();
    let mut room = device.scratch::<T>(n * n)?;
    let inverse = Block::at(room.output(), &matrix.dense_layout());
    inverse_of_lower::<T>(&device, matrix, inverse, &mut events)?;
    // A⁻¹ = L⁻ᴴ L⁻¹
    let update = RankUpdate { device: &device, lower: true, hermitian: T::IS_COMPLEX };
    let (left, right) = ((inverse.transposed(), T::IS_COMPLEX), (inverse, false));
    events.extend(update.start::<T>(1.factor(), left, right, 0.factor(), matrix)?.into_events());
    Ok(Completion::of(events))
}

/// Starts X = L⁻¹.
fn inverse_of_lower<T: Element>(
    device: &Device,
    matrix: Block<'_>,
    inverse: Block<'_>,
    events: &mut Vec<Event>,
) -> BlasResult<()> {
    events.push(TriangleKernels::<T>::of(device)?.set_identity(inverse)?);
    let tri = Triangular { matrix, lower: true, conjugate: false };
    triangular::solve::<T>(device, tri, Diagonal::Stored, 1.factor().keeping(), inverse, events)
}

/// Starts the solution of A X = B for a Hermitian, positive definite A.
///
/// A is overwritten by its factor, as [`potrf`] does it, and B by X. If the [`Info`] is not 0, B stays
/// as it was. The operation takes scratch memory for a copy of B.
///
/// # Errors
/// The errors of [`potrf`] and [`potrs`]. If B does not fit A, nothing is started.
pub fn posv<T: Element>(triangle: Triangle, mut a: MatMut<'_, T>, b: MatMut<'_, T>) -> BlasResult<Info> {
    super::check_right_side("posv", a.as_ref(), &b)?;
    let mut info = potrf(triangle, a.reborrow())?;
    info.keep_unless_solved(b, |b| potrs(triangle, a.as_ref(), b))?;
    Ok(info)
}
