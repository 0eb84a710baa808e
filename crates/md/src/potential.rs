//! The potential of each pair of types: a formula or a table.

use super::error::{MdError, MdResult};
use super::formula::{Coefficients, Formula, Mixing};
use super::table::{Grid, Mode, Table};

/// What happens to energies and forces at the cutoff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shift {
    /// Nothing: both jump to zero.
    #[default]
    None,
    /// E − E(rc): the energy is continuous.
    Energy,
    /// E − E(rc) − (r − rc) E′(rc): the force is continuous too.
    Force,
}

lattice_files::words! {
    Shift, "shift":
    None = "none";
    Energy = "energy", "The energy is continuous at the cutoff";
    Force = "force", "The force is, too"
}

/// The potential of each pair of types. Row `type_i × types + type_j` belongs to a pair.
#[derive(Clone, Debug, PartialEq)]
pub enum Potential {
    /// One formula with numbers for each pair.
    Formula {
        /// The formula.
        formula: Formula,
        /// Its numbers, row after row.
        coefficients: Vec<Coefficients>,
    },
    /// Samples.
    Table {
        /// The samples of all pairs.
        table: Table,
        /// What is read of them for a force.
        mode: Mode,
    },
}

impl Potential {
    /// Makes Lennard-Jones potentials of ε and σ of each type.
    ///
    /// # Errors
    /// [`MdError::Parameter`].
    pub fn lennard_jones(types: &[[f64; 2]], mixing: Mixing) -> MdResult<Self> {
        let coefficients = mixing.lennard_jones(types)?;
        Ok(Self::Formula { formula: Formula::LennardJones, coefficients })
    }

    /// Makes potentials of one formula, with numbers for each pair of types.
    ///
    /// # Errors
    /// [`MdError::Types`] if the number of rows is no square; [`MdError::Parameter`] if a number is
    /// not finite.
    pub fn of_formula(formula: Formula, coefficients: Vec<Coefficients>) -> MdResult<Self> {
        let types = coefficients.len().isqrt();
        if types * types != coefficients.len() || types == 0 {
            return Err(MdError::Types { wanted: types, found: coefficients.len() });
        }
        if let Some(&value) = coefficients.iter().flatten().find(|value| !value.is_finite()) {
            return Err(MdError::Parameter { name: "coefficient", value, positive: false });
        }
        Ok(Self::Formula { formula, coefficients })
    }

    /// Makes a table of this potential.
    ///
    /// # Errors
    /// [`MdError::Sample`] if the potential is not finite at a sample.
    pub fn tabulated(&self, grid: Grid, mode: Mode) -> MdResult<Self> {
        let table = Table::sampled(self.types(), grid, |row, r| self.energy_and_slope(row, r))?;
        Ok(Self::Table { table, mode })
    }

    /// Returns the number of types of atoms.
    pub fn types(&self) -> usize {
        match self {
            Self::Formula { coefficients, .. } => coefficients.len().isqrt(),
            Self::Table { table, .. } => table.types(),
        }
    }

    /// Returns E and E′ of a pair of types at a distance, without a shift.
    pub fn energy_and_slope(&self, row: usize, r: f64) -> [f64; 2] {
        match self {
            Self::Formula { formula, coefficients } => formula.energy_and_slope(&coefficients[row], r),
            Self::Table { table, mode } => table.energy_and_slope(*mode, row, r),
        }
    }

    /// Returns what a shift takes from E and E′ at r: a + b (r − rc), and b.
    pub(crate) fn shift(&self, shift: Shift, cutoff: f64, row: usize) -> [f64; 2] {
        let [energy, slope] = self.energy_and_slope(row, cutoff);
        match shift {
            Shift::None => [0.0, 0.0],
            Shift::Energy => [energy, 0.0],
            Shift::Force => [energy, slope],
        }
    }

    /// Returns the numbers of a row: those of the formula, or of the beginning of a table.
    pub(crate) fn coefficients(&self, row: usize) -> Coefficients {
        match self {
            Self::Formula { coefficients, .. } => coefficients[row],
            Self::Table { table, mode } => {
                let [energy, slope, before] = table.beginning(*mode, row);
                [energy, slope, before, 0.0]
            }
        }
    }

    /// Returns the distance below which the energy of a table is a line; 0 without a table.
    pub(crate) fn rmin(&self) -> f64 {
        match self {
            Self::Formula { .. } => 0.0,
            Self::Table { table, .. } => table.grid().rmin,
        }
    }

    /// Returns the first and the last distance of a table; `None` of a formula.
    pub(crate) fn range(&self) -> Option<[f64; 2]> {
        match self {
            Self::Formula { .. } => None,
            Self::Table { table, .. } => Some([table.grid().rmin, table.grid().rmax]),
        }
    }

    /// Returns a length below which two atoms are at one place.
    pub(crate) fn least_distance(&self) -> f64 {
        match self {
            Self::Formula { formula, coefficients } => {
                coefficients.iter().map(|c| formula.least_distance(c)).fold(0.0, f64::max)
            }
            Self::Table { table, .. } => 1e-3 * table.grid().rmax,
        }
    }

    /// Returns the smallest length of a formula, σ or r₀; `None` of a table.
    pub fn smallest_length(&self) -> Option<f64> {
        match self {
            Self::Formula { formula, coefficients } => {
                // Pairs of types that do not interact have no length.
                let lengths = coefficients.iter().map(|c| 1e3 * formula.least_distance(c));
                let smallest = lengths.filter(|length| *length > 0.0).fold(f64::INFINITY, f64::min);
                Some(smallest).filter(|length| length.is_finite())
            }
            Self::Table { .. } => None,
        }
    }

    /// Returns the energy and 3 × pressure × volume that pairs beyond the cutoff would add.
    ///
    /// The density is taken as uniform there. `None` if the potential has no such tail.
    pub fn tail(&self, counts: &[usize], volume: f64, cutoff: f64) -> Option<[f64; 2]> {
        let Self::Formula { formula, coefficients } = self else { return None };
        let factor = 2.0 * std::f64::consts::PI / volume;
        let mut sums = [0.0; 2];
        for (row, c) in coefficients.iter().enumerate() {
            let pairs = (counts[row / counts.len()] * counts[row % counts.len()]) as f64;
            let [energy, slope] = formula.tail(c, cutoff)?;
            sums[0] += factor * pairs * energy;
            sums[1] -= factor * pairs * slope;
        }
        Some(sums)
    }
}
