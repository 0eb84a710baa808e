//! The kernels of `cl/peer.cl` on one device.

use crate::error::Result;
use crate::kernel::{Argument, Kernel, KernelFamily, KernelKey};
use crate::memory::Buffer;
use crate::open::Device;
use std::sync::Arc;

/// OpenCL C text of flags, for kernels that raise flags or wait for flags.
pub const FLAG_SOURCE: &str = include_str!("../../cl/flags.cl");

/// OpenCL C text for kernels that add the sums of several devices, behind [`FLAG_SOURCE`].
pub const MAILBOX_SOURCE: &str = include_str!("../../cl/mailboxes.cl");

const PEER: KernelFamily =
    KernelFamily::new("peer", &[FLAG_SOURCE, MAILBOX_SOURCE, include_str!("../../cl/peer.cl")]);

/// Flags of a device: one for each other device, as many as a word has bits.
pub const FLAGS: usize = 32;

/// Most numbers of an array that devices add.
pub const MOST_IN_ARRAY: usize = 1024;

/// Words from one flag to the next, `FLAG_STRIDE` of `cl/peer.cl`.
pub(super) const STRIDE: usize = 32;

/// The kernels by which devices send each other data and flags.
pub(crate) struct PeerKernels {
    pub raise: Kernel,
    pub wait: Kernel,
    pub send: Kernel,
    pub add: Kernel,
    pub send_array: Kernel,
    pub add_array: Kernel,
    pub write: Kernel,
    pub read: Kernel,
    pub ping: Kernel,
}

impl PeerKernels {
    /// Returns the kernels of a device, compiled on first use.
    pub fn of(device: &Device) -> Result<Arc<Self>> {
        device.attached(Self::new)
    }

    fn new(device: &Device) -> Result<Self> {
        let key = KernelKey::of_real::<f64>(PEER).define("ARRAY_DOUBLES", MOST_IN_ARRAY);
        let program = device.program(&key)?;
        Ok(Self {
            raise: program.kernel("peer_raise")?,
            wait: program.kernel("peer_wait")?,
            send: program.kernel("peer_send")?,
            add: program.kernel("peer_add")?,
            send_array: program.kernel("peer_send_array")?,
            add_array: program.kernel("peer_add_array")?,
            write: program.kernel("peer_write")?,
            read: program.kernel("peer_read")?,
            ping: program.kernel("peer_ping")?,
        })
    }
}

/// Returns memory that several devices write, as an argument to write.
pub(crate) fn written<T: bytemuck::Pod>(words: &Buffer<T>) -> Argument<'_> {
    words.memory().argument::<T>()
}
