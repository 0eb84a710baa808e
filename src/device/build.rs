//! Building several programs at once.

use super::handle::Device;
use super::kernel_key::KernelKey;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Builds programs for [`Device::program`] to have them when they are asked for: as many at once as there are processors, where the driver is known to
/// bear it, and else one after the other.
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
    // PoCL has a lock around its compiler, and Oclgrind none where it needs one.
    let together = wanted.iter().all(|(device, _)| device.info().is_nvidia());
    let most = if together { thread::available_parallelism().map_or(1, usize::from) } else { 1 };
    // Threads of their own: those of rayon are wanted for the fields meanwhile.
    let builders = most.min(wanted.len());
    thread::scope(|scope| (0..builders).for_each(|_| drop(scope.spawn(builder))));
}
