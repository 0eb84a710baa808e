//! What everything on an open device needs: its context and its two queues.

use super::compiling::CompileClock;
use super::ordinal::Ordinal;
use super::recorder::{DeviceRecorder, Queue};
use crate::error::{DeviceError, Result};
use crate::select::{DeviceIndex, DeviceInfo};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::Device as RawDevice;
use opencl3::error_codes::ClError;
use std::sync::Arc;

/// Whether the queues of a device record when each command ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Profiling {
    /// No: launches are cheapest.
    #[default]
    Off,
    /// Yes: [`Event::duration`](crate::Event::duration) answers, and every launch costs some microseconds more.
    On,
}

/// What every object on a device needs, and all that it keeps alive: buffers, kernels and events hold this,
/// never the caches above it, so that a cached object cannot keep its own cache alive.
pub(crate) struct Core {
    pub index: DeviceIndex,
    pub info: DeviceInfo,
    pub label: String,
    pub raw: RawDevice,
    pub context: Context,
    pub compute: CommandQueue,
    pub copy: CommandQueue,
    pub profiling: Profiling,
    pub recorder: Option<Arc<DeviceRecorder>>,
    pub compiling: CompileClock,
    /// Makes the programs of devices that are open at the same time differ, see [`DeviceInfo::confuses_kernels`].
    pub ordinal: Option<Ordinal>,
}

impl Drop for Core {
    fn drop(&mut self) {
        if self.ordinal.is_some() {
            // The next device of this ordinal must find none of these kernels under way. A failure has nobody to be told any more.
            let _ = self.compute.finish();
        }
    }
}

impl Core {
    /// Waits by `wait`, and writes it down if anybody does.
    pub fn wait<R>(&self, name: &str, wait: impl FnOnce() -> R) -> R {
        let called = self.recorder.as_ref().map(|recorder| recorder.now());
        let result = wait();
        if let (Some(recorder), Some(called)) = (&self.recorder, called) {
            recorder.wait(name, called);
        }
        result
    }

    /// For `map_err`: the failure of an OpenCL call on this device.
    pub fn failed(&self, call: &'static str) -> impl FnOnce(ClError) -> DeviceError {
        DeviceError::opencl(call, &self.label)
    }

    /// As [`Core::failed`], for the calls that give the bare status.
    pub fn failed_with(&self, call: &'static str) -> impl FnOnce(i32) -> DeviceError {
        let failed = self.failed(call);
        move |code| failed(ClError(code))
    }

    pub fn queue(&self, queue: Queue) -> &CommandQueue {
        match queue {
            Queue::Compute => &self.compute,
            Queue::Copy => &self.copy,
        }
    }

    /// Hands everything enqueued so far to the device.
    ///
    /// A command may wait for an event of the other queue only once that queue has been flushed (OpenCL 1.2,
    /// section 5.13); otherwise both can wait for ever.
    pub fn flush(&self) -> Result<()> {
        self.compute.flush().map_err(self.failed("clFlush"))?;
        self.copy.flush().map_err(self.failed("clFlush"))
    }
}
