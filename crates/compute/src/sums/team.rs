//! Sums over the devices of a team that stay on the devices.

use super::number::{Number, Slot};
use super::reduction::Reduction;
use crate::error::Result;
use crate::kernel::{Argument, ArgumentList, Range};
use crate::memory::Buffer;
use crate::peer::{PeerFlags, PeerKernels, Peers, written};
use crate::sync::lock;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Number of doubles in a slot, and in a box of a mailbox.
const SLOT_DOUBLES: usize = 4;

/// Sums over a team by mailboxes in the memory of each device.
///
/// Each device sends its sums to the mailboxes of the others. All devices add in one order, so all
/// have the same bits.
///
/// A mailbox has a box for each device in each of two epochs. In each epoch every device sends to
/// every other one. It adds before it sends in the next epoch. So nothing is overwritten before it
/// was read.
///
/// One launch of a device sends its sums, waits for the sums of the others, and adds. So the
/// launches of one sum wait for each other. No other launches of the team may come between them:
/// see [`Peers::in_order`].
pub struct TeamSums {
    peers: Arc<Peers>,
    kernels: Vec<Arc<PeerKernels>>,
    state: Mutex<State>,
}

struct State {
    epoch: u32,
    flags: PeerFlags,
    /// The mailbox of each device, as the devices of this process see it.
    boxes: Vec<Vec<Buffer<f64>>>,
}

impl TeamSums {
    /// Makes mailboxes for devices whose kernels wait for each other.
    ///
    /// Every rank calls this.
    ///
    /// # Errors
    /// [`DeviceError::PeerMemory`](crate::DeviceError::PeerMemory), and the errors of compilation.
    pub fn new(peers: &Arc<Peers>) -> Result<Self> {
        let count = peers.count();
        let boxes = (0..count).map(|owner| peers.memory_of(owner, 2 * count * SLOT_DOUBLES));
        let state = State { epoch: 0, flags: PeerFlags::new(peers)?, boxes: boxes.collect::<Result<_>>()? };
        let kernels = peers.devices().iter().map(PeerKernels::of).collect::<Result<_>>()?;
        let sums = Self { peers: Arc::clone(peers), kernels, state: Mutex::new(state) };
        // The host waits for a first launch, which then must not wait for other devices.
        sums.launch_alone()?;
        // The launch has written flags of its own, which others raise from now on.
        peers.all_are_here()?;
        Ok(sums)
    }

    /// Launches the kernels of each device once as if it were alone.
    fn launch_alone(&self) -> Result<()> {
        let state = lock(&self.state);
        for (place, (&by, device)) in self.peers.numbers().iter().zip(self.peers.devices()).enumerate() {
            let own = device.slot()?;
            let mut send = state.send_arguments(&own, [by, place], [by, by], 0);
            // A team of one device, which is the first.
            (send[6], send[7]) = (Argument::value(0_u32), Argument::value(1_u32));
            self.kernels[place].send.start(Range::groups(1, 1), &send)?;
            let [_, slot] = own.arguments();
            let [boxes, flags] = [written(&state.boxes[by][place]), state.flags.argument(by, by)];
            let patience = Argument::value(self.peers.patience());
            let add = [slot, boxes, flags, patience, written(self.peers.mark(place))];
            self.kernels[place]
                .add
                .start(Range::groups(1, 1), ArgumentList::new(send).and(add).as_slice())?;
            device.finish()?;
        }
        Ok(())
    }

    /// Adds the sums of a launch on each device, in the order of device numbers.
    ///
    /// The host does not wait. Every rank gives the launches of its own devices, and gets the sum
    /// of all.
    ///
    /// The sum is NaN on a device that waits in vain. [`Peers::check`] tells which device it waited
    /// for.
    ///
    /// # Errors
    /// [`DeviceError::TooManySums`](crate::DeviceError::TooManySums);
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    ///
    /// # Panics
    /// Unless there is one launch on each device of this process, in their order.
    pub fn add(&self, running: Vec<Reduction>) -> Result<[Number; 2]> {
        let devices = self.peers.devices();
        assert!(running.iter().map(Reduction::device).eq(devices), "a launch on each device");
        let total = Slot::on_all(devices)?;
        // The next sums of these devices, by whatever thread, come behind these on every device.
        let state = &mut *lock(&self.state);
        let _order = self.peers.in_order();
        state.epoch = state.epoch.wrapping_add(1);
        for (place, (reduction, device)) in running.iter().zip(devices).enumerate() {
            let by = self.peers.numbers()[place];
            let others: Vec<usize> = (0..self.peers.count()).filter(|&other| other != by).collect();
            let told = state.flags.told(by, state.epoch)?;
            let mut targets = others.chunks(2).peekable();
            while let Some(at) = targets.next() {
                let at = [at[0], at[at.len() - 1]];
                let send = state.send_arguments(reduction.slot(), [by, place], at, told);
                if targets.peek().is_some() {
                    self.kernels[place].send.start(Range::groups(1, 1), &send)?;
                    continue;
                }
                let [_, slot] = total.arguments_on(place);
                let add = [
                    slot,
                    Argument::from(&state.boxes[by][place]),
                    state.flags.argument(by, by),
                    Argument::value(self.peers.patience()),
                    written(self.peers.mark(place)),
                ];
                let arguments = ArgumentList::new(send).and(add);
                self.kernels[place].add.start(Range::groups(1, 1), arguments.as_slice())?;
            }
            device.flush_launches()?;
        }
        Ok(Number::of_slot(total))
    }
}

impl State {
    /// Returns the arguments of a kernel that sends sums to two devices.
    ///
    /// The kernel runs on the device with number `by` at `place`. It sends the sums of a slot to
    /// the devices `at`, and tells them this epoch.
    fn send_arguments<'a>(
        &'a self,
        own: &'a Slot,
        [by, place]: [usize; 2],
        at: [usize; 2],
        told: u32,
    ) -> [Argument<'a>; 10] {
        let [sums, slot] = own.arguments();
        let [boxes, other_boxes] = at.map(|at| written(&self.boxes[at][place]));
        let [flags, other_flags] = at.map(|at| self.flags.argument(at, by));
        let [by, devices] = [by, self.boxes.len()].map(|number| Argument::value(number as u32));
        let [epoch, told] = [self.epoch, told].map(Argument::value);
        [sums, slot, boxes, other_boxes, flags, other_flags, by, devices, epoch, told]
    }
}

impl fmt::Debug for TeamSums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TeamSums({:?})", self.peers)
    }
}
