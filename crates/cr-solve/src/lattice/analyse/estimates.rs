//! Means over configurations, and their errors.

use super::mass_form::MassForm;
use super::uncertain::Uncertain;
use lattice_statistics::{Quantity, StatisticsResult};
use serde::Serialize;

/// A value and its error, `null` where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    pub value: Option<f64>,
    pub error: Option<f64>,
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
        let errors: Vec<Option<f64>> =
            correlator.iter().map(|one| one.error(window_parameter)).collect::<StatisticsResult<_>>()?;
        let masses = form.of_quantities(correlator)?;
        let mass_error = |mass: &Option<Q>| match mass {
            Some(mass) => mass.error(window_parameter),
            None => Ok(None),
        };
        let mass_errors: Vec<Option<f64>> = masses.iter().map(mass_error).collect::<StatisticsResult<_>>()?;
        let fluctuates = |error: &f64| *error > 0.0;
        Ok(Self {
            correlator: means
                .iter()
                .zip(errors)
                .map(|(&mean, error)| Estimate { value: Some(mean), error: error.filter(fluctuates) })
                .collect(),
            effective_mass: form
                .of(&means)
                .into_iter()
                .zip(mass_errors)
                .map(|(value, error)| Estimate { value, error: value.and(error) })
                .collect(),
        })
    }
}
