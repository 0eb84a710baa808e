//! The cost of many sums in one launch.

use crate::error::Result;
use crate::kernel::{Argument, Kernel, KernelFamily, KernelKey, Range};
use crate::memory::Buffer;
use crate::open::Device;
use crate::queue::Event;
use crate::scalar::Precision;
use crate::select::DeviceKind;
use crate::sums::{ManySums, REDUCTION_SOURCE};

const MANY_SUMS: KernelFamily =
    KernelFamily::new("many sums", &[REDUCTION_SOURCE, include_str!("../../cl/many_sums.cl")]);

/// How the sums of work-items lie in local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumsLayout {
    /// All items of a sum one after another.
    Apart,
    /// The sums of an item side by side, an odd number of places from item to item.
    Beside,
}

/// The kernel that makes `count` power sums Σ x, Σ x², … of an array in one pass.
pub struct PowerSums {
    device: Device,
    kernel: Kernel,
    range: Range,
    count: usize,
}

impl PowerSums {
    /// Compiles the kernel for up to [`MOST_SUMS`](crate::MOST_SUMS) sums.
    ///
    /// # Errors
    /// [`DeviceError::Build`](crate::DeviceError::Build),
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn new(device: &Device, count: usize, layout: SumsLayout) -> Result<Self> {
        let info = device.info();
        let (local, groups) = match info.kind {
            DeviceKind::Cpu => (1, 8 * info.compute_units),
            _ => (info.max_work_group_size.min(256), 8 * info.compute_units),
        };
        let key = KernelKey::new(MANY_SUMS, Precision::Double)
            .define("LOCAL_SIZE", local)
            .define("REDUCTION_VALUES", count);
        let key = if layout == SumsLayout::Beside { key.define("REDUCTION_BESIDE", 1) } else { key };
        let kernel = device.program(&key)?.kernel("many_sums")?;
        Ok(Self { device: device.clone(), kernel, range: Range::groups(groups, local), count })
    }

    /// Starts the sums of all numbers.
    ///
    /// # Errors
    /// [`DeviceError::TooManySums`](crate::DeviceError::TooManySums),
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn launch(&self, numbers: &Buffer<f64>) -> Result<(Event, ManySums)> {
        let mut sums = self.device.many_sums(self.range.group_count(), self.count)?;
        let own = [Argument::from(numbers), Argument::value(numbers.len() as u64)];
        let event = self.kernel.launch(self.range, &[&own[..], &sums.arguments()].concat())?;
        Ok((event, sums))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::DeviceOptions;
    use crate::select::discover;
    use crate::sums::Number;

    #[test]
    fn both_layouts_have_the_same_bits() {
        let numbers: Vec<f64> = (0..3001).map(|i| f64::from(i * 37 % 101) / 101.0 - 0.4).collect();
        for mut found in discover().devices {
            if !found.info.fp64 {
                continue;
            }
            // A processor taken for a GPU has groups of many items.
            for kind in [found.info.kind, DeviceKind::Gpu] {
                found.info.kind = kind;
                let device = Device::open(&found, &DeviceOptions::default()).unwrap();
                let on_device = Buffer::from_slice(&device, &numbers).unwrap();
                for count in [1, 2, 3, 7, 8] {
                    let [apart, beside] = [SumsLayout::Apart, SumsLayout::Beside].map(|layout| {
                        let kernel = PowerSums::new(&device, count, layout).unwrap();
                        let sums = kernel.launch(&on_device).unwrap().1.numbers();
                        Number::values(&sums.iter().collect::<Vec<_>>()).unwrap()
                    });
                    assert_eq!(apart, beside, "{count} sums on {}", device.label());
                    assert_eq!(apart.len(), count);
                    for (power, sum) in (1..).zip(apart) {
                        let wanted: f64 = numbers.iter().map(|x| x.powi(power)).sum();
                        assert!((sum.re - wanted).abs() < 1e-10 && sum.im == 0.0, "{sum} for {wanted}");
                    }
                }
            }
        }
    }
}
