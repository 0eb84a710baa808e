//! The core of an open device: its context and its queues.

use super::compiling::CompileClock;
use super::ordinal::Ordinal;
use super::recorder::{DeviceRecorder, Queue};
use crate::error::{DeviceError, Result};
use crate::select::{DeviceIndex, DeviceInfo};
use crate::spare::Spare;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::Device as RawDevice;
use opencl3::error_codes::ClError;
use opencl3::memory::Buffer as RawBuffer;
use std::sync::Arc;

/// The choice whether queues of a device record when each command ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Profiling {
    /// The queues record nothing, and launches are cheapest.
    #[default]
    Off,
    /// The queues record the times of commands.
    ///
    /// [`Event::duration`](crate::Event::duration) answers, and every launch costs some
    /// microseconds more.
    On,
}

/// The part of a device that every object on it needs, and keeps alive.
///
/// Buffers, kernels and events hold this part, never the caches above it. So a cached object cannot
/// keep its own cache alive.
pub(crate) struct Core {
    pub index: DeviceIndex,
    pub info: DeviceInfo,
    pub label: String,
    pub raw: RawDevice,
    /// The context, which other devices of the platform may have in common.
    pub context: Arc<Context>,
    pub compute: CommandQueue,
    pub copy: CommandQueue,
    /// The queue of data from other devices, if they have the context in common.
    ///
    /// Such data wait for the other devices, and messages to these devices must not wait behind them.
    pub arrivals: Option<CommandQueue>,
    pub profiling: Profiling,
    pub recorder: Option<Arc<DeviceRecorder>>,
    pub compiling: CompileClock,
    /// Memory of released buffers.
    pub spare: Spare<RawBuffer<u8>>,
    /// Number that makes the programs of devices differ that are open together.
    ///
    /// See [`DeviceInfo::confuses_kernels`].
    pub ordinal: Option<Ordinal>,
}

impl Drop for Core {
    fn drop(&mut self) {
        if self.ordinal.is_some() {
            // The next device of this ordinal must find none of these kernels in progress. A
            // failure has no listener any more.
            let _ = self.compute.finish();
        }
    }
}

impl Core {
    /// Waits by `wait`, and writes the wait down if there is a recorder.
    pub fn wait<R>(&self, name: &str, wait: impl FnOnce() -> R) -> R {
        let called = self.recorder.as_ref().map(|recorder| recorder.now());
        let result = wait();
        if let (Some(recorder), Some(called)) = (&self.recorder, called) {
            recorder.wait(name, called);
        }
        result
    }

    /// Tells whether queues of both may wait for each other's events.
    pub fn shares_context(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.context, &other.context)
    }

    /// Makes the failure of an OpenCL call on this device, for `map_err`.
    pub fn failed(&self, call: &'static str) -> impl FnOnce(ClError) -> DeviceError {
        DeviceError::opencl(call, &self.label)
    }

    /// Makes a failure like [`Core::failed`], but from a bare status.
    pub fn failed_with(&self, call: &'static str) -> impl FnOnce(i32) -> DeviceError {
        let failed = self.failed(call);
        move |code| failed(ClError(code))
    }

    pub fn queue(&self, queue: Queue) -> &CommandQueue {
        match queue {
            Queue::Compute => &self.compute,
            Queue::Copy => &self.copy,
            Queue::Arrivals => self.arrivals.as_ref().unwrap_or(&self.copy),
        }
    }

    /// Hands everything enqueued so far to the device.
    ///
    /// A command may wait for an event of the other queue only once that queue has been flushed
    /// (OpenCL 1.2, section 5.13); otherwise both can wait for ever.
    pub fn flush(&self) -> Result<()> {
        self.compute.flush().map_err(self.failed("clFlush"))?;
        self.copy.flush().map_err(self.failed("clFlush"))
    }
}
