//! The ways from kernels of one device to the memory of another.

use crate::error::{DeviceError, Result};
use crate::select::DeviceInfo;
use std::str::FromStr;

/// The environment variable of allowed ways.
///
/// Its value is `off`, or a list of names of [`PeerWay`]s.
pub const PEER_VARIABLE: &str = "LATTICE_CL_PEER";

/// The extension of devices that import memory by a file descriptor.
pub(crate) const IMPORTS_MEMORY: &str = "cl_khr_external_memory_opaque_fd";

/// The extension of AMD's GPUs that copy to each other.
pub(crate) const COPIES_TO_PEERS: &str = "cl_amd_copy_buffer_p2p";

/// A way from kernels of one device to the memory of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerWay {
    /// Memory of NVIDIA's driver that several contexts import.
    ///
    /// Kernels wait for each other by flags.
    Cuda,
    /// Memory of the host that NVIDIA's driver allocates and several contexts import.
    ///
    /// Kernels of GPUs that do not reach each other's memory wait for each other by flags. They read such
    /// memory slowly, so that pinned memory between devices of one context is faster.
    CudaHost,
    /// Copies by AMD's driver from the memory of one GPU to the memory of another.
    ///
    /// Kernels do not reach the other memory. The host waits between kernels. This way is untried.
    Amd,
    /// Memory of the host, for devices that compute in it.
    ///
    /// The host waits between kernels.
    Host,
    /// Memory of the host like [`PeerWay::Host`], with flags for kernels like on GPUs.
    ///
    /// This way is for tests, because a waiting kernel occupies a thread of the processor. If as many
    /// kernels wait as there are threads, the program hangs. At most n − 1 of n devices wait for another
    /// device. `POCL_PTHREAD_MIN_THREADS` sets the number of PoCL's threads.
    HostFlags,
}

// The best first, as in `PEER_VARIABLE`.
lattice_files::words! {
    PeerWay, "way to the memory of other devices":
    Cuda = "cuda"; CudaHost = "cuda-host"; Amd = "amd"; Host = "host"; HostFlags = "host-flags"
}

impl PeerWay {
    /// Tells whether kernels of one device reach memory of another.
    ///
    /// Otherwise the driver copies.
    pub fn is_memory(self) -> bool {
        self != Self::Amd
    }

    /// Tells whether a device has what the way needs of it.
    ///
    /// Whether the way works between two devices, only a trial tells.
    pub(crate) fn is_thinkable_for(self, info: &DeviceInfo) -> bool {
        let lists = |name: &str| info.extensions.iter().any(|extension| extension == name);
        match self {
            Self::Cuda | Self::CudaHost => lists(IMPORTS_MEMORY),
            Self::Amd => lists(COPIES_TO_PEERS),
            Self::Host | Self::HostFlags => info.computes_in_host_memory(),
        }
    }

    /// Tells whether NVIDIA's driver allocates the memory.
    pub fn is_cuda(self) -> bool {
        matches!(self, Self::Cuda | Self::CudaHost)
    }

    /// Tells whether kernels with other work may wait too.
    ///
    /// Many of their work-groups then wait at once, and must leave room for other kernels.
    pub fn waits_beside_work(self) -> bool {
        self.is_cuda()
    }

    /// Tells whether kernels wait for kernels of other devices, instead of the host.
    pub fn has_flags(self) -> bool {
        self.is_cuda() || self == Self::HostFlags
    }
}

/// The allowed ways. A team uses the best of them that works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerWays([bool; PeerWay::ALL.len()]);

impl PeerWays {
    /// No way: all data go through the host.
    pub const OFF: Self = Self([false; PeerWay::ALL.len()]);

    /// The ways that are used unless something else is asked for.
    pub const USUAL: Self = Self([true, false, true, true, false]);

    /// Allows this way alone.
    pub fn only(way: PeerWay) -> Self {
        Self(PeerWay::ALL.map(|other| other == way))
    }

    /// Returns the allowed ways, the best first.
    pub fn iter(self) -> impl Iterator<Item = PeerWay> {
        PeerWay::ALL.into_iter().zip(self.0).filter(|(_, wanted)| *wanted).map(|(way, _)| way)
    }

    /// Returns the ways that both allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] && other.0[k]))
    }

    /// Returns the ways in [`PEER_VARIABLE`], or [`PeerWays::USUAL`] if it is not set.
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
            let unknown = || {
                let known = lattice_files::words::all::<PeerWay>().join(", ");
                DeviceError::UnknownPeerWay { found: name.to_owned(), known }
            };
            ways.0[known.ok_or_else(unknown)?] = true;
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
        assert_eq!("cuda,amd,host".parse(), Ok(PeerWays::USUAL));
        for way in PeerWay::ALL {
            assert_eq!(way.to_string().parse(), Ok(PeerWays::only(way)));
        }
        assert_eq!(PeerWays::USUAL.and(PeerWays::only(PeerWay::Host)), PeerWays::only(PeerWay::Host));
        let message = ways("nvlink").unwrap_err().to_string();
        assert!(message.contains("`nvlink`") && message.contains("host-flags"), "{message}");
    }
}
