//! The precision of `--precision`.

use lattice_cl::device::Team;
use lattice_cl::solve::IterationPrecision;
use std::fmt;
use std::str::FromStr;

/// The precision of an iteration, as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedPrecision {
    /// This one.
    This(IterationPrecision),
    /// The mixed one that suits the devices.
    Mixed,
}

impl WantedPrecision {
    /// Which one that is on a team.
    pub fn on(self, team: &Team) -> IterationPrecision {
        match self {
            Self::This(precision) => precision,
            Self::Mixed => IterationPrecision::mixed_on(team),
        }
    }
}

impl FromStr for WantedPrecision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "mixed" {
            return Ok(Self::Mixed);
        }
        text.parse()
            .map(Self::This)
            .map_err(|error| format!("{error}, or mixed for the one that suits the devices"))
    }
}

impl fmt::Display for WantedPrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::This(precision) => precision.fmt(f),
            Self::Mixed => f.write_str("mixed"),
        }
    }
}
