//! Whole jobs, as job files describe them.

use super::collector::{self, Collected};
use super::devices::{DevicesArgument, labels};
use super::failure::{Raised, invalid, raised};
use super::numbers::of_spinors;
use super::propagator::{Origin, Propagator};
use super::work;
use cr_solve::job_file;
use lattice_cl::compute::{Selector, Team};
use lattice_cl::geometry::LatticeError;
use lattice_cl::job::{Job, JobError, OneOrMore, Outputs, Problem};
use lattice_cli::failure::Status;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::time::Instant;

/// The results of a job.
#[pyclass(frozen, name = "Outcome", module = "lattice_cl")]
pub struct JobOutcome {
    job: String,
    propagators: Vec<Py<Propagator>>,
    solutions: Vec<Py<PyAny>>,
    report: Py<PyAny>,
}

#[pymethods]
impl JobOutcome {
    /// The job with all defaults.
    #[getter]
    fn job(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(py.import("json")?.call_method1("loads", (&self.job,))?.unbind())
    }

    /// The propagators of `spectrum`, one for each mass, flavour and source.
    ///
    /// Sources run fastest.
    #[getter]
    fn propagators(&self, py: Python<'_>) -> Vec<Py<Propagator>> {
        self.propagators.iter().map(|propagator| propagator.clone_ref(py)).collect()
    }

    /// The solutions of `invert`.
    #[getter]
    fn solutions(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        self.solutions.iter().map(|solution| solution.clone_ref(py)).collect()
    }

    /// Reports of the solves.
    #[getter]
    fn report(&self, py: Python<'_>) -> Py<PyAny> {
        self.report.clone_ref(py)
    }
}

/// Does a job: a file, the text of one, or a dictionary of the same structure.
#[pyfunction]
#[pyo3(signature = (job, *, devices = None, progress = None))]
pub fn run_job(
    py: Python<'_>,
    job: &Bound<'_, PyAny>,
    devices: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<JobOutcome> {
    let job = job_of(job)?;
    expect_no_outputs(py, &job)?;
    let wanted = match devices {
        Some(devices) => DevicesArgument::of(Some(devices))?,
        None => {
            let named = job.devices.device.iter().flat_map(OneOrMore::as_slice);
            let selectors: Vec<Selector> = named.flat_map(|text| Selector::list(text)).collect();
            DevicesArgument::Named(if selectors.is_empty() { vec![Selector::Auto] } else { selectors })
        }
    };
    let begun = Instant::now();
    let done = work::run(py, progress, move |exchange| {
        let team = wanted.open().map_err(LatticeError::from)?;
        let problem = Problem::open(&job, &team)?;
        Ok::<_, JobError>((collector::run(&problem, exchange, begun)?, job, team))
    })?;
    let (mut collected, job, team): (Collected, Job, Team) = done.map_err(|error| error.raised(py))?;
    collected.expect_converged(py, labels(&team))?;
    let report = collected.report(py, labels(&team))?;
    let Collected { outcome, dims, propagators, solutions, .. } = collected;
    let mut whole = Vec::new();
    for (quark, of_job) in propagators.into_iter().zip(&outcome.propagators) {
        let origin = Origin::of_job(&job, of_job.coupling, of_job, "");
        whole.push(Py::new(py, Propagator::new(quark, origin, team.clone(), report.clone_ref(py)))?);
    }
    let solutions = solutions.into_iter().map(|x| of_spinors(py, x, dims)).collect::<PyResult<_>>()?;
    let job = serde_json::to_string(&job.resolved()).map_err(|error| invalid(py, error))?;
    Ok(JobOutcome { job, propagators: whole, solutions, report })
}

/// Reads a job: of a dictionary, of TOML, or of a file.
fn job_of(job: &Bound<'_, PyAny>) -> PyResult<Job> {
    let py = job.py();
    if job.is_instance_of::<PyDict>() {
        let text: String = py.import("json")?.call_method1("dumps", (job,))?.extract()?;
        let job: Job = serde_json::from_str(&text).map_err(|error| invalid(py, error))?;
        job.check().map_err(|error| error.raised(py))?;
        return Ok(job);
    }
    let read = match job.extract::<String>() {
        Ok(text) if text.contains('\n') => job_file::of_text(&text),
        _ => job_file::of_file(&job.extract::<PathBuf>()?),
    };
    read.map_err(|failure| {
        let class = if failure.status == Status::File { "FileError" } else { "InvalidInput" };
        raised(py, class, format!("{:#}", failure.error))
    })
}

/// Refuses files among the outputs, because the results are returned.
fn expect_no_outputs(py: Python<'_>, job: &Job) -> PyResult<()> {
    let along = job.outputs.along;
    if job.outputs == Outputs::default().with_along(along) {
        return Ok(());
    }
    let message =
        "outputs: a job from Python returns its results; save them by .save, or do the job by `cr-solve run`";
    Err(invalid(py, message))
}
