//! Kernels that read memory in patterns (`cl/access.cl`).

use super::streams::Cut;
use crate::error::{DeviceError, Result};
use crate::kernel::{Argument, Kernel, KernelFamily, KernelKey, Range};
use crate::memory::{Buffer, check_length};
use crate::open::Device;
use crate::queue::Event;
use crate::scalar::Precision;

const ACCESS: KernelFamily = KernelFamily::new("access", &[include_str!("../../cl/access.cl")]);

/// Places in an array that a kernel reads, in this order.
#[derive(Debug)]
pub struct GatherList {
    places: Buffer<u32>,
    largest: usize,
}

impl GatherList {
    /// Copies the list to the memory of a device.
    ///
    /// # Errors
    /// [`DeviceError::AllocationTooLarge`]; [`DeviceError::OpenCl`].
    pub fn new(device: &Device, places: &[u32]) -> Result<Self> {
        let largest = places.iter().max().map_or(0, |&place| place as usize);
        Ok(Self { places: Buffer::from_slice(device, places)?, largest })
    }
}

/// The kernels for doubles, one at a time.
#[derive(Debug)]
pub struct AccessKernels {
    cut: Cut,
    strided: Kernel,
    gather: Kernel,
}

impl AccessKernels {
    /// Builds the kernels for one device.
    ///
    /// # Errors
    /// [`DeviceError::Build`](crate::DeviceError::Build).
    pub fn new(device: &Device) -> Result<Self> {
        let cut = Cut::of(device.info());
        let key = KernelKey::new(ACCESS, Precision::Double).define("LOCAL_SIZE", cut.local);
        let program = device.program(&key)?;
        let strided = program.kernel("access_strided")?;
        let gather = program.kernel("access_gather")?;
        Ok(Self { cut, strided, gather })
    }

    fn range(&self, count: usize) -> Range {
        Range::groups(self.cut.groups(count, 4), self.cut.local)
    }

    /// Starts y\[i\] = x\[start + stride i\] for all elements of y.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] if x is too short; [`DeviceError::OpenCl`].
    pub fn strided(
        &self,
        y: &mut Buffer<f64>,
        x: &Buffer<f64>,
        start: usize,
        stride: usize,
    ) -> Result<Event> {
        let count = y.len();
        let last = count.saturating_sub(1).saturating_mul(stride).saturating_add(start);
        if last >= x.len() {
            return Err(DeviceError::OutOfRange { offset: last, len: 1, buffer: x.len() });
        }
        let numbers = [start, stride, count].map(|number| Argument::value(number as u64));
        let arguments = [&[y.into(), x.into()], &numbers[..]].concat();
        self.strided.launch(self.range(count), &arguments)
    }

    /// Starts y\[i\] = x\[list\[i\]\] for all elements of y.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`]; [`DeviceError::OutOfRange`] if x is too short;
    /// [`DeviceError::OpenCl`].
    pub fn gather(&self, y: &mut Buffer<f64>, x: &Buffer<f64>, list: &GatherList) -> Result<Event> {
        check_length("gather", y.len(), list.places.len())?;
        if list.largest >= x.len() {
            return Err(DeviceError::OutOfRange { offset: list.largest, len: 1, buffer: x.len() });
        }
        let count = y.len();
        let arguments = [y.into(), x.into(), (&list.places).into(), Argument::value(count as u64)];
        self.gather.launch(self.range(count), &arguments)
    }
}
