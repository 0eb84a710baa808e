//! Sums over the devices of a team that stay on the devices.

use super::number::{Number, Slot};
use super::reduction::Reduction;
use crate::error::Result;
use crate::kernel::{Argument, Range};
use crate::memory::Buffer;
use crate::peer::{PeerFlags, PeerKernels, Peers, written};
use crate::sync::lock;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Doubles of a slot, which a box of a mailbox has as well.
const SLOT_DOUBLES: usize = 4;

/// Mailboxes in the memory of each device, into which the others send their sums. All add them in one order, so all know the same bits.
///
/// A mailbox has a box for each device in each of two epochs. Every device sends to every other one in each epoch, and adds before it
/// sends in the next, so nothing is written over before it was read.
pub struct TeamSums {
    peers: Arc<Peers>,
    kernels: Vec<Arc<PeerKernels>>,
    state: Mutex<State>,
}

struct State {
    epoch: u32,
    flags: PeerFlags,
    /// The mailbox of each device, as all see it.
    boxes: Vec<Vec<Buffer<f64>>>,
}

impl TeamSums {
    /// Mailboxes for devices whose kernels wait for each other.
    ///
    /// # Errors
    /// [`DeviceError::PeerMemory`](crate::DeviceError::PeerMemory); those of compiling.
    pub fn new(peers: &Arc<Peers>) -> Result<Self> {
        let count = peers.devices().len();
        let boxes = (0..count).map(|owner| peers.memory_of(owner, 2 * count * SLOT_DOUBLES));
        let state = State { epoch: 0, flags: PeerFlags::new(peers)?, boxes: boxes.collect::<Result<_>>()? };
        let kernels = peers.devices().iter().map(PeerKernels::of).collect::<Result<_>>()?;
        Ok(Self { peers: Arc::clone(peers), kernels, state: Mutex::new(state) })
    }

    /// Adds the sums of a launch on each device, in the order of the devices. Nobody waits on the host.
    ///
    /// A device that waits in vain has no number as the sum; [`Peers::check`] tells for whom it waited.
    ///
    /// # Errors
    /// [`DeviceError::TooManySums`](crate::DeviceError::TooManySums); [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    ///
    /// # Panics
    /// When there is not one launch on each device, in their order.
    pub fn add(&self, running: Vec<Reduction>) -> Result<[Number; 2]> {
        let devices = self.peers.devices();
        assert!(running.iter().map(Reduction::device).eq(devices), "a launch on each device");
        let total = Slot::on_all(devices)?;
        let count = devices.len();
        // The next sums of these devices, by whatever thread, come behind these on every device.
        let State { epoch, flags, boxes } = &mut *lock(&self.state);
        *epoch = epoch.wrapping_add(1);
        let (epoch, devices_value) = (Argument::value(*epoch), Argument::value(count as u32));
        for (by, (reduction, device)) in running.iter().zip(devices).enumerate() {
            let [sums, slot] = reduction.slot().arguments();
            for at in (0..count).filter(|&at| at != by) {
                let mailbox = Argument::from(&mut boxes[at][by]);
                let from = Argument::value(by as u32);
                self.kernels[by].send.start(
                    Range::groups(1, 1),
                    &[sums, slot, mailbox, flags.argument(at, by), from, devices_value, epoch],
                )?;
            }
            device.flush()?;
        }
        for (on, reduction) in running.iter().enumerate() {
            let [_, own] = reduction.slot().arguments();
            let [sums, slot] = total.arguments_on(on);
            let mailbox = Argument::from(&boxes[on][on]);
            self.kernels[on].add.start(
                Range::groups(1, 1),
                &[
                    sums,
                    slot,
                    own,
                    mailbox,
                    flags.argument(on, on),
                    Argument::value(on as u32),
                    devices_value,
                    epoch,
                    Argument::value(self.peers.patience()),
                    written(self.peers.mark(on)),
                ],
            )?;
        }
        Ok(Number::of_slot(total))
    }
}

impl fmt::Debug for TeamSums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TeamSums({:?})", self.peers)
    }
}
