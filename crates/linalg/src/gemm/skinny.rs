//! Products with few rows, columns or tiles.
//!
//! A product with one row or one column is a matrix with a vector. Sums are cut if there are too
//! few tiles for the device.

use super::kernels::Kernels;
use super::narrow::WIDTH;
use super::problem::{Problem, Target};
use super::tuning::GemmTuning;
use crate::block::{Block, Operand};
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::level2;
use crate::matrix::Order;
use crate::op::Op;
use crate::vector::Line;
use lattice_compute::scalar::AnyFactor;
use lattice_compute::{Device, Result};

/// Terms below which a sum is not worth cutting.
const LEAST_TERMS: usize = 128;

/// Work-items that keep a unit of a GPU busy.
///
/// The number is for products with at most 16 rows or columns.
const BUSY_UNIT: usize = 512;

/// Rows and columns of the tiles that a unit of a GPU brings pieces of at a time.
///
/// The number is for products with more than 16 rows and columns.
const BUSY_LINES: usize = 128;

/// Starts the product as one of a matrix with a vector, if possible.
///
/// C must have one row or one column, and no vector would have to be conjugated.
pub(super) fn as_vector(
    [op_a, op_b]: [Op; 2],
    scalars: [AnyFactor; 2],
    [a, b]: [Operand<'_>; 2],
    c: Operand<'_>,
) -> BlasResult<Option<Completion>> {
    let plain = |op| op != Op::C || !c.block.element.complex;
    let (op, matrix, vector) = if c.block.columns == 1 && plain(op_b) {
        (op_a, a, b)
    } else if c.block.rows == 1 && plain(op_a) && plain(op_b) {
        // Cᵀ = α op(B)ᵀ op(A)ᵀ + β Cᵀ
        (if op_b == Op::N { Op::T } else { Op::N }, b, a)
    } else {
        return Ok(None);
    };
    level2::start(op, scalars, matrix, as_line(vector), as_line(c)).map(Some)
}

/// Returns the elements of a matrix with one row or one column.
fn as_line(Operand { block, device, .. }: Operand<'_>) -> Line<'_> {
    let Block { elements, rows, columns, order, leading_dimension, .. } = block;
    let neighbours = if order == Order::ColumnMajor { columns == 1 } else { rows == 1 };
    Line { elements, len: rows * columns, stride: if neighbours { 1 } else { leading_dimension }, device }
}

/// Returns into how many parts to cut the sums of a product with these m, n and k.
///
/// `units` is the number of units of the device.
pub(super) fn parts(units: usize, tuning: GemmTuning, [m, n, k]: [usize; 3]) -> usize {
    if matches!(tuning, GemmTuning::Global | GemmTuning::Local) {
        return 1;
    }
    let [rows, columns] = tuning.tile();
    // Narrow products wait for memory: a unit has several tiles at a time, the more the less each
    // brings.
    let groups = match (tuning, m.min(n)) {
        (GemmTuning::Panels(_), _) => 1,
        (_, ..=16) => (BUSY_UNIT / tuning.work_items()).max(1),
        (_, ..=WIDTH) => BUSY_LINES.div_ceil(rows + columns),
        _ => 1,
    };
    let wanted = units * groups / (m.div_ceil(rows) * n.div_ceil(columns)).max(1);
    wanted.min(k / LEAST_TERMS).max(1)
}

/// Starts C = α Σ op(A)_s op(B)_s + β C with sums in parts s.
///
/// There are at most `parts` parts. They are multiplied in one batch and then added, always in the
/// same order.
pub(super) fn multiply(
    device: &Device,
    kernels: &Kernels,
    tuning: GemmTuning,
    parts: usize,
    problem: Problem<'_>,
) -> Result<Completion> {
    let Problem { m, n, k, .. } = problem;
    // With whole pieces, operands that are aligned in the matrices are aligned in the parts.
    let terms = k.div_ceil(parts.max(1)).next_multiple_of(tuning.depth());
    let count = k.div_ceil(terms);
    if problem.count != 1 || count < 2 {
        return kernels.multiply(device, tuning, problem);
    }
    let element = problem.element();
    let mut sums = device.scratch_of(element, count * m * n)?;
    let mut cut = Problem { k: terms, count, missing: count * terms - k, ..problem };
    (cut.alpha, cut.beta) = (element.factor(1), element.factor(0));
    // A line of A has one term if its rows are neighbours. A line of B has one if its columns are.
    cut.a.stride = if cut.a.transposed { terms } else { terms * cut.a.leading_dimension };
    cut.b.stride = if cut.b.transposed { terms * cut.b.leading_dimension } else { terms };
    cut.c = Target { elements: sums.output(), leading_dimension: m, stride: m * n };
    let mut events = kernels.multiply(device, tuning, cut)?.into_events();
    let scalars = [problem.alpha, problem.beta];
    events.push(kernels.add_parts(device, [m, n, count], sums.input(), scalars, problem.c)?);
    Ok(Completion::of(events))
}

#[cfg(test)]
mod tests {
    use super::super::{Mma, Panels, Registers};
    use super::*;

    /// On a GPU with 132 units these numbers were the fastest of all that were tried.
    ///
    /// Source: bench/runs/2026-11-22-h200/skinny.json.
    #[test]
    fn sums_are_cut_as_measured() {
        let registers =
            |tile, item, slices| GemmTuning::Registers(Registers::new(tile, item, 4, 4).sliced(slices));
        let mma = |tile, warp| GemmTuning::Mma(Mma::new(tile, warp, 4, 8, 8));
        let (column, long) = ([8192, 32, 8192], [32, 32, 1 << 20]);
        for (tuning, extents, wanted) in [
            (registers([128, 32, 32], [8, 8], 4), column, 2),
            (mma([64, 32, 16], [16, 32]), column, 2),
            (registers([32, 32, 32], [8, 8], 8), long, 264),
            (mma([32, 32, 16], [16, 16]), long, 264),
            (mma([32, 32, 16], [16, 16]), [12, 12, 1 << 20], 528),
        ] {
            assert_eq!(parts(132, tuning, extents), wanted, "{tuning}: {extents:?}");
        }
        let panels = GemmTuning::Panels(Panels { panel: [16, 8], block: [128, 192, 256], lanes: 8 });
        assert_eq!(parts(4, panels, [8, 8, 1000]), 4, "a processor's thread has one block at a time");
        assert_eq!(parts(4, panels, [8, 8, 300]), 2, "short sums are not worth it");
    }
}
