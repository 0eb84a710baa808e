//! Faces that go by the host: from one device to pinned memory, and from there to the other.
//!
//! A message waits for its kernels on the devices, but the host carries it from the events of one device to those of the other. Events cannot do that: each
//! device has a context of its own. In a common one NVIDIA's driver lets devices wait for each other that have nothing to do with each other, and
//! memory may be there on all devices. A user event, which a callback sets, could tie two contexts, but while a command waits for one OpenCL
//! allows nobody to release memory (OpenCL 1.2, section 5.9). So the host waits, beside the sites that need no message: the stencil is
//! launched for these between `start` and `finish`.

use crate::device::{Buffer, DeviceError, Event};
use crate::field::faces::{Exchange, Face, Faces, Message, Packed, Side, compute_after_arrivals};
use crate::geometry::{Neighbours, Shard};
use bytemuck::Pod;
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

/// Starts to bring the faces that are being packed to the host.
pub(in crate::field) fn start<R: Pod>(exchange: &mut Exchange<R>) -> Result<(), DeviceError> {
    // Those of an application that failed: to let go of them is to wait for them.
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

/// Waits for them and starts to bring them to the neighbours, whose kernels that are launched from now on find them.
///
/// The host waits for all first: what a domain received last may be written over when the domain has packed again, behind the stencil that read it.
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
