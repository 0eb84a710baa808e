//! Systems with square matrices of the caller; `None` passes a call on.
//!
//! Functions that factorise return LAPACK's `info`. Calls without elements are passed on.
//!
//! # Safety
//! All functions ask for the same as LAPACK. Pointers refer to matrices and vectors of these extents
//! and leading dimensions. Results may be written.

use crate::arguments::{check_work, extent};
use crate::balance::worth;
use crate::check::ReturnValue;
use crate::devices::done;
use crate::level3::area;
use crate::operands::{Matrix, store_numbers};
use crate::operations::{layout, some};
use lattice_compute::Buffer;
use lattice_compute::scalar::Element;
use lattice_linalg::factor;
use lattice_linalg::{MatrixLayout, Op, Order, Triangle};

/// An integer of the caller.
pub trait Integer: Copy + Into<i64> + ReturnValue + 'static {
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

/// Tells the caller LAPACK's `info`.
///
/// # Safety
/// `info` refers to an integer that may be written.
pub unsafe fn tell<I: Integer>(info: *mut I, found: usize) {
    // SAFETY: the caller guarantees an integer.
    unsafe { store_numbers(vec![I::of(found)], info) }
}

/// Returns the layout of a matrix in Fortran's order.
pub fn columns(rows: usize, columns: usize, ld: i64) -> Option<MatrixLayout> {
    layout(Order::ColumnMajor, (rows, columns), ld)
}

/// Returns the product of three extents.
pub fn volume(m: usize, n: usize, k: usize) -> f64 {
    m as f64 * n as f64 * k as f64
}

pub unsafe fn potrf<T: Element>(triangle: Option<Triangle>, n: i64, a: *mut T, lda: i64) -> Option<usize> {
    let (triangle, n) = (triangle?, some(n)?);
    let a_layout = columns(n, n, lda)?;
    worth::<T>(volume(n, n, n) / 6.0, 2.0 * area(n, n))?;
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
    worth::<T>(volume(n, n, sides), area(n, n) + 2.0 * area(n, sides))?;
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
    worth::<T>(volume(n, n, n) / 6.0 + volume(n, n, sides), 2.0 * area(n, n) + 2.0 * area(n, sides))?;
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
    let numbers = done(pivots.to_vec())?.into_iter().map(|row| I::of(row as usize + 1)).collect();
    // SAFETY: the caller guarantees the room.
    unsafe { store_numbers(numbers, to) };
    Some(())
}

/// Reads pivots of the caller; `None` if no factorisation makes them.
///
/// # Safety
/// There are n pivots.
unsafe fn read_pivots<I: Integer>(pivots: *const I, n: usize) -> Option<Vec<u32>> {
    let rows = (0..n).map(|i| {
        // SAFETY: the caller guarantees so many pivots.
        let row: i64 = unsafe { *pivots.add(i) }.into();
        extent(row - 1).filter(|row| (i..n).contains(row)).map(|row| row as u32)
    });
    rows.collect()
}

pub unsafe fn getrf<T: Element, I: Integer>(
    [m, n]: [i64; 2],
    a: *mut T,
    lda: i64,
    pivots: *mut I,
) -> Option<usize> {
    let (m, n) = (some(m)?, some(n)?);
    let a_layout = columns(m, n, lda)?;
    worth::<T>(volume(m, n, m.min(n)) / 3.0, 2.0 * area(m, n))?;
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
    worth::<T>(volume(n, n, sides), area(n, n) + 2.0 * area(n, sides))?;
    // SAFETY: see above.
    unsafe {
        let rows = read_pivots(pivots, n)?;
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
    worth::<T>(volume(n, n, n) / 3.0 + volume(n, n, sides), 2.0 * area(n, n) + 2.0 * area(n, sides))?;
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

/// Computes the inverse from the factors of [`getrf`].
pub unsafe fn getri<T: Element, I: Integer>(
    n: i64,
    a: *mut T,
    lda: i64,
    pivots: *const I,
    work: *mut T,
    length: i64,
) -> Option<usize> {
    let n = some(n)?;
    let a_layout = columns(n, n, lda)?;
    // SAFETY: see above.
    unsafe { check_work(work, length, n)? };
    worth::<T>(2.0 * volume(n, n, n) / 3.0, 2.0 * area(n, n))?;
    // SAFETY: see above.
    unsafe {
        let rows = read_pivots(pivots, n)?;
        // The next library finds the zero, and leaves the factors as they are.
        if (0..n).any(|i| *a.add(i + i * a_layout.leading_dimension) == T::default()) {
            return None;
        }
        let mut a = Matrix::new(a_layout, a)?;
        let rows = done(Buffer::from_slice(a.device(), &rows))?;
        done(factor::getri(a.write()?, &rows))?;
        a.store()?;
    }
    Some(0)
}

/// Computes the inverse from the factor of [`potrf`].
pub unsafe fn potri<T: Element>(triangle: Option<Triangle>, n: i64, a: *mut T, lda: i64) -> Option<usize> {
    let (triangle, n) = (triangle?, some(n)?);
    let a_layout = columns(n, n, lda)?;
    worth::<T>(volume(n, n, n) / 3.0, 2.0 * area(n, n))?;
    // SAFETY: see above.
    unsafe {
        // The next library finds the zero, and leaves the factor as it is.
        if (0..n).any(|i| *a.add(i + i * a_layout.leading_dimension) == T::default()) {
            return None;
        }
        let mut a = Matrix::new(a_layout, a)?;
        done(factor::potri(triangle, a.write()?))?;
        a.store_triangle(triangle)?;
    }
    Some(0)
}
