//! Processors of vectors and matrices, with their memory.

use crate::error::BlasResult;
use lattice_compute::{CompileClock, Device, Stopwatch, Team};

/// The memory of a vector or a matrix, and the processor of its operations.
#[derive(Clone, Debug, PartialEq)]
pub enum Processor {
    /// The host's memory and processor.
    Host,
    /// A device.
    Device(Device),
}

impl Processor {
    /// Returns the first device of a team, or the host for the empty team.
    pub fn of_team(team: &Team) -> Self {
        team.devices().first().map_or(Self::Host, |device| Self::Device(device.clone()))
    }

    /// Returns all devices of a team, or the host for the empty team.
    pub fn all_of_team(team: &Team) -> Vec<Self> {
        if team.devices().is_empty() {
            return vec![Self::Host];
        }
        team.devices().iter().map(|device| Self::Device(device.clone())).collect()
    }

    /// Starts a stopwatch that stands still while compilers work for the device.
    pub fn stopwatch(&self) -> Stopwatch {
        match self {
            Self::Host => CompileClock::default().stopwatch(),
            Self::Device(device) => device.stopwatch(),
        }
    }

    /// Waits for all that was started on the device.
    ///
    /// # Errors
    /// If the device fails.
    pub fn finish(&self) -> BlasResult<()> {
        match self {
            Self::Host => Ok(()),
            Self::Device(device) => Ok(device.finish()?),
        }
    }

    /// Returns the name of the device, or `host`.
    pub fn label(&self) -> String {
        match self {
            Self::Host => "host".to_owned(),
            Self::Device(device) => device.label().to_owned(),
        }
    }
}

impl From<&Device> for Processor {
    fn from(device: &Device) -> Self {
        Self::Device(device.clone())
    }
}
