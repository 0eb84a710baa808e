//! A few buffers that go round between two threads.

use std::sync::mpsc::{Receiver, RecvError};

/// A supply of buffers for one thread.
///
/// The thread makes as many buffers as there may be. Then it waits for buffers that come back.
pub struct Supply<B> {
    /// Number of buffers that may still be made.
    left: usize,
    returned: Receiver<B>,
}

impl<B> Supply<B> {
    /// Makes a supply of at most `most` buffers.
    pub fn new(most: usize, returned: Receiver<B>) -> Self {
        Self { left: most, returned }
    }

    /// Returns a buffer that has come back, or `None` if the caller has to make one.
    ///
    /// Waits until one of the two is possible.
    ///
    /// # Errors
    /// If no thread is left that would give a buffer back.
    pub fn next(&mut self) -> Result<Option<B>, RecvError> {
        if let Ok(buffer) = self.returned.try_recv() {
            return Ok(Some(buffer));
        }
        if self.left == 0 {
            return self.returned.recv().map(Some);
        }
        self.left -= 1;
        Ok(None)
    }
}
