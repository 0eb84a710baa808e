//! Elements of matrices near the ends of their range, and their quotients.

use super::level1::Arithmetic;
use lattice_compute::scalar::{Element, Precision, Real};
use lattice_solvers::range::{complex_times_power, exponent, exponent_beyond, larger, part_size, quotient};
use num_complex::Complex;
use std::ops::Div;

type C64 = Complex<f64>;

/// Largest exponent of elements in single precision whose squares and products are in range.
const SAFE_SINGLE: i32 = 40;

/// Returns the exponent of the largest element, or 0 if products in double precision are in range.
pub(super) fn exponent_in_double(elements: &[C64]) -> i32 {
    exponent(elements.iter().map(|z| part_size(*z)).fold(0.0, larger))
}

/// Returns the exponent of the largest element, or 0 if products in its own precision are in range.
pub(super) fn exponent_of<T: Element>(elements: impl Iterator<Item = T>) -> i32 {
    own_exponent::<T>(elements.map(|x| part_size(x.to_complex())).fold(0.0, larger))
}

/// Multiplies elements by 2ᵏ, which rounds nothing but what leaves the range.
pub(super) fn scale<T: Element>(elements: &mut [T], k: i32) {
    if k != 0 {
        elements.iter_mut().for_each(|x| *x = T::from_complex(complex_times_power(x.to_complex(), k)));
    }
}

/// Returns a/b, which over- or underflows only if the quotient does.
///
/// All divisions of complex numbers on the host go by it. Numbers of ordinary size have the quotient of
/// their type.
pub(super) fn divided<T: Arithmetic + Div<Output = T>>(a: T, b: T) -> T {
    if !T::IS_COMPLEX {
        return a / b;
    }
    let (wide_a, wide_b) = (a.to_complex(), b.to_complex());
    let ordinary = |z: C64| own_exponent::<T>(part_size(z)) == 0;
    if ordinary(wide_a) && ordinary(wide_b) { a / b } else { T::from_complex(quotient(wide_a, wide_b)) }
}

fn own_exponent<T: Element>(size: f64) -> i32 {
    match T::Real::PRECISION {
        Precision::Single => exponent_beyond(size, SAFE_SINGLE),
        Precision::Double => exponent(size),
    }
}
