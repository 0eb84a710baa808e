//! The error of a flow step on a device.

use super::{COMPONENTS, DeviceLinks, GAUGE, GROUP, LinkUpdate};
use crate::compute::{Argument, Buffer, DeviceError, Kernel, KernelKey, Range};
use crate::geometry::NDIM;
use lattice_solvers::range::larger;

/// Parts of the largest difference of a lattice that the host compares.
const PARTS: usize = 1 << 15;

/// The links before a step, and the exponents of a step of lower order.
#[derive(Debug)]
pub struct StepErrors {
    before: Buffer<f64>,
    sum: Buffer<f64>,
    add_exponents: Kernel,
    largest_differences: Kernel,
}

impl StepErrors {
    /// Makes memory for the steps of these links.
    ///
    /// # Errors
    /// When the device fails, for example by a lack of memory: 1152 bytes for each site.
    pub fn new(links: &DeviceLinks) -> Result<Self, DeviceError> {
        let device = links.links.device();
        let key = KernelKey::of_real::<f64>(GAUGE).define("RECTANGLES", u8::from(links.rectangles));
        let program = device.program(&key)?;
        let add_exponents = program.kernel("add_exponents")?;
        let largest_differences = program.kernel("largest_differences")?;
        let reals = 2 * COMPONENTS * NDIM * links.dims.volume();
        let [before, sum] = [Buffer::zeroed(device, reals)?, Buffer::zeroed(device, reals)?];
        Ok(Self { before, sum, add_exponents, largest_differences })
    }
}

impl DeviceLinks {
    /// Does three updates, and returns the difference from links that two of them give.
    ///
    /// The other links are e^{Σ f_i X_i} times the links before, with the factors f of the first two exponents
    /// X. The difference is the largest |entry|, or NaN.
    ///
    /// # Errors
    /// When the device fails.
    pub fn updates_with_error(
        &mut self,
        updates: &[LinkUpdate; 3],
        factors: [f64; 2],
        errors: &mut StepErrors,
    ) -> Result<f64, DeviceError> {
        let volume = self.dims.volume();
        for (number, update) in updates.iter().enumerate() {
            self.update(update)?;
            if number == 0 {
                // The next update would write over the links before.
                std::mem::swap(&mut self.spare, &mut errors.before);
            }
            let Some(&factor) = factors.get(number) else { continue };
            let arguments = [
                Argument::from(&self.exponents),
                Argument::from(&mut errors.sum),
                Argument::value(volume as u32),
                Argument::value(factor),
                Argument::value(u32::from(number == 0)),
            ];
            let reals = 2 * COMPONENTS * NDIM * volume;
            errors.add_exponents.start(Range::covering(reals, GROUP), &arguments)?;
        }
        let mut largest = Buffer::<f64>::uninitialised(self.links.device(), PARTS)?;
        let arguments = [
            Argument::from(&errors.sum),
            Argument::from(&errors.before),
            Argument::from(&self.links),
            Argument::from(&mut largest),
            Argument::value(volume as u32),
            Argument::value(PARTS as u32),
        ];
        errors.largest_differences.start(Range::covering(PARTS, GROUP), &arguments)?;
        Ok(largest.to_vec()?.into_iter().fold(0.0, larger))
    }

    /// Takes back the updates of the last [`updates_with_error`](Self::updates_with_error).
    pub fn take_back(&mut self, errors: &mut StepErrors) {
        std::mem::swap(&mut self.links, &mut errors.before);
    }
}
