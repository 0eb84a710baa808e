//! The kernels of `cl/peer.cl` on one device.

use crate::error::Result;
use crate::kernel::{Argument, Kernel, KernelFamily, KernelKey, Parameter};
use crate::memory::Buffer;
use crate::open::Device;
use std::sync::Arc;

/// OpenCL C text of flags, for kernels that raise some or wait for some.
pub const FLAG_SOURCE: &str = include_str!("../../cl/flags.cl");

const PEER: KernelFamily = KernelFamily::new("peer", &[FLAG_SOURCE, include_str!("../../cl/peer.cl")]);

/// Flags of a device, one for each device that may raise one: as many as a word has bits.
pub const FLAGS: usize = 32;

/// The kernels by which devices tell each other something.
pub(crate) struct PeerKernels {
    pub raise: Kernel,
    pub wait: Kernel,
    pub send: Kernel,
    pub add: Kernel,
    pub write: Kernel,
    pub read: Kernel,
    pub ping: Kernel,
}

impl PeerKernels {
    /// Those of a device, compiled when they are wanted first.
    pub fn of(device: &Device) -> Result<Arc<Self>> {
        device.attached(Self::new)
    }

    fn new(device: &Device) -> Result<Self> {
        let program = device.program(&KernelKey::of_real::<f64>(PEER))?;
        let number = Parameter::value::<u32>;
        let (words, mark) = (Parameter::output::<u32>, Parameter::output::<u32>("mark"));
        let (flags, epoch, patience) = (words("flags"), number("epoch"), number("patience"));
        Ok(Self {
            raise: program.kernel("peer_raise", &[flags, number("which"), epoch])?,
            wait: program.kernel("peer_wait", &[flags, number("which"), epoch, patience, mark])?,
            send: program.kernel(
                "peer_send",
                &[
                    Parameter::input::<f64>("sums"),
                    number("slot"),
                    Parameter::output::<f64>("boxes"),
                    flags,
                    number("from"),
                    number("devices"),
                    epoch,
                ],
            )?,
            add: program.kernel(
                "peer_add",
                &[
                    Parameter::output::<f64>("sums"),
                    number("slot"),
                    number("own"),
                    Parameter::input::<f64>("boxes"),
                    flags,
                    number("self"),
                    number("devices"),
                    epoch,
                    patience,
                    mark,
                ],
            )?,
            write: program.kernel("peer_write", &[words("to"), number("seed"), number("count")])?,
            read: program
                .kernel("peer_read", &[Parameter::input::<u32>("from"), words("to"), number("count")])?,
            ping: program
                .kernel("peer_ping", &[flags, number("second"), number("rounds"), patience, mark])?,
        })
    }
}

/// Memory that kernels write by atomics, as an argument that they may write.
pub(crate) fn written(words: &Buffer<u32>) -> Argument<'_> {
    words.memory().argument::<u32>()
}
