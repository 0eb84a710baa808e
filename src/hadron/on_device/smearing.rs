//! Smearing of spinors on a device.
//!
//! A step reads and writes [`DeviceSpinor::STEP_BYTES`] for each site at least.

use super::{COMPONENTS, GROUP, HADRON, by_component};
use crate::compute::parallel::*;
use crate::compute::{Argument, Buffer, Device, DeviceError, Kernel, KernelKey, Range, Team};
use crate::geometry::Dims;
use crate::hadron::SpinorSmearing;
use crate::host::{GaugeConfiguration, Spinor};
use num_complex::Complex64;
use std::sync::{Arc, Mutex, PoisonError};

/// Complex numbers of the links of a site in x, y and z.
const LINK_NUMBERS: usize = 27;

/// The links that spinors are smeared with.
///
/// A device keeps its copy from the first field on: 432 bytes for each site.
#[derive(Debug)]
pub struct SmearingLinks {
    configuration: Arc<GaugeConfiguration>,
    on_device: Mutex<Option<Arc<Buffer<f64>>>>,
}

impl<T: Into<Arc<GaugeConfiguration>>> From<T> for SmearingLinks {
    fn from(configuration: T) -> Self {
        Self { configuration: configuration.into(), on_device: Mutex::new(None) }
    }
}

impl SmearingLinks {
    /// Returns the links on a device, `[direction][3 row + column][site][re, im]`.
    fn on(&self, device: &Device) -> Result<Arc<Buffer<f64>>, DeviceError> {
        let mut kept = self.on_device.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(links) = kept.as_ref().filter(|links| links.device() == device) {
            return Ok(Arc::clone(links));
        }
        let link = |number: usize, site| {
            let (mu, entry) = (number / 9, number % 9);
            self.configuration.entry(site, mu, entry / 3, entry % 3)
        };
        let numbers = by_component(LINK_NUMBERS, self.configuration.dims().volume(), link);
        let links = Arc::new(Buffer::from_slice(device, &numbers)?);
        *kept = Some(Arc::clone(&links));
        Ok(links)
    }
}

impl SpinorSmearing {
    /// Smears like [`apply`](Self::apply), on the first device of a team or the host.
    ///
    /// # Errors
    /// When the device fails, for example by a lack of memory: 384 bytes for each site beside the
    /// links.
    ///
    /// # Panics
    /// If there is not one spinor for each site.
    pub fn apply_on(
        self,
        team: &Team,
        links: &SmearingLinks,
        field: &[Spinor<f64>],
    ) -> Result<Vec<Spinor<f64>>, DeviceError> {
        match team.devices().first() {
            Some(device) => {
                let mut spinor = DeviceSpinor::new(device, links, field)?;
                for _ in 0..self.steps() {
                    spinor.step(self.weight())?;
                }
                spinor.to_host()
            }
            None => Ok(self.apply(&links.configuration, field)),
        }
    }
}

/// A spinor field that is smeared on a device step by step.
#[derive(Debug)]
pub struct DeviceSpinor {
    dims: Dims,
    kernel: Kernel,
    links: Arc<Buffer<f64>>,
    field: Buffer<f64>,
    /// Memory for the next field.
    spare: Buffer<f64>,
}

impl DeviceSpinor {
    /// Least memory traffic of a site in a step, in bytes.
    ///
    /// A step reads the links of space, and reads and writes a spinor.
    pub const STEP_BYTES: usize = 16 * (LINK_NUMBERS + 2 * COMPONENTS);

    /// Puts a field on a device.
    ///
    /// # Errors
    /// When the device fails, for example by a lack of memory: 384 bytes for each site beside the links.
    ///
    /// # Panics
    /// If there is not one spinor for each site.
    pub fn new(device: &Device, links: &SmearingLinks, field: &[Spinor<f64>]) -> Result<Self, DeviceError> {
        let dims = links.configuration.dims();
        let volume = dims.volume();
        assert_eq!(field.len(), volume, "one spinor for each site");
        let kernel = device.program(&KernelKey::of_real::<f64>(HADRON))?.kernel("smear_step")?;
        let links = links.on(device)?;
        let spinors = by_component(COMPONENTS, volume, |component, site| field[site].component(component));
        let field = Buffer::from_slice(device, &spinors)?;
        let spare = Buffer::zeroed(device, spinors.len())?;
        Ok(Self { dims, kernel, links, field, spare })
    }

    /// Starts a step ψ ← (1 − 6c) ψ + c H ψ with the weight c.
    ///
    /// # Errors
    /// When the device fails.
    pub fn step(&mut self, weight: f64) -> Result<(), DeviceError> {
        let arguments = [
            Argument::from(&*self.links),
            Argument::from(&self.field),
            Argument::from(&mut self.spare),
            Argument::value(self.dims.extents().map(|extent| extent as u32)),
            Argument::value(weight),
        ];
        self.kernel.start(Range::covering(self.dims.volume(), GROUP), &arguments)?;
        std::mem::swap(&mut self.field, &mut self.spare);
        Ok(())
    }

    /// Returns the field.
    ///
    /// # Errors
    /// When the device fails.
    pub fn to_host(&self) -> Result<Vec<Spinor<f64>>, DeviceError> {
        let (volume, read) = (self.dims.volume(), self.field.to_vec()?);
        let spinor = |site| {
            Spinor::from_fn(|spin, colour| {
                let at = 2 * ((3 * spin + colour) * volume + site);
                Complex64::new(read[at], read[at + 1])
            })
        };
        Ok((0..volume).into_par_iter().map(spinor).collect())
    }
}
