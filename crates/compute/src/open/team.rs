//! The devices that work together.

use super::common::open_together;
use super::handle::Device;
use super::known::Known;
use super::options::DeviceOptions;
use super::ranks::Ranks;
use crate::absence::Absence;
use crate::error::{DeviceError, Result};
use crate::kernel::Compilation;
use crate::queue::{CompileClock, Stopwatch};
use crate::select::{DeviceKind, DiscoveredDevice, Discovery, Remark, Selector, discover, remarks_on};
use lattice_mpi::World;
use std::sync::Arc;
use std::time::Duration;

/// An ordered list of open devices; clones are the same team.
///
/// One device is a team of one, and the team of none is the host: then everything runs on the
/// processor, through the twins in `host`. A team may go on in other processes, its ranks: see
/// [`Team::across`].
#[derive(Clone, Debug)]
pub struct Team {
    devices: Arc<[Device]>,
    absence: Option<Absence>,
    remarks: Arc<[Remark]>,
    ranks: Option<Ranks>,
}

/// All of the selected devices, for a process that is alone on its machine.
const ALONE: [usize; 2] = [0, 1];

impl Team {
    /// Makes the team without devices, which is the host.
    pub fn host() -> Self {
        Self { devices: Arc::new([]), absence: None, remarks: Arc::new([]), ranks: None }
    }

    /// Opens the selected devices, in the order given.
    ///
    /// [`Selector::Auto`] alone takes the best device. A GPU comes before an accelerator, an
    /// accelerator before a CPU, then the device with more memory. Without a device with double
    /// precision the team is the host, and [`Team::absence`] gives the reason.
    ///
    /// No selector at all means `Auto`. [`Selector::All`] alone is [`Team::all`]. A device given
    /// twice is opened twice and takes two shares of the work. [`Team::remarks`] tells of
    /// unexpected results.
    ///
    /// # Errors
    /// * [`DeviceError::UnknownDevice`], [`DeviceError::AmbiguousDevice`] and
    ///   [`DeviceError::Absent`] for a name that fits no device or too many.
    /// * [`DeviceError::NoDoublePrecision`].
    /// * [`DeviceError::NotCombinable`] for `auto`, `all` or `host` beside others.
    /// * [`DeviceError::OpenCl`] if a device does not open.
    pub fn select(selectors: impl IntoIterator<Item = Selector>) -> Result<Self> {
        Self::select_with(selectors, &DeviceOptions::default())
    }

    /// Opens devices like [`Team::select`], with options for opening them.
    ///
    /// # Errors
    /// The errors of [`Team::select`].
    pub fn select_with(
        selectors: impl IntoIterator<Item = Selector>,
        options: &DeviceOptions,
    ) -> Result<Self> {
        Self::select_share(selectors, options, ALONE)
    }

    /// Opens devices like [`Team::select_with`], for one of several processes.
    ///
    /// The processes share a machine. `process` is the number of the process, and the number of
    /// processes.
    ///
    /// The selected devices are shared out in their order, with an equal number for each process.
    /// If there are fewer devices than processes, some processes share a device. [`Selector::Auto`]
    /// gives each process one of the best devices that are alike.
    ///
    /// # Errors
    /// The errors of [`Team::select`].
    pub fn select_share(
        selectors: impl IntoIterator<Item = Selector>,
        options: &DeviceOptions,
        process: [usize; 2],
    ) -> Result<Self> {
        let selectors: Vec<Selector> = selectors.into_iter().collect();
        match selectors.as_slice() {
            [] | [Selector::Auto] => Self::auto(&discover(), options, process),
            [Selector::All] => Self::share_of_all(options, process),
            [Selector::Host] => Ok(Self::host()),
            several => {
                let alone = |s: &&Selector| matches!(s, Selector::Auto | Selector::All | Selector::Host);
                if let Some(alone) = several.iter().find(alone) {
                    return Err(DeviceError::NotCombinable { selector: alone.to_string() });
                }
                let discovery = discover();
                let matches: Vec<Vec<&DiscoveredDevice>> =
                    several.iter().map(|selector| discovery.find(selector)).collect::<Result<_>>()?;
                let mut remarks = remarks_on(several, &matches);
                let found: Vec<&DiscoveredDevice> = matches.iter().map(|found| found[0]).collect();
                let team = Self::open(share(&found, process).copied(), options)?;
                remarks.extend(remark_on_idle(&found, process));
                Ok(Self { remarks: remarks.into(), ..team })
            }
        }
    }

    /// Opens every device with double precision, or every one that the options allow, as one team.
    ///
    /// Without such a device the team is the host.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`] if a device does not open.
    pub fn all(options: &DeviceOptions) -> Result<Self> {
        Self::share_of_all(options, ALONE)
    }

    fn share_of_all(options: &DeviceOptions, process: [usize; 2]) -> Result<Self> {
        let discovery = discover();
        let (usable, left_out): (Vec<&DiscoveredDevice>, Vec<_>) =
            discovery.devices.iter().partition(|found| is_usable(found, options));
        if usable.is_empty() {
            return Ok(Self::without_device(&discovery));
        }
        let left_out = left_out.into_iter().map(|found| Remark::NoDoublePrecision { device: found.label() });
        let remarks: Vec<Remark> = left_out.chain(remark_on_idle(&usable, process)).collect();
        Ok(Self { remarks: remarks.into(), ..Self::open(share(&usable, process).copied(), options)? })
    }

    /// Returns the same devices, joined to those of other ranks.
    pub(crate) fn with_ranks(self, ranks: Ranks) -> Self {
        Self { ranks: Some(ranks), ..self }
    }

    /// Returns the ranks, and their way to each other's memory.
    pub(crate) fn ranks_and_reach(&self) -> Option<&Ranks> {
        self.ranks.as_ref()
    }

    /// Returns the processes of the team; `None` if there is only this one.
    pub fn ranks(&self) -> Option<&Arc<World>> {
        self.ranks.as_ref().map(|ranks| &ranks.world)
    }

    /// Returns the labels of all devices, rank by rank.
    pub fn labels(&self) -> Vec<String> {
        match &self.ranks {
            Some(ranks) => ranks.labels.to_vec(),
            None => self.devices.iter().map(|device| device.label().to_owned()).collect(),
        }
    }

    /// Makes a team of devices that are open already.
    pub fn of(devices: impl IntoIterator<Item = Device>) -> Self {
        Self { devices: devices.into_iter().collect(), ..Self::host() }
    }

    fn auto(discovery: &Discovery, options: &DeviceOptions, process: [usize; 2]) -> Result<Self> {
        let rank = |kind| match kind {
            DeviceKind::Gpu => 3,
            DeviceKind::Accelerator => 2,
            DeviceKind::Cpu => 1,
            DeviceKind::Other => 0,
        };
        let worth = |found: &DiscoveredDevice| (rank(found.info.kind), found.info.memory_bytes);
        let usable = || discovery.devices.iter().filter(|found| is_usable(found, options));
        let Some(best) = usable().map(worth).max() else { return Ok(Self::without_device(discovery)) };
        let best: Vec<&DiscoveredDevice> = usable().filter(|found| worth(found) == best).collect();
        let [number, _] = process;
        Self::open([best[number % best.len()]], options)
    }

    fn without_device(discovery: &Discovery) -> Self {
        let absence = discovery.absence.clone().unwrap_or_else(|| Absence::NoDoublePrecision {
            devices: discovery.devices.iter().map(DiscoveredDevice::label).collect(),
        });
        tracing::info!("running on the host: {absence}");
        Self { absence: Some(absence), ..Self::host() }
    }

    fn open<'a>(
        found: impl IntoIterator<Item = &'a DiscoveredDevice>,
        options: &DeviceOptions,
    ) -> Result<Self> {
        let found: Vec<&DiscoveredDevice> = found.into_iter().collect();
        let devices = match &options.open {
            Some(open) => take_or_open(&found, &mut open.known(), options)?,
            None => open_together(&found, options)?,
        };
        Ok(Self::of(devices))
    }

    /// Returns the devices, in the order of their shares; empty for the host.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Returns the first device, for work that needs one.
    ///
    /// # Errors
    /// [`DeviceError::Absent`] for the host: why there is no device, and how to get one.
    pub fn device(&self) -> Result<&Device> {
        self.devices.first().ok_or_else(|| self.absence.clone().unwrap_or(Absence::HostChosen).into())
    }

    /// Returns the number of devices; 0 for the host.
    pub fn len(&self) -> usize {
        self.devices.len()
    }

    /// Returns `true` if the team has no device, so that the work runs on the host.
    pub fn is_empty(&self) -> bool {
        self.is_host()
    }

    /// Returns `true` if the work runs on the host.
    pub fn is_host(&self) -> bool {
        self.devices.is_empty()
    }

    /// Returns the reason why [`Selector::Auto`] or [`Selector::All`] took the host.
    ///
    /// `None` if the host was asked for or there are devices.
    pub fn absence(&self) -> Option<&Absence> {
        self.absence.as_ref()
    }

    /// Returns the compilation of the programs of all devices so far.
    ///
    /// See [`Device::compilation`].
    pub fn compilation(&self) -> Compilation {
        let mut all = Compilation::default();
        self.devices.iter().for_each(|device| all += device.compilation());
        all
    }

    /// Returns the time that compilers have taken so far on the devices.
    ///
    /// Devices that were opened as a team count together. The time is zero for the host.
    pub fn compile_time(&self) -> Duration {
        self.devices.first().map_or(Duration::ZERO, Device::compile_time)
    }

    /// Starts a stopwatch that stands still while compilers work for the devices.
    pub fn stopwatch(&self) -> Stopwatch {
        let of_device = self.devices.first().map(Device::stopwatch);
        of_device.unwrap_or_else(|| CompileClock::default().stopwatch())
    }

    /// Returns remarks on unexpected results of the selection.
    ///
    /// For example, another device fits the name as well.
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

/// Returns these devices, and opens those that are not open.
///
/// A device that is wanted twice is two open devices, and the same two the next time. A device that
/// is open keeps the options that it was opened with.
fn take_or_open(
    wanted: &[&DiscoveredDevice],
    known: &mut Vec<Known>,
    options: &DeviceOptions,
) -> Result<Vec<Device>> {
    let mut taken: Vec<Device> = Vec::new();
    let mut missing: Vec<&DiscoveredDevice> = Vec::new();
    let mut places: Vec<Option<Device>> = Vec::new();
    for &found in wanted {
        let of_place = known.iter().filter(|(place, _)| *place == found.index);
        let mut of_place = of_place.filter_map(|(_, alive)| Device::of_alive(alive));
        let device = of_place.find(|device| !taken.contains(device));
        match &device {
            Some(device) => taken.push(device.clone()),
            None => missing.push(found),
        }
        places.push(device);
    }
    let opened = open_together(&missing, options)?;
    known.extend(missing.iter().zip(&opened).map(|(found, device)| (found.index, device.alive())));
    let mut opened = opened.into_iter();
    Ok(places.into_iter().filter_map(|device| device.or_else(|| opened.next())).collect())
}

/// Tells whether a device may be opened.
fn is_usable(found: &DiscoveredDevice, options: &DeviceOptions) -> bool {
    found.info.fp64 || options.without_double
}

/// Returns the part of a list that one of several processes takes.
fn share<T>(all: &[T], [number, processes]: [usize; 2]) -> impl Iterator<Item = &T> {
    let each = (all.len() / processes).max(1);
    (0..each.min(all.len())).map(move |k| &all[(number * each + k) % all.len()])
}

/// Returns the devices that no process takes, because each takes as many as the others.
fn idle<T>(all: &[T], [_, processes]: [usize; 2]) -> &[T] {
    &all[(all.len() / processes).max(1).saturating_mul(processes).min(all.len())..]
}

/// Makes the remark on the devices that no process takes.
fn remark_on_idle(found: &[&DiscoveredDevice], process: [usize; 2]) -> Option<Remark> {
    let devices: Vec<String> = idle(found, process).iter().map(|found| found.label()).collect();
    let [_, processes] = process;
    (!devices.is_empty()).then_some(Remark::Idle { devices, processes })
}

impl From<Device> for Team {
    fn from(device: Device) -> Self {
        Self::of([device])
    }
}

impl IntoIterator for Selector {
    type Item = Selector;
    type IntoIter = std::iter::Once<Selector>;

    /// Makes a list of one selector, for `Team::select(Selector::Auto)`.
    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{idle, share};

    #[test]
    fn processes_of_a_machine_share_its_devices() {
        let shares = |devices: usize, processes: usize| -> Vec<Vec<usize>> {
            let all: Vec<usize> = (0..devices).collect();
            (0..processes).map(|number| share(&all, [number, processes]).copied().collect()).collect()
        };
        assert_eq!(shares(4, 1), [vec![0, 1, 2, 3]]);
        assert_eq!(shares(4, 2), [vec![0, 1], vec![2, 3]]);
        // Each has as many as the others.
        assert_eq!(shares(5, 2), [vec![0, 1], vec![2, 3]]);
        assert_eq!(shares(2, 4), [vec![0], vec![1], vec![0], vec![1]]);
        assert_eq!(shares(0, 2), vec![Vec::<usize>::new(); 2]);
        assert_eq!(idle(&[0, 1, 2], [1, 2]), [2]);
        assert_eq!(idle(&[0, 1, 2, 3, 4, 5, 6], [0, 3]), [6]);
        for (devices, processes) in [(4, 1), (4, 2), (2, 4), (0, 2), (1, 1)] {
            assert!(idle(&vec![0; devices], [0, processes]).is_empty(), "{devices} {processes}");
        }
    }
}
