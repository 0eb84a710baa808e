//! Momenta of hadrons, and sums over time slices with their phases.

use crate::geometry::{Dims, NDIM};
use num_complex::Complex64;
use rayon::prelude::*;
use std::f64::consts::TAU;

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

    /// Returns one number of a momentum at all distances.
    pub fn number(&self, momentum: usize, number: usize) -> Vec<Complex64> {
        let distances = self.values.len() / (self.momenta * self.numbers);
        (0..distances).map(|distance| self.of(distance, momentum)[number]).collect()
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
    pub fn at(&self, momentum: usize, at: [usize; NDIM]) -> Complex64 {
        let members = &self.momenta.0[momentum].members;
        let of = |momentum: &Momentum, k: usize| {
            let turns = i64::from(momentum[k]) * (at[k] as i64 - self.origin[k] as i64);
            self.turns[k][turns.rem_euclid(self.dims[k] as i64) as usize]
        };
        let sum: Complex64 = members.iter().map(|n| of(n, 0) * of(n, 1) * of(n, 2)).sum();
        sum / members.len() as f64
    }

    /// Returns the phase of a momentum at a site of a time slice, by its number there.
    pub fn at_site(&self, momentum: usize, site: usize) -> Complex64 {
        self.at(momentum, self.dims.coordinates(site))
    }

    /// Sums `numbers` of each site over time slices, counted from the origin.
    ///
    /// `of_site` writes the numbers of a site. The order of sums does not depend on threads.
    pub fn project(&self, numbers: usize, of_site: impl Fn(usize, &mut [Complex64]) + Sync) -> Slices {
        let dims = self.dims;
        let mut slices = Slices::zero(dims[3], self.count(), numbers);
        let plane = |t: usize, z: usize| {
            let mut sums = vec![Complex64::default(); self.count() * numbers];
            let mut values = vec![Complex64::default(); numbers];
            let sites = (0..dims[1]).flat_map(|y| (0..dims[0]).map(move |x| [x, y, z, t]));
            for at in sites {
                of_site(dims.site(at), &mut values);
                for (momentum, sums) in sums.chunks_mut(numbers).enumerate() {
                    let phase = self.at(momentum, at);
                    sums.iter_mut().zip(&values).for_each(|(sum, value)| *sum += phase * value);
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
