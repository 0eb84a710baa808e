//! The rate at which a device reads and writes its own memory.

use super::streams::{StreamArrays, StreamKernels};
use super::twin::{PeriodicNumbers, Stream};
use crate::error::Result;
use crate::open::Device;
use crate::select::DeviceKind;
use std::time::{Duration, Instant};

/// Time of the measurement, after the first launch.
const MEASURE: Duration = Duration::from_millis(100);

/// Launches between two looks at the clock, so that starting one does not count.
const BATCH: u32 = 8;

/// Measures the device's memory bandwidth by the triad a = b + s·c in double.
///
/// The unit is bytes per second. Two streams are read and one is written, 24 bytes an element.
///
/// The result is the best of some batches of launches, by the clock on the wall. The measurement
/// takes about a fifth of a second once the kernel is built. The arrays are larger than caches, as
/// far as the device's memory allows.
///
/// # Errors
/// [`DeviceError::AllocationTooLarge`](crate::DeviceError::AllocationTooLarge),
/// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl),
/// [`DeviceError::Build`](crate::DeviceError::Build).
pub fn triad_bandwidth(device: &Device) -> Result<f64> {
    let info = device.info();
    let wanted_bytes: u64 = if info.kind == DeviceKind::Cpu { 64 << 20 } else { 1 << 30 };
    let bytes = wanted_bytes.min(info.max_allocation_bytes / 2).min(info.memory_bytes / 8);
    let len = bytes as usize / size_of::<f64>();
    let numbers = [1, 2].map(|stream| PeriodicNumbers::new(stream, 1021));
    let kernels = StreamKernels::<f64>::new(device, StreamKernels::<f64>::native_lanes(info))?;
    let mut arrays = StreamArrays::new(device, len, 1, &numbers[0], &numbers[1])?;

    kernels.launch(Stream::Triad, &mut arrays, 0)?.wait()?;
    let start = Instant::now();
    let mut best = Duration::MAX;
    while start.elapsed() < MEASURE {
        let batch = Instant::now();
        for _ in 0..BATCH {
            kernels.launch(Stream::Triad, &mut arrays, 0)?;
        }
        device.finish()?;
        best = best.min(batch.elapsed() / BATCH);
    }
    Ok((Stream::Triad.arrays() * size_of::<f64>() * arrays.len()) as f64 / best.as_secs_f64())
}
