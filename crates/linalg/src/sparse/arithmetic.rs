//! Arithmetic of elements that are real or complex.

use crate::host::level1::Arithmetic;
use lattice_compute::scalar::Real;
use lattice_solvers::range::quotient;
use num_complex::Complex64;

/// Returns the complex conjugate.
pub(super) fn conjugate<T: Arithmetic>(value: T) -> T {
    if T::IS_COMPLEX { T::from_complex(value.to_complex().conj()) } else { value }
}

/// Returns 1/x.
pub(super) fn reciprocal<T: Arithmetic>(value: T) -> T {
    let value = value.to_complex();
    let one = Complex64::from(1.0);
    T::from_complex(if T::IS_COMPLEX { quotient(one, value) } else { one / value.re })
}

/// Returns |x|.
pub(super) fn size<T: Arithmetic>(value: T) -> f64 {
    if T::IS_COMPLEX { value.to_complex().norm() } else { value.real_part().to_f64().abs() }
}

/// Returns the element of a real number.
pub(super) fn real<T: Arithmetic>(value: f64) -> T {
    T::from_complex(value.into())
}

/// Returns −x.
pub(super) fn negative<T: Arithmetic>(value: T) -> T {
    T::default() - value
}

/// Returns |x|².
pub(super) fn square<T: Arithmetic>(value: T) -> f64 {
    let value = value.to_complex();
    if T::IS_COMPLEX { value.norm_sqr() } else { value.re * value.re }
}

/// Returns the letter of an element type: s, d, c or z.
pub(super) fn letter<T: Arithmetic>() -> &'static str {
    [["s", "d"], ["c", "z"]][usize::from(T::IS_COMPLEX)][size_of::<T::Real>() / 8]
}
