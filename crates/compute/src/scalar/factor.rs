//! Factors of vectors and matrices: the α and β of linear algebra.

use super::{Element, ElementType, Precision};
use num_complex::Complex;

/// A possible factor α or β of elements of type `T`.
///
/// The factor is an element or a whole number. For complex elements the factor may also be a number
/// of their real type.
///
/// ```
/// use lattice_compute::scalar::{Element, ElementType, Scalar};
/// use num_complex::Complex;
///
/// fn takes<T: Element>(_: impl Scalar<T>) {}
/// takes::<f32>(2.0_f32);
/// takes::<f32>(-1);
/// takes::<Complex<f64>>(2.0);
/// takes::<Complex<f64>>(Complex::new(0.0, 1.0));
/// ```
///
/// A complex factor of real elements does not compile:
///
/// ```compile_fail
/// # use lattice_compute::scalar::{Element, Scalar};
/// # use num_complex::Complex;
/// # fn takes<T: Element>(_: impl Scalar<T>) {}
/// takes::<f64>(Complex::new(0.0, 1.0));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a factor of elements of type `{T}`",
    note = "a factor is of the element type, of its real type, or a whole number (`i32`)"
)]
pub trait Scalar<T: Element>: Copy {
    /// Returns the factor.
    fn factor(self) -> Factor<T>;
}

/// A factor of elements of type `T`.
///
/// A real factor of complex elements multiplies their parts one by one, like `zdscal` of the BLAS.
/// So an infinity meets no imaginary part 0, which would make a NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor<T> {
    value: T,
    real: bool,
}

impl<T: Element> Factor<T> {
    /// Returns the factor as an element.
    pub fn value(self) -> T {
        self.value
    }

    /// Returns `true` if the factor is 0, or was rounded to 0 by the element type.
    pub fn is_zero(self) -> bool {
        self.value == T::default()
    }

    /// Returns `true` if the factor is 1.
    pub fn is_one(self) -> bool {
        self.value == T::from_complex(1.0.into())
    }

    /// Returns the factor with the other sign.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { value: T::from_complex(-self.value.to_complex()), ..self }
    }

    /// Returns the factor in a form that keeps elements if it is 1.
    ///
    /// In this form 1 multiplies nothing, which is the rule of the BLAS. The product of a complex 1
    /// with an infinity is not that infinity.
    #[must_use]
    pub fn keeping(self) -> Self {
        Self { real: self.real || self.is_one(), ..self }
    }

    /// Makes a real factor of these elements.
    pub fn of_real(factor: Factor<T::Real>) -> Self {
        Self { value: T::from_complex(factor.value.to_complex()), real: true }
    }

    /// Returns the product with an element.
    pub fn times(self, x: T) -> T
    where
        T: std::ops::Mul<Output = T>,
    {
        if self.real { x.scaled(self.value.real_part()) } else { self.value * x }
    }
}

/// A factor of elements whose type is a value.
///
/// The factor is rounded to its element type. See [`Factor`] for real factors of complex elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnyFactor {
    element: ElementType,
    value: Complex<f64>,
    real: bool,
}

impl<T: Element> From<Factor<T>> for AnyFactor {
    fn from(factor: Factor<T>) -> Self {
        Self { element: ElementType::of::<T>(), value: factor.value.to_complex(), real: factor.real }
    }
}

impl ElementType {
    /// Returns a whole number as a factor of elements.
    pub fn factor(self, number: i32) -> AnyFactor {
        self.real_factor(f64::from(number))
    }

    /// Returns a real number as a factor of elements, rounded to their precision.
    pub fn real_factor(self, number: f64) -> AnyFactor {
        let rounded = match self.precision {
            Precision::Single => f64::from(number as f32),
            Precision::Double => number,
        };
        AnyFactor { element: self, value: rounded.into(), real: true }
    }
}

impl AnyFactor {
    /// Returns the type of the elements.
    pub fn element(self) -> ElementType {
        self.element
    }

    /// Returns `true` if the factor is 0, or was rounded to 0 by the element type.
    pub fn is_zero(self) -> bool {
        self.value == Complex::from(0.0)
    }

    /// Returns `true` if the factor is 1.
    pub fn is_one(self) -> bool {
        self.value == Complex::from(1.0)
    }

    /// Returns the complex conjugate, as an element.
    #[must_use]
    pub fn conjugated(self) -> Self {
        Self { value: self.value.conj(), ..self.as_element() }
    }

    /// Returns the factor as an element, which multiplies complex elements as a complex number.
    #[must_use]
    pub fn as_element(self) -> Self {
        Self { real: !self.element.complex, ..self }
    }

    /// Returns the factor in a form that keeps elements if it is 1.
    ///
    /// [`Factor::keeping`] says why.
    #[must_use]
    pub fn keeping(self) -> Self {
        Self { real: self.real || self.is_one(), ..self }
    }

    /// Returns the number in the form that kernels take.
    ///
    /// A real factor of complex elements has the imaginary part −0. Other factors never have it.
    pub(crate) fn for_kernel(self) -> Complex<f64> {
        // Adding 0 makes 0 of −0.
        Complex::new(self.value.re, if self.real { -0.0 } else { self.value.im + 0.0 })
    }
}

impl<T: Element> Scalar<T> for Factor<T> {
    fn factor(self) -> Self {
        self
    }
}

impl<T: Element> Scalar<T> for T {
    fn factor(self) -> Factor<T> {
        Factor { value: self, real: !T::IS_COMPLEX }
    }
}

impl<T: Element> Scalar<T> for i32 {
    fn factor(self) -> Factor<T> {
        Factor { value: T::from_complex(f64::from(self).into()), real: true }
    }
}

macro_rules! real_factor {
    ($real:ty) => {
        impl Scalar<Complex<$real>> for $real {
            fn factor(self) -> Factor<Complex<$real>> {
                Factor { value: self.into(), real: true }
            }
        }
    };
}

real_factor!(f32);
real_factor!(f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_factor_multiplies_the_parts_one_by_one() {
        let x = Complex::new(f64::INFINITY, 1.0);
        assert_eq!(Scalar::<Complex<f64>>::factor(2.0).times(x), Complex::new(f64::INFINITY, 2.0));
        assert_eq!(Scalar::<Complex<f64>>::factor(2).times(x), Complex::new(f64::INFINITY, 2.0));
        assert!(Complex::new(2.0, 0.0).factor().times(x).im.is_nan());
        assert!(Complex::new(1.0, 0.0).factor().times(x).im.is_nan());
        assert_eq!(Complex::new(1.0, 0.0).factor().keeping().times(x), x);
        assert_eq!(Complex::new(0.0, 1.0).factor().times(Complex::new(1.0, 0.0)), Complex::new(0.0, 1.0));
        assert_eq!(Scalar::<f64>::factor(3).negated().times(2.0), -6.0);
    }

    #[test]
    fn kernels_tell_real_factors_by_the_sign_of_their_imaginary_zero() {
        let for_kernel = |factor: Factor<Complex<f32>>| AnyFactor::from(factor).for_kernel();
        let sign = |factor| for_kernel(factor).im.is_sign_negative();
        assert!(sign(Scalar::factor(2.0)) && sign(Scalar::factor(-2)));
        assert!(!sign(Complex::new(2.0, -0.0).factor()));
        assert!(!sign(Complex::new(2.0, 0.0).factor().negated()));
        assert!(sign(Complex::new(1.0, 0.0).factor().keeping()));
        assert_eq!(for_kernel(Complex::new(2.0_f32, -3.0).factor()), Complex::new(2.0, -3.0));
    }

    #[test]
    fn what_the_element_type_rounds_to_zero_is_zero() {
        assert!(Scalar::<f32>::factor(1e-60).is_zero());
        assert!(Scalar::<f64>::factor(-0.0).is_zero());
        assert!(!Scalar::<f64>::factor(1e-60).is_zero());
        assert!(AnyFactor::from(Scalar::<f32>::factor(1e-60)).is_zero());
        assert!(!AnyFactor::from(Scalar::<f64>::factor(1e-60)).is_zero());
    }
}
