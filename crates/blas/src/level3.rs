//! Level 3 on operands of the caller; `None` passes a call on.
//!
//! # Safety
//! All functions ask for the same as the BLAS. Pointers refer to matrices of these extents and
//! leading dimensions. Results may be written.

use crate::arguments::extent;
use crate::balance::worth;
use crate::devices::done;
use crate::operands::Matrix;
use crate::operations::layout;
use crate::product;
use lattice_compute::scalar::Element;
use lattice_linalg::host::level1::Arithmetic;
use lattice_linalg::{
    self as blas, BlasResult, Completion, Diagonal, MatMut, MatRef, Op, Order, Side, Triangle,
};

/// Returns the number of elements of a matrix.
pub fn area(rows: usize, columns: usize) -> f64 {
    rows as f64 * columns as f64
}

pub unsafe fn gemm<T: Arithmetic>(
    order: Option<Order>,
    [op_a, op_b]: [Option<Op>; 2],
    [m, n, k]: [i64; 3],
    alpha: T,
    a: *const T,
    lda: i64,
    b: *const T,
    ldb: i64,
    beta: T,
    c: *mut T,
    ldc: i64,
) -> Option<()> {
    let (order, op_a, op_b) = (order?, op_a?, op_b?);
    let (m, n, k) = (extent(m)?, extent(n)?, extent(k)?);
    let a_layout = layout(order, op_a.shape(m, k), lda)?;
    let b_layout = layout(order, op_b.shape(k, n), ldb)?;
    let c_layout = layout(order, (m, n), ldc)?;
    worth::<T>(area(m, n) * k as f64, area(m, k) + area(k, n) + 2.0 * area(m, n))?;
    // SAFETY: see above. Memory that is written here is C alone, and nobody else writes A or B.
    unsafe {
        if let Some(result) =
            product::gemm([op_a, op_b], alpha, (a_layout, a), (b_layout, b), beta, (c_layout, c))
        {
            return result;
        }
        let (a, b, mut c) = (Matrix::new(a_layout, a)?, Matrix::new(b_layout, b)?, Matrix::new(c_layout, c)?);
        done(blas::gemm(op_a, op_b, alpha, a.read()?, b.read()?, beta, c.write()?))?;
        c.store()
    }
}

/// Computes `symm`, or `hemm` if A is Hermitian.
pub unsafe fn symm<T: Element>(
    hermitian: bool,
    order: Option<Order>,
    side: Option<Side>,
    triangle: Option<Triangle>,
    [m, n]: [i64; 2],
    alpha: T,
    a: *const T,
    lda: i64,
    b: *const T,
    ldb: i64,
    beta: T,
    c: *mut T,
    ldc: i64,
) -> Option<()> {
    let (order, side, triangle, m, n) = (order?, side?, triangle?, extent(m)?, extent(n)?);
    let edge = if side == Side::Left { m } else { n };
    let a_layout = layout(order, (edge, edge), lda)?;
    let (b_layout, c_layout) = (layout(order, (m, n), ldb)?, layout(order, (m, n), ldc)?);
    worth::<T>(area(m, n) * edge as f64, area(edge, edge) + 3.0 * area(m, n))?;
    let multiply = if hermitian { blas::hemm::<T> } else { blas::symm::<T> };
    // SAFETY: see above.
    unsafe {
        let (a, b, mut c) = (Matrix::new(a_layout, a)?, Matrix::new(b_layout, b)?, Matrix::new(c_layout, c)?);
        done(multiply(side, triangle, alpha, a.read()?, b.read()?, beta, c.write()?))?;
        c.store()
    }
}

/// Computes `syrk` or `herk`, which `update` starts.
pub unsafe fn rank_k<T: Element>(
    hermitian: bool,
    order: Option<Order>,
    triangle: Option<Triangle>,
    op: Option<Op>,
    [n, k]: [i64; 2],
    a: *const T,
    lda: i64,
    c: *mut T,
    ldc: i64,
    update: impl FnOnce(Triangle, Op, MatRef<'_, T>, MatMut<'_, T>) -> BlasResult<Completion>,
) -> Option<()> {
    let (order, triangle, op, n, k) = (order?, triangle?, op?, extent(n)?, extent(k)?);
    entering::<T>(hermitian, op)?;
    let (a_layout, c_layout) = (layout(order, op.shape(n, k), lda)?, layout(order, (n, n), ldc)?);
    worth::<T>(area(n, n) * k as f64 / 2.0, area(n, k) + 2.0 * area(n, n))?;
    // SAFETY: see above.
    unsafe {
        let (a, mut c) = (Matrix::new(a_layout, a)?, Matrix::new(c_layout, c)?);
        done(update(triangle, op, a.read()?, c.write()?))?;
        c.store_triangle(triangle)
    }
}

/// Computes `syr2k` or `her2k`, which `update` starts.
pub unsafe fn rank_2k<T: Element>(
    hermitian: bool,
    order: Option<Order>,
    triangle: Option<Triangle>,
    op: Option<Op>,
    [n, k]: [i64; 2],
    a: *const T,
    lda: i64,
    b: *const T,
    ldb: i64,
    c: *mut T,
    ldc: i64,
    update: impl FnOnce(Triangle, Op, MatRef<'_, T>, MatRef<'_, T>, MatMut<'_, T>) -> BlasResult<Completion>,
) -> Option<()> {
    let (order, triangle, op, n, k) = (order?, triangle?, op?, extent(n)?, extent(k)?);
    entering::<T>(hermitian, op)?;
    let (a_layout, b_layout) = (layout(order, op.shape(n, k), lda)?, layout(order, op.shape(n, k), ldb)?);
    let c_layout = layout(order, (n, n), ldc)?;
    worth::<T>(area(n, n) * k as f64, 2.0 * area(n, k) + 2.0 * area(n, n))?;
    // SAFETY: see above.
    unsafe {
        let (a, b, mut c) = (Matrix::new(a_layout, a)?, Matrix::new(b_layout, b)?, Matrix::new(c_layout, c)?);
        done(update(triangle, op, a.read()?, b.read()?, c.write()?))?;
        c.store_triangle(triangle)
    }
}

/// Passes on what the reference calls illegal.
///
/// Complex symmetric updates know no adjoint, Hermitian ones no transpose.
fn entering<T: Element>(hermitian: bool, op: Op) -> Option<()> {
    let illegal = if hermitian { op == Op::T } else { T::IS_COMPLEX && op == Op::C };
    (!illegal).then_some(())
}

/// Computes `trsm`, or `trmm` if it does not solve.
pub unsafe fn triangular<T: Element>(
    solves: bool,
    order: Option<Order>,
    side: Option<Side>,
    triangle: Option<Triangle>,
    op: Option<Op>,
    diagonal: Option<Diagonal>,
    [m, n]: [i64; 2],
    alpha: T,
    a: *const T,
    lda: i64,
    b: *mut T,
    ldb: i64,
) -> Option<()> {
    let (order, side, triangle, op, diagonal) = (order?, side?, triangle?, op?, diagonal?);
    let (m, n) = (extent(m)?, extent(n)?);
    let edge = if side == Side::Left { m } else { n };
    let (a_layout, b_layout) = (layout(order, (edge, edge), lda)?, layout(order, (m, n), ldb)?);
    worth::<T>(area(m, n) * edge as f64 / 2.0, area(edge, edge) + 2.0 * area(m, n))?;
    let operation = if solves { blas::trsm::<T> } else { blas::trmm::<T> };
    // SAFETY: see above.
    unsafe {
        let (a, mut b) = (Matrix::new(a_layout, a)?, Matrix::new(b_layout, b)?);
        done(operation(side, triangle, op, diagonal, alpha, a.read()?, b.write()?))?;
        b.store()
    }
}
