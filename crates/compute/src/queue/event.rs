//! The end of a command, and its duration.

use super::core::{Core, Profiling};
use super::recorder::Queue;
use crate::error::Result;
use opencl3::error_codes::ClError;
use opencl3::event::{Event as RawEvent, cl_event};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The description of a command for a recorder.
pub(crate) struct Noted<'a> {
    pub name: &'a str,
    pub queue: Queue,
    pub bytes: usize,
    /// `true` if the host waits for the command.
    pub waits: bool,
}

impl Core {
    /// Enqueues a command by the OpenCL function `call`.
    ///
    /// The command is written down if there is a recorder.
    pub fn enqueue(
        self: &Arc<Self>,
        call: &'static str,
        noted: Noted<'_>,
        enqueue: impl FnOnce() -> Result<cl_event, i32>,
    ) -> Result<Event> {
        let called = self.recorder.as_ref().map(|recorder| recorder.now());
        let raw = enqueue().map_err(self.failed_with(call))?;
        if let (Some(recorder), Some(called)) = (&self.recorder, called) {
            let Noted { name, queue, bytes, waits } = noted;
            recorder.command(name, queue, bytes, called, waits, raw);
            if waits {
                recorder.wait(name, called);
            }
        }
        Ok(Event::new(raw, self))
    }
}

/// One enqueued command of a device. Clones are the same command.
#[derive(Clone)]
pub struct Event {
    raw: Arc<RawEvent>,
    core: Arc<Core>,
}

impl Event {
    /// Takes over the reference that an enqueue function returned.
    pub(super) fn new(raw: cl_event, core: &Arc<Core>) -> Self {
        Self { raw: Arc::new(RawEvent::new(raw)), core: Arc::clone(core) }
    }

    /// Waits until the command is done.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl) if the command failed.
    pub fn wait(&self) -> Result<()> {
        self.core.wait("wait", || self.raw.wait()).map_err(self.core.failed("clWaitForEvents"))
    }

    /// Waits for the command and returns its running time on the device.
    ///
    /// The result is `None` unless the device was opened with [`Profiling::On`].
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl) if the command failed or the driver has
    /// no times.
    pub fn duration(&self) -> Result<Option<Duration>> {
        self.until(self)
    }

    /// Waits for two commands and returns the time from one start to the other end.
    ///
    /// The time runs from the start of this command to the end of `last`. `last` is a later command
    /// of the same device. The result is `None` unless the device was opened with
    /// [`Profiling::On`].
    ///
    /// # Errors
    /// All errors of [`duration`](Self::duration).
    pub fn until(&self, last: &Event) -> Result<Option<Duration>> {
        last.wait()?;
        self.wait()?;
        if self.core.profiling == Profiling::Off {
            return Ok(None);
        }
        let times = || -> Result<u64, ClError> {
            Ok(last.raw.profiling_command_end()?.saturating_sub(self.raw.profiling_command_start()?))
        };
        let nanoseconds = times().map_err(self.core.failed("clGetEventProfilingInfo"))?;
        Ok(Some(Duration::from_nanos(nanoseconds)))
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event on {}", self.core.label)
    }
}

/// Returns the raw list of events for an enqueue on `core`.
///
/// OpenCL takes only events of one context. Events of other contexts are waited for here, on the
/// host. The queues of the listed events are flushed. So no queue waits for a command that was never
/// started.
pub(crate) fn wait_list(core: &Arc<Core>, events: &[&Event]) -> Result<Vec<cl_event>> {
    let mut list = Vec::new();
    let mut flushed: Option<&Arc<Core>> = None;
    for event in events {
        if !event.core.shares_context(core) {
            event.wait()?;
            continue;
        }
        list.push(event.raw.get());
        if !flushed.is_some_and(|flushed| Arc::ptr_eq(flushed, &event.core)) {
            event.core.flush()?;
            flushed = Some(&event.core);
        }
    }
    Ok(list)
}
