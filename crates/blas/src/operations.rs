//! Levels 1 and 2 on operands of the caller; `None` passes a call on.
//!
//! # Safety
//! All functions ask for the same as the BLAS. Pointers refer to vectors and matrices of these
//! extents, increments and leading dimensions. Results may be written.

use crate::arguments::{extent, increment, leading};
use crate::balance::worth_moving;
use crate::devices::done;
use crate::operands::{Matrix, Vector, lines};
use lattice_compute::scalar::{Element, Scalar};
use lattice_linalg::{self as blas, MatrixLayout, Op, Order};
use num_complex::Complex;

/// Returns the layout of a caller's matrix.
pub fn layout(order: Order, (rows, columns): (usize, usize), ld: i64) -> Option<MatrixLayout> {
    let dense = MatrixLayout::dense(order, rows, columns);
    Some(dense.leading_dimension(leading(ld, lines(&dense).1)?))
}

/// Returns the number of elements, if there are any.
pub fn some(n: i64) -> Option<usize> {
    extent(n).filter(|&n| n > 0)
}

pub unsafe fn axpy<T: Element>(n: i64, alpha: T, x: *const T, incx: i64, y: *mut T, incy: i64) -> Option<()> {
    worth_moving(n as f64)?;
    let (n, incy) = (some(n)?, increment(incy)?);
    // SAFETY: see above.
    unsafe {
        let (x, mut y) = (Vector::dense(n, x, incx as isize)?, Vector::dense(n, y, incy)?);
        done(blas::axpy(alpha, x.buffer(), y.buffer_mut()))?;
        y.store()?;
    }
    Some(())
}

pub unsafe fn copy<T: Element>(n: i64, x: *const T, incx: i64, y: *mut T, incy: i64) -> Option<()> {
    worth_moving(n as f64)?;
    let (n, incy) = (some(n)?, increment(incy)?);
    // SAFETY: see above.
    unsafe {
        let (x, mut y) = (Vector::dense(n, x, incx as isize)?, Vector::dense(n, y, incy)?);
        done(blas::copy(x.buffer(), y.buffer_mut()))?;
        y.store()?;
    }
    Some(())
}

pub unsafe fn swap<T: Element>(n: i64, x: *mut T, incx: i64, y: *mut T, incy: i64) -> Option<()> {
    worth_moving(n as f64)?;
    let (n, incx, incy) = (some(n)?, increment(incx)?, increment(incy)?);
    // SAFETY: see above.
    unsafe {
        let (mut x, mut y) = (Vector::dense(n, x, incx)?, Vector::dense(n, y, incy)?);
        done(blas::swap(x.buffer_mut(), y.buffer_mut()))?;
        x.store()?;
        y.store()?;
    }
    Some(())
}

pub unsafe fn scal<T: Element>(n: i64, alpha: impl Scalar<T>, x: *mut T, incx: i64) -> Option<()> {
    worth_moving(n as f64)?;
    let (n, incx) = (some(n)?, some(incx)?);
    // SAFETY: see above.
    unsafe {
        let mut x = Vector::dense(n, x, incx as isize)?;
        done(blas::scal(alpha, x.buffer_mut()))?;
        x.store()?;
    }
    Some(())
}

/// Returns Σ xᵢ yᵢ, or with `conjugate` Σ conj(xᵢ) yᵢ, in double.
pub unsafe fn dot<T: Element>(
    conjugate: bool,
    n: i64,
    x: *const T,
    incx: i64,
    y: *const T,
    incy: i64,
) -> Option<Complex<f64>> {
    worth_moving(n as f64)?;
    let n = some(n)?;
    // SAFETY: see above.
    let (x, y) = unsafe { (Vector::dense(n, x, incx as isize)?, Vector::dense(n, y, incy as isize)?) };
    let sum = if conjugate { blas::dotc(x.buffer(), y.buffer()) } else { blas::dotu(x.buffer(), y.buffer()) };
    done(done(sum)?.wait())
}

pub unsafe fn nrm2<T: Element>(n: i64, x: *const T, incx: i64) -> Option<f64> {
    worth_moving(n as f64)?;
    // SAFETY: see above.
    let x = unsafe { Vector::dense(some(n)?, x, incx as isize)? };
    done(done(blas::nrm2(x.buffer()))?.wait())
}

pub unsafe fn asum<T: Element>(n: i64, x: *const T, incx: i64) -> Option<f64> {
    worth_moving(n as f64)?;
    // SAFETY: see above.
    let x = unsafe { Vector::dense(some(n)?, x, some(incx)? as isize)? };
    done(done(blas::asum(x.buffer()))?.wait())
}

/// Returns the number of the largest element, counted from 0.
///
/// The library passes over NaNs. If the first element is NaN, the next BLAS answers.
pub unsafe fn iamax<T: Element>(n: i64, x: *const T, incx: i64) -> Option<usize> {
    worth_moving(n as f64)?;
    let (n, incx) = (some(n)?, some(incx)?);
    // SAFETY: see above; there is a first element.
    let (first, x) = unsafe { ((*x).to_complex(), Vector::dense(n, x, incx as isize)?) };
    if first.re.is_nan() || first.im.is_nan() {
        return None;
    }
    done(done(blas::iamax(x.buffer()))?.wait())?
}

/// Computes a product of matrix and vector.
///
/// The reference returns at once if there are no rows or no columns, but the library computes y = β
/// y. So the next BLAS answers such calls.
pub unsafe fn gemv<T: Element>(
    order: Option<Order>,
    op: Option<Op>,
    [m, n]: [i64; 2],
    alpha: T,
    a: *const T,
    lda: i64,
    x: *const T,
    incx: i64,
    beta: T,
    y: *mut T,
    incy: i64,
) -> Option<()> {
    worth_moving(m as f64 * n as f64)?;
    let (order, op, m, n) = (order?, op?, some(m)?, some(n)?);
    let (incx, incy) = (increment(incx)?, increment(incy)?);
    let a_layout = layout(order, (m, n), lda)?;
    let (y_len, x_len) = op.shape(m, n);
    // SAFETY: see above.
    unsafe {
        let (a, x, mut y) =
            (Matrix::new(a_layout, a)?, Vector::new(x_len, x, incx)?, Vector::new(y_len, y, incy)?);
        done(blas::gemv(op, alpha, a.read()?, x.read()?, beta, y.write()?))?;
        y.store()?;
    }
    Some(())
}

pub unsafe fn ger<T: Element>(
    order: Option<Order>,
    conjugate: bool,
    [m, n]: [i64; 2],
    alpha: T,
    x: *const T,
    incx: i64,
    y: *const T,
    incy: i64,
    a: *mut T,
    lda: i64,
) -> Option<()> {
    worth_moving(m as f64 * n as f64)?;
    let (order, m, n) = (order?, extent(m)?, extent(n)?);
    let (incx, incy) = (increment(incx)?, increment(incy)?);
    let a_layout = layout(order, (m, n), lda)?;
    // SAFETY: see above.
    unsafe {
        let (x, y, mut a) = (Vector::new(m, x, incx)?, Vector::new(n, y, incy)?, Matrix::new(a_layout, a)?);
        let (left, right) = (x.read()?, y.read()?);
        done(if conjugate {
            blas::gerc(alpha, left, right, a.write()?)
        } else {
            blas::ger(alpha, left, right, a.write()?)
        })?;
        a.store()?;
    }
    Some(())
}
