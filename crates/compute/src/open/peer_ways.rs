//! Ways in which kernels of one device reach the memory of another, and which of them may be used.

use crate::error::{DeviceError, Result};
use std::fmt;
use std::str::FromStr;

/// This variable says which ways are used: `off`, or a list of `cuda`, `host` and `host-flags`.
pub const PEER_VARIABLE: &str = "LATTICE_CL_PEER";

/// How kernels of one device reach the memory of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerWay {
    /// Memory of NVIDIA's driver that several contexts import. Kernels wait for each other by flags.
    Cuda,
    /// Memory of the host, for devices that compute in it. The host waits between kernels.
    Host,
    /// As [`PeerWay::Host`], but kernels wait for each other by flags, as on GPUs.
    ///
    /// A waiting kernel keeps a thread of the processor. With as many waiting kernels as threads nothing goes on any more, so this
    /// is for tests: of n devices at most n − 1 wait for one that has not come yet. PoCL makes as many threads as `POCL_PTHREAD_MIN_THREADS` says.
    HostFlags,
}

impl PeerWay {
    /// All, the best first.
    pub const ALL: [Self; 3] = [Self::Cuda, Self::Host, Self::HostFlags];

    /// Its name in [`PEER_VARIABLE`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Host => "host",
            Self::HostFlags => "host-flags",
        }
    }

    /// Whether kernels with other work may wait as well: many of their work-groups then do at once, and must leave room for others.
    pub fn waits_beside_work(self) -> bool {
        self == Self::Cuda
    }

    /// Whether kernels wait for those of other devices, so that the host need not.
    pub fn has_flags(self) -> bool {
        self != Self::Host
    }
}

impl fmt::Display for PeerWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The ways that may be used; the best of those that work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerWays([bool; PeerWay::ALL.len()]);

impl PeerWays {
    /// None: everything goes through the host.
    pub const OFF: Self = Self([false; PeerWay::ALL.len()]);

    /// What is used unless something else is asked for. [`PeerWay::Cuda`] has to be asked for: on two H100 it is bound by launches still.
    pub const USUAL: Self = Self([false, true, false]);

    /// This way alone.
    pub fn only(way: PeerWay) -> Self {
        Self(PeerWay::ALL.map(|other| other == way))
    }

    /// Those that may be used, the best first.
    pub fn iter(self) -> impl Iterator<Item = PeerWay> {
        PeerWay::ALL.into_iter().zip(self.0).filter(|(_, wanted)| *wanted).map(|(way, _)| way)
    }

    /// Those that both allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] && other.0[k]))
    }

    /// What [`PEER_VARIABLE`] says; [`PeerWays::USUAL`] where it is not set.
    ///
    /// # Errors
    /// [`DeviceError::UnknownPeerWay`].
    pub fn by_environment() -> Result<Self> {
        match std::env::var_os(PEER_VARIABLE) {
            Some(text) if !text.is_empty() => text.to_string_lossy().parse(),
            _ => Ok(Self::USUAL),
        }
    }
}

impl FromStr for PeerWays {
    type Err = DeviceError;

    /// Reads `off`, or names with commas between them.
    fn from_str(text: &str) -> Result<Self> {
        let mut ways = Self::OFF;
        if text == "off" {
            return Ok(ways);
        }
        for name in text.split(',').map(str::trim) {
            let known = PeerWay::ALL.iter().position(|way| way.name() == name);
            ways.0[known.ok_or_else(|| DeviceError::UnknownPeerWay { found: name.to_owned() })?] = true;
        }
        Ok(ways)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let ways = |text: &str| text.parse::<PeerWays>().map(|ways| ways.iter().collect::<Vec<_>>());
        assert_eq!(ways("off"), Ok(vec![]));
        assert_eq!(ways("host, cuda"), Ok(vec![PeerWay::Cuda, PeerWay::Host]));
        assert_eq!("host".parse(), Ok(PeerWays::USUAL));
        for way in PeerWay::ALL {
            assert_eq!(way.to_string().parse(), Ok(PeerWays::only(way)));
        }
        assert_eq!(PeerWays::USUAL.and(PeerWays::only(PeerWay::Host)), PeerWays::only(PeerWay::Host));
        let message = ways("nvlink").unwrap_err().to_string();
        assert!(message.contains("`nvlink`") && message.contains("host-flags"), "{message}");
    }
}
