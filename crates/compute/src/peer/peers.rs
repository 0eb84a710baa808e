//! The devices of a team that reach each other's memory.

use super::faults::{Fault, Faults};
use super::handover::{self, Elsewhere};
use super::kernels::FLAGS;
use super::memory::shared;
use super::probe;
use crate::error::{DeviceError, Result};
use crate::memory::Buffer;
use crate::open::{Device, PeerWay, Team};
use crate::queue::Core;
use crate::sync::lock;
use bytemuck::Pod;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

/// How long a kernel waits for another device at most: as long as that may be busy with what others gave it to do.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a kernel waits for a device of another rank at most.
///
/// Only one rank writes files, while others go on. A rank that fails ends the others.
const PATIENCE_WITH_RANKS: Duration = Duration::from_secs(600);

/// Devices that all reach each other's memory in one way, which has been tried.
///
/// Each has a number. Some may be those of other ranks.
pub struct Peers {
    /// Those of this process.
    devices: Vec<Device>,
    /// The numbers of these, in ascending order.
    numbers: Vec<usize>,
    /// The label of each device.
    labels: Vec<String>,
    /// `None` if all devices are those of this process.
    elsewhere: Option<Elsewhere>,
    way: PeerWay,
    patience: Duration,
    /// On each device of this process whom it waited for in vain: the number of the device and 1; 0 before.
    marks: Vec<Buffer<u32>>,
    /// What a test lets go wrong.
    faults: Option<Faults>,
    /// Held while a thread launches on all devices what one of them waits for.
    order: Mutex<()>,
}

impl Peers {
    /// The devices in the best way that all of them allow and that works between every two of them. `None` for one device, and where there
    /// is none: then the log says why.
    pub fn of(devices: &[Device]) -> Option<Arc<Self>> {
        if !(2..=FLAGS).contains(&devices.len()) {
            return None;
        }
        // A device that is given twice has one queue, and not the two that its domains wait in.
        if devices.iter().enumerate().any(|(k, device)| devices[..k].contains(device)) {
            return None;
        }
        let ways = devices.iter().map(Device::peer_ways).reduce(|all, ways| all.and(ways))?;
        let works = |way: PeerWay| {
            let mut pairs =
                devices.iter().enumerate().flat_map(|(k, a)| devices[..k].iter().map(move |b| (b, a)));
            pairs.all(|(a, b)| works_between(way, a, b))
        };
        let way = ways.iter().find(|&way| works(way))?;
        let labels = devices.iter().map(|device| device.label().to_owned()).collect();
        match Self::among(devices, labels, None, way, PATIENCE) {
            Ok(peers) => Some(Arc::new(peers)),
            Err(error) => {
                tracing::warn!("devices tell each other everything through the host: {error}");
                None
            }
        }
    }

    /// Devices of a team that is spread over ranks.
    ///
    /// `devices` are those of this rank, and `ranks` has the rank of each device. The result is
    /// `None` on all ranks if they do not reach each other's memory. Nothing is sent.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    pub fn of_ranks(team: &Team, devices: &[Device], ranks: &[usize]) -> Result<Option<Arc<Self>>> {
        let Some((way, post)) = team.ranks_and_reach().and_then(|ranks| ranks.reach.as_ref()) else {
            return Ok(None);
        };
        let all = team.labels();
        let label = |(number, &rank): (usize, &usize)| {
            let place = ranks[..number].iter().filter(|&&other| other == rank).count();
            all[rank * team.len() + place].clone()
        };
        let labels = ranks.iter().enumerate().map(label).collect();
        let elsewhere = Elsewhere { post: Arc::clone(post), ranks: ranks.into() };
        let peers = Self::among(devices, labels, Some(elsewhere), *way, PATIENCE_WITH_RANKS)?;
        Ok(Some(Arc::new(peers)))
    }

    /// The devices of this process among all that have these labels.
    pub(super) fn among(
        devices: &[Device],
        labels: Vec<String>,
        elsewhere: Option<Elsewhere>,
        way: PeerWay,
        patience: Duration,
    ) -> Result<Self> {
        let marks = devices.iter().map(|device| Buffer::zeroed(device, 1)).collect::<Result<_>>()?;
        let numbers = match &elsewhere {
            None => (0..devices.len()).collect(),
            Some(Elsewhere { post, ranks }) => {
                (0..ranks.len()).filter(|&number| ranks[number] == post.world().rank()).collect()
            }
        };
        let (devices, faults, order) = (devices.to_vec(), None, Mutex::default());
        Ok(Self { devices, numbers, labels, elsewhere, way, patience, marks, faults, order })
    }

    /// The same devices, with patience.
    fn renewed(&self, patience: Duration) -> Result<Self> {
        Self::among(&self.devices, self.labels.clone(), self.elsewhere.clone(), self.way, patience)
    }

    /// The same devices with kernels that wait for each other no longer than this.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    pub fn with_patience(&self, patience: Duration) -> Result<Arc<Self>> {
        self.renewed(patience).map(Arc::new)
    }

    /// As [`Peers::with_patience`], with something that goes wrong: for tests.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    #[doc(hidden)]
    pub fn with_fault(&self, patience: Duration, fault: Fault) -> Result<Arc<Self>> {
        let faults = Some(Faults::new(&self.devices, fault)?);
        Ok(Arc::new(Self { faults, ..self.renewed(patience)? }))
    }

    /// What a test lets go wrong.
    pub(super) fn faults(&self) -> Option<&Faults> {
        self.faults.as_ref()
    }

    /// The best way between two devices that both allow and that works.
    pub fn link(a: &Device, b: &Device) -> Option<PeerWay> {
        a.peer_ways().and(b.peer_ways()).iter().find(|&way| works_between(way, a, b))
    }

    /// Tries a way between two devices, whether they allow it or not.
    ///
    /// # Errors
    /// Why it does not work, in words.
    pub fn try_way(way: PeerWay, a: &Device, b: &Device) -> Result<(), String> {
        probe::probe(way, a, b)
    }

    /// The devices of this process, in the order of their numbers.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// The numbers of the devices of this process.
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// How many devices there are, those of other ranks too.
    pub fn count(&self) -> usize {
        self.labels.len()
    }

    /// The place of a device, by its number, among those of this process.
    pub fn place(&self, number: usize) -> Option<usize> {
        self.numbers.iter().position(|&own| own == number)
    }

    /// The label of a device, by its number.
    pub(crate) fn label(&self, number: usize) -> &str {
        self.labels.get(number).map_or("another device", String::as_str)
    }

    /// Waits until every rank is here. Returns at once if there is one.
    ///
    /// # Errors
    /// [`DeviceError::Mpi`].
    pub fn all_are_here(&self) -> Result<()> {
        match &self.elsewhere {
            Some(elsewhere) => Ok(elsewhere.post.world().barrier()?),
            None => Ok(()),
        }
    }

    /// The way between any two of them.
    pub fn way(&self) -> PeerWay {
        self.way
    }

    /// How long kernels wait at most, in milliseconds.
    pub(crate) fn patience(&self) -> u32 {
        self.patience.as_millis().try_into().unwrap_or(u32::MAX)
    }

    /// Where the kernels of a device of this process leave whom they waited for in vain.
    pub(crate) fn mark(&self, place: usize) -> &Buffer<u32> {
        &self.marks[place]
    }

    /// To be held from the first launch on a device to the last one on another, where kernels of other devices wait for these: so all devices have them in one
    /// order, whatever other threads launch.
    pub fn in_order(&self) -> MutexGuard<'_, ()> {
        lock(&self.order)
    }

    /// `len` zeroed elements in the memory of the first of these devices, by their numbers, as a buffer of each that this process has.
    ///
    /// The ranks of all these devices call this, in one order.
    ///
    /// # Errors
    /// [`DeviceError::PeerMemory`].
    pub fn memory<T: Pod>(&self, users: &[usize], len: usize) -> Result<Vec<Buffer<T>>> {
        let device = |number| Some(self.devices[self.place(number)?].clone());
        let own: Vec<Device> = users.iter().filter_map(|&user| device(user)).collect();
        let Some(elsewhere) = &self.elsewhere else {
            return shared(self.way, &own.iter().collect::<Vec<_>>(), len);
        };
        let memories =
            handover::shared(self.way, elsewhere, device, users, len.saturating_mul(size_of::<T>()));
        let memories = memories
            .map_err(|reason| DeviceError::PeerMemory { device: self.label(users[0]).to_owned(), reason })?;
        Ok(own.iter().zip(memories).map(|(device, memory)| Buffer::of_memory(device, memory, len)).collect())
    }

    /// `len` zeroed elements in the memory of device `owner`, as a buffer of every device of this process, in their order.
    ///
    /// Every rank calls this.
    ///
    /// # Errors
    /// [`DeviceError::PeerMemory`].
    pub fn memory_of<T: Pod>(&self, owner: usize, len: usize) -> Result<Vec<Buffer<T>>> {
        let others = (0..self.count()).filter(|&other| other != owner);
        let mut buffers = self.memory(&std::iter::once(owner).chain(others).collect::<Vec<_>>(), len)?;
        if let Some(place) = self.place(owner) {
            let own = buffers.remove(0);
            buffers.insert(place, own);
        }
        Ok(buffers)
    }

    /// Waits for all devices, and for what they were waiting for.
    ///
    /// # Errors
    /// [`DeviceError::PeerTimeout`] if one waited in vain.
    pub fn check(&self) -> Result<()> {
        for (waiter, mark) in self.devices.iter().zip(&self.marks) {
            let mut found = [0];
            mark.read(&mut found)?;
            if let Some(awaited) = (found[0] as usize).checked_sub(1) {
                return Err(DeviceError::PeerTimeout {
                    waiter: waiter.label().to_owned(),
                    awaited: self.label(awaited).to_owned(),
                    seconds: self.patience.as_secs_f64(),
                });
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Peers({} by {})", self.count(), self.way)
    }
}

/// What the probe has found for a device and others that are open.
#[derive(Default)]
struct Probed(Mutex<Vec<(Weak<Core>, PeerWay, bool)>>);

/// Whether the probe succeeds, which is asked once.
fn works_between(way: PeerWay, a: &Device, b: &Device) -> bool {
    let probed = a.kept::<Probed>();
    let other = Arc::as_ptr(b.core());
    let known = lock(&probed.0)
        .iter()
        .find(|(known, for_way, _)| known.as_ptr() == other && *for_way == way)
        .map(|known| known.2);
    known.unwrap_or_else(|| {
        let found = probe::probe(way, a, b);
        if let Err(reason) = &found {
            tracing::debug!("{} and {} have no memory in common by {way}: {reason}", a.label(), b.label());
        }
        lock(&probed.0).push((Arc::downgrade(b.core()), way, found.is_ok()));
        found.is_ok()
    })
}
