//! Faces and sums that kernels write into the memory of other domains.
//!
//! The domains may belong to other processes.
//! Each face has two buffers, for odd and even epochs. The rules of `lattice_compute`'s module on
//! peers are kept:
//!
//! * A domain sends to a neighbour if and only if this neighbour sends to the domain, in every
//!   exchange: a lattice is a torus.
//! * The stencil of epoch e reads the received faces after the wait for e, and before the domain
//!   packs for e + 1. So a neighbour that has waited for e + 1 may overwrite them. It does so when
//!   it packs for e + 2.
//! * All domains have packed and raised their flags, and all queues are flushed, before a queue is
//!   given a wait. Each rank does so with its own domains. Stencils that pack their own faces meet
//!   instead, and are enqueued on all devices in one go.

use super::faces::{Exchange, Faces, Side};
use crate::compute::{Buffer, DeviceError, Meeting, Number, PeerFlags, Peers, Reduction, TeamSums};
use crate::geometry::{Lattice, NDIM, Neighbours, Shard};
use bytemuck::Pod;
use std::sync::Arc;

/// Domains whose devices all reach each other's memory.
#[derive(Clone)]
pub(super) struct Reach {
    peers: Arc<Peers>,
    /// Present if kernels wait for each other.
    sums: Option<Arc<TeamSums>>,
    /// The neighbours of each domain, also of the domains of other ranks.
    neighbours: Arc<[Neighbours]>,
}

impl Reach {
    /// Returns the domains of a lattice, or `None` if devices reach no other memory.
    ///
    /// Every rank calls this.
    pub fn of(lattice: &Lattice) -> Result<Option<Self>, DeviceError> {
        let Some(peers) = lattice.peers() else { return Ok(None) };
        Ok(Some(Self::by(lattice, Arc::clone(peers), lattice.team_sums()?)))
    }

    /// Returns the domains of a lattice whose devices reach each other's memory.
    pub fn by(lattice: &Lattice, peers: Arc<Peers>, sums: Option<Arc<TeamSums>>) -> Self {
        let grid = lattice.grid();
        let neighbours = (0..grid.count()).map(|number| Neighbours::of(grid, number)).collect();
        Self { peers, sums, neighbours }
    }

    /// Returns `true` if sums stay on the devices.
    pub fn keeps_numbers(&self) -> bool {
        self.sums.is_some()
    }

    /// Returns the memory in which the devices add sums, if they stay there.
    pub fn team_sums(&self) -> Option<&TeamSums> {
        self.sums.as_deref()
    }

    /// Adds the sums of a launch on each device of this process over all domains.
    ///
    /// The sums are added in the order of the domains. If the host has to add the sums, the
    /// launches are returned.
    pub fn add(&self, running: Vec<Reduction>) -> Result<Result<[Number; 2], Vec<Reduction>>, DeviceError> {
        match &self.sums {
            Some(sums) => sums.add(running).map(Ok),
            None => Ok(Err(running)),
        }
    }

    /// Prepares a sum that kernels add by themselves; `None` unless they can.
    pub fn meeting(&self) -> Option<Meeting<'_>> {
        self.sums.as_ref()?.meeting()
    }

    /// Makes faces with buffers in the memory of the receiver.
    pub fn faces<R: Pod>(
        &self,
        lattice: &Lattice,
        numbers: impl Fn(&Shard, usize) -> usize,
    ) -> Result<Exchange<R>, DeviceError> {
        let Self { peers, neighbours, .. } = self;
        let flags = peers.way().has_flags().then(|| PeerFlags::new(peers)).transpose()?;
        let everywhere = lattice.everywhere();
        let empty = |&number: &usize| {
            let faces = |mu| Faces::empty(mu, &neighbours[number]);
            everywhere[number].domain.cut_directions().map(faces).collect()
        };
        let mut domains: Vec<Vec<Faces<R>>> = peers.numbers().iter().map(empty).collect();
        let counted = peers.devices().iter().filter(|_| flags.is_some());
        let groups_done = counted.map(|device| Buffer::zeroed(device, 1)).collect::<Result<_, _>>()?;
        // All ranks go through all domains in one order.
        for (k, shard) in everywhere.iter().enumerate() {
            for (direction, mu) in shard.domain.cut_directions().enumerate() {
                for side in Side::BOTH {
                    let neighbour = side.neighbour(&neighbours[k])[mu];
                    for _ in 0..2 {
                        let mut users = peers.memory(&[k, neighbour], numbers(shard, mu))?.into_iter();
                        if let Some(place) = peers.place(k) {
                            side.of(&mut domains[place][direction]).received.extend(users.next());
                        }
                        if let Some(place) = peers.place(neighbour) {
                            side.opposite().of(&mut domains[place][direction]).sent.extend(users.next());
                        }
                    }
                }
            }
        }
        Ok(Exchange { groups_done, ..Exchange::new(domains, flags) })
    }

    /// Carries the packed faces of each domain of this process to its neighbours.
    pub fn exchange<R: Pod>(&self, exchange: &mut Exchange<R>) -> Result<(), DeviceError> {
        let Self { peers, neighbours, .. } = self;
        let epoch = exchange.epoch;
        let packed: Vec<_> =
            exchange.domains.iter_mut().flatten().filter_map(|faces| faces.packed.take()?.event).collect();
        let Some(flags) = &exchange.flags else {
            // Processors have no threads to spare for kernels that wait.
            peers.devices().iter().try_for_each(|device| device.flush_launches())?;
            packed.iter().try_for_each(|event| event.wait())?;
            return peers.all_are_here();
        };
        // Packing kernels raise the flags. The stencil waits for a flag where it needs the flag's face.
        peers.devices().iter().try_for_each(|device| device.flush_launches())?;
        if !peers.way().waits_beside_work() {
            for &k in peers.numbers() {
                flags.wait(k, beside(&neighbours[k], k), epoch)?;
            }
        }
        Ok(())
    }
}

/// Returns the domains that share a face with domain `k`.
fn beside(neighbours: &Neighbours, k: usize) -> Vec<usize> {
    let mut all: Vec<usize> =
        (0..NDIM).flat_map(|mu| [neighbours.behind[mu], neighbours.ahead[mu]]).filter(|&n| n != k).collect();
    all.sort_unstable();
    all.dedup();
    all
}
