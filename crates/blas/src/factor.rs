//! Factorisations of the caller's matrices; `None` passes a call on.
//!
//! Functions that factorise return LAPACK's `info`. Calls without elements are passed on.
//!
//! # Safety
//! All functions ask for the same as LAPACK. Pointers refer to matrices and vectors of these extents
//! and leading dimensions. Results may be written.

use crate::arguments::extent;
use crate::operands::{Matrix, done, elements_of};
use crate::operations::{layout, some};
use crate::settings::worth;
use lattice_cl::blas::factor;
use lattice_cl::blas::{MatrixLayout, Op, Order, Side, Triangle};
use lattice_cl::device::Buffer;
use lattice_cl::scalar::Element;
use num_complex::Complex;

/// An integer of the caller.
pub trait Integer: Copy + Into<i64> {
    /// Makes a number that is known to fit: one of rows or columns.
    fn of(number: usize) -> Self;
}

impl Integer for i32 {
    fn of(number: usize) -> Self {
        number as i32
    }
}

impl Integer for i64 {
    fn of(number: usize) -> Self {
        number as i64
    }
}

/// Returns the layout of a matrix, which has elements.
fn columns(rows: usize, columns: usize, ld: i64) -> Option<MatrixLayout> {
    layout(Order::ColumnMajor, (rows, columns), ld)
}

/// Returns the product of three extents.
fn volume(m: usize, n: usize, k: usize) -> f64 {
    m as f64 * n as f64 * k as f64
}

pub unsafe fn potrf<T: Element>(triangle: Option<Triangle>, n: i64, a: *mut T, lda: i64) -> Option<usize> {
    let (triangle, n) = (triangle?, some(n)?);
    let a_layout = columns(n, n, lda)?;
    worth::<T>(volume(n, n, n) / 6.0)?;
    // SAFETY: see above.
    unsafe {
        let mut a = Matrix::new(a_layout, a)?;
        let info = done(done(factor::potrf(triangle, a.write()?))?.wait())?;
        a.store_triangle(triangle)?;
        Some(info)
    }
}

pub unsafe fn potrs<T: Element>(
    triangle: Option<Triangle>,
    [n, sides]: [i64; 2],
    a: *const T,
    lda: i64,
    b: *mut T,
    ldb: i64,
) -> Option<usize> {
    let (triangle, n, sides) = (triangle?, some(n)?, some(sides)?);
    let (a_layout, b_layout) = (columns(n, n, lda)?, columns(n, sides, ldb)?);
    worth::<T>(volume(n, n, sides))?;
    // SAFETY: see above.
    unsafe {
        let (a, mut b) = (Matrix::new(a_layout, a)?, Matrix::new(b_layout, b)?);
        done(factor::potrs(triangle, a.read()?, b.write()?))?;
        b.store()?;
    }
    Some(0)
}

pub unsafe fn posv<T: Element>(
    triangle: Option<Triangle>,
    [n, sides]: [i64; 2],
    a: *mut T,
    lda: i64,
    b: *mut T,
    ldb: i64,
) -> Option<usize> {
    let (triangle, n, sides) = (triangle?, some(n)?, some(sides)?);
    let (a_layout, b_layout) = (columns(n, n, lda)?, columns(n, sides, ldb)?);
    worth::<T>(volume(n, n, n) / 6.0 + volume(n, n, sides))?;
    // SAFETY: see above.
    unsafe {
        let (mut a, mut b) = (Matrix::new(a_layout, a)?, Matrix::new(b_layout, b)?);
        let info = done(done(factor::posv(triangle, a.write()?, b.write()?))?.wait())?;
        if info == 0 {
            b.store()?;
        }
        a.store_triangle(triangle)?;
        Some(info)
    }
}

/// Writes pivots as LAPACK counts them, from 1.
///
/// # Safety
/// `to` has room for all.
unsafe fn store_pivots<I: Integer>(pivots: &Buffer<u32>, to: *mut I) -> Option<()> {
    for (i, row) in done(pivots.to_vec())?.into_iter().enumerate() {
        // SAFETY: the caller guarantees the room.
        unsafe { *to.add(i) = I::of(row as usize + 1) };
    }
    Some(())
}

pub unsafe fn getrf<T: Element, I: Integer>(
    [m, n]: [i64; 2],
    a: *mut T,
    lda: i64,
    pivots: *mut I,
) -> Option<usize> {
    let (m, n) = (some(m)?, some(n)?);
    let a_layout = columns(m, n, lda)?;
    worth::<T>(volume(m, n, m.min(n)) / 3.0)?;
    // SAFETY: see above.
    unsafe {
        let mut a = Matrix::new(a_layout, a)?;
        let mut rows = done(Buffer::uninitialised(a.device(), m.min(n)))?;
        let info = done(done(factor::getrf(a.write()?, &mut rows))?.wait())?;
        store_pivots(&rows, pivots)?;
        a.store()?;
        Some(info)
    }
}

pub unsafe fn getrs<T: Element, I: Integer>(
    op: Option<Op>,
    [n, sides]: [i64; 2],
    a: *const T,
    lda: i64,
    pivots: *const I,
    b: *mut T,
    ldb: i64,
) -> Option<usize> {
    let (op, n, sides) = (op?, some(n)?, some(sides)?);
    let (a_layout, b_layout) = (columns(n, n, lda)?, columns(n, sides, ldb)?);
    worth::<T>(volume(n, n, sides))?;
    // SAFETY: see above. Pivots that no factorisation makes are passed on.
    unsafe {
        let rows = (0..n).map(|i| {
            let row: i64 = (*pivots.add(i)).into();
            extent(row - 1).filter(|row| (i..n).contains(row)).map(|row| row as u32)
        });
        let rows = rows.collect::<Option<Vec<u32>>>()?;
        let (a, mut b) = (Matrix::new(a_layout, a)?, Matrix::new(b_layout, b)?);
        let rows = done(Buffer::from_slice(a.device(), &rows))?;
        done(factor::getrs(op, a.read()?, &rows, b.write()?))?;
        b.store()?;
    }
    Some(0)
}

pub unsafe fn gesv<T: Element, I: Integer>(
    [n, sides]: [i64; 2],
    a: *mut T,
    lda: i64,
    pivots: *mut I,
    b: *mut T,
    ldb: i64,
) -> Option<usize> {
    let (n, sides) = (some(n)?, some(sides)?);
    let (a_layout, b_layout) = (columns(n, n, lda)?, columns(n, sides, ldb)?);
    worth::<T>(volume(n, n, n) / 3.0 + volume(n, n, sides))?;
    // SAFETY: see above.
    unsafe {
        let (mut a, mut b) = (Matrix::new(a_layout, a)?, Matrix::new(b_layout, b)?);
        let mut rows = done(Buffer::uninitialised(a.device(), n))?;
        let info = done(done(factor::gesv(a.write()?, &mut rows, b.write()?))?.wait())?;
        if info == 0 {
            b.store()?;
        }
        store_pivots(&rows, pivots)?;
        a.store()?;
        Some(info)
    }
}

/// Checks that a workspace has so many elements, and says in it that they are enough.
///
/// A query for the best size is passed on.
///
/// # Safety
/// `work` has `length` elements.
unsafe fn check_work<T: Element>(work: *mut T, length: i64, wanted: usize) -> Option<()> {
    let wanted = wanted.max(1);
    extent(length).filter(|&length| length >= wanted)?;
    // SAFETY: the caller guarantees an element.
    unsafe { *work = T::from_complex(Complex::from(wanted as f64)) };
    Some(())
}

pub unsafe fn geqrf<T: Element>(
    [m, n]: [i64; 2],
    a: *mut T,
    lda: i64,
    tau: *mut T,
    work: *mut T,
    length: i64,
) -> Option<usize> {
    let (m, n) = (some(m)?, some(n)?);
    let (a_layout, tau_layout) = (columns(m, n, lda)?, MatrixLayout::column_major(m.min(n), 1));
    worth::<T>(volume(m, n, m.min(n)))?;
    // SAFETY: see above.
    unsafe {
        check_work(work, length, n)?;
        let mut a = Matrix::new(a_layout, a)?;
        let mut factors = Matrix::new(tau_layout, tau)?;
        done(factor::geqrf(a.write()?, factors.buffer_mut()))?;
        a.store()?;
        factors.store()?;
    }
    Some(0)
}

/// Computes `ormqr` or `unmqr`.
pub unsafe fn unmqr<T: Element>(
    side: Option<Side>,
    op: Option<Op>,
    [m, n, k]: [i64; 3],
    a: *const T,
    lda: i64,
    tau: *const T,
    c: *mut T,
    ldc: i64,
    work: *mut T,
    length: i64,
) -> Option<usize> {
    let (side, op, m, n, k) = (side?, legal_op::<T>(op?)?, some(m)?, some(n)?, some(k)?);
    let (rows, others) = if side == Side::Left { (m, n) } else { (n, m) };
    if k > rows {
        return None;
    }
    let (a_layout, c_layout) = (columns(rows, k, lda)?, columns(m, n, ldc)?);
    worth::<T>(2.0 * volume(m, n, k))?;
    // SAFETY: see above.
    unsafe {
        check_work(work, length, others)?;
        let (a, tau) = (Matrix::new(a_layout, a)?, Matrix::new(MatrixLayout::column_major(k, 1), tau)?);
        let mut c = Matrix::new(c_layout, c)?;
        done(factor::unmqr(side, op, a.read()?, tau.buffer(), c.write()?))?;
        c.store()?;
    }
    Some(0)
}

/// Returns a letter that real and complex routines know: T for the ones, C for the others.
fn legal_op<T: Element>(op: Op) -> Option<Op> {
    let other = if T::IS_COMPLEX { Op::C } else { Op::T };
    (op == Op::N || op == other).then_some(op)
}

/// Computes `orgqr` or `ungqr`.
pub unsafe fn ungqr<T: Element>(
    [m, n, k]: [i64; 3],
    a: *mut T,
    lda: i64,
    tau: *const T,
    work: *mut T,
    length: i64,
) -> Option<usize> {
    let (m, n, k) = (some(m)?, some(n)?, some(k)?);
    if n > m || k > n {
        return None;
    }
    let a_layout = columns(m, n, lda)?;
    worth::<T>(volume(m, n, k))?;
    // SAFETY: see above.
    unsafe {
        check_work(work, length, n)?;
        let (mut a, tau) = (Matrix::new(a_layout, a)?, Matrix::new(MatrixLayout::column_major(k, 1), tau)?);
        done(factor::ungqr(a.write()?, tau.buffer()))?;
        a.store()?;
    }
    Some(0)
}

/// Solves by least squares.
///
/// LAPACK solves a system of zeros by zeros. The library calls it rank-deficient, so the next library
/// answers such a call.
pub unsafe fn gels<T: Element>(
    op: Option<Op>,
    [m, n, sides]: [i64; 3],
    a: *mut T,
    lda: i64,
    b: *mut T,
    ldb: i64,
    work: *mut T,
    length: i64,
) -> Option<usize> {
    let (op, m, n, sides) = (legal_op::<T>(op?)?, some(m)?, some(n)?, some(sides)?);
    let (a_layout, b_layout) = (columns(m, n, lda)?, columns(m.max(n), sides, ldb)?);
    let fewer = m.min(n);
    worth::<T>(volume(m, n, fewer) + 2.0 * volume(m, n, sides))?;
    // SAFETY: see above.
    unsafe {
        let zero = |j: usize| {
            elements_of(a.add(j * a_layout.leading_dimension), m).iter().all(|x| *x == T::default())
        };
        if (0..n).all(zero) {
            return None;
        }
        check_work(work, length, fewer + fewer.max(sides))?;
        let (mut a, mut b) = (Matrix::new(a_layout, a)?, Matrix::new(b_layout, b)?);
        let info = done(done(factor::gels(op, a.write()?, b.write()?))?.wait())?;
        if info == 0 {
            b.store()?;
        }
        a.store()?;
        Some(info)
    }
}
