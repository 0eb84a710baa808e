//! The value that asynchronous operations return.

use lattice_compute::{Event, Result};
use std::time::Duration;

/// An operation under way on a device, or one that had nothing to do.
///
/// Later operations on the device need not wait for the completion: the device runs them in order.
/// The completion and the operands may be dropped. The device keeps the operands' memory until the
/// operation is done.
#[derive(Debug)]
pub struct Completion {
    events: Vec<Event>,
}

impl Completion {
    /// Makes the completion of these commands, in the order of their enqueueing.
    pub(super) fn of(events: Vec<Event>) -> Self {
        Self { events }
    }

    /// Makes the completion of an operation that had nothing to do.
    pub(super) fn nothing() -> Self {
        Self { events: Vec::new() }
    }

    /// Returns the commands, for an operation that these are a part of.
    pub(super) fn into_events(self) -> Vec<Event> {
        self.events
    }

    /// Adds the commands of an operation that was enqueued later.
    pub(super) fn append(&mut self, later: Self) {
        self.events.extend(later.events);
    }

    /// Waits until the operation is done.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](lattice_compute::DeviceError::OpenCl) if the operation failed.
    pub fn wait(&self) -> Result<()> {
        self.events.iter().try_for_each(Event::wait)
    }

    /// Waits for the operation and returns how long its kernels ran.
    ///
    /// `None` unless the device was opened with [`Profiling::On`](lattice_compute::Profiling::On).
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](lattice_compute::DeviceError::OpenCl) if the operation failed.
    pub fn duration(&self) -> Result<Option<Duration>> {
        let mut total = Some(Duration::ZERO);
        for event in &self.events {
            total = total.zip(event.duration()?).map(|(sum, time)| sum + time);
        }
        Ok(total)
    }

    /// Returns the last command, for others to wait for.
    ///
    /// `None` if there was nothing to do.
    pub fn event(&self) -> Option<&Event> {
        self.events.last()
    }
}
