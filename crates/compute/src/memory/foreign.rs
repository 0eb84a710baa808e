//! Memory that other programs of the process allocated, and the handles of ours.

use super::buffer::Buffer;
use super::raw::Memory;
use crate::error::{DeviceError, Result};
use crate::open::{Device, ForeignHandle};
use bytemuck::Pod;
use cl3::memory::{
    CL_MEM_CONTEXT, CL_MEM_FLAGS, CL_MEM_OBJECT_BUFFER, CL_MEM_SIZE, CL_MEM_TYPE, CL_MEM_WRITE_ONLY,
    get_mem_object_info, retain_mem_object,
};
use opencl3::error_codes::ClError;
use opencl3::memory::{Buffer as RawBuffer, cl_mem};
use std::sync::Arc;

impl<T: Pod> Buffer<T> {
    /// Makes a buffer of the first `len` elements of memory that another program allocated.
    ///
    /// `memory` is a `cl_mem`. The buffer keeps a reference to it, and keeps its owner. Nothing
    /// orders the commands of both programs: each waits for the other's before it uses the memory.
    ///
    /// # Errors
    /// [`DeviceError::Foreign`] if the memory is no buffer, is smaller, or lies in another context
    /// than the device, or if kernels may only write it.
    pub fn of_foreign(device: &Device, memory: &ForeignHandle, len: usize) -> Result<Self> {
        let foreign = |reason: String| DeviceError::Foreign { what: "memory object", reason };
        let handle = memory.number() as cl_mem;
        if handle.is_null() {
            return Err(foreign("its handle is null".to_owned()));
        }
        let asked =
            |what| get_mem_object_info(handle, what).map_err(|code| foreign(ClError(code).to_string()));
        if asked(CL_MEM_TYPE)?.to_uint() != CL_MEM_OBJECT_BUFFER {
            return Err(foreign("it is no buffer".to_owned()));
        }
        if asked(CL_MEM_CONTEXT)?.to_ptr() != device.core().context.get() as isize {
            return Err(foreign(format!("it lies in another context than device {}", device.label())));
        }
        if asked(CL_MEM_FLAGS)?.to_ulong() & CL_MEM_WRITE_ONLY != 0 {
            return Err(foreign("kernels may only write it".to_owned()));
        }
        let (wanted, found) = (len.saturating_mul(size_of::<T>()), asked(CL_MEM_SIZE)?.to_size());
        if wanted > found {
            return Err(foreign(format!("it has {found} bytes, and {wanted} are wanted")));
        }
        // SAFETY: `ForeignHandle` keeps the memory alive. The reference is given back when
        // `RawBuffer` is dropped.
        unsafe { retain_mem_object(handle) }.map_err(|code| foreign(ClError(code).to_string()))?;
        let owner = Arc::clone(memory.owner());
        let memory = Memory::standing_for(device.core(), RawBuffer::new(handle), found, owner);
        Ok(Self::of_memory(device, memory, len))
    }

    /// Returns the `cl_mem` as a number, after all commands on it are done.
    ///
    /// It lives as long as the buffer, or as long as the other program retains it. If that program
    /// writes, it changes this buffer.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`] if a command failed.
    pub fn lend(&self) -> Result<usize> {
        self.device().finish()?;
        Ok(self.memory().lend() as usize)
    }
}
