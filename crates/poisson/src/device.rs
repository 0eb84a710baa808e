//! Poisson's equation on one device, for densities in its memory.

use super::cell::Cell;
use super::coulomb::{Coulomb, Isolated};
use super::error::{PoissonError, PoissonResult};
use super::order::MeshOrder;
use super::sums::{Moments, SpectralSums, added};
use lattice_compute::scalar::Real;
use lattice_compute::{
    Argument, Buffer, Device, DeviceKind, Kernel, KernelFamily, KernelKey, Parameter, Range, Result,
};
use lattice_linalg::fft::{RealPlan, Shape};
use num_complex::Complex;
use std::sync::Arc;

const POISSON: KernelFamily = KernelFamily::new("poisson", &[include_str!("../cl/poisson.cl")]);

/// Doubles between the parts of two groups, `MOST_SUMS` of `cl/poisson.cl`.
pub(crate) const MOST_SUMS: usize = 8;

/// The kernels for densities of type `T`.
pub(crate) struct Kernels<T> {
    local: usize,
    groups: usize,
    moments: Kernel,
    overlap: Kernel,
    multiply: Kernel,
    convolve: Kernel,
    free_space: Kernel,
    cut: Kernel,
    real_parts: Kernel,
    pad: Kernel,
    corner: Kernel,
    reorder: Kernel,
    number: std::marker::PhantomData<T>,
}

impl<T: Real> Kernels<T> {
    /// Returns the kernels, which are built on first use and kept by the device.
    pub fn of(device: &Device) -> Result<Arc<Self>> {
        device.attached(Self::new)
    }

    fn new(device: &Device) -> Result<Self> {
        let info = device.info();
        let (local, groups) = match info.kind {
            DeviceKind::Cpu => (1, 8 * info.compute_units),
            _ => (info.max_work_group_size.min(64), 16 * info.compute_units),
        };
        let program = device.program(&KernelKey::of_real::<T>(POISSON).define("LOCAL_SIZE", local))?;
        let [input, output] = [Parameter::input::<T>, Parameter::output::<T>];
        let (spectrum, shape) = (Parameter::output::<Complex<T>>("spectrum"), Parameter::value::<[u32; 4]>);
        let [parts, number] = [Parameter::output::<f64>("parts"), Parameter::value::<f64>("factor")];
        let long = Parameter::value::<u64>;
        let real = Parameter::value::<f64>;
        let [from, to] = [input("from"), output("to")];
        Ok(Self {
            local,
            groups,
            moments: program.kernel("poisson_moments", &[input("density"), shape("shape"), parts])?,
            overlap: program
                .kernel("poisson_overlap", &[input("density"), input("potential"), long("points"), parts])?,
            multiply: program.kernel(
                "poisson_multiply",
                &[
                    spectrum,
                    shape("shape"),
                    Parameter::value::<u32>("first"),
                    Parameter::value::<u32>("columns"),
                    Parameter::input::<f64>("cell"),
                    parts,
                ],
            )?,
            convolve: program
                .kernel("poisson_convolve", &[spectrum, input("factors"), long("components")])?,
            free_space: program.kernel(
                "poisson_free_space",
                &[spectrum, shape("shape"), real("step1"), real("step2"), real("step3"), real("radius")],
            )?,
            cut: program.kernel("poisson_cut", &[from, shape("long_shape"), to, shape("shape")])?,
            real_parts: program.kernel(
                "poisson_real_parts",
                &[
                    Parameter::input::<Complex<f64>>("spectrum"),
                    output("factors"),
                    long("components"),
                    number,
                ],
            )?,
            pad: program.kernel("poisson_pad", &[from, to, shape("shape")])?,
            corner: program.kernel("poisson_corner", &[from, to, shape("shape")])?,
            reorder: program.kernel(
                "poisson_reorder",
                &[
                    from,
                    to,
                    shape("shape"),
                    Parameter::value::<u32>("n"),
                    Parameter::value::<u32>("to_clustered"),
                ],
            )?,
            number: std::marker::PhantomData,
        })
    }

    fn range(&self) -> Range {
        Range::groups(self.groups, self.local)
    }

    /// Returns the number of groups, which write a part of the sums each.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Makes a potential's spectrum of a density's, or a block of it.
    pub fn multiply(&self, arguments: &[Argument<'_>]) -> Result<()> {
        self.multiply.launch(self.range(), arguments).map(drop)
    }
}

/// Returns the numbers that the product takes: b₁, b₂, b₃, and the square of the cutoff.
pub(crate) fn cell_numbers(coulomb: &Coulomb) -> Vec<f64> {
    let [b1, b2, b3] = coulomb.reciprocal;
    [&b1[..], &b2, &b3, &[coulomb.g2max]].concat()
}

pub(crate) fn extents(shape: [usize; 3]) -> Argument<'static> {
    Argument::value([shape[0] as u32, shape[1] as u32, shape[2] as u32, 0])
}

fn count(shape: [usize; 3]) -> usize {
    shape.iter().product()
}

/// Components of the half spectrum of a mesh.
fn components(shape: [usize; 3]) -> usize {
    shape[0] * shape[1] * (shape[2] / 2 + 1)
}

/// Checks that a device has so many bytes.
fn expect_bytes(device: &Device, wanted: u64) -> PoissonResult<()> {
    let available = device.info().memory_bytes;
    if wanted <= available {
        return Ok(());
    }
    Err(PoissonError::Memory { wanted, available, place: device.label().to_owned() })
}

/// Bytes of numbers on a device, in words that cannot overflow.
fn bytes(numbers: &[[usize; 3]], size: usize) -> u64 {
    let mesh = |shape: &[usize; 3]| shape.iter().fold(size as u64, |all, &n| all.saturating_mul(n as u64));
    numbers.iter().map(mesh).fold(0, u64::saturating_add)
}

/// What is between the transforms.
enum Between<T> {
    Periodic {
        /// b₁, b₂, b₃, and the square from which on components are dropped.
        cell: Buffer<f64>,
    },
    Isolated {
        /// The kernel's transform, in hartree and with all factors.
        factors: Buffer<T>,
        /// A density and its potential on twice the mesh.
        double: Buffer<T>,
    },
}

/// A prepared solution on one device, for densities of type `T` in its memory.
pub(crate) struct OnDevice<T: Real> {
    device: Device,
    kernels: Arc<Kernels<T>>,
    shape: [usize; 3],
    fft: RealPlan<T>,
    spectrum: Buffer<Complex<T>>,
    /// Parts of the sums over the density.
    parts_of_moments: Buffer<f64>,
    /// Parts of the sums over the spectrum, or of Σ ρ V.
    parts: Buffer<f64>,
    between: Between<T>,
}

/// What a solution makes beside the potential.
pub(crate) struct Results {
    pub moments: Moments,
    /// In a periodic cell.
    pub spectral: Option<SpectralSums>,
    /// Σ ρ V of an isolated density.
    pub overlap: Option<f64>,
}

impl<T: Real> OnDevice<T> {
    /// Prepares a periodic cell.
    pub fn periodic(device: &Device, coulomb: &Coulomb) -> PoissonResult<Self> {
        let shape = coulomb.shape;
        // Density and potential, and the spectrum.
        expect_bytes(device, bytes(&[shape, shape, shape, [shape[0], shape[1], 2]], size_of::<T>()))?;
        let between = Between::Periodic { cell: Buffer::from_slice(device, &cell_numbers(coulomb))? };
        Self::new(device, shape, shape, between)
    }

    /// Prepares free space.
    pub fn isolated(device: &Device, cell: &Cell, shape: [usize; 3]) -> PoissonResult<Self> {
        let meshes = Isolated::new(cell, shape);
        let (long, double) = (meshes.long, meshes.double);
        let whole = |shape: [usize; 3]| [shape[0], shape[1], shape[2] + 2];
        let setup = bytes(&[whole(long), whole(long), double], size_of::<f64>());
        let after = bytes(&[shape, shape, whole(double), double, double], size_of::<T>());
        expect_bytes(device, setup.saturating_add(after))?;
        let kernels = Kernels::<f64>::of(device)?;
        // The kernel is made in double whatever densities are.
        let mut spectrum = Buffer::<Complex<f64>>::uninitialised(device, components(long))?;
        let [a, b, c] = meshes.steps.map(Argument::value);
        let arguments = [(&mut spectrum).into(), extents(long), a, b, c, Argument::value(meshes.radius)];
        kernels.free_space.launch(kernels.range(), &arguments)?;
        let mut potential = Buffer::<f64>::uninitialised(device, count(long))?;
        RealPlan::<f64>::new(device, &Shape::new(&long))?
            .inverse_overwriting(&mut spectrum, &mut potential)?;
        drop(spectrum);
        let mut cut = Buffer::<f64>::uninitialised(device, count(double))?;
        let arguments = [(&potential).into(), extents(long), (&mut cut).into(), extents(double)];
        kernels.cut.launch(kernels.range(), &arguments)?;
        drop(potential);
        let mut spectrum = Buffer::<Complex<f64>>::uninitialised(device, components(double))?;
        RealPlan::<f64>::new(device, &Shape::new(&double))?.forward(&cut, &mut spectrum)?;
        let mut factors = Buffer::<T>::uninitialised(device, components(double))?;
        let kernels = Kernels::<T>::of(device)?;
        let factor = Argument::value(meshes.factor());
        let number = Argument::value(components(double) as u64);
        let arguments = [(&spectrum).into(), (&mut factors).into(), number, factor];
        kernels.real_parts.launch(kernels.range(), &arguments)?;
        let between = Between::Isolated { factors, double: Buffer::uninitialised(device, count(double))? };
        Self::new(device, shape, double, between)
    }

    fn new(
        device: &Device,
        shape: [usize; 3],
        transformed: [usize; 3],
        between: Between<T>,
    ) -> PoissonResult<Self> {
        let kernels = Kernels::<T>::of(device)?;
        let parts = || Buffer::zeroed(device, MOST_SUMS * kernels.groups);
        let (parts_of_moments, parts) = (parts()?, parts()?);
        let fft = RealPlan::new(device, &Shape::new(&transformed))?;
        let spectrum = Buffer::uninitialised(device, components(transformed))?;
        let device = device.clone();
        Ok(Self { device, kernels, shape, fft, spectrum, parts_of_moments, parts, between })
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Copies a mesh from one order to the other; `n` is the edge of a cluster.
    pub fn reorder(
        &self,
        from: &Buffer<T>,
        to: &mut Buffer<T>,
        n: usize,
        to_clustered: bool,
    ) -> PoissonResult<()> {
        debug_assert!(MeshOrder::Clustered(n).misfit(self.shape).is_none());
        let [n, to_clustered] = [n as u32, u32::from(to_clustered)].map(Argument::value);
        let arguments = [from.into(), to.into(), extents(self.shape), n, to_clustered];
        self.kernels.reorder.launch(self.kernels.range(), &arguments)?;
        Ok(())
    }

    /// Computes the potential of a density, both in the sequential order and in hartree.
    pub fn solve(&mut self, density: &Buffer<T>, potential: &mut Buffer<T>) -> PoissonResult<Results> {
        let (kernels, shape) = (&*self.kernels, extents(self.shape));
        let range = kernels.range();
        kernels.moments.launch(range, &[density.into(), shape, (&mut self.parts_of_moments).into()])?;
        let (spectrum, parts) = (&mut self.spectrum, &mut self.parts);
        match &mut self.between {
            Between::Periodic { cell } => {
                self.fft.forward(density, &mut *spectrum)?;
                let [first, columns] = [0, self.shape[1] as u32].map(Argument::value);
                let [cell, parts] = [Argument::from(&*cell), Argument::from(&mut *parts)];
                kernels.multiply(&[(&mut *spectrum).into(), shape, first, columns, cell, parts])?;
                self.fft.inverse_overwriting(spectrum, potential)?;
            }
            Between::Isolated { factors, double } => {
                kernels.pad.launch(range, &[density.into(), (&mut *double).into(), shape])?;
                self.fft.forward(&*double, &mut *spectrum)?;
                let components = Argument::value(factors.len() as u64);
                kernels.convolve.launch(range, &[(&mut *spectrum).into(), (&*factors).into(), components])?;
                self.fft.inverse_overwriting(spectrum, &mut *double)?;
                kernels.corner.launch(range, &[(&*double).into(), (&mut *potential).into(), shape])?;
                let points = Argument::value(count(self.shape) as u64);
                let arguments = [density.into(), (&*potential).into(), points, (&mut *parts).into()];
                kernels.overlap.launch(range, &arguments)?;
            }
        }
        // All is enqueued before anything is waited for.
        let moments = Moments::of(added(&self.parts_of_moments.to_vec()?, MOST_SUMS));
        let parts = self.parts.to_vec()?;
        Ok(match self.between {
            Between::Periodic { .. } => {
                Results { moments, spectral: Some(SpectralSums::of(added(&parts, MOST_SUMS))), overlap: None }
            }
            Between::Isolated { .. } => {
                let [overlap] = added(&parts, MOST_SUMS);
                Results { moments, spectral: None, overlap: Some(overlap) }
            }
        })
    }
}
