//! Memory that an operation needs only between its kernels.
//!
//! Packed operands are an example. Nobody needs the memory afterwards.

use super::pool::Pool;
use super::raw::Memory;
use crate::error::Result;
use crate::kernel::Argument;
use crate::open::Device;
use bytemuck::Pod;
use std::fmt;
use std::marker::PhantomData;

/// The scratch memory of a device that no operation is being enqueued with.
#[derive(Default)]
struct ScratchPool(Pool<Memory>);

/// The share of a device's memory that is kept at most: one part in so many.
///
/// The rest belongs to buffers.
const MOST_KEPT: u64 = 16;

/// Memory of a device for at least `len` elements, with undefined contents.
///
/// The elements have type `T`. Dropping gives the memory back to its device.
///
/// Commands of a device run in order. So the memory can serve the next operation as soon as the
/// last command that uses it has been enqueued.
pub struct Scratch<T> {
    device: Device,
    /// The memory; `None` only while being dropped.
    memory: Option<(Memory, usize)>,
    element: PhantomData<T>,
}

impl Device {
    /// Returns scratch memory for `len` elements.
    ///
    /// Nothing is allocated if enough is free.
    ///
    /// # Errors
    /// [`DeviceError::AllocationTooLarge`](crate::DeviceError::AllocationTooLarge),
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn scratch<T: Pod>(&self, len: usize) -> Result<Scratch<T>> {
        let wanted = len.saturating_mul(size_of::<T>());
        let memory = match self.kept::<ScratchPool>().0.take(wanted) {
            Some(memory) => memory,
            None => (Memory::allocate(self.core(), len, size_of::<T>())?, wanted),
        };
        Ok(Scratch { device: self.clone(), memory: Some(memory), element: PhantomData })
    }
}

impl<T: Pod> Scratch<T> {
    /// Makes an argument that kernels write: a whole buffer.
    pub fn output(&mut self) -> Argument<'_> {
        self.memory().argument::<T>()
    }

    /// Makes an argument that kernels read: a whole buffer.
    pub fn input(&self) -> Argument<'_> {
        self.memory().argument::<T>()
    }
}

impl<T> Scratch<T> {
    fn memory(&self) -> &Memory {
        &self.memory.as_ref().expect("the memory is there until `self` is dropped").0
    }
}

impl<T> Drop for Scratch<T> {
    fn drop(&mut self) {
        if let Some((memory, bytes)) = self.memory.take() {
            let most = self.device.info().memory_bytes / MOST_KEPT;
            self.device.kept::<ScratchPool>().0.give_back(memory, bytes, most as usize);
        }
    }
}

impl<T> fmt::Debug for Scratch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.memory.as_ref().map_or(0, |(_, bytes)| *bytes);
        write!(f, "Scratch({bytes} bytes on {})", self.device.label())
    }
}
