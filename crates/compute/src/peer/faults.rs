//! Faults and delays between devices, for tests.

use super::kernels::{FLAGS, PeerKernels, STRIDE, written};
use crate::error::{DeviceError, Result};
use crate::kernel::{Argument, Range};
use crate::memory::Buffer;
use crate::open::Device;
use crate::sync::lock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A device raises no further flags after a number of flags.
    Silent {
        /// Number of the device.
        device: usize,
        /// Number of flags that the device raises before.
        after: u32,
    },
    /// Every device is delayed at random, between its data and their flag.
    Late {
        /// Seed of the random numbers.
        seed: u64,
        /// The longest delay, in milliseconds.
        most: u32,
    },
    /// A launch of a device fails, once.
    Failing {
        /// Number of the device.
        device: usize,
        /// Number of launches that succeed before.
        after: u32,
    },
    /// Every flag is raised an epoch early, and the first ones when they are made.
    ///
    /// Nobody waits then, so a simulator can run one kernel after the other. Data may be those of two
    /// epochs before.
    Early,
}

/// A fault of the devices of a team.
pub(super) struct Faults {
    fault: Fault,
    raised: AtomicU32,
    random: AtomicU64,
    /// For each device, a flag that nobody raises and a mark of its waiters.
    never: Vec<Mutex<[Buffer<u32>; 2]>>,
}

impl Faults {
    pub fn new(devices: &[Device], fault: Fault) -> Result<Self> {
        let never = devices.iter().map(|device| {
            Ok(Mutex::new([Buffer::zeroed(device, FLAGS * STRIDE)?, Buffer::zeroed(device, 1)?]))
        });
        let seed = if let Fault::Late { seed, .. } = fault { seed } else { 0 };
        Ok(Self {
            fault,
            raised: AtomicU32::new(0),
            random: AtomicU64::new(seed),
            never: never.collect::<Result<_>>()?,
        })
    }

    /// Counts a flag of device `by`, and tells whether the device raises it.
    fn raises(&self, by: usize) -> bool {
        match self.fault {
            Fault::Silent { device, after } if device == by => {
                self.raised.fetch_add(1, Ordering::Relaxed) < after
            }
            _ => true,
        }
    }

    /// Fails in the place of a launch of device `by`, if it is to fail.
    pub fn fail(&self, by: usize, label: &str) -> Result<()> {
        match self.fault {
            Fault::Failing { device, after } if device == by => {
                if self.raised.fetch_add(1, Ordering::Relaxed) != after {
                    return Ok(());
                }
                let reason = "a fault for a test".to_owned();
                Err(DeviceError::PeerMemory { device: label.to_owned(), reason })
            }
            _ => Ok(()),
        }
    }

    /// Returns the epoch at which flags begin.
    pub fn first_epoch(&self) -> u32 {
        if self.fault == Fault::Early { 1 } else { 0 }
    }

    /// Returns the epoch that device `by` tells others at the end of `epoch`.
    pub fn told(&self, by: usize, epoch: u32) -> u32 {
        match self.fault {
            Fault::Early => epoch.wrapping_add(1),
            _ if self.raises(by) => epoch,
            _ => epoch.wrapping_sub(2),
        }
    }

    /// Delays device `by`.
    pub fn hold_up(&self, kernels: &Arc<PeerKernels>, by: usize) -> Result<()> {
        let Fault::Late { most, .. } = self.fault else { return Ok(()) };
        // Knuth's multiplier; the upper bits are the good ones.
        let state = self.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let mixed = (state ^ (state >> 29)).wrapping_mul(6_364_136_223_846_793_005);
        let delay = ((mixed >> 33) % u64::from(most + 1)) as u32;
        let [flags, mark] = &mut *lock(&self.never[by]);
        mark.fill(0)?;
        let (which, epoch, patience) =
            (Argument::value(1_u32), Argument::value(1_u32), Argument::value(delay));
        kernels.wait.start(Range::groups(1, FLAGS), &[written(flags), which, epoch, patience, written(mark)])
    }
}
