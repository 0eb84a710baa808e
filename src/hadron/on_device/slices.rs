//! Sums over the time slices of a lattice on a device, with the phases of momenta.

use super::{COMPONENTS, GROUP, HADRON, by_component};
use crate::device::{Argument, Buffer, Device, DeviceError, Kernel, KernelKey, Parameter, Range};
use crate::geometry::NDIM;
use crate::hadron::momenta::{Momenta, Phases, Slices};
use crate::hadron::{QuarkPropagator, SitePropagator};
use num_complex::Complex64;
use rayon::prelude::*;

/// Stretches of sites whose sums are added on the host.
const STRETCHES: usize = 64;

/// Reals of a site of a propagator.
const SITE_REALS: usize = 2 * COMPONENTS * COMPONENTS;

/// Sums `numbers` of each site over time slices.
///
/// The host has `Phases::project` for it. At most `piece` sites of a slice are on the device at
/// once. `of_sites` makes the numbers of so many sites, `[site][number][re, im]`, of the two
/// propagators, `[site][row][column][re, im]`.
///
/// # Errors
/// When the device fails.
///
/// # Panics
/// If the propagators are of different lattices.
pub(super) fn project(
    device: &Device,
    quarks: [&QuarkPropagator; 2],
    (origin, momenta): ([usize; NDIM], &Momenta),
    numbers: usize,
    piece: usize,
    mut of_sites: impl FnMut([&Buffer<f64>; 2], usize, &mut Buffer<f64>) -> Result<(), DeviceError>,
) -> Result<Slices, DeviceError> {
    let dims = quarks[0].dims();
    assert_eq!(dims, quarks[1].dims(), "propagators of one lattice");
    let phases = Phases::new(dims, origin, momenta);
    let of_slice = dims.volume() / dims[3];
    let piece = piece.min(of_slice);
    // The same propagator goes to the device once.
    let wanted = if std::ptr::eq(quarks[0], quarks[1]) { &quarks[..1] } else { &quarks[..] };
    let buffer = |_| Buffer::zeroed(device, SITE_REALS * piece);
    let mut on_device = wanted.iter().map(buffer).collect::<Result<Vec<Buffer<f64>>, _>>()?;
    let mut products = Buffer::zeroed(device, 2 * numbers * piece)?;
    let mut sums = SliceSums::new(device, of_slice, &phases, numbers)?;
    let mut slices = Slices::zero(dims[3], phases.count(), numbers);
    for distance in 0..dims[3] {
        let begin = (origin[3] + distance) % dims[3] * of_slice;
        for first in (0..of_slice).step_by(piece) {
            let sites = piece.min(of_slice - first);
            for (quark, buffer) in wanted.iter().zip(&mut on_device) {
                let reals = reals(&quark.sites()[begin + first..][..sites]);
                buffer.slice_mut(..reals.len())?.write(&reals)?;
            }
            let both = [&on_device[0], on_device.last().unwrap_or(&on_device[0])];
            of_sites(both, sites, &mut products)?;
            sums.add(&products, first, sites, slices.slice_mut(distance))?;
        }
    }
    Ok(slices)
}

/// The numbers of sites of a propagator, `[site][row][column][re, im]`.
fn reals(sites: &[SitePropagator]) -> Vec<f64> {
    let mut all = vec![0.0; SITE_REALS * sites.len()];
    all.par_chunks_exact_mut(SITE_REALS).zip(sites).for_each(|(reals, site)| {
        for (parts, z) in reals.chunks_exact_mut(2).zip(site.iter().flatten()) {
            parts.copy_from_slice(&[z.re, z.im]);
        }
    });
    all
}

/// The sums over a time slice.
struct SliceSums {
    kernel: Kernel,
    /// Sites of a slice.
    of_slice: usize,
    momenta: usize,
    numbers: usize,
    phases: Buffer<f64>,
    sums: Buffer<f64>,
}

impl SliceSums {
    fn new(
        device: &Device,
        of_slice: usize,
        phases: &Phases<'_>,
        numbers: usize,
    ) -> Result<Self, DeviceError> {
        let kernel = device.program(&KernelKey::of_real::<f64>(HADRON))?.kernel(
            "sums_of_stretches",
            &[
                Parameter::input::<f64>("products"),
                Parameter::input::<f64>("phases"),
                Parameter::output::<f64>("to"),
                Parameter::value::<u32>("numbers"),
                Parameter::value::<u32>("sites"),
                Parameter::value::<u32>("first"),
                Parameter::value::<u32>("slice"),
                Parameter::value::<u32>("stretch"),
                Parameter::value::<u32>("momenta"),
            ],
        )?;
        let momenta = phases.count();
        let of_sites = by_component(momenta, of_slice, |momentum, site| phases.at_site(momentum, site));
        Ok(Self {
            kernel,
            of_slice,
            momenta,
            numbers,
            phases: Buffer::from_slice(device, &of_sites)?,
            sums: Buffer::zeroed(device, 2 * numbers * momenta * STRETCHES)?,
        })
    }

    /// Adds the sums over some sites of a slice, `[momentum][number]`.
    fn add(
        &mut self,
        products: &Buffer<f64>,
        first: usize,
        sites: usize,
        to: &mut [Complex64],
    ) -> Result<(), DeviceError> {
        let stretch = sites.div_ceil(STRETCHES);
        let stretches = sites.div_ceil(stretch);
        let arguments = [
            Argument::from(products),
            Argument::from(&self.phases),
            Argument::from(&mut self.sums),
            Argument::value(self.numbers as u32),
            Argument::value(sites as u32),
            Argument::value(first as u32),
            Argument::value(self.of_slice as u32),
            Argument::value(stretch as u32),
            Argument::value(self.momenta as u32),
        ];
        let sums = self.numbers * self.momenta;
        self.kernel.start(Range::covering(stretches * sums, GROUP), &arguments)?;
        let read = self.sums.slice(..2 * stretches * sums)?.to_vec()?;
        for stretch in read.chunks_exact(2 * sums) {
            for (sum, part) in to.iter_mut().zip(stretch.chunks_exact(2)) {
                *sum += Complex64::new(part[0], part[1]);
            }
        }
        Ok(())
    }
}
