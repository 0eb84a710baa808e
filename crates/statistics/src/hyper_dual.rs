//! Numbers that carry exact derivatives.

use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A number with its derivatives along two directions.
///
/// A function of such numbers has exact first derivatives and the mixed second derivative
/// (J. A. Fike and J. J. Alonso, AIAA 2011-886).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HyperDual {
    /// The value.
    pub value: f64,
    /// The derivative along the first direction.
    pub first: f64,
    /// The derivative along the second direction.
    pub second: f64,
    /// The derivative along both directions.
    pub mixed: f64,
}

impl HyperDual {
    /// Returns a number that does not depend on the directions.
    pub fn constant(value: f64) -> Self {
        Self { value, ..Self::default() }
    }

    /// Applies a function with this value and these derivatives at `self.value`.
    pub fn chain(self, value: f64, slope: f64, curvature: f64) -> Self {
        Self {
            value,
            first: slope * self.first,
            second: slope * self.second,
            mixed: slope * self.mixed + curvature * self.first * self.second,
        }
    }

    /// Returns the exponential.
    pub fn exp(self) -> Self {
        let value = self.value.exp();
        self.chain(value, value, value)
    }

    /// Returns the natural logarithm.
    pub fn ln(self) -> Self {
        let slope = self.value.recip();
        self.chain(self.value.ln(), slope, -slope * slope)
    }

    /// Returns the square root.
    pub fn sqrt(self) -> Self {
        let value = self.value.sqrt();
        let slope = 0.5 / value;
        self.chain(value, slope, -0.5 * slope / self.value)
    }

    /// Returns one over the number.
    pub fn recip(self) -> Self {
        let value = self.value.recip();
        self.chain(value, -value * value, 2.0 * value * value * value)
    }

    /// Returns an integer power.
    pub fn powi(self, power: i32) -> Self {
        if power == 0 {
            return Self::constant(1.0);
        }
        let n = f64::from(power);
        let curvature = if power == 1 { 0.0 } else { n * (n - 1.0) * self.value.powi(power - 2) };
        self.chain(self.value.powi(power), n * self.value.powi(power - 1), curvature)
    }

    /// Returns a real power of a positive number.
    pub fn powf(self, power: f64) -> Self {
        let slope = power * self.value.powf(power - 1.0);
        self.chain(self.value.powf(power), slope, power * (power - 1.0) * self.value.powf(power - 2.0))
    }

    /// Returns the size, whose derivative at 0 is that of positive numbers.
    pub fn abs(self) -> Self {
        if self.value < 0.0 { -self } else { self }
    }

    /// Returns the sine.
    pub fn sin(self) -> Self {
        let (sine, cosine) = self.value.sin_cos();
        self.chain(sine, cosine, -sine)
    }

    /// Returns the cosine.
    pub fn cos(self) -> Self {
        let (sine, cosine) = self.value.sin_cos();
        self.chain(cosine, -sine, -cosine)
    }

    /// Returns the hyperbolic sine.
    pub fn sinh(self) -> Self {
        let (sine, cosine) = (self.value.sinh(), self.value.cosh());
        self.chain(sine, cosine, sine)
    }

    /// Returns the hyperbolic cosine.
    pub fn cosh(self) -> Self {
        let (sine, cosine) = (self.value.sinh(), self.value.cosh());
        self.chain(cosine, sine, cosine)
    }

    /// Returns the hyperbolic tangent.
    pub fn tanh(self) -> Self {
        let value = self.value.tanh();
        let slope = 1.0 - value * value;
        self.chain(value, slope, -2.0 * value * slope)
    }

    /// Returns the positive number whose hyperbolic cosine this is.
    ///
    /// Below 1 there is none, and at 1 there is no derivative.
    pub fn acosh(self) -> Self {
        let square = (self.value - 1.0) * (self.value + 1.0);
        let slope = square.sqrt().recip();
        self.chain(self.value.acosh(), slope, -self.value * slope / square)
    }
}

impl From<f64> for HyperDual {
    fn from(value: f64) -> Self {
        Self::constant(value)
    }
}

impl Neg for HyperDual {
    type Output = Self;

    fn neg(self) -> Self {
        Self { value: -self.value, first: -self.first, second: -self.second, mixed: -self.mixed }
    }
}

impl Add for HyperDual {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            first: self.first + other.first,
            second: self.second + other.second,
            mixed: self.mixed + other.mixed,
        }
    }
}

impl Sub for HyperDual {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for HyperDual {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            first: self.value * other.first + self.first * other.value,
            second: self.value * other.second + self.second * other.value,
            mixed: self.value * other.mixed
                + self.first * other.second
                + self.second * other.first
                + self.mixed * other.value,
        }
    }
}

impl Div for HyperDual {
    type Output = Self;

    // The quotient itself avoids the reciprocals of numbers near the ends of the range.
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        let first = (self.first - value * other.first) / other.value;
        let second = (self.second - value * other.second) / other.value;
        let mixed =
            (self.mixed - first * other.second - second * other.first - value * other.mixed) / other.value;
        Self { value, first, second, mixed }
    }
}

/// Writes an operator for numbers without derivatives on either side.
macro_rules! mixed_operator {
    ($($operator:ident $method:ident)*) => { $(
        impl $operator<f64> for HyperDual {
            type Output = Self;

            fn $method(self, other: f64) -> Self {
                self.$method(Self::constant(other))
            }
        }

        impl $operator<HyperDual> for f64 {
            type Output = HyperDual;

            fn $method(self, other: HyperDual) -> HyperDual {
                HyperDual::constant(self).$method(other)
            }
        }
    )* };
}

mixed_operator!(Add add Sub sub Mul mul Div div);

/// Writes an operator that changes its left side.
macro_rules! assigning_operator {
    ($($operator:ident $method:ident $plain:ident)*) => { $(
        impl $operator for HyperDual {
            fn $method(&mut self, other: Self) {
                *self = self.$plain(other);
            }
        }
    )* };
}

assigning_operator!(AddAssign add_assign add SubAssign sub_assign sub MulAssign mul_assign mul DivAssign div_assign div);

impl std::iter::Sum for HyperDual {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(Self::default(), Add::add)
    }
}
