//! The letters, numbers and workspaces of the two interfaces; `None` for illegal ones.

use lattice_compute::scalar::Element;
use lattice_linalg::{Diagonal, Op, Order, Side, Triangle};
use num_complex::Complex;
use std::ffi::{c_char, c_int};

/// The address of an integer, as Fortran passes it.
pub type Int<I> = *const I;

/// The address of a letter.
pub type Letter = *const c_char;

/// Returns the integer at an address.
///
/// # Safety
/// `number` refers to an integer.
pub unsafe fn at<I: Copy + Into<i64>>(number: Int<I>) -> i64 {
    // SAFETY: the caller guarantees that there is an integer.
    unsafe { *number }.into()
}

/// Returns a number of rows, columns, terms or elements.
pub fn extent(n: i64) -> Option<usize> {
    usize::try_from(n).ok()
}

/// Returns the leading dimension of a matrix whose lines have this length.
pub fn leading(ld: i64, length: usize) -> Option<usize> {
    extent(ld).filter(|&ld| ld >= length.max(1))
}

/// Returns an increment that is not 0.
///
/// Level 2 asks for such an increment, and so does every operand that is written.
pub fn increment(inc: i64) -> Option<isize> {
    (inc != 0).then_some(inc as isize)
}

/// A choice that each interface passes in a form of its own.
pub trait Choice: Sized {
    /// Reads the choice from a letter of the Fortran interface.
    fn of_letter(letter: char) -> Option<Self>;
    /// Reads the choice from a number of the C interface.
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

impl Choice for Diagonal {
    fn of_letter(letter: char) -> Option<Self> {
        match letter {
            'N' => Some(Diagonal::Stored),
            'U' => Some(Diagonal::Ones),
            _ => None,
        }
    }
    fn of_number(number: c_int) -> Option<Self> {
        match number {
            131 => Some(Diagonal::Stored),
            132 => Some(Diagonal::Ones),
            _ => None,
        }
    }
}

/// Returns the letter of a Fortran caller as a capital.
///
/// # Safety
/// `letter` refers to a letter.
pub unsafe fn capital(letter: Letter) -> char {
    // SAFETY: the caller guarantees that `letter` refers to a letter.
    char::from(unsafe { *letter } as u8).to_ascii_uppercase()
}

/// Reads the choice of a Fortran caller, in capitals or not.
///
/// # Safety
/// `letter` refers to a letter.
pub unsafe fn letter<T: Choice>(letter: Letter) -> Option<T> {
    // SAFETY: the caller guarantees that `letter` refers to a letter.
    T::of_letter(unsafe { capital(letter) })
}

/// Returns the storage order that a C caller chose.
pub fn order(number: c_int) -> Option<Order> {
    match number {
        101 => Some(Order::RowMajor),
        102 => Some(Order::ColumnMajor),
        _ => None,
    }
}

/// Checks that a workspace has so many elements, and says in it that they are enough.
///
/// A query for the best size is passed on. It has no operations, so this comes before they are noted.
///
/// # Safety
/// `work` has `length` elements.
pub unsafe fn check_work<T: Element>(work: *mut T, length: i64, wanted: usize) -> Option<()> {
    let wanted = wanted.max(1);
    extent(length).filter(|&length| length >= wanted)?;
    // SAFETY: the caller guarantees an element.
    unsafe { *work = T::from_complex(Complex::from(wanted as f64)) };
    Some(())
}
