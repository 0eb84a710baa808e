//! The projection to SU(3), of a matrix and of all links of a configuration.

use super::configuration::{GaugeConfiguration, Links};
use super::matrix3::Matrix3;
use super::search::first_index;
use crate::compute::parallel::*;
use crate::compute::reserve;
use crate::geometry::{Dims, NDIM};
use lattice_files::text::tuple;
use lattice_solvers::range::larger;
use num_complex::Complex64;

/// Newton steps to the unitary factor; each doubles the number of right digits.
const MOST_STEPS: usize = 60;

/// Sweeps over the SU(2) subgroups at most.
const MOST_SWEEPS: usize = 200;

/// A configuration cannot be projected to SU(3).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProjectionError {
    /// A link has no nearest element.
    #[error(
        "the link at (x, y, z, t) = {} in direction {direction} is singular or not finite; no element of SU(3) is nearest to it",
        tuple(site)
    )]
    Singular {
        /// The coordinates x, y, z, t of the link.
        site: [usize; NDIM],
        /// The name of the link's direction.
        direction: char,
    },
    /// There is not enough memory.
    #[error("the links take {bytes} bytes in double precision, which this machine does not have")]
    OutOfMemory {
        /// The bytes wanted.
        bytes: usize,
    },
}

impl GaugeConfiguration {
    /// Replaces each link by the nearest one in SU(3), in double precision.
    ///
    /// Beside the configuration comes the largest |entry| of a change.
    ///
    /// # Errors
    /// When a link is singular or not finite, and without memory for the links.
    pub fn reunitarised(&self) -> Result<(Self, f64), ProjectionError> {
        let count = NDIM * self.dims().volume();
        let mut links = Vec::new();
        reserve(&mut links, count)
            .map_err(|_| ProjectionError::OutOfMemory { bytes: count * size_of::<Matrix3<f64>>() })?;
        let link = |index: usize| self.link(index / NDIM, index % NDIM);
        (0..count)
            .into_par_iter()
            .map(|index| link(index).nearest_special_unitary().unwrap_or_default())
            .collect_into_vec(&mut links);
        // Zero stands for a missing element.
        if let Some(index) = first_index(&links, |link| *link == Matrix3::zero()) {
            let site = self.dims().coordinates(index / NDIM);
            let direction = Dims::direction_name(index % NDIM);
            return Err(ProjectionError::Singular { site, direction });
        }
        let change = |index: usize| links[index].max_difference(&link(index));
        let largest = (0..count).into_par_iter().map(change).reduce(|| 0.0, larger);
        Ok((Self::new(self.dims(), Links::Double(links)), largest))
    }
}

impl Matrix3<f64> {
    /// Returns the element V of SU(3) nearest to this matrix A.
    ///
    /// It has the largest Re tr(V A†), so the least ‖V − A‖. `None` for matrices that are singular
    /// or not finite.
    ///
    /// The start is the unitary factor W of A = W P (Newton's iteration, N. J. Higham, SIAM J. Sci.
    /// Stat. Comput. 7, 1160 (1986)) without the phase of its determinant. Sweeps over the SU(2)
    /// subgroups (N. Cabibbo and E. Marinari, Phys. Lett. B 119, 387 (1982)) then go to the
    /// maximum.
    pub fn nearest_special_unitary(&self) -> Option<Self> {
        let mut nearest = self.special_unitary_factor()?;
        // X = V A†, which turns as V does.
        let mut x = nearest * self.adjoint();
        for _ in 0..MOST_SWEEPS {
            let before = nearest;
            for (i, j) in [(0, 1), (0, 2), (1, 2)] {
                let Some(rotation) = x.rotation_to_largest_trace(i, j) else { continue };
                nearest.turn(rotation, i, j);
                x.turn(rotation, i, j);
            }
            if nearest.max_difference(&before) < 1e-15 {
                break;
            }
        }
        // Reunitarising removes the rounding errors of the constraint.
        Some(nearest.reunitarised())
    }

    /// Returns the unitary factor W = A (A†A)^(−1/2), divided by det(W)^(1/3).
    ///
    /// A is this matrix, and the root has the least angle. The result is in SU(3), but not nearest
    /// to A. `None` for matrices that are singular or not finite.
    pub fn special_unitary_factor(&self) -> Option<Self> {
        let unitary = self.unitary_factor()?;
        let phase = Complex64::from_polar(1.0, -unitary.determinant().arg() / 3.0);
        Some(Self::from_fn(|i, j| unitary.0[i][j] * phase))
    }

    /// Returns W of A = W P, with P Hermitian and positive.
    fn unitary_factor(&self) -> Option<Self> {
        let mut w = *self;
        for _ in 0..MOST_STEPS {
            let inverse = w.inverse()?.adjoint();
            // The factor brings singular values closer to 1, for fewer steps.
            let norm = |m: &Self| m.0.iter().flatten().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
            let factor = (norm(&inverse) / norm(&w)).sqrt();
            let next = (w.scale(factor) + inverse.scale(1.0 / factor)).scale(0.5);
            let change = next.max_difference(&w);
            if !change.is_finite() {
                return None;
            }
            w = next;
            if change < 1e-15 {
                return Some(w);
            }
        }
        (w.unitarity_deviation() < 1e-12).then_some(w)
    }

    /// Computes the inverse by cofactors; `None` if it does not exist.
    fn inverse(&self) -> Option<Self> {
        let determinant = self.determinant();
        if !(determinant.is_finite() && determinant.norm() > 0.0) {
            return None;
        }
        let m = &self.0;
        let cofactor = |i: usize, j: usize| {
            let (a, b, c, d) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
            m[a][c] * m[b][d] - m[a][d] * m[b][c]
        };
        Some(Self::from_fn(|i, j| cofactor(j, i) / determinant))
    }

    /// Returns the a and b of R in an SU(2) subgroup that make Re tr(R X) largest.
    ///
    /// The subgroup has rows i and j. X is this matrix.
    fn rotation_to_largest_trace(&self, i: usize, j: usize) -> Option<[Complex64; 2]> {
        // The part of X in the subgroup is a multiple of an element of SU(2); R is its inverse.
        let a = self.0[i][i] + self.0[j][j].conj();
        let b = self.0[i][j] - self.0[j][i].conj();
        let norm = (a.norm_sqr() + b.norm_sqr()).sqrt();
        (norm > 0.0 && norm.is_finite()).then(|| [a.conj() / norm, -b / norm])
    }

    /// Multiplies rows i and j from the left by the element (a, b; −b*, a*) of SU(2).
    fn turn(&mut self, [a, b]: [Complex64; 2], i: usize, j: usize) {
        for k in 0..3 {
            let (upper, lower) = (self.0[i][k], self.0[j][k]);
            self.0[i][k] = a * upper + b * lower;
            self.0[j][k] = a.conj() * lower - b.conj() * upper;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    fn matrix(seed: usize) -> Matrix3<f64> {
        Matrix3::from_fn(|i, j| {
            let k = (9 * seed + 3 * i + j) as f64;
            Complex::new((1.3 * k).sin(), (0.7 * k * k + 0.2).cos())
        })
    }

    fn element(seed: usize) -> Matrix3<f64> {
        matrix(seed).reunitarised()
    }

    #[test]
    fn an_element_of_su3_is_its_own_projection() {
        for seed in 0..20 {
            let u = element(seed);
            assert!(u.nearest_special_unitary().unwrap().max_difference(&u) < 1e-14);
            let scaled = u.scale(1.7);
            assert!(scaled.nearest_special_unitary().unwrap().max_difference(&u) < 1e-14);
        }
    }

    /// No step within the group leads closer, whatever its direction and length.
    #[test]
    fn no_element_nearby_is_nearer() {
        let distance = |v: &Matrix3<f64>, a: &Matrix3<f64>| {
            (*v - *a).0.iter().flatten().map(|z| z.norm_sqr()).sum::<f64>()
        };
        for seed in 0..20 {
            let a = element(seed) + matrix(seed + 50).scale(0.3);
            let v = a.nearest_special_unitary().unwrap();
            assert!(v.unitarity_deviation() < 1e-14 && (v.determinant() - 1.0).norm() < 1e-14);
            for direction in 0..30 {
                for length in [1e-1, 1e-3, 1e-5] {
                    let step = (Matrix3::identity() + matrix(direction + 100).scale(length)).reunitarised();
                    assert!(
                        distance(&(step * v), &a) > distance(&v, &a) - 1e-15,
                        "{seed} {direction} {length}"
                    );
                }
            }
        }
    }

    #[test]
    fn projecting_commutes_with_gauge_transformations() {
        for seed in 0..10 {
            let a = element(seed) + matrix(seed + 50).scale(0.2);
            let (g, h) = (element(seed + 20), element(seed + 30));
            let projected = (g * a * h).nearest_special_unitary().unwrap();
            let wanted = g * a.nearest_special_unitary().unwrap() * h;
            assert!(projected.max_difference(&wanted) < 1e-12, "{}", projected.max_difference(&wanted));
        }
    }

    #[test]
    fn links_in_single_precision_come_back_to_su3() {
        let dims = Dims::new([2, 4, 2, 6]).unwrap();
        let exact = |index: usize| element(index);
        let rounded = (0..NDIM * dims.volume()).map(|index| exact(index).cast::<f32>()).collect();
        let config = GaugeConfiguration::new(dims, Links::Single(rounded));
        let (projected, change) = config.reunitarised().unwrap();
        assert!(change > 1e-9 && change < 1e-6, "{change:e}");
        for index in 0..NDIM * dims.volume() {
            let link = projected.link(index / NDIM, index % NDIM);
            assert!(link.unitarity_deviation() < 1e-14 && (link.determinant() - 1.0).norm() < 1e-14);
            assert!(link.max_difference(&exact(index)) < 1e-6);
        }
        let (again, change) = projected.reunitarised().unwrap();
        assert!(change < 1e-14 && again.dims() == dims);

        let mut singular = config.clone();
        singular.set_link(7, 2, Matrix3::zero());
        let error = singular.reunitarised().unwrap_err();
        assert_eq!(error, ProjectionError::Singular { site: [1, 3, 0, 0], direction: 'z' });
    }

    #[test]
    fn matrices_without_a_nearest_element_have_none() {
        let mut bad = element(3);
        bad.0[1][1].im = f64::NAN;
        assert_eq!(bad.nearest_special_unitary(), None);
        assert_eq!(Matrix3::<f64>::zero().nearest_special_unitary(), None);
        let mut singular = element(3);
        singular.0[2] = singular.0[1];
        assert!(singular.nearest_special_unitary().is_none_or(|v| v.unitarity_deviation() < 1e-12));
    }
}
