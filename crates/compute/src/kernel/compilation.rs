//! The time that compiling took.

use std::ops::{AddAssign, Sub};
use std::time::Duration;

/// The cost of building programs.
///
/// [`Device::compilation`](crate::Device::compilation) counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compilation {
    /// Programs compiled from their source.
    pub compiled: usize,
    /// Programs loaded from the cache of compiled programs.
    pub loaded: usize,
    /// Time for all programs.
    ///
    /// Programs that two threads build at once count twice.
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

    /// Returns the programs built, and their time, since an earlier reading.
    fn sub(self, earlier: Self) -> Self {
        Self {
            compiled: self.compiled - earlier.compiled,
            loaded: self.loaded - earlier.loaded,
            time: self.time.saturating_sub(earlier.time),
        }
    }
}
