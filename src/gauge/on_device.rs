//! Links on one device in double: flow stages, stout steps, energy and charge.
//!
//! A link update reads a link, its exponent and the neighbours' links. It writes an exponent and a
//! link. Sites are visited in tiles of y and z through all t. The four directions of some sites
//! come one after the other. So neighbours' links come from the cache if it holds a few slices of a
//! tile.
//!
//! [`LinkUpdate::bytes`] is the least memory traffic of a link: 288 for a stout step, 1440 for the
//! three stages of a flow step. Each update also needs 13 products of matrices and an exponential,
//! about 3500 flops. So devices with less than 7 flops a byte are bound by arithmetic.
//!
//! Staples of rectangles reach two links beyond a border, after each stage anew. So a field lies on
//! one device as a whole.

mod step_errors;

pub(super) use step_errors::StepErrors;

use super::directions::Directions;
use crate::compute::parallel::*;
use crate::compute::{Argument, Buffer, Device, DeviceError, Kernel, KernelFamily, KernelKey, Range};
use crate::geometry::{Dims, NDIM};
use crate::host::{GaugeConfiguration, Links, Matrix3};
use num_complex::Complex64;

const GAUGE: KernelFamily = KernelFamily::new("gauge", &[include_str!("../../cl/gauge.cl")]);

/// Complex numbers of a link.
const COMPONENTS: usize = 9;

/// Work-items of a group.
const GROUP: usize = 64;

/// Densities that are summed together.
const DENSITIES: usize = 4;

/// Parts of the sums over a lattice that are added on the host.
const PARTS: usize = 4096;

/// Most sites of a tile at one t, and most of its sites at one z.
///
/// Their links, exponents and new links of two slices are then in a cache of 20 MB.
const TILE: [usize; 2] = [512, 4096];

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

/// A change of links: each is multiplied by the exponential of an exponent.
///
/// The exponent is `of_force` TA(Ω) + `of_before` times the previous exponent. Ω is the sum of a
/// link's staples, times the link's adjoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkUpdate {
    /// The directions whose links change, with staples in their planes.
    pub directions: Directions,
    /// The factor of TA(Ω).
    pub of_force: f64,
    /// The factor of the previous exponent.
    pub of_before: f64,
    /// The coefficients of staples of plaquettes and of rectangles in Ω.
    pub coefficients: [f64; 2],
    /// `true` if the next update wants the exponent.
    pub keeps_exponent: bool,
}

impl LinkUpdate {
    /// Returns a step of stout smearing.
    pub fn stout(rho: f64, directions: Directions) -> Self {
        let (of_before, coefficients) = (0.0, [1.0, 0.0]);
        Self { directions, of_force: rho, of_before, coefficients, keeps_exponent: false }
    }

    /// Returns the least memory traffic of a link in bytes.
    ///
    /// Caches serve the neighbours' links.
    pub fn bytes(&self) -> usize {
        let matrices = 2 + usize::from(self.of_before != 0.0) + usize::from(self.keeps_exponent);
        matrices * size_of::<Matrix3<f64>>()
    }

    /// Returns the floating-point operations of a link.
    ///
    /// A product of matrices has 216, the exponential 600.
    pub fn flops(&self) -> usize {
        let planes = self.directions.count() - 1;
        let products = match self.coefficients[1] {
            0.0 => 4 * planes,
            _ => (4 + 2 * 3 * 4) * planes,
        };
        216 * (products + 2) + 600
    }
}

/// The links of a lattice on a device, with the exponents of the last update.
#[derive(Debug)]
pub struct DeviceLinks {
    dims: Dims,
    /// `true` if updates may have staples of rectangles.
    rectangles: bool,
    /// Extents of tiles in y and z.
    tile: [u32; 2],
    links: Buffer<f64>,
    /// Memory for the next links.
    spare: Buffer<f64>,
    exponents: Buffer<f64>,
    stage: Kernel,
    densities: Kernel,
    partial_sums: Kernel,
}

/// Returns the extents of tiles in y and z, which divide those of the lattice.
fn tile_of(dims: Dims) -> [u32; 2] {
    let largest = |extent: usize, of_one: usize, most: usize| {
        (1..=extent).rev().find(|n| extent.is_multiple_of(*n) && n * of_one <= most).unwrap_or(1)
    };
    let y = largest(dims[1], dims[0], TILE[0]);
    [y as u32, largest(dims[2], dims[0] * y, TILE[1]) as u32]
}

impl DeviceLinks {
    /// Puts links on a device.
    ///
    /// `rectangles` is `true` if the updates have staples of rectangles.
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
        let stage = program.kernel("flow_stage")?;
        let densities = program.kernel("densities")?;
        let partial_sums = program.kernel("partial_sums")?;
        let reals = 2 * COMPONENTS * NDIM * dims.volume();
        let links = Buffer::from_slice(device, &in_order_of_device(configuration))?;
        let [spare, exponents] = [Buffer::zeroed(device, reals)?, Buffer::zeroed(device, reals)?];
        let tile = tile_of(dims);
        Ok(Self { dims, rectangles, tile, links, spare, exponents, stage, densities, partial_sums })
    }

    /// Returns the extents of the lattice.
    pub fn dims(&self) -> Dims {
        self.dims
    }

    fn extents(&self) -> [u32; NDIM] {
        self.dims.extents().map(|extent| extent as u32)
    }

    /// Starts a change of the links.
    ///
    /// # Errors
    /// When the device fails.
    ///
    /// # Panics
    /// If the update has staples of rectangles, and the links were made without.
    pub fn update(&mut self, update: &LinkUpdate) -> Result<(), DeviceError> {
        assert!(self.rectangles || update.coefficients[1] == 0.0, "links with staples of rectangles");
        let directions = (0..NDIM).map(|mu| u32::from(update.directions.contains(mu)) << mu).sum::<u32>();
        let [of_plaquettes, of_rectangles] = update.coefficients;
        let extents = self.extents();
        let arguments = [
            Argument::from(&self.links),
            Argument::from(&mut self.exponents),
            Argument::from(&mut self.spare),
            Argument::value(extents),
            Argument::value(self.tile),
            Argument::value(directions),
            Argument::value(update.of_force),
            Argument::value(update.of_before),
            Argument::value(of_plaquettes),
            Argument::value(of_rectangles),
            Argument::value(u32::from(update.keeps_exponent)),
        ];
        let groups = NDIM * self.dims.volume().div_ceil(GROUP);
        self.stage.start(Range::groups(groups, GROUP), &arguments)?;
        std::mem::swap(&mut self.links, &mut self.spare);
        Ok(())
    }

    /// Returns the average over sites of −Σ tr F², with F of plaquettes.
    ///
    /// # Errors
    /// When the device fails.
    pub fn clover_energy(&self) -> Result<f64, DeviceError> {
        Ok(self.sums(false)?.energy / self.dims.volume() as f64)
    }

    /// Returns energy and charge from loops of plaquettes or of rectangles.
    ///
    /// With rectangles, plaquettes are left out.
    ///
    /// # Errors
    /// When the device fails.
    pub(super) fn sums(&self, rectangles: bool) -> Result<Sums, DeviceError> {
        let volume = self.dims.volume();
        let device = self.links.device();
        let mut densities = Buffer::<f64>::zeroed(device, DENSITIES * volume)?;
        let arguments = [
            Argument::from(&self.links),
            Argument::from(&mut densities),
            Argument::value(self.extents()),
            Argument::value(self.tile),
            Argument::value(u32::from(rectangles)),
        ];
        self.densities.start(Range::covering(volume, GROUP), &arguments)?;
        let mut sums = Buffer::<f64>::uninitialised(device, DENSITIES * PARTS)?;
        let arguments = [
            Argument::from(&densities),
            Argument::from(&mut sums),
            Argument::value(volume as u32),
            Argument::value(PARTS as u32),
            Argument::value(DENSITIES as u32),
        ];
        self.partial_sums.start(Range::covering(DENSITIES * PARTS, GROUP), &arguments)?;
        let read = sums.to_vec()?;
        let sum = |k: usize| read[k * PARTS..(k + 1) * PARTS].iter().sum::<f64>();
        Ok(Sums { energy: sum(0), charge: sum(1), plaquettes: [sum(2), sum(3)] })
    }

    /// Returns the links as a configuration.
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
