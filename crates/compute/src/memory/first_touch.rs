//! Zeroing of large buffers on processors, by all threads of the host.
//!
//! The first write to a page gets the page its memory. The first writes are most of the time that
//! zeroing takes. A driver zeroes with one thread.

use super::mapping::Mapping;
use super::raw::Memory;
use crate::error::Result;
use crate::parallel::*;
use crate::queue::Queue;
use crate::select::DeviceKind;
use opencl3::memory::CL_MAP_WRITE_INVALIDATE_REGION;
use std::mem::MaybeUninit;

/// Bytes that a thread writes at a time: a huge page.
///
/// Two threads wait for one page only at the border of their shares.
const SHARE: usize = 2 << 20;

impl Memory {
    /// Returns `true` if the host's threads make this memory zero.
    ///
    /// The threads zero the memory if there are shares for several threads.
    pub(super) fn is_zeroed_by_host(&self) -> bool {
        self.core().info.kind == DeviceKind::Cpu && self.bytes() > SHARE
    }

    /// Makes all bytes zero, and waits. The memory is new: no command uses it.
    pub(super) fn zero_by_host(&self) -> Result<()> {
        // The mapping waits for no kernel on the copy queue, but for a transfer before it.
        let mapping = Mapping::new(self, Queue::Copy, self.bytes(), CL_MAP_WRITE_INVALIDATE_REGION)?;
        // SAFETY: as many bytes are mapped for writing, and nobody else has their address. Any
        // bytes are valid numbers, and nobody reads these bytes before they are written.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(mapping.address().as_ptr().cast::<MaybeUninit<u8>>(), self.bytes())
        };
        bytes.par_chunks_mut(SHARE).for_each(|share| share.fill(MaybeUninit::new(0)));
        mapping.unmap()
    }
}
