//! Typed memory of a device.

use super::pending::Pending;
use super::raw::{Blocking, CopyAcross, Memory};
use crate::error::{DeviceError, Result};
use crate::kernel::Argument;
use crate::open::Device;
use crate::queue::Event;
use bytemuck::Pod;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

/// `len` elements of type `T` in the memory of one device; the length may be 0.
///
/// Every operation here is enqueued on the device's compute queue, in order with its kernels, so
/// that no waiting is ever needed between them. Offsets and lengths count elements.
pub struct Buffer<T> {
    memory: Memory,
    device: Device,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// Allocates `len` elements and keeps the memory's old contents.
    ///
    /// The caller writes all elements next.
    ///
    /// # Errors
    /// All errors of [`zeroed`](Self::zeroed).
    pub fn uninitialised(device: &Device, len: usize) -> Result<Self> {
        let memory = Memory::allocate(device.core(), len, size_of::<T>())?;
        Ok(Self { memory, device: device.clone(), len, element: PhantomData })
    }

    /// Allocates `len` elements, all bytes zero.
    ///
    /// # Errors
    /// [`DeviceError::AllocationTooLarge`]; [`DeviceError::OpenCl`].
    pub fn zeroed(device: &Device, len: usize) -> Result<Self> {
        let memory = Memory::zeroed(device.core(), len, size_of::<T>())?;
        Ok(Self { memory, device: device.clone(), len, element: PhantomData })
    }

    /// Makes a buffer of the first `len` elements of existing memory.
    pub(crate) fn of_memory(device: &Device, memory: Memory, len: usize) -> Self {
        debug_assert!(len.saturating_mul(size_of::<T>()) <= memory.bytes(), "the memory holds all elements");
        Self { memory, device: device.clone(), len, element: PhantomData }
    }

    /// Makes a buffer with the contents of `data`.
    ///
    /// # Errors
    /// [`DeviceError::AllocationTooLarge`]; [`DeviceError::OpenCl`].
    pub fn from_slice(device: &Device, data: &[T]) -> Result<Self> {
        let mut buffer = Self::uninitialised(device, data.len())?;
        buffer.write(data)?;
        Ok(buffer)
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device that owns the memory.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the whole buffer, to read.
    pub fn view(&self) -> BufferView<'_, T> {
        BufferView { buffer: self, offset: 0, len: self.len }
    }

    /// Returns the whole buffer, to write.
    pub fn view_mut(&mut self) -> BufferViewMut<'_, T> {
        BufferViewMut { view: self.view(), exclusive: PhantomData }
    }

    /// Returns the elements `range`, to read.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<BufferView<'_, T>> {
        self.view().slice(range)
    }

    /// Returns the elements `range`, to write.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<BufferViewMut<'_, T>> {
        let view = self.view().slice(range)?;
        Ok(BufferViewMut { view, exclusive: PhantomData })
    }

    /// Overwrites the whole buffer, and waits.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`]; [`DeviceError::OpenCl`].
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        self.view_mut().write(data)
    }

    /// Reads the whole buffer, and waits.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`]; [`DeviceError::OpenCl`].
    pub fn read(&self, data: &mut [T]) -> Result<()> {
        self.view().read(data)
    }

    /// Returns the contents of the whole buffer.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.view().to_vec()
    }

    /// Starts to overwrite the whole buffer.
    ///
    /// The data comes back when the transfer is done.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`]; [`DeviceError::OpenCl`].
    pub fn upload(&mut self, data: Vec<T>) -> Result<Pending<Vec<T>>> {
        check_length("upload", self.len, data.len())?;
        let compute = &self.device.core().compute;
        // SAFETY: the bytes are on the heap, where `Pending` keeps them, unchanged, until the event
        // is done.
        let event = unsafe { self.memory.write(compute, Blocking::No, 0, bytemuck::cast_slice(&data), &[]) }?;
        let pending = Pending::new(data, event);
        self.device.flush()?;
        Ok(pending)
    }

    /// Starts to read the whole buffer.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    pub fn download(&self) -> Result<Pending<Vec<T>>> {
        let mut data = vec![T::zeroed(); self.len];
        let compute = &self.device.core().compute;
        // SAFETY: the bytes are on the heap, where `Pending` keeps them, untouched, until the event
        // is done.
        let event =
            unsafe { self.memory.read(compute, Blocking::No, 0, bytemuck::cast_slice_mut(&mut data), &[]) }?;
        let pending = Pending::new(data, event);
        self.device.flush()?;
        Ok(pending)
    }

    /// Sets every element to `value`.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.view_mut().fill(value)
    }

    /// Starts to copy another buffer of the same device into this one.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`]; [`DeviceError::ForeignBuffer`]; [`DeviceError::OpenCl`].
    pub fn copy_from<'b>(&mut self, source: impl Into<BufferView<'b, T>>) -> Result<()> {
        self.view_mut().copy_from(source)
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer<{}>({} on {})", std::any::type_name::<T>(), self.len, self.device.label())
    }
}

/// Some elements of a buffer in a row, to read.
pub struct BufferView<'a, T> {
    buffer: &'a Buffer<T>,
    offset: usize,
    len: usize,
}

/// Some elements of a buffer in a row, to write.
pub struct BufferViewMut<'a, T> {
    view: BufferView<'a, T>,
    exclusive: PhantomData<&'a mut T>,
}

impl<T> fmt::Debug for BufferView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "elements {}+{} of {:?}", self.offset, self.len, self.buffer)
    }
}

impl<T> fmt::Debug for BufferViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view.fmt(f)
    }
}

impl<T> Clone for BufferView<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for BufferView<'_, T> {}

impl<'a, T: Pod> BufferView<'a, T> {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the first element, counted from the start of the buffer.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the device that owns the memory.
    pub fn device(&self) -> &'a Device {
        &self.buffer.device
    }

    pub(super) fn memory(&self) -> &'a Memory {
        self.buffer.memory()
    }

    /// Enqueues a copy to as many elements of another device, on the copy queue, after `wait`.
    ///
    /// # Safety
    /// All conditions of [`Memory::copy_across`].
    pub(crate) unsafe fn copy_across(
        &self,
        copy: CopyAcross,
        to: &mut BufferViewMut<'_, T>,
        wait: &[&Event],
    ) -> Result<Event> {
        let [offset, bytes] = [self.offset, self.len].map(|elements| elements * size_of::<T>());
        let to = to.as_view();
        // SAFETY: left to the caller.
        unsafe {
            self.memory().copy_across(copy, offset, to.memory(), to.offset * size_of::<T>(), bytes, wait)
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.offset == 0 && self.len == self.buffer.len
    }

    /// Returns the elements `range` of this view.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let start = match range.start_bound() {
            Bound::Included(&start) => Some(start),
            Bound::Excluded(&start) => start.checked_add(1),
            Bound::Unbounded => Some(0),
        };
        let end = match range.end_bound() {
            Bound::Included(&end) => end.checked_add(1),
            Bound::Excluded(&end) => Some(end),
            Bound::Unbounded => Some(self.len),
        };
        match (start, end) {
            (Some(start), Some(end)) if start <= end && end <= self.len => {
                Ok(Self { buffer: self.buffer, offset: self.offset + start, len: end - start })
            }
            _ => {
                let offset = start.unwrap_or(usize::MAX);
                let len = end.unwrap_or(usize::MAX).saturating_sub(offset);
                Err(DeviceError::OutOfRange { offset, len, buffer: self.len })
            }
        }
    }

    /// Reads all elements, and waits.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`]; [`DeviceError::OpenCl`].
    pub fn read(&self, data: &mut [T]) -> Result<()> {
        check_length("read", self.len, data.len())?;
        if self.len > 0 {
            let (memory, bytes) = (self.memory(), bytemuck::cast_slice_mut(data));
            let compute = &memory.core().compute;
            // SAFETY: the call is blocking: `data` outlives it.
            unsafe { memory.read(compute, Blocking::Yes, self.offset * size_of::<T>(), bytes, &[]) }?;
        }
        Ok(())
    }
}

impl<'a, T: Pod> BufferViewMut<'a, T> {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.view.len
    }

    /// Returns `true` if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.view.len == 0
    }

    /// Returns the first element, counted from the start of the buffer.
    pub fn offset(&self) -> usize {
        self.view.offset
    }

    /// Returns the device that owns the memory.
    pub fn device(&self) -> &'a Device {
        self.view.device()
    }

    /// Returns the same elements, to read.
    pub fn as_view(&self) -> BufferView<'_, T> {
        self.view
    }

    /// Returns the same elements, to write, while `self` waits.
    pub fn reborrow(&mut self) -> BufferViewMut<'_, T> {
        BufferViewMut { view: self.view, exclusive: PhantomData }
    }

    /// Returns the elements `range` of this view, to write.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<BufferViewMut<'_, T>> {
        Ok(BufferViewMut { view: self.view.slice(range)?, exclusive: PhantomData })
    }

    /// Returns the first `middle` elements and the rest, both to write.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    pub fn split_at(self, middle: usize) -> Result<(BufferViewMut<'a, T>, BufferViewMut<'a, T>)> {
        let (left, right) = (self.view.slice(..middle)?, self.view.slice(middle..)?);
        Ok((
            BufferViewMut { view: left, exclusive: PhantomData },
            BufferViewMut { view: right, exclusive: PhantomData },
        ))
    }

    /// Overwrites all elements, and waits.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`]; [`DeviceError::OpenCl`].
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        check_length("write", self.len(), data.len())?;
        if !data.is_empty() {
            let memory = self.view.memory();
            let (compute, bytes) = (&memory.core().compute, bytemuck::cast_slice(data));
            // SAFETY: the call is blocking: `data` outlives it.
            unsafe { memory.write(compute, Blocking::Yes, self.offset() * size_of::<T>(), bytes, &[]) }?;
        }
        Ok(())
    }

    /// Sets every element to `value`.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    pub fn fill(&mut self, value: T) -> Result<()> {
        let size = size_of::<T>();
        if self.is_empty() || size == 0 {
            return Ok(());
        }
        if size.is_power_of_two() && size <= 128 {
            let (offset, bytes) = (self.offset() * size, self.len() * size);
            self.view.memory().fill(bytemuck::bytes_of(&value), offset, bytes)?;
            Ok(())
        } else {
            // OpenCL fills with patterns of these sizes only.
            self.write(&vec![value; self.len()])
        }
    }

    /// Starts to copy elements of the same device into these.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`]; [`DeviceError::ForeignBuffer`]; [`DeviceError::OpenCl`].
    pub fn copy_from<'b>(&mut self, source: impl Into<BufferView<'b, T>>) -> Result<()> {
        let source = source.into();
        check_length("copy", self.len(), source.len)?;
        check_device(self.device(), source.device())?;
        if !self.is_empty() {
            let size = size_of::<T>();
            let (from, to) = (source.offset * size, self.offset() * size);
            source.memory().copy_to(from, self.view.memory(), to, self.len() * size)?;
        }
        Ok(())
    }
}

impl<'a, T: Pod> From<&'a Buffer<T>> for BufferView<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        buffer.view()
    }
}

impl<'a, T: Pod> From<&'a mut Buffer<T>> for BufferViewMut<'a, T> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        buffer.view_mut()
    }
}

impl<'a, T: Pod> From<BufferViewMut<'a, T>> for BufferView<'a, T> {
    fn from(view: BufferViewMut<'a, T>) -> Self {
        view.view
    }
}

impl<'a, T: Pod> From<BufferView<'a, T>> for Argument<'a> {
    fn from(view: BufferView<'a, T>) -> Self {
        view.memory().part::<T>(view.offset(), view.is_whole(), false)
    }
}

impl<'a, T: Pod> From<&'a Buffer<T>> for Argument<'a> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        buffer.view().into()
    }
}

impl<'a, T: Pod> From<&'a mut BufferViewMut<'_, T>> for Argument<'a> {
    fn from(view: &'a mut BufferViewMut<'_, T>) -> Self {
        let view = view.as_view();
        view.memory().part::<T>(view.offset(), view.is_whole(), true)
    }
}

impl<'a, T: Pod> From<BufferViewMut<'a, T>> for Argument<'a> {
    fn from(view: BufferViewMut<'a, T>) -> Self {
        let view = BufferView::from(view);
        view.memory().part::<T>(view.offset(), view.is_whole(), true)
    }
}

impl<'a, T: Pod> From<&'a mut Buffer<T>> for Argument<'a> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        buffer.view_mut().into()
    }
}

/// Checks that both lengths are equal. `what` names the operand.
///
/// # Errors
/// [`DeviceError::LengthMismatch`].
pub fn check_length(what: &'static str, wanted: usize, found: usize) -> Result<()> {
    if wanted == found { Ok(()) } else { Err(DeviceError::LengthMismatch { what, wanted, found }) }
}

/// Checks that both devices are the same.
///
/// # Errors
/// [`DeviceError::ForeignBuffer`].
pub fn check_device(wanted: &Device, found: &Device) -> Result<()> {
    if wanted == found { Ok(()) } else { Err(foreign(wanted, found)) }
}

/// Makes the error of a buffer of another device than the one wanted.
pub(super) fn foreign(wanted: &Device, found: &Device) -> DeviceError {
    DeviceError::ForeignBuffer { wanted: wanted.label().to_owned(), found: found.label().to_owned() }
}
