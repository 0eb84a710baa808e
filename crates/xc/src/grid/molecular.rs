//! Grids of molecules: radial points times a rule for angles around each atom, in cells of Becke.

use super::elements::element;
use super::{Grid, lebedev};
use crate::basis::Atom;
use crate::error::{XcError, XcResult};
use lattice_compute::parallel::*;
use lattice_compute::{Device, DeviceKind, Team};
use std::cmp::Ordering;
use std::f64::consts::{LN_2, PI};

/// Most radial points: more are of no use in double.
const MOST_RADIAL: usize = 1000;

/// Returns distances and weights, with 4πr², of the radial map M4 (Treutler and Ahlrichs 1995).
///
/// With x_i = cos θ_i, θ_i = iπ/(n+1): r = −(ξ/ln 2) (1+x)^0.6 ln((1−x)/2). 1 ± x come from half the
/// angle, so that they keep their digits.
fn radial(scale: f64, points: usize) -> Vec<(f64, f64)> {
    let step = PI / (points + 1) as f64;
    let of = |i: usize| {
        let angle = step * i as f64;
        let (below, above) = (2.0 * (0.5 * angle).sin().powi(2), 2.0 * (0.5 * angle).cos().powi(2));
        let front = scale / LN_2 * above.powf(0.6);
        let r = -front * (0.5 * below).ln();
        let slope = front * (-0.6 / above * (0.5 * below).ln() + 1.0 / below);
        (r, 4.0 * PI * r * r * step * angle.sin() * slope)
    };
    (1..=points).map(of).collect()
}

/// Points around atoms, as many around each, with weights that know nothing of other atoms.
pub(super) struct Balls {
    pub(super) points: Vec<[f64; 3]>,
    pub(super) weights: Vec<f64>,
}

/// The cells of Becke (J. Chem. Phys. 88 (1988) 2547) with sizes of atoms.
pub(super) struct Cells {
    pub(super) positions: Vec<[f64; 3]>,
    /// 1/R_ij and a_ij for each pair i > j, i after i.
    pairs: Vec<(f64, f64)>,
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

impl Cells {
    fn new(atoms: &[Atom], radii: &[f64]) -> Self {
        let pair = |i: usize, j: usize| {
            let ratio = (radii[j] / radii[i]).sqrt();
            let size = (0.25 * (ratio - 1.0 / ratio)).clamp(-0.5, 0.5);
            (1.0 / distance(atoms[i].position, atoms[j].position), size)
        };
        Self {
            positions: atoms.iter().map(|atom| atom.position).collect(),
            pairs: (0..atoms.len()).flat_map(|i| (0..i).map(move |j| pair(i, j))).collect(),
        }
    }

    /// Returns 1/R_ij and a_ij, which is −a_ji; zeros for an atom and itself.
    pub(super) fn pair(&self, i: usize, j: usize) -> [f64; 2] {
        let of = |i: usize, j: usize| self.pairs[i * (i - 1) / 2 + j];
        match i.cmp(&j) {
            Ordering::Equal => [0.0; 2],
            Ordering::Greater => of(i, j).into(),
            Ordering::Less => {
                let (inverse, size) = of(j, i);
                [inverse, -size]
            }
        }
    }

    /// Multiplies the weight of each point by the part of the point that belongs to its atom.
    fn cut(&self, balls: &mut Balls) {
        let each = balls.points.len() / self.positions.len();
        let all = balls.weights.par_iter_mut().zip(&balls.points).enumerate();
        all.for_each_init(Default::default, |(parts, distances), (number, (weight, &point))| {
            *weight *= self.share(number / each, point, parts, distances);
        });
    }

    /// Returns the part of a point that belongs to an atom.
    ///
    /// It is w = Π_j s_ij / Σ, with s = (1 − p)/2, p(ν) = ν(3 − ν²)/2 three times, ν = μ + a(1 − μ²), and
    /// μ = (r_i − r_j)/R_ij. As p is odd, s_ji = 1 − s_ij.
    fn share(&self, atom: usize, point: [f64; 3], parts: &mut Vec<f64>, distances: &mut Vec<f64>) -> f64 {
        parts.clear();
        parts.resize(self.positions.len(), 1.0);
        distances.clear();
        distances.extend(self.positions.iter().map(|&position| distance(position, point)));
        let mut pairs = self.pairs.iter();
        for i in 0..self.positions.len() {
            for j in 0..i {
                let (inverse, size) = pairs.next().expect("each pair has its numbers");
                let mu = (distances[i] - distances[j]) * inverse;
                let mut nu = mu + size * (1.0 - mu * mu);
                for _ in 0..3 {
                    nu *= 0.5 * (3.0 - nu * nu);
                }
                parts[i] *= 0.5 * (1.0 - nu);
                parts[j] *= 0.5 * (1.0 + nu);
            }
        }
        parts[atom] / parts.iter().sum::<f64>()
    }
}

impl Grid {
    /// Makes a grid of `radial` times `angular` points around each atom that has a nucleus.
    ///
    /// # Errors
    /// [`XcError::Angular`] for a number of angular points without a rule; [`XcError::Option`] for no
    /// radial points or more than 1000; [`XcError::Element`] for an atom without a known radius;
    /// [`XcError::SamePlace`] for two atoms in one place.
    pub fn molecular(atoms: &[Atom], radial_points: usize, angular_points: usize) -> XcResult<Self> {
        Self::molecular_on(&Team::host(), atoms, radial_points, angular_points)
    }

    /// Makes the same grid on the first GPU of a team that has double precision.
    ///
    /// Weights differ from those of the host by rounding. Without such a device the host makes them.
    ///
    /// # Errors
    /// The errors of [`molecular`](Self::molecular); too little memory; a failure of the device.
    pub fn molecular_on(
        team: &Team,
        atoms: &[Atom],
        radial_points: usize,
        angular_points: usize,
    ) -> XcResult<Self> {
        if !(1..=MOST_RADIAL).contains(&radial_points) {
            let wanted = "give a number from 1 to 1000";
            return Err(XcError::Option {
                option: "the number of radial points",
                value: radial_points as f64,
                wanted,
            });
        }
        let rule = lebedev::rule(angular_points)
            .ok_or_else(|| XcError::Angular { found: angular_points, known: lebedev::known() })?;
        let known = |&number: &usize| {
            let charge = atoms[number].charge;
            element(charge).ok_or(XcError::Element { atom: number, charge })
        };
        let all = || 0..atoms.len();
        // Where there is no nucleus, functions are smooth: the points of the others suffice.
        let mut numbers: Vec<usize> = all().filter(|&number| atoms[number].charge > 0).collect();
        if numbers.is_empty() {
            numbers = all().collect();
        }
        let elements: Vec<(f64, f64)> = numbers.iter().map(known).collect::<XcResult<_>>()?;
        for (k, &i) in numbers.iter().enumerate() {
            let is_at = |&&j: &&usize| distance(atoms[i].position, atoms[j].position) < 1e-6;
            if let Some(&j) = numbers[..k].iter().find(is_at) {
                return Err(XcError::SamePlace { atoms: [j, i] });
            }
        }
        let atoms: Vec<Atom> = numbers.into_iter().map(|number| atoms[number]).collect();
        let radii: Vec<f64> = elements.iter().map(|(radius, _)| *radius).collect();
        let cells = Cells::new(&atoms, &radii);
        let shells: Vec<(usize, (f64, f64))> = elements
            .iter()
            .enumerate()
            .flat_map(|(atom, &(_, scale))| {
                radial(scale, radial_points).into_iter().map(move |shell| (atom, shell))
            })
            .collect();
        let made: Vec<([f64; 3], f64)> = shells
            .par_iter()
            .flat_map_iter(|&(atom, (r, weight))| {
                let centre = atoms[atom].position;
                rule.iter().map(move |&(angular, direction)| {
                    (std::array::from_fn(|k| centre[k] + r * direction[k]), weight * angular)
                })
            })
            .collect();
        let (points, weights) = made.into_iter().unzip();
        let mut balls = Balls { points, weights };
        let is_able = |device: &&Device| device.info().kind == DeviceKind::Gpu && device.info().fp64;
        match team.devices().iter().find(is_able) {
            Some(device) => cells.cut_on(device, &mut balls)?,
            None => cells.cut(&mut balls),
        }
        Self::new(balls.points, balls.weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radial_points_integrate_gaussians() {
        for scale in [0.8, 1.1, 1.8] {
            let sum: f64 = radial(scale, 60).iter().map(|(r, weight)| weight * (-r * r).exp()).sum();
            assert!((sum / PI.powf(1.5) - 1.0).abs() < 1e-10, "{scale}: {sum}");
        }
    }

    #[test]
    fn cells_share_each_point() {
        let at = |charge, x| Atom { charge, position: [x, 0.1 * x * x, -0.3 * x] };
        let atoms = [at(1, 0.0), at(8, 1.7), at(6, -2.1), at(1, 4.0)];
        let cells = Cells::new(&atoms, &[0.35, 0.6, 0.7, 0.35]);
        let (mut parts, mut distances) = (Vec::new(), Vec::new());
        for point in [[0.3, 0.2, 0.1], [5.0, -1.0, 2.0], [1.7, 0.289, -0.51]] {
            let shares = (0..4).map(|atom| cells.share(atom, point, &mut parts, &mut distances));
            assert!((shares.sum::<f64>() - 1.0).abs() < 1e-14);
        }
        assert!(cells.share(1, atoms[1].position, &mut parts, &mut distances) > 0.999_999);
    }
}
