//! Untyped memory of a device, the material of buffers and workspaces.

use crate::error::{DeviceError, Result};
use crate::kernel::{Argument, ArgumentType};
use crate::queue::{Core, Event, Noted, Queue, wait_list};
use crate::select::DeviceKind;
use lattice_files::room::expect_room;
use opencl3::command_queue::{
    CommandQueue, enqueue_copy_buffer, enqueue_fill_buffer, enqueue_marker_with_wait_list,
    enqueue_read_buffer, enqueue_write_buffer,
};
use opencl3::error_codes::{
    CL_INVALID_BUFFER_SIZE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES,
    CL_SUCCESS,
};
use opencl3::event::cl_event;
use opencl3::memory::{Buffer as RawBuffer, CL_MEM_READ_WRITE, ClMem, cl_mem};
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_command_queue, cl_int, cl_uint};
use std::any::Any;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An OpenCL buffer, its size and its device.
///
/// Commands that use the buffer keep it alive. OpenCL deletes a memory object only when its last
/// reference is gone *and* the commands queued on it are done (clReleaseMemObject). So dropping the
/// buffer while a kernel runs is sound.
pub(crate) struct Memory {
    /// Released when the memory is dropped, or kept for another buffer.
    raw: ManuallyDrop<RawBuffer<u8>>,
    bytes: usize,
    core: Arc<Core>,
    /// The command on the compute queue that has made all bytes zero.
    ///
    /// Commands on the copy queue come after this command. The event is kept when it is done:
    /// asking for its state would cost as much as waiting for it.
    zeroed_by: Option<Event>,
    /// Memory of somebody else that the buffer stands for.
    ///
    /// The memory is released after the buffer.
    backing: Option<Backing>,
    /// `true` if a command beside the compute queue has used the memory.
    ///
    /// Such a command may still run when the buffer is dropped, beside the compute queue.
    copied: AtomicBool,
    /// `true` if another program has been given the memory's handle.
    ///
    /// Such a program may keep the memory, so that it serves no other buffer.
    lent: AtomicBool,
}

/// The owner of memory that a buffer did not allocate.
pub(super) type Backing = Arc<dyn Any + Send + Sync>;

/// A function that enqueues a copy from a buffer to a buffer of another context.
///
/// Its parameters are the queue, both buffers, both offsets, the number of bytes, the events to wait
/// for, and a place for the copy's event.
pub(crate) type CopyAcross = unsafe extern "system" fn(
    cl_command_queue,
    cl_mem,
    cl_mem,
    usize,
    usize,
    usize,
    cl_uint,
    *const cl_event,
    *mut cl_event,
) -> cl_int;

/// The moment at which a transfer returns: at once, or when it is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blocking {
    No,
    Yes,
}

impl Blocking {
    fn flag(self) -> cl_uint {
        if self == Blocking::Yes { CL_BLOCKING } else { CL_NON_BLOCKING }
    }
}

impl Memory {
    /// Allocates `count` elements of `size` bytes, uninitialised.
    ///
    /// OpenCL has no empty buffers: at least one byte is allocated.
    pub fn allocate(core: &Arc<Core>, count: usize, size: usize) -> Result<Self> {
        let too_large = |wanted: Option<usize>| DeviceError::AllocationTooLarge {
            device: core.label.clone(),
            wanted: wanted.map_or(u64::MAX, |bytes| bytes as u64),
            largest: core.info.max_allocation_bytes,
            memory: core.info.memory_bytes,
        };
        let wanted = count.checked_mul(size);
        let bytes = match wanted {
            // The driver's largest allocation is only a promise, so it alone refuses nothing.
            Some(bytes) if bytes as u64 <= core.info.memory_bytes => bytes.max(1),
            _ => return Err(too_large(wanted)),
        };
        if core.info.kind == DeviceKind::Cpu {
            expect_room(bytes as u64)?;
        }
        drop(core.spare.grow(bytes, core.info.memory_bytes));
        // SAFETY: without a host pointer clCreateBuffer has no precondition on memory; the context
        // is alive.
        let create =
            || unsafe { RawBuffer::<u8>::create(&core.context, CL_MEM_READ_WRITE, bytes, ptr::null_mut()) };
        let raw = create().or_else(|error| {
            let spare = core.spare.take_all();
            if spare.is_empty() {
                return Err(error);
            }
            drop(spare);
            create()
        });
        match raw {
            Ok(raw) => {
                let memory = Self::of_raw(core, raw, bytes, None);
                memory.prefer_huge_pages();
                Ok(memory)
            }
            Err(error) => {
                core.spare.shrink(bytes);
                Err(match error.0 {
                    CL_INVALID_BUFFER_SIZE
                    | CL_MEM_OBJECT_ALLOCATION_FAILURE
                    | CL_OUT_OF_RESOURCES
                    | CL_OUT_OF_HOST_MEMORY => too_large(wanted),
                    _ => core.failed("clCreateBuffer")(error),
                })
            }
        }
    }

    fn of_raw(core: &Arc<Core>, raw: RawBuffer<u8>, bytes: usize, backing: Option<Backing>) -> Self {
        Self {
            raw: ManuallyDrop::new(raw),
            bytes,
            core: Arc::clone(core),
            zeroed_by: None,
            backing,
            copied: AtomicBool::new(false),
            lent: AtomicBool::new(false),
        }
    }

    /// Makes a buffer that stands for `bytes` bytes of somebody else's memory.
    ///
    /// `backing` keeps the memory alive.
    pub fn standing_for(core: &Arc<Core>, raw: RawBuffer<u8>, bytes: usize, backing: Backing) -> Self {
        Self::of_raw(core, raw, bytes, Some(backing))
    }

    /// Allocates `count` elements of `size` bytes, all zero.
    ///
    /// Memory of a released buffer serves if there is some of this size. Filling it comes behind
    /// all commands that used the released buffer: they were on the compute queue.
    pub fn zeroed(core: &Arc<Core>, count: usize, size: usize) -> Result<Self> {
        let bytes = count.saturating_mul(size);
        let mut memory = match core.spare.take(bytes) {
            Some(raw) => Self::of_raw(core, raw, bytes, None),
            None => Self::allocate(core, count, size)?,
        };
        if memory.is_zeroed_by_host() {
            memory.zero_by_host()?;
        } else if count * size > 0 {
            memory.zeroed_by = Some(memory.fill(&[0], 0, count * size)?);
        }
        Ok(memory)
    }

    pub fn core(&self) -> &Arc<Core> {
        &self.core
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn raw(&self) -> cl_mem {
        self.raw.get()
    }

    /// Returns the handle for another program of the process.
    pub fn lend(&self) -> cl_mem {
        self.lent.store(true, Ordering::Relaxed);
        self.raw()
    }

    /// Makes an argument that the kernel may write.
    ///
    /// The argument holds elements of type `T`, from the start of the memory.
    pub fn argument<T: 'static>(&self) -> Argument<'_> {
        self.part::<T>(0, true, true)
    }

    /// Makes an argument of elements of type `T`, from element `offset` on.
    ///
    /// `whole` is `true` if the argument has all elements. `writable` is `true` if the kernel may
    /// write the elements.
    pub fn part<T: 'static>(&self, offset: usize, whole: bool, writable: bool) -> Argument<'_> {
        Argument::memory(&self.core, &self.raw, ArgumentType::of::<T>(), offset, whole, writable)
    }

    /// Makes an argument of all elements, which are of the type `of`.
    pub fn whole(&self, of: ArgumentType, writable: bool) -> Argument<'_> {
        Argument::memory(&self.core, &self.raw, of, 0, true, writable)
    }

    fn queue_of(&self, queue: &CommandQueue) -> Queue {
        let all = [Queue::Compute, Queue::Copy];
        let known = all.into_iter().find(|&known| self.core.queue(known).get() == queue.get());
        known.unwrap_or(Queue::Arrivals)
    }

    /// Returns the raw list of events that a command on `queue` waits for.
    fn wait_list(&self, queue: &CommandQueue, wait: &[&Event]) -> Result<Vec<cl_event>> {
        let mut wait = wait.to_vec();
        if self.queue_of(queue) != Queue::Compute {
            self.copied.store(true, Ordering::Relaxed);
            wait.extend(&self.zeroed_by);
        }
        wait_list(&self.core, &wait)
    }

    /// Panics on an access outside.
    ///
    /// The typed callers have checked the access, and OpenCL would take any offset that happens to
    /// fit.
    fn assert_inside(&self, offset: usize, bytes: usize) {
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        assert!(inside, "bytes {offset}+{bytes} of a buffer of {} bytes", self.bytes);
    }

    /// Enqueues a write of host bytes at byte `offset`.
    ///
    /// # Safety
    /// Unless `blocking`, `data` must stay alive and unchanged until the event is done.
    pub unsafe fn write(
        &self,
        queue: &CommandQueue,
        blocking: Blocking,
        offset: usize,
        data: &[u8],
        wait: &[&Event],
    ) -> Result<Event> {
        self.assert_inside(offset, data.len());
        let wait = self.wait_list(queue, wait)?;
        let noted = Noted {
            name: "write",
            queue: self.queue_of(queue),
            bytes: data.len(),
            waits: blocking == Blocking::Yes,
        };
        // SAFETY: the range lies in the buffer. `data` is valid for its length, for as long as the
        // command reads it by the caller's promise. The queue, the buffer and the wait list are of
        // one context.
        self.core.enqueue("clEnqueueWriteBuffer", noted, || unsafe {
            if data.is_empty() {
                return nothing(queue, &wait);
            }
            enqueue_write_buffer(
                queue.get(),
                self.raw(),
                blocking.flag(),
                offset,
                data.len(),
                data.as_ptr().cast_mut().cast(),
                count(&wait),
                pointer(&wait),
            )
        })
    }

    /// Enqueues a read of the bytes from `offset` into host memory.
    ///
    /// # Safety
    /// Unless `blocking`, `data` must stay alive and untouched until the event is done.
    pub unsafe fn read(
        &self,
        queue: &CommandQueue,
        blocking: Blocking,
        offset: usize,
        data: &mut [u8],
        wait: &[&Event],
    ) -> Result<Event> {
        self.assert_inside(offset, data.len());
        let wait = self.wait_list(queue, wait)?;
        let noted = Noted {
            name: "read",
            queue: self.queue_of(queue),
            bytes: data.len(),
            waits: blocking == Blocking::Yes,
        };
        // SAFETY: see `write`; `data` is exclusively borrowed, and left alone by the caller's
        // promise.
        self.core.enqueue("clEnqueueReadBuffer", noted, || unsafe {
            if data.is_empty() {
                return nothing(queue, &wait);
            }
            enqueue_read_buffer(
                queue.get(),
                self.raw(),
                blocking.flag(),
                offset,
                data.len(),
                data.as_mut_ptr().cast(),
                count(&wait),
                pointer(&wait),
            )
        })
    }

    /// Enqueues a copy of `bytes` bytes into other memory, on the compute queue.
    ///
    /// Both memories belong to the same device.
    pub fn copy_to(
        &self,
        offset: usize,
        destination: &Memory,
        destination_offset: usize,
        bytes: usize,
    ) -> Result<Event> {
        self.assert_inside(offset, bytes);
        destination.assert_inside(destination_offset, bytes);
        let noted = Noted { name: "copy", queue: Queue::Compute, bytes, waits: false };
        // SAFETY: both ranges lie in their buffers, both buffers are of this context (callers
        // check), and OpenCL itself refuses overlapping ranges of one buffer. The command keeps
        // both alive.
        self.core.enqueue("clEnqueueCopyBuffer", noted, || unsafe {
            enqueue_copy_buffer(
                self.core.compute.get(),
                self.raw(),
                destination.raw(),
                offset,
                destination_offset,
                bytes,
                0,
                ptr::null(),
            )
        })
    }

    /// Enqueues a copy of `bytes` bytes into memory of another device, on the copy queue.
    ///
    /// # Safety
    /// `copy` does what [`CopyAcross`] says. The driver keeps both buffers until the copy is done.
    pub unsafe fn copy_across(
        &self,
        copy: CopyAcross,
        offset: usize,
        destination: &Memory,
        destination_offset: usize,
        bytes: usize,
        wait: &[&Event],
    ) -> Result<Event> {
        self.assert_inside(offset, bytes);
        destination.assert_inside(destination_offset, bytes);
        destination.copied.store(true, Ordering::Relaxed);
        if let Some(zeroed) = &destination.zeroed_by {
            zeroed.wait()?;
        }
        let queue = &self.core.copy;
        let wait = self.wait_list(queue, wait)?;
        let noted = Noted { name: "copy across", queue: Queue::Copy, bytes, waits: false };
        let event = self.core.enqueue("copy to another device", noted, || {
            if bytes == 0 {
                return nothing(queue, &wait);
            }
            let mut event = ptr::null_mut();
            // SAFETY: both ranges lie in their buffers. The queue and the wait list are of this
            // context. The caller answers for the function.
            let status = unsafe {
                copy(
                    queue.get(),
                    self.raw(),
                    destination.raw(),
                    offset,
                    destination_offset,
                    bytes,
                    count(&wait),
                    pointer(&wait),
                    &mut event,
                )
            };
            if status == CL_SUCCESS { Ok(event) } else { Err(status) }
        })?;
        self.core.flush()?;
        Ok(event)
    }

    /// Enqueues filling of `bytes` bytes with a pattern, on the compute queue.
    ///
    /// The pattern's length is a power of two up to 128 and divides `offset` and `bytes`.
    pub fn fill(&self, pattern: &[u8], offset: usize, bytes: usize) -> Result<Event> {
        self.assert_inside(offset, bytes);
        if self.core.info.platform == "Oclgrind" {
            // The simulator does not count a fill as initialising memory, and reports every later
            // use of it.
            let data = pattern.repeat(bytes / pattern.len());
            // SAFETY: the call is blocking: `data` outlives it.
            return unsafe { self.write(&self.core.compute, Blocking::Yes, offset, &data, &[]) };
        }
        // The widest pattern fills most bytes, and the widest that fits fills the rest: some
        // drivers fill pattern by pattern.
        let whole = bytes / WIDEST_FILL * WIDEST_FILL;
        let split = offset.is_multiple_of(WIDEST_FILL) && 0 < whole && whole < bytes;
        if split && pattern.len() < WIDEST_FILL {
            self.fill(pattern, offset, whole)?;
            return self.fill(pattern, offset + whole, bytes - whole);
        }
        let width =
            pattern.len().max(1 << (offset | bytes).trailing_zeros().min(WIDEST_FILL.trailing_zeros()));
        let pattern = pattern.repeat(width / pattern.len());
        let noted = Noted { name: "fill", queue: Queue::Compute, bytes, waits: false };
        // SAFETY: the range lies in the buffer; clEnqueueFillBuffer copies the pattern before it
        // returns.
        self.core.enqueue("clEnqueueFillBuffer", noted, || unsafe {
            enqueue_fill_buffer(
                self.core.compute.get(),
                self.raw(),
                pattern.as_ptr().cast_mut().cast(),
                pattern.len(),
                offset,
                bytes,
                0,
                ptr::null(),
            )
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: nothing uses `raw` after this.
        let raw = unsafe { ManuallyDrop::take(&mut self.raw) };
        if self.backing.is_some() {
            return;
        }
        // Processors allocate fast, and their memory is that of other programs too.
        let is_used_elsewhere = self.copied.load(Ordering::Relaxed) || self.lent.load(Ordering::Relaxed);
        let is_spare = self.core.info.kind != DeviceKind::Cpu && !is_used_elsewhere;
        if is_spare {
            drop(self.core.spare.give_back(raw, self.bytes, self.core.info.memory_bytes));
        } else {
            self.core.spare.shrink(self.bytes);
        }
    }
}

/// Bytes of the widest pattern that fills buffers.
const WIDEST_FILL: usize = 16;

/// Returns the event of a transfer of no bytes, which PoCL 6 refuses.
fn nothing(queue: &CommandQueue, wait: &[cl_event]) -> std::result::Result<cl_event, cl_int> {
    // SAFETY: the queue and the wait list are of one context (callers check).
    unsafe { enqueue_marker_with_wait_list(queue.get(), count(wait), pointer(wait)) }
}

fn count(list: &[cl_event]) -> cl_uint {
    list.len() as cl_uint
}

/// Returns the list's pointer: OpenCL wants a null pointer, not an empty array.
fn pointer(list: &[cl_event]) -> *const cl_event {
    if list.is_empty() { ptr::null() } else { list.as_ptr() }
}
