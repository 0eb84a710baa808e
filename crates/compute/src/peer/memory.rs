//! Memory of one device, as several see it.

#[cfg(unix)]
use super::cuda;
use super::host;
use crate::error::{DeviceError, Result};
use crate::memory::{Buffer, Memory};
use crate::open::{Device, PeerWay};
use bytemuck::Pod;

/// `len` zeroed elements in the memory of the first of the devices, as a buffer of each.
///
/// The buffers are the same memory. Who writes and who reads when is for the users to agree on.
pub(super) fn shared<T: Pod>(way: PeerWay, users: &[&Device], len: usize) -> Result<Vec<Buffer<T>>> {
    let memories = allocate(way, users, len.saturating_mul(size_of::<T>()))
        .map_err(|reason| DeviceError::PeerMemory { device: users[0].label().to_owned(), reason })?;
    Ok(users.iter().zip(memories).map(|(device, memory)| Buffer::of_memory(device, memory, len)).collect())
}

/// Zeroed bytes of the first of the devices, as memory of each.
pub(super) fn allocate(way: PeerWay, users: &[&Device], bytes: usize) -> Result<Vec<Memory>, String> {
    match way {
        #[cfg(unix)]
        PeerWay::Cuda => cuda::allocate(users, bytes),
        #[cfg(not(unix))]
        PeerWay::Cuda => Err("this system has no file descriptors".to_owned()),
        PeerWay::Host | PeerWay::HostFlags => {
            // Others would copy it. The probe would find out as well, but not what they do later.
            if let Some(other) = users.iter().find(|device| !device.computes_in_host_memory()) {
                return Err(format!("{} does not compute in the host's memory", other.label()));
            }
            host::allocate(users, bytes)
        }
    }
}
