//! Transfers in progress, and the host memory that they use.

use crate::error::Result;
use crate::queue::Event;
use std::fmt;

/// A transfer in progress, which owns its host memory until it is done.
///
/// Dropping the transfer waits. If the wait fails, the host memory is never freed: the device may
/// still use it.
pub struct Pending<H> {
    /// The host memory; `None` only once [`Pending::wait`] has given it back.
    host: Option<H>,
    event: Event,
}

/// The reason why a transfer has its host memory.
const HAS_HOST: &str = "the host memory is taken only when the transfer is consumed";

impl<H> Pending<H> {
    pub(super) fn new(host: H, event: Event) -> Self {
        Self { host: Some(host), event }
    }

    /// Returns the transfer, for other commands to wait for.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Returns the host memory, which a device may be using.
    pub(super) fn host(&self) -> &H {
        self.host.as_ref().expect(HAS_HOST)
    }

    /// Returns the host memory's next transfer, which ends behind this one.
    pub(super) fn followed_by(mut self, event: Event) -> Self {
        self.event = event;
        self
    }

    /// Waits for the transfer and gives the host memory back.
    ///
    /// After a download the memory holds the data.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl) if the transfer failed.
    pub fn wait(mut self) -> Result<H> {
        self.event.wait()?;
        Ok(self.host.take().expect(HAS_HOST))
    }
}

impl<H> Drop for Pending<H> {
    fn drop(&mut self) {
        if let Some(host) = self.host.take()
            && let Err(error) = self.event.wait()
        {
            tracing::warn!("host memory of a failed transfer is left allocated: {error}");
            std::mem::forget(host);
        }
    }
}

impl<H> fmt::Debug for Pending<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pending({:?})", self.event)
    }
}
