//! Links in the precision of the Dirac operator, with the boundary's phases.

use super::configuration::GaugeConfiguration;
use super::matrix3::Matrix3;
use crate::compute::parallel::*;
use crate::geometry::{Boundary, Dims, NDIM};
use crate::scalar::Real;

/// The links of a configuration with boundary phases applied, `links[4·site + mu]`.
#[derive(Clone, Debug)]
pub struct LinkField<T> {
    dims: Dims,
    links: Vec<Matrix3<T>>,
}

impl<T: Real> LinkField<T> {
    /// Converts every link to precision `T` and applies the boundary's phases.
    ///
    /// A phase multiplies the links that leave the last slice of its direction.
    pub fn new(configuration: &GaugeConfiguration, boundary: Boundary) -> Self {
        let dims = configuration.dims();
        let links = (0..NDIM * dims.volume())
            .into_par_iter()
            .map(|k| link_with_phase(configuration, boundary, k / NDIM, k % NDIM))
            .collect();
        Self { dims, links }
    }

    /// Multiplies the links in x, y and z by a real number.
    pub fn weighted_in_space(&self, weight: f64) -> Self {
        let weight = T::from_f64(weight);
        let weighted = |(k, link): (usize, &Matrix3<T>)| match k % NDIM {
            3 => *link,
            _ => link.scale(weight),
        };
        Self { dims: self.dims, links: self.links.par_iter().enumerate().map(weighted).collect() }
    }

    /// Converts the links to another precision.
    pub fn cast<R: Real>(&self) -> LinkField<R> {
        LinkField { dims: self.dims, links: self.links.par_iter().map(Matrix3::cast).collect() }
    }

    /// Returns the extents of the lattice.
    pub fn dims(&self) -> Dims {
        self.dims
    }

    /// Returns the link that leaves `site` in direction `mu`.
    pub fn link(&self, site: usize, mu: usize) -> &Matrix3<T> {
        &self.links[NDIM * site + mu]
    }
}

/// Returns one link of a configuration in precision `T`, with the boundary's phase.
pub fn link_with_phase<T: Real>(
    configuration: &GaugeConfiguration,
    boundary: Boundary,
    site: usize,
    mu: usize,
) -> Matrix3<T> {
    let dims = configuration.dims();
    let link = configuration.link(site, mu).cast::<T>();
    if dims.coordinates(site)[mu] + 1 < dims[mu] {
        return link;
    }
    match boundary.sign(mu) {
        Some(sign) => link.scale(T::from_f64(sign)),
        None => {
            // In double, so that the products are rounded once.
            let (link, phase) = (configuration.link(site, mu), boundary.phase(mu));
            Matrix3::from_fn(|i, j| link.0[i][j] * phase).cast()
        }
    }
}
