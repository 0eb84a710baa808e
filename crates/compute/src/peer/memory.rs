//! Memory of one device, seen by several.

#[cfg(unix)]
use super::cuda;
use super::host;
use crate::error::{DeviceError, Result};
use crate::memory::{Buffer, Memory};
use crate::open::{Device, PeerWay};
use bytemuck::Pod;
#[cfg(target_os = "linux")]
use std::os::fd::{BorrowedFd, OwnedFd};

/// The reason why a way that copies has no memory.
const NO_MEMORY: &str = "this way copies, and has no memory for kernels of several devices";

/// Allocates `len` zeroed elements of the first device, as a buffer of each device.
///
/// The buffers are the same memory. The users must agree on who writes and who reads when.
pub(super) fn shared<T: Pod>(way: PeerWay, users: &[&Device], len: usize) -> Result<Vec<Buffer<T>>> {
    let memories = allocate(way, users, len.saturating_mul(size_of::<T>()))
        .map_err(|reason| DeviceError::PeerMemory { device: users[0].label().to_owned(), reason })?;
    Ok(users.iter().zip(memories).map(|(device, memory)| Buffer::of_memory(device, memory, len)).collect())
}

/// Allocates zeroed bytes of a device that other processes can take into use.
///
/// Returns them as memory of the device, as a descriptor, and the number of bytes that it stands for.
#[cfg(target_os = "linux")]
pub(super) fn offer(way: PeerWay, owner: &Device, bytes: usize) -> Result<(Memory, OwnedFd, usize), String> {
    match way {
        PeerWay::Cuda => cuda::offer(owner, cuda::MemoryLocation::Device, bytes),
        PeerWay::CudaHost => cuda::offer(owner, cuda::MemoryLocation::Host, bytes),
        PeerWay::Amd => Err(NO_MEMORY.to_owned()),
        PeerWay::Host | PeerWay::HostFlags => {
            expect_host_memory(&[owner])?;
            host::offer(owner, bytes)
        }
    }
}

/// Makes what another process has offered memory of a device.
#[cfg(target_os = "linux")]
pub(super) fn accept(
    way: PeerWay,
    user: &Device,
    descriptor: BorrowedFd<'_>,
    bytes: usize,
) -> Result<Memory, String> {
    match way {
        PeerWay::Cuda | PeerWay::CudaHost => cuda::import(user, descriptor, bytes),
        PeerWay::Amd => Err(NO_MEMORY.to_owned()),
        PeerWay::Host | PeerWay::HostFlags => {
            expect_host_memory(&[user])?;
            host::map(user, descriptor, bytes)
        }
    }
}

/// Fails unless the devices compute in the host's memory.
///
/// Other devices would copy it. The probe would notice a copy, but not a later one.
fn expect_host_memory(users: &[&Device]) -> Result<(), String> {
    match users.iter().find(|device| !device.info().computes_in_host_memory()) {
        Some(other) => Err(format!("{} does not compute in the host's memory", other.label())),
        None => Ok(()),
    }
}

/// Allocates zeroed bytes of the first device, as memory of each device.
pub(super) fn allocate(way: PeerWay, users: &[&Device], bytes: usize) -> Result<Vec<Memory>, String> {
    match way {
        #[cfg(unix)]
        PeerWay::Cuda => cuda::allocate(users, cuda::MemoryLocation::Device, bytes),
        #[cfg(unix)]
        PeerWay::CudaHost => cuda::allocate(users, cuda::MemoryLocation::Host, bytes),
        #[cfg(not(unix))]
        PeerWay::Cuda | PeerWay::CudaHost => Err("this system has no file descriptors".to_owned()),
        PeerWay::Amd => Err(NO_MEMORY.to_owned()),
        PeerWay::Host | PeerWay::HostFlags => {
            expect_host_memory(users)?;
            host::allocate(users, bytes)
        }
    }
}
