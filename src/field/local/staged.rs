//! Faces that go through pinned memory of the host.
//!
//! A message waits for its kernels on the devices. The host carries the message between the events
//! of two devices. Events alone cannot: each device has a context of its own.
//!
//! * In a common context NVIDIA's driver makes unrelated devices wait for each other. Memory may
//!   then exist on all devices.
//! * A user event, set by a callback, could tie two contexts. While a command waits for a user
//!   event, nobody may release memory (OpenCL 1.2, section 5.9).
//!
//! So the host waits. Meanwhile the devices compute the sites that need no message: the stencil of
//! these sites is launched between `start` and `finish`.

use crate::device::{Buffer, DeviceError, Event};
use crate::field::faces::{Exchange, Face, Faces, Message, Packed, Side, compute_after_arrivals};
use crate::geometry::{Neighbours, Shard};
use bytemuck::Pod;
use std::sync::Arc;

/// Makes faces whose buffers belong to one device each.
pub(in crate::field) fn faces<R: Pod>(
    neighbours: &[Neighbours],
    shards: &[Shard],
    numbers: impl Fn(&Shard, usize) -> usize,
) -> Result<Exchange<R>, DeviceError> {
    let of_domain = |(shard, neighbours): (&Shard, &Neighbours)| {
        let of_direction = |mu| {
            let mut faces = Faces::empty(mu, neighbours);
            for side in Side::BOTH {
                let Face { sent, received, .. } = side.of(&mut faces);
                for buffers in [sent, received] {
                    buffers.push(Buffer::zeroed(&shard.device, numbers(shard, mu))?);
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
    let epoch = exchange.epoch;
    for (domain, all) in exchange.domains.iter_mut().enumerate() {
        for (direction, faces) in all.iter_mut().enumerate() {
            let Some(Packed { event, elements }) = faces.packed.take() else { continue };
            let packed: Vec<&Event> = event.iter().collect();
            for side in Side::BOTH {
                let face = side.of(faces);
                let sent = face.staging()?;
                let read = sent.read_start_from(face.sent(epoch).slice(elements.clone())?, &packed)?;
                exchange.messages.push(Message { domain, direction, side, elements: elements.clone(), read });
            }
        }
    }
    Ok(())
}

/// Waits for the messages and starts to bring them to the neighbours.
///
/// Kernels of the neighbours that are launched from now on find the messages.
///
/// The host waits for all messages first. A domain that has packed again has also done the stencil
/// that read its last received data. So the received data may be overwritten.
pub(super) fn finish<R: Pod>(
    neighbours: &[Neighbours],
    exchange: &mut Exchange<R>,
) -> Result<(), DeviceError> {
    let epoch = exchange.epoch;
    let mut on_host = Vec::with_capacity(exchange.messages.len());
    for Message { domain, direction, side, elements, read } in exchange.messages.drain(..) {
        on_host.push((domain, direction, side, elements, Arc::new(read.wait()?)));
    }

    let domains = &mut exchange.domains;
    let mut arrivals = vec![Vec::new(); domains.len()];
    for (domain, direction, side, elements, message) in on_host {
        let mu = domains[domain][direction].mu;
        let neighbour = side.neighbour(&neighbours[domain])[mu];
        let to = side.opposite().of(&mut domains[neighbour][direction]);
        let under_way = message.share_start_to(to.received_mut(epoch).slice_mut(elements)?, &[])?;
        arrivals[neighbour].push(under_way.event().clone());
        side.of(&mut domains[domain][direction]).set_under_way(under_way);
    }
    compute_after_arrivals(domains, &arrivals, epoch)
}
