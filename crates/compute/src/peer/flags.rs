//! Flags by which kernels of different devices wait for each other.

use super::kernels::{FLAGS, PeerKernels, written};
use super::peers::Peers;
use crate::error::Result;
use crate::kernel::{Argument, Range};
use crate::memory::Buffer;
use std::sync::Arc;

/// Words from one flag to the next, `FLAG_STRIDE` of `cl/peer.cl`.
const STRIDE: usize = 32;

/// Flags in the memory of each device, one for each of the others to raise. What is waited for is an epoch, which grows.
pub struct PeerFlags {
    peers: Arc<Peers>,
    kernels: Vec<Arc<PeerKernels>>,
    /// Those of each device, as all see them.
    flags: Vec<Vec<Buffer<u32>>>,
}

impl PeerFlags {
    /// Flags for all devices, at epoch 0.
    ///
    /// # Errors
    /// [`DeviceError::PeerMemory`](crate::DeviceError::PeerMemory); those of compiling.
    pub fn new(peers: &Arc<Peers>) -> Result<Self> {
        Self::at_epoch(peers, 0)
    }

    /// Flags for all devices, which stand at this epoch.
    ///
    /// # Errors
    /// As [`PeerFlags::new`].
    pub fn at_epoch(peers: &Arc<Peers>, epoch: u32) -> Result<Self> {
        let count = peers.devices().len();
        let of = |owner: usize| {
            let mut buffers = peers.memory_of(owner, FLAGS * STRIDE)?;
            buffers[owner].write(&[epoch; FLAGS * STRIDE])?;
            Ok(buffers)
        };
        Ok(Self {
            kernels: peers.devices().iter().map(PeerKernels::of).collect::<Result<_>>()?,
            flags: (0..count).map(of).collect::<Result<_>>()?,
            peers: Arc::clone(peers),
        })
    }

    /// The flags of device `owner`, as device `user` sees them.
    pub(crate) fn argument(&mut self, owner: usize, user: usize) -> Argument<'_> {
        Argument::from(&mut self.flags[owner][user])
    }

    /// Behind everything that device `by` has been given to do, raises its flag at device `at`.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn raise(&mut self, by: usize, at: usize, epoch: u32) -> Result<()> {
        let kernels = Arc::clone(&self.kernels[by]);
        let which = 1_u32 << by;
        kernels.raise.start(
            Range::groups(1, FLAGS),
            &[self.argument(at, by), Argument::value(which), Argument::value(epoch)],
        )
    }

    /// Holds what device `on` is given to do from now on until the flags of these devices are raised. They must have been enqueued, and flushed.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl). A wait in vain is told by [`Peers::check`].
    pub fn wait(
        &mut self,
        on: usize,
        for_devices: impl IntoIterator<Item = usize>,
        epoch: u32,
    ) -> Result<()> {
        let which = for_devices.into_iter().fold(0_u32, |which, device| which | 1 << device);
        let (kernels, peers) = (Arc::clone(&self.kernels[on]), Arc::clone(&self.peers));
        kernels.wait.start(
            Range::groups(1, FLAGS),
            &[
                self.argument(on, on),
                Argument::value(which),
                Argument::value(epoch),
                Argument::value(peers.patience()),
                written(peers.mark(on)),
            ],
        )
    }
}
