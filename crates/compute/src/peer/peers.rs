//! The devices of a team that reach each other's memory.

use super::copies::PeerCopies;
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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

/// The longest time that a kernel waits for another device.
///
/// The other device may be busy with commands of other programs.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest time that a kernel waits for a device of another rank.
///
/// Only one rank writes files, while others continue. A rank that fails ends the others.
const PATIENCE_WITH_RANKS: Duration = Duration::from_secs(600);

/// Devices that reach each other's memory in one way, which has been tried.
///
/// Each device has a number. Some devices may belong to other ranks.
pub struct Peers {
    /// The devices of this process.
    devices: Vec<Device>,
    /// The numbers of these devices, in ascending order.
    numbers: Vec<usize>,
    /// The label of each device.
    labels: Vec<String>,
    /// The devices of other ranks; `None` if all devices belong to this process.
    elsewhere: Option<Elsewhere>,
    way: PeerWay,
    patience: Duration,
    /// A mark on each device of this process: 0, or 1 + the number of a device.
    ///
    /// The mark names the device that was waited for in vain.
    marks: Vec<Buffer<u32>>,
    /// Faults for tests.
    faults: Option<Faults>,
    /// `true` once launches failed midway: the devices no longer agree on their epochs.
    is_broken: AtomicBool,
    /// The locks of a thread that launches kernels of these devices, in one order for all teams.
    ///
    /// The kernels wait for each other.
    order: Vec<Arc<Order>>,
}

/// The lock for launches on a device of kernels that wait for other devices.
///
/// All teams with this device share it.
#[derive(Default)]
struct Order(Mutex<()>);

impl Peers {
    /// Returns the devices with the best way that all allow and that works between all.
    ///
    /// `None` for one device, or if no way works. The log has the reason.
    pub fn of(devices: &[Device]) -> Option<Arc<Self>> {
        if !(2..=FLAGS).contains(&devices.len()) {
            return None;
        }
        // A device that is given twice has only one queue, but its two domains need two.
        if devices.iter().enumerate().any(|(k, device)| devices[..k].contains(device)) {
            return None;
        }
        let ways = devices.iter().map(Device::peer_ways).reduce(|all, ways| all.and(ways))?;
        let way = ways.iter().find(|&way| way.is_memory() && works_between_all(way, devices))?;
        let labels = devices.iter().map(|device| device.label().to_owned()).collect();
        match Self::among(devices, labels, None, way, PATIENCE) {
            Ok(peers) => Some(Arc::new(peers)),
            Err(error) => {
                tracing::warn!("devices tell each other everything through the host: {error}");
                None
            }
        }
    }

    /// Returns the copies by AMD's driver between all of these devices.
    ///
    /// `None` unless all devices allow [`PeerWay::Amd`] and a trial succeeds between every two.
    pub fn copies(devices: &[Device]) -> Option<PeerCopies> {
        let [first, second, ..] = devices else { return None };
        let is_allowed = |device: &Device| device.peer_ways().iter().any(|way| way == PeerWay::Amd);
        let works = devices.iter().all(is_allowed) && works_between_all(PeerWay::Amd, devices);
        if works { PeerCopies::between(first, second).ok() } else { None }
    }

    /// Returns the devices of a team on several ranks.
    ///
    /// `devices` belong to this rank, and `ranks` has the rank of each device. The result is `None` on
    /// all ranks if the devices do not reach each other's memory. No message is sent.
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

    /// Returns the devices of this process among all devices with these labels.
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
        let mut order: Vec<Arc<Order>> = devices.iter().map(Device::kept).collect();
        order.sort_unstable_by_key(Arc::as_ptr);
        let (devices, faults, is_broken) = (devices.to_vec(), None, AtomicBool::new(false));
        Ok(Self { devices, numbers, labels, elsewhere, way, patience, marks, faults, is_broken, order })
    }

    /// Returns the devices with this patience.
    fn renewed(&self, patience: Duration) -> Result<Self> {
        Self::among(&self.devices, self.labels.clone(), self.elsewhere.clone(), self.way, patience)
    }

    /// Returns the devices with this longest time of waiting for each other.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    pub fn with_patience(&self, patience: Duration) -> Result<Arc<Self>> {
        self.renewed(patience).map(Arc::new)
    }

    /// Returns the devices like [`Peers::with_patience`], with a fault, for tests.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    #[doc(hidden)]
    pub fn with_fault(&self, patience: Duration, fault: Fault) -> Result<Arc<Self>> {
        let faults = Some(Faults::new(&self.devices, fault)?);
        Ok(Arc::new(Self { faults, ..self.renewed(patience)? }))
    }

    /// Returns devices whose memory is said to be shared in a way that nobody has tried, for tests.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    #[doc(hidden)]
    pub fn untried(devices: &[Device], way: PeerWay) -> Result<Self> {
        let labels = devices.iter().map(|device| device.label().to_owned()).collect();
        Self::among(devices, labels, None, way, PATIENCE)
    }

    /// Faults for tests.
    pub(super) fn faults(&self) -> Option<&Faults> {
        self.faults.as_ref()
    }

    /// Returns the best way between two devices that both allow and that works.
    ///
    /// The way may be one that copies.
    pub fn link(a: &Device, b: &Device) -> Option<PeerWay> {
        a.peer_ways().and(b.peer_ways()).iter().find(|&way| works_between(way, a, b))
    }

    /// Tries a way between two devices, even if they do not allow the way.
    ///
    /// # Errors
    /// The reason in words, if the way does not work.
    pub fn try_way(way: PeerWay, a: &Device, b: &Device) -> Result<(), String> {
        if way.is_memory() { probe::probe(way, a, b) } else { PeerCopies::probe(a, b) }
    }

    /// Returns the devices of this process, in the order of their numbers.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Returns the numbers of the devices of this process.
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// Returns the number of devices, including devices of other ranks.
    pub fn count(&self) -> usize {
        self.labels.len()
    }

    /// Returns the place of a device among the devices of this process, by its number.
    pub fn place(&self, number: usize) -> Option<usize> {
        self.numbers.iter().position(|&own| own == number)
    }

    /// Returns the label of a device, by its number.
    pub(crate) fn label(&self, number: usize) -> &str {
        self.labels.get(number).map_or("another device", String::as_str)
    }

    /// Waits until every rank calls this. A single rank returns at once.
    ///
    /// # Errors
    /// [`DeviceError::Mpi`].
    pub fn all_are_here(&self) -> Result<()> {
        match &self.elsewhere {
            Some(elsewhere) => Ok(elsewhere.post.world().barrier()?),
            None => Ok(()),
        }
    }

    /// Returns the way between any two of the devices.
    pub fn way(&self) -> PeerWay {
        self.way
    }

    /// Returns the longest time that kernels wait, in milliseconds.
    pub(crate) fn patience(&self) -> u32 {
        self.patience.as_millis().try_into().unwrap_or(u32::MAX)
    }

    /// Returns the mark of a device of this process.
    ///
    /// Kernels of the device write there which device they waited for in vain.
    pub(crate) fn mark(&self, place: usize) -> &Buffer<u32> {
        &self.marks[place]
    }

    /// Locks the order of launches on all devices.
    ///
    /// The locks are held from the first to the last launch of kernels that wait for each other. With the
    /// locks, all devices have these kernels in one order, whatever other threads launch. Other teams may
    /// have some of the devices too.
    #[must_use]
    pub fn in_order(&self) -> Vec<MutexGuard<'_, ()>> {
        self.order.iter().map(|order| lock(&order.0)).collect()
    }

    /// Begins launches on all devices whose kernels wait for each other.
    ///
    /// If the result is dropped before [`Undertaking::is_done`], some devices have launches that others
    /// lack. Then the team is broken for ever, because a later launch would be taken for a missing one.
    ///
    /// # Errors
    /// [`DeviceError::BrokenTeam`].
    pub fn undertaking(self: &Arc<Self>) -> Result<Undertaking> {
        self.expect_whole()?;
        Ok(Undertaking { peers: Some(Arc::clone(self)) })
    }

    fn expect_whole(&self) -> Result<()> {
        match self.is_broken.load(Ordering::Relaxed) {
            true => Err(DeviceError::BrokenTeam { devices: self.labels.clone() }),
            false => Ok(()),
        }
    }

    /// Allocates `len` zeroed elements in the memory of the first of these devices.
    ///
    /// `users` are numbers of devices. The result is one buffer for each user of this process. The ranks
    /// of all users call this, in one order.
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

    /// Allocates `len` zeroed elements in the memory of device `owner`.
    ///
    /// The result is one buffer for each device of this process, in order. Every rank calls this.
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

    /// Waits until all devices have done their commands.
    ///
    /// # Errors
    /// [`DeviceError::PeerTimeout`] if one waited in vain; [`DeviceError::BrokenTeam`].
    pub fn check(&self) -> Result<()> {
        self.expect_whole()?;
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

/// Launches on all devices of a team, of which all or none may be enqueued.
#[must_use]
pub struct Undertaking {
    /// The devices; `None` when all launches are enqueued.
    peers: Option<Arc<Peers>>,
}

impl Undertaking {
    /// Notes that all launches are enqueued and flushed.
    pub fn is_done(mut self) {
        self.peers = None;
    }
}

impl Drop for Undertaking {
    fn drop(&mut self) {
        if let Some(peers) = &self.peers {
            peers.is_broken.store(true, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Peers({} by {})", self.count(), self.way)
    }
}

/// Results of the probe for a device and other open devices.
#[derive(Default)]
struct Probed(Mutex<Vec<(Weak<Core>, PeerWay, bool)>>);

/// Tells whether the probe succeeds between every two devices.
fn works_between_all(way: PeerWay, devices: &[Device]) -> bool {
    let mut pairs = devices.iter().enumerate().flat_map(|(k, a)| devices[..k].iter().map(move |b| (b, a)));
    pairs.all(|(a, b)| works_between(way, a, b))
}

/// Tells whether the probe succeeds. The probe runs once.
fn works_between(way: PeerWay, a: &Device, b: &Device) -> bool {
    let probed = a.kept::<Probed>();
    let other = Arc::as_ptr(b.core());
    // Held while the pair is tried, so that no other thread tries it too.
    let mut probed = lock(&probed.0);
    if let Some(known) = probed.iter().find(|known| known.0.as_ptr() == other && known.1 == way) {
        return known.2;
    }
    let found = Peers::try_way(way, a, b);
    if let Err(reason) = &found {
        tracing::debug!("{} and {} have no memory in common by {way}: {reason}", a.label(), b.label());
    }
    probed.push((Arc::downgrade(b.core()), way, found.is_ok()));
    found.is_ok()
}
