//! P A = L U with partial pivoting.
//!
//! The factorisation halves the columns until a panel has at most 32. A panel takes a step for each
//! column, all in one launch where work-groups can meet, and no pivot is ever read by the host. All
//! exchanges of a half are traced to one gather of rows. The rest is triangular systems and products.

mod kernels;
mod owned;

pub use owned::{Determinant, Lu};

use super::info::{Info, Word};
use super::{check_right_side, check_rows};
use crate::block::{Block, Operand};
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::gemm::multiply_blocks;
use crate::level2::{check_extent, check_single};
use crate::level3::{Diagonal, Triangle, check_square};
use crate::matrix::{MatMut, MatRef};
use crate::op::Op;
use crate::triangular::{Kernels as TriangleKernels, Triangular, solve, solve_left};
use kernels::{Kernels, Pivots, WIDTH};
use lattice_compute::scalar::Element;
use lattice_compute::{Argument, Buffer, BufferView, BufferViewMut, Device, Event};
use std::ops::Range;

/// Starts P A = L U, with L and U in the place of A.
///
/// L has ones on its diagonal, which are not stored. Row i was exchanged with row `pivots[i]`, from
/// the first to the last. A has any number of rows and columns. `pivots` has an element for each of
/// the fewer ones. The pivot of a column is its element with the largest |Re| + |Im|, the first of
/// equal ones.
///
/// The [`Info`] is the number of the first pivot that is exactly zero, counted from 1. The
/// factorisation goes on.
///
/// # Errors
/// [`BlasError::Shape`](crate::BlasError::Shape) for pivots of another number or more than 2³² − 2
/// rows, [`BlasError::SingleMatrix`](crate::BlasError::SingleMatrix): nothing is started then.
/// [`BlasError::Device`](crate::BlasError::Device) if a driver does not take the kernels, memory is
/// short or the device fails.
pub fn getrf<'p, T: Element>(
    a: MatMut<'_, T>,
    pivots: impl Into<BufferViewMut<'p, u32>>,
) -> BlasResult<Info> {
    start(a.into(), pivots.into())
}

fn start(a: Operand<'_>, pivots: BufferViewMut<'_, u32>) -> BlasResult<Info> {
    let Operand { block: matrix, device, .. } = a;
    check_single("getrf", a.count)?;
    check_rows("getrf", matrix.rows)?;
    let count = matrix.rows.min(matrix.columns);
    check_extent("getrf", "pivots", "elements", count, pivots.len(), "as A has rows or columns, the fewer")?;
    let mut word = Word::new(device)?;
    let mut events = Vec::new();
    if count > 0 {
        let mut arrived = Buffer::<u32>::zeroed(device, count.div_ceil(WIDTH))?;
        let (info, arrived) = (word.argument(), arrived.view_mut().into());
        let work = Factorisation { device, matrix, pivots: pivots.into(), info, arrived };
        work.columns(0..count, &mut events)?;
        // The columns behind a square matrix are rows of U.
        work.finish(0..count, count..matrix.columns, &mut events)?;
    }
    Ok(word.with(Completion::of(events)))
}

/// A matrix that is being factorised.
struct Factorisation<'a> {
    device: &'a Device,
    matrix: Block<'a>,
    pivots: Argument<'a>,
    info: Argument<'a>,
    /// A zero for each panel, with which its work-groups count each other.
    arrived: Argument<'a>,
}

impl Factorisation<'_> {
    /// Returns the pivots of these columns.
    fn pivots(&self, columns: &Range<usize>) -> Pivots<'_> {
        Pivots { rows: self.pivots.skip(columns.start), count: columns.len(), first: columns.start }
    }

    /// Starts the factorisation of these columns, to which nothing is to be added.
    fn columns(&self, range: Range<usize>, events: &mut Vec<Event>) -> BlasResult<()> {
        let Self { device, matrix, info, arrived, .. } = *self;
        if range.len() <= WIDTH {
            let panel = matrix.part(range.start..matrix.rows, range.clone());
            let kernels = Kernels::of(device, matrix.element)?;
            let counts = [info, arrived.skip(range.start / WIDTH)];
            return Ok(kernels.panel(device, panel, self.pivots(&range), counts, events)?);
        }
        let middle = range.start + (range.len() / 2).next_multiple_of(WIDTH);
        let (first, second) = (range.start..middle, middle..range.end);
        self.columns(first.clone(), events)?;
        self.finish(first.clone(), second.clone(), events)?;
        self.columns(second.clone(), events)?;
        let left = matrix.part(second.start..matrix.rows, first);
        Ok(Kernels::of(device, matrix.element)?.exchange(
            device,
            left,
            self.pivots(&second),
            false,
            events,
        )?)
    }

    /// Starts what the factors of the columns `done` do to those of `rest`.
    fn finish(&self, done: Range<usize>, rest: Range<usize>, events: &mut Vec<Event>) -> BlasResult<()> {
        let Self { device, matrix, .. } = *self;
        if rest.is_empty() {
            return Ok(());
        }
        let right = matrix.part(done.start..matrix.rows, rest.clone());
        let kernels = Kernels::of(device, matrix.element)?;
        kernels.exchange(device, right, self.pivots(&done), false, events)?;
        let beside = matrix.part(done.clone(), rest.clone());
        if done.len() <= kernels.most_substituted() {
            self.substitute(&kernels, done.clone(), rest.clone(), events)?;
        } else {
            let factor = matrix.part(done.clone(), done.clone());
            let tri = Triangular { matrix: factor, lower: true, conjugate: false };
            solve(device, tri, Diagonal::Ones, beside, events)?;
        }
        let below = done.end..matrix.rows;
        let factors = [(matrix.part(below.clone(), done), false), (beside, false)];
        let product = multiply_blocks(device, -1, factors, 1, matrix.part(below, rest))?;
        events.extend(product.into_events());
        Ok(())
    }

    /// Starts rows of U in the columns `rest`, by substitutions of at most [`WIDTH`] rows.
    fn substitute(
        &self,
        kernels: &Kernels,
        done: Range<usize>,
        rest: Range<usize>,
        events: &mut Vec<Event>,
    ) -> BlasResult<()> {
        let Self { device, matrix, .. } = *self;
        if done.len() <= WIDTH {
            let factor = matrix.part(done.clone(), done.clone());
            events.push(kernels.substitute(factor, matrix.part(done, rest))?);
            return Ok(());
        }
        let middle = done.start + WIDTH;
        let (first, second) = (done.start..middle, middle..done.end);
        self.substitute(kernels, first.clone(), rest.clone(), events)?;
        let left = (matrix.part(second.clone(), first.clone()), false);
        let factors = [left, (matrix.part(first, rest.clone()), false)];
        let product = multiply_blocks(device, -1, factors, 1, matrix.part(second.clone(), rest.clone()))?;
        events.extend(product.into_events());
        self.substitute(kernels, second, rest, events)
    }
}

/// Starts X = op(A)⁻¹ B in the place of B, with A from [`getrf`].
///
/// `factors` and `pivots` are the results of [`getrf`].
///
/// # Errors
/// [`BlasError::NotSquare`](crate::BlasError::NotSquare),
/// [`BlasError::Shape`](crate::BlasError::Shape),
/// [`BlasError::SingleMatrix`](crate::BlasError::SingleMatrix),
/// [`BlasError::OtherDevice`](crate::BlasError::OtherDevice): nothing is started then.
/// [`BlasError::Device`](crate::BlasError::Device) if a driver does not take the kernels, memory is
/// short or the device fails.
pub fn getrs<'p, T: Element>(
    op: Op,
    factors: MatRef<'_, T>,
    pivots: impl Into<BufferView<'p, u32>>,
    b: MatMut<'_, T>,
) -> BlasResult<Completion> {
    solve_with(op, factors.into(), pivots.into(), b.into())
}

fn solve_with(
    op: Op,
    factors: Operand<'_>,
    pivots: BufferView<'_, u32>,
    b: Operand<'_>,
) -> BlasResult<Completion> {
    check_right_side("getrs", factors, b)?;
    check_extent("getrs", "pivots", "elements", factors.block.rows, pivots.len(), "as A has rows")?;
    let kernels = Kernels::of(b.device, b.block.element)?;
    let pivots = Pivots { count: pivots.len(), rows: pivots.into(), first: 0 };
    let mut events = Vec::new();
    let mut systems = [(Triangle::Lower, Diagonal::Ones), (Triangle::Upper, Diagonal::Stored)];
    if op == Op::N {
        kernels.exchange(b.device, b.block, pivots, false, &mut events)?;
    } else {
        systems.reverse();
    }
    for (triangle, diagonal) in systems {
        events.extend(solve_left(triangle, op, diagonal, factors, b)?.into_events());
    }
    if op != Op::N {
        kernels.exchange(b.device, b.block, pivots, true, &mut events)?;
    }
    Ok(Completion::of(events))
}

/// Starts A⁻¹ in the place of the factors that [`getrf`] has made of A.
///
/// The operation takes scratch memory for three matrices.
///
/// # Errors
/// The errors of [`getrs`].
pub fn getri<'p, T: Element>(
    factors: MatMut<'_, T>,
    pivots: impl Into<BufferView<'p, u32>>,
) -> BlasResult<Completion> {
    invert(factors.into(), pivots.into())
}

fn invert(factors: Operand<'_>, pivots: BufferView<'_, u32>) -> BlasResult<Completion> {
    let Operand { block: matrix, device, .. } = factors;
    check_square("getri", "A", matrix.rows, matrix.columns)?;
    check_single("getri", factors.count)?;
    check_extent("getri", "pivots", "elements", matrix.rows, pivots.len(), "as A has rows")?;
    if matrix.rows == 0 {
        return Ok(Completion::nothing());
    }
    let pivots = Pivots { count: pivots.len(), rows: pivots.into(), first: 0 };
    let mut events = Vec::new();
    let mut room = device.scratch_of(matrix.element, matrix.rows * matrix.rows)?;
    let inverse = Block::at(room.output(), &matrix.dense_layout());
    let kernels = TriangleKernels::of(device, matrix.element)?;
    events.push(kernels.set_identity(inverse)?);
    Kernels::of(device, matrix.element)?.exchange(device, inverse, pivots, false, &mut events)?;
    for (lower, diagonal) in [(true, Diagonal::Ones), (false, Diagonal::Stored)] {
        let tri = Triangular { matrix, lower, conjugate: false };
        solve(device, tri, diagonal, inverse, &mut events)?;
    }
    events.push(kernels.copy(inverse, matrix)?);
    Ok(Completion::of(events))
}

/// Starts the solution of A X = B.
///
/// A is overwritten by its factors, as [`getrf`] does it, and B by X. If the [`Info`] is not 0, B stays
/// as it was. The operation takes scratch memory for a copy of B.
///
/// # Errors
/// The errors of [`getrf`] and [`getrs`]. If B does not fit A, nothing is started.
pub fn gesv<'p, T: Element>(
    a: MatMut<'_, T>,
    pivots: impl Into<BufferViewMut<'p, u32>>,
    b: MatMut<'_, T>,
) -> BlasResult<Info> {
    start_and_solve(a.into(), pivots.into(), b.into())
}

fn start_and_solve(a: Operand<'_>, mut pivots: BufferViewMut<'_, u32>, b: Operand<'_>) -> BlasResult<Info> {
    check_right_side("gesv", a, b)?;
    let mut info = start(a, pivots.reborrow())?;
    info.keep_unless_solved(b, |b| solve_with(Op::N, a, pivots.as_view(), b))?;
    Ok(info)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host;
    use crate::matrix::MatrixLayout;
    use lattice_compute::{CacheMode, DeviceKind, DeviceOptions, discover};

    /// Panels in registers, substitutions and updates of GPUs, on every device.
    #[test]
    fn the_way_of_gpus_has_the_factors_of_the_twin() {
        let options = DeviceOptions::default().with_cache(CacheMode::Off);
        for mut found in discover().devices.into_iter().filter(|found| found.info.fp64) {
            found.info.kind = DeviceKind::Gpu;
            let device = Device::open(&found, &options).unwrap();
            let (rows, columns) = (157, 131);
            let number = |k: usize| (0.7 * k as f64 * k as f64).cos();
            let a: Vec<f64> = (0..rows * columns).map(number).collect();
            let mut buffer = Buffer::from_slice(&device, &a).unwrap();
            let mut pivots = Buffer::<u32>::zeroed(&device, columns).unwrap();
            let matrix = MatMut::new(&mut buffer, MatrixLayout::column_major(rows, columns)).unwrap();
            assert_eq!(getrf(matrix, &mut pivots).unwrap().wait().unwrap(), 0);
            let mut twin = a.clone();
            let (expected, _) = host::lu::factorise(rows, &mut twin);
            assert_eq!(pivots.to_vec().unwrap(), expected);
            let found = buffer.to_vec().unwrap();
            let error = found.iter().zip(&twin).map(|(f, t)| (f - t).abs()).fold(0.0, f64::max);
            assert!(error < 1e-11, "{error:e}");
        }
    }
}
