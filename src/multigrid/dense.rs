//! The inverse of the system of a coarsest level, as a matrix.

use super::coarse_operator::{CoarseOperator, inverse};
use super::coarse_space::SiteNumbers;
use super::error::SetupError;
use super::kept::Kept;
use super::kernels::{LOCAL_SIZE, kernel};
use crate::device::{Argument, Buffer, DeviceError, Kernel, Range};
use crate::field::{NumbersView, SpinorField, buffer_of, buffer_of_mut, numbers_of, set_numbers};
use crate::host::multigrid::{CoarseBlocks, coarse_hop};
use crate::scalar::Real;
use lattice_solvers::{LinearOperator, VectorSpace, Work};
use num_complex::Complex;

/// Most numbers on the first half of a level whose inverse is made.
pub(super) const MOST_NUMBERS: usize = 1536;

/// The neighbours of the only site of a coarse lattice with one site.
const NEIGHBOURS: [u32; 8] = [0; 8];

/// S⁻¹ for the system S of a coarse level.
///
/// The matrix is the first block of a coarse operator with a single site, which has all numbers.
pub(super) struct DenseInverse<R: Real> {
    /// Numbers of a vector, and the lanes that they lie in.
    numbers: SiteNumbers,
    storage: Storage<R>,
}

enum Storage<R: Real> {
    Host(Vec<Complex<R>>),
    Device(Box<OnDevice<R>>),
}

struct OnDevice<R: Real> {
    matrix: Kept<R>,
    neighbours: Buffer<u32>,
    kernel: Kernel,
}

impl<R: Real> DenseInverse<R> {
    /// Inverts the system of level `level`.
    ///
    /// # Errors
    /// When it is singular.
    pub fn new(system: &CoarseOperator<R>, level: usize) -> Result<Self, SetupError> {
        let (site, sites) = (system.numbers(), system.lattice().evens());
        let numbers = sites * site.columns;
        let space = system.space();
        let (mut unit, mut image) = (space.zero_vector()?, space.zero_vector()?);
        let reals = 2 * sites * site.padded();
        let mut matrix = Vec::with_capacity(numbers * numbers);
        for column in 0..numbers {
            let mut values = vec![Complex::default(); numbers];
            values[column] = Complex::new(R::one(), R::zero());
            set_numbers(&mut unit, &site.to_memory(&values))?;
            system.apply(&unit, &mut image)?;
            let memory = numbers_of(&image, |numbers| match numbers {
                NumbersView::Host(numbers) => Ok(numbers[..reals].to_vec()),
                NumbersView::Devices(buffers) => buffers[0].slice(..reals)?.to_vec(),
            })?;
            matrix.extend(site.of_memory(&memory));
        }
        let inverse = inverse(numbers, &matrix).ok_or(SetupError::Singular { level })?;
        let place = system.coarse_space().place();
        if place.is_host() {
            return Ok(Self {
                numbers: SiteNumbers { columns: numbers, lanes: 1 },
                storage: Storage::Host(inverse),
            });
        }
        let device = place.device()?;
        // Zeros that fill up the chunks of a site do so here.
        let columns = sites * site.padded();
        let whole = SiteNumbers { columns, lanes: site.lanes };
        let mut memory = vec![R::zero(); 2 * columns * columns];
        for (column, from) in inverse.chunks(numbers).enumerate() {
            let column = column / site.columns * site.padded() + column % site.columns;
            memory[2 * columns * column..][..2 * columns].copy_from_slice(&site.to_memory(from));
        }
        let own = OnDevice {
            // One unit for the only block.
            matrix: Kept::new(device, &memory, memory.len())?,
            neighbours: Buffer::from_slice(device, &NEIGHBOURS)?,
            kernel: kernel::<R>(device, "coarse_hop", whole, 1)?,
        };
        Ok(Self { numbers: whole, storage: Storage::Device(Box::new(own)) })
    }

    /// x = S⁻¹ b
    ///
    /// # Errors
    /// When a device fails.
    pub fn apply(&self, b: &SpinorField<R>, x: &mut SpinorField<R>) -> Result<Work, DeviceError> {
        let n = self.numbers.columns;
        match &self.storage {
            Storage::Host(matrix) => {
                let operator = CoarseBlocks { blocks: matrix, neighbours: &NEIGHBOURS, columns: n };
                let result = numbers_of(b, |b| match b {
                    NumbersView::Host(b) => {
                        let b: &[Complex<R>] = bytemuck::cast_slice(&b[..2 * n]);
                        coarse_hop(operator, [b, b], [0, 1], 1, [R::zero(), R::one()])
                    }
                    NumbersView::Devices(_) => unreachable!("vectors of the host are there"),
                });
                set_numbers(x, bytemuck::cast_slice(&result))?;
            }
            Storage::Device(own) => {
                let OnDevice { matrix, neighbours, kernel } = &**own;
                let [matrix, units] = matrix.arguments();
                let chunks = self.numbers.chunks();
                let arguments = [
                    matrix,
                    units,
                    Argument::from(neighbours),
                    Argument::from(buffer_of(b)),
                    Argument::from(buffer_of(b)),
                    Argument::from(buffer_of_mut(x)),
                    Argument::value(0_u32),
                    Argument::value(1_u32),
                    Argument::value(n as u32),
                    Argument::value(chunks as u32),
                    Argument::value(1_u32),
                    Argument::value(R::zero()),
                    Argument::value(R::one()),
                ];
                kernel.start(Range::covering(chunks, LOCAL_SIZE.min(16)), &arguments)?;
            }
        }
        let numbers = (n * n) as u64;
        Ok(Work { flops: 8 * numbers, bytes: numbers * Kept::<R>::bytes_of_number() })
    }
}
