//! Errors with autocorrelation.

use super::observable::{Observable, checked};
use crate::failure::invalid;
use lattice_statistics::{AnyQuantity, Quantity, Warning};
use pyo3::prelude::*;

/// Value, error, its error, autocorrelation time, its error, window and spacing.
type GammaNumbers = (f64, f64, f64, f64, f64, usize, u64);

/// Estimates the error of an observable with its autocorrelation.
#[pyfunction]
#[pyo3(signature = (observable, window_parameter))]
pub fn gamma_method(observable: &Bound<'_, Observable>, window_parameter: f64) -> PyResult<GammaNumbers> {
    let py = observable.py();
    let AnyQuantity::Observable(observable) = &observable.get().0 else {
        let message = "the observable was resampled, so that its autocorrelation is unknown; take its .error, or make \
                       observables of the measurements by observables()";
        return Err(invalid(py, message));
    };
    if observable.is_constant() {
        let message = format!(
            "the observable is {:e} on all configurations, so it has no error; leave it out, or add measurements that \
             fluctuate",
            observable.value()
        );
        return Err(invalid(py, message));
    }
    let Some(found) = checked(py, || lattice_statistics::gamma_method(observable, window_parameter))? else {
        return Err(invalid(py, Warning::SingleMeasurement));
    };
    let value = observable.value();
    Ok((
        value,
        found.error,
        found.error_of_error,
        found.tau_int,
        found.tau_int_error,
        found.window,
        found.spacing,
    ))
}
