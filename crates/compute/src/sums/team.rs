//! Sums over the devices of a team that stay on the devices.

use super::number::{Number, Slot};
use super::reduction::Reduction;
use crate::error::Result;
use crate::kernel::{Argument, ArgumentList, Range};
use crate::memory::Buffer;
use crate::open::Device;
use crate::peer::{MOST_IN_ARRAY, PeerFlags, PeerKernels, Peers, written};
use crate::select::DeviceKind;
use crate::sync::lock;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

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
    /// Mailboxes for arrays, which share the epochs and the flags.
    array_boxes: Vec<Vec<Buffer<f64>>>,
}

/// Makes arguments for sending those of a team of one device, which is the first.
fn alone(mut send: [Argument<'_>; 11]) -> [Argument<'_>; 11] {
    (send[6], send[7]) = (Argument::value(0_u32), Argument::value(1_u32));
    send
}

/// Work-items of the kernels that add arrays.
///
/// On a processor they take turns, and one is enough.
fn array_range(device: &Device) -> Range {
    Range::groups(1, if device.info().kind == DeviceKind::Cpu { 1 } else { 256 })
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
        let boxes = |doubles: usize| -> Result<Vec<Vec<Buffer<f64>>>> {
            (0..count).map(|owner| peers.memory_of(owner, 2 * count * doubles)).collect()
        };
        let (boxes, array_boxes) = (boxes(SLOT_DOUBLES)?, boxes(MOST_IN_ARRAY)?);
        let state = State { epoch: 0, flags: PeerFlags::new(peers)?, boxes, array_boxes };
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
            let [sums, slot] = own.arguments();
            let kernels = &self.kernels[place];
            let mark = self.peers.mark(place);
            let send =
                || alone(state.send_arguments(&state.boxes, [sums, slot], [by, place], [by, by], 0, mark));
            kernels.send.start(Range::groups(1, 1), &send())?;
            let add = self.add_arguments(&state, &state.boxes, slot, place);
            kernels.add.start(Range::groups(1, 1), ArgumentList::new(send()).and(add).as_slice())?;
            let (part, mut total) = (Buffer::<f64>::zeroed(device, 1)?, Buffer::<f64>::zeroed(device, 1)?);
            let part = [Argument::from(&part), Argument::value(1_u32)];
            let send =
                || alone(state.send_arguments(&state.array_boxes, part, [by, place], [by, by], 0, mark));
            kernels.send_array.start(array_range(device), &send())?;
            let add = self.add_arguments(&state, &state.array_boxes, Argument::from(&mut total), place);
            kernels.add_array.start(array_range(device), ArgumentList::new(send()).and(add).as_slice())?;
            device.finish()?;
        }
        Ok(())
    }

    /// Returns the arguments of a kernel that adds, behind those for sending.
    fn add_arguments<'a>(
        &'a self,
        state: &'a State,
        boxes: &'a [Vec<Buffer<f64>>],
        to: Argument<'a>,
        place: usize,
    ) -> [Argument<'a>; 4] {
        let by = self.peers.numbers()[place];
        [
            to,
            Argument::from(&boxes[by][place]),
            state.flags.argument(by, by),
            Argument::value(self.peers.patience()),
        ]
    }

    /// Has all devices meet: they send their sums, wait for those of the others, and add.
    ///
    /// `own` gives the sums of a device of this process and their number, and `to` the place of the
    /// totals.
    fn meet<'a>(
        &self,
        state: &'a mut State,
        arrays: bool,
        own: impl Fn(usize) -> [Argument<'a>; 2],
        mut to: impl FnMut(usize) -> Argument<'a>,
    ) -> Result<()> {
        let _order = self.peers.in_order();
        let undertaking = self.peers.undertaking()?;
        state.epoch = state.epoch.wrapping_add(1);
        let state = &*state;
        let boxes = if arrays { &state.array_boxes } else { &state.boxes };
        for (place, device) in self.peers.devices().iter().enumerate() {
            let kernels = &self.kernels[place];
            let (send, add, range) = match arrays {
                true => (&kernels.send_array, &kernels.add_array, array_range(device)),
                false => (&kernels.send, &kernels.add, Range::groups(1, 1)),
            };
            let by = self.peers.numbers()[place];
            let others: Vec<usize> = (0..self.peers.count()).filter(|&other| other != by).collect();
            let told = state.flags.told(by, state.epoch)?;
            let mut targets = others.chunks(2).peekable();
            while let Some(at) = targets.next() {
                let at = [at[0], at[at.len() - 1]];
                let mark = self.peers.mark(place);
                let arguments = state.send_arguments(boxes, own(place), [by, place], at, told, mark);
                if targets.peek().is_some() {
                    send.start(range, &arguments)?;
                    continue;
                }
                let rest = self.add_arguments(state, boxes, to(place), place);
                add.start(range, ArgumentList::new(arguments).and(rest).as_slice())?;
            }
            device.flush_launches()?;
        }
        undertaking.is_done();
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
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl);
    /// [`DeviceError::BrokenTeam`](crate::DeviceError::BrokenTeam).
    ///
    /// # Panics
    /// Unless there is one launch on each device of this process, in their order.
    pub fn add(&self, running: Vec<Reduction>) -> Result<[Number; 2]> {
        let devices = self.peers.devices();
        assert!(running.iter().map(Reduction::device).eq(devices), "a launch on each device");
        let total = Slot::on_all(devices)?;
        // The next sums of these devices, by whatever thread, come behind these on every device.
        let state = &mut *lock(&self.state);
        let own = |place: usize| running[place].slot().arguments();
        let to = |place: usize| total.arguments_on(place)[1];
        self.meet(state, false, own, to)?;
        Ok(Number::of_slot(total))
    }

    /// Adds equally long arrays, one on each device, like [`add`](Self::add).
    ///
    /// All devices get the same totals.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    ///
    /// # Panics
    /// Unless there are two arrays on each device of this process, in their order, of the same
    /// length up to [`MOST_IN_ARRAY`].
    pub fn add_arrays(&self, parts: &[&Buffer<f64>], totals: &mut [Buffer<f64>]) -> Result<()> {
        let devices = self.peers.devices();
        assert!(parts.iter().map(|part| part.device()).eq(devices), "an array on each device");
        assert!(totals.iter().map(Buffer::device).eq(devices), "an array for the totals on each device");
        let count = parts.first().map_or(0, |part| part.len());
        let lengths = parts.iter().map(|part| part.len()).chain(totals.iter().map(Buffer::len));
        assert!(lengths.clone().all(|length| length == count) && count <= MOST_IN_ARRAY, "lengths of arrays");
        let state = &mut *lock(&self.state);
        let own = |place: usize| [Argument::from(parts[place]), Argument::value(count as u32)];
        let mut totals = totals.iter_mut();
        let to = |_| Argument::from(totals.next().expect("an array on each device"));
        self.meet(state, true, own, to)
    }
}

/// One sum over a team, by kernels that make the sums of their device and meet.
///
/// No other thread of this process begins a sum of these devices before the meeting is dropped.
pub struct Meeting<'a> {
    sums: &'a TeamSums,
    state: MutexGuard<'a, State>,
    /// The slot of the sum on all devices; `None` before [`begin`](Self::begin).
    total: Option<Slot>,
}

impl TeamSums {
    /// Most devices whose kernels can meet by [`Meeting`].
    pub const MOST_MEETING: usize = 3;

    /// Prepares a sum; `None` for more devices than [`MOST_MEETING`](Self::MOST_MEETING).
    ///
    /// The lock of [`Peers::in_order`] comes later.
    pub fn meeting(&self) -> Option<Meeting<'_>> {
        let few = self.peers.count() <= Self::MOST_MEETING;
        few.then(|| Meeting { sums: self, state: lock(&self.state), total: None })
    }
}

impl Meeting<'_> {
    /// Begins the sum. The next kernel with [`arguments`](Self::arguments) on each device is part of it.
    ///
    /// # Errors
    /// [`DeviceError::TooManySums`](crate::DeviceError::TooManySums).
    pub fn begin(&mut self) -> Result<()> {
        self.total = Some(Slot::on_all(self.sums.peers.devices())?);
        self.state.epoch = self.state.epoch.wrapping_add(1);
        Ok(())
    }

    /// Returns the arguments of a kernel that meets, of the device at a place.
    ///
    /// The kernel contains [`MAILBOX_SOURCE`](crate::MAILBOX_SOURCE). `cl/stencil/halo.cl` has the
    /// parameters.
    ///
    /// Slot 0 stands for a launch that does not meet, before the sum has begun.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn arguments(&self, place: usize) -> Result<[Argument<'_>; 10]> {
        let (state, peers) = (&*self.state, &self.sums.peers);
        let by = peers.numbers()[place];
        let mut others = (0..peers.count()).filter(|&other| other != by);
        let one = others.next().unwrap_or(by);
        let at = [one, others.next().unwrap_or(one)];
        let [boxes_one, boxes_other] = at.map(|at| written(&state.boxes[at][place]));
        let [flags_one, flags_other] = at.map(|at| state.flags.argument(at, by));
        let (slot, told) = match &self.total {
            Some(total) => (total.index(), state.flags.told(by, state.epoch)?),
            None => (0, state.epoch),
        };
        let [devices, epoch, told, slot] =
            [state.boxes.len() as u32, state.epoch, told, slot].map(Argument::value);
        let [boxes, flags] = [Argument::from(&state.boxes[by][place]), state.flags.argument(by, by)];
        Ok([boxes_one, boxes_other, flags_one, flags_other, devices, epoch, told, slot, boxes, flags])
    }

    /// Returns the sums over the team, if the meeting has begun.
    ///
    /// The host waits for nothing. The sums are those of [`TeamSums::add`].
    pub fn numbers(self) -> Option<[Number; 2]> {
        self.total.map(Number::of_slot)
    }
}

impl State {
    /// Returns the arguments of a kernel that sends sums to two devices.
    ///
    /// The kernel runs on the device with number `by` at `place`. It sends its own sums to the
    /// devices `at`, and tells them this epoch.
    fn send_arguments<'a>(
        &'a self,
        boxes: &'a [Vec<Buffer<f64>>],
        [sums, own]: [Argument<'a>; 2],
        [by, place]: [usize; 2],
        at: [usize; 2],
        told: u32,
        mark: &'a Buffer<u32>,
    ) -> [Argument<'a>; 11] {
        let [to, other] = at.map(|at| written(&boxes[at][place]));
        let [flags, other_flags] = at.map(|at| self.flags.argument(at, by));
        let [by, devices] = [by, boxes.len()].map(|number| Argument::value(number as u32));
        let [epoch, told] = [self.epoch, told].map(Argument::value);
        [sums, own, to, other, flags, other_flags, by, devices, epoch, told, written(mark)]
    }
}

impl fmt::Debug for TeamSums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TeamSums({:?})", self.peers)
    }
}
