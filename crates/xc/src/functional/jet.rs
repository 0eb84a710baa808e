//! Numbers that carry their derivatives.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A value with its derivatives by ρ↑, ρ↓ and σ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Jet {
    pub value: f64,
    pub by: [f64; 3],
}

impl Jet {
    /// Makes a variable: the derivative number `which` is 1.
    pub fn variable(value: f64, which: usize) -> Self {
        let mut by = [0.0; 3];
        by[which] = 1.0;
        Self { value, by }
    }

    /// Returns f(self), by the value and the derivative of f there.
    pub fn chain(self, value: f64, derivative: f64) -> Self {
        Self { value, by: self.by.map(|by| derivative * by) }
    }

    fn plus(self, other: Self) -> Self {
        Self { value: self.value + other.value, by: std::array::from_fn(|k| self.by[k] + other.by[k]) }
    }

    pub fn powf(self, exponent: f64) -> Self {
        let value = self.value.powf(exponent);
        self.chain(value, exponent * value / self.value)
    }

    pub fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, 0.5 / root)
    }

    pub fn ln(self) -> Self {
        self.chain(self.value.ln(), 1.0 / self.value)
    }

    pub fn ln_1p(self) -> Self {
        self.chain(self.value.ln_1p(), 1.0 / (1.0 + self.value))
    }

    pub fn exp_m1(self) -> Self {
        self.chain(self.value.exp_m1(), self.value.exp())
    }

    pub fn atan(self) -> Self {
        self.chain(self.value.atan(), 1.0 / (1.0 + self.value * self.value))
    }

    pub fn reciprocal(self) -> Self {
        let inverse = 1.0 / self.value;
        self.chain(inverse, -inverse * inverse)
    }
}

impl Add for Jet {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.plus(other)
    }
}

impl Sub for Jet {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for Jet {
    type Output = Self;
    fn neg(self) -> Self {
        self.chain(-self.value, -1.0)
    }
}

impl Mul for Jet {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let [mine, others] = [self.chain(0.0, other.value), other.chain(0.0, self.value)];
        Self { value: self.value * other.value, ..mine.plus(others) }
    }
}

impl Div for Jet {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        self.mul(other.reciprocal())
    }
}

impl Add<f64> for Jet {
    type Output = Self;
    fn add(self, other: f64) -> Self {
        Self { value: self.value + other, ..self }
    }
}

impl Mul<Jet> for f64 {
    type Output = Jet;
    fn mul(self, other: Jet) -> Jet {
        other.chain(self * other.value, self)
    }
}
