//! Transfers of faces and sums between the domains of a lattice.

use super::communicator::Communicator;
use super::faces::Exchange;
use super::local::Local;
use super::ranks::Ranks;
use crate::compute::{DeviceError, Meeting, Number, Reduction, TeamSums};
use crate::geometry::{Lattice, Shard};
use bytemuck::Pod;

/// The carrier of faces and sums between the domains of a lattice.
#[derive(Clone)]
pub(crate) enum Carrier {
    /// All domains are in this process.
    Local(Local),
    /// The domains are in several processes.
    Ranks(Ranks),
}

impl Carrier {
    /// Returns the carrier of a lattice.
    pub fn new(lattice: &Lattice) -> Result<Self, DeviceError> {
        match lattice.ranks() {
            Some(world) => Ranks::new(lattice, world).map(Self::Ranks),
            None => Local::new(lattice).map(Self::Local),
        }
    }
}

impl Communicator for Carrier {
    fn faces<R: Pod + Send>(
        &self,
        lattice: &Lattice,
        numbers: impl Fn(&Shard, usize) -> usize,
    ) -> Result<Exchange<R>, DeviceError> {
        match self {
            Self::Local(local) => local.faces(lattice, numbers),
            Self::Ranks(ranks) => ranks.faces(lattice, numbers),
        }
    }

    fn exchange<R: Pod + Send>(&self, exchange: &mut Exchange<R>) -> Result<(), DeviceError> {
        match self {
            Self::Local(local) => local.exchange(exchange),
            Self::Ranks(ranks) => ranks.exchange(exchange),
        }
    }

    fn start_exchange<R: Pod + Send>(&self, exchange: &mut Exchange<R>) -> Result<bool, DeviceError> {
        match self {
            Self::Local(local) => local.start_exchange(exchange),
            Self::Ranks(ranks) => ranks.start_exchange(exchange),
        }
    }

    fn finish_exchange<R: Pod + Send>(&self, exchange: &mut Exchange<R>) -> Result<(), DeviceError> {
        match self {
            Self::Local(local) => local.finish_exchange(exchange),
            Self::Ranks(ranks) => ranks.finish_exchange(exchange),
        }
    }

    fn numbers(&self, running: Vec<Reduction>) -> Result<[Number; 2], DeviceError> {
        match self {
            Self::Local(local) => local.numbers(running),
            Self::Ranks(ranks) => ranks.numbers(running),
        }
    }

    fn meeting(&self) -> Option<Meeting<'_>> {
        match self {
            Self::Local(local) => local.meeting(),
            Self::Ranks(ranks) => ranks.meeting(),
        }
    }

    fn keeps_numbers(&self) -> bool {
        match self {
            Self::Local(local) => local.keeps_numbers(),
            Self::Ranks(ranks) => ranks.keeps_numbers(),
        }
    }

    fn team_sums(&self) -> Option<&TeamSums> {
        match self {
            Self::Local(local) => local.team_sums(),
            Self::Ranks(ranks) => ranks.team_sums(),
        }
    }

    fn sum(&self, parts: &[&[f64]], total: &mut [f64]) -> Result<(), DeviceError> {
        match self {
            Self::Local(local) => local.sum(parts, total),
            Self::Ranks(ranks) => ranks.sum(parts, total),
        }
    }
}
