//! Functions that are fitted.

use crate::hyper_dual::HyperDual;

/// A function of one variable with parameters.
pub trait Model {
    /// Returns the number of parameters.
    fn parameters(&self) -> usize;

    /// Returns the value at `x`.
    fn value(&self, x: f64, parameters: &[HyperDual]) -> HyperDual;

    /// Returns parameters from which a fit of the points may start.
    ///
    /// The best minimum is taken. A model without such guesses needs initial parameters.
    fn starts(&self, _x: &[f64], _y: &[f64]) -> Vec<Vec<f64>> {
        Vec::new()
    }

    /// Brings parameters into the order that is reported.
    ///
    /// The function stays the same.
    fn arrange(&self, _parameters: &mut [f64]) {}
}

/// A model from a closure.
#[derive(Clone, Debug)]
pub struct Function<F> {
    parameters: usize,
    function: F,
}

impl<F: Fn(f64, &[HyperDual]) -> HyperDual> Function<F> {
    /// Returns the model y = `function`(x, parameters).
    pub fn new(parameters: usize, function: F) -> Self {
        Self { parameters, function }
    }
}

impl<F: Fn(f64, &[HyperDual]) -> HyperDual> Model for Function<F> {
    fn parameters(&self) -> usize {
        self.parameters
    }

    fn value(&self, x: f64, parameters: &[HyperDual]) -> HyperDual {
        (self.function)(x, parameters)
    }
}

/// A polynomial y = Σ p_k x^k. Degree 0 is a constant, degree 1 a straight line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polynomial {
    /// The highest power.
    pub degree: usize,
}

impl Model for Polynomial {
    fn parameters(&self) -> usize {
        self.degree + 1
    }

    fn value(&self, x: f64, parameters: &[HyperDual]) -> HyperDual {
        parameters.iter().rev().fold(HyperDual::default(), |sum, parameter| sum * x + *parameter)
    }

    /// The model is linear, so one step from anywhere ends in the minimum.
    fn starts(&self, _x: &[f64], y: &[f64]) -> Vec<Vec<f64>> {
        let mut start = vec![0.0; self.degree + 1];
        start[0] = y.first().copied().unwrap_or(0.0);
        vec![start]
    }
}
