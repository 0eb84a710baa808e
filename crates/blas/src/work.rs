//! The work of a call, and how long earlier calls of its routine and size took.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Operations of calls that are never worth a device: the least time of a transfer is longer.
const SMALL: f64 = 1e7;

/// Number of sizes that are told apart, each of twice the operations of the one before.
const CLASSES: usize = 32;

/// The entry of a size of which one call was seen. No speed has these bits.
const TRIED: u32 = 1;

/// What a call has to do.
#[derive(Clone, Copy, Default)]
pub struct Work {
    /// Multiplications and additions.
    pub operations: f64,
    /// Bytes that go to the device and back.
    pub bytes: f64,
    /// The third root of the number of products, a length that errors grow with.
    pub length: f64,
    /// Seconds on the device by the rates alone.
    pub seconds: f64,
    /// Whether the next library computes the call too, for a comparison.
    pub checked: bool,
}

impl Work {
    /// Tells whether the call takes long enough for a clock.
    pub fn is_large(&self) -> bool {
        self.operations >= SMALL
    }

    fn class(&self) -> Option<usize> {
        let doublings = (self.operations / SMALL).log2();
        (doublings >= 0.0).then(|| (doublings as usize).min(CLASSES - 1))
    }
}

/// The times that calls of one symbol took, by the class of their operations.
pub struct Experience {
    /// The least time on the device, over what the rates say.
    device: [AtomicU32; CLASSES],
    /// Operations per second of the next library.
    next: [AtomicU32; CLASSES],
}

impl Experience {
    pub const fn new() -> Self {
        Self { device: [const { AtomicU32::new(0) }; CLASSES], next: [const { AtomicU32::new(0) }; CLASSES] }
    }

    /// Notes how long a call took on the device.
    pub fn of_device(&self, work: &Work, time: Duration) {
        if let Some(class) = work.class().filter(|_| work.seconds > 0.0) {
            // The first call allocates memory that later ones find.
            if self.device[class].fetch_max(TRIED, Ordering::Relaxed) >= TRIED {
                // The bits of positive numbers have the order of the numbers.
                let speed = (work.seconds / time.as_secs_f64()) as f32;
                self.device[class].fetch_max(speed.to_bits(), Ordering::Relaxed);
            }
        }
    }

    /// Notes how long a call took in the next library.
    pub fn of_next(&self, work: &Work, time: Duration) {
        if let Some(class) = work.class() {
            let rate = (work.operations / time.as_secs_f64()) as f32;
            self.next[class].fetch_max(rate.to_bits(), Ordering::Relaxed);
        }
    }

    /// Returns the time on the device over what the rates say, if it is known for this size.
    pub fn slowdown_of_device(&self, work: &Work) -> Option<f64> {
        known(&self.device, work).map(f64::recip)
    }

    /// Returns the rate of the next library, if it is known for this size.
    pub fn rate_of_next(&self, work: &Work) -> Option<f64> {
        known(&self.next, work)
    }
}

fn known(table: &[AtomicU32; CLASSES], work: &Work) -> Option<f64> {
    let bits = table[work.class()?].load(Ordering::Relaxed);
    (bits > TRIED).then(|| f64::from(f32::from_bits(bits)))
}
