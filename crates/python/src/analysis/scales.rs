//! Scales of the gradient flow.

use super::arrays::{numbers, quantities};
use super::observable::{Observable, checked};
use lattice_statistics::{AnyQuantity, StatisticsResult};
use pyo3::prelude::*;

/// A scale as a function of flow times, energies and the target.
type Scale = fn(&[f64], &[AnyQuantity], f64) -> StatisticsResult<AnyQuantity>;

/// Returns a scale with its error.
fn scale_of(
    scale: Scale,
    times: &Bound<'_, PyAny>,
    energies: &Bound<'_, PyAny>,
    target: f64,
) -> PyResult<Observable> {
    let py = times.py();
    let (times, (energies, [_])) = (numbers(times, "flow times")?, quantities(energies, "energies")?);
    checked(py, || scale(&times, &energies, target)).map(Observable)
}

/// Returns t_0, where t² E(t) is the target.
#[pyfunction]
#[pyo3(signature = (flow_times, energies, target))]
pub fn t0(flow_times: &Bound<'_, PyAny>, energies: &Bound<'_, PyAny>, target: f64) -> PyResult<Observable> {
    scale_of(lattice_statistics::t0, flow_times, energies, target)
}

/// Returns w_0, where t d/dt(t² E(t)) is the target at t = w_0².
#[pyfunction]
#[pyo3(signature = (flow_times, energies, target))]
pub fn w0(flow_times: &Bound<'_, PyAny>, energies: &Bound<'_, PyAny>, target: f64) -> PyResult<Observable> {
    scale_of(lattice_statistics::w0, flow_times, energies, target)
}
