//! Faces that kernels write into the memory of the neighbour.
//!
//! Each face has two buffers, for odd and even epochs. The rules of `lattice_compute`'s module on
//! peers are kept:
//!
//! * A domain sends to a neighbour if and only if this neighbour sends to the domain, in every
//!   exchange: a lattice is a torus.
//! * The stencil of epoch e reads the received faces after the wait for e, and before the domain
//!   packs for e + 1. So a neighbour that has waited for e + 1 may overwrite them. It does so when
//!   it packs for e + 2.
//! * All domains have packed and raised their flags, and all queues are flushed, before a queue is
//!   given a wait.

use crate::device::{Buffer, DeviceError, PeerFlags, Peers};
use crate::field::faces::{Exchange, Faces, Side};
use crate::geometry::{NDIM, Neighbours, Shard};
use bytemuck::Pod;
use std::sync::Arc;

/// Makes faces with buffers in the memory of the receiver.
pub(super) fn faces<R: Pod>(
    peers: &Arc<Peers>,
    neighbours: &[Neighbours],
    shards: &[Shard],
    numbers: impl Fn(&Shard, usize) -> usize,
) -> Result<Exchange<R>, DeviceError> {
    let flags = peers.way().has_flags().then(|| PeerFlags::new(peers)).transpose()?;
    let empty = |(shard, neighbours): (&Shard, &Neighbours)| {
        shard.domain.cut_directions().map(|mu| Faces::empty(mu, neighbours)).collect()
    };
    let mut domains: Vec<Vec<Faces<R>>> = shards.iter().zip(neighbours).map(empty).collect();
    let counted = shards.iter().filter(|_| flags.is_some());
    let groups_done =
        counted.map(|shard| Buffer::zeroed(&shard.device, 1)).collect::<Result<_, DeviceError>>()?;
    for (k, shard) in shards.iter().enumerate() {
        for (direction, mu) in shard.domain.cut_directions().enumerate() {
            for side in Side::BOTH {
                let neighbour = side.neighbour(&neighbours[k])[mu];
                for _ in 0..2 {
                    let mut users = peers.memory(&[k, neighbour], numbers(shard, mu))?.into_iter();
                    side.of(&mut domains[k][direction]).received.extend(users.next());
                    side.opposite().of(&mut domains[neighbour][direction]).sent.extend(users.next());
                }
            }
        }
    }
    Ok(Exchange { groups_done, ..Exchange::new(domains, flags) })
}

/// Returns the domains that share a face with domain `k`.
fn beside(neighbours: &Neighbours, k: usize) -> Vec<usize> {
    let mut all: Vec<usize> =
        (0..NDIM).flat_map(|mu| [neighbours.behind[mu], neighbours.ahead[mu]]).filter(|&n| n != k).collect();
    all.sort_unstable();
    all.dedup();
    all
}

pub(super) fn exchange<R: Pod>(
    peers: &Peers,
    neighbours: &[Neighbours],
    exchange: &mut Exchange<R>,
) -> Result<(), DeviceError> {
    let epoch = exchange.epoch;
    let packed: Vec<_> =
        exchange.domains.iter_mut().flatten().filter_map(|faces| faces.packed.take()?.event).collect();
    let Some(flags) = &exchange.flags else {
        // Processors have no threads to spare for kernels that wait.
        peers.devices().iter().try_for_each(|device| device.flush())?;
        return packed.iter().try_for_each(|event| event.wait());
    };
    // Packing kernels raise the flags. The stencil waits for a flag where it needs the flag's face.
    peers.devices().iter().try_for_each(|device| device.flush())?;
    if !peers.way().waits_beside_work() {
        for (k, neighbours) in neighbours.iter().enumerate() {
            flags.wait(k, beside(neighbours, k), epoch)?;
        }
    }
    Ok(())
}
