//! Quark propagators.

use super::array::as_numpy;
use super::devices::DevicesArgument;
use super::failure::{Raised, invalid, parsed};
use super::gauge::Gauge;
use super::interop;
use super::numbers::{self, of_column, of_propagator};
use super::report::without_solves;
use super::work;
use lattice_cl::compute::Team;
use lattice_cl::geometry::{Boundary, LatticeError, NDIM, Theta};
use lattice_cl::hadron::{
    Column, Contraction, Correlator, Observable, QuarkPropagator, SmearingLinks, Source, SpinorSmearing,
};
use lattice_cl::host::TimePhases;
use lattice_cl::io::{self, PropagatorFormat, PropagatorWriter};
use lattice_cl::job::{Direction, Job, JobError, PropagatorOutcome};
use lattice_cl::operator::Coupling;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

/// The origin of a propagator.
#[derive(Clone)]
pub struct Origin {
    /// The site that distances and phases are counted from.
    pub site: [usize; NDIM],
    /// The equation, in words for files.
    pub equation: String,
    /// The job as JSON, if a job of this process made it.
    pub job: Option<String>,
    /// The changes made to the solutions.
    pub sinks: Vec<String>,
}

impl Origin {
    /// Returns the origin of a propagator of a job.
    pub fn of_job(job: &Job, coupling: Coupling, propagator: &PropagatorOutcome, links: &str) -> Self {
        let links = if links.is_empty() { String::new() } else { format!(", links {links}") };
        Self {
            site: propagator.source.source.origin(),
            equation: job.equation_words(coupling, propagator.flavour, &propagator.source.source) + &links,
            job: serde_json::to_string(&job.resolved()).ok(),
            sinks: Vec::new(),
        }
    }
}

/// A quark propagator: the solutions for all twelve spins and colours of a source.
#[pyclass(frozen, module = "lattice_cl")]
pub struct Propagator {
    /// The solutions.
    pub quark: Arc<QuarkPropagator>,
    /// The origin of the solutions.
    pub origin: Origin,
    /// The devices that made it.
    pub team: Team,
    report: Py<PyAny>,
}

#[pymethods]
impl Propagator {
    /// Makes a propagator from an array of solutions.
    ///
    /// Its axes are the axes of the sink, then spin and colour of the source.
    ///
    /// `antiperiodic` and `theta` are the boundary condition of the quark.
    #[new]
    #[pyo3(signature = (numbers, *, origin = [0; NDIM], antiperiodic = true, theta = None, devices = None))]
    fn of_array(
        py: Python<'_>,
        numbers: &Bound<'_, PyAny>,
        origin: [usize; NDIM],
        antiperiodic: bool,
        theta: Option<&str>,
        devices: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let quark = with_boundary(py, numbers::propagator(numbers)?, antiperiodic, theta)?;
        let dims = quark.dims();
        Source::Point(origin).check(dims).map_err(|error| error.raised(py))?;
        let team = opened(py, devices)?;
        let equation = "solutions of an array".to_owned();
        let origin = Origin { site: origin, equation, job: None, sinks: Vec::new() };
        Ok(Self::new(quark, origin, team, without_solves(py)?))
    }

    /// The extents (x, y, z, t).
    #[getter]
    fn dims(&self) -> (usize, usize, usize, usize) {
        let [x, y, z, t] = self.quark.dims().extents();
        (x, y, z, t)
    }

    /// The site (x, y, z, t) that distances are counted from.
    #[getter]
    fn origin(&self) -> (usize, usize, usize, usize) {
        let [x, y, z, t] = self.origin.site;
        (x, y, z, t)
    }

    /// The equation that was solved, in words.
    #[getter]
    fn equation(&self) -> &str {
        &self.origin.equation
    }

    /// Reports of the solves.
    #[getter]
    fn report(&self, py: Python<'_>) -> Py<PyAny> {
        self.report.clone_ref(py)
    }

    /// The job with all defaults, like in a job file.
    ///
    /// `None` if no job made the propagator.
    #[getter]
    fn job(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Some(job) = &self.origin.job else { return Ok(None) };
        Ok(Some(py.import("json")?.call_method1("loads", (job,))?.unbind()))
    }

    /// Copies the solutions into an array.
    ///
    /// Its axes are t, z, y, x, spin, colour, spin and colour of the source.
    fn numpy(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        of_propagator(py, &self.quark)
    }

    /// Copies the solutions to the axes of PyQUDA: parity, t, z, y, x/2, spins of sink and source, colours.
    fn pyquda(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        interop::converted(py, "propagator_to_pyquda", self.numpy(py)?)
    }

    /// Copies the solutions as GPT has them: site, spins of sink and source, colours.
    fn gpt(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        interop::converted(py, "propagator_to_gpt", self.numpy(py)?)
    }

    #[pyo3(signature = (**options))]
    fn __dlpack__(&self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
        interop::capsule(py, self.numpy(py)?, options)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        interop::HOST
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__(
        &self,
        py: Python<'_>,
        dtype: Option<&Bound<'_, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        as_numpy(py, self.numpy(py)?, dtype, copy)
    }

    /// Copies the solution for one spin and colour of the source.
    fn column(&self, py: Python<'_>, spin: usize, colour: usize) -> PyResult<Py<PyAny>> {
        if spin >= 4 || colour >= 3 {
            let message = format!("there is no spin {spin}, colour {colour}: they are 0 to 3 and 0 to 2");
            return Err(invalid(py, message));
        }
        of_column(py, &self.quark, Column { spin, colour })
    }

    /// Sums an observable over slices along a direction: C(0), C(1), … from the source.
    #[pyo3(signature = (observable = "pion", *, along = "t"))]
    fn correlator(&self, py: Python<'_>, observable: &str, along: &str) -> PyResult<Py<PyAny>> {
        let (observable, Direction(along)) = (parsed::<Observable>(py, observable)?, parsed(py, along)?);
        let (quark, site) = (Arc::clone(&self.quark), self.origin.site);
        let Correlator { values, .. } = work::run(py, None, move |_| {
            let mut contraction = Contraction::new(observable, quark.dims(), along, site[along]);
            Column::all().for_each(|column| contraction.add(&numbers::column(&quark, column)));
            contraction.finish()
        })?;
        Ok(PyArray1::from_vec(py, values).into_any().unbind())
    }

    /// Writes the solutions to a file.
    #[pyo3(signature = (path, format = None, *, precision = "double"))]
    fn save(&self, py: Python<'_>, path: PathBuf, format: Option<&str>, precision: &str) -> PyResult<()> {
        let format = match format {
            Some(format) => parsed(py, format)?,
            None => PropagatorFormat::of_file_name(&path).ok_or_else(|| {
                let message = format!(
                    "{}: its ending tells no format of propagators; give one: format=\"scidac\"",
                    path.display()
                );
                invalid(py, message)
            })?,
        };
        let precision = parsed(py, precision)?;
        let (quark, about) = (Arc::clone(&self.quark), self.about());
        let written = work::run(py, None, move |_| {
            let mut writer = PropagatorWriter::create_as(&path, format, quark.dims(), precision, &about)?;
            for column in Column::all() {
                writer.write(column.spin, column.colour, &numbers::column(&quark, column))?;
            }
            writer.finish()
        })?;
        written.map_err(|error: io::Error| error.raised(py))
    }

    fn __repr__(&self) -> String {
        format!("Propagator({}, {})", self.quark.dims(), self.about())
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let rows = [("lattice", self.quark.dims().to_string()), ("equation", self.about())];
        let table = py.import("lattice_cl.report")?.getattr("html_table")?;
        let table: String = table.call1(("Quark propagator", rows.to_vec()))?.extract()?;
        let report: String = self.report.call_method0(py, "_repr_html_")?.extract(py)?;
        Ok(table + &report)
    }
}

impl Propagator {
    /// Makes a propagator of solutions.
    pub fn new(quark: QuarkPropagator, origin: Origin, team: Team, report: Py<PyAny>) -> Self {
        Self { quark: Arc::new(quark), origin, team, report }
    }

    /// Returns the words for files.
    fn about(&self) -> String {
        let sinks = self.origin.sinks.iter().map(|sink| format!(", sink {sink}"));
        format!("solutions of {}{}", self.origin.equation, sinks.collect::<String>())
    }
}

/// Gives a quark the phases of its boundary condition in t.
fn with_boundary(
    py: Python<'_>,
    quark: QuarkPropagator,
    antiperiodic: bool,
    theta: Option<&str>,
) -> PyResult<QuarkPropagator> {
    let signs = if antiperiodic { Boundary::antiperiodic_t() } else { Boundary::periodic() };
    let theta: Option<Theta> = theta.map(|theta| parsed(py, theta)).transpose()?;
    let boundary = signs.twisted(theta.unwrap_or_default());
    let extent = quark.dims()[NDIM - 1];
    Ok(quark.with_time_phases(TimePhases::of_boundary(extent, boundary)))
}

fn opened(py: Python<'_>, devices: Option<&Bound<'_, PyAny>>) -> PyResult<Team> {
    match devices {
        None => Ok(Team::host()),
        wanted => {
            let wanted = DevicesArgument::of(wanted)?;
            work::run(py, None, move |_| wanted.open())?.map_err(|error| error.raised(py))
        }
    }
}

/// Reads a propagator of twelve columns from a file of any format.
#[pyfunction]
#[pyo3(signature = (path, *, origin = [0; NDIM], antiperiodic = true, theta = None, devices = None))]
pub fn read_propagator(
    py: Python<'_>,
    path: PathBuf,
    origin: [usize; NDIM],
    antiperiodic: bool,
    theta: Option<&str>,
    devices: Option<&Bound<'_, PyAny>>,
) -> PyResult<Propagator> {
    let name = path.display().to_string();
    let team = opened(py, devices)?;
    let read = work::run(py, None, move |_| {
        let file = io::read_propagator(&path)?;
        let mut quark = QuarkPropagator::new(file.dims)?;
        let missing = Column::all().find(|&column| {
            let record = file.records.iter().find(|r| (r.spin, r.colour) == (column.spin, column.colour));
            record.map(|record| quark.set_column(column, &record.field)).is_none()
        });
        Ok::<_, JobError>((quark, missing))
    })?;
    let (quark, missing) = read.map_err(|error| error.raised(py))?;
    if let Some(column) = missing {
        let message = format!("{name}: no solution for {column}; a propagator has all twelve columns");
        return Err(invalid(py, message));
    }
    Source::Point(origin).check(quark.dims()).map_err(|error| error.raised(py))?;
    let equation = format!("the file {name}");
    let quark = with_boundary(py, quark, antiperiodic, theta)?;
    let origin = Origin { site: origin, equation, job: None, sinks: Vec::new() };
    Ok(Propagator::new(quark, origin, team, without_solves(py)?))
}

/// Smears the sink of a propagator with the links of a configuration.
#[pyfunction]
pub fn smear_sink(
    py: Python<'_>,
    propagator: &Bound<'_, Propagator>,
    gauge: &Bound<'_, Gauge>,
    smearing: &str,
) -> PyResult<Propagator> {
    let smearing: SpinorSmearing = parsed(py, smearing)?;
    let (propagator, links) = (propagator.get(), Arc::clone(&gauge.get().links));
    let (quark, team) = (Arc::clone(&propagator.quark), propagator.team.clone());
    if quark.dims() != links.dims() {
        let message =
            format!("the propagator is of a lattice of {}, the links of {}", quark.dims(), links.dims());
        return Err(invalid(py, message));
    }
    let smeared = work::run(py, None, move |_| {
        let mut smeared = QuarkPropagator::new(quark.dims())?.with_time_phases(quark.time_phases().clone());
        let links = SmearingLinks::from(links);
        for column in Column::all() {
            let field = smearing.apply_on(&team, &links, &numbers::column(&quark, column));
            smeared.set_column(column, &field.map_err(LatticeError::from)?);
        }
        Ok::<_, JobError>(smeared)
    })?;
    let quark = smeared.map_err(|error| error.raised(py))?;
    let mut origin = propagator.origin.clone();
    origin.sinks.push(smearing.to_string());
    Ok(Propagator::new(quark, origin, propagator.team.clone(), propagator.report.clone_ref(py)))
}
