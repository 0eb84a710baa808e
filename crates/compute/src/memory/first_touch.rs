//! Large buffers of processors are zeroed by all threads of the host. Writing to a page first is what gets it memory, which is most of the time that zeroing takes; a
//! driver has one thread for it.

use super::mapping::Mapping;
use super::raw::Memory;
use crate::error::Result;
use crate::queue::Queue;
use crate::select::DeviceKind;
use opencl3::memory::CL_MAP_WRITE_INVALIDATE_REGION;
use rayon::prelude::*;
use std::mem::MaybeUninit;

/// Bytes that a thread writes at a time: a huge page, so that no two wait for the same one but where shares meet.
const SHARE: usize = 2 << 20;

impl Memory {
    /// Whether the host's threads are to make this memory zero: there are shares for several.
    pub(super) fn is_zeroed_by_host(&self) -> bool {
        self.core().info.kind == DeviceKind::Cpu && self.bytes() > SHARE
    }

    /// Makes all bytes zero, and waits. The memory is new: no command uses it.
    pub(super) fn zero_by_host(&self) -> Result<()> {
        // On the copy queue it waits for no kernel, but where a transfer before it does.
        let mapping = Mapping::new(self, Queue::Copy, self.bytes(), CL_MAP_WRITE_INVALIDATE_REGION)?;
        // SAFETY: as many bytes are mapped for writing, and nobody else has their address. They are numbers whatever they are, and nobody reads them before
        // they are written.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(mapping.address().as_ptr().cast::<MaybeUninit<u8>>(), self.bytes())
        };
        bytes.par_chunks_mut(SHARE).for_each(|share| share.fill(MaybeUninit::new(0)));
        mapping.unmap()
    }
}
