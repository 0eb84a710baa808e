//! Domains on devices of a team in this process.

mod chained;
mod copied;
pub(super) mod staged;

use super::communicator::Communicator;
use super::faces::Exchange;
use super::reach::Reach;
use crate::compute::{
    BufferView, BufferViewMut, Device, DeviceError, Event, Meeting, Number, PeerCopies, Peers, Reduction,
    TeamSums,
};
use crate::geometry::{Lattice, Neighbours, Shard};
use bytemuck::Pod;
use std::sync::Arc;

/// Domains on devices of a team in this process.
///
#[derive(Clone)]
pub(crate) struct Local {
    /// The neighbours of each domain.
    neighbours: Arc<[Neighbours]>,
    transport: FaceTransport,
}

/// The transport of faces from one device to another, the best first.
#[derive(Clone)]
enum FaceTransport {
    /// Kernels write the faces into memory of the other device.
    Reach(Reach),
    /// The driver copies the faces.
    Copies(PeerCopies),
    /// The faces go through pinned memory, from event to event.
    Events,
    /// The host carries the faces.
    Host,
}

impl FaceTransport {
    fn of(lattice: &Lattice) -> Result<Self, DeviceError> {
        if let Some(reach) = Reach::of(lattice)? {
            return Ok(Self::Reach(reach));
        }
        let devices: Vec<Device> = lattice.shards().iter().map(|shard| shard.device.clone()).collect();
        if let Some(copies) = Peers::copies(&devices) {
            return Ok(Self::Copies(copies));
        }
        let is_chain = devices.iter().enumerate().all(|(k, device)| {
            // A device that is given twice has only one queue for both of its domains.
            device.shares_context(&devices[0]) && !devices[..k].contains(device)
        });
        Ok(if is_chain { Self::Events } else { Self::Host })
    }
}

impl Local {
    pub fn new(lattice: &Lattice) -> Result<Self, DeviceError> {
        let grid = lattice.grid();
        let neighbours = (0..grid.count()).map(|number| Neighbours::of(grid, number)).collect();
        Ok(Self { neighbours, transport: FaceTransport::of(lattice)? })
    }

    fn reach(&self) -> Option<&Reach> {
        match &self.transport {
            FaceTransport::Reach(reach) => Some(reach),
            _ => None,
        }
    }
}

impl Communicator for Local {
    fn faces<R: Pod + Send>(
        &self,
        lattice: &Lattice,
        numbers: impl Fn(&Shard, usize) -> usize,
    ) -> Result<Exchange<R>, DeviceError> {
        let staged = |turns| staged::faces(&self.neighbours, lattice.shards(), turns, &numbers);
        match &self.transport {
            FaceTransport::Reach(reach) => reach.faces(lattice, numbers),
            FaceTransport::Copies(_) | FaceTransport::Events => staged(2),
            FaceTransport::Host => staged(1),
        }
    }

    fn exchange<R: Pod + Send>(&self, exchange: &mut Exchange<R>) -> Result<(), DeviceError> {
        if self.start_exchange(exchange)? { self.finish_exchange(exchange) } else { Ok(()) }
    }

    fn start_exchange<R: Pod + Send>(&self, exchange: &mut Exchange<R>) -> Result<bool, DeviceError> {
        match &self.transport {
            FaceTransport::Reach(reach) => reach.exchange(exchange).map(|()| false),
            FaceTransport::Copies(copies) => {
                let copy = |from: BufferView<'_, R>, to: BufferViewMut<'_, R>, wait: &[&Event]| {
                    copies.start(from, to, wait)
                };
                copied::start(&self.neighbours, exchange, copy).map(|()| true)
            }
            FaceTransport::Events => staged::start(exchange).map(|()| true),
            FaceTransport::Host => {
                staged::start(exchange)?;
                staged::carry(&self.neighbours, exchange).map(|()| true)
            }
        }
    }

    fn finish_exchange<R: Pod + Send>(&self, exchange: &mut Exchange<R>) -> Result<(), DeviceError> {
        match &self.transport {
            FaceTransport::Reach(_) => Ok(()),
            FaceTransport::Copies(_) => copied::finish(exchange),
            FaceTransport::Events => chained::finish(&self.neighbours, exchange),
            FaceTransport::Host => staged::finish(&self.neighbours, exchange),
        }
    }

    fn numbers(&self, mut running: Vec<Reduction>) -> Result<[Number; 2], DeviceError> {
        if running.len() == 1
            && let Some(reduction) = running.pop()
        {
            return Ok(reduction.numbers());
        }
        if let Some(reach) = self.reach() {
            match reach.add(running)? {
                Ok(numbers) => return Ok(numbers),
                Err(back) => running = back,
            }
        }
        self.numbers_by_host(running)
    }

    fn meeting(&self) -> Option<Meeting<'_>> {
        self.reach()?.meeting()
    }

    fn keeps_numbers(&self) -> bool {
        self.neighbours.len() == 1 || self.reach().is_some_and(Reach::keeps_numbers)
    }

    fn team_sums(&self) -> Option<&TeamSums> {
        self.reach().and_then(Reach::team_sums)
    }

    fn sum(&self, parts: &[&[f64]], total: &mut [f64]) -> Result<(), DeviceError> {
        total.fill(0.0);
        for part in parts {
            total.iter_mut().zip(*part).for_each(|(total, part)| *total += part);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
