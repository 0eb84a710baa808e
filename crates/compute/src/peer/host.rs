//! Memory of the host that several devices compute in.

use crate::memory::Memory;
use crate::open::Device;
use crate::queue::Core;
use opencl3::memory::{Buffer as RawBuffer, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::Arc;

/// Size of a page in bytes.
///
/// Drivers use memory in place if it begins with a page, and may copy other memory.
const PAGE: usize = 4096;

/// Zeroed memory, and the devices that may be using it.
struct Allocation {
    address: NonNull<u8>,
    layout: Layout,
    users: Vec<Arc<Core>>,
}

// SAFETY: the memory belongs to this value alone, which gives only its address away, to OpenCL.
unsafe impl Send for Allocation {}
// SAFETY: the memory belongs to this value alone, which gives only its address away, to OpenCL.
unsafe impl Sync for Allocation {}

impl Drop for Allocation {
    fn drop(&mut self) {
        // A released buffer keeps its place until the commands that use it are done. A buffer does
        // not keep memory of others.
        let finished =
            self.users.iter().all(|core| core.compute.finish().is_ok() && core.copy.finish().is_ok());
        if finished {
            // SAFETY: allocated with this layout, and used by no command any more.
            unsafe { dealloc(self.address.as_ptr(), self.layout) };
        } else {
            tracing::warn!("memory that devices share is left allocated, as one of them failed");
        }
    }
}

/// Allocates `bytes` zeroed bytes, as a buffer of each of the devices.
///
/// All buffers are the same bytes.
pub(super) fn allocate(users: &[&Device], bytes: usize) -> Result<Vec<Memory>, String> {
    let bytes = bytes.max(1).next_multiple_of(PAGE);
    let layout = Layout::from_size_align(bytes, PAGE).map_err(|error| error.to_string())?;
    // SAFETY: the size is not zero.
    let Some(address) = NonNull::new(unsafe { alloc_zeroed(layout) }) else { handle_alloc_error(layout) };
    let cores = users.iter().map(|device| Arc::clone(device.core())).collect();
    let allocation = Arc::new(Allocation { address, layout, users: cores });
    users
        .iter()
        .map(|device| {
            let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
            // SAFETY: so many bytes are allocated there. The bytes stay as long as the buffer,
            // which keeps `allocation`, and its commands, which `allocation` waits for.
            let raw = unsafe {
                RawBuffer::<u8>::create(&device.core().context, flags, bytes, address.as_ptr().cast())
            };
            let raw = raw.map_err(|error| format!("clCreateBuffer of host memory: {error}"))?;
            Ok(Memory::standing_for(device.core(), raw, bytes, allocation.clone()))
        })
        .collect()
}
