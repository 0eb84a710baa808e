//! The time of a solve.

use crate::space::VectorSpace;
use std::time::{Duration, Instant};

/// The clock of a solve.
///
/// It runs from its start, and stands still while the space does other things than solving.
pub(crate) struct Clock {
    start: Instant,
    aside: Duration,
}

impl Clock {
    pub fn start(space: &impl VectorSpace) -> Self {
        Self { start: Instant::now(), aside: space.time_aside() }
    }

    /// Returns the time since the start, in the same space.
    pub fn elapsed(&self, space: &impl VectorSpace) -> Duration {
        self.start.elapsed().saturating_sub(space.time_aside().saturating_sub(self.aside))
    }
}
