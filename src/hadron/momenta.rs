//! Momenta of hadrons, and sums over time slices with their phases.

use crate::compute::parallel::*;
use crate::geometry::{Dims, NDIM};
use lattice_linalg::host::fft::Line;
use num_complex::Complex64;
use std::f64::consts::TAU;

/// Most momenta of one direction that are summed by definition.
///
/// A host's fast transform takes about as long as so many sums.
const MOST_SUMS: usize = 48;

/// A momentum p_k = 2πn_k/L_k by its integers n_x, n_y, n_z.
pub type Momentum = [i32; 3];

/// A momentum that a lattice does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "momenta up to n² = {squared} are too large for the {dims} lattice: n_{direction} goes to {largest}, and the lattice has {most} at most; take n² up to {allowed}",
    largest = squared.isqrt(), direction = Dims::direction_name(*mu), most = dims[*mu] / 2, allowed = allowed(*dims)
)]
pub struct MomentaError {
    squared: u32,
    dims: Dims,
    mu: usize,
}

/// Returns the largest n² for which a lattice has all momenta.
///
/// The next momentum has n_k = L_k/2 + 1.
fn allowed(dims: Dims) -> usize {
    let shortest = (0..3).map(|mu| dims[mu]).min().unwrap_or(0);
    (shortest / 2 + 1).pow(2) - 1
}

/// Returns all momenta with n_x² + n_y² + n_z² up to `squared`, small ones first.
///
/// # Errors
/// If a component is above L/2.
pub fn momenta_up_to(squared: u32, dims: Dims) -> Result<Vec<Momentum>, MomentaError> {
    let largest = squared.isqrt();
    if let Some(mu) = (0..3).find(|&mu| largest as usize > dims[mu] / 2) {
        return Err(MomentaError { squared, dims, mu });
    }
    let most = largest as i32;
    let square = |n: &Momentum| n.iter().map(|n| (n * n) as u32).sum::<u32>();
    let planes = (-most..=most).flat_map(|x| (-most..=most).map(move |y| [x, y]));
    let all = planes.flat_map(|[x, y]| (-most..=most).map(move |z| [x, y, z]));
    let mut momenta: Vec<Momentum> = all.filter(|n| square(n) <= squared).collect();
    momenta.sort_by_key(|n| (square(n), n.map(|n| -n)));
    Ok(momenta)
}

/// Momenta of correlators. Each is a momentum, or the mean of equivalent ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Momenta(Vec<Mean>);

/// The arithmetic mean of correlators over some momenta.
#[derive(Clone, Debug, PartialEq)]
struct Mean {
    /// The momentum that correlators name.
    named: Momentum,
    members: Vec<Momentum>,
}

impl Momenta {
    /// Takes each of these momenta on its own.
    pub fn each(momenta: impl IntoIterator<Item = Momentum>) -> Self {
        Self(momenta.into_iter().map(|named| Mean { named, members: vec![named] }).collect())
    }

    /// Puts equivalent momenta together, whose correlators are averaged.
    ///
    /// Equivalent are reflections, and permutations of directions of the same extent. The one
    /// with n_x ≥ n_y ≥ n_z ≥ 0 gives the name if all extents are the same.
    #[must_use]
    pub fn averaged(&self, dims: Dims) -> Self {
        let mut means: Vec<Mean> = Vec::new();
        for momentum in self.0.iter().flat_map(|mean| &mean.members) {
            let named = representative(*momentum, dims);
            match means.iter_mut().find(|mean| mean.named == named) {
                Some(mean) => mean.members.push(*momentum),
                None => means.push(Mean { named, members: vec![*momentum] }),
            }
        }
        Self(means)
    }

    /// Returns the momenta that correlators name, in order.
    pub fn names(&self) -> Vec<Momentum> {
        self.0.iter().map(|mean| mean.named).collect()
    }
}

/// Returns the momentum that stands for all equivalent ones.
fn representative(momentum: Momentum, dims: Dims) -> Momentum {
    let mut n = momentum.map(i32::abs);
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        if dims[i] == dims[j] && n[i] < n[j] {
            n.swap(i, j);
        }
    }
    n
}

/// Sums over the sites of time slices, with phases: `[distance][momentum][number]`.
#[derive(Clone, Debug)]
pub(super) struct Slices {
    values: Vec<Complex64>,
    momenta: usize,
    numbers: usize,
}

impl Slices {
    /// Makes sums of zero for `distances` slices.
    pub fn zero(distances: usize, momenta: usize, numbers: usize) -> Self {
        Self { values: vec![Complex64::default(); distances * momenta * numbers], momenta, numbers }
    }

    /// Returns the numbers of a slice at a distance from the source, all momenta.
    pub fn slice_mut(&mut self, distance: usize) -> &mut [Complex64] {
        let stride = self.momenta * self.numbers;
        &mut self.values[distance * stride..(distance + 1) * stride]
    }

    /// Returns the numbers of a slice and a momentum.
    pub fn of(&self, distance: usize, momentum: usize) -> &[Complex64] {
        let first = (distance * self.momenta + momentum) * self.numbers;
        &self.values[first..first + self.numbers]
    }

    /// Multiplies the numbers at each distance by the phase of their hadron there.
    pub fn times(mut self, phases: &[Complex64]) -> Self {
        for (distance, &phase) in phases.iter().enumerate() {
            let numbers = self.slice_mut(distance);
            match phase {
                Complex64 { re: 1.0, im: 0.0 } => {}
                Complex64 { re, im: 0.0 } => numbers.iter_mut().for_each(|number| *number *= re),
                phase => numbers.iter_mut().for_each(|number| *number *= phase),
            }
        }
        self
    }

    /// Returns one number of a momentum at all distances.
    pub fn number(&self, momentum: usize, number: usize) -> Vec<Complex64> {
        (0..self.distances()).map(|distance| self.of(distance, momentum)[number]).collect()
    }

    /// Returns how many slices there are.
    pub fn distances(&self) -> usize {
        self.values.len() / (self.momenta * self.numbers)
    }
}

/// The phases e^{ip·(x−x₀)} of momenta.
pub(super) struct Phases<'a> {
    dims: Dims,
    origin: [usize; NDIM],
    momenta: &'a Momenta,
    /// e^{2πij/L} for each direction.
    turns: [Vec<Complex64>; 3],
}

impl<'a> Phases<'a> {
    pub fn new(dims: Dims, origin: [usize; NDIM], momenta: &'a Momenta) -> Self {
        let turn = |k: usize| {
            let part = |j: usize| Complex64::from_polar(1.0, TAU * j as f64 / dims[k] as f64);
            (0..dims[k]).map(part).collect()
        };
        Self { dims, origin, momenta, turns: std::array::from_fn(turn) }
    }

    /// Returns how many momenta there are.
    pub fn count(&self) -> usize {
        self.momenta.0.len()
    }

    /// Returns the phase of a momentum at a site; of several momenta the mean.
    ///
    /// `site` is the number of the site within its time slice.
    pub fn at_site(&self, momentum: usize, site: usize) -> Complex64 {
        let [x, y, z, _] = self.dims.coordinates(site);
        let members = &self.momenta.0[momentum].members;
        members.iter().map(|n| self.of(n, [x, y, z])).sum::<Complex64>() / members.len() as f64
    }

    /// Returns the phase of one momentum at a point of space.
    fn of(&self, momentum: &Momentum, at: [usize; 3]) -> Complex64 {
        let part = |k: usize| {
            let turns = i64::from(momentum[k]) * (at[k] as i64 - self.origin[k] as i64);
            self.turns[k][turns.rem_euclid(self.dims[k] as i64) as usize]
        };
        part(0) * part(1) * part(2)
    }

    /// Sums `numbers` of each site over time slices, counted from the origin.
    ///
    /// `of_site` writes the numbers of a site. The order of sums does not depend on threads. Each
    /// direction is transformed by itself, so that the cost grows with the momenta of one direction.
    pub fn project(&self, numbers: usize, of_site: impl Fn(usize, &mut [Complex64]) + Sync) -> Slices {
        let dims = self.dims;
        let mut slices = Slices::zero(dims[3], self.count(), numbers);
        let [along_x, along_y] = [0, 1].map(|k| self.direction(k));
        let plane = |t: usize, z: usize| {
            let mut row = vec![Complex64::default(); dims[0] * numbers];
            // [n_x][y][number]
            let mut rows = vec![Complex64::default(); along_x.wanted.len() * dims[1] * numbers];
            let mut of_row = vec![Complex64::default(); along_x.wanted.len() * numbers];
            for y in 0..dims[1] {
                for (x, values) in row.chunks_mut(numbers).enumerate() {
                    of_site(dims.site([x, y, z, t]), values);
                }
                along_x.transform(&row, numbers, &mut of_row);
                for (n, sums) in of_row.chunks(numbers).enumerate() {
                    rows[(n * dims[1] + y) * numbers..][..numbers].copy_from_slice(sums);
                }
            }
            // [n_x][n_y][number]
            let mut modes = vec![Complex64::default(); along_x.wanted.len() * along_y.wanted.len() * numbers];
            let columns = rows.chunks(dims[1] * numbers);
            for (column, modes) in columns.zip(modes.chunks_mut(along_y.wanted.len() * numbers)) {
                along_y.transform(column, numbers, modes);
            }
            let mut sums = vec![Complex64::default(); self.count() * numbers];
            for (mean, sums) in self.momenta.0.iter().zip(sums.chunks_mut(numbers)) {
                for momentum in &mean.members {
                    let place =
                        along_x.place(momentum[0]) * along_y.wanted.len() + along_y.place(momentum[1]);
                    let phase = self.of(momentum, [0, 0, z]) / mean.members.len() as f64;
                    let modes = &modes[place * numbers..][..numbers];
                    sums.iter_mut().zip(modes).for_each(|(sum, mode)| *sum += phase * mode);
                }
            }
            sums
        };
        for distance in 0..dims[3] {
            let t = (self.origin[3] + distance) % dims[3];
            let planes: Vec<Vec<Complex64>> = (0..dims[2]).into_par_iter().map(|z| plane(t, z)).collect();
            let sums = slices.slice_mut(distance);
            for plane in planes {
                sums.iter_mut().zip(plane).for_each(|(sum, part)| *sum += part);
            }
        }
        slices
    }

    /// Prepares the transform along a direction, for the momenta that occur.
    fn direction(&self, k: usize) -> DirectionTransform<'_> {
        let all = self.momenta.0.iter().flat_map(|mean| &mean.members);
        let mut wanted: Vec<usize> =
            all.map(|momentum| momentum[k].rem_euclid(self.dims[k] as i32) as usize).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let line = (wanted.len() > MOST_SUMS).then(|| Line::new(self.dims[k]));
        DirectionTransform { turns: &self.turns[k], wanted, line }
    }
}

/// Transforms with e^{2πi nj/L} along one direction.
struct DirectionTransform<'a> {
    turns: &'a [Complex64],
    /// The n that are wanted, from 0 to L − 1.
    wanted: Vec<usize>,
    /// The fast transform, if many are wanted.
    line: Option<Line>,
}

impl DirectionTransform<'_> {
    /// Returns where a momentum's n stands among the wanted ones.
    fn place(&self, n: i32) -> usize {
        let n = n.rem_euclid(self.turns.len() as i32) as usize;
        self.wanted.iter().position(|&wanted| wanted == n).expect("all momenta are wanted")
    }

    /// Transforms `values` `[j][number]` into `modes` `[wanted n][number]`.
    fn transform(&self, values: &[Complex64], numbers: usize, modes: &mut [Complex64]) {
        let extent = self.turns.len();
        if let Some(line) = &self.line {
            let mut one = vec![Complex64::default(); extent];
            for number in 0..numbers {
                one.iter_mut()
                    .zip(values[number..].iter().step_by(numbers))
                    .for_each(|(to, from)| *to = *from);
                line.inverse(&mut one);
                for (place, &n) in self.wanted.iter().enumerate() {
                    modes[place * numbers + number] = one[n];
                }
            }
            return;
        }
        for (&n, modes) in self.wanted.iter().zip(modes.chunks_mut(numbers)) {
            modes.fill(Complex64::default());
            for (j, values) in values.chunks(numbers).enumerate() {
                let turn = self.turns[n * j % extent];
                modes.iter_mut().zip(values).for_each(|(mode, value)| *mode += turn * value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn momenta_are_listed_once_and_small_ones_first() {
        let dims = Dims::new([4, 4, 6, 2]).unwrap();
        let momenta = momenta_up_to(2, dims).unwrap();
        assert_eq!(momenta.len(), 1 + 6 + 12);
        assert_eq!(momenta[..3], [[0, 0, 0], [1, 0, 0], [0, 1, 0]]);
        assert_eq!(representative([0, -1, 2], dims), [1, 0, 2]);
        assert_eq!(representative([-1, -2, 1], dims), [2, 1, 1]);
        let averaged = Momenta::each(momenta).averaged(dims);
        assert_eq!(averaged.names(), [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1]]);
        assert_eq!(momenta_up_to(8, dims).unwrap().len(), 93);
        let error = momenta_up_to(9, dims).unwrap_err().to_string();
        assert!(error.contains("n_x goes to 3") && error.contains("n² up to 8"), "{error}");
    }

    #[test]
    fn transforms_by_directions_are_sums_with_phases() {
        // The long direction has more momenta than are summed by definition.
        let dims = Dims::new([64, 2, 4, 2]).unwrap();
        let origin = [5, 1, 1, 1];
        let all = (-31..=32).flat_map(|x| [[x, 0, 0], [x, -1, 2], [x, 1, -1]]);
        let averaged = Momenta::each(momenta_up_to(1, dims).unwrap()).averaged(dims);
        for momenta in [Momenta::each(all), averaged] {
            let phases = Phases::new(dims, origin, &momenta);
            let number = |site: usize, k: usize| {
                Complex64::from_polar(1.0 + (site % 7) as f64, (site * (k + 3)) as f64)
            };
            let slices = phases.project(2, |site, numbers| {
                numbers.iter_mut().enumerate().for_each(|(k, to)| *to = number(site, k));
            });
            let of_slice = dims.volume() / dims[3];
            for (distance, momentum) in (0..2).flat_map(|t| (0..phases.count()).map(move |p| (t, p))) {
                let first = (origin[3] + distance) % 2 * of_slice;
                for k in 0..2 {
                    let terms =
                        (0..of_slice).map(|site| phases.at_site(momentum, site) * number(first + site, k));
                    let (wanted, found) = (terms.sum::<Complex64>(), slices.of(distance, momentum)[k]);
                    assert!((wanted - found).norm() < 1e-10, "{distance} {momentum}: {found} {wanted}");
                }
            }
        }
    }

    #[test]
    fn a_plane_wave_has_its_momentum_alone() {
        let dims = Dims::new([4, 2, 6, 2]).unwrap();
        let (momenta, origin) = ([[0, 0, 0], [1, 0, 0], [-1, 1, 2]], [3, 1, 2, 1]);
        let each = Momenta::each(momenta);
        let phases = Phases::new(dims, origin, &each);
        for (k, momentum) in momenta.iter().enumerate() {
            let slices = phases.project(2, |site, numbers| {
                let at = dims.coordinates(site);
                let turns: f64 = (0..3)
                    .map(|k| f64::from(momentum[k]) * (at[k] as f64 - origin[k] as f64) / dims[k] as f64)
                    .sum();
                numbers[0] = Complex64::from_polar((1 + at[3]) as f64, -TAU * turns);
                numbers[1] = (at[3] as f64).into();
            });
            for other in 0..momenta.len() {
                for distance in 0..2 {
                    let t = (1 + distance) % 2;
                    let [found, ones] = slices.of(distance, other).try_into().unwrap();
                    let expected = if other == k { 48.0 * (1 + t) as f64 } else { 0.0 };
                    assert!((found - expected).norm() < 1e-12, "{found}, {expected}");
                    let expected = if other == 0 { 48.0 * t as f64 } else { 0.0 };
                    assert!((ones - expected).norm() < 1e-12, "{ones}, {expected}");
                }
            }
        }
    }
}
