//! What letters and numbers of the two interfaces mean; `None` for what is illegal.

use lattice_cl::blas::{Op, Order, Side, Triangle};
use std::ffi::{c_char, c_int};

/// A number of rows, columns, terms or elements.
pub fn extent(n: c_int) -> Option<usize> {
    usize::try_from(n).ok()
}

/// The leading dimension of a matrix with lines of this length.
pub fn leading(ld: c_int, length: usize) -> Option<usize> {
    extent(ld).filter(|&ld| ld >= length.max(1))
}

/// An increment that is legal where operands are written, and in level 2.
pub fn increment(inc: c_int) -> Option<isize> {
    (inc != 0).then_some(inc as isize)
}

/// A type that each interface has its own arguments for.
pub trait Choice: Sized {
    /// From a letter.
    fn of_letter(letter: char) -> Option<Self>;
    /// From a number of the C interface.
    fn of_number(number: c_int) -> Option<Self>;
}

impl Choice for Op {
    fn of_letter(letter: char) -> Option<Self> {
        [('N', Op::N), ('T', Op::T), ('C', Op::C)].into_iter().find_map(|(l, op)| (l == letter).then_some(op))
    }
    fn of_number(number: c_int) -> Option<Self> {
        [(111, Op::N), (112, Op::T), (113, Op::C)].into_iter().find_map(|(n, op)| (n == number).then_some(op))
    }
}

impl Choice for Triangle {
    fn of_letter(letter: char) -> Option<Self> {
        match letter {
            'U' => Some(Triangle::Upper),
            'L' => Some(Triangle::Lower),
            _ => None,
        }
    }
    fn of_number(number: c_int) -> Option<Self> {
        match number {
            121 => Some(Triangle::Upper),
            122 => Some(Triangle::Lower),
            _ => None,
        }
    }
}

impl Choice for Side {
    fn of_letter(letter: char) -> Option<Self> {
        match letter {
            'L' => Some(Side::Left),
            'R' => Some(Side::Right),
            _ => None,
        }
    }
    fn of_number(number: c_int) -> Option<Self> {
        match number {
            141 => Some(Side::Left),
            142 => Some(Side::Right),
            _ => None,
        }
    }
}

/// The choice of a Fortran caller, in capitals or not.
///
/// # Safety
/// `letter` refers to one.
pub unsafe fn letter<T: Choice>(letter: *const c_char) -> Option<T> {
    // SAFETY: as the caller says.
    T::of_letter(char::from(unsafe { *letter } as u8).to_ascii_uppercase())
}

/// The order of a C caller.
pub fn order(number: c_int) -> Option<Order> {
    match number {
        101 => Some(Order::RowMajor),
        102 => Some(Order::ColumnMajor),
        _ => None,
    }
}
