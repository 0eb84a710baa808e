//! Smearing of spinors and mesons on one device, in double.
//!
//! Data go from the host to the device and back. A step of smearing reads and writes 1056 bytes for
//! each site at least, 432 of them links. Mesons take 4608 bytes of two propagators for each site
//! from the host, which bounds them. Slices of a lattice go one after the other, in pieces.

use super::meson::{NUMBERS, of_slices};
use super::momenta::{Momenta, Phases, Slices};
use super::quark::{QuarkPropagator, SitePropagator};
use super::{MesonCorrelator, SpinorSmearing};
use crate::device::{
    Argument, Buffer, Device, DeviceError, Kernel, KernelFamily, KernelKey, Parameter, Range, Team,
};
use crate::geometry::{Dims, NDIM};
use crate::host::{GaugeConfiguration, Spinor};
use num_complex::Complex64;
use rayon::prelude::*;

const HADRON: KernelFamily = KernelFamily::new("hadron", &[include_str!("../../cl/hadron.cl")]);

/// Work-items of a group.
const GROUP: usize = 64;

/// Components of a spinor.
const COMPONENTS: usize = 12;

/// Complex numbers of the links of a site in x, y and z.
const LINK_NUMBERS: usize = 27;

/// Sites of a slice that are on the device at once. Their products take 128 MB.
const PIECE: usize = 1 << 15;

/// Stretches of sites whose sums are added on the host.
const STRETCHES: usize = 64;

impl SpinorSmearing {
    /// Smears like [`apply`](Self::apply) on the first device of a team, or on the host.
    ///
    /// # Errors
    /// When the device fails, for example by a lack of memory: 816 bytes for each site.
    ///
    /// # Panics
    /// If there is not one spinor for each site.
    pub fn apply_on(
        self,
        team: &Team,
        links: &GaugeConfiguration,
        field: &[Spinor<f64>],
    ) -> Result<Vec<Spinor<f64>>, DeviceError> {
        match team.devices().first() {
            Some(device) => self.on_device(device, links, field),
            None => Ok(self.apply(links, field)),
        }
    }

    fn on_device(
        self,
        device: &Device,
        links: &GaugeConfiguration,
        field: &[Spinor<f64>],
    ) -> Result<Vec<Spinor<f64>>, DeviceError> {
        let dims = links.dims();
        let volume = dims.volume();
        assert_eq!(field.len(), volume, "one spinor for each site");
        let kernel = device.program(&KernelKey::of_real::<f64>(HADRON))?.kernel(
            "smear_step",
            &[
                Parameter::input::<f64>("links"),
                Parameter::input::<f64>("from"),
                Parameter::output::<f64>("to"),
                Parameter::value::<[u32; NDIM]>("extents"),
                Parameter::value::<f64>("weight"),
            ],
        )?;
        let link = |number: usize, site| {
            let (mu, entry) = (number / 9, number % 9);
            links.entry(site, mu, entry / 3, entry % 3)
        };
        let links = Buffer::from_slice(device, &by_component(LINK_NUMBERS, volume, link))?;
        let spinors = by_component(COMPONENTS, volume, |component, site| field[site].component(component));
        let mut from = Buffer::from_slice(device, &spinors)?;
        let mut to = Buffer::<f64>::zeroed(device, spinors.len())?;
        for _ in 0..self.steps() {
            let arguments = [
                Argument::from(&links),
                Argument::from(&from),
                Argument::from(&mut to),
                Argument::value(dims.extents().map(|extent| extent as u32)),
                Argument::value(self.weight()),
            ];
            kernel.start(Range::covering(volume, GROUP), &arguments)?;
            std::mem::swap(&mut from, &mut to);
        }
        let read = from.to_vec()?;
        let spinor = |site| {
            Spinor::from_fn(|spin, colour| {
                let at = 2 * ((3 * spin + colour) * volume + site);
                Complex64::new(read[at], read[at + 1])
            })
        };
        Ok((0..volume).into_par_iter().map(spinor).collect())
    }
}

/// Numbers as `[component][site][re, im]`.
fn by_component(
    components: usize,
    sites: usize,
    number: impl Fn(usize, usize) -> Complex64 + Sync,
) -> Vec<f64> {
    let mut all = vec![0.0; 2 * components * sites];
    all.par_chunks_mut(2 * sites).enumerate().for_each(|(component, numbers)| {
        for (site, parts) in numbers.chunks_exact_mut(2).enumerate() {
            let z = number(component, site);
            parts.copy_from_slice(&[z.re, z.im]);
        }
    });
    all
}

/// Returns correlators like [`mesons`](super::mesons), by the first device of a team or the host.
///
/// # Errors
/// When the device fails.
///
/// # Panics
/// If the propagators are of different lattices.
pub fn mesons_on(
    team: &Team,
    quark: &QuarkPropagator,
    antiquark: &QuarkPropagator,
    origin: [usize; NDIM],
    momenta: &Momenta,
) -> Result<Vec<MesonCorrelator>, DeviceError> {
    let Some(device) = team.devices().first() else {
        return Ok(super::mesons(quark, antiquark, origin, momenta));
    };
    mesons_in_pieces(device, [quark, antiquark], origin, momenta, PIECE)
}

/// Puts at most `piece` sites on the device at once.
fn mesons_in_pieces(
    device: &Device,
    [quark, antiquark]: [&QuarkPropagator; 2],
    origin: [usize; NDIM],
    momenta: &Momenta,
    piece: usize,
) -> Result<Vec<MesonCorrelator>, DeviceError> {
    assert_eq!(quark.dims(), antiquark.dims(), "propagators of one lattice");
    let dims = quark.dims();
    let phases = Phases::new(dims, origin, momenta);
    let mut sums = SliceSums::new(device, dims, &phases, piece)?;
    let mut slices = Slices::zero(dims[3], phases.count(), NUMBERS);
    let sites = dims.volume() / dims[3];
    for distance in 0..dims[3] {
        let t = (origin[3] + distance) % dims[3];
        let of_slice = |all: &QuarkPropagator| all.sites()[t * sites..][..sites].to_vec();
        let s1 = of_slice(quark);
        // The same propagator goes to the device once.
        let s2 = (!std::ptr::eq(quark, antiquark)).then(|| of_slice(antiquark));
        sums.add(&s1, s2.as_deref(), slices.slice_mut(distance))?;
    }
    Ok(of_slices(&slices, momenta, dims[3]))
}

/// The sums over a time slice of a lattice.
struct SliceSums {
    products_of_colours: Kernel,
    sums_of_stretches: Kernel,
    /// Sites of a slice.
    sites: usize,
    /// Most sites on the device at once.
    piece: usize,
    momenta: usize,
    phases: Buffer<f64>,
    quark: Buffer<f64>,
    antiquark: Buffer<f64>,
    products: Buffer<f64>,
    sums: Buffer<f64>,
}

/// Reals of a site of a propagator.
const SITE_REALS: usize = 2 * COMPONENTS * COMPONENTS;

impl SliceSums {
    fn new(device: &Device, dims: Dims, phases: &Phases<'_>, piece: usize) -> Result<Self, DeviceError> {
        let program = device.program(&KernelKey::of_real::<f64>(HADRON))?;
        let products_of_colours = program.kernel(
            "products_of_colours",
            &[
                Parameter::input::<f64>("s1"),
                Parameter::input::<f64>("s2"),
                Parameter::output::<f64>("to"),
                Parameter::value::<u32>("sites"),
            ],
        )?;
        let sums_of_stretches = program.kernel(
            "sums_of_stretches",
            &[
                Parameter::input::<f64>("products"),
                Parameter::input::<f64>("phases"),
                Parameter::output::<f64>("to"),
                Parameter::value::<u32>("sites"),
                Parameter::value::<u32>("first"),
                Parameter::value::<u32>("slice"),
                Parameter::value::<u32>("stretch"),
                Parameter::value::<u32>("momenta"),
            ],
        )?;
        let (sites, momenta) = (dims.volume() / dims[3], phases.count());
        let numbers =
            by_component(momenta, sites, |momentum, site| phases.at(momentum, dims.coordinates(site)));
        let piece = piece.min(sites);
        Ok(Self {
            products_of_colours,
            sums_of_stretches,
            sites,
            piece,
            momenta,
            phases: Buffer::from_slice(device, &numbers)?,
            quark: Buffer::zeroed(device, SITE_REALS * piece)?,
            antiquark: Buffer::zeroed(device, SITE_REALS * piece)?,
            products: Buffer::zeroed(device, 2 * NUMBERS * piece)?,
            sums: Buffer::zeroed(device, 2 * NUMBERS * momenta * STRETCHES)?,
        })
    }

    /// Adds the sums over a slice of S₁ and S₂, `[momentum][number]`. Without S₂ it is S₁ too.
    fn add(
        &mut self,
        s1: &[SitePropagator],
        s2: Option<&[SitePropagator]>,
        to: &mut [Complex64],
    ) -> Result<(), DeviceError> {
        for first in (0..self.sites).step_by(self.piece) {
            let sites = self.piece.min(self.sites - first);
            let reals = |all: &[SitePropagator]| {
                let numbers = all[first..first + sites].iter().flatten().flatten();
                numbers.flat_map(|z| [z.re, z.im]).collect::<Vec<f64>>()
            };
            self.quark.slice_mut(..SITE_REALS * sites)?.write(&reals(s1))?;
            if let Some(s2) = s2 {
                self.antiquark.slice_mut(..SITE_REALS * sites)?.write(&reals(s2))?;
            }
            let arguments = [
                Argument::from(&self.quark),
                Argument::from(if s2.is_some() { &self.antiquark } else { &self.quark }),
                Argument::from(&mut self.products),
                Argument::value(sites as u32),
            ];
            self.products_of_colours.start(Range::covering(16 * sites, GROUP), &arguments)?;
            let stretch = sites.div_ceil(STRETCHES);
            let stretches = sites.div_ceil(stretch);
            let arguments = [
                Argument::from(&self.products),
                Argument::from(&self.phases),
                Argument::from(&mut self.sums),
                Argument::value(sites as u32),
                Argument::value(first as u32),
                Argument::value(self.sites as u32),
                Argument::value(stretch as u32),
                Argument::value(self.momenta as u32),
            ];
            let sums = NUMBERS * self.momenta;
            self.sums_of_stretches.start(Range::covering(stretches * sums, GROUP), &arguments)?;
            let read = self.sums.slice(..2 * stretches * sums)?.to_vec()?;
            for stretch in read.chunks_exact(2 * sums) {
                for (sum, part) in to.iter_mut().zip(stretch.chunks_exact(2)) {
                    *sum += Complex64::new(part[0], part[1]);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{DeviceOptions, discover};
    use crate::hadron::{Column, momenta_up_to};
    use crate::host::random::spinor_field;

    #[test]
    fn slices_that_go_in_pieces_are_the_same() {
        let device = Device::open(&discover().devices[0], &DeviceOptions::default()).unwrap();
        let dims = Dims::new([4, 2, 4, 2]).unwrap();
        let mut quark = QuarkPropagator::new(dims).unwrap();
        for (k, column) in Column::all().enumerate() {
            quark.set_column(column, &spinor_field(dims, k as u64));
        }
        let momenta = Momenta::each(momenta_up_to(1, dims).unwrap());
        let of_pieces =
            |piece| mesons_in_pieces(&device, [&quark; 2], [1, 0, 2, 1], &momenta, piece).unwrap();
        let (whole, parts) = (of_pieces(PIECE), of_pieces(10));
        for (whole, parts) in whole.iter().zip(&parts) {
            for (a, b) in whole.values.iter().flatten().zip(parts.values.iter().flatten()) {
                assert!((a - b).abs() < 1e-11, "{whole:?} {parts:?}");
            }
        }
    }
}
