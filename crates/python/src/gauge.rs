//! Gauge configurations.

use super::array::as_numpy;
use super::devices::DevicesArgument;
use super::failure::{Raised, invalid, parsed};
use super::interop;
use super::numbers;
use super::work;
use lattice_cl::compute::parallel::*;
use lattice_cl::gauge::{
    self, Directions, Plaquette, Projection, SmearError, SmearParams, Smearing, energy_and_charge,
};
use lattice_cl::geometry::{Dims, NDIM};
use lattice_cl::host::GaugeConfiguration;
use lattice_cl::io::{self, GaugeFile, ReadOptions, UNITARITY_LIMIT, WriteOptions};
use num_complex::Complex64;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// A gauge configuration: four links in SU(3) at each site.
///
/// The links have no signs of a boundary.
#[pyclass(frozen, module = "lattice_cl")]
pub struct Gauge {
    /// The links.
    pub links: Arc<GaugeConfiguration>,
    /// The origin of the links and their verification: names and values.
    facts: Vec<(String, String)>,
    /// The changes made to the links.
    history: Vec<String>,
    plaquette: OnceLock<Plaquette>,
}

#[pymethods]
impl Gauge {
    /// Takes links of an array with the axes t, z, y, x, direction, row, column.
    #[new]
    fn new(py: Python<'_>, links: &Bound<'_, PyAny>) -> PyResult<Self> {
        let links = numbers::links(links)?;
        let deviation = work::aside(py, || {
            // NaN compares with nothing, so it is made the largest.
            let of_link = |k: usize| links.link(k / NDIM, k % NDIM).unitarity_deviation();
            let deviation = |k: usize| Some(of_link(k)).filter(|d| !d.is_nan()).unwrap_or(f64::INFINITY);
            (0..NDIM * links.dims().volume()).into_par_iter().map(deviation).reduce(|| 0.0, f64::max)
        })?;
        if deviation > UNITARITY_LIMIT {
            let message = format!(
                "a link is {deviation:.1e} away from SU(3), and at most {UNITARITY_LIMIT:.0e} is taken"
            );
            return Err(invalid(py, message));
        }
        let facts =
            [("from", "an array".to_owned()), ("unitarity", format!("within {deviation:.1e} of SU(3)"))];
        Ok(Self::of(links, facts))
    }

    /// Makes unit links on a lattice of extents (x, y, z, t).
    #[staticmethod]
    fn unit(py: Python<'_>, dims: [usize; NDIM]) -> PyResult<Self> {
        let dims = Dims::new(dims).map_err(|error| error.raised(py))?;
        Ok(Self::of(GaugeConfiguration::unit(dims), [("from", "unit links".to_owned())]))
    }

    /// The extents (x, y, z, t).
    #[getter]
    fn dims(&self) -> (usize, usize, usize, usize) {
        let [x, y, z, t] = self.links.dims().extents();
        (x, y, z, t)
    }

    /// The precision of the links: single or double.
    #[getter]
    fn precision(&self) -> String {
        self.links.precision().to_string()
    }

    /// The mean of Re tr / 3 over all plaquettes.
    #[getter]
    fn plaquette(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.measured(py)?.average)
    }

    /// The mean over plaquettes in space, and that over plaquettes with time.
    #[getter]
    fn plaquettes(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        let Plaquette { spatial, temporal, .. } = self.measured(py)?;
        Ok((spatial, temporal))
    }

    /// The mean of tr / 3 of the Polyakov loops.
    fn polyakov_loop(&self, py: Python<'_>) -> PyResult<Complex64> {
        let links = Arc::clone(&self.links);
        work::run(py, None, move |_| gauge::polyakov_loop(&links))
    }

    /// The energy density E and the topological charge Q of the clover field strength.
    fn energy_and_charge(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        let links = Arc::clone(&self.links);
        let measured = work::run(py, None, move |_| energy_and_charge(&*links))?;
        Ok((measured.0.clover, measured.1.clover))
    }

    /// Smears by stout steps.
    #[pyo3(signature = (*, rho, steps = 1, directions = "xyzt", devices = None))]
    fn stout(
        &self,
        py: Python<'_>,
        rho: f64,
        steps: usize,
        directions: &str,
        devices: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        self.smeared(py, Smearing::Stout { rho }, steps, (directions, "trace"), devices)
    }

    /// Smears by APE steps.
    #[pyo3(signature = (*, alpha, steps = 1, directions = "xyzt", projection = "trace"))]
    fn ape(
        &self,
        py: Python<'_>,
        alpha: f64,
        steps: usize,
        directions: &str,
        projection: &str,
    ) -> PyResult<Self> {
        self.smeared(py, Smearing::Ape { alpha }, steps, (directions, projection), None)
    }

    /// Smears by HYP steps.
    #[pyo3(signature = (*, alphas = [0.75, 0.6, 0.3], steps = 1, directions = "xyzt", projection = "trace"))]
    fn hyp(
        &self,
        py: Python<'_>,
        alphas: [f64; 3],
        steps: usize,
        directions: &str,
        projection: &str,
    ) -> PyResult<Self> {
        self.smeared(py, Smearing::Hyp { alphas }, steps, (directions, projection), None)
    }

    /// Copies the links to an array with the axes t, z, y, x, direction, row, column.
    fn numpy(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        numbers::of_links(py, &self.links)
    }

    /// Copies the links to the axes of PyQUDA: direction, parity, t, z, y, x/2, row, column.
    fn pyquda(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        interop::converted(py, "links_to_pyquda", self.numpy(py)?)
    }

    /// Copies the links as GPT has them: an array for each direction: site, row, column.
    fn gpt(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        interop::converted(py, "links_to_gpt", self.numpy(py)?)
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

    /// Writes the links to a file.
    #[pyo3(signature = (path, format = "ildg"))]
    fn save(&self, py: Python<'_>, path: PathBuf, format: &str) -> PyResult<()> {
        let (links, format) = (Arc::clone(&self.links), parsed(py, format)?);
        let written =
            work::run(py, None, move |_| io::write_gauge(&path, &links, &WriteOptions::new(format)))?;
        written.map_err(|error| error.raised(py))
    }

    /// The origin of the links, their verification, and the changes made to them.
    #[getter]
    fn facts(&self) -> Vec<(String, String)> {
        let lattice = ("lattice".to_owned(), format!("{}, {}", self.links.dims(), self.links.precision()));
        let smeared = self.history.iter().map(|step| ("smeared".to_owned(), step.clone()));
        [lattice].into_iter().chain(self.facts.iter().cloned()).chain(smeared).collect()
    }

    fn __repr__(&self) -> String {
        let texts: Vec<String> =
            self.facts().into_iter().map(|(name, value)| format!("{name} {value}")).collect();
        format!("Gauge({})", texts.join("; "))
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        let rows = self.facts_with_plaquette(py)?;
        let lines: Vec<String> = rows.iter().map(|(name, value)| format!("{name:12} {value}")).collect();
        Ok(lines.join("\n"))
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let module = py.import("lattice_cl.report")?;
        let rows = self.facts_with_plaquette(py)?;
        module.getattr("html_table")?.call1(("Gauge configuration", rows))?.extract()
    }
}

impl Gauge {
    fn of<const N: usize>(links: GaugeConfiguration, facts: [(&str, String); N]) -> Self {
        let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { links: Arc::new(links), facts, history: Vec::new(), plaquette: OnceLock::new() }
    }

    fn measured(&self, py: Python<'_>) -> PyResult<Plaquette> {
        if let Some(plaquette) = self.plaquette.get() {
            return Ok(*plaquette);
        }
        let links = Arc::clone(&self.links);
        let plaquette = work::run(py, None, move |_| gauge::plaquette(&*links))?;
        Ok(*self.plaquette.get_or_init(|| plaquette))
    }

    fn facts_with_plaquette(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let mut rows = self.facts();
        rows.push(("plaquette".to_owned(), format!("{:.12}", self.measured(py)?.average)));
        Ok(rows)
    }

    fn smeared(
        &self,
        py: Python<'_>,
        smearing: Smearing,
        steps: usize,
        (directions, projection): (&str, &str),
        devices: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (directions, projection) =
            (parsed::<Directions>(py, directions)?, parsed::<Projection>(py, projection)?);
        let params =
            SmearParams::new(smearing, steps).with_directions(directions).with_projection(projection);
        let wanted = devices.map(|devices| DevicesArgument::of(Some(devices))).transpose()?;
        let links = Arc::clone(&self.links);
        let smeared = work::run(py, None, move |_| match wanted {
            Some(wanted) => gauge::smear_on(&wanted.open()?, &links, &params),
            None => gauge::smear(&links, &params),
        })?;
        let links = Arc::new(smeared.map_err(|error: SmearError| error.raised(py))?);
        let mut history = self.history.clone();
        history.push(params.to_string());
        Ok(Self { links, facts: self.facts.clone(), history, plaquette: OnceLock::new() })
    }

    /// Returns what was done to the links, in words; empty for those of the file.
    pub fn smearing_words(&self) -> String {
        self.history.join(", then ")
    }
}

/// Reads and verifies a gauge configuration of any format.
#[pyfunction]
#[pyo3(signature = (path, *, dims = None, format = None, ignore_checksum = false))]
pub fn read_gauge(
    py: Python<'_>,
    path: PathBuf,
    dims: Option<[usize; NDIM]>,
    format: Option<&str>,
    ignore_checksum: bool,
) -> PyResult<Gauge> {
    let dims = dims.map(|dims| Dims::new(dims).map_err(|error| error.raised(py))).transpose()?;
    let format = format.map(|format| parsed(py, format)).transpose()?;
    let name = path.display().to_string();
    let read = work::run(py, None, move |_| {
        io::read_gauge_with(
            &path,
            &ReadOptions::default().with_dims(dims).with_format(format).with_ignore_checksum(ignore_checksum),
        )
    })?;
    let GaugeFile { configuration, format, checksum, header_checks, warnings, .. } =
        read.map_err(|error| error.raised(py))?;
    let mut facts = vec![("file".to_owned(), name), ("format".to_owned(), format.to_string())];
    let agrees = |ok: bool| if ok { "verified" } else { "not that of the links" };
    match checksum {
        Some(sum) => {
            facts.push(("checksum".to_owned(), format!("{} {}: {}", sum.kind, sum.stored, agrees(sum.ok))));
        }
        None => facts.push(("checksum".to_owned(), "the file has none".to_owned())),
    }
    for check in header_checks {
        let value = format!("{} in the header: {}", check.stored, agrees(check.ok));
        facts.push((check.quantity.to_owned(), value));
    }
    facts.push(("unitarity".to_owned(), format!("all links within {UNITARITY_LIMIT:.0e} of SU(3)")));
    facts.extend(warnings.into_iter().map(|warning| ("note".to_owned(), warning)));
    Ok(Gauge { links: Arc::new(configuration), facts, history: Vec::new(), plaquette: OnceLock::new() })
}
