//! Means over configurations, and their errors.

use super::mass_form::MassForm;
use lattice_statistics::{Quantity, StatisticsResult, Uncertain};
use serde::Serialize;

/// A value and its error, `null` where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    pub value: Option<f64>,
    pub error: Option<f64>,
}

impl Estimate {
    /// Returns a quantity's value, with its error unless it does not fluctuate.
    ///
    /// # Errors
    /// The Γ method fails.
    pub fn of<Q: Uncertain>(quantity: &Q, window_parameter: f64) -> StatisticsResult<Self> {
        let error = quantity.error(window_parameter)?.filter(|error| *error > 0.0);
        Ok(Self { value: Some(quantity.value()), error })
    }

    /// Returns the estimates of several quantities.
    ///
    /// # Errors
    /// The Γ method fails.
    pub fn of_all<Q: Uncertain>(quantities: &[Q], window_parameter: f64) -> StatisticsResult<Vec<Self>> {
        quantities.iter().map(|quantity| Self::of(quantity, window_parameter)).collect()
    }

    /// Returns the estimate times a positive number.
    pub fn times(self, factor: f64) -> Self {
        Self { value: self.value.map(|value| value * factor), error: self.error.map(|error| error * factor) }
    }
}

/// The average of a correlator over configurations.
#[derive(Debug, PartialEq, Serialize)]
pub struct Averages {
    pub correlator: Vec<Estimate>,
    pub effective_mass: Vec<Estimate>,
}

impl Averages {
    /// Averages a correlator.
    ///
    /// There is no error where the correlator is the same on all configurations.
    ///
    /// # Errors
    /// The Γ method fails.
    pub fn new<Q: Uncertain>(
        correlator: &[Q],
        form: MassForm,
        window_parameter: f64,
    ) -> StatisticsResult<Self> {
        let means: Vec<f64> = correlator.iter().map(Quantity::value).collect();
        let masses = form.of_quantities(correlator)?;
        let mass_error = |mass: &Option<Q>| match mass {
            Some(mass) => mass.error(window_parameter),
            None => Ok(None),
        };
        let errors: Vec<Option<f64>> = masses.iter().map(mass_error).collect::<StatisticsResult<_>>()?;
        let mass = |(value, error): (Option<f64>, _)| Estimate { value, error: value.and(error) };
        Ok(Self {
            correlator: Estimate::of_all(correlator, window_parameter)?,
            effective_mass: form.of(&means).into_iter().zip(errors).map(mass).collect(),
        })
    }
}
