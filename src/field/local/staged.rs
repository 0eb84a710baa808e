//! Faces that go by the host: from one device to pinned memory, and from there to the other.

use crate::device::{Buffer, DeviceError, Event, Pending, PinnedBuffer};
use crate::field::faces::{Exchange, Face, Faces, Packed, Side};
use crate::geometry::{Neighbours, Shard};
use bytemuck::Pod;
use std::ops::Range;
use std::sync::Arc;

/// With buffers of each device alone.
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

/// What a domain sends through one face, on its way to the host.
struct Message<R> {
    domain: usize,
    /// The place of the direction among those that are cut.
    direction: usize,
    side: Side,
    elements: Range<usize>,
    read: Pending<PinnedBuffer<R>>,
}

pub(super) fn exchange<R: Pod>(
    neighbours: &[Neighbours],
    exchange: &mut Exchange<R>,
) -> Result<(), DeviceError> {
    let epoch = exchange.epoch;
    let domains = &mut exchange.domains;
    let mut messages = Vec::new();
    for (domain, all) in domains.iter_mut().enumerate() {
        for (direction, faces) in all.iter_mut().enumerate() {
            let Some(Packed { event, elements }) = faces.packed.take() else { continue };
            let packed: Vec<&Event> = event.iter().collect();
            for side in Side::BOTH {
                let face = side.of(faces);
                let sent = face.staging()?;
                let read = sent.read_start_from(face.sent(epoch).slice(elements.clone())?, &packed)?;
                messages.push(Message { domain, direction, side, elements: elements.clone(), read });
            }
        }
    }
    let mut on_host = Vec::with_capacity(messages.len());
    for Message { domain, direction, side, elements, read } in messages {
        on_host.push((domain, direction, side, elements, Arc::new(read.wait()?)));
    }

    let mut arrivals = vec![Vec::new(); domains.len()];
    for (domain, direction, side, elements, message) in on_host {
        let mu = domains[domain][direction].mu;
        let neighbour = side.neighbour(&neighbours[domain])[mu];
        let to = side.opposite().of(&mut domains[neighbour][direction]);
        let under_way = message.share_start_to(to.received_mut(epoch).slice_mut(elements)?, &[])?;
        arrivals[neighbour].push(under_way.event().clone());
        side.of(&mut domains[domain][direction]).set_under_way(under_way);
    }
    for (all, arrivals) in domains.iter_mut().zip(&arrivals) {
        if let Some(faces) = all.first_mut() {
            let device = faces.ahead.sent(epoch).device().clone();
            device.compute_after(&arrivals.iter().collect::<Vec<_>>())?;
        }
    }
    Ok(())
}
