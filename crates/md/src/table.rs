//! Tables of pair potentials: samples at equal distances, and lines or cubics between them.

use super::error::{MdError, MdResult};

/// What of a potential is read from a table for a force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The derivative E′, by one fetch.
    Derivative,
    /// The potential at two places: E′ = (E(x+1) − E(x−1))/(2h), with x in samples.
    Potential,
}

lattice_files::words! { Mode, "mode": Derivative = "derivative"; Potential = "potential" }

/// The variable in which samples are equally spaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Spacing {
    /// The distance r. Tables have E and E′.
    #[default]
    R,
    /// Its square. Tables have E and E′/r, so that a force needs no root.
    R2,
}

lattice_files::words! { Spacing, "spacing": R = "r"; R2 = "r2" }

/// What is between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// A line, whose error is of second order.
    #[default]
    Linear,
    /// A cubic: through slopes by Catmull and Rom, whose error is of third order, and through
    /// energies with their known derivatives, whose error is of fourth order.
    Cubic,
}

lattice_files::words! {
    Interpolation, "interpolation":
    Linear = "linear"; Cubic = "cubic", "Four numbers for each interval"
}

/// Where a table has samples: r_i = rmin + i h with h = (rmax − rmin)/(M − 1), or so in r².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// The number of samples M, at least 4.
    pub samples: usize,
    /// The distance of the first sample.
    pub rmin: f64,
    /// The distance of the last sample.
    pub rmax: f64,
    /// The variable in which they are equally spaced.
    pub spacing: Spacing,
}

/// Samples of E and E′, a row for each pair of types.
///
/// Row `type_i × types + type_j` has the pair's samples. Before the first one E goes on in a line, whose
/// slope is E′ there. Behind the last one the values stay.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    grid: Grid,
    interpolation: Interpolation,
    types: usize,
    energies: Vec<f64>,
    slopes: Vec<f64>,
}

impl Spacing {
    /// Returns the variable at a distance.
    pub fn variable(self, r: f64) -> f64 {
        match self {
            Self::R => r,
            Self::R2 => r * r,
        }
    }
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
        Ok(Self { samples, rmin, rmax, spacing: Spacing::R })
    }

    /// Makes the grid that begins at `rmin` and ends two samples behind the cutoff.
    ///
    /// With samples equally spaced in r² it ends as far behind the cutoff, or further.
    ///
    /// # Errors
    /// [`MdError::Samples`], [`MdError::TableRange`].
    pub fn for_cutoff(samples: usize, rmin: f64, cutoff: f64) -> MdResult<Self> {
        let grid = Self::new(samples, rmin, cutoff)?;
        // A thousandth more than two samples: rounding must not make the table too short.
        let spacing = (cutoff - rmin) / (samples as f64 - 3.001);
        Self::new(samples, rmin, grid.rmin + spacing * (samples - 1) as f64)
    }

    /// Returns the grid with samples of the same range equally spaced in another variable.
    pub fn spaced(self, spacing: Spacing) -> Self {
        Self { spacing, ..self }
    }

    /// Returns the step h of two samples, in r or r².
    pub fn step(&self) -> f64 {
        let variable = |r| self.spacing.variable(r);
        (variable(self.rmax) - variable(self.rmin)) / (self.samples - 1) as f64
    }

    /// Returns the distance of a sample.
    pub fn distance(&self, sample: usize) -> f64 {
        self.at(sample as f64)
    }

    /// Returns the distance at `x` samples behind the first one.
    pub fn at(&self, x: f64) -> f64 {
        let variable = |r| self.spacing.variable(r);
        let (first, last) = (variable(self.rmin), variable(self.rmax));
        let at = first + x * (last - first) / (self.samples - 1) as f64;
        match self.spacing {
            Spacing::R => at,
            Spacing::R2 => at.sqrt(),
        }
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
                let slope = match grid.spacing {
                    Spacing::R => slope,
                    Spacing::R2 => slope / distance,
                };
                if let Some(&value) = [energy, slope].iter().find(|value| !value.is_finite()) {
                    return Err(MdError::Sample { distance, value });
                }
                energies.push(energy);
                slopes.push(slope);
            }
        }
        Ok(Self { grid, interpolation: Interpolation::Linear, types, energies, slopes })
    }

    /// Returns the table with something else between its samples.
    pub fn interpolated(self, interpolation: Interpolation) -> Self {
        Self { interpolation, ..self }
    }

    /// Returns where the samples are.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// Returns what is between the samples.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// Returns the number of types of atoms.
    pub fn types(&self) -> usize {
        self.types
    }

    /// Returns all samples of E, row after row.
    pub fn energies(&self) -> &[f64] {
        &self.energies
    }

    /// Returns all samples of E′, or of E′/r for samples in r², row after row.
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// Returns E and E′ as devices read them, with exact fractions: the twin of `cl/pair_table.cl`.
    ///
    /// Below the first sample E′ stays, and E is the line with this slope.
    pub fn energy_and_slope(&self, mode: Mode, row: usize, r: f64) -> [f64; 2] {
        let [first, slope, before] = self.beginning(mode, row);
        if r < self.grid.rmin {
            return [first + slope * (r - self.grid.rmin), slope];
        }
        let variable = |r| self.grid.spacing.variable(r);
        let x = (variable(r) - variable(self.grid.rmin)) / self.grid.step();
        let (energy, slope) = match self.interpolation {
            Interpolation::Linear => {
                let slope = match mode {
                    Mode::Derivative => self.sample(&self.slopes, row, x),
                    Mode::Potential => {
                        let left = match x {
                            x if x < 1.0 => before + x * (first - before),
                            x => self.sample(&self.energies, row, x - 1.0),
                        };
                        (self.sample(&self.energies, row, x + 1.0) - left) * self.slope_factor()
                    }
                };
                (self.sample(&self.energies, row, x), slope)
            }
            Interpolation::Cubic => {
                let (left, t) = self.interval(x);
                let of_energy = self.energy_piece(row, left);
                let slope = match mode {
                    Mode::Derivative => value(self.slope_piece(row, left), t),
                    Mode::Potential => rise(of_energy, t) * self.slope_factor(),
                };
                (value(of_energy, t), slope)
            }
        };
        match self.grid.spacing {
            Spacing::R => [energy, slope],
            Spacing::R2 => [energy, slope * r],
        }
    }

    /// Returns E and E′ at the first sample, and E one sample before it, on the parabola of the first three.
    ///
    /// E′ is the one that forces have there: with lines through energies, the slope of that parabola.
    pub(crate) fn beginning(&self, mode: Mode, row: usize) -> [f64; 3] {
        let at = row * self.grid.samples;
        let [first, second, third] = [0, 1, 2].map(|sample| self.energies[at + sample]);
        let before = 3.0 * (first - second) + third;
        let slope = match (mode, self.interpolation) {
            (Mode::Potential, Interpolation::Linear) => (second - before) * self.slope_factor(),
            _ => self.slopes[at],
        };
        match self.grid.spacing {
            Spacing::R => [first, slope, before],
            Spacing::R2 => [first, slope * self.grid.rmin, before],
        }
    }

    /// Returns what a difference of energies by samples is multiplied by for E′, or for E′/r = 2 dE/d(r²).
    ///
    /// The difference of lines is that of two samples, the one of cubics their slope.
    pub(crate) fn slope_factor(&self) -> f64 {
        let by_sample = match self.interpolation {
            Interpolation::Linear => 0.5,
            Interpolation::Cubic => 1.0,
        };
        let of_variable = match self.grid.spacing {
            Spacing::R => 1.0,
            Spacing::R2 => 2.0,
        };
        by_sample * of_variable / self.grid.step()
    }

    /// Returns the interval of a place in samples, and the fraction within.
    fn interval(&self, x: f64) -> (usize, f64) {
        let x = x.clamp(0.0, (self.grid.samples - 1) as f64);
        let left = (x as usize).min(self.grid.samples - 2);
        (left, x - left as f64)
    }

    /// Returns the value of lines at x samples from the beginning of a row.
    fn sample(&self, values: &[f64], row: usize, x: f64) -> f64 {
        let (left, t) = self.interval(x);
        let pair = &values[row * self.grid.samples + left..][..2];
        pair[0] + t * (pair[1] - pair[0])
    }

    /// Returns the cubic of E in an interval, whose ends have the known derivatives.
    fn energy_piece(&self, row: usize, left: usize) -> [f64; 4] {
        let by_variable = match self.grid.spacing {
            Spacing::R => 1.0,
            Spacing::R2 => 0.5,
        };
        let at = row * self.grid.samples + left;
        let tangent = |at: usize| self.slopes[at] * by_variable * self.grid.step();
        cubic([self.energies[at], self.energies[at + 1]], [tangent(at), tangent(at + 1)])
    }

    /// Returns the cubic of slopes in an interval, by Catmull and Rom (1974).
    ///
    /// The tangents at both ends of a row are those of the cubic through four samples.
    fn slope_piece(&self, row: usize, left: usize) -> [f64; 4] {
        let y = &self.slopes[row * self.grid.samples..][..self.grid.samples];
        let last = y.len() - 1;
        let tangent = |i: usize| match i {
            0 => (18.0 * y[1] - 11.0 * y[0] - 9.0 * y[2] + 2.0 * y[3]) / 6.0,
            i if i == last => (11.0 * y[i] - 18.0 * y[i - 1] + 9.0 * y[i - 2] - 2.0 * y[i - 3]) / 6.0,
            i => 0.5 * (y[i + 1] - y[i - 1]),
        };
        cubic([y[left], y[left + 1]], [tangent(left), tangent(left + 1)])
    }

    /// Returns the numbers of E and of slopes that devices read: samples, or four for each interval.
    pub(crate) fn numbers(&self) -> [Vec<f64>; 2] {
        let intervals = || {
            let of_row = |row| (0..self.grid.samples - 1).map(move |left| (row, left));
            (0..self.types * self.types).flat_map(of_row)
        };
        match self.interpolation {
            Interpolation::Linear => [self.energies.clone(), self.slopes.clone()],
            Interpolation::Cubic => [
                intervals().flat_map(|(row, left)| self.energy_piece(row, left)).collect(),
                intervals().flat_map(|(row, left)| self.slope_piece(row, left)).collect(),
            ],
        }
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
        let needed = match self.grid.spacing {
            Spacing::R => cutoff + more * self.grid.step(),
            Spacing::R2 => (cutoff * cutoff + more * self.grid.step()).sqrt(),
        };
        let rmax = self.grid.rmax;
        if rmax >= needed { Ok(()) } else { Err(MdError::TableTooShort { cutoff, rmax, needed }) }
    }
}

/// Returns the cubic in t from 0 to 1 with these values and tangents at both ends.
fn cubic([y, y1]: [f64; 2], [s, s1]: [f64; 2]) -> [f64; 4] {
    [y, s, 3.0 * (y1 - y) - 2.0 * s - s1, 2.0 * (y - y1) + s + s1]
}

/// Returns the value of a cubic.
fn value(c: [f64; 4], t: f64) -> f64 {
    c[0] + t * (c[1] + t * (c[2] + t * c[3]))
}

/// Returns the slope of a cubic.
fn rise(c: [f64; 4], t: f64) -> f64 {
    c[1] + t * (2.0 * c[2] + t * 3.0 * c[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_its_samples_goes_on_in_a_line_before_and_stays_behind() {
        let grid = Grid::new(5, 1.0, 3.0).unwrap();
        let table = Table::sampled(2, grid, |row, r| [row as f64 + r * r, 2.0 * r]).unwrap();
        for mode in [Mode::Derivative, Mode::Potential] {
            assert_eq!(table.energy_and_slope(mode, 3, 2.0), [7.0, 4.0]);
            assert_eq!(table.energy_and_slope(mode, 0, 2.25)[0], 0.5 * (4.0 + 6.25));
        }
        for mode in [Mode::Derivative, Mode::Potential] {
            // The parabola of the first three samples is the potential itself.
            assert_eq!(table.energy_and_slope(mode, 1, 1.0), [2.0, 2.0]);
            assert_eq!(table.energy_and_slope(mode, 1, 0.25), [0.5, 2.0]);
        }
        assert_eq!(table.energy_and_slope(Mode::Derivative, 1, 9.0), [10.0, 6.0]);
        assert!(table.expect_cutoff(Mode::Derivative, 2.5).is_ok());
        assert!(table.expect_cutoff(Mode::Potential, 2.5).is_err());
        assert!(Table::sampled(1, Grid::new(4, 0.0, 1.0).unwrap(), |_, r| [1.0 / r, 0.0]).is_err());
    }

    #[test]
    fn a_grid_for_a_cutoff_reaches_two_samples_further() {
        let grid = Grid::for_cutoff(4096, 2.5, 8.5).unwrap();
        assert_eq!((grid.samples, grid.rmin), (4096, 2.5));
        assert!(grid.rmax >= 8.5 + 2.0 * grid.step() && grid.rmax < 8.5 + 2.01 * grid.step());
        let squares = grid.spaced(Spacing::R2);
        assert!(squares.rmax.powi(2) >= 8.5 * 8.5 + 2.0 * squares.step());
        assert!(Grid::new(3, 1.0, 2.0).is_err() && Grid::new(4, 2.0, 2.0).is_err());
    }

    #[test]
    fn the_error_falls_as_the_order_of_the_interpolation() {
        let exact = |r: f64| [(3.0 * r).sin(), 3.0 * (3.0 * r).cos()];
        for (interpolation, mode, order) in [
            (Interpolation::Linear, Mode::Derivative, 2.0),
            (Interpolation::Linear, Mode::Potential, 2.0),
            (Interpolation::Cubic, Mode::Derivative, 3.0),
            (Interpolation::Cubic, Mode::Potential, 3.0),
        ] {
            for spacing in [Spacing::R, Spacing::R2] {
                let errors = |samples| {
                    let grid = Grid::new(samples, 0.4, 4.0).unwrap().spaced(spacing);
                    let table = Table::sampled(1, grid, |_, r| exact(r)).unwrap();
                    let table = table.interpolated(interpolation);
                    let mut largest = [0.0_f64; 2];
                    for r in (0..4001).map(|i| 0.7 + 7e-4 * f64::from(i)) {
                        let (found, wanted) = (table.energy_and_slope(mode, 0, r), exact(r));
                        largest = [0, 1].map(|i| largest[i].max((found[i] - wanted[i]).abs()));
                    }
                    largest
                };
                let ([energy, slope], [finer_energy, finer_slope]) = (errors(257), errors(1025));
                let exponent = (slope / finer_slope).log2() / 2.0;
                let label = format!("{interpolation:?} {mode:?} {spacing:?}: {exponent}");
                assert!((exponent - order).abs() < if order > 2.5 { 0.2 } else { 0.1 }, "{label}");
                let of_energy = (energy / finer_energy).log2() / 2.0;
                let wanted = if interpolation == Interpolation::Cubic { 4.0 } else { 2.0 };
                assert!((of_energy - wanted).abs() < 0.1, "{label}, of energies {of_energy}");
            }
        }
    }

    #[test]
    fn forces_are_continuous_and_the_slope_of_the_energy_around_the_first_sample() {
        let exact = |r: f64| [(3.0 * r).sin(), 3.0 * (3.0 * r).cos()];
        for spacing in [Spacing::R, Spacing::R2] {
            for interpolation in [Interpolation::Linear, Interpolation::Cubic] {
                for mode in [Mode::Derivative, Mode::Potential] {
                    let grid = Grid::new(513, 0.8, 4.0).unwrap().spaced(spacing);
                    let table = Table::sampled(1, grid, |_, r| exact(r)).unwrap().interpolated(interpolation);
                    let at = |r: f64| table.energy_and_slope(mode, 0, r);
                    let label = format!("{mode:?} {interpolation:?} {spacing:?}");
                    let [below, above] = [0.8 - 1e-12, 0.8 + 1e-12].map(at);
                    assert!(
                        (0..2).all(|i| (below[i] - above[i]).abs() < 1e-9),
                        "{label}: {below:?} {above:?}"
                    );
                    // E at two distances differs by the integral of E′, as well as the table's error allows.
                    for (from, to) in [(0.3, 0.6), (0.79, 0.81), (0.7, grid.distance(1)), (0.5, 1.1)] {
                        let parts = 20_000;
                        let step = (to - from) / f64::from(parts);
                        let integral: f64 =
                            (0..parts).map(|i| step * at(from + step * (f64::from(i) + 0.5))[1]).sum();
                        let apart = (at(to)[0] - at(from)[0] - integral).abs();
                        let allowed = if to < 0.8 { 1e-12 } else { 9.0 * grid.step().powi(2) };
                        assert!(apart < allowed, "{label} from {from} to {to}: {apart:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_cubic_is_what_its_ends_say_and_devices_get_it() {
        let piece = cubic([2.0, 5.0], [-1.0, 3.0]);
        assert_eq!(
            [value(piece, 0.0), value(piece, 1.0), rise(piece, 0.0), rise(piece, 1.0)],
            [2.0, 5.0, -1.0, 3.0]
        );
        let grid = Grid::new(5, 1.0, 3.0).unwrap();
        let table = Table::sampled(2, grid, |row, r| [row as f64 + r.powi(3), 3.0 * r * r]).unwrap();
        let table = table.interpolated(Interpolation::Cubic);
        for mode in [Mode::Derivative, Mode::Potential] {
            // A cubic and a parabola are met exactly, up to both ends.
            for r in [1.0, 1.3, 2.2, 3.0] {
                let [energy, slope] = table.energy_and_slope(mode, 2, r);
                assert!(
                    (energy - 2.0 - r.powi(3)).abs() < 1e-12 && (slope - 3.0 * r * r).abs() < 1e-12,
                    "{mode:?} {r}"
                );
            }
            assert_eq!(table.energy_and_slope(mode, 0, 0.5), [-0.5, 3.0]);
        }
        let numbers = table.numbers();
        assert!(numbers.iter().all(|numbers| numbers.len() == 4 * 4 * 4));
        assert_eq!(numbers[0][4 * (4 + 2)..][..4], table.energy_piece(1, 2));
    }
}
