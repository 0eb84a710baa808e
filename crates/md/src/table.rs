//! Tables of pair potentials: samples at equal distances, and lines between them.

use super::error::{MdError, MdResult};

/// What of a potential is read from a table for a force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The derivative E′, by one fetch.
    Derivative,
    /// The potential at two places: E′ = (E(x+1) − E(x−1))/(2h), with x in samples.
    Potential,
}

/// Where a table has samples: r_i = rmin + i h with h = (rmax − rmin)/(M − 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// The number of samples M, at least 4.
    pub samples: usize,
    /// The distance of the first sample.
    pub rmin: f64,
    /// The distance of the last sample.
    pub rmax: f64,
}

/// Samples of E and E′, a row for each pair of types.
///
/// Row `type_i × types + type_j` has the pair's samples. Between samples the values are linear.
/// Beyond both ends they stay.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    grid: Grid,
    types: usize,
    energies: Vec<f64>,
    slopes: Vec<f64>,
}

impl Grid {
    /// Checks that there are at least 4 samples in a range.
    ///
    /// # Errors
    /// [`MdError::Samples`], [`MdError::TableRange`].
    pub fn new(samples: usize, rmin: f64, rmax: f64) -> MdResult<Self> {
        if samples < 4 {
            return Err(MdError::Samples(samples));
        }
        if !(0.0 <= rmin && rmin < rmax && rmax.is_finite()) {
            return Err(MdError::TableRange { rmin, rmax });
        }
        Ok(Self { samples, rmin, rmax })
    }

    /// Makes the grid that begins at `rmin` and ends two samples behind the cutoff.
    ///
    /// # Errors
    /// [`MdError::Samples`], [`MdError::TableRange`].
    pub fn for_cutoff(samples: usize, rmin: f64, cutoff: f64) -> MdResult<Self> {
        let grid = Self::new(samples, rmin, cutoff)?;
        // A thousandth more than two samples: rounding must not make the table too short.
        let spacing = (cutoff - rmin) / (samples as f64 - 3.001);
        Self::new(samples, rmin, grid.rmin + spacing * (samples - 1) as f64)
    }

    /// Returns the distance h of two samples.
    pub fn spacing(&self) -> f64 {
        (self.rmax - self.rmin) / (self.samples - 1) as f64
    }

    /// Returns the distance of a sample.
    pub fn distance(&self, sample: usize) -> f64 {
        self.rmin + sample as f64 * (self.rmax - self.rmin) / (self.samples - 1) as f64
    }
}

impl Table {
    /// Samples a potential. `energy_and_slope(row, r)` gives E and E′ of a pair of types.
    ///
    /// # Errors
    /// [`MdError::Sample`] if a value is not finite.
    pub fn sampled(
        types: usize,
        grid: Grid,
        energy_and_slope: impl Fn(usize, f64) -> [f64; 2],
    ) -> MdResult<Self> {
        let rows = types * types;
        let (mut energies, mut slopes) = (Vec::new(), Vec::new());
        for values in [&mut energies, &mut slopes] {
            lattice_compute::reserve(values, rows.saturating_mul(grid.samples))?;
        }
        for row in 0..rows {
            for sample in 0..grid.samples {
                let distance = grid.distance(sample);
                let [energy, slope] = energy_and_slope(row, distance);
                if let Some(&value) = [energy, slope].iter().find(|value| !value.is_finite()) {
                    return Err(MdError::Sample { distance, value });
                }
                energies.push(energy);
                slopes.push(slope);
            }
        }
        Ok(Self { grid, types, energies, slopes })
    }

    /// Returns where the samples are.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// Returns the number of types of atoms.
    pub fn types(&self) -> usize {
        self.types
    }

    /// Returns all samples of E, row after row.
    pub fn energies(&self) -> &[f64] {
        &self.energies
    }

    /// Returns all samples of E′, row after row.
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// Returns E and E′ as devices read them, with exact fractions: the twin of `cl/pair_table.cl`.
    pub fn energy_and_slope(&self, mode: Mode, row: usize, r: f64) -> [f64; 2] {
        let x = (r - self.grid.rmin) / self.grid.spacing();
        let slope = match mode {
            Mode::Derivative => self.sample(&self.slopes, row, x),
            Mode::Potential => {
                let [left, right] = [x - 1.0, x + 1.0].map(|x| self.sample(&self.energies, row, x));
                (right - left) / (2.0 * self.grid.spacing())
            }
        };
        [self.sample(&self.energies, row, x), slope]
    }

    /// Returns the value at x samples from the beginning of a row.
    fn sample(&self, values: &[f64], row: usize, x: f64) -> f64 {
        let samples = self.grid.samples;
        let x = x.clamp(0.0, (samples - 1) as f64);
        let left = (x as usize).min(samples - 2);
        let pair = &values[row * samples + left..][..2];
        pair[0] + (x - left as f64) * (pair[1] - pair[0])
    }

    /// Checks that the table reaches beyond the cutoff as far as its mode needs.
    ///
    /// # Errors
    /// [`MdError::TableTooShort`].
    pub fn expect_cutoff(&self, mode: Mode, cutoff: f64) -> MdResult<()> {
        let more = match mode {
            Mode::Derivative => 1.0,
            Mode::Potential => 2.0,
        };
        let (rmax, needed) = (self.grid.rmax, cutoff + more * self.grid.spacing());
        if rmax >= needed { Ok(()) } else { Err(MdError::TableTooShort { cutoff, rmax, needed }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_its_samples_and_stays_beyond_its_ends() {
        let grid = Grid::new(5, 1.0, 3.0).unwrap();
        let table = Table::sampled(2, grid, |row, r| [row as f64 + r * r, 2.0 * r]).unwrap();
        for mode in [Mode::Derivative, Mode::Potential] {
            assert_eq!(table.energy_and_slope(mode, 3, 2.0), [7.0, 4.0]);
            assert_eq!(table.energy_and_slope(mode, 0, 2.25)[0], 0.5 * (4.0 + 6.25));
        }
        assert_eq!(table.energy_and_slope(Mode::Derivative, 1, 0.2), [2.0, 2.0]);
        assert_eq!(table.energy_and_slope(Mode::Derivative, 1, 9.0), [10.0, 6.0]);
        assert!(table.expect_cutoff(Mode::Derivative, 2.5).is_ok());
        assert!(table.expect_cutoff(Mode::Potential, 2.5).is_err());
        assert!(Table::sampled(1, Grid::new(4, 0.0, 1.0).unwrap(), |_, r| [1.0 / r, 0.0]).is_err());
    }

    #[test]
    fn a_grid_for_a_cutoff_reaches_two_samples_further() {
        let grid = Grid::for_cutoff(4096, 2.5, 8.5).unwrap();
        assert_eq!((grid.samples, grid.rmin), (4096, 2.5));
        assert!(grid.rmax >= 8.5 + 2.0 * grid.spacing() && grid.rmax < 8.5 + 2.01 * grid.spacing());
        assert!(Grid::new(3, 1.0, 2.0).is_err() && Grid::new(4, 2.0, 2.0).is_err());
    }

    #[test]
    fn the_error_falls_as_the_square_of_the_spacing() {
        let exact = |r: f64| [(3.0 * r).sin(), 3.0 * (3.0 * r).cos()];
        for mode in [Mode::Derivative, Mode::Potential] {
            let error = |samples| {
                let table =
                    Table::sampled(1, Grid::new(samples, 0.0, 4.0).unwrap(), |_, r| exact(r)).unwrap();
                (0..4001)
                    .map(|i| 0.5 + 7e-4 * f64::from(i))
                    .map(|r| (table.energy_and_slope(mode, 0, r)[1] - exact(r)[1]).abs())
                    .fold(0.0, f64::max)
            };
            let exponent = (error(257) / error(1025)).log2() / 2.0;
            assert!((exponent - 2.0).abs() < 0.1, "{mode:?}: {exponent}");
        }
    }
}
