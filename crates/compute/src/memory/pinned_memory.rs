//! Untyped pinned memory, and the pool of it that a device keeps.
//!
//! Pinned buffers are made of this memory.

use super::mapping::map;
use super::pool::Pool;
use crate::error::{DeviceError, Result};
use crate::queue::{Core, Queue};
use lattice_files::room::expect_room;
use opencl3::memory::{
    Buffer as RawBuffer, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE, ClMem,
};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Number of bytes that a device keeps at most.
const MOST_KEPT: usize = 256 << 20;

/// An OpenCL buffer in pinned host memory, mapped as long as it lives.
pub(super) struct PinnedMemory {
    raw: RawBuffer<u8>,
    address: NonNull<u8>,
    bytes: usize,
    core: Arc<Core>,
}

// SAFETY: the mapped memory belongs to this value alone, like a `Vec`'s; OpenCL objects may be used
// and released from any thread (OpenCL 1.2, appendix A.2).
unsafe impl Send for PinnedMemory {}

impl PinnedMemory {
    /// Allocates `count` elements of `size` bytes, all bytes zero.
    pub fn zeroed(core: &Arc<Core>, count: usize, size: usize) -> Result<Self> {
        let too_large = |wanted| DeviceError::AllocationTooLarge {
            device: core.label.clone(),
            wanted,
            largest: core.info.max_allocation_bytes,
            memory: core.info.memory_bytes,
        };
        let bytes = count.checked_mul(size).ok_or_else(|| too_large(u64::MAX))?.max(1);
        if bytes as u64 > core.info.memory_bytes {
            return Err(too_large(bytes as u64));
        }
        expect_room(bytes as u64)?;
        let flags = CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
        // SAFETY: no host pointer is given, so clCreateBuffer has no precondition on memory.
        let raw = unsafe { RawBuffer::<u8>::create(&core.context, flags, bytes, ptr::null_mut()) }
            .map_err(core.failed("clCreateBuffer"))?;
        let address = map(core, raw.get(), Queue::Copy, bytes, CL_MAP_READ | CL_MAP_WRITE)?.cast::<u8>();
        // SAFETY: `bytes` bytes are mapped for writing, and nobody else has the address yet.
        unsafe { ptr::write_bytes(address.as_ptr(), 0, bytes) };
        Ok(Self { raw, address, bytes, core: Arc::clone(core) })
    }

    /// Returns the address of the first byte.
    pub fn address(&self) -> NonNull<u8> {
        self.address
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        let core = &self.core;
        // SAFETY: the address came from mapping this buffer and is unmapped once. Whoever has
        // references into it keeps `self` alive. The command keeps the buffer alive until it is
        // done.
        let unmapped =
            unsafe { core.copy.enqueue_unmap_mem_object(self.raw.get(), self.address.as_ptr().cast(), &[]) };
        if let Err(error) = unmapped {
            tracing::warn!("pinned memory on {} is not unmapped: {error}", core.label);
        }
    }
}

/// The pinned memory of a device that nobody is using.
pub(super) type PinnedPool = Pool<PinnedMemory>;

impl PinnedPool {
    /// Keeps some memory, unless there is enough.
    pub fn keep(&self, memory: PinnedMemory) {
        let bytes = memory.bytes;
        self.give_back(memory, bytes, MOST_KEPT);
    }
}
