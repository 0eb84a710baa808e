//! The mapping of a buffer into the host's memory.

use super::raw::Memory;
use crate::error::Result;
use crate::queue::{Core, Noted, Queue};
use opencl3::command_queue::enqueue_map_buffer;
use opencl3::error_codes::CL_MAP_FAILURE;
use opencl3::memory::cl_mem;
use opencl3::types::{CL_BLOCKING, cl_map_flags};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Maps the first `bytes` bytes of a buffer, after the commands on the queue.
///
/// The buffer has as many bytes. On success the bytes are at the returned address until the buffer
/// is unmapped.
pub(super) fn map(
    core: &Arc<Core>,
    buffer: cl_mem,
    queue: Queue,
    bytes: usize,
    flags: cl_map_flags,
) -> Result<NonNull<c_void>> {
    let mut address = ptr::null_mut();
    let noted = Noted { name: "map", queue, bytes, waits: true };
    // SAFETY: callers map a buffer of this context. OpenCL refuses more bytes than the buffer has.
    // The call is blocking, so that `address` is written before this returns.
    core.enqueue("clEnqueueMapBuffer", noted, || unsafe {
        let queue = core.queue(queue).get();
        enqueue_map_buffer(queue, buffer, CL_BLOCKING, flags, 0, bytes, &mut address, 0, ptr::null())
    })?;
    NonNull::new(address).ok_or_else(|| core.failed_with("clEnqueueMapBuffer")(CL_MAP_FAILURE))
}

/// The first bytes of a buffer, mapped into the memory of the host.
pub(super) struct Mapping<'a> {
    memory: &'a Memory,
    queue: Queue,
    address: NonNull<c_void>,
}

impl<'a> Mapping<'a> {
    /// Maps `bytes` bytes, after the commands on the queue.
    pub(super) fn new(memory: &'a Memory, queue: Queue, bytes: usize, flags: cl_map_flags) -> Result<Self> {
        Ok(Self { memory, queue, address: map(memory.core(), memory.raw(), queue, bytes, flags)? })
    }

    /// Returns the address of the first byte.
    pub(super) fn address(&self) -> NonNull<c_void> {
        self.address
    }

    /// Unmaps, and waits until the device has the bytes that were written.
    pub(super) fn unmap(self) -> Result<()> {
        let core = self.memory.core();
        // SAFETY: the address came from mapping this buffer. The address is unmapped once, because
        // this takes `self`. The callers keep no pointer into the mapping.
        let event = unsafe {
            core.queue(self.queue).enqueue_unmap_mem_object(self.memory.raw(), self.address.as_ptr(), &[])
        };
        event.map_err(core.failed("clEnqueueUnmapMemObject"))?.wait().map_err(core.failed("clWaitForEvents"))
    }
}
