//! Domains of several processes.
//!
//! Faces and sums go by messages, or through memory that both processes reach. Messages go through
//! pinned memory of the host on both sides. Sums are gathered from all ranks and added in the order
//! of the domains. So the bits are the bits of one process with all domains.

use super::communicator::Communicator;
use super::faces::{Exchange, Faces, Message, Side, compute_after_arrivals};
use super::local::staged;
use super::reach::Reach;
use crate::compute::mpi::{Incoming, Outgoing, World};
use crate::compute::{DeviceError, Meeting, Number, PinnedBuffer, Reduction, TeamSums};
use crate::geometry::{Lattice, Neighbours, Placement, Shard};
use bytemuck::Pod;
use std::sync::Arc;

/// The domains of a lattice on several ranks.
#[derive(Clone)]
pub(crate) struct Ranks {
    world: Arc<World>,
    placement: Placement,
    /// The domains of this rank.
    own: Arc<[usize]>,
    /// The neighbours of each of these domains, by their numbers in the grid.
    neighbours: Arc<[Neighbours]>,
    domains: usize,
    /// Present if all devices of all ranks reach each other's memory.
    reach: Option<Reach>,
}

impl Ranks {
    pub fn new(lattice: &Lattice, world: &Arc<World>) -> Result<Self, DeviceError> {
        let (grid, placement) = (lattice.grid(), lattice.placement());
        let own = placement.domains_of(world.rank());
        Ok(Self {
            world: Arc::clone(world),
            placement,
            reach: Reach::of(lattice)?,
            neighbours: own.iter().map(|&number| Neighbours::of(grid, number)).collect(),
            own: own.into(),
            domains: grid.count(),
        })
    }

    /// Returns the tag of a message, made from the receiving domain and face.
    ///
    /// The tag tells messages between two ranks apart.
    fn tag(&self, domain: usize, mu: usize, side: Side) -> usize {
        8 * self.placement.place_in_rank(domain) + 2 * mu + side as usize
    }

    /// Sends data from the devices to other ranks, and receives their data.
    fn pass<R: Pod>(
        &self,
        domains: &[Vec<Faces<R>>],
        sent: &[Message<PinnedBuffer<R>>],
        received: &mut [Message<PinnedBuffer<R>>],
    ) -> Result<(), DeviceError> {
        let beyond = |domain: usize, direction: usize, side: Side| {
            let mu = domains[domain][direction].mu;
            let number = side.neighbour(&self.neighbours[domain])[mu];
            (mu, number, self.placement.rank_of(number))
        };
        let outgoing: Vec<Outgoing<'_>> = sent
            .iter()
            .map(|Message { domain, direction, side, elements, data }| {
                let (mu, number, to) = beyond(*domain, *direction, *side);
                let tag = self.tag(number, mu, side.opposite());
                Outgoing { to, tag, bytes: bytemuck::cast_slice(&data.as_slice()[..elements.len()]) }
            })
            .collect();
        let mut incoming: Vec<Incoming<'_>> = received
            .iter_mut()
            .map(|Message { domain, direction, side, elements, data }| {
                let (mu, _, from) = beyond(*domain, *direction, *side);
                let tag = self.tag(self.own[*domain], mu, *side);
                let elements = elements.len();
                Incoming { from, tag, bytes: bytemuck::cast_slice_mut(&mut data.as_mut_slice()[..elements]) }
            })
            .collect();
        Ok(self.world.exchange(&mut incoming, &outgoing)?)
    }

    /// Returns equally long arrays of all domains, from the arrays of each rank.
    ///
    /// The arrays are in the order of the domains.
    fn of_all_domains(&self, own: &[&[f64]]) -> Result<Vec<Vec<f64>>, DeviceError> {
        let length = own.first().map_or(0, |part| part.len());
        let mine: Vec<u8> =
            own.iter().flat_map(|part| bytemuck::cast_slice::<f64, u8>(part)).copied().collect();
        let all = self.world.gather(&mine)?;
        let part = |domain: usize| {
            let rank = self.placement.rank_of(domain);
            let place = rank * own.len() + self.placement.place_in_rank(domain);
            let bytes = &all[place * size_of::<f64>() * length..][..size_of::<f64>() * length];
            let number = |bytes: &[u8]| f64::from_ne_bytes(std::array::from_fn(|k| bytes[k]));
            bytes.chunks_exact(size_of::<f64>()).map(number).collect()
        };
        Ok((0..self.domains).map(part).collect())
    }
}

impl Communicator for Ranks {
    fn faces<R: Pod + Send>(
        &self,
        lattice: &Lattice,
        numbers: impl Fn(&Shard, usize) -> usize,
    ) -> Result<Exchange<R>, DeviceError> {
        match &self.reach {
            Some(reach) => reach.faces(lattice, numbers),
            None => staged::faces(&self.neighbours, lattice.shards(), 1, numbers),
        }
    }

    fn exchange<R: Pod + Send>(&self, exchange: &mut Exchange<R>) -> Result<(), DeviceError> {
        if self.start_exchange(exchange)? { self.finish_exchange(exchange) } else { Ok(()) }
    }

    fn start_exchange<R: Pod + Send>(&self, exchange: &mut Exchange<R>) -> Result<bool, DeviceError> {
        match &self.reach {
            Some(reach) => reach.exchange(exchange).map(|()| false),
            None => staged::start(exchange).map(|()| true),
        }
    }

    fn finish_exchange<R: Pod + Send>(&self, exchange: &mut Exchange<R>) -> Result<(), DeviceError> {
        let epoch = exchange.epoch;
        let me = self.world.rank();
        let reads = std::mem::take(&mut exchange.messages);
        let domains = &mut exchange.domains;
        // Every face sends and receives. So received messages are as many and as long as sent ones.
        let (mut within, mut sent, mut received) = (Vec::new(), Vec::new(), Vec::new());
        for Message { domain, direction, side, elements, data } in reads {
            let faces = &mut domains[domain][direction];
            let message = Message { domain, direction, side, elements, data: data.wait()? };
            if self.placement.rank_of(side.neighbour(&self.neighbours[domain])[faces.mu]) == me {
                within.push(message);
            } else {
                let (elements, data) = (message.elements.clone(), side.of(faces).arrival_staging()?.free()?);
                received.push(Message { domain, direction, side, elements, data });
                sent.push(message);
            }
        }
        self.pass(domains, &sent, &mut received)?;

        let mut arrivals = vec![Vec::new(); domains.len()];
        for Message { domain, direction, side, elements, data } in received {
            let face = side.of(&mut domains[domain][direction]);
            arrivals[domain].push(face.receive(data, elements, epoch)?);
        }
        for Message { domain, direction, side, data, .. } in sent {
            side.of(&mut domains[domain][direction]).keep(data);
        }
        for message in within {
            let mu = domains[message.domain][message.direction].mu;
            let number = message.side.neighbour(&self.neighbours[message.domain])[mu];
            let neighbour = self.placement.place_in_rank(number);
            arrivals[neighbour].push(staged::deliver(domains, neighbour, message, epoch)?);
        }
        compute_after_arrivals(domains, &arrivals, epoch)
    }

    fn numbers(&self, mut running: Vec<Reduction>) -> Result<[Number; 2], DeviceError> {
        if let Some(reach) = &self.reach {
            match reach.add(running)? {
                Ok(numbers) => return Ok(numbers),
                Err(back) => running = back,
            }
        }
        self.numbers_by_host(running)
    }

    fn meeting(&self) -> Option<Meeting<'_>> {
        self.reach.as_ref()?.meeting()
    }

    fn keeps_numbers(&self) -> bool {
        self.reach.as_ref().is_some_and(Reach::keeps_numbers)
    }

    fn team_sums(&self) -> Option<&TeamSums> {
        self.reach.as_ref().and_then(Reach::team_sums)
    }

    fn sum(&self, parts: &[&[f64]], total: &mut [f64]) -> Result<(), DeviceError> {
        total.fill(0.0);
        for part in self.of_all_domains(parts)? {
            total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
        }
        Ok(())
    }
}
