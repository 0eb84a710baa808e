//! The inverse of the system of a coarsest level, as a matrix.

use super::coarse_operator::CoarseOperator;
use super::coarse_space::{CoarseSpace, ComplexComponent, SiteNumbers};
use super::error::SetupError;
use super::inverse::inverse;
use super::kept::{DeviceNumbers, HostNumbers};
use super::kernels::{Hop, kernel};
use super::setup_kernels::is_fixed;
use crate::compute::{Buffer, DeviceError, Kernel};
use crate::field::SpinorField;
use crate::geometry::LatticeError;
use crate::host::multigrid::CoarseBlocks;
use crate::scalar::Real;
use lattice_solvers::{LinearOperator, VectorSpace, Work};
use num_complex::Complex;
use std::sync::Arc;

/// Most numbers on the first half of a level whose inverse is made.
pub(super) const MOST_NUMBERS: usize = 1536;

/// The neighbours of the only site of a coarse lattice with one site.
const NEIGHBOURS: [u32; 8] = [0; 8];

/// S⁻¹ for the system S of a coarse level.
///
/// The matrix is the first block of a coarse operator with a single site, which has all numbers.
pub(super) struct DenseInverse<R: Real> {
    /// The space of the level, with all of its numbers at one site.
    space: CoarseSpace<R>,
    /// The numbers of a site of the level.
    site: SiteNumbers,
    storage: Arc<Storage<R>>,
    /// `None` on the host.
    kernel: Option<Kernel>,
}

enum Storage<R: Real> {
    Host(Vec<Complex<R>>),
    Device { matrix: Box<DeviceNumbers<R>>, neighbours: Buffer<u32> },
}

impl<R: Real> DenseInverse<R> {
    /// Inverts the system of level `level`.
    ///
    /// # Errors
    /// When the system is singular, or a device fails.
    pub fn new(system: &CoarseOperator<R>, level: usize) -> Result<Self, SetupError> {
        let (site, sites) = (system.numbers(), system.lattice().evens());
        let numbers = sites * site.columns;
        let (space, sources) = (system.coarse_space(), system.coarse_space().sources());
        let (mut unit, mut image) = (system.space().zero_vector()?, system.space().zero_vector()?);
        let mut matrix = Vec::with_capacity(numbers * numbers);
        for first in (0..numbers).step_by(sources) {
            let mut values = vec![Complex::default(); sources * numbers];
            for source in 0..sources.min(numbers - first) {
                values[source * numbers + first + source] = Complex::new(R::one(), R::zero());
            }
            space.set(&mut unit, &values)?;
            system.apply(&unit, &mut image)?;
            matrix.extend(space.to_host(&image, sites)?);
        }
        matrix.truncate(numbers * numbers);
        let inverse = inverse(numbers, &matrix).ok_or(SetupError::Singular { level })?;
        Self::of_kept(system, &HostNumbers::Whole(inverse)).map_err(SetupError::from)
    }

    /// Makes it of a kept matrix.
    pub fn of_kept(system: &CoarseOperator<R>, kept: &HostNumbers<R>) -> Result<Self, LatticeError> {
        let (site, sites, space) = (system.numbers(), system.lattice().evens(), system.coarse_space());
        // Zeros that fill up the chunks of a site do so here.
        let whole = space.with_numbers(SiteNumbers { columns: sites * site.padded(), lanes: site.lanes });
        let storage = if space.place().is_host() {
            Storage::Host(kept.clone().into_whole())
        } else {
            let device = space.place().device()?;
            // One unit for the only block.
            let matrix = match kept {
                HostNumbers::Fixed { numbers, units } if is_fixed::<R>() => DeviceNumbers::Fixed(
                    Buffer::from_slice(device, &to_memory(site, sites, numbers))?,
                    Buffer::from_slice(device, units)?,
                ),
                _ => {
                    let memory = to_memory(site, sites, &kept.clone().into_whole());
                    DeviceNumbers::new(device, &memory, memory.len())?
                }
            };
            Storage::Device { matrix: Box::new(matrix), neighbours: Buffer::from_slice(device, &NEIGHBOURS)? }
        };
        Ok(Self::of_storage(whole, site, Arc::new(storage))?)
    }

    /// Returns the matrix, to be kept.
    pub fn kept(&self) -> Result<HostNumbers<R>, DeviceError> {
        let (site, sites) = (self.site, self.space.numbers.columns / self.site.padded());
        let matrix = match &*self.storage {
            Storage::Host(matrix) => return Ok(HostNumbers::Whole(matrix.clone())),
            Storage::Device { matrix, .. } => matrix,
        };
        Ok(match &**matrix {
            DeviceNumbers::Whole(numbers, _) => {
                HostNumbers::Whole(of_memory(site, sites, &numbers.to_vec()?))
            }
            DeviceNumbers::Fixed(numbers, units) => HostNumbers::Fixed {
                numbers: of_memory(site, sites, &numbers.to_vec()?),
                units: units.to_vec()?,
            },
        })
    }

    fn of_storage(
        space: CoarseSpace<R>,
        site: SiteNumbers,
        storage: Arc<Storage<R>>,
    ) -> Result<Self, DeviceError> {
        let kernel = match &*storage {
            Storage::Host(_) => None,
            Storage::Device { .. } => {
                let device = space.place().device()?;
                Some(kernel::<R>(device, "coarse_hop", space.numbers, 1, space.sources())?)
            }
        };
        Ok(Self { space, site, storage, kernel })
    }

    /// Returns this inverse for another number of right-hand sides.
    pub fn for_sources(&self, sources: usize) -> Result<Self, LatticeError> {
        Ok(Self::of_storage(self.space.for_sources(sources)?, self.site, Arc::clone(&self.storage))?)
    }

    /// x = S⁻¹ b
    ///
    /// # Errors
    /// When a device fails.
    pub fn apply(&self, b: &SpinorField<R>, x: &mut SpinorField<R>) -> Result<Work, DeviceError> {
        let columns = self.space.numbers.columns;
        let hop = Hop { first: 0, sites: 1, mask: 1, factors: [R::zero(), R::one()] };
        match (&*self.storage, &self.kernel) {
            (Storage::Device { matrix, neighbours }, Some(kernel)) => {
                hop.start(kernel, &self.space, (matrix.arguments(), neighbours), [b, b], x)?;
            }
            (Storage::Host(matrix), _) => {
                let operator = CoarseBlocks { blocks: matrix, neighbours: &NEIGHBOURS, columns };
                hop.on_host(operator, &self.space, [b, b], x)?;
            }
            (Storage::Device { .. }, None) => unreachable!("a matrix on a device has a kernel"),
        }
        let numbers = (columns * columns) as u64;
        let flops = 8 * numbers * self.space.sources() as u64;
        Ok(Work { flops, bytes: numbers * DeviceNumbers::<R>::bytes_of_number() })
    }
}

/// The columns of a matrix as they lie in memory, with zeros that fill up the chunks of sites.
fn to_memory<T: ComplexComponent>(site: SiteNumbers, sites: usize, matrix: &[Complex<T>]) -> Vec<T> {
    let (numbers, padded) = (sites * site.columns, sites * site.padded());
    let mut memory = vec![T::default(); 2 * padded * padded];
    for (column, from) in matrix.chunks(numbers).enumerate() {
        let column = column / site.columns * site.padded() + column % site.columns;
        site.copy_to_memory(from, &mut memory[2 * padded * column..][..2 * padded]);
    }
    memory
}

/// The reverse.
fn of_memory<T: ComplexComponent>(site: SiteNumbers, sites: usize, memory: &[T]) -> Vec<Complex<T>> {
    let padded = sites * site.padded();
    let columns = (0..padded).filter(|column| column % site.padded() < site.columns);
    columns.flat_map(|column| site.of_memory(&memory[2 * padded * column..][..2 * padded])).collect()
}
