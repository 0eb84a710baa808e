//! Sums over the time slices of a lattice on devices, with the phases of momenta.

use super::{COMPONENTS, GROUP, HADRON, by_component};
use crate::compute::parallel::*;
use crate::compute::{
    Argument, Buffer, Device, DeviceError, Kernel, KernelKey, Pending, PinnedBuffer, Range,
};
use crate::geometry::NDIM;
use crate::hadron::momenta::{Momenta, Phases, Slices};
use crate::hadron::{QuarkPropagator, SitePropagator};
use num_complex::Complex64;

/// Stretches of sites whose sums are added on the host.
const STRETCHES: usize = 64;

/// Reals of a site of a propagator.
const SITE_REALS: usize = 2 * COMPONENTS * COMPONENTS;

/// Some sites of a time slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The distance of the slice from the source.
    pub distance: usize,
    /// The first site within the slice.
    first: usize,
    /// How many sites there are.
    pub sites: usize,
}

/// Makes the numbers of a piece, `[site][number][re, im]`.
///
/// Propagators are `[site][row][column][re, im]`.
pub(super) trait MakesNumbers {
    fn start(&self, piece: Piece, of: &[&Buffer<f64>], to: &mut Buffer<f64>) -> Result<(), DeviceError>;
}

impl<F> MakesNumbers for F
where
    F: Fn(Piece, &[&Buffer<f64>], &mut Buffer<f64>) -> Result<(), DeviceError>,
{
    fn start(&self, piece: Piece, of: &[&Buffer<f64>], to: &mut Buffer<f64>) -> Result<(), DeviceError> {
        self(piece, of, to)
    }
}

/// Sums `numbers` of each site over time slices.
///
/// The host has `Phases::project` for it. Slices go to the devices in turn, at most `piece` sites at once.
/// `on_device` makes what computes the numbers there. The sums have the same bits on any number of
/// devices of one kind.
///
/// # Errors
/// When a device fails.
///
/// # Panics
/// If the propagators are of different lattices.
pub(super) fn project<M: MakesNumbers>(
    devices: &[Device],
    quarks: &[&QuarkPropagator],
    (origin, momenta): ([usize; NDIM], &Momenta),
    numbers: usize,
    piece: usize,
    on_device: impl Fn(&Device) -> Result<M, DeviceError>,
) -> Result<Slices, DeviceError> {
    let dims = quarks[0].dims();
    assert!(quarks.iter().all(|quark| quark.dims() == dims), "propagators of one lattice");
    let phases = Phases::new(dims, origin, momenta);
    let of_slice = dims.volume() / dims[3];
    let piece = piece.min(of_slice);
    // The same propagator goes to a device once.
    let mut different: Vec<&QuarkPropagator> = Vec::new();
    let mut number_of = Vec::new();
    for &quark in quarks {
        let known = different.iter().position(|other| std::ptr::eq(*other, quark));
        number_of.push(known.unwrap_or(different.len()));
        if known.is_none() {
            different.push(quark);
        }
    }
    let worker = |device: &Device| -> Result<Worker<M>, DeviceError> {
        let buffer = |_| Buffer::zeroed(device, SITE_REALS * piece);
        let worker = Worker {
            maker: on_device(device)?,
            propagators: different.iter().map(buffer).collect::<Result<_, _>>()?,
            products: Buffer::zeroed(device, 2 * numbers * piece)?,
            sums: SliceSums::new(device, of_slice, &phases, numbers)?,
            under_way: None,
        };
        // Uploads do not wait for the kernels that filled the buffers.
        device.finish()?;
        Ok(worker)
    };
    // A device computes one piece while the next one is on its way.
    let workers = devices.iter().chain(devices).map(worker);
    let mut workers = workers.collect::<Result<Vec<_>, _>>()?;
    let mut slices = Slices::zero(dims[3], phases.count(), numbers);
    let pieces = (0..dims[3]).flat_map(|distance| {
        let firsts = (0..of_slice).step_by(piece);
        firsts.map(move |first| Piece { distance, first, sites: piece.min(of_slice - first) })
    });
    let mut next = 0;
    for piece in pieces {
        let begin = (origin[3] + piece.distance) % dims[3] * of_slice + piece.first;
        let sites: Vec<&[SitePropagator]> =
            different.iter().map(|quark| &quark.sites()[begin..begin + piece.sites]).collect();
        workers[next].finish(&mut slices)?;
        workers[next].start(piece, &sites, &number_of)?;
        next = (next + 1) % workers.len();
    }
    for k in 0..workers.len() {
        let oldest = (next + k) % workers.len();
        workers[oldest].finish(&mut slices)?;
    }
    Ok(slices)
}

/// The memory for a piece on a device.
struct Worker<M> {
    maker: M,
    propagators: Vec<Buffer<f64>>,
    products: Buffer<f64>,
    sums: SliceSums,
    /// The piece that is being computed.
    under_way: Option<Piece>,
}

impl<M: MakesNumbers> Worker<M> {
    /// Brings a piece to the device, and starts to compute.
    fn start(
        &mut self,
        piece: Piece,
        sites: &[&[SitePropagator]],
        number_of: &[usize],
    ) -> Result<(), DeviceError> {
        let both = sites.iter().zip(&mut self.propagators);
        let uploads: Vec<_> = both.map(|(sites, to)| start_upload(sites, to)).collect::<Result<_, _>>()?;
        for upload in uploads {
            upload.wait()?;
        }
        let of: Vec<&Buffer<f64>> = number_of.iter().map(|&number| &self.propagators[number]).collect();
        self.maker.start(piece, &of, &mut self.products)?;
        self.sums.start(&self.products, piece.first, piece.sites)?;
        self.under_way = Some(piece);
        Ok(())
    }

    /// Waits for the piece that is being computed, and adds its sums.
    fn finish(&mut self, slices: &mut Slices) -> Result<(), DeviceError> {
        let Some(piece) = self.under_way.take() else { return Ok(()) };
        self.sums.read(piece.sites, slices.slice_mut(piece.distance))
    }
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
        let kernel = device.program(&KernelKey::of_real::<f64>(HADRON))?.kernel("sums_of_stretches")?;
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
