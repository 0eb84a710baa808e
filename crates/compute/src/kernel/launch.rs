//! Kernels and their launches.

use super::argument::{Argument, Value};
use super::signature::Signature;
use crate::error::{DeviceError, Result};
use crate::queue::{Core, Event, Noted, Queue, wait_list};
use crate::sync::lock;
use cl3::load_library;
use opencl3::error_codes::{CL_SUCCESS, DLOPEN_FUNCTION_NOT_AVAILABLE, DLOPEN_RUNTIME_LOAD_FAILED};
use opencl3::kernel::{Kernel as RawKernel, set_kernel_arg};
use opencl3::memory::ClMem;
use opencl3::program::Program as RawProgram;
use opencl3::types::{cl_event, cl_mem, cl_uint};
use std::collections::HashSet;
use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard};

/// Name of the OpenCL function that launches kernels.
const ENQUEUE: &str = "clEnqueueNDRangeKernel";

/// Number of work-items of a launch, and the size of their groups.
///
/// The group size is always given: some drivers guess badly if it is left to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    dimensions: usize,
    global: [usize; 3],
    local: [usize; 3],
}

impl Range {
    /// Returns a range of `groups` work-groups of `local` work-items in one dimension.
    pub fn groups(groups: usize, local: usize) -> Self {
        Self { dimensions: 1, global: [groups.saturating_mul(local), 1, 1], local: [local, 1, 1] }
    }

    /// Returns a range of at least `items` work-items, in groups of `local`.
    ///
    /// The range has one dimension. The last group may reach past `items`, so the kernel must
    /// compare its number with a count of its own.
    pub fn covering(items: usize, local: usize) -> Self {
        Self::groups(items.div_ceil(local.max(1)), local)
    }

    /// Returns the number of work-groups of the launch.
    pub fn group_count(&self) -> usize {
        self.global.iter().zip(&self.local).map(|(global, local)| global.div_ceil(*local)).product()
    }

    /// Returns the properties of the range that a driver may compile a kernel for.
    fn groups_to_compile(&self) -> Groups {
        (self.local, self.global.iter().all(|&items| items <= usize::from(u16::MAX)))
    }

    /// Returns a range of `global` work-items in groups of `local`.
    ///
    /// The range has up to three dimensions. Further entries are 1.
    pub fn new<const N: usize>(global: [usize; N], local: [usize; N]) -> Self {
        const { assert!(0 < N && N <= 3, "OpenCL has one to three dimensions") };
        let pad = |sizes: [usize; N]| std::array::from_fn(|i| sizes.get(i).copied().unwrap_or(1));
        Self { dimensions: N, global: pad(global), local: pad(local) }
    }
}

/// A kernel of a program, ready to launch on the program's device.
///
/// A clone is the same OpenCL object.
#[derive(Clone)]
pub struct Kernel(Arc<Signed>);

/// A kernel and its signature.
struct Signed {
    name: String,
    signature: Signature,
    max_group: usize,
    /// The OpenCL object, locked by a launch.
    ///
    /// The arguments are state of the OpenCL object, so one launch at a time may set them.
    raw: Mutex<Launchable>,
    /// First launches of all kernels of the program.
    launched: Arc<FirstLaunches>,
    core: Arc<Core>,
}

/// The OpenCL object, and the work-groups that it is compiled for.
struct Launchable {
    raw: RawKernel,
    compiled: Vec<Groups>,
}

/// The properties of a launch that a driver may compile a kernel for.
///
/// The properties are the size of work-groups, and `true` if the work-items are so few that 16 bits
/// count them.
type Groups = ([usize; 3], bool);

/// The work-groups that the kernels of a program were launched with before.
#[derive(Default)]
pub(super) struct FirstLaunches(Mutex<HashSet<(String, Groups)>>);

impl FirstLaunches {
    /// Returns `true` the first time.
    fn is_first(&self, kernel: &str, groups: Groups) -> bool {
        lock(&self.0).insert((kernel.to_owned(), groups))
    }

    fn contains(&self, kernel: &str, groups: Groups) -> bool {
        lock(&self.0).contains(&(kernel.to_owned(), groups))
    }
}

impl Kernel {
    /// Makes the kernel `name` of a program.
    ///
    /// The signature is the kept one, or else the driver's report.
    pub(super) fn new(
        core: &Arc<Core>,
        program: &RawProgram,
        launched: &Arc<FirstLaunches>,
        name: &str,
        kept: Option<&Signature>,
    ) -> Result<Self> {
        // The raw kernel retains its program.
        let raw = RawKernel::create(program, name).map_err(core.failed("clCreateKernel"))?;
        let signature = match kept {
            Some(signature) => signature.clone(),
            None => Signature::query(&raw).map_err(core.failed("clGetKernelArgInfo"))?.ok_or_else(|| {
                DeviceError::NoSignature { kernel: name.to_owned(), device: core.label.clone() }
            })?,
        };
        let (wanted, found) =
            (signature.positions(), raw.num_args().map_err(core.failed("clGetKernelInfo"))? as usize);
        if found != wanted {
            return Err(DeviceError::ArgumentCount { kernel: name.to_owned(), wanted, found });
        }
        let max_group =
            raw.get_work_group_size(core.raw.id()).map_err(core.failed("clGetKernelWorkGroupInfo"))?;
        Ok(Self(Arc::new(Signed {
            name: name.to_owned(),
            signature,
            max_group,
            raw: Mutex::new(Launchable { raw, compiled: Vec::new() }),
            launched: Arc::clone(launched),
            core: Arc::clone(core),
        })))
    }

    /// Returns the name in the source.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the size of the largest work-group that can run this kernel.
    pub fn max_work_group_size(&self) -> usize {
        self.0.max_group
    }

    /// Starts the kernel on the device's compute queue.
    ///
    /// The kernel runs after everything enqueued there before.
    ///
    /// # Errors
    /// [`DeviceError::ArgumentCount`], [`DeviceError::ArgumentMismatch`],
    /// [`DeviceError::ForeignBuffer`], [`DeviceError::InvalidRange`]: nothing is started then.
    /// [`DeviceError::Launch`] if the driver refuses the launch. [`DeviceError::OpenCl`] if the
    /// driver refuses an argument.
    pub fn launch(&self, range: Range, arguments: &[Argument<'_>]) -> Result<Event> {
        self.launch_after(range, arguments, &[])
    }

    /// Launches like [`Kernel::launch`], but not before `wait` is done.
    ///
    /// `wait` is meant for transfers on the copy queue.
    ///
    /// # Errors
    /// All errors of [`Kernel::launch`].
    pub fn launch_after(&self, range: Range, arguments: &[Argument<'_>], wait: &[&Event]) -> Result<Event> {
        let wait = wait_list(&self.0.core, wait)?;
        let mut raw = self.prepare(&range, arguments)?;
        let noted = Noted { name: &self.0.name, queue: Queue::Compute, bytes: 0, waits: false };
        let launched = self.0.core.enqueue(ENQUEUE, noted, || {
            let mut event = ptr::null_mut();
            self.enqueue(&mut raw, &range, &wait, &mut event).map(|()| event)
        });
        launched.map_err(|error| match error {
            DeviceError::OpenCl { code, .. } => self.not_launched(&range, code),
            other => other,
        })
    }

    /// Launches like [`Kernel::launch`], but without an event.
    ///
    /// NVIDIA's driver takes 2 µs more for a launch that has an event (580.159.04).
    ///
    /// # Errors
    /// All errors of [`Kernel::launch`].
    pub fn start(&self, range: Range, arguments: &[Argument<'_>]) -> Result<()> {
        if self.0.core.recorder.is_some() {
            return self.launch(range, arguments).map(drop);
        }
        let mut raw = self.prepare(&range, arguments)?;
        // A null pointer for the event makes no event.
        self.enqueue(&mut raw, &range, &[], ptr::null_mut()).map_err(|code| self.not_launched(&range, code))
    }

    /// Tells whether the kernel was launched with such a range before.
    ///
    /// Otherwise the driver may compile, and a launch waits for its end.
    pub fn is_compiled_for(&self, range: &Range) -> bool {
        let groups = range.groups_to_compile();
        lock(&self.0.raw).compiled.contains(&groups) || self.0.launched.contains(&self.0.name, groups)
    }

    fn not_launched(&self, range: &Range, code: i32) -> DeviceError {
        DeviceError::Launch {
            kernel: self.0.name.clone(),
            global: range.global[..range.dimensions].to_vec(),
            local: range.local[..range.dimensions].to_vec(),
            code,
            device: self.0.core.label.clone(),
        }
    }

    /// Enqueues a launch, and waits for it if the driver may compile.
    ///
    /// Drivers compile at the first launch with work-groups of a size. The clock of compilers runs
    /// during the first launch.
    fn enqueue(
        &self,
        launchable: &mut Launchable,
        range: &Range,
        wait: &[cl_event],
        event: *mut cl_event,
    ) -> std::result::Result<(), i32> {
        let Launchable { raw, compiled } = launchable;
        let groups = range.groups_to_compile();
        if compiled.contains(&groups) {
            return self.enqueue_now(raw, range, wait, event);
        }
        compiled.push(groups);
        if !self.0.launched.is_first(&self.0.name, groups) {
            return self.enqueue_now(raw, range, wait, event);
        }
        // Commands that were enqueued before are no part of the compilation. The failures of such
        // commands are told to whoever waits for them.
        let settle = || {
            let _ = self.0.core.flush();
            let _ = self.0.core.copy.finish();
            let _ = self.0.core.compute.finish();
        };
        settle();
        self.0.core.compiling.compile(&self.0.name, || {
            let launched = self.enqueue_now(raw, range, wait, event);
            settle();
            launched
        })
    }

    /// Calls clEnqueueNDRangeKernel for a kernel that is locked and prepared.
    ///
    /// [`prepare`](Self::prepare) has locked the kernel. The wait list belongs to the queue's
    /// context. `event` is null or the place for an event. The wrappers of opencl3 know no launch
    /// without an event.
    ///
    /// The call relies on these facts:
    ///
    /// * Kernels stay inside their arguments: the maker of their
    ///   [`KernelFamily`](crate::KernelFamily) has promised so.
    /// * Every argument has been set, just now, under the lock.
    /// * The arrays of a range have at least `dimensions` entries.
    /// * Queue and kernel belong to one context.
    /// * The launch retains the kernel and its buffers until it is done.
    fn enqueue_now(
        &self,
        raw: &RawKernel,
        range: &Range,
        wait: &[cl_event],
        event: *mut cl_event,
    ) -> std::result::Result<(), i32> {
        let library = load_library().as_ref().map_err(|_| DLOPEN_RUNTIME_LOAD_FAILED)?;
        let status = library.clEnqueueNDRangeKernel(
            self.0.core.compute.get(),
            raw.get(),
            range.dimensions as cl_uint,
            ptr::null(),
            range.global.as_ptr(),
            range.local.as_ptr(),
            wait.len() as cl_uint,
            if wait.is_empty() { ptr::null() } else { wait.as_ptr() },
            event,
        );
        match status.unwrap_or(DLOPEN_FUNCTION_NOT_AVAILABLE) {
            CL_SUCCESS => Ok(()),
            status => Err(status),
        }
    }

    /// Sets the arguments of the kernel, which is enqueued while it is locked.
    fn prepare(&self, range: &Range, arguments: &[Argument<'_>]) -> Result<MutexGuard<'_, Launchable>> {
        self.check_range(range)?;
        self.check_arguments(arguments)?;
        let launchable = lock(&self.0.raw);
        let raw = &launchable.raw;
        let mut position = 0;
        for (parameter, argument) in self.0.signature.parameters().iter().zip(arguments) {
            let result = match &argument.value {
                Value::Memory { raw: memory, offset, .. } => {
                    let handle: cl_mem = memory.get();
                    // SAFETY: a buffer argument is a cl_mem. The parameter was checked to be a
                    // pointer to global memory here, and the buffer to be of this context. The
                    // launch retains the buffer.
                    let mut set =
                        unsafe { set(raw, position, size_of::<cl_mem>(), (&raw const handle).cast()) };
                    if set.is_ok() && parameter.with_offset {
                        let offset = *offset as u64;
                        // SAFETY: the argument after a view was checked to be a `ulong`.
                        set = unsafe { self::set(raw, position + 1, 8, (&raw const offset).cast()) };
                    }
                    set
                }
                // SAFETY: `fits` has checked that the type is the parameter's. A type without a name
                // here is compared by size, by OpenCL. OpenCL copies the bytes.
                Value::Bytes(bytes) => unsafe { set(raw, position, argument.of.size, bytes.as_ptr().cast()) },
                // SAFETY: local memory is a size and a null pointer; the parameter was checked to be
                // `__local`.
                Value::Local { bytes } => unsafe { set(raw, position, *bytes, ptr::null()) },
                Value::Image { raw: image, .. } => {
                    let handle: cl_mem = image.0;
                    // SAFETY: an image argument is a cl_mem. The parameter was checked to be an
                    // image, and the image to be of this context. The launch retains the image.
                    unsafe { set(raw, position, size_of::<cl_mem>(), (&raw const handle).cast()) }
                }
            };
            result.map_err(self.0.core.failed_with("clSetKernelArg"))?;
            position += parameter.positions();
        }
        Ok(launchable)
    }

    fn check_range(&self, range: &Range) -> Result<()> {
        let empty = range.global.iter().chain(&range.local).any(|&n| n == 0);
        let reason = if empty {
            "a launch needs at least one work-item"
        } else if range.global.iter().zip(&range.local).any(|(g, l)| g % l != 0) {
            "the global size is no multiple of the group size"
        } else if range.local.iter().product::<usize>() > self.0.max_group {
            "the work-group is larger than the device can run this kernel with"
        } else {
            return Ok(());
        };
        Err(DeviceError::InvalidRange {
            kernel: self.0.name.clone(),
            global: range.global,
            local: range.local,
            reason,
        })
    }

    fn check_arguments(&self, arguments: &[Argument<'_>]) -> Result<()> {
        let parameters = self.0.signature.parameters();
        if arguments.len() != parameters.len() {
            return Err(DeviceError::ArgumentCount {
                kernel: self.0.name.clone(),
                wanted: parameters.len(),
                found: arguments.len(),
            });
        }
        for (position, (parameter, argument)) in parameters.iter().zip(arguments).enumerate() {
            if !argument.fits(parameter) {
                return Err(DeviceError::ArgumentMismatch {
                    kernel: self.0.name.clone(),
                    position,
                    name: parameter.name.to_string(),
                    wanted: parameter.to_string(),
                    found: argument.to_string(),
                });
            }
            if let Value::Memory { core, .. } | Value::Image { core, .. } = &argument.value
                && !Arc::ptr_eq(core, &self.0.core)
            {
                return Err(DeviceError::ForeignBuffer {
                    wanted: self.0.core.label.clone(),
                    found: core.label.clone(),
                });
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({} on {})", self.0.name, self.0.core.label)
    }
}

/// Calls clSetKernelArg.
///
/// # Safety
/// `value` is null or points to `size` bytes of the type of the kernel's argument at `position`.
unsafe fn set(raw: &RawKernel, position: usize, size: usize, value: *const c_void) -> Result<(), i32> {
    // SAFETY: the caller's promise; the kernel is alive and locked.
    unsafe { set_kernel_arg(raw.get(), position as cl_uint, size, value) }
}
