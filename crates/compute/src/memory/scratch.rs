//! Memory that an operation needs only between its kernels.
//!
//! Packed operands are an example. Nobody needs the memory afterwards.

use super::pool::Pool;
use super::raw::Memory;
use crate::error::Result;
use crate::kernel::{Argument, ArgumentType};
use crate::open::Device;
use crate::scalar::ElementType;
use bytemuck::Pod;
use std::fmt;

/// The scratch memory of a device that no operation is being enqueued with.
#[derive(Default)]
struct ScratchPool(Pool<Memory>);

/// The share of a device's memory that is kept at most: one part in so many.
///
/// The rest belongs to buffers.
const MOST_KEPT: u64 = 16;

/// Elements in the memory of a device with undefined contents.
///
/// Dropping gives the memory back to its device.
///
/// Commands of a device run in order. So the memory can serve the next operation as soon as the
/// last command that uses it has been enqueued.
pub struct Scratch {
    device: Device,
    /// The memory and its bytes; `None` only while being dropped.
    memory: Option<(Memory, usize)>,
    of: ArgumentType,
}

impl Device {
    /// Returns scratch memory for `len` elements of type `T`.
    ///
    /// Nothing is allocated if enough is free.
    ///
    /// # Errors
    /// [`DeviceError::AllocationTooLarge`](crate::DeviceError::AllocationTooLarge),
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn scratch<T: Pod>(&self, len: usize) -> Result<Scratch> {
        Scratch::new(self, ArgumentType::of::<T>(), size_of::<T>(), len)
    }

    /// Returns scratch memory for `len` elements of a type.
    ///
    /// # Errors
    /// The errors of [`scratch`](Self::scratch).
    pub fn scratch_of(&self, element: ElementType, len: usize) -> Result<Scratch> {
        Scratch::new(self, element.into(), element.bytes(), len)
    }
}

impl Scratch {
    fn new(device: &Device, of: ArgumentType, size: usize, len: usize) -> Result<Self> {
        let wanted = len.saturating_mul(size);
        let memory = match device.kept::<ScratchPool>().0.take(wanted) {
            Some(memory) => memory,
            None => (Memory::allocate(device.core(), len, size)?, wanted),
        };
        Ok(Self { device: device.clone(), memory: Some(memory), of })
    }

    /// Makes an argument that kernels write: a whole buffer.
    pub fn output(&mut self) -> Argument<'_> {
        self.memory().whole(self.of, true)
    }

    /// Makes an argument that kernels read: a whole buffer.
    pub fn input(&self) -> Argument<'_> {
        self.memory().whole(self.of, true)
    }

    fn memory(&self) -> &Memory {
        &self.memory.as_ref().expect("the memory is there until `self` is dropped").0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some((memory, bytes)) = self.memory.take() {
            let most = self.device.info().memory_bytes / MOST_KEPT;
            self.device.kept::<ScratchPool>().0.give_back(memory, bytes, most as usize);
        }
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.memory.as_ref().map_or(0, |(_, bytes)| *bytes);
        write!(f, "Scratch({bytes} bytes on {})", self.device.label())
    }
}
