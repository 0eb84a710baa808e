//! Dirac operators, and solving with them.

use super::collector::{self, Collected};
use super::devices::{DevicesArgument, labels};
use super::failure::{Raised, invalid, parsed};
use super::gauge::Gauge;
use super::numbers::{of_spinors, spinors};
use super::propagator::{Origin, Propagator};
use super::work;
use lattice_cl::compute::Team;
use lattice_cl::field::GaugeField;
use lattice_cl::host::GaugeConfiguration;
use lattice_cl::job::{self, Action, Job, JobError, Problem, SourceEntry, Task};
use lattice_cl::operator::{self, Coupling};
use lattice_cl::sync::lock;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat};
use serde::de::DeserializeOwned;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A Dirac operator on the devices of a team.
#[pyclass(frozen, subclass, module = "lattice_cl")]
pub struct Dirac {
    held: Arc<Held>,
    /// The changes made to the links, in words.
    links_words: String,
}

/// The parts of an operator on its devices.
struct Held {
    configuration: Arc<GaugeConfiguration>,
    links: GaugeField<f64>,
    coupling: Coupling,
    /// The operator for [`Dirac::apply`].
    ///
    /// It keeps the blocks of a clover term alive for the others.
    dirac: Mutex<operator::Dirac<f64>>,
    action: Action,
    team: Team,
}

#[pymethods]
impl Dirac {
    #[new]
    #[pyo3(signature = (gauge, *, devices = None, **action))]
    fn new(
        py: Python<'_>,
        gauge: &Bound<'_, Gauge>,
        devices: Option<&Bound<'_, PyAny>>,
        action: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let action: Action = table(py, action)?;
        if action.quarks().is_ok_and(|quarks| quarks.len() > 1) {
            return Err(invalid(py, "an operator is of one mass and of one flavour: up or down"));
        }
        let wanted = DevicesArgument::of(devices)?;
        let configuration = Arc::clone(&gauge.get().links);
        let made = work::run(py, None, move |_| {
            let job = Job::default().with_command(Task::Spectrum).with_action(action);
            job.check()?;
            let team = wanted.open().map_err(lattice_cl::geometry::LatticeError::from)?;
            let links = job::links_of(&job, &configuration, &team)?;
            let quark = job.action.quarks()?.remove(0);
            let dirac = operator::Dirac::new(&links, quark.coupling, quark.site_term)?;
            let (coupling, dirac) = (quark.coupling, Mutex::new(dirac));
            Ok::<_, JobError>(Held { configuration, links, coupling, dirac, action: job.action, team })
        })?;
        let held = Arc::new(made.map_err(|error| error.raised(py))?);
        Ok(Self { held, links_words: gauge.get().smearing_words() })
    }

    /// κ of the operator.
    #[getter]
    fn kappa(&self) -> f64 {
        self.held.coupling.kappa()
    }

    /// The bare mass of the operator, 1/(2κ) − 4 on an isotropic lattice.
    #[getter]
    fn mass(&self) -> f64 {
        self.held.coupling.mass()
    }

    /// The extents (x, y, z, t).
    #[getter]
    fn dims(&self) -> (usize, usize, usize, usize) {
        let [x, y, z, t] = self.held.configuration.dims().extents();
        (x, y, z, t)
    }

    /// The names of the devices.
    #[getter]
    fn devices(&self) -> Vec<String> {
        labels(&self.held.team)
    }

    /// Returns M ψ, or M† ψ, of an array with the axes t, z, y, x, spin, colour.
    #[pyo3(signature = (psi, *, adjoint = false))]
    fn apply(&self, py: Python<'_>, psi: &Bound<'_, PyAny>, adjoint: bool) -> PyResult<Py<PyAny>> {
        let (held, dims) = (Arc::clone(&self.held), self.held.configuration.dims());
        let psi = spinors(psi, dims)?;
        let image = work::run(py, None, move |_| {
            let dirac = lock(&held.dirac);
            let lattice = dirac.lattice();
            let (psi, mut image) = (lattice.spinor_from_host::<f64>(&psi)?, lattice.spinor::<f64>()?);
            match adjoint {
                true => dirac.adjoint()?.apply(&psi, &mut image)?,
                false => dirac.apply(&psi, &mut image)?,
            }
            Ok::<_, lattice_cl::geometry::LatticeError>(image.to_host()?)
        })?;
        of_spinors(py, image.map_err(|error| error.raised(py))?, dims)
    }

    /// Solves for the twelve columns of a source.
    #[pyo3(signature = (source, *, progress = None, **options))]
    fn propagator(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        progress: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Propagator> {
        let (source, smearing_links) = source_of(source)?;
        let job = Job::default()
            .with_command(Task::Spectrum)
            .with_action(self.held.action.clone())
            .with_sources(Some(source))
            .with_solver(table(py, options)?);
        let mut collected = self.solved(py, &job, smearing_links, progress)?;
        collected.expect_converged(py, labels(&self.held.team))?;
        self.whole(py, &job, collected)
    }

    /// Solves for one spin and colour of a source.
    #[pyo3(signature = (source, *, spin, colour, progress = None, **options))]
    fn solve(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        spin: u64,
        colour: u64,
        progress: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(Py<PyAny>, Py<PyAny>)> {
        let (source, smearing_links) = source_of(source)?;
        let job = Job::default()
            .with_command(Task::Invert)
            .with_action(self.held.action.clone())
            .with_sources(Some(source.with_spin(Some(spin)).with_colour(Some(colour))))
            .with_solver(table(py, options)?);
        let mut collected = self.solved(py, &job, smearing_links, progress)?;
        collected.expect_converged(py, labels(&self.held.team))?;
        let x = of_spinors(py, collected.solutions.swap_remove(0), collected.dims)?;
        Ok((x, collected.report(py, labels(&self.held.team))?))
    }

    fn __repr__(&self) -> String {
        let Held { configuration, action, coupling, .. } = &*self.held;
        let smeared = match self.links_words.as_str() {
            "" => String::new(),
            words => format!(", links {words}"),
        };
        format!(
            "{}, kappa {:?}, {}{smeared}, on {}",
            action.operator_words(),
            coupling.kappa(),
            configuration.dims(),
            labels(&self.held.team).join(", ")
        )
    }
}

impl Dirac {
    /// Runs a job of this operator.
    fn solved(
        &self,
        py: Python<'_>,
        job: &Job,
        smearing_links: Option<Arc<GaugeConfiguration>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Collected> {
        let begun = Instant::now();
        let (held, job) = (Arc::clone(&self.held), job.clone());
        let links = smearing_links.unwrap_or_else(|| Arc::clone(&held.configuration));
        let collected = work::run(py, progress, move |exchange| {
            let problem = Problem::of_links(&job, &held.links)?.with_configuration(&links)?;
            collector::run(&problem, exchange, begun)
        })?;
        collected.map_err(|error| error.raised(py))
    }

    fn whole(&self, py: Python<'_>, job: &Job, collected: Collected) -> PyResult<Propagator> {
        let report = collected.report(py, labels(&self.held.team))?;
        let Collected { outcome, mut propagators, .. } = collected;
        let propagator = propagators.swap_remove(0);
        let origin = Origin::of_job(job, self.held.coupling, &outcome.propagators[0], &self.links_words);
        Ok(Propagator::new(propagator, origin, self.held.team.clone(), report))
    }
}

/// Reads a source.
///
/// The source is a text, or an object with `text`, `smearing` and `smearing_links`.
fn source_of(source: &Bound<'_, PyAny>) -> PyResult<(SourceEntry, Option<Arc<GaugeConfiguration>>)> {
    let py = source.py();
    if let Ok(text) = source.extract::<String>() {
        return Ok((SourceEntry::default().with_source(parsed(py, &text)?), None));
    }
    let text: String = source.getattr("text")?.extract()?;
    let smearing: Option<String> = source.getattr("smearing")?.extract()?;
    let links = source.getattr("smearing_links")?;
    let links = match links.is_none() {
        true => None,
        false => Some(Arc::clone(&links.cast::<Gauge>()?.get().links)),
    };
    let smear_source = smearing.map(|text| parsed(py, &text)).transpose()?;
    Ok((SourceEntry::default().with_source(parsed(py, &text)?).with_smear_source(smear_source), links))
}

/// Reads a table of a job from its keys, with underscores for the strokes.
///
/// Keys with `None` are left out.
fn table<T: Default + DeserializeOwned>(py: Python<'_>, keys: Option<&Bound<'_, PyDict>>) -> PyResult<T> {
    let Some(keys) = keys else { return Ok(T::default()) };
    let given = PyDict::new(py);
    for (key, value) in keys.iter().filter(|(_, value)| !value.is_none()) {
        given.set_item(key.extract::<String>()?.replace('_', "-"), value)?;
    }
    // Numbers of NumPy are written as Python's.
    let numbers = PyDict::new(py);
    numbers.set_item("default", py.get_type::<PyFloat>())?;
    let text: String = py.import("json")?.call_method("dumps", (given,), Some(&numbers))?.extract()?;
    serde_json::from_str(&text).map_err(|error| invalid(py, error))
}
