//! Devices and teams.

use super::array::Array;
use super::failure::{Raised, raised};
use super::work;
use lattice_cl::compute::{self, DeviceInfo, DeviceOptions, OpenDevices, Selector};
use lattice_cl::tuning::TIME_ON_FIRST_USE;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use std::sync::LazyLock;

/// A device: one that was found, or one of a team, which is open.
#[pyclass(frozen, module = "lattice_cl")]
pub struct Device {
    label: String,
    info: DeviceInfo,
    open: Option<compute::Device>,
}

#[pymethods]
impl Device {
    /// The name for `devices=`: `0.0 NAME`.
    #[getter]
    fn label(&self) -> &str {
        &self.label
    }

    #[getter]
    fn name(&self) -> &str {
        &self.info.name
    }

    #[getter]
    fn platform(&self) -> &str {
        &self.info.platform
    }

    #[getter]
    fn vendor(&self) -> &str {
        &self.info.vendor
    }

    #[getter]
    fn driver_version(&self) -> &str {
        &self.info.driver_version
    }

    #[getter]
    fn kind(&self) -> String {
        self.info.kind.to_string()
    }

    #[getter]
    fn memory_bytes(&self) -> u64 {
        self.info.memory_bytes
    }

    #[getter]
    fn compute_units(&self) -> usize {
        self.info.compute_units
    }

    #[getter]
    fn has_double(&self) -> bool {
        self.info.fp64
    }

    /// Copies an array of numpy to the device.
    fn array(&self, py: Python<'_>, numbers: &Bound<'_, PyAny>) -> PyResult<Array> {
        Array::upload(self.open(py)?, numbers)
    }

    /// Waits until the device has done everything.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        match &self.open {
            Some(open) => work::aside(py, || open.finish())?.map_err(|error| error.raised(py)),
            None => Ok(()),
        }
    }

    /// The `cl_context` of an open device as a number, for other packages.
    #[getter]
    fn cl_context(&self, py: Python<'_>) -> PyResult<usize> {
        self.open(py).map(compute::Device::context_handle)
    }

    /// The `cl_command_queue` of an open device as a number.
    ///
    /// What other packages put there runs in order with the work of this one.
    #[getter]
    fn cl_queue(&self, py: Python<'_>) -> PyResult<usize> {
        self.open(py).map(compute::Device::queue_handle)
    }

    fn __repr__(&self) -> String {
        let gib = self.info.memory_bytes as f64 / f64::from(1 << 30);
        format!("Device({}, {}, {gib:.1} GiB)", self.label, self.info.kind)
    }
}

impl Device {
    fn of_open(open: &compute::Device) -> Self {
        Self { label: open.label().to_owned(), info: open.info().clone(), open: Some(open.clone()) }
    }

    fn open(&self, py: Python<'_>) -> PyResult<&compute::Device> {
        self.open.as_ref().ok_or_else(|| {
            let message = format!("{} is not open; open it: Team(\"{}\")[0]", self.label, self.index());
            raised(py, "InvalidInput", message)
        })
    }

    fn index(&self) -> &str {
        self.label.split_whitespace().next().unwrap_or_default()
    }
}

/// Lists the devices that this machine has.
#[pyfunction]
pub fn devices(py: Python<'_>) -> PyResult<Vec<Device>> {
    let found = work::run(py, None, |_| compute::discover())?;
    let device = |found: &compute::DiscoveredDevice| Device {
        label: found.label(),
        info: found.info.clone(),
        open: None,
    };
    Ok(found.devices.iter().map(device).collect())
}

/// Open devices that work together; without one the host works.
#[pyclass(frozen, module = "lattice_cl")]
pub struct Team {
    team: compute::Team,
}

#[pymethods]
impl Team {
    #[new]
    #[pyo3(signature = (devices = None))]
    fn new(py: Python<'_>, devices: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let wanted = DevicesArgument::of(devices)?;
        Ok(Self { team: work::run(py, None, move |_| wanted.open())?.map_err(|error| error.raised(py))? })
    }

    /// The names of the devices, `host` without one.
    #[getter]
    fn labels(&self) -> Vec<String> {
        labels(&self.team)
    }

    /// Waits until every device has done everything.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        work::aside(py, || self.team.finish())?.map_err(|error| error.raised(py))
    }

    fn __len__(&self) -> usize {
        self.team.len()
    }

    fn __getitem__(&self, py: Python<'_>, number: isize) -> PyResult<Device> {
        // Why there is none, and what helps.
        self.team.device().map_err(|error| error.raised(py))?;
        let count = self.team.len() as isize;
        let place = if number < 0 { number + count } else { number };
        match usize::try_from(place).ok().and_then(|place| self.team.devices().get(place)) {
            Some(open) => Ok(Device::of_open(open)),
            None => Err(PyIndexError::new_err(format!("device {number} of a team of {count}"))),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let devices: Vec<Device> = self.team.devices().iter().map(Device::of_open).collect();
        devices.into_pyobject(py)?.try_iter()
    }

    fn __repr__(&self) -> String {
        format!("Team({})", self.labels().join(", "))
    }
}

impl Team {
    /// Makes the team of one open device.
    pub fn of_device(device: compute::Device) -> Self {
        Self { team: device.into() }
    }
}

/// Returns the names of a team's devices, `host` without one.
pub fn labels(team: &compute::Team) -> Vec<String> {
    if team.is_host() { vec!["host".to_owned()] } else { team.labels() }
}

/// The argument `devices=`: the devices that a caller wants.
pub enum DevicesArgument {
    /// Open devices.
    Open(compute::Team),
    /// Devices by their names.
    Named(Vec<Selector>),
}

impl DevicesArgument {
    /// Reads `devices=`: a team, a name, or a list of names.
    ///
    /// The default is the best device.
    ///
    /// # Errors
    /// `TypeError` for anything else.
    pub fn of(devices: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(devices) = devices.filter(|devices| !devices.is_none()) else {
            return Ok(Self::Named(vec![Selector::Auto]));
        };
        if let Ok(team) = devices.cast::<Team>() {
            return Ok(Self::Open(team.get().team.clone()));
        }
        if let Ok(text) = devices.extract::<String>() {
            return Ok(Self::Named(Selector::list(&text)));
        }
        let names: Vec<String> = devices.extract()?;
        Ok(Self::Named(names.iter().flat_map(|name| Selector::list(name)).collect()))
    }

    /// Opens the devices like the program does.
    ///
    /// # Errors
    /// The errors of [`compute::Team::select_with`].
    pub fn open(self) -> compute::Result<compute::Team> {
        match self {
            Self::Open(team) => Ok(team),
            Self::Named(selectors) => compute::Team::select_with(selectors, &opened_with()),
        }
    }
}

/// The options of all devices, with the list of those that are open and the clock of compilers.
static OPENED_WITH: LazyLock<DeviceOptions> = LazyLock::new(|| {
    DeviceOptions::default()
        .with_tuning(compute::TuningMode::SearchOnGpus)
        .with_search_time(Some(TIME_ON_FIRST_USE))
        .with_open(Some(OpenDevices::default()))
});

/// Returns the options that devices are opened with, which are those of the program.
///
/// Teams share devices that are open, so that arrays of both can be combined.
pub fn opened_with() -> DeviceOptions {
    OPENED_WITH.clone()
}
