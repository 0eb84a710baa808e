//! Means of measurements.

use super::arrays::one_or_array;
use super::measurements::Measurements;
use super::observable::checked;
use lattice_statistics::{AnyQuantity, Resampling, StatisticsResult, Warning};
use pyo3::prelude::*;

/// Makes an array of the means, or one observable if there is one number on each configuration.
fn means(py: Python<'_>, measurements: Measurements, resampling: Option<Resampling>) -> PyResult<Py<PyAny>> {
    let Measurements { series, shape } = measurements;
    one_or_array(py, checked(py, || AnyQuantity::of_series(&series, resampling))?, shape)
}

/// Makes observables with errors by the Γ method.
#[pyfunction]
#[pyo3(signature = (samples, *, replica = None, numbers = None, gaps = "refuse"))]
pub fn observables(
    samples: &Bound<'_, PyAny>,
    replica: Option<Vec<String>>,
    numbers: Option<&Bound<'_, PyAny>>,
    gaps: &str,
) -> PyResult<Py<PyAny>> {
    means(samples.py(), Measurements::read(samples, replica, numbers, gaps)?, None)
}

/// Makes observables with errors by the jackknife.
#[pyfunction]
#[pyo3(signature = (samples, *, bin = 1, replica = None, numbers = None, gaps = "refuse"))]
pub fn jackknife(
    samples: &Bound<'_, PyAny>,
    bin: usize,
    replica: Option<Vec<String>>,
    numbers: Option<&Bound<'_, PyAny>>,
    gaps: &str,
) -> PyResult<Py<PyAny>> {
    let measurements = Measurements::read(samples, replica, numbers, gaps)?;
    means(samples.py(), measurements, Some(Resampling::Jackknife { bin }))
}

/// Makes observables with errors by the bootstrap.
#[pyfunction]
#[pyo3(signature = (samples, *, bin = 1, draws = 1000, seed = 1, replica = None, numbers = None, gaps = "refuse"))]
pub fn bootstrap(
    samples: &Bound<'_, PyAny>,
    bin: usize,
    draws: usize,
    seed: u64,
    replica: Option<Vec<String>>,
    numbers: Option<&Bound<'_, PyAny>>,
    gaps: &str,
) -> PyResult<Py<PyAny>> {
    let measurements = Measurements::read(samples, replica, numbers, gaps)?;
    means(samples.py(), measurements, Some(Resampling::Bootstrap { bin, samples: draws, seed }))
}

/// Returns reasons to doubt errors, for each number on a configuration.
#[pyfunction]
#[pyo3(signature = (samples, window_parameter, replica, numbers, gaps))]
pub fn check(
    samples: &Bound<'_, PyAny>,
    window_parameter: f64,
    replica: Option<Vec<String>>,
    numbers: Option<&Bound<'_, PyAny>>,
    gaps: &str,
) -> PyResult<Vec<Vec<String>>> {
    let Measurements { series, .. } = Measurements::read(samples, replica, numbers, gaps)?;
    let of_one = |series| -> StatisticsResult<Vec<String>> {
        let warnings = lattice_statistics::check(series, window_parameter)?;
        Ok(warnings.iter().map(Warning::to_string).collect())
    };
    checked(samples.py(), || series.iter().map(of_one).collect())
}
