//! The interface of observables and resampled means.

use crate::error::{StatisticsError, StatisticsResult};
use crate::hyper_dual::HyperDual;

/// A vector of functions of several numbers, with first derivatives.
pub trait DifferentiableMap {
    /// Returns the values at `inputs`.
    ///
    /// # Errors
    /// The functions are undefined there.
    fn values(&self, inputs: &[f64]) -> StatisticsResult<Vec<f64>>;

    /// Returns the derivatives at `inputs`.
    ///
    /// There is a row for each function, and in it a column for each input.
    ///
    /// # Errors
    /// The derivatives are undefined there.
    fn jacobian(&self, inputs: &[f64]) -> StatisticsResult<Vec<Vec<f64>>>;
}

/// An estimate whose statistical error follows functions of it.
pub trait Quantity: Clone {
    /// Returns the value.
    fn value(&self) -> f64;

    /// Returns functions of several quantities of one ensemble.
    ///
    /// # Errors
    /// The quantities are not of one ensemble, or a function is undefined at their values.
    fn mapped(inputs: &[&Self], map: &dyn DifferentiableMap) -> StatisticsResult<Vec<Self>>;

    /// Returns a function of several quantities of one ensemble.
    ///
    /// # Errors
    /// The quantities are not of one ensemble, or the function has no finite value and derivatives.
    fn derived(inputs: &[&Self], function: impl Fn(&[HyperDual]) -> HyperDual) -> StatisticsResult<Self> {
        let mut quantities = Self::mapped(inputs, &Scalar(function))?;
        Ok(quantities.remove(0))
    }
}

/// One function of hyper-dual numbers.
struct Scalar<F>(F);

impl<F: Fn(&[HyperDual]) -> HyperDual> DifferentiableMap for Scalar<F> {
    fn values(&self, inputs: &[f64]) -> StatisticsResult<Vec<f64>> {
        let numbers: Vec<_> = inputs.iter().copied().map(HyperDual::constant).collect();
        finite((self.0)(&numbers).value).map(|value| vec![value])
    }

    fn jacobian(&self, inputs: &[f64]) -> StatisticsResult<Vec<Vec<f64>>> {
        let mut numbers: Vec<_> = inputs.iter().copied().map(HyperDual::constant).collect();
        let mut slope = |input: usize| {
            numbers[input].first = 1.0;
            let slope = (self.0)(&numbers).first;
            numbers[input].first = 0.0;
            finite(slope)
        };
        (0..inputs.len()).map(&mut slope).collect::<StatisticsResult<_>>().map(|row| vec![row])
    }
}

/// Returns the number, unless it is infinite or none.
fn finite(number: f64) -> StatisticsResult<f64> {
    if number.is_finite() { Ok(number) } else { Err(StatisticsError::Undefined) }
}
