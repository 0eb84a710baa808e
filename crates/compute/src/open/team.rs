//! The devices that work together.

use super::handle::Device;
use super::options::DeviceOptions;
use crate::absence::Absence;
use crate::error::{DeviceError, Result};
use crate::kernel::Compilation;
use crate::select::{DeviceKind, Discovery, FoundDevice, Remark, Selector, discover, remarks_on};
use std::sync::Arc;
use std::time::Duration;

/// An ordered list of open devices; clones are the same team.
///
/// One device is a team of one, and the team of none is the host: then everything runs on the processor,
/// through the twins in `host`.
#[derive(Clone, Debug)]
pub struct Team {
    devices: Arc<[Device]>,
    absence: Option<Absence>,
    remarks: Arc<[Remark]>,
}

impl Team {
    /// The host alone.
    pub fn host() -> Self {
        Self { devices: Arc::new([]), absence: None, remarks: Arc::new([]) }
    }

    /// Opens the selected devices, in the order given.
    ///
    /// [`Selector::Auto`] alone takes the best device: GPU before accelerator before CPU, then the one with more
    /// memory. Where there is none with double precision it gives the host, and [`Team::absence`] says why. No
    /// selector at all means `Auto`. [`Selector::All`] alone is [`Team::all`]. The same device given twice is opened
    /// twice and takes two shares of the work. [`Team::remarks`] says what a user may not expect.
    ///
    /// # Errors
    /// [`DeviceError::UnknownDevice`], [`DeviceError::AmbiguousDevice`] and [`DeviceError::Absent`] for a name that
    /// fits no device or too many; [`DeviceError::NoDoublePrecision`]; [`DeviceError::NotCombinable`] for `auto`, `all`
    /// or `host` beside others; [`DeviceError::OpenCl`] if a device does not open.
    pub fn select(selectors: impl IntoIterator<Item = Selector>) -> Result<Self> {
        Self::select_with(selectors, &DeviceOptions::default())
    }

    /// As [`Team::select`], with a say in how the devices are opened.
    ///
    /// # Errors
    /// As [`Team::select`].
    pub fn select_with(
        selectors: impl IntoIterator<Item = Selector>,
        options: &DeviceOptions,
    ) -> Result<Self> {
        let selectors: Vec<Selector> = selectors.into_iter().collect();
        match selectors.as_slice() {
            [] | [Selector::Auto] => Self::auto(&discover(), options),
            [Selector::All] => Self::all(options),
            [Selector::Host] => Ok(Self::host()),
            several => {
                let alone = |s: &&Selector| matches!(s, Selector::Auto | Selector::All | Selector::Host);
                if let Some(alone) = several.iter().find(alone) {
                    return Err(DeviceError::NotCombinable { selector: alone.to_string() });
                }
                let discovery = discover();
                let matches: Vec<Vec<&FoundDevice>> =
                    several.iter().map(|selector| discovery.find(selector)).collect::<Result<_>>()?;
                let remarks = remarks_on(several, &matches);
                let team = Self::open(matches.iter().map(|found| found[0]), options)?;
                Ok(Self { remarks: remarks.into(), ..team })
            }
        }
    }

    /// Every device with double precision that there is, as one team; the host where there is none.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`] if a device does not open.
    pub fn all(options: &DeviceOptions) -> Result<Self> {
        let discovery = discover();
        let (usable, left_out): (Vec<&FoundDevice>, Vec<_>) =
            discovery.devices.iter().partition(|d| d.info.fp64);
        if usable.is_empty() {
            return Ok(Self::without_device(&discovery));
        }
        let left_out: Vec<Remark> =
            left_out.into_iter().map(|found| Remark::NoDoublePrecision { device: found.label() }).collect();
        Ok(Self { remarks: left_out.into(), ..Self::open(usable, options)? })
    }

    /// The team of devices that are open already.
    pub fn of(devices: impl IntoIterator<Item = Device>) -> Self {
        Self { devices: devices.into_iter().collect(), ..Self::host() }
    }

    fn auto(discovery: &Discovery, options: &DeviceOptions) -> Result<Self> {
        let rank = |kind| match kind {
            DeviceKind::Gpu => 3,
            DeviceKind::Accelerator => 2,
            DeviceKind::Cpu => 1,
            DeviceKind::Other => 0,
        };
        // `max_by_key` takes the last of equals; reversed, the first in the list wins.
        let usable = discovery.devices.iter().filter(|d| d.info.fp64).rev();
        match usable.max_by_key(|d| (rank(d.info.kind), d.info.memory_bytes)) {
            Some(best) => Self::open([best], options),
            None => Ok(Self::without_device(discovery)),
        }
    }

    fn without_device(discovery: &Discovery) -> Self {
        let absence = discovery.absence.clone().unwrap_or_else(|| Absence::NoDoublePrecision {
            devices: discovery.devices.iter().map(FoundDevice::label).collect(),
        });
        tracing::info!("running on the host: {absence}");
        Self { absence: Some(absence), ..Self::host() }
    }

    fn open<'a>(found: impl IntoIterator<Item = &'a FoundDevice>, options: &DeviceOptions) -> Result<Self> {
        let devices = found.into_iter().map(|d| Device::open(d, options)).collect::<Result<Vec<_>>>()?;
        Ok(Self::of(devices))
    }

    /// The devices, in the order of their shares; empty for the host.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// The first device, for work that needs one.
    ///
    /// # Errors
    /// [`DeviceError::Absent`] for the host: why there is no device, and how to get one.
    pub fn device(&self) -> Result<&Device> {
        self.devices.first().ok_or_else(|| self.absence.clone().unwrap_or(Absence::HostChosen).into())
    }

    /// Number of devices; 0 for the host.
    pub fn len(&self) -> usize {
        self.devices.len()
    }

    /// True if the work runs on the host, as there is no device in the team.
    pub fn is_empty(&self) -> bool {
        self.is_host()
    }

    /// True if the work runs on the host.
    pub fn is_host(&self) -> bool {
        self.devices.is_empty()
    }

    /// Why [`Selector::Auto`] or [`Selector::All`] ended on the host; `None` if the host was asked for or there are devices.
    pub fn absence(&self) -> Option<&Absence> {
        self.absence.as_ref()
    }

    /// What it took to build the programs of all devices so far, see [`Device::compilation`].
    pub fn compilation(&self) -> Compilation {
        let mut all = Compilation::default();
        self.devices.iter().for_each(|device| all += device.compilation());
        all
    }

    /// Time that compilers have taken so far on the devices, which count together if they were opened as a team; zero for the host.
    pub fn compile_time(&self) -> Duration {
        self.devices.first().map_or(Duration::ZERO, Device::compile_time)
    }

    /// What a user may not expect of the selection: another device fits the name as well, for example.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// Waits until every device is done with everything.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`] if a command failed.
    pub fn finish(&self) -> Result<()> {
        self.devices.iter().try_for_each(Device::finish)
    }
}

impl From<Device> for Team {
    fn from(device: Device) -> Self {
        Self::of([device])
    }
}

impl IntoIterator for Selector {
    type Item = Selector;
    type IntoIter = std::iter::Once<Selector>;

    /// A single selector selects a team of one: `Team::select(Selector::Auto)`.
    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self)
    }
}
