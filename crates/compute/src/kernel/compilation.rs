//! How long compiling took.

use std::ops::{AddAssign, Sub};
use std::time::Duration;

/// What it took to build programs, counted by [`Device::compilation`](crate::Device::compilation).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compilation {
    /// Programs compiled from their source.
    pub compiled: usize,
    /// Programs loaded from the cache of compiled programs.
    pub loaded: usize,
    /// Time for all of them. Programs that two threads build at once count twice.
    pub time: Duration,
}

impl AddAssign for Compilation {
    fn add_assign(&mut self, other: Self) {
        self.compiled += other.compiled;
        self.loaded += other.loaded;
        self.time += other.time;
    }
}

impl Sub for Compilation {
    type Output = Self;

    /// What was built since an earlier reading.
    fn sub(self, earlier: Self) -> Self {
        Self {
            compiled: self.compiled - earlier.compiled,
            loaded: self.loaded - earlier.loaded,
            time: self.time.saturating_sub(earlier.time),
        }
    }
}
