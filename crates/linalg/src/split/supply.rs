//! A few buffers that go round between two threads.

use std::sync::mpsc::{Receiver, RecvError};

/// Whoever takes buffers makes as many as there may be, then waits for those that come back.
pub struct Supply<B> {
    /// How many may still be made.
    left: usize,
    returned: Receiver<B>,
}

impl<B> Supply<B> {
    /// At most `most` buffers.
    pub fn new(most: usize, returned: Receiver<B>) -> Self {
        Self { left: most, returned }
    }

    /// One that has come back, or `None` when the caller has to make one; waits until it is one or the other.
    ///
    /// # Errors
    /// When nobody is there any more who would give one back.
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
