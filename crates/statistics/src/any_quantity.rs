//! Quantities whose method for errors is chosen when a program runs.

use crate::covariance::Covariance;
use crate::error::{StatisticsError, StatisticsResult};
use crate::observable::Observable;
use crate::quantity::{DifferentiableMap, Quantity};
use crate::resample::{Resampled, Resampling, resample};
use crate::series::Series;
use crate::uncertain::Uncertain;

/// An observable or a resampled quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyQuantity {
    /// It has an error by the Γ method.
    Observable(Observable),
    /// It has an error by the jackknife or the bootstrap.
    Resampled(Resampled),
}

/// Several quantities that have errors by one method.
enum OfOneMethod<'a> {
    Observables(Vec<&'a Observable>),
    Resampled(Vec<&'a Resampled>),
}

impl AnyQuantity {
    /// Returns the means of several series of one ensemble.
    ///
    /// Without a resampling they have errors by the Γ method.
    ///
    /// # Errors
    /// Those of [`resample`].
    pub fn of_series(series: &[Series], resampling: Option<Resampling>) -> StatisticsResult<Vec<Self>> {
        Ok(match resampling {
            Some(resampling) => resample(series, resampling)?.into_iter().map(Self::Resampled).collect(),
            None => series.iter().map(|series| Self::Observable(Observable::from_series(series))).collect(),
        })
    }

    /// Sorts quantities by their method.
    fn of_one_method<'a>(
        quantities: impl IntoIterator<Item = &'a Self>,
    ) -> StatisticsResult<OfOneMethod<'a>> {
        let (mut observables, mut resampled) = (Vec::new(), Vec::new());
        for (index, quantity) in quantities.into_iter().enumerate() {
            match quantity {
                Self::Observable(observable) => observables.push(observable),
                Self::Resampled(quantity) => resampled.push(quantity),
            }
            if !observables.is_empty() && !resampled.is_empty() {
                return Err(StatisticsError::DifferentMethods { index });
            }
        }
        Ok(match resampled.is_empty() {
            true => OfOneMethod::Observables(observables),
            false => OfOneMethod::Resampled(resampled),
        })
    }
}

impl Quantity for AnyQuantity {
    fn value(&self) -> f64 {
        match self {
            Self::Observable(observable) => observable.value(),
            Self::Resampled(quantity) => quantity.value(),
        }
    }

    fn mapped(inputs: &[&Self], map: &dyn DifferentiableMap) -> StatisticsResult<Vec<Self>> {
        Ok(match Self::of_one_method(inputs.iter().copied())? {
            OfOneMethod::Observables(inputs) => {
                Observable::mapped(&inputs, map)?.into_iter().map(Self::Observable).collect()
            }
            OfOneMethod::Resampled(inputs) => {
                Resampled::mapped(&inputs, map)?.into_iter().map(Self::Resampled).collect()
            }
        })
    }
}

impl Uncertain for AnyQuantity {
    fn error(&self, window_parameter: f64) -> StatisticsResult<Option<f64>> {
        match self {
            Self::Observable(observable) => observable.error(window_parameter),
            Self::Resampled(quantity) => Uncertain::error(quantity, window_parameter),
        }
    }

    fn covariance(quantities: &[Self], window_parameter: f64) -> StatisticsResult<Covariance> {
        match Self::of_one_method(quantities)? {
            OfOneMethod::Observables(observables) => {
                let observables: Vec<_> = observables.into_iter().cloned().collect();
                Covariance::of_observables(&observables, window_parameter)
            }
            OfOneMethod::Resampled(quantities) => {
                Covariance::of_resampled(&quantities.into_iter().cloned().collect::<Vec<_>>())
            }
        }
    }
}
