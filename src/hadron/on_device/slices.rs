//! Sums over the time slices of a lattice on a device, with the phases of momenta.

use super::{COMPONENTS, GROUP, HADRON, by_component};
use crate::device::{
    Argument, Buffer, Device, DeviceError, Kernel, KernelKey, Parameter, Pending, PinnedBuffer, Range,
};
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
    let buffers = || {
        let buffer = |_| Buffer::zeroed(device, SITE_REALS * piece);
        wanted.iter().map(buffer).collect::<Result<Vec<Buffer<f64>>, _>>()
    };
    let (mut here, mut next) = (buffers()?, buffers()?);
    let mut products = Buffer::zeroed(device, 2 * numbers * piece)?;
    let mut sums = SliceSums::new(device, of_slice, &phases, numbers)?;
    let mut slices = Slices::zero(dims[3], phases.count(), numbers);
    let pieces = (0..dims[3]).flat_map(|distance| {
        (0..of_slice).step_by(piece).map(move |first| (distance, first, piece.min(of_slice - first)))
    });
    let start = |piece: Option<&(usize, usize, usize)>, to: &mut [Buffer<f64>]| {
        let Some(&(distance, first, sites)) = piece else { return Ok(Vec::new()) };
        let begin = (origin[3] + distance) % dims[3] * of_slice + first;
        let both = wanted.iter().zip(to);
        both.map(|(quark, to)| start_upload(&quark.sites()[begin..begin + sites], to)).collect()
    };
    let mut pieces = pieces.peekable();
    // Uploads do not wait for the kernels that filled the buffers.
    device.finish()?;
    let mut under_way: Vec<_> = start(pieces.peek(), &mut here)?;
    while let Some((distance, first, sites)) = pieces.next() {
        for upload in under_way {
            upload.wait()?;
        }
        let both = [&here[0], here.last().unwrap_or(&here[0])];
        of_sites(both, sites, &mut products)?;
        sums.start(&products, first, sites)?;
        under_way = start(pieces.peek(), &mut next)?;
        sums.read(sites, slices.slice_mut(distance))?;
        std::mem::swap(&mut here, &mut next);
    }
    Ok(slices)
}

/// Starts to copy sites of a propagator to the first numbers of a buffer.
fn start_upload(
    sites: &[SitePropagator],
    to: &mut Buffer<f64>,
) -> Result<Pending<PinnedBuffer<f64>>, DeviceError> {
    let mut pinned = PinnedBuffer::kept(to.device(), SITE_REALS * sites.len())?;
    let of_sites = pinned.as_mut_slice().par_chunks_exact_mut(SITE_REALS).zip(sites);
    of_sites.for_each(|(reals, site)| reals.copy_from_slice(bytemuck::cast_slice(site)));
    pinned.write_to(to.slice_mut(..SITE_REALS * sites.len())?, &[])
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

    /// Sites of a stretch.
    fn stretch(sites: usize) -> usize {
        sites.div_ceil(STRETCHES)
    }

    /// Starts the sums over some sites of a slice.
    fn start(&mut self, products: &Buffer<f64>, first: usize, sites: usize) -> Result<(), DeviceError> {
        let stretch = Self::stretch(sites);
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
        let items = sites.div_ceil(stretch) * self.numbers * self.momenta;
        self.kernel.start(Range::covering(items, GROUP), &arguments)
    }

    /// Waits for the sums over so many sites, and adds them, `[momentum][number]`.
    fn read(&self, sites: usize, to: &mut [Complex64]) -> Result<(), DeviceError> {
        let (sums, stretches) = (self.numbers * self.momenta, sites.div_ceil(Self::stretch(sites)));
        let read = self.sums.slice(..2 * stretches * sums)?.to_vec()?;
        for stretch in read.chunks_exact(2 * sums) {
            for (sum, part) in to.iter_mut().zip(stretch.chunks_exact(2)) {
                *sum += Complex64::new(part[0], part[1]);
            }
        }
        Ok(())
    }
}
