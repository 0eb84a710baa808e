//! Memory of the host that several devices compute in.

use crate::memory::Memory;
use crate::open::Device;
use crate::queue::Core;
use opencl3::memory::{Buffer as RawBuffer, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR};
#[cfg(target_os = "linux")]
use rustix::{fs, mm};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;

/// Size of a page in bytes.
///
/// Drivers use memory in place if it begins with a page, and may copy other memory.
const PAGE: usize = 4096;

/// Zeroed memory, and the devices that may be using it.
struct Allocation {
    address: NonNull<u8>,
    origin: Origin,
    users: Vec<Arc<Core>>,
}

/// The origin of memory, which gets it back.
enum Origin {
    /// The allocator of this process.
    Process(Layout),
    /// So many bytes of a file in memory, which other processes map as well.
    #[cfg(target_os = "linux")]
    File(usize),
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
            match self.origin {
                // SAFETY: allocated with this layout, and used by no command any more.
                Origin::Process(layout) => unsafe { dealloc(self.address.as_ptr(), layout) },
                // SAFETY: so many bytes are mapped there, and used by no command any more.
                #[cfg(target_os = "linux")]
                Origin::File(bytes) => unsafe {
                    if let Err(error) = mm::munmap(self.address.as_ptr().cast(), bytes) {
                        tracing::warn!("memory that ranks share stays mapped: {error}");
                    }
                },
            }
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
    let allocation = Arc::new(Allocation { address, origin: Origin::Process(layout), users: cores });
    users.iter().map(|device| buffer(device, &allocation, bytes)).collect()
}

/// Makes a buffer of a device that is the allocation, of so many bytes.
fn buffer(device: &Device, allocation: &Arc<Allocation>, bytes: usize) -> Result<Memory, String> {
    let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    // SAFETY: so many bytes are allocated there. The bytes stay as long as the buffer, which keeps
    // `allocation`, and its commands, which `allocation` waits for.
    let raw = unsafe {
        RawBuffer::<u8>::create(&device.core().context, flags, bytes, allocation.address.as_ptr().cast())
    };
    let raw = raw.map_err(|error| format!("clCreateBuffer of host memory: {error}"))?;
    Ok(Memory::standing_for(device.core(), raw, bytes, allocation.clone()))
}

/// Makes a zeroed file in memory, and maps it for a device.
///
/// Returns its descriptor and the number of its bytes, by which other processes map it.
#[cfg(target_os = "linux")]
pub(super) fn offer(owner: &Device, bytes: usize) -> Result<(Memory, OwnedFd, usize), String> {
    let bytes = bytes.max(1).next_multiple_of(PAGE);
    let failed = |what: &'static str| move |error| format!("{what}: {error}");
    let flags = fs::MemfdFlags::CLOEXEC;
    let descriptor = fs::memfd_create("lattice-cl", flags).map_err(failed("memfd_create"))?;
    fs::ftruncate(&descriptor, bytes as u64).map_err(failed("ftruncate"))?;
    Ok((map(owner, descriptor.as_fd(), bytes)?, descriptor, bytes))
}

/// Maps a file in memory for a device.
#[cfg(target_os = "linux")]
pub(super) fn map(user: &Device, descriptor: BorrowedFd<'_>, bytes: usize) -> Result<Memory, String> {
    let size = fs::fstat(descriptor).map_err(|error| format!("fstat: {error}"))?.st_size;
    if (size as u64) < bytes as u64 {
        return Err(format!("memory of another rank has {size} bytes instead of {bytes}"));
    }
    let access = mm::ProtFlags::READ | mm::ProtFlags::WRITE;
    // SAFETY: the system chooses the address. The file has so many bytes, and nobody shortens it.
    let mapped =
        unsafe { mm::mmap(std::ptr::null_mut(), bytes, access, mm::MapFlags::SHARED, descriptor, 0) };
    let mapped = mapped.map_err(|error| format!("mmap: {error}"))?;
    let address = NonNull::new(mapped.cast()).ok_or("mmap: no address")?;
    let users = vec![Arc::clone(user.core())];
    buffer(user, &Arc::new(Allocation { address, origin: Origin::File(bytes), users }), bytes)
}
