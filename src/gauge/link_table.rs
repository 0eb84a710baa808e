//! Links in double precision with a table of neighbours.
//!
//! The table is for work that visits every site many times.

use crate::compute::parallel::*;
use crate::geometry::{Dims, NDIM};
use crate::host::{
    GaugeConfiguration, Links, LinksOfSites, Matrix3, NoRoom, ProjectionError, expect_room, first_index,
};
use std::sync::Arc;

/// The sites one step forward and one step backward in each direction.
#[derive(Clone, Copy, Debug)]
struct Steps {
    forward: [usize; NDIM],
    backward: [usize; NDIM],
}

/// Links in double, `links[4·site + mu]`, and the neighbours of each site.
#[derive(Clone, Debug)]
pub(super) struct LinkTable {
    dims: Dims,
    steps: Arc<Vec<Steps>>,
    links: Vec<Matrix3<f64>>,
}

impl LinkTable {
    /// Copies the links of a configuration, if `fields` fields of links fit in memory.
    ///
    /// # Errors
    /// When the memory is too small.
    pub fn new(configuration: &GaugeConfiguration, fields: usize) -> Result<Self, NoRoom> {
        let dims = configuration.dims();
        let of_site = fields * NDIM * size_of::<Matrix3<f64>>() + size_of::<Steps>();
        expect_room((dims.volume() * of_site) as u64)?;
        let steps = |site| Steps {
            forward: std::array::from_fn(|mu| dims.forward(site, mu)),
            backward: std::array::from_fn(|mu| dims.backward(site, mu)),
        };
        let steps = Arc::new((0..dims.volume()).into_par_iter().map(steps).collect());
        let links = fill(dims, |site, mu| configuration.link(site, mu));
        Ok(Self { dims, steps, links })
    }

    /// Makes a table of other links on the same sites, by site and direction.
    pub fn with_links(&self, link: impl Fn(usize, usize) -> Matrix3<f64> + Sync) -> Self {
        Self { dims: self.dims, steps: Arc::clone(&self.steps), links: fill(self.dims, link) }
    }

    /// Makes new links like [`with_links`](Self::with_links), but may fail.
    ///
    /// # Errors
    /// Names the first link that does not exist.
    pub fn try_with_links(
        &self,
        link: impl Fn(usize, usize) -> Option<Matrix3<f64>> + Sync,
    ) -> Result<Self, ProjectionError> {
        // Zero stands for a missing link.
        let made = self.with_links(|site, mu| link(site, mu).unwrap_or_default());
        match first_index(&made.links, |link| *link == Matrix3::zero()) {
            None => Ok(made),
            Some(index) => Err(ProjectionError::Singular {
                site: self.dims.coordinates(index / NDIM),
                direction: Dims::direction_name(index % NDIM),
            }),
        }
    }

    /// Returns the links, in the order `4·site + mu`.
    pub fn links(&self) -> &[Matrix3<f64>] {
        &self.links
    }

    /// Changes each link in place.
    ///
    /// `change` is given the site of the link, its direction, the next site and the link.
    pub fn change(&mut self, change: impl Fn(usize, usize, usize, &mut Matrix3<f64>) + Sync) {
        let steps = &self.steps;
        self.links.par_iter_mut().enumerate().for_each(|(k, link)| {
            let (site, mu) = (k / NDIM, k % NDIM);
            change(site, mu, steps[site].forward[mu], link);
        });
    }

    /// Returns the links as a configuration.
    pub fn into_configuration(self) -> GaugeConfiguration {
        GaugeConfiguration::new(self.dims, Links::Double(self.links))
    }
}

/// Links by site and direction.
fn fill(dims: Dims, link: impl Fn(usize, usize) -> Matrix3<f64> + Sync) -> Vec<Matrix3<f64>> {
    (0..NDIM * dims.volume()).into_par_iter().map(|k| link(k / NDIM, k % NDIM)).collect()
}

impl LinksOfSites for LinkTable {
    fn dims(&self) -> Dims {
        self.dims
    }

    fn link(&self, site: usize, mu: usize) -> Matrix3<f64> {
        self.links[NDIM * site + mu]
    }

    fn forward(&self, site: usize, mu: usize) -> usize {
        self.steps[site].forward[mu]
    }

    fn backward(&self, site: usize, mu: usize) -> usize {
        self.steps[site].backward[mu]
    }
}
