//! Faces that neighbouring domains exchange, with their buffers.

use super::courier::{Courier, Staging};
use crate::compute::{Buffer, DeviceError, Event, PeerFlags, Pending, PinnedBuffer};
use crate::geometry::{NDIM, Neighbours};
use bytemuck::Pod;
use std::ops::Range;

/// The face of a domain that a message goes through.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Behind,
    Ahead,
}

impl Side {
    pub const BOTH: [Self; 2] = [Self::Behind, Self::Ahead];

    pub fn of<R>(self, faces: &mut Faces<R>) -> &mut Face<R> {
        match self {
            Side::Behind => &mut faces.behind,
            Side::Ahead => &mut faces.ahead,
        }
    }

    pub fn opposite(self) -> Self {
        match self {
            Side::Behind => Side::Ahead,
            Side::Ahead => Side::Behind,
        }
    }

    pub fn neighbour(self, neighbours: &Neighbours) -> [usize; NDIM] {
        match self {
            Side::Behind => neighbours.behind,
            Side::Ahead => neighbours.ahead,
        }
    }
}

/// The faces of all domains of this process.
///
/// A [`Communicator`](super::communicator::Communicator) makes them.
pub(crate) struct Exchange<R> {
    /// The faces of each domain in the cut directions, in the order of domains.
    pub domains: Vec<Vec<Faces<R>>>,
    /// Counts the exchanges.
    pub(super) epoch: u32,
    /// The flags by which devices wait for each other, unless the host waits.
    pub(super) flags: Option<PeerFlags>,
    /// Counters of the work-groups of each domain that have packed, if there are flags.
    pub(super) groups_done: Vec<Buffer<u32>>,
    /// Messages on their way to the host, until an exchange is finished.
    pub(super) messages: Vec<Message<Pending<PinnedBuffer<R>>>>,
    /// Messages that couriers carry, each by the courier of its place, until an exchange is finished.
    pub(super) carried: Vec<Message<()>>,
    /// Threads for messages, kept from one exchange to the next.
    pub(super) couriers: Vec<Courier<R>>,
    /// Copies by the driver, until an exchange is finished.
    pub(super) copies: Vec<Event>,
}

/// The data that a domain sends or receives through one face.
pub(super) struct Message<M> {
    /// The place of the domain among the domains of this process.
    pub domain: usize,
    /// The place of the direction among the cut directions.
    pub direction: usize,
    pub side: Side,
    /// The elements of the buffers.
    pub elements: Range<usize>,
    /// The memory of the data.
    pub data: M,
}

impl<R> Exchange<R> {
    pub(super) fn new(domains: Vec<Vec<Faces<R>>>, flags: Option<PeerFlags>) -> Self {
        Self {
            domains,
            epoch: 0,
            flags,
            groups_done: Vec::new(),
            messages: Vec::new(),
            carried: Vec::new(),
            couriers: Vec::new(),
            copies: Vec::new(),
        }
    }

    /// Begins the next exchange, for which [`Face::sent`] is written.
    pub fn begin(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }
}

/// The two faces of a domain across one direction.
pub(crate) struct Faces<R> {
    /// The direction.
    pub mu: usize,
    /// The face before the first slice.
    pub behind: Face<R>,
    /// The face after the last slice.
    pub ahead: Face<R>,
    /// The data that both faces send next, after packing.
    pub packed: Option<Packed>,
    /// The domains behind and ahead.
    pub(super) beside: [usize; 2],
}

/// The data that a domain received across one direction.
pub(crate) struct Received<'a, R> {
    pub ahead: &'a Buffer<R>,
    pub behind: &'a Buffer<R>,
    /// The domains ahead and behind, if there are flags to wait for.
    pub beside: Option<[u32; 2]>,
}

/// The data that a domain received across one direction, and the buffers to send behind and ahead.
pub(crate) type FacesOfLaunch<'a, R> = (Received<'a, R>, [&'a mut Buffer<R>; 2]);

/// The data that a domain sends through both of its faces.
pub(crate) struct Packed {
    /// The event after packing, if the host needs it.
    pub event: Option<Event>,
    /// The elements of the buffers.
    pub elements: Range<usize>,
}

/// The buffers of one face.
///
/// Several exchanges may take turns with as many buffers.
pub(crate) struct Face<R> {
    /// Data for the neighbour, in buffers of the domain's device.
    ///
    /// A buffer may stand for memory of the neighbour.
    pub(super) sent: Vec<Buffer<R>>,
    /// Data from the neighbour.
    pub(super) received: Vec<Buffer<R>>,
    /// Pinned memory of the last message to the neighbour.
    staging: Option<Staging<R>>,
    /// The last message from the neighbour, on its way to the device.
    arriving: Option<Pending<PinnedBuffer<R>>>,
}

impl<R> Faces<R> {
    /// Makes a face without buffers, which are added later.
    pub(super) fn empty(mu: usize, neighbours: &Neighbours) -> Self {
        let face = || Face { sent: Vec::new(), received: Vec::new(), staging: None, arriving: None };
        let beside = [neighbours.behind[mu], neighbours.ahead[mu]];
        Self { mu, behind: face(), ahead: face(), packed: None, beside }
    }

    /// Returns the received faces of an exchange, and the faces to send behind and ahead.
    pub fn of_launch(&mut self, epoch: u32, has_flags: bool) -> FacesOfLaunch<'_, R> {
        let beside = has_flags.then(|| {
            let [behind, ahead] = self.beside.map(|domain| domain as u32);
            [ahead, behind]
        });
        let ((behind, to_behind), (ahead, to_ahead)) =
            (self.behind.of_launch(epoch), self.ahead.of_launch(epoch));
        (Received { ahead, behind, beside }, [to_behind, to_ahead])
    }
}

impl<R> Face<R> {
    /// Returns the buffer to send in this exchange.
    pub fn sent(&mut self, epoch: u32) -> &mut Buffer<R> {
        let turn = epoch as usize % self.sent.len();
        &mut self.sent[turn]
    }

    /// Returns the received buffer of this exchange, and the one to send.
    pub fn of_launch(&mut self, epoch: u32) -> (&Buffer<R>, &mut Buffer<R>) {
        let Self { sent, received, .. } = self;
        let [turn, sent_turn] = [received.len(), sent.len()].map(|len| epoch as usize % len);
        (&received[turn], &mut sent[sent_turn])
    }

    pub(super) fn received_mut(&mut self, epoch: u32) -> &mut Buffer<R> {
        let turn = epoch as usize % self.received.len();
        &mut self.received[turn]
    }

    /// Takes out the buffers of received data, for [`Face::give_received`] soon.
    pub(super) fn take_received(&mut self) -> Vec<Buffer<R>> {
        std::mem::take(&mut self.received)
    }

    pub(super) fn give_received(&mut self, buffers: Vec<Buffer<R>>) {
        self.received = buffers;
    }

    /// Keeps the memory of a message that has been sent.
    pub(super) fn keep(&mut self, message: PinnedBuffer<R>) {
        self.staging = Some(Staging::Free(message));
    }
}

impl<R: Pod> Face<R> {
    /// Starts to bring the next message to the neighbour to pinned memory, after `packed`.
    pub(super) fn read_start(
        &mut self,
        elements: Range<usize>,
        packed: &[&Event],
        epoch: u32,
    ) -> Result<Pending<PinnedBuffer<R>>, DeviceError> {
        let new = || PinnedBuffer::zeroed(self.sent[0].device(), self.sent[0].len()).map(Staging::Free);
        let staging = self.staging.take().map_or_else(new, Ok)?;
        let message = self.sent(epoch).slice(elements)?;
        match staging {
            Staging::Free(memory) => memory.read_start_from(message, packed),
            Staging::Busy(last) => last.read_start_from(message, packed),
        }
    }

    /// Keeps a message that is on its way to the neighbour.
    pub(super) fn pass(&mut self, message: Pending<PinnedBuffer<R>>) {
        self.staging = Some(Staging::Busy(message));
    }

    /// Returns pinned memory for the next message from the neighbour.
    pub(super) fn arrival_staging(&mut self) -> Result<Staging<R>, DeviceError> {
        let new = || PinnedBuffer::zeroed(self.received[0].device(), self.received[0].len());
        self.arriving.take().map_or_else(|| new().map(Staging::Free), |last| Ok(Staging::Busy(last)))
    }

    /// Starts to bring a message from pinned memory of this device to the device.
    ///
    /// Returns the event after which the message is there.
    pub(super) fn receive(
        &mut self,
        message: PinnedBuffer<R>,
        elements: Range<usize>,
        epoch: u32,
    ) -> Result<Event, DeviceError> {
        let to = self.received_mut(epoch).slice_mut(elements)?;
        let arriving = message.write_start_to(to, &[])?;
        let event = arriving.event().clone();
        self.arriving = Some(arriving);
        Ok(event)
    }
}

/// Makes later commands of each domain's device wait for the domain's messages.
///
/// # Errors
/// If a driver refuses.
pub(super) fn compute_after_arrivals<R: Pod>(
    domains: &mut [Vec<Faces<R>>],
    arrivals: &[Vec<Event>],
    epoch: u32,
) -> Result<(), DeviceError> {
    for (all, arrivals) in domains.iter_mut().zip(arrivals) {
        if let Some(faces) = all.first_mut() {
            let device = faces.ahead.sent(epoch).device().clone();
            device.compute_after(&arrivals.iter().collect::<Vec<_>>())?;
        }
    }
    Ok(())
}
