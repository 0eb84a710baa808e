//! Poisson's equation on one device, for densities in its memory.

use super::cell::Cell;
use super::coulomb::{Coulomb, Isolated};
use super::error::{PoissonError, PoissonResult};
use super::order::MeshOrder;
use super::sums::{Moments, SpectralSums, added};
use lattice_compute::scalar::Real;
use lattice_compute::{
    Argument, Buffer, Device, DeviceKind, Event, Kernel, KernelFamily, KernelKey, Range, Result,
};
use lattice_linalg::Completion;
use lattice_linalg::fft::{Callback, RealPlan, Shape, SpectralProduct};
use num_complex::Complex;
use std::ops::Range as Planes;
use std::sync::Arc;

/// Sums and products, for kernels here and for callbacks of transforms.
const COULOMB: &str = include_str!("../cl/coulomb.cl");

const POISSON: KernelFamily = KernelFamily::new("poisson", &[COULOMB, include_str!("../cl/poisson.cl")]);

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
        Ok(Self {
            local,
            groups,
            moments: program.kernel("poisson_moments")?,
            overlap: program.kernel("poisson_overlap")?,
            multiply: program.kernel("poisson_multiply")?,
            convolve: program.kernel("poisson_convolve")?,
            free_space: program.kernel("poisson_free_space")?,
            cut: program.kernel("poisson_cut")?,
            real_parts: program.kernel("poisson_real_parts")?,
            reorder: program.kernel("poisson_reorder")?,
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
    },
}

impl<T: Real> Between<T> {
    /// Returns the product as text for the transform of the first axis.
    fn callback(&self) -> Callback {
        match self {
            Between::Periodic { .. } => {
                Callback { text: [COULOMB, include_str!("../cl/periodic.cl")].concat(), doubles: 7 }
            }
            Between::Isolated { .. } => {
                Callback { text: include_str!("../cl/free_space.cl").to_owned(), doubles: 0 }
            }
        }
    }
}

/// Returns the sums over a density as text for the transform of its rows.
fn sums_of_rows() -> Callback {
    Callback {
        text: [COULOMB, include_str!("../cl/rows.cl")].concat(),
        // Four sums of an item take five places, which keeps neighbours in different banks.
        doubles: 5,
    }
}

/// A prepared solution on one device, for densities of type `T` in its memory.
///
/// The steps of a solution are [`planes_there`](Self::planes_there) for each slab of planes,
/// [`multiply`](Self::multiply), [`planes_back`](Self::planes_back) for each slab, and
/// [`results`](Self::results).
pub(crate) struct OnDevice<T: Real> {
    device: Device,
    kernels: Arc<Kernels<T>>,
    shape: [usize; 3],
    transform: SpectralProduct<T>,
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
    /// Prepares a periodic cell, in slabs of so many planes.
    pub fn periodic(device: &Device, coulomb: &Coulomb, planes: usize) -> PoissonResult<Self> {
        let shape = coulomb.shape;
        // Density and potential, and the spectrum.
        expect_bytes(device, bytes(&[shape, shape, shape, [shape[0], shape[1], 2]], size_of::<T>()))?;
        let between = Between::Periodic { cell: Buffer::from_slice(device, &cell_numbers(coulomb))? };
        Self::new(device, [shape, shape], planes, between)
    }

    /// Prepares free space, in slabs of so many planes.
    pub fn isolated(device: &Device, cell: &Cell, shape: [usize; 3], planes: usize) -> PoissonResult<Self> {
        let meshes = Isolated::new(cell, shape);
        let (long, double) = (meshes.long, meshes.double);
        let whole = |shape: [usize; 3]| [shape[0], shape[1], shape[2] + 2];
        let setup = bytes(&[whole(long), whole(long), double], size_of::<f64>());
        let after = bytes(&[shape, shape, whole(double), double], size_of::<T>());
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
        Self::new(device, [shape, double], planes, Between::Isolated { factors })
    }

    fn new(
        device: &Device,
        [shape, transformed]: [[usize; 3]; 2],
        planes: usize,
        between: Between<T>,
    ) -> PoissonResult<Self> {
        let kernels = Kernels::<T>::of(device)?;
        let (rows, product) = (sums_of_rows(), between.callback());
        let transform = SpectralProduct::new(device, [shape, transformed], planes, &rows, &product)?;
        let parts = |groups: usize| Buffer::zeroed(device, MOST_SUMS * groups);
        let of_rows = transform.row_groups().map(|groups| groups * transform.slabs().len());
        let of_product = transform.product_groups().unwrap_or(0).max(kernels.groups);
        let (parts_of_moments, parts) = (parts(of_rows.unwrap_or(kernels.groups))?, parts(of_product)?);
        let spectrum = Buffer::uninitialised(device, transform.components())?;
        let device = device.clone();
        Ok(Self { device, kernels, shape, transform, spectrum, parts_of_moments, parts, between })
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Copies places of a clustered mesh to the other order or from it; `n` is the edge of a cluster.
    pub fn reorder(
        &self,
        from: &Buffer<T>,
        to: &mut Buffer<T>,
        n: usize,
        places: Planes<usize>,
        to_clustered: bool,
    ) -> PoissonResult<Event> {
        debug_assert!(MeshOrder::Clustered(n).misfit(self.shape).is_none());
        let [first, count] = [places.start, places.len()].map(|x| Argument::value(x as u64));
        let [n, to_clustered] = [n as u32, u32::from(to_clustered)].map(Argument::value);
        let arguments = [from.into(), to.into(), extents(self.shape), n, to_clustered, first, count];
        Ok(self.kernels.reorder.launch(self.kernels.range(), &arguments)?)
    }

    /// Returns the bytes of meshes and spectra that the kernels of a solution read and write.
    ///
    /// R are the bytes of the mesh and H those of the half spectrum. In a periodic cell 2R + 8H is the
    /// least: rows with the sums over the density R + H, the second axis 2H, the first one there and
    /// back with the product 2H, the second axis 2H, and rows H + R.
    pub fn bytes_moved(&self) -> u64 {
        let (mesh, size) = (count(self.shape) as u64, size_of::<T>() as u64);
        let moments = if self.transform.row_groups().is_some() { 0 } else { mesh };
        let others = match &self.between {
            Between::Periodic { .. } => 0,
            // The factors, and density and potential for the energy.
            Between::Isolated { factors } => factors.len() as u64 + 2 * mesh,
        };
        self.transform.bytes_moved() + size * (moments + others)
    }

    /// Returns the planes of each slab.
    pub fn slabs(&self) -> Vec<Planes<usize>> {
        self.transform.slabs()
    }

    /// Starts the transform of a slab's planes, and the sums over their values.
    pub fn planes_there(&mut self, number: usize, density: &Buffer<T>) -> PoissonResult<Completion> {
        let first_part = number * self.transform.row_groups().unwrap_or(0);
        let first_row = self.slabs()[number].start * self.shape[1];
        let arguments = [
            extents(self.shape),
            Argument::value(first_row as u32),
            Argument::value(first_part as u32),
            (&mut self.parts_of_moments).into(),
        ];
        Ok(self.transform.planes_there(number, density, &mut self.spectrum, &arguments)?)
    }

    /// Starts the transform along the first axis, the product, and the inverse.
    pub fn multiply(&mut self) -> PoissonResult<Vec<Completion>> {
        let (spectrum, parts) = (&mut self.spectrum, &mut self.parts);
        let shape = extents(self.shape);
        let is_one = self.transform.product_groups().is_some();
        Ok(match &self.between {
            Between::Periodic { cell } => {
                let arguments = [shape, cell.into(), (&mut *parts).into()];
                let there = self.transform.there(spectrum, &arguments)?;
                if !is_one {
                    let [first, columns] = [0, self.shape[1] as u32].map(Argument::value);
                    let arguments =
                        [(&mut *spectrum).into(), shape, first, columns, cell.into(), parts.into()];
                    self.kernels.multiply(&arguments)?;
                }
                vec![there, self.transform.back(spectrum)?]
            }
            Between::Isolated { factors } => {
                let there = self.transform.there(spectrum, &[factors.into()])?;
                if !is_one {
                    let components = Argument::value(factors.len() as u64);
                    let arguments = [(&mut *spectrum).into(), factors.into(), components];
                    self.kernels.convolve.launch(self.kernels.range(), &arguments)?;
                }
                vec![there, self.transform.back(spectrum)?]
            }
        })
    }

    /// Starts the inverse of a slab's planes.
    pub fn planes_back(&mut self, number: usize, potential: &mut Buffer<T>) -> PoissonResult<Completion> {
        Ok(self.transform.planes_back(number, &mut self.spectrum, potential)?)
    }

    /// Starts the sums that no other kernel has made.
    pub fn sum(&mut self, density: &Buffer<T>, potential: &Buffer<T>) -> PoissonResult<()> {
        let (kernels, range) = (&*self.kernels, self.kernels.range());
        if self.transform.row_groups().is_none() {
            let arguments = [density.into(), extents(self.shape), (&mut self.parts_of_moments).into()];
            kernels.moments.launch(range, &arguments)?;
        }
        if matches!(self.between, Between::Isolated { .. }) {
            let points = Argument::value(count(self.shape) as u64);
            let arguments = [density.into(), potential.into(), points, (&mut self.parts).into()];
            kernels.overlap.launch(range, &arguments)?;
        }
        Ok(())
    }

    /// Waits for the sums of a solution.
    pub fn results(&self) -> PoissonResult<Results> {
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
