//! The rate of multiplications and additions on a device.

use crate::error::Result;
use crate::kernel::{Argument, Kernel, KernelFamily, KernelKey, MatrixOperation, Range};
use crate::memory::Buffer;
use crate::open::Device;
use crate::scalar::Real;
use crate::select::DeviceKind;
use std::time::{Duration, Instant};

const ARITHMETIC: KernelFamily = KernelFamily::new("arithmetic", &[include_str!("../../cl/arithmetic.cl")]);

/// Time to measure each kernel, after the first launch.
const MEASURE: Duration = Duration::from_millis(100);

/// Chains of a work-item, enough to hide the latency of one operation.
const CHAINS: usize = 12;

/// Peak rates of a device's arithmetic units.
///
/// The rates are in floating-point operations per second. One multiplication and one addition are
/// two operations.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ArithmeticRate {
    /// Rate of multiply-add instructions.
    pub fma: f64,
    /// Rate of the matrix units of NVIDIA GPUs; `None` on other devices.
    ///
    /// The units compute in double, or in TF32 for single precision.
    pub mma: Option<f64>,
}

/// Measures the arithmetic of a device in the precision of `R`.
///
/// The rates are the best of some launches. The measurement takes about a quarter of a second.
///
/// # Errors
/// [`DeviceError::AllocationTooLarge`](crate::DeviceError::AllocationTooLarge),
/// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl),
/// [`DeviceError::Build`](crate::DeviceError::Build).
pub fn arithmetic_rate<R: Real>(device: &Device) -> Result<ArithmeticRate> {
    let info = device.info();
    let processor = info.kind == DeviceKind::Cpu;
    let (local, lanes) = if processor { (1, 64 / size_of::<R>()) } else { (256, 1) };
    let groups = info.compute_units * if processor { 1 } else { 8 };
    let range = Range::groups(groups, local);
    let items = (groups * local) as f64;
    let has_matrix_units = device.supports_matrix_units(MatrixOperation::of_products(R::PRECISION));
    let key = KernelKey::of_real::<R>(ARITHMETIC)
        .lanes(lanes)
        .define("CHAINS", CHAINS)
        .define("MATRIX_UNITS", u8::from(has_matrix_units));
    let program = device.program(&key)?;
    let mut out = Buffer::<R>::zeroed(device, groups * local * lanes)?;

    let rounds: u32 = if processor { 20_000 } else { 2_000 };
    let flops = items * f64::from(rounds) * (2 * 16 * CHAINS * lanes) as f64;
    let fma = flops / best(device, &program.kernel("fma_chains")?, range, rounds, &mut out)?;
    let mma = if has_matrix_units {
        // Each of 32 work-items has its part in 8 products of 16 × 8 × 8.
        let flops = items / 32.0 * f64::from(rounds) * (8 * 2 * 16 * 8 * 8) as f64;
        Some(flops / best(device, &program.kernel("mma_chains")?, range, rounds, &mut out)?)
    } else {
        None
    };
    Ok(ArithmeticRate { fma, mma })
}

/// Returns the seconds of the fastest launch.
fn best<R: Real>(
    device: &Device,
    kernel: &Kernel,
    range: Range,
    rounds: u32,
    out: &mut Buffer<R>,
) -> Result<f64> {
    let arguments = [Argument::value(rounds), Argument::value(R::from_f64(0.5)), out.into()];
    kernel.launch(range, &arguments)?.wait()?;
    let (start, mut best) = (Instant::now(), Duration::MAX);
    while start.elapsed() < MEASURE {
        let launch = Instant::now();
        kernel.launch(range, &arguments)?;
        device.finish()?;
        best = best.min(launch.elapsed());
    }
    Ok(best.as_secs_f64())
}
