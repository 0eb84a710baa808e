//! Flags by which kernels of different devices wait for each other.

use super::faults::Faults;
use super::kernels::{FLAGS, PeerKernels, STRIDE, written};
use super::peers::Peers;
use crate::error::Result;
use crate::kernel::{Argument, Range};
use crate::memory::Buffer;
use std::sync::Arc;

/// Flags in the memory of each device, one for each other device to raise.
///
/// A flag has an epoch, which grows. Kernels wait for an epoch.
pub struct PeerFlags {
    peers: Arc<Peers>,
    kernels: Vec<Arc<PeerKernels>>,
    /// The flags of each device, for the devices of this process.
    flags: Vec<Vec<Buffer<u32>>>,
}

impl PeerFlags {
    /// Flags for all devices, at epoch 0.
    ///
    /// # Errors
    /// [`DeviceError::PeerMemory`](crate::DeviceError::PeerMemory); those of compiling.
    pub fn new(peers: &Arc<Peers>) -> Result<Self> {
        Self::at_epoch(peers, peers.faults().map_or(0, Faults::first_epoch))
    }

    /// Makes flags for all devices, at this epoch. Every rank calls this.
    ///
    /// # Errors
    /// All errors of [`PeerFlags::new`].
    pub fn at_epoch(peers: &Arc<Peers>, epoch: u32) -> Result<Self> {
        let of = |owner: usize| {
            let mut buffers = peers.memory_of(owner, FLAGS * STRIDE)?;
            if let Some(place) = peers.place(owner) {
                buffers[place].write(&[epoch; FLAGS * STRIDE])?;
            }
            Ok(buffers)
        };
        let flags = Self {
            kernels: peers.devices().iter().map(PeerKernels::of).collect::<Result<_>>()?,
            flags: (0..peers.count()).map(of).collect::<Result<_>>()?,
            peers: Arc::clone(peers),
        };
        // Nobody raises a flag before it stands at its epoch.
        peers.all_are_here()?;
        Ok(flags)
    }

    /// Returns the flags of device `owner`, for kernels of device `user`.
    ///
    /// `user` is a device of this process.
    pub fn argument(&self, owner: usize, user: usize) -> Argument<'_> {
        written(&self.flags[owner][self.place(user)])
    }

    /// The place of a device of this process, by its number.
    fn place(&self, number: usize) -> usize {
        self.peers.place(number).expect("a device of this process")
    }

    /// Returns the arguments of a kernel that waits for flags.
    ///
    /// They are for `uint *flags, uint epoch, uint patience, uint *mark`. The kernel contains
    /// [`FLAG_SOURCE`](crate::FLAG_SOURCE).
    pub fn wait_arguments(&self, on: usize, epoch: u32) -> [Argument<'_>; 4] {
        let patience = Argument::value(self.peers.patience());
        [self.argument(on, on), Argument::value(epoch), patience, written(self.peers.mark(self.place(on)))]
    }

    /// Returns the arguments of a kernel of device `by` that raises flags after its last work-group.
    ///
    /// They are for `uint *groups_done, uint self, uint told`. The flags of the devices that are told
    /// are further arguments.
    ///
    /// `done` is a zeroed word of the device.
    pub fn raise_arguments<'a>(&self, done: &'a Buffer<u32>, by: usize, epoch: u32) -> [Argument<'a>; 3] {
        // A test has them raised later: see `raised`.
        let told = if self.peers.faults().is_some() { epoch.wrapping_sub(2) } else { epoch };
        [written(done), Argument::value(by as u32), Argument::value(told)]
    }

    /// Returns the arguments like [`raise_arguments`](Self::raise_arguments), for a kernel that also waits.
    ///
    /// The caller launches the kernel next, and does not call [`raised`](Self::raised). With a
    /// [`Fault`](super::Fault) the kernel is late, or raises no flags.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn meeting_arguments<'a>(
        &self,
        done: &'a Buffer<u32>,
        by: usize,
        epoch: u32,
    ) -> Result<[Argument<'a>; 3]> {
        Ok([written(done), Argument::value(by as u32), Argument::value(self.told(by, epoch)?)])
    }

    /// Raises flags instead of a kernel, if a test has a [`Fault`](super::Fault).
    ///
    /// The caller calls this after the launch of a kernel with [`PeerFlags::raise_arguments`]. With a
    /// fault, flags are raised here, late or not at all.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn raised(&self, by: usize, at: [usize; 2], epoch: u32) -> Result<()> {
        if self.peers.faults().is_none() {
            return Ok(());
        }
        let told = self.told(by, epoch)?;
        let [one, other] = at;
        self.raise(by, one, told)?;
        if other == one { Ok(()) } else { self.raise(by, other, told) }
    }

    /// Returns the epoch that device `by` tells others next.
    ///
    /// If a test has a [`Fault`](super::Fault), the epoch is another one, or late.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub(crate) fn told(&self, by: usize, epoch: u32) -> Result<u32> {
        let Some(faults) = self.peers.faults() else { return Ok(epoch) };
        let place = self.place(by);
        faults.fail(by, self.peers.label(by))?;
        faults.hold_up(&self.kernels[place], place)?;
        Ok(faults.told(by, epoch))
    }

    /// The devices.
    pub fn peers(&self) -> &Arc<Peers> {
        &self.peers
    }

    /// Raises the flag of device `by` at device `at`, after all its earlier commands.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn raise(&self, by: usize, at: usize, epoch: u32) -> Result<()> {
        let kernels = Arc::clone(&self.kernels[self.place(by)]);
        let which = 1_u32 << by;
        kernels.raise.start(
            Range::groups(1, FLAGS),
            &[self.argument(at, by), Argument::value(which), Argument::value(epoch)],
        )
    }

    /// Delays later commands of device `on` until these devices raise their flags.
    ///
    /// The flags must have been enqueued and flushed.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl). [`Peers::check`] reports a wait in
    /// vain.
    pub fn wait(&self, on: usize, for_devices: impl IntoIterator<Item = usize>, epoch: u32) -> Result<()> {
        let which = for_devices.into_iter().fold(0_u32, |which, device| which | 1 << device);
        let place = self.place(on);
        let (kernels, peers) = (Arc::clone(&self.kernels[place]), Arc::clone(&self.peers));
        kernels.wait.start(
            Range::groups(1, FLAGS),
            &[
                self.argument(on, on),
                Argument::value(which),
                Argument::value(epoch),
                Argument::value(peers.patience()),
                written(peers.mark(place)),
            ],
        )
    }
}
