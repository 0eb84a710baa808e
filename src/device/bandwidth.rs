//! How fast a device reads and writes its own memory.

use super::argument::{Argument, Parameter};
use super::buffer::Buffer;
use super::error::Result;
use super::handle::Device;
use super::info::DeviceKind;
use super::kernel::Range;
use super::kernel_key::{KernelFamily, KernelKey};
use crate::scalar::Precision;
use std::time::{Duration, Instant};

const BANDWIDTH: KernelFamily = KernelFamily::new("bandwidth", &[include_str!("../../cl/bandwidth.cl")]);

/// How long to measure, after the first launch.
const MEASURE: Duration = Duration::from_millis(100);

/// Launches between two looks at the clock, so that starting one does not count.
const BATCH: u32 = 8;

/// Memory bandwidth of the device by the triad a = b + s·c in double precision, in bytes per second: two streams
/// read and one written, 24 bytes an element.
///
/// The best of some batches of launches, by the clock on the wall; about a fifth of a second altogether, once the
/// kernel is built. The arrays are larger than caches, as far as the device's memory allows.
///
/// # Errors
/// [`DeviceError::AllocationTooLarge`](super::DeviceError::AllocationTooLarge),
/// [`DeviceError::OpenCl`](super::DeviceError::OpenCl), [`DeviceError::Build`](super::DeviceError::Build).
pub fn triad_bandwidth(device: &Device) -> Result<f64> {
    let info = device.info();
    let processor = info.kind == DeviceKind::Cpu;
    let (local, lanes, groups) =
        if processor { (1, 8, 4 * info.compute_units) } else { (info.max_work_group_size.min(256), 2, 0) };
    let wanted_bytes: u64 = if processor { 64 << 20 } else { 256 << 20 };
    let bytes = wanted_bytes.min(info.max_allocation_bytes / 2).min(info.memory_bytes / 8);
    let vectors = (bytes as usize / (lanes * size_of::<f64>())).max(local);
    let groups = if groups == 0 { vectors.div_ceil(4 * local) } else { groups };

    let key = KernelKey::new(BANDWIDTH, Precision::Double).lanes(lanes).define("LOCAL_SIZE", local);
    let parameters = [
        Parameter::output::<f64>("a"),
        Parameter::input::<f64>("b"),
        Parameter::input::<f64>("c"),
        Parameter::value::<f64>("s"),
        Parameter::value::<u64>("count"),
    ];
    let triad = device.program(&key)?.kernel("triad", &parameters)?;
    let mut a = Buffer::<f64>::zeroed(device, vectors * lanes)?;
    let b = Buffer::<f64>::zeroed(device, vectors * lanes)?;
    let c = Buffer::<f64>::zeroed(device, vectors * lanes)?;
    let arguments =
        [(&mut a).into(), (&b).into(), (&c).into(), Argument::value(3.0), Argument::value(vectors as u64)];
    let range = Range::groups(groups, local);

    triad.launch(range, &arguments)?.wait()?;
    let start = Instant::now();
    let mut best = Duration::MAX;
    while start.elapsed() < MEASURE {
        let batch = Instant::now();
        for _ in 0..BATCH {
            triad.launch(range, &arguments)?;
        }
        device.finish()?;
        best = best.min(batch.elapsed() / BATCH);
    }
    Ok((3 * size_of::<f64>() * vectors * lanes) as f64 / best.as_secs_f64())
}
