//! Products with few rows, columns or tiles: a matrix with a vector where there is one, and sums that are cut where there are too few
//! tiles for the device.

use super::kernels::Kernels;
use super::problem::{Problem, Target};
use super::tuning::GemmTuning;
use crate::blas::completion::Completion;
use crate::blas::error::BlasResult;
use crate::blas::level2::gemv;
use crate::blas::matrix::{MatMut, MatRef, MatrixLayout, Op, Order};
use crate::blas::vector::{VecMut, VecRef, VectorLayout};
use crate::device::Device;
use crate::scalar::Element;
use num_complex::Complex;

/// Terms of a sum that are not worth cutting.
const LEAST_TERMS: usize = 128;

/// The product as one of a matrix with a vector, if C has one row or one column and no vector would have to be conjugated.
pub(super) fn as_vector<T: Element>(
    [op_a, op_b]: [Op; 2],
    alpha: Complex<f64>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: Complex<f64>,
    c: &mut MatMut<'_, T>,
) -> BlasResult<Option<Completion>> {
    let plain = |op| op != Op::C || !T::IS_COMPLEX;
    let (op, matrix, vector) = if c.columns() == 1 && plain(op_b) {
        (op_a, a, b)
    } else if c.rows() == 1 && plain(op_a) && plain(op_b) {
        // Cᵀ = α op(B)ᵀ op(A)ᵀ + β Cᵀ
        (if op_b == Op::N { Op::T } else { Op::N }, b, a)
    } else {
        return Ok(None);
    };
    let x = VecRef::new(vector.elements(), as_line(vector.layout()))?;
    let layout = as_line(c.layout());
    let y = VecMut::new(c.reborrow().into_elements(), layout)?;
    gemv(op, alpha, matrix, x, beta, y).map(Some)
}

/// The elements of a matrix with one row or one column.
fn as_line(layout: &MatrixLayout) -> VectorLayout {
    let MatrixLayout { rows, columns, order, leading_dimension, offset } = *layout;
    let neighbours = if order == Order::ColumnMajor { columns == 1 } else { rows == 1 };
    let stride = if neighbours { 1 } else { leading_dimension };
    VectorLayout::dense(rows * columns).stride(stride).offset(offset)
}

/// Into pieces of how many terms to cut the sums, if a device has no tile of C for every second of its units otherwise.
pub(super) fn cut<T>(device: &Device, tuning: GemmTuning, problem: &Problem<'_, T>) -> Option<usize> {
    if matches!(tuning, GemmTuning::Global | GemmTuning::Local) {
        return None;
    }
    let [rows, columns] = tuning.tile();
    let tiles = problem.m.div_ceil(rows) * problem.n.div_ceil(columns) * problem.count;
    let parts = (device.info().compute_units / tiles.max(1)).min(problem.k / LEAST_TERMS);
    // Whole vectors, as far as the matrices have them.
    (problem.count == 1 && problem.m * problem.n > 0 && parts >= 2).then(|| problem.k / parts / 4 * 4)
}

/// Starts C = α Σ op(A)_s op(B)_s + β C, where pieces s of `terms` terms are multiplied in one batch and then added, in their order; and
/// what is left over last.
#[allow(clippy::too_many_arguments)]
pub(super) fn multiply<T: Element>(
    device: &Device,
    tuning: GemmTuning,
    terms: usize,
    ops: [Op; 2],
    [alpha, beta]: [Complex<f64>; 2],
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    mut c: MatMut<'_, T>,
) -> BlasResult<Completion> {
    let (_, k) = ops[0].shape(a.rows(), a.columns());
    let count = k / terms;
    let piece = |begin: usize, end: usize| -> BlasResult<[MatRef<'_, T>; 2]> {
        let left = if ops[0] == Op::N {
            a.submatrix(0..a.rows(), begin..end)
        } else {
            a.submatrix(begin..end, 0..a.columns())
        };
        let right = if ops[1] == Op::N {
            b.submatrix(begin..end, 0..b.columns())
        } else {
            b.submatrix(0..b.rows(), begin..end)
        };
        Ok([left?, right?])
    };
    let [first_a, first_b] = piece(0, terms)?;
    let [second_a, second_b] = piece(terms, 2 * terms)?;
    let stride = |first: MatRef<'_, T>, second: MatRef<'_, T>| second.layout().offset - first.layout().offset;
    let mut strides = [stride(first_a, second_a), stride(first_b, second_b)];
    if c.layout().order == Order::RowMajor {
        // The factors change places.
        strides.reverse();
    }
    let kernels = Kernels::<T>::of(device)?;
    let mut problem = Problem::new("gemm", ops, 1.0.into(), first_a, first_b, 0.0.into(), c.reborrow())?;
    let (m, n) = (problem.m, problem.n);
    let mut sums = device.scratch::<T>(count * m * n)?;
    problem.count = count;
    [problem.a.stride, problem.b.stride] = strides;
    problem.c = Target { elements: sums.output(), leading_dimension: m, stride: m * n };
    let mut events = kernels.multiply(device, tuning, problem)?.into_events();
    let scalars = [alpha, beta].map(T::from_complex);
    let target = Problem::new("gemm", ops, 1.0.into(), first_a, first_b, 0.0.into(), c.reborrow())?.c;
    events.push(kernels.add_parts(device, [m, n, count], sums.input(), scalars, target)?);
    if count * terms < k {
        let [rest_a, rest_b] = piece(count * terms, k)?;
        let problem = Problem::new("gemm", ops, alpha, rest_a, rest_b, 1.0.into(), c)?;
        events.extend(kernels.multiply(device, tuning, problem)?.into_events());
    }
    Ok(Completion::of(events))
}
