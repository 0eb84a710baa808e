//! The results of pair forces.

use super::error::{MdError, MdResult};

/// Energy, virial and counts of a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// The potential energy.
    pub energy: f64,
    /// Σ_{i<j} d ⊗ F with d = r_i − r_j and the force F on i: xx, yy, zz, yz, xz, xy.
    pub virial: [f64; 6],
    /// The pairs within the cutoff.
    pub pairs: u64,
    /// The pairs below the first sample of a table, whose energy is a line with the slope there.
    pub below: u64,
}

/// Forces and sums of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Energy, virial and counts.
    pub sums: Sums,
    /// The force on each atom, in the order of the system.
    pub forces: Vec<[f64; 3]>,
}

/// Lists of neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lists {
    /// Cells along each axis.
    pub cells: [usize; 3],
    /// The mean number of neighbours on a list.
    pub neighbours_mean: f64,
}

/// Numbers in the sums of a work-group, `MD_SUMS` of `cl/pairs.cl`.
pub(crate) const SUMS: usize = 9;

impl Sums {
    /// Takes sums in which each pair counts twice: energy, virial, pairs, pairs below the table.
    pub(crate) fn of_doubled(sums: [f64; SUMS]) -> Self {
        let half = sums.map(|sum| 0.5 * sum);
        Self {
            energy: half[0],
            virial: std::array::from_fn(|i| half[1 + i]),
            pairs: half[7] as u64,
            below: half[8] as u64,
        }
    }

    /// Returns (2 K + tr W)/(3 V) for a kinetic energy K, in energy per volume.
    pub fn pressure(&self, kinetic: f64, volume: f64) -> f64 {
        (2.0 * kinetic + self.virial[..3].iter().sum::<f64>()) / (3.0 * volume)
    }
}

impl Evaluation {
    /// Checks that all forces are finite.
    pub(crate) fn checked(self) -> MdResult<Self> {
        super::system::expect_finite("the force", &self.forces)?;
        if !self.sums.energy.is_finite() {
            return Err(MdError::Energy(self.sums.energy));
        }
        Ok(self)
    }
}
