//! Ways to find pairs that are only measured, and the memory that they need.

use super::places::PairPrecision;
use crate::error::MdResult;
use crate::options::List;
use lattice_compute::{Argument, Buffer, Device, Kernel, Program, Range};

/// Work-items of a group that computes distances, if the kernel may have so many.
const DISTANCES: usize = 1024;

/// What is done before and behind the kernel of forces.
pub(super) enum Rung<T> {
    /// Nothing.
    None,
    /// The squares of all distances are stored first.
    Matrix { squares: Buffer<T>, distances: Kernel, group: usize },
    /// Forces are scattered in fixed point, and converted.
    Half { scattered: Buffer<u32>, convert: Kernel },
}

impl<T: PairPrecision> Rung<T> {
    /// Makes room for a kind of list. `program` has the kernels of forces.
    pub fn new(device: &Device, program: &Program, list: List, atoms: usize) -> MdResult<Self> {
        Ok(match list {
            List::AllPairs | List::Cells { .. } => Self::None,
            List::Matrix => {
                let distances = program.kernel("md_distances")?;
                let group = DISTANCES.min(distances.max_work_group_size()).max(1);
                Self::Matrix { squares: Buffer::zeroed(device, atoms * atoms)?, distances, group }
            }
            List::HalfCells { .. } => Self::Half {
                scattered: Buffer::zeroed(device, 6 * atoms)?,
                convert: program.kernel("md_half_forces")?,
            },
        })
    }

    /// Starts what comes before the kernel of forces.
    pub fn begin(
        &mut self,
        atoms: usize,
        places: &Buffer<T::Coordinate>,
        constants: &Buffer<T>,
    ) -> MdResult<()> {
        match self {
            Self::None => {}
            Self::Matrix { squares, distances, group } => distances.start(
                Range::covering(atoms * atoms, *group),
                &[places.into(), constants.into(), Argument::value(atoms as u32), squares.into()],
            )?,
            Self::Half { scattered, .. } => scattered.fill(0)?,
        }
        Ok(())
    }

    /// Starts what comes behind it.
    pub fn finish(&mut self, atoms: usize, range: Range, forces: &mut Buffer<f64>) -> MdResult<()> {
        if let Self::Half { scattered, convert } = self {
            convert.start(range, &[(&*scattered).into(), Argument::value(atoms as u32), forces.into()])?;
        }
        Ok(())
    }
}
