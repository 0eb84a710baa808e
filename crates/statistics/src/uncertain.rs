//! Quantities that know their errors.

use crate::covariance::Covariance;
use crate::error::StatisticsResult;
use crate::gamma_method::gamma_method;
use crate::observable::Observable;
use crate::quantity::Quantity;
use crate::resample::Resampled;

/// A quantity with a statistical error.
pub trait Uncertain: Quantity {
    /// Returns the error, `None` if there is one measurement.
    ///
    /// Resampled quantities have no window.
    ///
    /// # Errors
    /// The Γ method fails.
    fn error(&self, window_parameter: f64) -> StatisticsResult<Option<f64>>;

    /// Returns errors and correlations of several quantities.
    ///
    /// # Errors
    /// The Γ method fails, or the quantities are of different ensembles.
    fn covariance(quantities: &[Self], window_parameter: f64) -> StatisticsResult<Covariance>;
}

impl Uncertain for Resampled {
    fn error(&self, _window_parameter: f64) -> StatisticsResult<Option<f64>> {
        Ok(Some(Resampled::error(self)))
    }

    fn covariance(quantities: &[Self], _window_parameter: f64) -> StatisticsResult<Covariance> {
        Covariance::of_resampled(quantities)
    }
}

impl Uncertain for Observable {
    fn error(&self, window_parameter: f64) -> StatisticsResult<Option<f64>> {
        Ok(gamma_method(self, window_parameter)?.map(|estimate| estimate.error))
    }

    fn covariance(quantities: &[Self], window_parameter: f64) -> StatisticsResult<Covariance> {
        Covariance::of_observables(quantities, window_parameter)
    }
}
