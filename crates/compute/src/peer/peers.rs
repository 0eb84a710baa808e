//! The devices of a team that reach each other's memory.

use super::faults::{Fault, Faults};
use super::kernels::FLAGS;
use super::memory::shared;
use super::probe;
use crate::error::{DeviceError, Result};
use crate::memory::Buffer;
use crate::open::{Device, PeerWay};
use crate::queue::Core;
use crate::sync::lock;
use bytemuck::Pod;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

/// How long a kernel waits for another device at most: as long as that may be busy with what others gave it to do.
const PATIENCE: Duration = Duration::from_secs(10);

/// Devices that all reach each other's memory in one way, which has been tried.
pub struct Peers {
    devices: Vec<Device>,
    way: PeerWay,
    patience: Duration,
    /// On each device whom it waited for in vain: the number of the device and 1; 0 before.
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
        match Self::new(devices, way, PATIENCE) {
            Ok(peers) => Some(Arc::new(peers)),
            Err(error) => {
                tracing::warn!("devices tell each other everything through the host: {error}");
                None
            }
        }
    }

    fn new(devices: &[Device], way: PeerWay, patience: Duration) -> Result<Self> {
        let marks = devices.iter().map(|device| Buffer::zeroed(device, 1)).collect::<Result<_>>()?;
        Ok(Self { devices: devices.to_vec(), way, patience, marks, faults: None, order: Mutex::default() })
    }

    /// The same devices with kernels that wait for each other no longer than this.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    pub fn with_patience(&self, patience: Duration) -> Result<Arc<Self>> {
        Ok(Arc::new(Self::new(&self.devices, self.way, patience)?))
    }

    /// As [`Peers::with_patience`], with something that goes wrong: for tests.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    #[doc(hidden)]
    pub fn with_fault(&self, patience: Duration, fault: Fault) -> Result<Arc<Self>> {
        let faults = Some(Faults::new(&self.devices, fault)?);
        Ok(Arc::new(Self { faults, ..Self::new(&self.devices, self.way, patience)? }))
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

    /// The devices.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// The way between any two of them.
    pub fn way(&self) -> PeerWay {
        self.way
    }

    /// How long kernels wait at most, in milliseconds.
    pub(crate) fn patience(&self) -> u32 {
        self.patience.as_millis().try_into().unwrap_or(u32::MAX)
    }

    /// Where the kernels of a device leave whom they waited for in vain.
    pub(crate) fn mark(&self, device: usize) -> &Buffer<u32> {
        &self.marks[device]
    }

    /// To be held from the first launch on a device to the last one on another, where kernels of other devices wait for these: so all devices have them in one
    /// order, whatever other threads launch.
    pub fn in_order(&self) -> MutexGuard<'_, ()> {
        lock(&self.order)
    }

    /// `len` zeroed elements in the memory of the first of these devices, numbers of the team, as a buffer of each.
    ///
    /// # Errors
    /// [`DeviceError::PeerMemory`].
    pub fn memory<T: Pod>(&self, users: &[usize], len: usize) -> Result<Vec<Buffer<T>>> {
        let users: Vec<&Device> = users.iter().map(|&user| &self.devices[user]).collect();
        shared(self.way, &users, len)
    }

    /// `len` zeroed elements in the memory of device `owner`, as a buffer of every device, in their order.
    ///
    /// # Errors
    /// [`DeviceError::PeerMemory`].
    pub fn memory_of<T: Pod>(&self, owner: usize, len: usize) -> Result<Vec<Buffer<T>>> {
        let others = (0..self.devices.len()).filter(|&other| other != owner);
        let mut buffers = self.memory(&std::iter::once(owner).chain(others).collect::<Vec<_>>(), len)?;
        let own = buffers.remove(0);
        buffers.insert(owner, own);
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
                let awaited = self.devices.get(awaited).map_or("another device", Device::label);
                return Err(DeviceError::PeerTimeout {
                    waiter: waiter.label().to_owned(),
                    awaited: awaited.to_owned(),
                    seconds: self.patience.as_secs_f64(),
                });
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Peers({} by {})", self.devices.len(), self.way)
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
