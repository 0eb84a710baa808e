//! All levels, with the finest one in a precision that is chosen at run time.

use super::hierarchy::{Coarsening, Hierarchy};
use super::kept_setup::KeptSetup;
use super::transfer::Transfer;
use crate::compute::DeviceError;
use crate::geometry::LatticeError;
use crate::operator::Dirac;
use crate::scalar::Half;
use crate::solve::{Cycles, Inner};
use lattice_solvers::Polynomial;

/// The levels of a method. Coarse levels are in single precision.
pub(super) enum Finest {
    Single(Hierarchy<f32>),
    Half(Hierarchy<Half>),
}

impl Finest {
    /// Makes the levels for one right-hand side.
    ///
    /// The coarsening may have another number.
    pub fn new(
        dirac: &Dirac<f32>,
        precision: Inner,
        smoother: Polynomial,
        below: &Coarsening<f32>,
    ) -> Result<Self, LatticeError> {
        Ok(match precision {
            Inner::Single => Self::Single(Hierarchy::new(dirac, smoother, below, 1)?),
            Inner::Half => Self::Half(Hierarchy::new(&dirac.cast()?, smoother, below, 1)?),
        })
    }

    /// Returns these levels for another number of right-hand sides.
    pub fn for_columns(&self, columns: usize) -> Result<Self, LatticeError> {
        Ok(match self {
            Self::Single(levels) => Self::Single(levels.for_columns(columns)?),
            Self::Half(levels) => Self::Half(levels.for_columns(columns)?),
        })
    }

    /// Returns all that these levels are made of, to be kept. All ranks call this together.
    pub fn kept(&self) -> Result<KeptSetup<f32>, DeviceError> {
        match self {
            Self::Single(levels) => levels.kept(),
            Self::Half(levels) => levels.kept(),
        }
    }

    /// Returns the transfers of all levels, finest first; the operators are let go.
    pub fn into_transfers(self) -> Vec<Transfer<f32>> {
        match self {
            Self::Single(levels) => levels.into_transfers(),
            Self::Half(levels) => levels.into_transfers(),
        }
    }

    /// Returns the cycles, as a preconditioner in their precision.
    pub fn cycles(&mut self) -> Cycles<'_> {
        match self {
            Self::Single(levels) => Cycles::Single(levels),
            Self::Half(levels) => Cycles::Half(levels),
        }
    }
}
