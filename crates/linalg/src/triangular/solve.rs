//! Triangular systems and products by blocks, for operands in one common form.

use super::kernels::Kernels;
use crate::block::Block;
use crate::error::BlasResult;
use crate::gemm::{self, GemmParams, Problem, multiply_blocks};
use crate::level3::{Diagonal, Side, Triangle};
use crate::matrix::MatrixLayout;
use crate::op::Op;
use lattice_compute::scalar::AnyFactor;
use lattice_compute::{Argument, Device, Event};
use std::ops::Range;

/// Rows of the diagonal blocks that are multiplied as full matrices.
const PRODUCT_EDGE: usize = 128;

/// Most columns of a system for which X is corrected.
const FEW_COLUMNS: usize = 64;

/// A triangular matrix as it stands on the left of a system or a product.
#[derive(Clone, Copy)]
pub(crate) struct Triangular<'a> {
    pub matrix: Block<'a>,
    pub lower: bool,
    pub conjugate: bool,
}

impl<'a> Triangular<'a> {
    /// Returns the matrix of op(A), and B as it stands on the right of it.
    ///
    /// B op(A) is computed as op(A)ᵀ Bᵀ.
    pub fn entering(side: Side, triangle: Triangle, op: Op, a: Block<'a>, b: Block<'a>) -> (Self, Block<'a>) {
        let transposed = (op != Op::N) != (side == Side::Right);
        let tri = Self {
            matrix: if transposed { a.transposed() } else { a },
            lower: (triangle == Triangle::Lower) != transposed,
            conjugate: op == Op::C && a.element.complex,
        };
        (tri, if side == Side::Right { b.transposed() } else { b })
    }

    /// Returns both halves of a range, in the order in which they are solved.
    ///
    /// They meet at a multiple of `edge`.
    fn halves(&self, range: Range<usize>, edge: usize) -> [Range<usize>; 2] {
        let middle = range.start + (range.len() / 2).next_multiple_of(edge);
        let (first, second) = (range.start..middle, middle..range.end);
        if self.lower { [first, second] } else { [second, first] }
    }

    /// Returns rows and columns beside the diagonal, as they enter.
    fn beside(&self, rows: &Range<usize>, columns: &Range<usize>) -> (Block<'a>, bool) {
        (self.matrix.part(rows.clone(), columns.clone()), self.conjugate)
    }
}

/// The blocks along the diagonal of a triangular matrix, or their inverses.
#[derive(Clone, Copy)]
struct Diagonals<'a> {
    /// The blocks one after another, column-major, with `edge` rows each.
    elements: Argument<'a>,
    edge: usize,
}

impl<'a> Diagonals<'a> {
    /// Returns the block with these rows.
    fn of(&self, rows: &Range<usize>) -> Block<'a> {
        let layout = MatrixLayout::column_major(rows.len(), rows.len())
            .leading_dimension(self.edge)
            .offset(rows.start * self.edge);
        Block::at(self.elements, &layout)
    }
}

/// Starts X = A⁻¹ B for a triangular A, and puts X in the place of B.
///
/// Residuals are larger than those of a substitution if diagonal blocks are ill-conditioned.
pub(crate) fn solve(
    device: &Device,
    tri: Triangular<'_>,
    diagonal: Diagonal,
    b: Block<'_>,
    events: &mut Vec<Event>,
) -> BlasResult<()> {
    solve_by_blocks(device, tri, diagonal, b.element.factor(1), b, false, events)
}

/// Starts X = α A⁻¹ B, for few columns with the residual of a substitution.
///
/// Few columns take little time anyway, and are often those of a system that is to be solved.
pub(super) fn solve_well(
    device: &Device,
    tri: Triangular<'_>,
    diagonal: Diagonal,
    alpha: AnyFactor,
    b: Block<'_>,
    events: &mut Vec<Event>,
) -> BlasResult<()> {
    solve_by_blocks(device, tri, diagonal, alpha, b, b.columns <= FEW_COLUMNS, events)
}

/// Starts X = α A⁻¹ B, and if wanted corrects X once in each block.
fn solve_by_blocks(
    device: &Device,
    tri: Triangular<'_>,
    diagonal: Diagonal,
    alpha: AnyFactor,
    b: Block<'_>,
    corrected: bool,
    events: &mut Vec<Event>,
) -> BlasResult<()> {
    if b.rows == 0 || b.columns == 0 {
        return Ok(());
    }
    let kernels = Kernels::of(device, b.element)?;
    let edge = kernels.shape().edge;
    let size = tri.matrix.rows.div_ceil(edge) * edge * edge;
    let mut room = device.scratch_of(b.element, size)?;
    let inverses = Diagonals { elements: room.output(), edge };
    let unit = diagonal == Diagonal::Ones;
    // The blocks are those of A as it is stored. So they are conjugated where A is.
    events.push(kernels.invert_diagonal(tri.matrix, tri.lower, unit, inverses.elements)?);
    let mut full = device.scratch_of(b.element, if corrected { size } else { 0 })?;
    let blocks = corrected.then(|| Diagonals { elements: full.output(), edge });
    if let Some(blocks) = &blocks {
        events.push(kernels.spread_diagonal(edge, tri.matrix, tri.lower, unit, blocks.elements)?);
    }
    // The remaining B is updated in a copy, so that every product goes to where X belongs.
    let mut rest = device.scratch_of(b.element, b.rows * b.columns)?;
    let rest = Block::at(rest.output(), &b.dense_layout());
    events.push(kernels.copy_scaled(alpha, b, rest)?);
    System { device, tri, inverses, blocks, rest, x: b }.rows(0..b.rows, events)
}

/// A triangular system that is being solved.
struct System<'a> {
    device: &'a Device,
    tri: Triangular<'a>,
    inverses: Diagonals<'a>,
    /// The blocks themselves, if X is to be corrected.
    blocks: Option<Diagonals<'a>>,
    rest: Block<'a>,
    x: Block<'a>,
}

impl System<'_> {
    /// Starts the solution of these rows. The terms of other rows have been subtracted.
    fn rows(&self, range: Range<usize>, events: &mut Vec<Event>) -> BlasResult<()> {
        let Self { device, tri, inverses, blocks, rest, x } = *self;
        if range.len() <= inverses.edge {
            let [rest, x] = [rest, x].map(|columns| columns.rows_of(range.clone()));
            let inverse = (inverses.of(&range), tri.conjugate);
            events.extend(multiply_blocks(device, 1, [inverse, (rest, false)], 0, x)?.into_events());
            if let Some(blocks) = blocks {
                let own = [(blocks.of(&range), tri.conjugate), (x, false)];
                events.extend(multiply_blocks(device, -1, own, 1, rest)?.into_events());
                events.extend(multiply_blocks(device, 1, [inverse, (rest, false)], 1, x)?.into_events());
            }
            return Ok(());
        }
        let [first, second] = tri.halves(range, inverses.edge);
        self.rows(first.clone(), events)?;
        let factors = [tri.beside(&second, &first), (x.rows_of(first), false)];
        let product = multiply_blocks(device, -1, factors, 1, rest.rows_of(second.clone()))?;
        events.extend(product.into_events());
        self.rows(second, events)
    }
}

/// Starts B = α A B for a triangular A.
pub(crate) fn multiply(
    device: &Device,
    tri: Triangular<'_>,
    diagonal: Diagonal,
    alpha: AnyFactor,
    b: Block<'_>,
    events: &mut Vec<Event>,
) -> BlasResult<()> {
    let (kernels, n, edge) = (Kernels::of(device, b.element)?, b.rows, PRODUCT_EDGE.min(b.rows));
    let (mut old, mut full) = (
        device.scratch_of(b.element, n * b.columns)?,
        device.scratch_of(b.element, n.div_ceil(edge) * edge * edge)?,
    );
    let old = Block::at(old.output(), &b.dense_layout());
    events.push(kernels.copy(b, old)?);
    let full = full.output();
    let unit = diagonal == Diagonal::Ones;
    events.push(kernels.spread_diagonal(edge, tri.matrix, tri.lower, unit, full)?);

    // The diagonal blocks overwrite B, all whole ones in one batch.
    let whole = n / edge;
    let last = whole * edge;
    for (first, size, count) in [(0, edge, whole), (last, n - last, usize::from(last < n))] {
        if count == 0 {
            continue;
        }
        let layout = MatrixLayout::column_major(size, size).leading_dimension(edge).offset(first * edge);
        let block = Block::at(full, &layout);
        let (from, to) = (old.rows_of(first..first + size), b.rows_of(first..first + size));
        let factors = [(block, tri.conjugate), (from, false)];
        let strides = [edge * edge, edge * old.steps()[0], edge * b.steps()[0]];
        let problem = Problem::of_batch(count, strides, [alpha, b.element.factor(0)], factors, to);
        events.extend(gemm::start(device, &GemmParams::default(), problem)?.into_events());
    }
    add_beside(device, tri, alpha, old, b, 0..n, edge, events)
}

/// Starts B = B + α A₂₁ X₁ for a range of rows.
///
/// The product takes the parts of A beside the diagonal blocks.
#[allow(clippy::too_many_arguments)]
fn add_beside(
    device: &Device,
    tri: Triangular<'_>,
    alpha: AnyFactor,
    x: Block<'_>,
    b: Block<'_>,
    range: Range<usize>,
    edge: usize,
    events: &mut Vec<Event>,
) -> BlasResult<()> {
    if range.len() <= edge {
        return Ok(());
    }
    let [first, second] = tri.halves(range, edge);
    let factors = [tri.beside(&second, &first), (x.rows_of(first.clone()), false)];
    let scalars = [alpha, b.element.factor(1)];
    let problem = Problem::of_blocks(scalars, factors, b.rows_of(second.clone()));
    let product = gemm::start(device, &GemmParams::default(), problem)?;
    events.extend(product.into_events());
    add_beside(device, tri, alpha, x, b, first, edge, events)?;
    add_beside(device, tri, alpha, x, b, second, edge, events)
}
