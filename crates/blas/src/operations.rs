//! The operations on operands of the caller; `None` passes a call on.
//!
//! The next BLAS answers a call that is passed on.
//!
//! # Safety
//! All functions ask for the same as the BLAS. Pointers refer to vectors and matrices of these
//! extents, increments and leading dimensions. Results may be written.

use crate::arguments::{extent, increment, leading};
use crate::operands::{Matrix, Vector, done, lines};
use lattice_cl::blas::{self, Diagonal, MatrixLayout, Op, Order, Side, Triangle};
use lattice_cl::scalar::{Element, Scalar};
use num_complex::Complex;
use std::ffi::c_int;

/// Returns the layout of a caller's matrix.
fn layout(order: Order, (rows, columns): (usize, usize), ld: c_int) -> Option<MatrixLayout> {
    let dense = MatrixLayout::dense(order, rows, columns);
    Some(dense.leading_dimension(leading(ld, lines(&dense).1)?))
}

/// Returns the number of elements, if there are any.
fn some(n: c_int) -> Option<usize> {
    extent(n).filter(|&n| n > 0)
}

pub unsafe fn axpy<T: Element>(
    n: c_int,
    alpha: T,
    x: *const T,
    incx: c_int,
    y: *mut T,
    incy: c_int,
) -> Option<()> {
    let (n, incy) = (some(n)?, increment(incy)?);
    // SAFETY: see above.
    unsafe {
        let (x, mut y) = (Vector::dense(n, x, incx as isize), Vector::dense(n, y, incy));
        done(blas::axpy(alpha, x.buffer(), y.buffer_mut()));
        y.store();
    }
    Some(())
}

pub unsafe fn copy<T: Element>(n: c_int, x: *const T, incx: c_int, y: *mut T, incy: c_int) -> Option<()> {
    let (n, incy) = (some(n)?, increment(incy)?);
    // SAFETY: see above.
    unsafe {
        let (x, mut y) = (Vector::dense(n, x, incx as isize), Vector::dense(n, y, incy));
        done(blas::copy(x.buffer(), y.buffer_mut()));
        y.store();
    }
    Some(())
}

pub unsafe fn swap<T: Element>(n: c_int, x: *mut T, incx: c_int, y: *mut T, incy: c_int) -> Option<()> {
    let (n, incx, incy) = (some(n)?, increment(incx)?, increment(incy)?);
    // SAFETY: see above.
    unsafe {
        let (mut x, mut y) = (Vector::dense(n, x, incx), Vector::dense(n, y, incy));
        done(blas::swap(x.buffer_mut(), y.buffer_mut()));
        x.store();
        y.store();
    }
    Some(())
}

pub unsafe fn scal<T: Element>(n: c_int, alpha: impl Scalar<T>, x: *mut T, incx: c_int) -> Option<()> {
    let (n, incx) = (some(n)?, some(incx)?);
    // SAFETY: see above.
    unsafe {
        let mut x = Vector::dense(n, x, incx as isize);
        done(blas::scal(alpha, x.buffer_mut()));
        x.store();
    }
    Some(())
}

/// Returns Σ xᵢ yᵢ, or with `conjugate` Σ conj(xᵢ) yᵢ, in double.
pub unsafe fn dot<T: Element>(
    conjugate: bool,
    n: c_int,
    x: *const T,
    incx: c_int,
    y: *const T,
    incy: c_int,
) -> Option<Complex<f64>> {
    let n = some(n)?;
    // SAFETY: see above.
    let (x, y) = unsafe { (Vector::dense(n, x, incx as isize), Vector::dense(n, y, incy as isize)) };
    let sum = if conjugate { blas::dotc(x.buffer(), y.buffer()) } else { blas::dotu(x.buffer(), y.buffer()) };
    Some(done(done(sum).wait()))
}

pub unsafe fn nrm2<T: Element>(n: c_int, x: *const T, incx: c_int) -> Option<f64> {
    // SAFETY: see above.
    let x = unsafe { Vector::dense(some(n)?, x, incx as isize) };
    Some(done(done(blas::nrm2(x.buffer())).wait()))
}

pub unsafe fn asum<T: Element>(n: c_int, x: *const T, incx: c_int) -> Option<f64> {
    // SAFETY: see above.
    let x = unsafe { Vector::dense(some(n)?, x, some(incx)? as isize) };
    Some(done(done(blas::asum(x.buffer())).wait()))
}

/// Returns the number of the largest element, counted from 0.
///
/// The library passes over NaNs. If the first element is NaN, the next BLAS answers.
pub unsafe fn iamax<T: Element>(n: c_int, x: *const T, incx: c_int) -> Option<usize> {
    let (n, incx) = (some(n)?, some(incx)?);
    // SAFETY: see above; there is a first element.
    let (first, x) = unsafe { ((*x).to_complex(), Vector::dense(n, x, incx as isize)) };
    if first.re.is_nan() || first.im.is_nan() {
        return None;
    }
    done(done(blas::iamax(x.buffer())).wait())
}

/// Computes a product of matrix and vector.
///
/// The reference returns at once if there are no rows or no columns, but the library computes y = β
/// y. So the next BLAS answers such calls.
pub unsafe fn gemv<T: Element>(
    order: Option<Order>,
    op: Option<Op>,
    [m, n]: [c_int; 2],
    alpha: T,
    a: *const T,
    lda: c_int,
    x: *const T,
    incx: c_int,
    beta: T,
    y: *mut T,
    incy: c_int,
) -> Option<()> {
    let (order, op, m, n) = (order?, op?, some(m)?, some(n)?);
    let (incx, incy) = (increment(incx)?, increment(incy)?);
    let a_layout = layout(order, (m, n), lda)?;
    let (y_len, x_len) = op.shape(m, n);
    // SAFETY: see above.
    unsafe {
        let (a, x, mut y) =
            (Matrix::new(a_layout, a), Vector::new(x_len, x, incx), Vector::new(y_len, y, incy));
        done(blas::gemv(op, alpha, a.read(), x.read(), beta, y.write()));
        y.store();
    }
    Some(())
}

pub unsafe fn ger<T: Element>(
    order: Option<Order>,
    conjugate: bool,
    [m, n]: [c_int; 2],
    alpha: T,
    x: *const T,
    incx: c_int,
    y: *const T,
    incy: c_int,
    a: *mut T,
    lda: c_int,
) -> Option<()> {
    let (order, m, n) = (order?, extent(m)?, extent(n)?);
    let (incx, incy) = (increment(incx)?, increment(incy)?);
    let a_layout = layout(order, (m, n), lda)?;
    // SAFETY: see above.
    unsafe {
        let (x, y, mut a) = (Vector::new(m, x, incx), Vector::new(n, y, incy), Matrix::new(a_layout, a));
        let (left, right) = (x.read(), y.read());
        done(if conjugate {
            blas::gerc(alpha, left, right, a.write())
        } else {
            blas::ger(alpha, left, right, a.write())
        });
        a.store();
    }
    Some(())
}

pub unsafe fn gemm<T: Element>(
    order: Option<Order>,
    [op_a, op_b]: [Option<Op>; 2],
    [m, n, k]: [c_int; 3],
    alpha: T,
    a: *const T,
    lda: c_int,
    b: *const T,
    ldb: c_int,
    beta: T,
    c: *mut T,
    ldc: c_int,
) -> Option<()> {
    let (order, op_a, op_b) = (order?, op_a?, op_b?);
    let (m, n, k) = (extent(m)?, extent(n)?, extent(k)?);
    let a_layout = layout(order, op_a.shape(m, k), lda)?;
    let b_layout = layout(order, op_b.shape(k, n), ldb)?;
    let c_layout = layout(order, (m, n), ldc)?;
    // SAFETY: see above.
    unsafe {
        let (a, b, mut c) = (Matrix::new(a_layout, a), Matrix::new(b_layout, b), Matrix::new(c_layout, c));
        done(blas::gemm(op_a, op_b, alpha, a.read(), b.read(), beta, c.write()));
        c.store();
    }
    Some(())
}

/// Computes `symm`, or `hemm` if A is Hermitian.
pub unsafe fn symm<T: Element>(
    hermitian: bool,
    order: Option<Order>,
    side: Option<Side>,
    triangle: Option<Triangle>,
    [m, n]: [c_int; 2],
    alpha: T,
    a: *const T,
    lda: c_int,
    b: *const T,
    ldb: c_int,
    beta: T,
    c: *mut T,
    ldc: c_int,
) -> Option<()> {
    let (order, side, triangle, m, n) = (order?, side?, triangle?, extent(m)?, extent(n)?);
    let edge = if side == Side::Left { m } else { n };
    let a_layout = layout(order, (edge, edge), lda)?;
    let (b_layout, c_layout) = (layout(order, (m, n), ldb)?, layout(order, (m, n), ldc)?);
    let multiply = if hermitian { blas::hemm::<T> } else { blas::symm::<T> };
    // SAFETY: see above.
    unsafe {
        let (a, b, mut c) = (Matrix::new(a_layout, a), Matrix::new(b_layout, b), Matrix::new(c_layout, c));
        done(multiply(side, triangle, alpha, a.read(), b.read(), beta, c.write()));
        c.store();
    }
    Some(())
}

pub unsafe fn syrk<T: Element>(
    order: Option<Order>,
    triangle: Option<Triangle>,
    op: Option<Op>,
    [n, k]: [c_int; 2],
    alpha: T,
    a: *const T,
    lda: c_int,
    beta: T,
    c: *mut T,
    ldc: c_int,
) -> Option<()> {
    let (order, triangle, op, n, k) = (order?, triangle?, op?, extent(n)?, extent(k)?);
    if T::IS_COMPLEX && op == Op::C {
        return None;
    }
    let (a_layout, c_layout) = (layout(order, op.shape(n, k), lda)?, layout(order, (n, n), ldc)?);
    // SAFETY: see above.
    unsafe {
        let (a, mut c) = (Matrix::new(a_layout, a), Matrix::new(c_layout, c));
        done(blas::syrk(triangle, op, alpha, a.read(), beta, c.write()));
        c.store();
    }
    Some(())
}

pub unsafe fn herk<T: Element>(
    order: Option<Order>,
    triangle: Option<Triangle>,
    op: Option<Op>,
    [n, k]: [c_int; 2],
    alpha: T::Real,
    a: *const T,
    lda: c_int,
    beta: T::Real,
    c: *mut T,
    ldc: c_int,
) -> Option<()> {
    let (order, triangle, op, n, k) = (order?, triangle?, op?, extent(n)?, extent(k)?);
    if op == Op::T {
        return None;
    }
    let (a_layout, c_layout) = (layout(order, op.shape(n, k), lda)?, layout(order, (n, n), ldc)?);
    // SAFETY: see above.
    unsafe {
        let (a, mut c) = (Matrix::new(a_layout, a), Matrix::new(c_layout, c));
        done(blas::herk(triangle, op, alpha, a.read(), beta, c.write()));
        c.store();
    }
    Some(())
}

pub unsafe fn syr2k<T: Element>(
    order: Option<Order>,
    triangle: Option<Triangle>,
    op: Option<Op>,
    [n, k]: [c_int; 2],
    alpha: T,
    a: *const T,
    lda: c_int,
    b: *const T,
    ldb: c_int,
    beta: T,
    c: *mut T,
    ldc: c_int,
) -> Option<()> {
    let (order, triangle, op, n, k) = (order?, triangle?, op?, extent(n)?, extent(k)?);
    if T::IS_COMPLEX && op == Op::C {
        return None;
    }
    let (a_layout, b_layout) = (layout(order, op.shape(n, k), lda)?, layout(order, op.shape(n, k), ldb)?);
    let c_layout = layout(order, (n, n), ldc)?;
    // SAFETY: see above.
    unsafe {
        let (a, b, mut c) = (Matrix::new(a_layout, a), Matrix::new(b_layout, b), Matrix::new(c_layout, c));
        done(blas::syr2k(triangle, op, alpha, a.read(), b.read(), beta, c.write()));
        c.store();
    }
    Some(())
}

pub unsafe fn her2k<T: Element>(
    order: Option<Order>,
    triangle: Option<Triangle>,
    op: Option<Op>,
    [n, k]: [c_int; 2],
    alpha: T,
    a: *const T,
    lda: c_int,
    b: *const T,
    ldb: c_int,
    beta: T::Real,
    c: *mut T,
    ldc: c_int,
) -> Option<()> {
    let (order, triangle, op, n, k) = (order?, triangle?, op?, extent(n)?, extent(k)?);
    if op == Op::T {
        return None;
    }
    let (a_layout, b_layout) = (layout(order, op.shape(n, k), lda)?, layout(order, op.shape(n, k), ldb)?);
    let c_layout = layout(order, (n, n), ldc)?;
    // SAFETY: see above.
    unsafe {
        let (a, b, mut c) = (Matrix::new(a_layout, a), Matrix::new(b_layout, b), Matrix::new(c_layout, c));
        done(blas::her2k(triangle, op, alpha, a.read(), b.read(), beta, c.write()));
        c.store();
    }
    Some(())
}

/// Computes `trsm`, or `trmm` if it does not solve.
pub unsafe fn triangular<T: Element>(
    solves: bool,
    order: Option<Order>,
    side: Option<Side>,
    triangle: Option<Triangle>,
    op: Option<Op>,
    diagonal: Option<Diagonal>,
    [m, n]: [c_int; 2],
    alpha: T,
    a: *const T,
    lda: c_int,
    b: *mut T,
    ldb: c_int,
) -> Option<()> {
    let (order, side, triangle, op, diagonal) = (order?, side?, triangle?, op?, diagonal?);
    let (m, n) = (extent(m)?, extent(n)?);
    let edge = if side == Side::Left { m } else { n };
    let (a_layout, b_layout) = (layout(order, (edge, edge), lda)?, layout(order, (m, n), ldb)?);
    let operation = if solves { blas::trsm::<T> } else { blas::trmm::<T> };
    // SAFETY: see above.
    unsafe {
        let (a, mut b) = (Matrix::new(a_layout, a), Matrix::new(b_layout, b));
        done(operation(side, triangle, op, diagonal, alpha, a.read(), b.write()));
        b.store();
    }
    Some(())
}
