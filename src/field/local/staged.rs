//! Faces that go through pinned memory of the host.
//!
//! This is for devices without a common context: those of two platforms, and those that were opened
//! one by one. A message waits for its kernels on the devices. The host carries the message between the
//! events of two devices. Events alone cannot. A user event, set by a callback, could tie two contexts.
//! While a command waits for a user event, nobody may release memory (OpenCL 1.2, section 5.9).
//!
//! So the host waits. Meanwhile the devices compute the sites that need no message: the stencil of
//! these sites is launched between `start` and `finish`.
//!
//! Each face has pinned memory of its own device for messages that leave, and for messages that
//! arrive. The host copies from one to the other. A driver copies at full speed from pinned memory of
//! its own context alone. Large messages are copied by threads, one for each message.

use crate::compute::{Buffer, DeviceError, Event, PinnedBuffer};
use crate::field::courier::{Copied, Courier};
use crate::field::faces::{Exchange, Face, Faces, Message, Packed, Side, compute_after_arrivals};
use crate::geometry::{Neighbours, Shard};
use bytemuck::Pod;

/// Bytes of a message that threads carry. To copy less takes less time than to wake a thread.
const CARRIED: usize = 128 << 10;

/// Makes faces whose buffers belong to one device each.
///
/// Each face sends from so many buffers and receives in as many, used in turn.
pub(in crate::field) fn faces<R: Pod>(
    neighbours: &[Neighbours],
    shards: &[Shard],
    turns: usize,
    numbers: impl Fn(&Shard, usize) -> usize,
) -> Result<Exchange<R>, DeviceError> {
    let of_domain = |(shard, neighbours): (&Shard, &Neighbours)| {
        let of_direction = |mu| {
            let mut faces = Faces::empty(mu, neighbours);
            for side in Side::BOTH {
                let Face { sent, received, .. } = side.of(&mut faces);
                for _ in 0..turns {
                    sent.push(Buffer::zeroed(&shard.device, numbers(shard, mu))?);
                    received.push(Buffer::zeroed(&shard.device, numbers(shard, mu))?);
                }
            }
            Ok(faces)
        };
        shard.domain.cut_directions().map(of_direction).collect()
    };
    let domains = shards.iter().zip(neighbours).map(of_domain).collect::<Result<_, DeviceError>>()?;
    Ok(Exchange::new(domains, None))
}

/// Starts to bring the faces that are being packed to the host.
pub(in crate::field) fn start<R: Pod>(exchange: &mut Exchange<R>) -> Result<(), DeviceError> {
    // Messages of an application that failed. Dropping the messages waits for them.
    exchange.messages.clear();
    if !exchange.carried.is_empty() {
        exchange.carried.clear();
        exchange.couriers.clear();
    }
    let epoch = exchange.epoch;
    for (domain, all) in exchange.domains.iter_mut().enumerate() {
        for (direction, faces) in all.iter_mut().enumerate() {
            let Some(Packed { event, elements }) = faces.packed.take() else { continue };
            let packed: Vec<&Event> = event.iter().collect();
            for side in Side::BOTH {
                let data = side.of(faces).read_start(elements.clone(), &packed, epoch)?;
                exchange.messages.push(Message { domain, direction, side, elements: elements.clone(), data });
            }
        }
    }
    Ok(())
}

/// Gives large messages between domains of this process to threads.
///
/// Messages without a thread stay where they are.
pub(super) fn carry<R: Pod + Send>(
    neighbours: &[Neighbours],
    exchange: &mut Exchange<R>,
) -> Result<(), DeviceError> {
    for message in std::mem::take(&mut exchange.messages) {
        let Message { domain, direction, side, elements, data } = message;
        let place = exchange.carried.len();
        let is_large = size_of::<R>() * elements.len() >= CARRIED;
        if is_large && exchange.couriers.len() == place {
            exchange.couriers.extend(Courier::start());
        }
        let data = match exchange.couriers.get(place).filter(|_| is_large) {
            Some(courier) => {
                let neighbour = side.neighbour(&neighbours[domain])[exchange.domains[domain][direction].mu];
                let to = side.opposite().of(&mut exchange.domains[neighbour][direction]);
                courier.carry(data, to.arrival_staging()?, elements.len())
            }
            None => Err(data),
        };
        match data {
            Ok(()) => exchange.carried.push(Message { domain, direction, side, elements, data: () }),
            Err(data) => exchange.messages.push(Message { domain, direction, side, elements, data }),
        }
    }
    Ok(())
}

/// Waits for each message and starts to bring it to the neighbour.
///
/// Kernels of the neighbours that are launched from now on find the messages.
pub(super) fn finish<R: Pod + Send>(
    neighbours: &[Neighbours],
    exchange: &mut Exchange<R>,
) -> Result<(), DeviceError> {
    let epoch = exchange.epoch;
    let domains = &mut exchange.domains;
    let mut arrivals = vec![Vec::new(); domains.len()];
    for Message { domain, direction, side, elements, data } in exchange.messages.drain(..) {
        let message = Message { domain, direction, side, elements, data: data.wait()? };
        let neighbour = side.neighbour(&neighbours[domain])[domains[domain][direction].mu];
        arrivals[neighbour].push(deliver(domains, neighbour, message, epoch)?);
    }
    for (courier, message) in exchange.couriers.iter().zip(&exchange.carried) {
        let Copied { sent, arrival } = courier.wait()?;
        let Message { domain, direction, side, ref elements, .. } = *message;
        let message = Message { domain, direction, side, elements: elements.clone(), data: sent };
        let neighbour = side.neighbour(&neighbours[domain])[domains[domain][direction].mu];
        arrivals[neighbour].push(bring(domains, neighbour, message, arrival, epoch)?);
    }
    exchange.carried.clear();
    compute_after_arrivals(domains, &arrivals, epoch)
}

/// Starts to bring a message to a neighbour in this process.
///
/// Returns the event after which the neighbour has the message.
///
/// The transfer is in the neighbour's copy queue, behind the messages that the neighbour sends in this
/// exchange. They are behind its packing, and so behind the stencil that read its last received
/// data. So the received data may be overwritten.
pub(in crate::field) fn deliver<R: Pod>(
    domains: &mut [Vec<Faces<R>>],
    neighbour: usize,
    message: Message<PinnedBuffer<R>>,
    epoch: u32,
) -> Result<Event, DeviceError> {
    let to = message.side.opposite().of(&mut domains[neighbour][message.direction]);
    let mut arrival = to.arrival_staging()?.free()?;
    arrival.copy_start(&message.data, message.elements.len())?;
    bring(domains, neighbour, message, arrival, epoch)
}

/// Starts to bring a message from its copy `arrival` to a neighbour in this process.
///
/// Returns the event after which the neighbour has the message.
fn bring<R: Pod>(
    domains: &mut [Vec<Faces<R>>],
    neighbour: usize,
    message: Message<PinnedBuffer<R>>,
    arrival: PinnedBuffer<R>,
    epoch: u32,
) -> Result<Event, DeviceError> {
    let Message { domain, direction, side, elements, data } = message;
    let to = side.opposite().of(&mut domains[neighbour][direction]);
    let event = to.receive(arrival, elements, epoch)?;
    side.of(&mut domains[domain][direction]).keep(data);
    Ok(event)
}
