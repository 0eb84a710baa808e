//! The lattice field strength from four-leaf clovers.

use super::configuration::GaugeConfiguration;
use super::link_field::LinkField;
use super::matrix3::Matrix3;
use crate::geometry::{Dims, NDIM, PLANES};
use crate::scalar::Real;
use num_complex::Complex;

/// F_μν(x) in the planes [`PLANES`]: anti-Hermitian matrices, with their traces.
///
/// F_μν = (Q_μν − Q_μν†)/8, where Q_μν is the sum of the four plaquettes that begin and end at x and turn from μ to ν
/// (B. Sheikholeslami and R. Wohlert, Nucl. Phys. B 259 (1985) 572). Signs of a boundary cancel in each plaquette.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldStrength(pub [Matrix3<f64>; 6]);

/// Links that a field strength can be made of.
pub trait LinksOfSites: Sync {
    /// The extents of the lattice.
    fn dims(&self) -> Dims;
    /// The link that leaves `site` in direction `mu`.
    fn link(&self, site: usize, mu: usize) -> Matrix3<f64>;
}

impl LinksOfSites for GaugeConfiguration {
    fn dims(&self) -> Dims {
        self.dims()
    }

    fn link(&self, site: usize, mu: usize) -> Matrix3<f64> {
        self.link(site, mu)
    }
}

impl<T: Real> LinksOfSites for LinkField<T> {
    fn dims(&self) -> Dims {
        self.dims()
    }

    fn link(&self, site: usize, mu: usize) -> Matrix3<f64> {
        self.link(site, mu).cast()
    }
}

impl FieldStrength {
    /// The field strength at a site.
    pub fn at(links: &impl LinksOfSites, site: usize) -> Self {
        Self(PLANES.map(|(mu, nu)| {
            let q = clover_leaves(links, site, mu, nu);
            Matrix3::from_fn(|i, j| (q.0[i][j] - q.0[j][i].conj()) * 0.125)
        }))
    }

    /// Without the traces.
    pub fn traceless(&self) -> Self {
        Self(self.0.map(|f| {
            let third = f.trace() / 3.0;
            Matrix3::from_fn(|i, j| if i == j { f.0[i][j] - third } else { f.0[i][j] })
        }))
    }

    /// −Σ tr F², summed over the planes: ¼ G^a G^a of a traceless field strength.
    pub fn energy(&self) -> f64 {
        -self.0.iter().map(|f| trace_of_product(f, f).re).sum::<f64>()
    }

    /// −tr(F_12 F_34 − F_13 F_24 + F_14 F_23)/(4π²): the density of the topological charge, for a traceless field strength.
    pub fn charge_density(&self) -> f64 {
        let [xy, xz, xt, yz, yt, zt] = &self.0;
        let sum = trace_of_product(xy, zt) - trace_of_product(xz, yt) + trace_of_product(xt, yz);
        -sum.re / (4.0 * std::f64::consts::PI.powi(2))
    }
}

fn trace_of_product(a: &Matrix3<f64>, b: &Matrix3<f64>) -> Complex<f64> {
    (0..9).map(|k| a.0[k / 3][k % 3] * b.0[k % 3][k / 3]).sum()
}

/// The four plaquettes (μ, ν), (ν, −μ), (−μ, −ν) and (−ν, μ) that begin and end at the site.
fn clover_leaves(links: &impl LinksOfSites, x: usize, mu: usize, nu: usize) -> Matrix3<f64> {
    debug_assert!(mu < nu && nu < NDIM);
    let dims = links.dims();
    let u = |site, direction| links.link(site, direction);
    let back = |site, direction| links.link(site, direction).adjoint();
    let (up, right) = (dims.forward(x, nu), dims.forward(x, mu));
    let (down, left) = (dims.backward(x, nu), dims.backward(x, mu));
    let (left_up, left_down) = (dims.forward(left, nu), dims.backward(left, nu));
    let down_right = dims.forward(down, mu);
    u(x, mu) * u(right, nu) * back(up, mu) * back(x, nu)
        + u(x, nu) * back(left_up, mu) * back(left, nu) * u(left, mu)
        + back(left, mu) * back(left_down, nu) * u(left_down, mu) * u(down, nu)
        + back(down, nu) * u(down, mu) * u(down_right, nu) * back(x, mu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Boundary;
    use crate::host::random::weak;

    #[test]
    fn signs_of_the_boundary_cancel_and_matrices_are_anti_hermitian() {
        let configuration = weak(Dims::new([2, 4, 2, 6]).unwrap(), 0.4, 3);
        let signed = LinkField::<f64>::new(&configuration, Boundary::from_signs([-1, 1, -1, -1]).unwrap());
        for site in 0..configuration.dims().volume() {
            let f = FieldStrength::at(&configuration, site);
            assert_eq!(f, FieldStrength::at(&signed, site));
            for plane in &f.0 {
                assert_eq!(plane.adjoint(), plane.scale(-1.0));
            }
            assert!(f.traceless().0.iter().all(|plane| plane.trace().norm() < 1e-15));
            assert!(f.traceless().energy() > 0.0);
        }
    }
}
