//! Host memory that the device copies from and to at full speed.

use super::buffer::{BufferView, BufferViewMut, check_device, check_length, foreign};
use super::pending::Pending;
use super::pinned_memory::{PinnedMemory, PinnedPool};
use super::raw::Blocking;
use crate::error::{DeviceError, Result};
use crate::open::Device;
use crate::parallel::*;
use crate::queue::{Core, Event};
use bytemuck::Pod;
use opencl3::command_queue::CommandQueue;
use opencl3::error_codes::CL_MAP_FAILURE;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes that one thread copies. To wake another thread takes about as long.
const COPIED_AT_ONCE: usize = 256 << 10;

/// Pinned host memory of `len` elements, for halos and other staging.
///
/// The transfers run on the device's copy queue, beside its kernels. Give the events of the kernels
/// that they must follow, and let later kernels wait for [`Pending::event`]. A transfer takes the
/// buffer and gives it back when it is done. So nobody touches memory that the device is using.
pub struct PinnedBuffer<T> {
    /// The memory; `None` only while being dropped.
    memory: Option<PinnedMemory>,
    mapped: NonNull<T>,
    len: usize,
    device: Device,
    /// `true` if the device keeps the memory for the next buffer.
    kept: bool,
}

// SAFETY: the mapped memory belongs to this value alone, like a `Vec`'s; OpenCL objects may be used
// and released from any thread (OpenCL 1.2, appendix A.2), and `T: Pod` holds no references.
unsafe impl<T: Send> Send for PinnedBuffer<T> {}
// SAFETY: a shared reference gives only shared access to the memory.
unsafe impl<T: Sync> Sync for PinnedBuffer<T> {}

impl<T: Pod> PinnedBuffer<T> {
    /// Allocates `len` elements, all bytes zero.
    ///
    /// # Errors
    /// [`DeviceError::AllocationTooLarge`]; [`DeviceError::OpenCl`].
    pub fn zeroed(device: &Device, len: usize) -> Result<Self> {
        let memory = PinnedMemory::zeroed(device.core(), len, size_of::<T>())?;
        Self::of(device, memory, len, false)
    }

    /// Returns `len` elements with the contents of an earlier use.
    ///
    /// Dropping the buffer gives the memory back to the device, which keeps a few for later. To pin
    /// memory takes much longer than to copy as much.
    ///
    /// # Errors
    /// All errors of [`PinnedBuffer::zeroed`].
    pub fn kept(device: &Device, len: usize) -> Result<Self> {
        let memory = match device.kept::<PinnedPool>().take(len.saturating_mul(size_of::<T>())) {
            Some((memory, _)) => memory,
            None => PinnedMemory::zeroed(device.core(), len, size_of::<T>())?,
        };
        Self::of(device, memory, len, true)
    }

    /// Makes a buffer of the first `len` elements of `memory`.
    ///
    /// `memory` has at least `len` elements, and all its bytes are initialised.
    fn of(device: &Device, memory: PinnedMemory, len: usize, kept: bool) -> Result<Self> {
        let mapped = memory.address().cast::<T>();
        if !mapped.is_aligned() {
            return Err(device.core().failed_with("clEnqueueMapBuffer")(CL_MAP_FAILURE));
        }
        Ok(Self { memory: Some(memory), mapped, len, device: device.clone(), kept })
    }

    /// Returns the elements.
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: `len` initialised, aligned elements are mapped as long as `self` lives; transfers
        // that could write them own `self`.
        unsafe { std::slice::from_raw_parts(self.mapped.as_ptr(), self.len) }
    }

    /// Returns the elements, to change.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: see `as_slice`; `self` is borrowed exclusively here.
        unsafe { std::slice::from_raw_parts_mut(self.mapped.as_ptr(), self.len) }
    }

    /// Copies the first `len` elements of other pinned memory here, by several threads.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] if either has fewer elements.
    pub fn copy_start(&mut self, from: &Self, len: usize) -> Result<()> {
        let read = from.as_slice().get(..len).ok_or_else(|| from.too_short(len))?;
        let too_short = self.too_short(len);
        let written = self.as_mut_slice().get_mut(..len).ok_or(too_short)?;
        let (read, written) =
            (bytemuck::cast_slice::<T, u8>(read), bytemuck::cast_slice_mut::<T, u8>(written));
        if written.len() <= COPIED_AT_ONCE {
            written.copy_from_slice(read);
        } else {
            let pieces = written.par_chunks_mut(COPIED_AT_ONCE).zip(read.par_chunks(COPIED_AT_ONCE));
            pieces.for_each(|(written, read)| written.copy_from_slice(read));
        }
        Ok(())
    }

    /// Starts to copy the elements to the device, after `wait`.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`]; [`DeviceError::ForeignBuffer`]; [`DeviceError::OpenCl`].
    pub fn write_to<'b>(
        self,
        destination: impl Into<BufferViewMut<'b, T>>,
        wait: &[&Event],
    ) -> Result<Pending<Self>> {
        let destination = destination.into();
        check_length("pinned write", destination.len(), self.len)?;
        self.write_start_to(destination, wait)
    }

    /// Copies like [`PinnedBuffer::write_to`], but only as many elements as the destination has.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] if the destination has more elements;
    /// [`DeviceError::ForeignBuffer`]; [`DeviceError::OpenCl`].
    pub fn write_start_to<'b>(
        self,
        destination: impl Into<BufferViewMut<'b, T>>,
        wait: &[&Event],
    ) -> Result<Pending<Self>> {
        let destination = destination.into();
        check_device(&self.device, destination.device())?;
        // SAFETY: the bytes stay mapped and unchanged as long as `self`, which `Pending` keeps
        // until the event.
        let event = unsafe { self.start_write(&destination, wait) }?;
        Self::pending(self, event, destination.device())
    }

    /// Copies like [`PinnedBuffer::write_to`], but only the start, to any device.
    ///
    /// The transfer copies as many of the first elements as the destination has. The function is
    /// for elements that several devices get.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] if the destination has more elements; [`DeviceError::OpenCl`].
    pub fn share_start_to<'b>(
        self: &Arc<Self>,
        destination: impl Into<BufferViewMut<'b, T>>,
        wait: &[&Event],
    ) -> Result<Pending<Arc<Self>>> {
        let destination = destination.into();
        // SAFETY: see `write_start_to`; nobody changes elements that `Pending` has a reference to.
        let event = unsafe { self.start_write(&destination, wait) }?;
        Self::pending(Arc::clone(self), event, destination.device())
    }

    /// Starts to copy the first elements to the destination, on the copy queue, after `wait`.
    ///
    /// # Safety
    /// The elements must stay unchanged and mapped until the event.
    unsafe fn start_write(&self, destination: &BufferViewMut<'_, T>, wait: &[&Event]) -> Result<Event> {
        // SAFETY: left to the caller.
        unsafe { self.start_write_on(&destination.device().core().copy, destination, wait) }
    }

    /// Starts to copy the first elements to the destination, on a queue of its device, after `wait`.
    ///
    /// # Safety
    /// The elements must stay unchanged and mapped from the events of `wait` to the event.
    unsafe fn start_write_on(
        &self,
        queue: &CommandQueue,
        destination: &BufferViewMut<'_, T>,
        wait: &[&Event],
    ) -> Result<Event> {
        let elements =
            self.as_slice().get(..destination.len()).ok_or_else(|| self.too_short(destination.len()))?;
        let (memory, offset) = (destination.as_view().memory(), destination.offset() * size_of::<T>());
        let bytes = bytemuck::cast_slice(elements);
        // SAFETY: left to the caller.
        unsafe { memory.write(queue, Blocking::No, offset, bytes, wait) }
    }

    /// Wraps a transfer, which is in progress before anything can fail.
    fn pending<H>(host: H, event: Event, device: &Device) -> Result<Pending<H>> {
        let pending = Pending::new(host, event);
        device.flush()?;
        Ok(pending)
    }

    /// Starts to copy elements of the device here, after `wait`.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`]; [`DeviceError::ForeignBuffer`]; [`DeviceError::OpenCl`].
    pub fn read_from<'b>(
        self,
        source: impl Into<BufferView<'b, T>>,
        wait: &[&Event],
    ) -> Result<Pending<Self>> {
        let source = source.into();
        check_length("pinned read", source.len(), self.len)?;
        self.read_start_from(source, wait)
    }

    /// Copies like [`PinnedBuffer::read_from`], but in order on the compute queue.
    ///
    /// The transfer is in order with kernels, and so runs beside transfers on the copy queue.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`]; [`DeviceError::ForeignBuffer`]; [`DeviceError::OpenCl`].
    pub fn read_from_in_order<'b>(self, source: impl Into<BufferView<'b, T>>) -> Result<Pending<Self>> {
        let source = source.into();
        check_length("pinned read", source.len(), self.len)?;
        self.read_on(|core| &core.compute, source, &[])
    }

    /// Copies like [`PinnedBuffer::read_from`], but into the first elements only.
    ///
    /// The other elements stay unchanged.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] if the source is longer; [`DeviceError::ForeignBuffer`];
    /// [`DeviceError::OpenCl`].
    pub fn read_start_from<'b>(
        self,
        source: impl Into<BufferView<'b, T>>,
        wait: &[&Event],
    ) -> Result<Pending<Self>> {
        self.read_on(|core| &core.copy, source.into(), wait)
    }

    fn read_on(
        self,
        queue: impl Fn(&Core) -> &CommandQueue,
        source: BufferView<'_, T>,
        wait: &[&Event],
    ) -> Result<Pending<Self>> {
        let device = self.device.clone();
        // SAFETY: the elements stay mapped and untouched as long as `self`, which `Pending` keeps
        // until the event.
        let event = unsafe { self.start_read_on(queue(device.core()), &source, wait) }?;
        Self::pending(self, event, &device)
    }

    /// Starts to copy elements of the device into the first ones, on a queue of the device, after `wait`.
    ///
    /// # Safety
    /// The elements must stay untouched and mapped from the events of `wait` to the event.
    unsafe fn start_read_on(
        &self,
        queue: &CommandQueue,
        source: &BufferView<'_, T>,
        wait: &[&Event],
    ) -> Result<Event> {
        check_device(&self.device, source.device())?;
        if source.len() > self.len {
            return Err(self.too_short(source.len()));
        }
        let [offset, bytes] = [source.offset(), source.len()].map(|elements| elements * size_of::<T>());
        // SAFETY: so many bytes are mapped, and any bytes are a `T: Pod`. The rest is left to the caller.
        unsafe {
            let data = std::slice::from_raw_parts_mut(self.mapped.as_ptr().cast::<u8>(), bytes);
            source.memory().read(queue, Blocking::No, offset, data, wait)
        }
    }

    fn too_short(&self, len: usize) -> DeviceError {
        DeviceError::OutOfRange { offset: 0, len, buffer: self.len }
    }
}

impl<T: Pod> Pending<PinnedBuffer<T>> {
    /// Starts to copy the first elements on to another device, behind this transfer.
    ///
    /// The devices have a context in common ([`Device::shares_context`]), so the host waits for nothing.
    /// The transfer is on a queue of the other device that has such transfers alone. Commands of
    /// its other queues that have used the destination must be done before this transfer, or before
    /// what it follows.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] if the destination has more elements;
    /// [`DeviceError::ForeignBuffer`] without a common context; [`DeviceError::OpenCl`].
    pub fn pass_to<'b>(self, destination: impl Into<BufferViewMut<'b, T>>) -> Result<Self> {
        let destination = destination.into();
        let device = destination.device();
        let arrivals = device.core().arrivals.as_ref();
        let arrivals = arrivals.filter(|_| self.host().device.shares_context(device));
        let Some(arrivals) = arrivals else {
            return Err(foreign(&self.host().device, device));
        };
        // SAFETY: the memory is mapped as long as `Pending` has it. This transfer ends before, and
        // nothing changes the bytes from its end on.
        let event = unsafe { self.host().start_write_on(arrivals, &destination, &[self.event()]) }?;
        let passed = self.followed_by(event);
        arrivals.flush().map_err(device.core().failed("clFlush"))?;
        Ok(passed)
    }

    /// Starts to copy elements of the device here, behind this transfer and after `wait`.
    ///
    /// # Errors
    /// The errors of [`PinnedBuffer::read_start_from`].
    pub fn read_start_from<'b>(self, source: impl Into<BufferView<'b, T>>, wait: &[&Event]) -> Result<Self> {
        let source = source.into();
        let core = source.device().core();
        let wait: Vec<&Event> = wait.iter().copied().chain([self.event()]).collect();
        // SAFETY: the elements are mapped as long as `Pending` has them. The transfer into them begins
        // when this one has ended, and nobody else touches them.
        let event = unsafe { self.host().start_read_on(&core.copy, &source, &wait) }?;
        let read = self.followed_by(event);
        core.flush()?;
        Ok(read)
    }
}

impl<T> PinnedBuffer<T> {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take()
            && self.kept
        {
            self.device.kept::<PinnedPool>().keep(memory);
        }
    }
}

impl<T> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedBuffer<{}>({} on {})", std::any::type_name::<T>(), self.len, self.device.label())
    }
}
