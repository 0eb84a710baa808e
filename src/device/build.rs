//! Building several programs at once.

use super::handle::Device;
use super::kernel_key::KernelKey;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Builds programs side by side, as many at once as there are processors, for [`Device::program`] to have them when they are asked for.
///
/// What does not build is not told here: whoever asks for it is.
pub fn build_programs(wanted: &[(Device, KernelKey)]) {
    let next = AtomicUsize::new(0);
    let builder = || {
        while let Some((device, key)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = device.program(key) {
                tracing::debug!("program {key}: {error}");
            }
        }
    };
    // Threads of their own: those of rayon are wanted for the fields meanwhile.
    let builders = thread::available_parallelism().map_or(1, usize::from).min(wanted.len());
    thread::scope(|scope| (0..builders).for_each(|_| drop(scope.spawn(builder))));
}
