//! The factor K(G) between a component of the density and one of the potential.

use super::cell::{Cell, dot};
use super::sums::{TENSOR_AXES, Tensor};
use lattice_linalg::fft::fast_length;
use std::f64::consts::PI;

/// Which components of a periodic density are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cutoff {
    /// All of them.
    #[default]
    None,
    /// Those within the largest sphere in the mesh's own Brillouin zone, as in SIESTA.
    Sphere,
}

lattice_files::words! {
    Cutoff, "cutoff":
    None = "none", "All that the mesh has";
    Sphere = "sphere", "Those in the largest sphere within the mesh's own Brillouin zone, as in SIESTA"
}

/// K(G) = 4π/G² on the components of a mesh, and 0 for G = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Coulomb {
    pub shape: [usize; 3],
    /// b₁, b₂, b₃.
    pub reciprocal: [[f64; 3]; 3],
    /// |G|² from which on components are dropped; infinite without a cutoff.
    pub g2max: f64,
}

impl Coulomb {
    pub fn new(cell: &Cell, shape: [usize; 3], cutoff: Cutoff) -> Self {
        let reciprocal = cell.reciprocal();
        let g2max = match cutoff {
            Cutoff::None => f64::INFINITY,
            Cutoff::Sphere => sphere(&reciprocal, shape),
        };
        Self { shape, reciprocal, g2max }
    }

    /// Returns mean K and mean K G_a G_b/G² of component `k`.
    ///
    /// An index n/2 of an even axis is both +n/2 and −n/2, and |G| differs between the two in a skew
    /// cell. So the mean is taken over two vectors that differ by the signs of all such indices.
    pub fn mean(&self, k: [usize; 3]) -> (f64, Tensor) {
        let at_edge: [bool; 3] = std::array::from_fn(|axis| 2 * k[axis] == self.shape[axis]);
        let index = |sign: f64| -> [f64; 3] {
            std::array::from_fn(|axis| match k[axis] {
                k if at_edge[axis] => sign * k as f64,
                k if 2 * k < self.shape[axis] => k as f64,
                k => k as f64 - self.shape[axis] as f64,
            })
        };
        let one = self.of(index(1.0));
        if !at_edge.contains(&true) {
            return one;
        }
        let other = self.of(index(-1.0));
        (0.5 * (one.0 + other.0), std::array::from_fn(|i| 0.5 * (one.1[i] + other.1[i])))
    }

    /// Returns K and K G_a G_b/G² of G = Σ m_i b_i.
    fn of(&self, m: [f64; 3]) -> (f64, Tensor) {
        let b = &self.reciprocal;
        let g: [f64; 3] = std::array::from_fn(|a| m[0] * b[0][a] + m[1] * b[1][a] + m[2] * b[2][a]);
        let g2 = dot(g, g);
        if g2 == 0.0 || g2 >= self.g2max {
            return (0.0, [0.0; 6]);
        }
        let factor = 4.0 * PI / g2;
        (factor, TENSOR_AXES.map(|[a, b]| factor * g[a] * g[b] / g2))
    }
}

/// Returns ¼ min |J₁n₁b₁ + J₂n₂b₂ + J₃n₃b₃|² over whole J ≠ 0 from −2 to 2.
fn sphere(reciprocal: &[[f64; 3]; 3], shape: [usize; 3]) -> f64 {
    let mut least = f64::INFINITY;
    for number in 0..125 {
        let j = [number / 25, number / 5 % 5, number % 5].map(|digit| digit as f64 - 2.0);
        if j != [0.0; 3] {
            let g: [f64; 3] = std::array::from_fn(|a| {
                (0..3).map(|axis| j[axis] * shape[axis] as f64 * reciprocal[axis][a]).sum()
            });
            least = least.min(dot(g, g));
        }
    }
    0.25 * least
}

/// The meshes of an isolated density.
///
/// The potential of a point charge, cut off at the cell's diagonal R, is exact within the cell. Its
/// transform is K(G) = 4π(1 − cos R|G|)/G² with K(0) = 2πR² (Vico, Greengard and Ferrando, J. Comput.
/// Phys. 323 (2016) 191). A mesh long enough for cell and cut-off gives it in real space. There it is
/// cut to twice the cell, which is the mesh that densities are convolved on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Isolated {
    /// Mesh of the density.
    pub shape: [usize; 3],
    /// Mesh that the kernel is made on.
    pub long: [usize; 3],
    /// Mesh of convolutions: twice the density's.
    pub double: [usize; 3],
    /// 2π/length of the long mesh along each axis.
    pub steps: [f64; 3],
    /// R.
    pub radius: f64,
}

impl Isolated {
    /// Returns the meshes for a cell at right angles.
    pub fn new(cell: &Cell, shape: [usize; 3]) -> Self {
        let sides = cell.sides();
        let radius = dot(sides, sides).sqrt();
        let long: [usize; 3] = std::array::from_fn(|axis| {
            let points = shape[axis] as f64 * (1.0 + radius / sides[axis]);
            fast_length((points.ceil() as usize + 1).max(2 * shape[axis]))
        });
        let steps =
            std::array::from_fn(|axis| 2.0 * PI * shape[axis] as f64 / (sides[axis] * long[axis] as f64));
        Self { shape, long, double: shape.map(|n| 2 * n), steps, radius }
    }

    /// Returns K(G) of component `k` of the long mesh.
    ///
    /// 1 − cos is taken as a square of a sine, which keeps its digits.
    #[allow(clippy::wrong_self_convention)]
    pub fn of(&self, k: [usize; 3]) -> f64 {
        let g2: f64 = (0..3)
            .map(|axis| {
                let index = k[axis].min(self.long[axis] - k[axis]) as f64;
                (index * self.steps[axis]).powi(2)
            })
            .sum();
        if g2 == 0.0 {
            return 2.0 * PI * self.radius.powi(2);
        }
        8.0 * PI * (0.5 * self.radius * g2.sqrt()).sin().powi(2) / g2
    }

    /// Returns where a point of the double mesh lies on the long one; the upper half is negative.
    pub fn cut(&self, axis: usize, index: usize) -> usize {
        if index < self.shape[axis] { index } else { self.long[axis] + index - self.double[axis] }
    }

    /// Returns the factor of the kernel's transform that makes hartree of unscaled transforms.
    pub fn factor(&self) -> f64 {
        let points = |shape: [usize; 3]| shape.iter().map(|&n| n as f64).product::<f64>();
        1.0 / (points(self.long) * points(self.double))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_of_a_skew_mesh_is_a_mean() {
        let cell = Cell::new([[5.0, 0.0, 0.0], [0.7, 4.5, 0.0], [-0.5, 0.4, 5.5]]).unwrap();
        let coulomb = Coulomb::new(&cell, [4, 6, 5], Cutoff::None);
        let [one, other] = [coulomb.of([2.0, 1.0, -1.0]).0, coulomb.of([-2.0, 1.0, -1.0]).0];
        assert!((one - other).abs() > 1e-3);
        assert_eq!(coulomb.mean([2, 1, 4]).0, 0.5 * (one + other));
        assert_eq!(coulomb.mean([0, 0, 0]), (0.0, [0.0; 6]));
        // The mean of K belongs to a real kernel: component and conjugate have one value.
        for k in [[2, 1, 4], [2, 3, 1], [1, 3, 2], [2, 3, 0]] {
            let back = std::array::from_fn(|axis| (coulomb.shape[axis] - k[axis]) % coulomb.shape[axis]);
            let (k, back) = (coulomb.mean(k), coulomb.mean(back));
            assert!((k.0 - back.0).abs() < 1e-15 && (0..6).all(|i| (k.1[i] - back.1[i]).abs() < 1e-15));
        }
    }

    #[test]
    fn the_sphere_touches_the_zone() {
        let cell = Cell::new([[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 8.0]]).unwrap();
        let coulomb = Coulomb::new(&cell, [8, 8, 8], Cutoff::Sphere);
        assert!((coulomb.g2max - PI.powi(2)).abs() < 1e-13);
    }
}
