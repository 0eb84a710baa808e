//! Reports of solves, as the classes of `lattice_cl/report.py`.

use lattice_cl::job::{JobOutcome, SolveOutcome};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::time::Duration;

/// Makes the report of all solves of a job.
///
/// `total` is the time of the call.
pub fn report(
    py: Python<'_>,
    outcome: &JobOutcome,
    total: Duration,
    devices: Vec<String>,
) -> PyResult<Py<PyAny>> {
    let module = py.import("lattice_cl.report")?;
    let of_solve = module.getattr("SolveReport")?;
    let mut solves = Vec::new();
    for propagator in &outcome.propagators {
        for SolveOutcome { label, info, attempts, elapsed, .. } in &propagator.solves {
            let fields = PyDict::new(py);
            fields.set_item("label", label.as_str())?;
            fields.set_item("method", propagator.params.to_string())?;
            fields.set_item("iterations", info.iterations)?;
            fields.set_item("residual", info.residual.true_residual)?;
            fields.set_item("seconds", elapsed.as_secs_f64())?;
            fields.set_item("applications", info.applications)?;
            fields.set_item("flops", info.work.flops)?;
            fields.set_item("history", PyArray1::from_slice(py, &info.history))?;
            let attempts: Vec<String> = attempts.iter().map(ToString::to_string).collect();
            fields.set_item("attempts", PyTuple::new(py, attempts)?)?;
            solves.push(of_solve.call((), Some(&fields))?);
        }
    }
    let made = module.getattr("Report")?.call1((
        PyTuple::new(py, solves)?,
        outcome.time.as_secs_f64(),
        outcome.work.flops,
        PyTuple::new(py, devices)?,
        total.as_secs_f64(),
    ))?;
    Ok(made.unbind())
}

/// Makes the report of a propagator that no solve of this process made.
pub fn without_solves(py: Python<'_>) -> PyResult<Py<PyAny>> {
    report(py, &JobOutcome::default(), Duration::ZERO, Vec::new())
}
