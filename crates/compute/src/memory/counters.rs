//! Counters for work-groups of one launch that tell each other when they are done.

use super::pool::Pool;
use super::raw::Memory;
use crate::error::Result;
use crate::kernel::Argument;
use crate::open::Device;
use std::fmt;

/// The free counters of a device: all zero between launches.
#[derive(Default)]
struct CounterPool(Pool<Memory>);

/// Number of counters that memory is made for, unless more are asked for.
const LEAST: usize = 1024;

/// Counters of a device, taken for one launch.
///
/// The counters are at least as many as were asked for, zero and of 32 bits. The launch leaves the
/// counters zero again. Dropping gives the counters back.
///
/// Launches on a device run in order, so the counters can serve the next launch as soon as the last
/// has been enqueued.
pub struct Counters {
    device: Device,
    /// The memory; `None` only while being dropped.
    memory: Option<(Memory, usize)>,
}

impl Device {
    /// Returns zeros for a launch that counts with `len` counters.
    ///
    /// Nothing is allocated if enough are free.
    ///
    /// # Errors
    /// [`DeviceError::AllocationTooLarge`](crate::DeviceError::AllocationTooLarge),
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn counters(&self, len: usize) -> Result<Counters> {
        let memory = match self.kept::<CounterPool>().0.take(len.saturating_mul(size_of::<u32>())) {
            Some(memory) => memory,
            None => {
                let len = len.max(LEAST);
                (Memory::zeroed(self.core(), len, size_of::<u32>())?, len * size_of::<u32>())
            }
        };
        Ok(Counters { device: self.clone(), memory: Some(memory) })
    }
}

impl Counters {
    /// Makes an argument of the counters, a whole buffer.
    pub fn argument(&mut self) -> Argument<'_> {
        let (memory, _) = self.memory.as_ref().expect("the memory is there until `self` is dropped");
        memory.argument::<u32>()
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        if let Some((memory, bytes)) = self.memory.take() {
            self.device.kept::<CounterPool>().0.give_back(memory, bytes, usize::MAX);
        }
    }
}

impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.memory.as_ref().map_or(0, |(_, bytes)| *bytes);
        write!(f, "Counters({} on {})", bytes / size_of::<u32>(), self.device.label())
    }
}
