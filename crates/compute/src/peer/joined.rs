//! Teams of several ranks.

#[cfg(target_os = "linux")]
use super::across::way_between_ranks;
use crate::error::Result;
use crate::open::{Ranks, Team};
use lattice_mpi::World;
use std::sync::Arc;

impl Team {
    /// Joins the devices of all ranks to one team.
    ///
    /// Every rank calls this. [`devices`](Team::devices) are still the devices of this process. If
    /// all ranks are on one machine, they try the ways in which their devices may reach each
    /// other's memory ([`PeerWays`](crate::PeerWays)).
    ///
    /// # Errors
    /// [`DeviceError::HostAmongRanks`](crate::DeviceError::HostAmongRanks) and
    /// [`DeviceError::UnlikeRanks`](crate::DeviceError::UnlikeRanks) on all ranks, if the ranks
    /// have different kinds of device. [`DeviceError::Mpi`](crate::DeviceError::Mpi).
    pub fn across(self, world: &Arc<World>) -> Result<Self> {
        let ranks = Ranks::of(world, self.devices())?;
        let team = self.with_ranks(ranks.clone());
        #[cfg(target_os = "linux")]
        let team = {
            let reach = way_between_ranks(&team, world)?;
            team.with_ranks(Ranks { reach, ..ranks })
        };
        Ok(team)
    }
}
