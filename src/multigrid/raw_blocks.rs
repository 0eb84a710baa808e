//! The blocks of a coarse operator as they are made.

use super::coarse_lattice::CoarseLattice;
use super::coarse_space::{CoarseSpace, SiteNumbers, WholeVector};
use super::inverse::inverse;
use super::kept::DeviceNumbers;
use super::kernels::LOCAL_SIZE;
use super::setup_kernels::kernel;
use crate::compute::parallel::*;
use crate::compute::{Argument, Buffer, Device, DeviceError, Range};
use crate::field::buffer_of;
use crate::geometry::NDIM;
use crate::host::multigrid::BLOCKS;
use crate::scalar::Real;
use num_complex::Complex;

/// The blocks for the neighbours, ahead and behind in each direction, as bits.
pub(super) const HOPS: u32 = (1 << (2 * NDIM)) - 1;
/// The block of a site itself.
pub(super) const WITHIN: usize = 2 * NDIM;
/// The inverse of the block of a site itself.
pub(super) const INVERSE: usize = WITHIN + 1;

/// Blocks of all sites: `[site][block][column][row]`.
///
/// The blocks of neighbours come first, then that of the site itself and the inverse of it.
pub(super) struct RawBlocks<R: Real> {
    numbers: SiteNumbers,
    volume: usize,
    storage: Storage<R>,
}

enum Storage<R: Real> {
    Host(Vec<Complex<R>>),
    /// In the layout of coarse vectors.
    Device(Buffer<R>),
}

/// Bytes of the scratch memory in which blocks are inverted.
const SCRATCH: usize = 256 << 20;

impl<R: Real> RawBlocks<R> {
    pub fn zero(space: &CoarseSpace<R>, lattice: &CoarseLattice) -> Result<Self, DeviceError> {
        let (numbers, volume) = (space.numbers, lattice.volume());
        let storage = if space.place().is_host() {
            Storage::Host(vec![Complex::default(); volume * BLOCKS * numbers.columns * numbers.columns])
        } else {
            let reals = volume * BLOCKS * numbers.columns * 2 * numbers.padded();
            Storage::Device(Buffer::zeroed(space.place().device()?, reals)?)
        };
        Ok(Self { numbers, volume, storage })
    }

    /// With these blocks, in the order of the host.
    #[cfg(test)]
    pub fn of_host(
        space: &CoarseSpace<R>,
        lattice: &CoarseLattice,
        blocks: &[Complex<R>],
    ) -> Result<Self, DeviceError> {
        let mut raw = Self::zero(space, lattice)?;
        match &mut raw.storage {
            Storage::Host(own) => own.copy_from_slice(blocks),
            Storage::Device(own) => own.write(&raw.numbers.to_memory(blocks))?,
        }
        Ok(raw)
    }

    /// The blocks in the order of the host.
    #[cfg(test)]
    pub fn to_host(&self) -> Vec<Complex<R>> {
        match &self.storage {
            Storage::Host(own) => own.clone(),
            Storage::Device(own) => self.numbers.of_memory(&own.to_vec().unwrap()),
        }
    }

    /// Sets columns of a block of each site, from number `column` on, one for each right-hand side.
    pub fn set_columns(
        &mut self,
        block: usize,
        column: usize,
        columns: &WholeVector<R>,
        space: &CoarseSpace<R>,
        lattice: &CoarseLattice,
    ) -> Result<(), DeviceError> {
        let (n, volume, sources) = (self.numbers.columns, self.volume, space.sources());
        let to = match &mut self.storage {
            Storage::Device(to) => to,
            Storage::Host(blocks) => {
                let numbers = columns.to_host(space, lattice)?;
                blocks.par_chunks_mut(BLOCKS * n * n).enumerate().for_each(|(place, site)| {
                    for (k, numbers) in numbers.chunks(volume * n).enumerate() {
                        let own = &mut site[(block * n + column + k) * n..][..n];
                        own.copy_from_slice(&numbers[place * n..][..n]);
                    }
                });
                return Ok(());
            }
        };
        let even = buffer_of(&columns.even);
        let odd = columns.odd.as_ref().map_or(even, buffer_of);
        let counts =
            [volume, lattice.evens(), n, self.numbers.chunks(), block, column, sources, space.stride()];
        let kernel = kernel::<R>(to.device(), "store_columns", self.numbers, 1)?;
        let items = volume * sources * self.numbers.chunks();
        let mut arguments = vec![Argument::from(even), Argument::from(odd), Argument::from(to)];
        arguments.extend(counts.map(|count| Argument::value(count as u32)));
        kernel.start(Range::covering(items, LOCAL_SIZE), &arguments)
    }

    /// Completes the blocks when those ahead in these directions and the whole of each site are known.
    ///
    /// Blocks behind follow from γ5-hermiticity. All hops are subtracted from the whole.
    pub fn complete(&mut self, lattice: &CoarseLattice, directions: &[usize]) -> Result<(), DeviceError> {
        let (n, volume) = (self.numbers.columns, self.volume);
        match &mut self.storage {
            Storage::Host(blocks) => complete_on_host(n, lattice, directions, blocks),
            Storage::Device(blocks) => {
                let device = blocks.device().clone();
                let neighbours = Buffer::from_slice(&device, &lattice.neighbours_within_halves())?;
                let mask: u32 = directions.iter().map(|&mu| 1 << mu).sum();
                let arguments = [
                    Argument::from(blocks),
                    Argument::from(&neighbours),
                    Argument::value(volume as u32),
                    Argument::value(lattice.evens() as u32),
                    Argument::value(n as u32),
                    Argument::value(self.numbers.chunks() as u32),
                    Argument::value(mask),
                ];
                kernel::<R>(&device, "complete_blocks", self.numbers, 1)?
                    .start(Range::covering(volume * n * n, LOCAL_SIZE), &arguments)?;
            }
        }
        Ok(())
    }

    /// Returns the blocks as operators have them on the host, or on a device.
    pub fn kept(&self) -> Result<KeptBlocks<R>, DeviceError> {
        Ok(match &self.storage {
            Storage::Host(blocks) => KeptBlocks::Host(blocks.clone()),
            Storage::Device(blocks) => KeptBlocks::Device(self.kept_on_device(blocks)?),
        })
    }

    /// Returns the blocks of the system: those of hops, multiplied by the inverse of the site's own.
    ///
    /// `None` if a site's own block has no inverse.
    pub fn scaled(&mut self) -> Result<Option<KeptBlocks<R>>, DeviceError> {
        let n = self.numbers.columns;
        match &mut self.storage {
            Storage::Host(blocks) => {
                let mut scaled = vec![Complex::default(); blocks.len()];
                let sites = blocks.par_chunks(BLOCKS * n * n).zip(scaled.par_chunks_mut(BLOCKS * n * n));
                let made = sites.map(|(from, to)| scale_site(n, from, to)).all(|made| made);
                Ok(made.then_some(KeptBlocks::Host(scaled)))
            }
            Storage::Device(blocks) => {
                let device = blocks.device().clone();
                if !invert_sites(&device, self.numbers, self.volume, blocks)? {
                    return Ok(None);
                }
                let mut scaled = Buffer::uninitialised(&device, blocks.len())?;
                let chunks = self.numbers.chunks();
                let arguments = [
                    Argument::from(&*blocks),
                    Argument::from(&mut scaled),
                    Argument::value(self.volume as u32),
                    Argument::value(n as u32),
                    Argument::value(chunks as u32),
                ];
                let items = self.volume * BLOCKS * n * chunks;
                kernel::<R>(&device, "scale_blocks", self.numbers, 1)?
                    .start(Range::covering(items, LOCAL_SIZE), &arguments)?;
                Ok(Some(KeptBlocks::Device(self.kept_on_device(&scaled)?)))
            }
        }
    }

    fn kept_on_device(&self, blocks: &Buffer<R>) -> Result<DeviceNumbers<R>, DeviceError> {
        DeviceNumbers::of_buffer(blocks, self.numbers, 2 * self.numbers.padded() * self.numbers.columns)
    }
}

/// The blocks of an operator, in the order of [`RawBlocks`].
pub(super) enum KeptBlocks<R: Real> {
    Host(Vec<Complex<R>>),
    Device(DeviceNumbers<R>),
}

/// Inverts the block of each site on a device. Returns `false` if one is singular.
fn invert_sites<R: Real>(
    device: &Device,
    numbers: SiteNumbers,
    volume: usize,
    blocks: &mut Buffer<R>,
) -> Result<bool, DeviceError> {
    let n = numbers.columns;
    let of_site = 2 * n * n;
    let at_once = (SCRATCH / (of_site * size_of::<f64>())).clamp(1, volume);
    let mut scratch = Buffer::<f64>::uninitialised(device, at_once * of_site)?;
    let mut flags = Buffer::<u32>::zeroed(device, volume)?;
    let kernel = kernel::<R>(device, "invert_sites", numbers, 1)?;
    let items = LOCAL_SIZE.min(kernel.max_work_group_size());
    for first in (0..volume).step_by(at_once) {
        let arguments = [
            Argument::from(&mut *blocks),
            Argument::from(&mut scratch),
            Argument::from(&mut flags),
            Argument::value(first as u32),
            Argument::value(n as u32),
            Argument::value(numbers.chunks() as u32),
            Argument::local::<f64>(2 * n),
            Argument::local::<u32>(n),
        ];
        kernel.start(Range::groups(at_once.min(volume - first), items), &arguments)?;
    }
    Ok(flags.to_vec()?.iter().all(|&flag| flag == 0))
}

/// The twin of `complete_blocks` in `cl/multigrid/setup.cl`.
fn complete_on_host<R: Real>(
    n: usize,
    lattice: &CoarseLattice,
    directions: &[usize],
    blocks: &mut [Complex<R>],
) {
    let of_site = BLOCKS * n * n;
    let block = |place: usize, block: usize| &blocks[place * of_site + block * n * n..][..n * n];
    let behind = |place: usize, mu: usize| {
        // γ5 A† γ5 of the hop from here, at the site behind.
        let hops = block(lattice.neighbour(place, mu, false), 2 * mu);
        let element = |k: usize| {
            let (column, row) = (k / n, k % n);
            let z = hops[row * n + column].conj();
            if (row + column).is_multiple_of(2) { z } else { -z }
        };
        (0..n * n).map(element).collect::<Vec<_>>()
    };
    let made = |place: usize| {
        let hops: Vec<_> = directions.iter().map(|&mu| (2 * mu + 1, behind(place, mu))).collect();
        let mut within = block(place, WITHIN).to_vec();
        let ahead = directions.iter().map(|&mu| block(place, 2 * mu));
        for hops in ahead.chain(hops.iter().map(|(_, block)| &block[..])) {
            within.iter_mut().zip(hops).for_each(|(whole, hop)| *whole -= hop);
        }
        (hops, within)
    };
    let made: Vec<_> = (0..lattice.volume()).into_par_iter().map(made).collect();
    blocks.par_chunks_mut(of_site).zip(made).for_each(|(site, (hops, within))| {
        for (block, numbers) in hops {
            site[block * n * n..][..n * n].copy_from_slice(&numbers);
        }
        site[WITHIN * n * n..][..n * n].copy_from_slice(&within);
    });
}

/// Makes the blocks of the system at a site, the twin of `invert_sites` and `scale_blocks`.
///
/// Returns `false` if the site's own block has no inverse.
fn scale_site<R: Real>(n: usize, from: &[Complex<R>], to: &mut [Complex<R>]) -> bool {
    let n2 = n * n;
    let within = &from[WITHIN * n2..][..n2];
    let Some(inverse) = inverse(n, within) else { return false };
    to[WITHIN * n2..][..n2].copy_from_slice(within);
    to[INVERSE * n2..][..n2].copy_from_slice(&inverse);
    // Real and imaginary parts apart, so that loops over rows are vectorised.
    let parts = |numbers: &[Complex<R>]| -> [Vec<R>; 2] {
        [numbers.iter().map(|z| z.re).collect(), numbers.iter().map(|z| z.im).collect()]
    };
    let [inverse_re, inverse_im] = parts(&inverse);
    let mut sums = [vec![R::zero(); n], vec![R::zero(); n]];
    let hops = HOPS.count_ones() as usize * n2;
    for (column, out) in from[..hops].chunks(n).zip(to[..hops].chunks_mut(n)) {
        let [re, im] = &mut sums;
        re.fill(R::zero());
        im.fill(R::zero());
        for (x, (a, b)) in column.iter().zip(inverse_re.chunks(n).zip(inverse_im.chunks(n))) {
            let sums = re.iter_mut().zip(im.iter_mut());
            for ((re, im), (a, b)) in sums.zip(a.iter().zip(b)) {
                *re += *a * x.re - *b * x.im;
                *im += *a * x.im + *b * x.re;
            }
        }
        for (out, (re, im)) in out.iter_mut().zip(re.iter().zip(im.iter())) {
            *out = Complex::new(*re, *im);
        }
    }
    true
}

const _: () = assert!(WITHIN == 2 * NDIM && INVERSE + 1 == BLOCKS);
