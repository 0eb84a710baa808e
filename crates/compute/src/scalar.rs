//! The number types that fields, vectors and kernels are made of.

mod element_type;
mod factor;

pub use element_type::ElementType;
pub use factor::{AnyFactor, Factor, Scalar};

use bytemuck::Pod;
use num_complex::Complex;
use num_traits::{Float, NumAssign};
use std::fmt::{Debug, Display};

/// The number of bits of a real number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// IEEE binary32, `float` in OpenCL C.
    Single,
    /// IEEE binary64, `double` in OpenCL C.
    Double,
}

lattice_files::words! { Precision, "precision": Double = "double", "64 bits"; Single = "single", "32 bits" }

impl Precision {
    /// Returns the bits of one real number: 32 or 64.
    pub fn bits(self) -> u32 {
        8 * self.bytes() as u32
    }

    /// Returns the bytes of one real number: 4 or 8.
    pub fn bytes(self) -> usize {
        match self {
            Precision::Single => 4,
            Precision::Double => 8,
        }
    }

    /// Returns the name of this type in OpenCL C.
    pub fn opencl_name(self) -> &'static str {
        match self {
            Precision::Single => "float",
            Precision::Double => "double",
        }
    }
}

/// A real number type: `f32` or `f64`.
pub trait Real:
    Storage<Real = Self, Stored = Self>
    + Float
    + NumAssign
    + Pod
    + Send
    + Sync
    + Debug
    + Display
    + Default
    + std::iter::Sum
    + 'static
{
    /// The precision of this type.
    const PRECISION: Precision;

    /// Returns the nearest value of this type.
    fn from_f64(value: f64) -> Self;

    /// Returns the same value in double.
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

/// The form of a lattice field's numbers in the memory of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoragePrecision {
    /// 16-bit fixed point, see [`Half`].
    Half,
    /// IEEE binary32.
    Single,
    /// IEEE binary64.
    Double,
}

lattice_files::words! { StoragePrecision, "precision": Double = "double"; Single = "single"; Half = "half" }

impl StoragePrecision {
    /// Returns the bytes of one stored number: 2, 4 or 8.
    pub fn bytes(self) -> usize {
        match self {
            Self::Half => 2,
            Self::Single => 4,
            Self::Double => 8,
        }
    }

    /// Returns the type of one stored number in OpenCL C.
    pub fn opencl_name(self) -> &'static str {
        match self {
            Self::Half => "ushort",
            Self::Single => "float",
            Self::Double => "double",
        }
    }
}

/// The types of a lattice field's numbers in arithmetic and in memory.
///
/// The implementors are `f32`, `f64` and [`Half`].
pub trait Storage: Copy + Debug + Send + Sync + 'static {
    /// The type of all arithmetic, and of the values on the host.
    type Real: Real;
    /// The type of one number in memory.
    type Stored: Pod + Send + Sync + Debug + Default + PartialEq;

    /// The storage precision of this type.
    const STORAGE: StoragePrecision;

    /// Returns the number in memory for a value that is counted in units of `unit`.
    fn store(value: Self::Real, unit: Self::Real) -> Self::Stored;

    /// Returns the value of a number in memory.
    fn load(stored: Self::Stored, unit: Self::Real) -> Self::Real;
}

macro_rules! stored_as_it_is {
    ($real:ty, $precision:expr) => {
        impl Storage for $real {
            type Real = $real;
            type Stored = $real;
            const STORAGE: StoragePrecision = $precision;

            #[inline]
            fn store(value: $real, _: $real) -> $real {
                value
            }

            #[inline]
            fn load(stored: $real, _: $real) -> $real {
                stored
            }
        }
    };
}

stored_as_it_is!(f32, StoragePrecision::Single);
stored_as_it_is!(f64, StoragePrecision::Double);

/// Half precision: 16-bit fixed point in memory, `f32` in all arithmetic.
///
/// A number is an integer from −32767 to 32767 times a unit. In memory 32768 is added, which makes
/// the integer unsigned. Elements of links, at most 1 in size, have the unit 1/32767. The numbers
/// of a spinor share a unit that is stored beside them: the largest number divided by 32767
/// ([`Half::unit`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half;

impl Half {
    /// The largest integer that is stored.
    pub const LARGEST: f32 = 32767.0;

    /// The amount that is added to integers in memory.
    const RAISED: i32 = 1 << 15;

    /// Returns the unit in which the largest of `values` is [`Half::LARGEST`].
    ///
    /// The unit is NaN if all values are.
    pub fn unit(values: impl Iterator<Item = f32>) -> f32 {
        values.map(f32::abs).reduce(f32::max).unwrap_or(0.0) / Self::LARGEST
    }
}

impl Storage for Half {
    type Real = f32;
    type Stored = u16;
    const STORAGE: StoragePrecision = StoragePrecision::Half;

    #[inline]
    fn store(value: f32, unit: f32) -> u16 {
        // The conversion saturates. A spinor of zeros has a zero unit, which gives zero.
        let integer = if unit > 0.0 { (value / unit).round() as i16 } else { 0 };
        (i32::from(integer) + Self::RAISED) as u16
    }

    #[inline]
    fn load(stored: u16, unit: f32) -> f32 {
        (i32::from(stored) - Self::RAISED) as f32 * unit
    }
}

/// An element of a vector: `f32`, `f64`, `Complex<f32>` or `Complex<f64>`.
///
/// Reductions over elements of any type are accumulated in double.
///
/// Reductions over any of them are accumulated in double.
pub trait Element: Pod + Send + Sync + Debug + Default + PartialEq + 'static {
    /// The type of the real and imaginary part.
    type Real: Real + Element<Real = Self::Real>;

    /// `true` for the complex types.
    const IS_COMPLEX: bool;

    /// Reals in one element: 1 or 2.
    const REALS: usize = if Self::IS_COMPLEX { 2 } else { 1 };

    /// Returns the nearest element.
    ///
    /// The imaginary part is dropped for the real types.
    fn from_complex(value: Complex<f64>) -> Self;

    /// Returns the element as a double-precision complex number.
    fn to_complex(self) -> Complex<f64>;

    /// Returns the real part.
    fn real_part(self) -> Self::Real;

    /// Returns the element with its parts multiplied by a real number, one by one.
    #[must_use]
    fn scaled(self, factor: Self::Real) -> Self;
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

            #[inline]
            fn real_part(self) -> $real {
                self
            }

            #[inline]
            fn scaled(self, factor: $real) -> Self {
                factor * self
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

            #[inline]
            fn real_part(self) -> $real {
                self.re
            }

            #[inline]
            fn scaled(self, factor: $real) -> Self {
                Complex::new(factor * self.re, factor * self.im)
            }
        }
    };
}

real_element!(f32);
real_element!(f64);
