//! The lattice field strength from four-leaf clovers.
//!
//! Clovers are made of plaquettes or of rectangles.

use super::configuration::GaugeConfiguration;
use super::link_field::LinkField;
use super::matrix3::Matrix3;
use super::part::LocalSites;
use crate::compute::parallel::*;
use crate::geometry::{Dims, NDIM, PLANES};
use crate::scalar::Real;
use num_complex::Complex;

/// F_μν(x) in the planes [`PLANES`]: anti-Hermitian matrices, with their traces.
///
/// F_μν = (Q_μν − Q_μν†)/8, where Q_μν is the sum of the four plaquettes that begin and end at x
/// and turn from μ to ν (B. Sheikholeslami and R. Wohlert, Nucl. Phys. B 259 (1985) 572). Signs of
/// a boundary cancel in each plaquette.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldStrength(pub [Matrix3<f64>; 6]);

/// Links that paths around the lattice can be made of.
pub trait LinksOfSites: Sync {
    /// Returns the extents of the lattice.
    fn dims(&self) -> Dims;
    /// Returns the link that leaves `site` in direction `mu`.
    fn link(&self, site: usize, mu: usize) -> Matrix3<f64>;
    /// Returns the part of the links that this process has, or `None` if it has all.
    fn part(&self) -> Option<&LocalSites> {
        None
    }
    /// Returns the site at the end of this link.
    fn forward(&self, site: usize, mu: usize) -> usize {
        self.dims().forward(site, mu)
    }
    /// Returns the site from which a link in direction `mu` leads to this one.
    fn backward(&self, site: usize, mu: usize) -> usize {
        self.dims().backward(site, mu)
    }
}

impl LinksOfSites for GaugeConfiguration {
    fn dims(&self) -> Dims {
        self.dims()
    }

    fn link(&self, site: usize, mu: usize) -> Matrix3<f64> {
        self.link(site, mu)
    }

    fn part(&self) -> Option<&LocalSites> {
        self.part()
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
    /// Returns the field strength at a site.
    pub fn at(links: &impl LinksOfSites, site: usize) -> Self {
        Self(PLANES.map(|(mu, nu)| anti_hermitian_part(&clover_leaves(links, site, mu, nu), 0.125)))
    }

    /// Returns the field strength at a site from rectangles.
    ///
    /// In smooth fields it is twice the result of [`at`](Self::at). F_μν = (R_μν − R_μν†)/16, where
    /// R_μν is the sum of eight loops. The loops have 2×1 and 1×2 links, begin and end at x, and
    /// turn from μ to ν. `doubled` are the [straight lines of two links](doubled_links).
    pub fn of_rectangles(links: &impl LinksOfSites, doubled: &[Matrix3<f64>], site: usize) -> Self {
        Self(PLANES.map(|(mu, nu)| {
            let [long, tall] = [mu, nu].map(|direction| {
                let stretched = Stretched { links, doubled, direction };
                clover_leaves(&stretched, site, mu, nu)
            });
            anti_hermitian_part(&(long + tall), 0.0625)
        }))
    }

    /// Returns the field strength without its traces.
    pub fn traceless(&self) -> Self {
        Self(self.0.map(|f| {
            let third = f.trace() / 3.0;
            Matrix3::from_fn(|i, j| if i == j { f.0[i][j] - third } else { f.0[i][j] })
        }))
    }

    /// Returns −Σ tr F² over the planes: ¼ G^a G^a of a traceless field strength.
    pub fn energy(&self) -> f64 {
        -self.0.iter().map(|f| trace_of_product(f, f).re).sum::<f64>()
    }

    /// Returns the density of the topological charge.
    ///
    /// The density is −tr(F_12 F_34 − F_13 F_24 + F_14 F_23)/(4π²) for a traceless field strength.
    pub fn charge_density(&self) -> f64 {
        let [xy, xz, xt, yz, yt, zt] = &self.0;
        let sum = trace_of_product(xy, zt) - trace_of_product(xz, yt) + trace_of_product(xt, yz);
        -sum.re / (4.0 * std::f64::consts::PI.powi(2))
    }
}

/// Returns (Q − Q†) times a factor.
fn anti_hermitian_part(q: &Matrix3<f64>, factor: f64) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| (q.0[i][j] - q.0[j][i].conj()) * factor)
}

/// Returns U_μ(x) U_μ(x+μ) at `4·site + mu`.
pub fn doubled_links(links: &impl LinksOfSites) -> Vec<Matrix3<f64>> {
    let doubled = |k: usize| {
        let (site, mu) = (k / NDIM, k % NDIM);
        links.link(site, mu) * links.link(links.forward(site, mu), mu)
    };
    (0..NDIM * links.dims().volume()).into_par_iter().map(doubled).collect()
}

/// Links of which those in one direction are lines of two.
struct Stretched<'a, L> {
    links: &'a L,
    doubled: &'a [Matrix3<f64>],
    direction: usize,
}

impl<L: LinksOfSites> LinksOfSites for Stretched<'_, L> {
    fn dims(&self) -> Dims {
        self.links.dims()
    }

    fn link(&self, site: usize, mu: usize) -> Matrix3<f64> {
        if mu == self.direction { self.doubled[NDIM * site + mu] } else { self.links.link(site, mu) }
    }

    fn forward(&self, site: usize, mu: usize) -> usize {
        let next = self.links.forward(site, mu);
        if mu == self.direction { self.links.forward(next, mu) } else { next }
    }

    fn backward(&self, site: usize, mu: usize) -> usize {
        let next = self.links.backward(site, mu);
        if mu == self.direction { self.links.backward(next, mu) } else { next }
    }
}

fn trace_of_product(a: &Matrix3<f64>, b: &Matrix3<f64>) -> Complex<f64> {
    (0..9).map(|k| a.0[k / 3][k % 3] * b.0[k % 3][k / 3]).sum()
}

/// Sums the four plaquettes that begin and end at the site.
///
/// Their planes are (μ, ν), (ν, −μ), (−μ, −ν) and (−ν, μ).
fn clover_leaves(links: &impl LinksOfSites, x: usize, mu: usize, nu: usize) -> Matrix3<f64> {
    debug_assert!(mu < nu && nu < NDIM);
    let u = |site, direction| links.link(site, direction);
    let back = |site, direction| links.link(site, direction).adjoint();
    let (up, right) = (links.forward(x, nu), links.forward(x, mu));
    let (down, left) = (links.backward(x, nu), links.backward(x, mu));
    let (left_up, left_down) = (links.forward(left, nu), links.backward(left, nu));
    let down_right = links.forward(down, mu);
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

    /// In a constant Abelian field a loop of area a is e^{iaf}.
    #[test]
    fn rectangles_of_a_constant_field_have_twice_the_area() {
        let dims = Dims::new([4, 6, 2, 2]).unwrap();
        let angle = 0.3;
        let mut configuration = GaugeConfiguration::unit(dims);
        for site in 0..dims.volume() {
            let z = Complex::from_polar(1.0, -angle * dims.coordinates(site)[1] as f64);
            let diagonal = [z, z.conj(), Complex::new(1.0, 0.0)];
            let link = Matrix3::from_fn(|i, j| if i == j { diagonal[i] } else { Complex::default() });
            configuration.set_link(site, 0, link);
        }
        let doubled = doubled_links(&configuration);
        for site in 0..dims.volume() {
            // Away from where the field is cut off in y.
            if !(2..4).contains(&dims.coordinates(site)[1]) {
                continue;
            }
            let plaquettes = FieldStrength::at(&configuration, site).0[0].0[0][0];
            let rectangles = FieldStrength::of_rectangles(&configuration, &doubled, site).0[0].0[0][0];
            assert!((plaquettes - Complex::new(0.0, angle.sin())).norm() < 1e-15, "{plaquettes}");
            assert!((rectangles - Complex::new(0.0, (2.0 * angle).sin())).norm() < 1e-15, "{rectangles}");
        }
    }
}
