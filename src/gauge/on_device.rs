//! Links on one device in double: flow stages, stout steps, energy and charge.
//!
//! A link update reads a link, its exponent and the neighbours' links. The neighbours' links come
//! from the cache if it holds four time slices. The update writes an exponent and a link.
//!
//! Each link and stage needs at least 576 bytes of memory, or 432 for a stout step. Each also needs
//! 13 products of matrices and an exponential, some 4000 flops. So devices with less than 7 flops a
//! byte are bound by arithmetic.
//!
//! Staples of rectangles reach two links beyond a border, after each stage anew. So a field lies on
//! one device as a whole.

use super::directions::Directions;
use crate::device::{
    Argument, Buffer, Device, DeviceError, Kernel, KernelFamily, KernelKey, Parameter, Range,
};
use crate::geometry::{Dims, NDIM};
use crate::host::{GaugeConfiguration, Links, Matrix3, ordered_sum};
use num_complex::Complex64;
use rayon::prelude::*;

const GAUGE: KernelFamily = KernelFamily::new("gauge", &[include_str!("../../cl/gauge.cl")]);

/// Complex numbers of a link.
const COMPONENTS: usize = 9;

/// Work-items of a group.
const GROUP: usize = 64;

/// Densities that are read back together.
const DENSITIES: usize = 4;

/// Sums over the lattice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sums {
    /// −Σ tr F².
    pub energy: f64,
    /// The topological charge.
    pub charge: f64,
    /// Re tr of plaquettes without t, and with t.
    pub plaquettes: [f64; 2],
}

/// The parts of the exponent of a link's update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Update {
    /// The directions whose links change, with staples in their planes.
    pub directions: Directions,
    /// The factor of TA(Ω).
    pub of_force: f64,
    /// The factor of the previous exponent.
    pub of_before: f64,
    /// The coefficients of staples of plaquettes and of rectangles in Ω.
    pub coefficients: [f64; 2],
}

/// The links of a lattice on a device, with the exponents of the last update.
pub(super) struct DeviceLinks {
    dims: Dims,
    links: Buffer<f64>,
    /// Memory for the next links.
    spare: Buffer<f64>,
    exponents: Buffer<f64>,
    stage: Kernel,
    densities: Kernel,
}

impl DeviceLinks {
    /// Puts links on a device.
    ///
    /// `rectangles` says if the updates have staples of rectangles.
    ///
    /// # Errors
    /// When the device fails, for example by a lack of memory: 1728 bytes for each site.
    pub fn new(
        device: &Device,
        configuration: &GaugeConfiguration,
        rectangles: bool,
    ) -> Result<Self, DeviceError> {
        let dims = configuration.dims();
        let key = KernelKey::of_real::<f64>(GAUGE).define("RECTANGLES", u8::from(rectangles));
        let program = device.program(&key)?;
        let stage = program.kernel(
            "flow_stage",
            &[
                Parameter::input::<f64>("from"),
                Parameter::output::<f64>("exponents"),
                Parameter::output::<f64>("to"),
                Parameter::value::<[u32; NDIM]>("extents"),
                Parameter::value::<u32>("directions"),
                Parameter::value::<f64>("of_force"),
                Parameter::value::<f64>("of_before"),
                Parameter::value::<f64>("of_plaquettes"),
                Parameter::value::<f64>("of_rectangles"),
            ],
        )?;
        let densities = program.kernel(
            "densities",
            &[
                Parameter::input::<f64>("from"),
                Parameter::output::<f64>("to"),
                Parameter::value::<[u32; NDIM]>("extents"),
                Parameter::value::<u32>("rectangles"),
            ],
        )?;
        let reals = 2 * COMPONENTS * NDIM * dims.volume();
        let links = Buffer::from_slice(device, &in_order_of_device(configuration))?;
        let [spare, exponents] = [Buffer::zeroed(device, reals)?, Buffer::zeroed(device, reals)?];
        Ok(Self { dims, links, spare, exponents, stage, densities })
    }

    /// The extents of the lattice.
    pub fn dims(&self) -> Dims {
        self.dims
    }

    fn extents(&self) -> [u32; NDIM] {
        self.dims.extents().map(|extent| extent as u32)
    }

    /// Multiplies each link by an exponential.
    ///
    /// The exponent is `of_force` TA(Ω) + `of_before` times the previous exponent.
    ///
    /// # Errors
    /// When the device fails.
    pub fn update(&mut self, update: &Update) -> Result<(), DeviceError> {
        let directions = (0..NDIM).map(|mu| u32::from(update.directions.contains(mu)) << mu).sum::<u32>();
        let [of_plaquettes, of_rectangles] = update.coefficients;
        let arguments = [
            Argument::from(&self.links),
            Argument::from(&mut self.exponents),
            Argument::from(&mut self.spare),
            Argument::value(self.dims.extents().map(|extent| extent as u32)),
            Argument::value(directions),
            Argument::value(update.of_force),
            Argument::value(update.of_before),
            Argument::value(of_plaquettes),
            Argument::value(of_rectangles),
        ];
        self.stage.start(Range::covering(NDIM * self.dims.volume(), GROUP), &arguments)?;
        std::mem::swap(&mut self.links, &mut self.spare);
        Ok(())
    }

    /// Returns energy and charge from loops of plaquettes or of rectangles.
    ///
    /// With rectangles, plaquettes are left out.
    ///
    /// # Errors
    /// When the device fails.
    pub fn sums(&self, rectangles: bool) -> Result<Sums, DeviceError> {
        let volume = self.dims.volume();
        let mut densities = Buffer::<f64>::zeroed(self.links.device(), DENSITIES * volume)?;
        let arguments = [
            Argument::from(&self.links),
            Argument::from(&mut densities),
            Argument::value(self.extents()),
            Argument::value(u32::from(rectangles)),
        ];
        self.densities.start(Range::covering(volume, GROUP), &arguments)?;
        let read = densities.to_vec()?;
        let sum = |k: usize| ordered_sum(volume, 0.0, |a, b| a + b, |site| read[k * volume + site]);
        Ok(Sums { energy: sum(0), charge: sum(1), plaquettes: [sum(2), sum(3)] })
    }

    /// The links as a configuration.
    ///
    /// # Errors
    /// When the device fails.
    pub fn to_configuration(&self) -> Result<GaugeConfiguration, DeviceError> {
        let (volume, read) = (self.dims.volume(), self.links.to_vec()?);
        let link = |k: usize| {
            let (site, mu) = (k / NDIM, k % NDIM);
            Matrix3::from_fn(|i, j| {
                let at = 2 * ((mu * COMPONENTS + 3 * i + j) * volume + site);
                Complex64::new(read[at], read[at + 1])
            })
        };
        let links = (0..NDIM * volume).into_par_iter().map(link).collect();
        Ok(GaugeConfiguration::new(self.dims, Links::Double(links)))
    }
}

/// Numbers as `[direction][component][site][re, im]`.
fn in_order_of_device(configuration: &GaugeConfiguration) -> Vec<f64> {
    let volume = configuration.dims().volume();
    let mut numbers = vec![0.0; 2 * COMPONENTS * NDIM * volume];
    numbers.par_chunks_mut(2 * volume).enumerate().for_each(|(k, numbers)| {
        let (mu, row, column) = (k / COMPONENTS, k % COMPONENTS / 3, k % 3);
        for (site, number) in numbers.chunks_exact_mut(2).enumerate() {
            let z = configuration.entry(site, mu, row, column);
            number.copy_from_slice(&[z.re, z.im]);
        }
    });
    numbers
}
