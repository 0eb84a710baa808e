//! Memory of one device, seen by several.

#[cfg(unix)]
use super::cuda;
use super::host;
use crate::error::{DeviceError, Result};
use crate::memory::{Buffer, Memory};
use crate::open::{Device, PeerWay};
use bytemuck::Pod;

/// Allocates `len` zeroed elements of the first device, as a buffer of each device.
///
/// The buffers are the same memory. The users must agree on who writes and who reads when.
pub(super) fn shared<T: Pod>(way: PeerWay, users: &[&Device], len: usize) -> Result<Vec<Buffer<T>>> {
    let memories = allocate(way, users, len.saturating_mul(size_of::<T>()))
        .map_err(|reason| DeviceError::PeerMemory { device: users[0].label().to_owned(), reason })?;
    Ok(users.iter().zip(memories).map(|(device, memory)| Buffer::of_memory(device, memory, len)).collect())
}

/// Allocates zeroed bytes of the first device, as memory of each device.
pub(super) fn allocate(way: PeerWay, users: &[&Device], bytes: usize) -> Result<Vec<Memory>, String> {
    match way {
        #[cfg(unix)]
        PeerWay::Cuda => cuda::allocate(users, bytes),
        #[cfg(not(unix))]
        PeerWay::Cuda => Err("this system has no file descriptors".to_owned()),
        PeerWay::Host | PeerWay::HostFlags => {
            // Other devices would copy the memory. The probe would notice a copy, but not a later
            // one.
            if let Some(other) = users.iter().find(|device| !device.computes_in_host_memory()) {
                return Err(format!("{} does not compute in the host's memory", other.label()));
            }
            host::allocate(users, bytes)
        }
    }
}
