//! Memory of NVIDIA's driver that several OpenCL contexts import.
//!
//! The driver's library, libcuda, is opened at run time. The library allocates memory that can be
//! exported as a file descriptor. OpenCL imports the descriptor by
//! `cl_khr_external_memory_opaque_fd`, once in the context of the owner and of every other device.
//! On GPUs that NVLink connects, a kernel then reads and writes another's memory at the speed of
//! the link. GPUs that do not reach each other reach memory of the host that is allocated and imported
//! in the same way. The driver was 580.159.04.

use super::extension::function;
pub(super) use crate::cuda::MemoryLocation;
use crate::cuda::{Driver, Identity};
use crate::memory::Memory;
use crate::open::{Device, IMPORTS_MEMORY, PeerWay};
use cl3::command_queue::retain_command_queue;
use cl3::context::retain_context;
use opencl3::error_codes::{CL_SUCCESS, ClError};
use opencl3::memory::{Buffer as RawBuffer, CL_MEM_READ_WRITE, cl_mem};
use opencl3::types::{cl_command_queue, cl_event, cl_int, cl_uint};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::ptr;
use std::sync::Arc;

/// CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR.
const OPAQUE_FD: u64 = 0x2060;

/// Returns `true` if two devices are one GPU.
///
/// Kernels of one GPU need not run at the same time.
fn are_one(a: &Device, b: &Device) -> Result<bool, String> {
    Ok(a.core().raw.id() == b.core().raw.id() || identity_of(a)? == identity_of(b)?)
}

/// Returns text that no other GPU of the machine has.
#[cfg(target_os = "linux")]
pub(super) fn identity(device: &Device) -> Result<String, String> {
    identity_of(device).map(|identity| format!("{identity:?}"))
}

fn identity_of(device: &Device) -> Result<Identity, String> {
    Identity::of(device.info(), device.core().raw)
}

/// Fails unless a device imports memory, and its kernels have flags.
fn expect_imports(device: &Device) -> Result<(), String> {
    if PeerWay::Cuda.is_thinkable_for(device.info()) && device.supports_inline_ptx() {
        return Ok(());
    }
    Err(format!("{} has no {IMPORTS_MEMORY}, or takes no inline PTX", device.label()))
}

/// Allocates zeroed memory at a place of the first device, as a buffer of each device.
pub(super) fn allocate(
    users: &[&Device],
    location: MemoryLocation,
    bytes: usize,
) -> Result<Vec<Memory>, String> {
    for (k, device) in users.iter().enumerate() {
        expect_imports(device)?;
        for other in &users[..k] {
            if are_one(device, other)? {
                return Err(format!("{} and {} are one GPU", device.label(), other.label()));
            }
        }
    }
    let (own, descriptor, bytes) = offer(users[0], location, bytes)?;
    let others = users[1..].iter().map(|device| import(device, descriptor.as_fd(), bytes));
    std::iter::once(Ok(own)).chain(others).collect()
}

/// Allocates zeroed memory at a place of a device, as a buffer of the device and as a descriptor.
///
/// Returns the number of bytes too, which the import on another device needs.
pub(super) fn offer(
    owner: &Device,
    location: MemoryLocation,
    bytes: usize,
) -> Result<(Memory, OwnedFd, usize), String> {
    expect_imports(owner)?;
    let (descriptor, bytes) = Driver::get()?.owner(identity_of(owner)?)?.allocate(location, bytes)?;
    let memory = import(owner, descriptor.as_fd(), bytes)?;
    // Memory may hold what another program left there.
    let zeroed = memory.fill(&[0], 0, bytes).and_then(|event| event.wait());
    zeroed.map_err(|error| error.to_string())?;
    Ok((memory, descriptor, bytes))
}

/// Imports the memory behind a descriptor as a buffer of a device.
pub(super) fn import(device: &Device, descriptor: BorrowedFd<'_>, bytes: usize) -> Result<Memory, String> {
    let core = device.core();
    keep_for_ever(device)?;
    let own = descriptor.try_clone_to_owned().map_err(|error| format!("dup: {error}"))?;
    let properties = [OPAQUE_FD, own.as_raw_fd() as u64, 0];
    // SAFETY: the properties end with zero. The descriptor is one of the driver's, and stands for
    // so many bytes. No pointer is given.
    let raw = unsafe {
        cl3::memory::create_buffer_with_properties(
            core.context.get(),
            properties.as_ptr(),
            CL_MEM_READ_WRITE,
            bytes,
            ptr::null_mut(),
        )
    };
    let raw =
        raw.map_err(|code| format!("clCreateBufferWithProperties on {}: {}", core.label, ClError(code)))?;
    // The import has taken the descriptor over.
    let _ = own.into_raw_fd();
    let buffer = RawBuffer::<u8>::new(raw);
    acquire(device, raw)?;
    // The import keeps the memory, so nothing else has to.
    Ok(Memory::standing_for(core, buffer, bytes, Arc::new(())))
}

/// Keeps the context and the queues of a device as long as the process.
///
/// A context that has imported memory is never released: driver 580.159.04 does not return from
/// releasing one.
fn keep_for_ever(device: &Device) -> Result<(), String> {
    let core = device.core();
    // SAFETY: all three objects are alive. One reference to each is never given back.
    let kept = unsafe {
        retain_context(core.context.get())
            .and_then(|()| retain_command_queue(core.compute.get()))
            .and_then(|()| retain_command_queue(core.copy.get()))
    };
    kept.map_err(|code| format!("clRetain on {}: {}", core.label, ClError(code)))
}

type Acquire = unsafe extern "C" fn(
    cl_command_queue,
    cl_uint,
    *const cl_mem,
    cl_uint,
    *const cl_event,
    *mut cl_event,
) -> cl_int;

/// Makes the memory usable on the compute queue, once for all.
fn acquire(device: &Device, memory: cl_mem) -> Result<(), String> {
    let core = device.core();
    let failed =
        |code: i32| format!("clEnqueueAcquireExternalMemObjectsKHR on {}: {}", core.label, ClError(code));
    let address = function(device, c"clEnqueueAcquireExternalMemObjectsKHR")?;
    // SAFETY: the extension defines the function of this name with this signature.
    let acquire: Acquire = unsafe { std::mem::transmute(address) };
    // SAFETY: queue and buffer are of one context; no events are waited for or wanted.
    let status = unsafe { acquire(core.compute.get(), 1, &memory, 0, ptr::null(), ptr::null_mut()) };
    if status == CL_SUCCESS {
        core.compute.finish().map_err(|error| error.to_string())
    } else {
        Err(failed(status))
    }
}
