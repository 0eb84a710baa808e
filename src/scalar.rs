//! The number types that fields, vectors and kernels are made of.

use bytemuck::Pod;
use num_complex::Complex;
use num_traits::{Float, NumAssign};
use std::fmt::{Debug, Display};

/// How many bits a real number has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// IEEE binary32, `float` in OpenCL C.
    Single,
    /// IEEE binary64, `double` in OpenCL C.
    Double,
}

impl Precision {
    /// Bits of one real number: 32 or 64.
    pub fn bits(self) -> u32 {
        8 * self.bytes() as u32
    }

    /// Bytes of one real number: 4 or 8.
    pub fn bytes(self) -> usize {
        match self {
            Precision::Single => 4,
            Precision::Double => 8,
        }
    }

    /// The name of this type in OpenCL C.
    pub fn opencl_name(self) -> &'static str {
        match self {
            Precision::Single => "float",
            Precision::Double => "double",
        }
    }
}

impl Display for Precision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Precision::Single => "single",
            Precision::Double => "double",
        })
    }
}

/// A real number type: `f32` or `f64`.
pub trait Real:
    Float + NumAssign + Pod + Send + Sync + Debug + Display + Default + std::iter::Sum + 'static
{
    /// Which of the two this is.
    const PRECISION: Precision;

    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;

    /// The same value in double.
    fn to_f64(self) -> f64;
}

impl Real for f32 {
    const PRECISION: Precision = Precision::Single;

    #[inline]
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    const PRECISION: Precision = Precision::Double;

    #[inline]
    fn from_f64(value: f64) -> Self {
        value
    }

    #[inline]
    fn to_f64(self) -> f64 {
        self
    }
}

/// What a vector may hold: `f32`, `f64`, `Complex<f32>` or `Complex<f64>`.
///
/// Reductions over any of them are accumulated in double.
pub trait Element: Pod + Send + Sync + Debug + Default + PartialEq + 'static {
    /// The type of the real and imaginary part.
    type Real: Real;

    /// True for the complex types.
    const IS_COMPLEX: bool;

    /// Reals in one element: 1 or 2.
    const REALS: usize = if Self::IS_COMPLEX { 2 } else { 1 };

    /// The nearest element; the imaginary part is dropped for the real types.
    fn from_complex(value: Complex<f64>) -> Self;

    /// The element as a double-precision complex number.
    fn to_complex(self) -> Complex<f64>;
}

macro_rules! real_element {
    ($real:ty) => {
        impl Element for $real {
            type Real = $real;
            const IS_COMPLEX: bool = false;

            #[inline]
            fn from_complex(value: Complex<f64>) -> Self {
                <$real>::from_f64(value.re)
            }

            #[inline]
            fn to_complex(self) -> Complex<f64> {
                Complex::new(self.to_f64(), 0.0)
            }
        }

        impl Element for Complex<$real> {
            type Real = $real;
            const IS_COMPLEX: bool = true;

            #[inline]
            fn from_complex(value: Complex<f64>) -> Self {
                Complex::new(<$real>::from_f64(value.re), <$real>::from_f64(value.im))
            }

            #[inline]
            fn to_complex(self) -> Complex<f64> {
                Complex::new(self.re.to_f64(), self.im.to_f64())
            }
        }
    };
}

real_element!(f32);
real_element!(f64);
