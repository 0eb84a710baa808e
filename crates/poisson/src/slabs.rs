//! Potentials of densities that devices have no room for: by slabs, through the memory of the host.
//!
//! Slabs of planes of the first axis go to the devices for the transforms along the other two axes.
//! The spectrum lies on the host in blocks of the second axis. A block goes to a device for the first
//! axis there and back, with the product between. Then the slabs go back the way they came.
//!
//! Devices of a team share slabs and blocks. Results do not depend on how many devices there are, if
//! the devices are alike.

use super::coulomb::Coulomb;
use super::device::{Kernels, MOST_SUMS, cell_numbers, extents};
use super::error::{PoissonError, PoissonResult};
use super::numbers;
use super::share::shared_out;
use super::sums::{SpectralSums, added};
use lattice_compute::parallel::*;
use lattice_compute::scalar::Real;
use lattice_compute::{Argument, Buffer, Device, expect_room};
use lattice_linalg::fft::{self, Layout, RealPlan, Shape};
use num_complex::Complex;
use std::sync::Arc;

/// A prepared solution by slabs.
pub(crate) struct Slabs<T: Real> {
    shape: [usize; 3],
    /// Planes of a slab; the last slab may have fewer.
    planes: usize,
    /// Indices of the second axis in a block; the last block may have fewer.
    columns: usize,
    devices: Vec<SlabDevice<T>>,
    /// The spectrum: `[k₁][k₂ of the block][k₃]` for each block.
    blocks: Vec<Vec<Complex<T>>>,
}

/// The buffers and transforms of a device.
struct SlabDevice<T: Real> {
    kernels: Arc<Kernels<T>>,
    of_planes: RealPlan<T>,
    /// First axes of a block, and of the last block if that has fewer columns.
    of_blocks: [fft::Plan<T>; 2],
    real: Buffer<T>,
    half: Buffer<Complex<T>>,
    block: Buffer<Complex<T>>,
    cell: Buffer<f64>,
    parts: Buffer<f64>,
}

/// Bytes of a device that a plane and a column take, real and complex numbers together.
fn bytes_of_parts<T>([n1, n2, n3]: [usize; 3]) -> [u64; 2] {
    let (size, half) = (size_of::<T>() as u64, 2 * (n3 / 2 + 1) as u64);
    [size * n2 as u64 * (n3 as u64 + half), size * n1 as u64 * half]
}

impl<T: Real> Slabs<T> {
    /// Prepares a periodic cell on devices, whose buffers take at most `most` bytes on each.
    pub fn new(devices: &[Device], coulomb: &Coulomb, most: u64) -> PoissonResult<Self> {
        let shape = coulomb.shape;
        let [n1, n2, n3] = shape;
        let [of_plane, of_column] = bytes_of_parts::<T>(shape);
        if of_plane.saturating_add(of_column) > most {
            let place = devices.iter().map(|device| device.label().to_owned()).next().unwrap_or_default();
            return Err(PoissonError::Memory { wanted: of_plane + of_column, available: most, place });
        }
        // Every device has something to do, if there is enough.
        let share = |extent: usize, bytes: u64, most: u64| {
            let fitting = usize::try_from(most / bytes).unwrap_or(usize::MAX).max(1);
            fitting.min(extent.div_ceil(devices.len()))
        };
        let columns = share(n2, of_column, (most / 3).min(most - of_plane));
        let planes = share(n1, of_plane, most - columns as u64 * of_column);
        let half = n3 / 2 + 1;
        expect_room((n1 * n2 * half * size_of::<Complex<T>>()) as u64)?;
        let block = |first: usize| vec![Complex::default(); n1 * columns.min(n2 - first) * half];
        let blocks = (0..n2).step_by(columns).map(block).collect();
        let prepared = |device: &Device| -> PoissonResult<SlabDevice<T>> {
            let kernels = Kernels::<T>::of(device)?;
            let of_block = |first: usize| {
                let lines = columns.min(n2 - first) * half;
                let layout = Layout { strides: vec![lines], distance: 1 };
                fft::Plan::new(device, &Shape::new(&[n1]).batch(lines).input(layout.clone()).output(layout))
            };
            Ok(SlabDevice {
                of_planes: RealPlan::new(device, &Shape::new(&[n2, n3]).batch(planes))?,
                of_blocks: [of_block(0)?, of_block((n2 - 1) / columns * columns)?],
                // The last slab leaves numbers of the one before behind it, or these zeros.
                real: Buffer::zeroed(device, planes * n2 * n3)?,
                half: Buffer::zeroed(device, planes * n2 * half)?,
                block: Buffer::uninitialised(device, n1 * columns * half)?,
                cell: Buffer::from_slice(device, &cell_numbers(coulomb))?,
                parts: Buffer::zeroed(device, MOST_SUMS * kernels.groups())?,
                kernels,
            })
        };
        let devices = devices.iter().map(prepared).collect::<PoissonResult<_>>()?;
        Ok(Self { shape, planes, columns, devices, blocks })
    }

    /// Returns the bytes that the kernels of a solution move on the devices.
    ///
    /// R are the bytes of the mesh and H those of the half spectrum: rows R + H there and H + R back,
    /// two axes of 2H there and back, and 2H for the product. The host makes the sums of the density.
    pub fn bytes_moved(&self) -> u64 {
        let [n1, n2, n3] = self.shape.map(|n| n as u64);
        size_of::<T>() as u64 * n1 * n2 * (2 * n3 + 24 * (n3 / 2 + 1))
    }

    /// Solves for one density: the potential in hartree, and the sums over the spectrum.
    pub fn solve(&mut self, density: &[f64], potential: &mut [f64]) -> PoissonResult<SpectralSums> {
        let Self { shape, planes, columns, devices, blocks } = self;
        let (shape, planes, columns) = (*shape, *planes, *columns);
        let ([_, n2, n3], half) = (shape, shape[2] / 2 + 1);
        let of_slab = planes * n2 * n3;
        let slabs = density.chunks(of_slab).zip(parts_of_slabs(blocks, shape, planes, columns));
        shared_out(devices, slabs, |device, (density, parts)| {
            device.spectrum_of_slab(shape, density, parts)
        })?;
        let last = blocks.len() - 1;
        let sums = shared_out(devices, blocks.iter_mut().enumerate(), |device, (number, block)| {
            device.multiply(shape, number * columns, block, usize::from(number == last))
        })?;
        // In the order of the blocks, whoever had them.
        let mut all = [0.0; 7];
        for sums in sums {
            all.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
        }
        let slabs = potential.chunks_mut(of_slab).zip(parts_of_slabs(blocks, shape, planes, columns));
        shared_out(devices, slabs, |device, (potential, parts)| {
            device.potential_of_slab([n2, half], parts, potential)
        })?;
        Ok(SpectralSums::of(all))
    }
}

/// Returns for each slab its parts of all blocks.
fn parts_of_slabs<T>(
    blocks: &mut [Vec<Complex<T>>],
    [n1, n2, n3]: [usize; 3],
    planes: usize,
    columns: usize,
) -> Vec<Vec<&mut [Complex<T>]>> {
    let mut slabs: Vec<Vec<_>> = (0..n1.div_ceil(planes)).map(|_| Vec::new()).collect();
    for (number, block) in blocks.iter_mut().enumerate() {
        let of_plane = columns.min(n2 - number * columns) * (n3 / 2 + 1);
        slabs.iter_mut().zip(block.chunks_mut(planes * of_plane)).for_each(|(slab, part)| slab.push(part));
    }
    slabs
}

impl<T: Real> SlabDevice<T> {
    /// Transforms the planes of a slab, and puts their spectrum into the blocks.
    fn spectrum_of_slab(
        &mut self,
        [_, n2, n3]: [usize; 3],
        density: &[f64],
        mut parts: Vec<&mut [Complex<T>]>,
    ) -> PoissonResult<()> {
        let half = n3 / 2 + 1;
        let rounded: Vec<T> = density.par_iter().map(|&value| T::from_f64(value)).collect();
        self.real.slice_mut(..rounded.len())?.write(&rounded)?;
        self.of_planes.forward(&self.real, &mut self.half)?;
        let planes = density.len() / (n2 * n3);
        let spectrum = self.half.slice(..planes * n2 * half)?.to_vec()?;
        for (plane, spectrum) in spectrum.chunks(n2 * half).enumerate() {
            let mut first = 0;
            for part in &mut parts {
                let of_plane = part.len() / planes;
                part[plane * of_plane..][..of_plane].copy_from_slice(&spectrum[first..first + of_plane]);
                first += of_plane;
            }
        }
        Ok(())
    }

    /// Makes a block of the potential's spectrum of the density's, but for the other two axes.
    fn multiply(
        &mut self,
        shape: [usize; 3],
        first: usize,
        block: &mut [Complex<T>],
        which: usize,
    ) -> PoissonResult<[f64; 7]> {
        let columns = block.len() / (shape[0] * (shape[2] / 2 + 1));
        let plan = &self.of_blocks[which];
        self.block.slice_mut(..block.len())?.write(block)?;
        plan.forward_in_place(&mut self.block)?;
        let arguments = [
            (&mut self.block).into(),
            extents(shape),
            Argument::value(first as u32),
            Argument::value(columns as u32),
            (&self.cell).into(),
            (&mut self.parts).into(),
        ];
        self.kernels.multiply(&arguments)?;
        plan.inverse_in_place(&mut self.block)?;
        self.block.slice(..block.len())?.read(block)?;
        Ok(added(&self.parts.to_vec()?, MOST_SUMS))
    }

    /// Transforms the planes of a slab back, from the blocks.
    fn potential_of_slab(
        &mut self,
        [n2, half]: [usize; 2],
        parts: Vec<&mut [Complex<T>]>,
        potential: &mut [f64],
    ) -> PoissonResult<()> {
        let planes = parts.iter().map(|part| part.len()).sum::<usize>() / (n2 * half);
        let mut spectrum = Vec::with_capacity(planes * n2 * half);
        for plane in 0..planes {
            for part in &parts {
                let of_plane = part.len() / planes;
                spectrum.extend_from_slice(&part[plane * of_plane..][..of_plane]);
            }
        }
        self.half.slice_mut(..spectrum.len())?.write(&spectrum)?;
        self.of_planes.inverse_overwriting(&mut self.half, &mut self.real)?;
        let found = self.real.slice(..potential.len())?.to_vec()?;
        numbers::widen(&found, potential);
        Ok(())
    }
}
