//! Domains on devices of a team in this process.

mod copied;
pub(super) mod staged;

use super::communicator::Communicator;
use super::faces::Exchange;
use super::reach::Reach;
use crate::device::{
    BufferView, BufferViewMut, Device, DeviceError, Event, Meeting, Number, PeerCopies, Peers, Reduction,
    TeamSums,
};
use crate::geometry::{Lattice, Neighbours, Shard};
use bytemuck::Pod;
use std::sync::Arc;

/// Domains on devices of a team in this process.
///
/// If the devices reach each other's memory, kernels write the faces there. If a driver copies
/// between devices, faces go by its copies. Otherwise faces go through the host.
#[derive(Clone)]
pub(crate) struct Local {
    /// The neighbours of each domain.
    neighbours: Arc<[Neighbours]>,
    reach: Option<Reach>,
    /// Present without reach, if the driver copies between devices.
    copies: Option<PeerCopies>,
}

impl Local {
    pub fn new(lattice: &Lattice) -> Result<Self, DeviceError> {
        let grid = lattice.grid();
        let neighbours = (0..grid.count()).map(|number| Neighbours::of(grid, number)).collect();
        let reach = Reach::of(lattice)?;
        let devices: Vec<Device> = lattice.shards().iter().map(|shard| shard.device.clone()).collect();
        let copies = if reach.is_none() { Peers::copies(&devices) } else { None };
        Ok(Self { neighbours, reach, copies })
    }
}

impl Communicator for Local {
    fn faces<R: Pod + Send>(
        &self,
        lattice: &Lattice,
        numbers: impl Fn(&Shard, usize) -> usize,
    ) -> Result<Exchange<R>, DeviceError> {
        match &self.reach {
            Some(reach) => reach.faces(lattice, numbers),
            None => {
                let turns = if self.copies.is_some() { 2 } else { 1 };
                staged::faces(&self.neighbours, lattice.shards(), turns, numbers)
            }
        }
    }

    fn exchange<R: Pod + Send>(&self, exchange: &mut Exchange<R>) -> Result<(), DeviceError> {
        if self.start_exchange(exchange)? { self.finish_exchange(exchange) } else { Ok(()) }
    }

    fn start_exchange<R: Pod + Send>(&self, exchange: &mut Exchange<R>) -> Result<bool, DeviceError> {
        match (&self.reach, &self.copies) {
            (Some(reach), _) => reach.exchange(exchange).map(|()| false),
            (None, Some(copies)) => {
                let copy = |from: BufferView<'_, R>, to: BufferViewMut<'_, R>, wait: &[&Event]| {
                    copies.start(from, to, wait)
                };
                copied::start(&self.neighbours, exchange, copy).map(|()| true)
            }
            (None, None) => {
                staged::start(exchange)?;
                staged::carry(&self.neighbours, exchange).map(|()| true)
            }
        }
    }

    fn finish_exchange<R: Pod + Send>(&self, exchange: &mut Exchange<R>) -> Result<(), DeviceError> {
        match &self.copies {
            Some(_) => copied::finish(exchange),
            None => staged::finish(&self.neighbours, exchange),
        }
    }

    fn numbers(&self, mut running: Vec<Reduction>) -> Result<[Number; 2], DeviceError> {
        if running.len() == 1
            && let Some(reduction) = running.pop()
        {
            return Ok(reduction.numbers());
        }
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
        self.neighbours.len() == 1 || self.reach.as_ref().is_some_and(Reach::keeps_numbers)
    }

    fn team_sums(&self) -> Option<&TeamSums> {
        self.reach.as_ref().and_then(Reach::team_sums)
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
