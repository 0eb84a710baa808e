//! A record of every command on the queues of devices, with its time.

use crate::error::{DeviceError, Result};
use crate::sync::lock;
use opencl3::error_codes::ClError;
use opencl3::event::{Event as RawEvent, cl_event, retain_event};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Number of commands of one device that are written down.
///
/// Later commands are only counted.
const LIMIT: usize = 1 << 20;

/// Number of open events at which the recorder asks for times.
///
/// The times of finished commands are asked for, and their events are released.
const OPEN_LIMIT: usize = 1 << 12;

/// Recorder of the commands of the devices that are opened with it.
///
/// See [`DeviceOptions`](crate::DeviceOptions). The default recorder writes down nothing. Clones
/// write into one record.
///
/// A recorder times the devices' commands like [`Profiling::On`](crate::Profiling::On).
#[derive(Clone, Default)]
pub struct Recorder(Option<Arc<Shared>>);

struct Shared {
    zero: Instant,
    devices: Mutex<Vec<Arc<DeviceRecorder>>>,
}

/// The record of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceRecord {
    /// The device's label.
    pub device: String,
    /// The device's commands, in the order in which they were enqueued.
    pub commands: Vec<RecordedCommand>,
    /// Times in which the host waited for the device, in the order of time.
    pub waits: Vec<RecordedSpan>,
    /// Number of commands and waits that are left out, because there were too many.
    pub left_out: u64,
}

/// A kernel or a transfer.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCommand {
    /// The queue that the command ran on.
    pub queue: Queue,
    /// Bytes of a transfer; 0 for kernels.
    pub bytes: usize,
    /// The time in which the command ran on the device.
    pub span: RecordedSpan,
}

/// A stretch of time with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedSpan {
    /// The kernel's name, or the name of the activity.
    pub name: String,
    /// Time since the recorder was made.
    pub start: Duration,
    /// The length of the stretch.
    pub duration: Duration,
}

/// The queues of a device; all run their commands in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Queue {
    /// Kernels, and transfers that are in order with them.
    Compute,
    /// Transfers of pinned memory.
    Copy,
    /// Transfers from other devices of the same context.
    Arrivals,
}

impl Recorder {
    /// Makes a recorder that records.
    pub fn new() -> Self {
        Self(Some(Arc::new(Shared { zero: Instant::now(), devices: Mutex::default() })))
    }

    /// Returns `true` if the recorder records.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Makes the recorder of a device that is being opened.
    ///
    /// Returns `None` if nothing is recorded.
    pub(crate) fn device(&self, label: &str) -> Option<Arc<DeviceRecorder>> {
        let shared = self.0.as_ref()?;
        let device =
            Arc::new(DeviceRecorder { label: label.to_owned(), zero: shared.zero, notes: Mutex::default() });
        lock(&shared.devices).push(Arc::clone(&device));
        Some(device)
    }

    /// Waits for everything that was recorded, and returns the record of each device.
    ///
    /// The record starts anew.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`] if a command failed or the driver has no times.
    pub fn take(&self) -> Result<Vec<DeviceRecord>> {
        let Some(shared) = &self.0 else {
            return Ok(Vec::new());
        };
        lock(&shared.devices).iter().map(|device| device.take()).collect()
    }
}

impl PartialEq for Recorder {
    /// Returns `true` for clones of one recorder.
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(own), Some(others)) => Arc::ptr_eq(own, others),
            _ => false,
        }
    }
}

impl Eq for Recorder {}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Recorder(on)" } else { "Recorder(off)" })
    }
}

/// The notes on one device. The recorder holds events, nothing else of OpenCL.
pub(crate) struct DeviceRecorder {
    label: String,
    zero: Instant,
    notes: Mutex<Notes>,
}

#[derive(Default)]
struct Notes {
    /// The names of commands. A command has the index of its name.
    ///
    /// Names are few.
    names: Vec<String>,
    open: Vec<Open>,
    done: Vec<Done>,
    waits: Vec<RecordedSpan>,
    left_out: u64,
    clocks: Clocks,
}

/// A command whose times are not known yet.
struct Open {
    name: usize,
    queue: Queue,
    bytes: usize,
    /// Time at which the command was enqueued, in nanoseconds since the zero.
    ///
    /// `returned` is the time at which the host knew that the command was done, if the host waited.
    called: i64,
    returned: Option<i64>,
    event: RawEvent,
}

/// A command with its times by the clock of the device.
struct Done {
    name: usize,
    queue: Queue,
    bytes: usize,
    start: u64,
    end: u64,
}

/// The known bounds of the host's clock less the device's clock, in nanoseconds.
///
/// No command starts before it is enqueued. No command that was waited for ends after the wait.
struct Clocks {
    least: i64,
    most: i64,
}

impl Default for Clocks {
    fn default() -> Self {
        Self { least: i64::MIN, most: i64::MAX }
    }
}

impl Clocks {
    fn learn(&mut self, command: &Open, start: u64, end: u64) {
        self.least = self.least.max(command.called - start as i64);
        if let Some(returned) = command.returned {
            self.most = self.most.min(returned - end as i64);
        }
    }

    /// Returns the middle of the possible differences.
    ///
    /// Clocks that drift apart can leave no possible difference. Then no command starts too early.
    fn difference(&self) -> i64 {
        let room = self.most.checked_sub(self.least).unwrap_or(0).max(0);
        if self.most == i64::MAX { self.least } else { self.least + room / 2 }
    }
}

impl DeviceRecorder {
    /// Returns the time by the clock of the host.
    pub fn now(&self) -> i64 {
        self.zero.elapsed().as_nanos() as i64
    }

    /// Writes down a command that was enqueued at `called`.
    ///
    /// The host knows that the command is done if it `waited`.
    pub fn command(
        &self,
        name: &str,
        queue: Queue,
        bytes: usize,
        called: i64,
        waited: bool,
        event: cl_event,
    ) {
        let returned = waited.then(|| self.now());
        let mut notes = lock(&self.notes);
        if notes.open.len() + notes.done.len() >= LIMIT {
            notes.left_out += 1;
            return;
        }
        // SAFETY: the caller has the event, which is alive; this makes the record one of its
        // owners.
        if unsafe { retain_event(event) }.is_err() {
            notes.left_out += 1;
            return;
        }
        let known = notes.names.iter().position(|known| known == name);
        let name = known.unwrap_or_else(|| {
            notes.names.push(name.to_owned());
            notes.names.len() - 1
        });
        notes.open.push(Open { name, queue, bytes, called, returned, event: RawEvent::new(event) });
        if waited && notes.open.len() >= OPEN_LIMIT {
            notes.close();
        }
    }

    /// Writes down that the host waited since `called`.
    pub fn wait(&self, name: &str, called: i64) {
        let duration = Duration::from_nanos((self.now() - called).max(0) as u64);
        let start = Duration::from_nanos(called.max(0) as u64);
        let mut notes = lock(&self.notes);
        if notes.waits.len() >= LIMIT {
            notes.left_out += 1;
        } else {
            notes.waits.push(RecordedSpan { name: name.to_owned(), start, duration });
        }
    }

    fn take(&self) -> Result<DeviceRecord> {
        let mut notes = std::mem::take(&mut *lock(&self.notes));
        for command in &notes.open {
            command.event.wait().map_err(DeviceError::opencl("clWaitForEvents", &self.label))?;
        }
        notes.close();
        if let Some(command) = notes.open.first() {
            times(&command.event).map_err(DeviceError::opencl("clGetEventProfilingInfo", &self.label))?;
        }
        let difference = notes.clocks.difference();
        let commands = notes.done.iter().map(|command| {
            let start = (command.start as i64).saturating_add(difference).max(0) as u64;
            let span = RecordedSpan {
                name: notes.names[command.name].clone(),
                start: Duration::from_nanos(start),
                duration: Duration::from_nanos(command.end.saturating_sub(command.start)),
            };
            RecordedCommand { queue: command.queue, bytes: command.bytes, span }
        });
        Ok(DeviceRecord {
            device: self.label.clone(),
            commands: commands.collect(),
            waits: notes.waits,
            left_out: notes.left_out,
        })
    }
}

impl Notes {
    /// Asks for the times of finished commands, and releases their events.
    ///
    /// The first command that is not done ends the search.
    fn close(&mut self) {
        let mut closed = 0;
        for command in &self.open {
            let Ok((start, end)) = times(&command.event) else { break };
            self.clocks.learn(command, start, end);
            let Open { name, queue, bytes, .. } = *command;
            self.done.push(Done { name, queue, bytes, start, end });
            closed += 1;
        }
        self.open.drain(..closed);
    }
}

fn times(event: &RawEvent) -> Result<(u64, u64), ClError> {
    Ok((event.profiling_command_start()?, event.profiling_command_end()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorder_that_is_off_has_nothing_to_tell() {
        assert!(!Recorder::default().is_on());
        assert!(Recorder::default().device("0.0").is_none());
        assert_eq!(Recorder::default().take().unwrap(), []);
        assert_ne!(Recorder::new(), Recorder::new());
    }

    #[test]
    fn clocks_differ_by_what_cause_and_effect_allow() {
        let mut clocks = Clocks { least: -40, ..Clocks::default() };
        assert_eq!(clocks.difference(), -40);
        clocks.most = -20;
        assert_eq!(clocks.difference(), -30);
        clocks.most = -50;
        assert_eq!(clocks.difference(), -40);
    }
}
