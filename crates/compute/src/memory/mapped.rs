//! Transfers by mapping a buffer into the host's memory.
//!
//! Mapping is the third way, beside pageable and pinned memory.

use super::buffer::{Buffer, check_length};
use super::mapping::Mapping;
use crate::error::Result;
use crate::queue::Queue;
use bytemuck::Pod;
use opencl3::memory::{CL_MAP_READ, CL_MAP_WRITE_INVALIDATE_REGION};
use std::ptr;

impl<T: Pod> Buffer<T> {
    /// Overwrites the whole buffer through a mapping, and waits.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`](crate::DeviceError::LengthMismatch);
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn write_mapped(&mut self, data: &[T]) -> Result<()> {
        check_length("mapped write", self.len(), data.len())?;
        let bytes: &[u8] = bytemuck::cast_slice(data);
        if bytes.is_empty() {
            return Ok(());
        }
        let mapping =
            Mapping::new(self.memory(), Queue::Compute, bytes.len(), CL_MAP_WRITE_INVALIDATE_REGION)?;
        // SAFETY: as many bytes are mapped for writing, and no Rust reference points there. The old
        // bytes are not read.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), mapping.address().as_ptr().cast(), bytes.len()) };
        mapping.unmap()
    }

    /// Reads the whole buffer through a mapping, and waits.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`](crate::DeviceError::LengthMismatch);
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn read_mapped(&self, data: &mut [T]) -> Result<()> {
        check_length("mapped read", self.len(), data.len())?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(data);
        if bytes.is_empty() {
            return Ok(());
        }
        let mapping = Mapping::new(self.memory(), Queue::Compute, bytes.len(), CL_MAP_READ)?;
        // SAFETY: as many bytes are mapped for reading. Kernels that write the buffer are done,
        // because the map waited its turn in the queue. None can be enqueued before the unmapping
        // below.
        unsafe {
            ptr::copy_nonoverlapping(mapping.address().as_ptr().cast(), bytes.as_mut_ptr(), bytes.len())
        };
        mapping.unmap()
    }
}
