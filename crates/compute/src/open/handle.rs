//! An open device: its context, its queues, its programs.

use super::options::DeviceOptions;
use super::peer_ways::PeerWays;
use crate::error::{DeviceError, Result};
use crate::kernel::{
    BinaryCache, Compilation, CompileWorker, KernelKey, MatrixOperation, Program, takes_inline_ptx,
};
use crate::queue::{Core, Event, Ordinal, Profiling, Stopwatch, wait_list};
use crate::scalar::ElementType;
use crate::select::{DeviceIndex, DeviceInfo, DiscoveredDevice};
use crate::spare::Spare;
use crate::sync::lock;
use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::Context;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

struct Inner {
    core: Arc<Core>,
    options: DeviceOptions,
    cache: BinaryCache,
    programs: Mutex<HashMap<KernelKey, ProgramSlot>>,
    compilation: Mutex<Compilation>,
    attached: Mutex<HashMap<(TypeId, AttachmentKey), Attached>>,
    inline_ptx: OnceLock<bool>,
    peer_ways: PeerWays,
}

/// A program, locked while a thread builds it.
type ProgramSlot = Arc<Mutex<Option<Arc<Program>>>>;

/// A value that a device keeps.
type Attached = Arc<dyn Any + Send + Sync>;

/// The key that tells values of one type apart which a device keeps.
///
/// The kernels of one module for several element types are an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AttachmentKey {
    element: Option<ElementType>,
    variant: usize,
}

impl AttachmentKey {
    /// Returns the key of a variant of the value, in place of variant 0.
    #[must_use]
    pub fn with_variant(self, variant: usize) -> Self {
        Self { variant, ..self }
    }
}

impl From<ElementType> for AttachmentKey {
    /// Makes the key of the value for elements of a type.
    fn from(element: ElementType) -> Self {
        Self { element: Some(element), variant: 0 }
    }
}

/// An open device: a context, an in-order compute queue, an in-order copy queue.
///
/// Devices of a team may have a context in common. The device holds the programs built for it as well. Clones are the same device.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

impl Device {
    /// Opens a discovered device.
    ///
    /// Opening a device twice gives two independent devices.
    ///
    /// # Errors
    /// [`DeviceError::NoDoublePrecision`]; [`DeviceError::UnknownPeerWay`]; [`DeviceError::OpenCl`]
    /// if the driver refuses a context or a queue.
    pub fn open(found: &DiscoveredDevice, options: &DeviceOptions) -> Result<Self> {
        let make = || {
            Context::from_device(&found.raw).map_err(DeviceError::opencl("clCreateContext", &found.label()))
        };
        Self::open_in(found, options, false, || make().map(Arc::new))
    }

    /// Opens a discovered device in the context that `make` returns.
    ///
    /// `is_common` tells whether other devices have the context too.
    pub(super) fn open_in(
        found: &DiscoveredDevice,
        options: &DeviceOptions,
        is_common: bool,
        make: impl FnOnce() -> Result<Arc<Context>>,
    ) -> Result<Self> {
        let label = found.label();
        if !found.info.fp64 && !options.without_double {
            return Err(DeviceError::NoDoublePrecision { device: label });
        }
        let peer_ways = options.peer.map_or_else(PeerWays::by_environment, Ok)?;
        let context = make()?;
        let recorder = options.recorder.device(&label);
        let profiling = if recorder.is_some() { Profiling::On } else { options.profiling };
        let properties = match profiling {
            Profiling::Off => 0,
            Profiling::On => CL_QUEUE_PROFILING_ENABLE,
        };
        let queue = || {
            // SAFETY: clCreateCommandQueue wants a device of the context: all callers have a
            // context of this device. The queue retains the context.
            unsafe { CommandQueue::create(&context, found.raw.id(), properties) }
                .map_err(DeviceError::opencl("clCreateCommandQueue", &label))
        };
        let (compute, copy) = (queue()?, queue()?);
        let arrivals = is_common.then(queue).transpose()?;
        let cache = BinaryCache::new(&options.cache, &found.info.platform);
        let core = Core {
            index: found.index,
            info: found.info.clone(),
            label,
            raw: found.raw,
            context,
            compute,
            copy,
            arrivals,
            profiling,
            recorder,
            compiling: options.compiling.clone(),
            spare: Spare::default(),
            ordinal: found.info.confuses_kernels().then(Ordinal::take),
        };
        Ok(Self(Arc::new(Inner {
            core: Arc::new(core),
            options: options.clone(),
            cache,
            programs: Mutex::default(),
            compilation: Mutex::default(),
            attached: Mutex::default(),
            inline_ptx: OnceLock::new(),
            peer_ways,
        })))
    }

    /// Returns a reference that does not keep the device open.
    pub fn downgrade(&self) -> WeakDevice {
        WeakDevice(Arc::downgrade(&self.0))
    }

    /// Returns what is alive as long as the device is open.
    pub(super) fn alive(&self) -> Weak<dyn Any + Send + Sync> {
        let alive: Weak<Inner> = Arc::downgrade(&self.0);
        alive
    }

    /// Returns the device that [`alive`](Self::alive) told of, if it is still open.
    pub(super) fn of_alive(alive: &Weak<dyn Any + Send + Sync>) -> Option<Self> {
        alive.upgrade()?.downcast().ok().map(Self)
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.0.core
    }

    /// Returns the device's properties.
    pub fn info(&self) -> &DeviceInfo {
        &self.0.core.info
    }

    /// Returns the place of the device among all devices of the machine.
    pub fn index(&self) -> DeviceIndex {
        self.0.core.index
    }

    /// Returns `0.1 name (platform)`, the form that messages show.
    pub fn label(&self) -> &str {
        &self.0.core.label
    }

    /// Returns the time that compilers have taken so far, for all devices of a clock.
    ///
    /// The devices were opened with the same [`CompileClock`](crate::CompileClock), for example the
    /// devices of a team.
    pub fn compile_time(&self) -> Duration {
        self.0.core.compiling.time()
    }

    /// Starts a stopwatch that stands still while compilers work, for all devices of a clock.
    pub fn stopwatch(&self) -> Stopwatch {
        self.0.core.compiling.stopwatch()
    }

    /// Returns the most bytes that buffers of the device had at once since the last call.
    ///
    /// Memory of released buffers that the device keeps for the next ones does not count.
    pub fn take_most_memory(&self) -> u64 {
        self.core().spare.take_most()
    }

    /// Tells whether commands are timed.
    pub fn profiling(&self) -> Profiling {
        self.0.core.profiling
    }

    /// Returns the options that the device was opened with.
    pub fn options(&self) -> &DeviceOptions {
        &self.0.options
    }

    /// Returns the ways in which kernels may reach the memory of other devices.
    pub fn peer_ways(&self) -> PeerWays {
        self.0.peer_ways
    }

    /// Tells whether queues of both devices wait for each other's events without the host.
    pub fn shares_context(&self, other: &Self) -> bool {
        self.core().shares_context(other.core())
    }

    /// Waits until everything enqueued on all queues is done.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`] if a command failed.
    pub fn finish(&self) -> Result<()> {
        let core = self.core();
        core.wait("finish", || {
            let queues = [&core.compute, &core.copy].into_iter().chain(&core.arrivals);
            queues.into_iter().try_for_each(|queue| queue.finish().map_err(core.failed("clFinish")))
        })
    }

    /// Starts everything enqueued so far, without waiting.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`] if the driver fails.
    pub fn flush(&self) -> Result<()> {
        self.core().flush()
    }

    /// Hands all launches enqueued so far to the device.
    ///
    /// NVIDIA's driver takes 2 µs more for [`flush`](Self::flush), which flushes the copy queue too
    /// (580.159.04).
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`] if the driver fails.
    pub fn flush_launches(&self) -> Result<()> {
        let core = self.core();
        core.compute.flush().map_err(core.failed("clFlush"))
    }

    /// Holds later commands of the compute queue until `events` are done.
    ///
    /// Transfers on the copy queue are an example of such events.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`] if the driver fails.
    pub fn compute_after(&self, events: &[&Event]) -> Result<()> {
        let core = self.core();
        let list = wait_list(core, events)?;
        if list.is_empty() {
            return Ok(());
        }
        // SAFETY: the events are of this context, and alive during the call, which retains them.
        let barrier = unsafe { core.compute.enqueue_barrier_with_wait_list(&list) };
        barrier.map(drop).map_err(core.failed("clEnqueueBarrierWithWaitList"))
    }

    /// Returns `true` if kernels may hold NVIDIA's assembly (PTX).
    ///
    /// A small program is built once to find out. If the result is `true`, every program is built
    /// with `-D INLINE_PTX=1`.
    pub fn supports_inline_ptx(&self) -> bool {
        *self.0.inline_ptx.get_or_init(|| takes_inline_ptx(self.core()))
    }

    /// Returns `true` if kernels may use the matrix units for this operation.
    ///
    /// The kernels use the units in NVIDIA's assembly.
    pub fn supports_matrix_units(&self, operation: MatrixOperation) -> bool {
        self.info().compute_capability >= Some(operation.least_capability())
            && self.info().driver_major() >= Some(operation.least_driver())
            && self.supports_inline_ptx()
    }

    /// Returns `true` if the compiler takes a limit on the registers of a work-item.
    pub fn supports_register_limit(&self) -> bool {
        self.info().extensions.iter().any(|extension| extension == "cl_nv_compiler_options")
    }

    /// Returns the program of a key, built on first use and kept as long as the device.
    ///
    /// # Errors
    /// [`DeviceError::Build`] with the compiler's log and options;
    /// [`DeviceError::InvalidDefinition`].
    pub fn program(&self, key: &KernelKey) -> Result<Arc<Program>> {
        self.program_by(key, None)
    }

    /// Returns the program of a key, which a worker may compile.
    ///
    /// Whoever asks for a program that another thread builds waits for that thread.
    pub(super) fn program_by(
        &self,
        key: &KernelKey,
        worker: Option<&mut CompileWorker>,
    ) -> Result<Arc<Program>> {
        let slot = Arc::clone(lock(&self.0.programs).entry(key.clone()).or_default());
        let mut slot = lock(&slot);
        if let Some(program) = &*slot {
            return Ok(Arc::clone(program));
        }
        let build = || Program::build(self.core(), &self.0.cache, self.supports_inline_ptx(), key, worker);
        let (program, compilation) = self.core().compiling.compile(&key.to_string(), build)?;
        *lock(&self.0.compilation) += compilation;
        Ok(Arc::clone(slot.insert(Arc::new(program))))
    }

    /// Tells whether the program of a key is neither there nor in the cache, which there is.
    pub(super) fn lacks_program(&self, key: &KernelKey) -> bool {
        let cache = &self.0.cache;
        let is_kept = || Program::is_kept(self.core(), cache, self.supports_inline_ptx(), key);
        !self.has_program(key) && cache.is_on() && !is_kept()
    }

    /// Returns `true` if the program of a key is there already.
    ///
    /// Programs that another thread is building are not there yet.
    pub(super) fn has_program(&self, key: &KernelKey) -> bool {
        let slot = lock(&self.0.programs).get(key).cloned();
        slot.is_some_and(|slot| slot.try_lock().is_ok_and(|slot| slot.is_some()))
    }

    /// Returns the number of programs that have been built.
    pub fn program_count(&self) -> usize {
        let slots: Vec<_> = lock(&self.0.programs).values().cloned().collect();
        slots.iter().filter(|slot| lock(slot).is_some()).count()
    }

    /// Returns the programs on disk.
    pub(super) fn binary_cache(&self) -> &BinaryCache {
        &self.0.cache
    }

    /// Returns the cost of building the programs so far.
    ///
    /// Two readings tell what was built between them.
    pub fn compilation(&self) -> Compilation {
        *lock(&self.0.compilation)
    }

    /// Returns the one value of type `V` that goes with this device.
    ///
    /// The value is made on first use and kept as long as the device. The kernels of a module are
    /// an example.
    ///
    /// `V` must not hold a [`Device`] or a [`Buffer`](crate::Buffer), or the device would never be
    /// released.
    ///
    /// # Errors
    /// All errors of `make`.
    pub fn attached<V, E>(&self, make: impl FnOnce(&Device) -> Result<V, E>) -> Result<Arc<V>, E>
    where
        V: Send + Sync + 'static,
    {
        self.attached_as(AttachmentKey::default(), make)
    }

    /// Returns the one value of type `V` that goes with this device and a key.
    ///
    /// Everything else is as with [`attached`](Self::attached).
    ///
    /// # Errors
    /// All errors of `make`.
    pub fn attached_as<V, E>(
        &self,
        key: impl Into<AttachmentKey>,
        make: impl FnOnce(&Device) -> Result<V, E>,
    ) -> Result<Arc<V>, E>
    where
        V: Send + Sync + 'static,
    {
        let id = (TypeId::of::<V>(), key.into());
        let value = match self.attachment(id) {
            Some(value) => value,
            None => self.attach(id, Arc::new(make(self)?)),
        };
        Ok(value.downcast().expect("values are stored under their own type"))
    }

    fn attachment(&self, id: (TypeId, AttachmentKey)) -> Option<Attached> {
        lock(&self.0.attached).get(&id).cloned()
    }

    /// Keeps a value, or returns the one that another thread has made meanwhile.
    fn attach(&self, id: (TypeId, AttachmentKey), made: Attached) -> Attached {
        Arc::clone(lock(&self.0.attached).entry(id).or_insert(made))
    }

    /// Returns a value like [`attached`](Self::attached), made by its default.
    ///
    /// Memory that is kept for later is an example.
    pub(crate) fn kept<V: Default + Send + Sync + 'static>(&self) -> Arc<V> {
        match self.attached(|_| Ok::<V, Infallible>(V::default())) {
            Ok(kept) => kept,
            Err(impossible) => match impossible {},
        }
    }
}

/// A reference to a device that does not keep it open.
#[derive(Clone)]
pub struct WeakDevice(Weak<Inner>);

impl WeakDevice {
    /// Returns the device, if it is still open.
    pub fn upgrade(&self) -> Option<Device> {
        self.0.upgrade().map(Device)
    }
}

impl fmt::Debug for WeakDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WeakDevice({:?})", self.upgrade())
    }
}

impl PartialEq for Device {
    /// Returns `true` for clones of one opened device.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.core, &other.0.core)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Team;
    use crate::select::Selector;

    #[test]
    fn values_of_one_type_are_told_apart_by_their_keys() {
        let team = Team::select(Selector::Auto).unwrap();
        let Some(device) = team.devices().first() else { return };
        let kept = |key: AttachmentKey, value: u32| *device.attached_as(key, |_| Ok::<_, ()>(value)).unwrap();
        let (single, double) = (ElementType::of::<f32>().into(), ElementType::of::<f64>().into());
        assert_eq!([kept(single, 1), kept(double, 2), kept(AttachmentKey::default(), 3)], [1, 2, 3]);
        assert_eq!([kept(AttachmentKey::with_variant(single, 1), 4), kept(single, 5)], [4, 1]);
    }
}
