//! Orthogonal factors and least squares of the caller's matrices; `None` passes a call on.
//!
//! Calls without elements are passed on.
//!
//! # Safety
//! All functions ask for the same as LAPACK. Pointers refer to matrices and vectors of these extents
//! and leading dimensions. Results may be written.

use crate::arguments::check_work;
use crate::balance::worth;
use crate::check::Compared;
use crate::devices::done;
use crate::factor::{columns, volume};
use crate::level3::area;
use crate::operands::{Matrix, elements_of};
use crate::operations::some;
use lattice_compute::scalar::Element;
use lattice_linalg::factor;
use lattice_linalg::{MatrixLayout, Op, Side};

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
    // SAFETY: see above.
    unsafe { check_work(work, length, n)? };
    worth::<T>(volume(m, n, m.min(n)), 2.0 * area(m, n))?;
    // SAFETY: see above.
    unsafe {
        let mut a = Matrix::new(a_layout, a)?;
        let mut factors = Matrix::new(tau_layout, tau)?;
        done(factor::geqrf(a.write()?, factors.buffer_mut()))?;
        // R has any signs, and reflectors depend on them.
        a.store_unlike(Compared::Sizes, |column, rows| 0..rows.min(column + 1))?;
        factors.store_unlike(Compared::Nothing, |_, rows| 0..rows)?;
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
    // SAFETY: see above.
    unsafe { check_work(work, length, others)? };
    worth::<T>(2.0 * volume(m, n, k), area(rows, k) + 2.0 * area(m, n))?;
    // SAFETY: see above.
    unsafe {
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
    // SAFETY: see above.
    unsafe { check_work(work, length, n)? };
    worth::<T>(volume(m, n, k), 2.0 * area(m, n))?;
    // SAFETY: see above.
    unsafe {
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
    // SAFETY: see above.
    unsafe { check_work(work, length, fewer + fewer.max(sides))? };
    worth::<T>(
        volume(m, n, fewer) + 2.0 * volume(m, n, sides),
        2.0 * area(m, n) + 2.0 * area(m.max(n), sides),
    )?;
    // SAFETY: see above.
    unsafe {
        let zero = |j: usize| {
            elements_of(a.add(j * a_layout.leading_dimension), m).iter().all(|x| *x == T::default())
        };
        if (0..n).all(zero) {
            return None;
        }
        let (mut a, mut b) = (Matrix::new(a_layout, a)?, Matrix::new(b_layout, b)?);
        let info = done(done(factor::gels(op, a.write()?, b.write()?))?.wait())?;
        let unknowns = op.shape(m, n).1;
        if info == 0 {
            b.store_unlike(Compared::Values, move |_, _| 0..unknowns)?;
        }
        a.store_unlike(Compared::Nothing, |_, rows| 0..rows)?;
        Some(info)
    }
}
