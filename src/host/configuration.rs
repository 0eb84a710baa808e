//! A gauge configuration read from a file: every link, in its stored precision.

use super::matrix3::Matrix3;
use super::part::LocalSites;
use crate::geometry::{Dims, NDIM};
use crate::scalar::Precision;
use num_complex::Complex64;
use std::ops::Range;

/// The links of a configuration, `links[4·site + mu]`, in their file's precision.
///
/// A file in single precision thus takes no more memory than its size on disk.
#[derive(Clone, Debug, PartialEq)]
pub enum Links {
    /// Links in single precision.
    Single(Vec<Matrix3<f32>>),
    /// Links in double precision.
    Double(Vec<Matrix3<f64>>),
}

impl Links {
    fn count(&self) -> usize {
        match self {
            Links::Single(links) => links.len(),
            Links::Double(links) => links.len(),
        }
    }
}

/// An SU(3) gauge field on the host: one link for each site and direction.
///
/// Sites are lexicographic, x fastest. The direction (x, y, z, t) is the fastest index of all. No
/// boundary condition is applied to the links.
///
/// Each of several processes may have a part of the links: those of its [`LocalSites`], one site
/// after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeConfiguration {
    dims: Dims,
    links: Links,
    part: Option<LocalSites>,
}

impl GaugeConfiguration {
    /// Takes links in the order `4·site + mu`.
    ///
    /// # Panics
    /// When there are not exactly four links for each site.
    pub fn new(dims: Dims, links: Links) -> Self {
        assert_eq!(links.count(), NDIM * dims.volume(), "a lattice of {dims} needs four links a site");
        Self { dims, links, part: None }
    }

    /// Takes the links of the sites of a part, in the order of the sites.
    ///
    /// # Panics
    /// When there are not exactly four links for each site.
    pub fn of_part(dims: Dims, links: Links, part: LocalSites) -> Self {
        assert_eq!(links.count(), NDIM * part.sites(), "four links a site");
        Self { dims, links, part: Some(part) }
    }

    /// Returns the part of the links that this process has, or `None` if it has all.
    pub fn part(&self) -> Option<&LocalSites> {
        self.part.as_ref()
    }

    /// Returns the sites that this process answers for.
    pub fn share(&self) -> Range<usize> {
        self.part.as_ref().map_or(0..self.dims.volume(), LocalSites::share)
    }

    /// Returns the place of a link in [`links`](Self::links).
    ///
    /// # Panics
    /// When the link is not in the part of this process.
    pub fn place(&self, site: usize, mu: usize) -> usize {
        NDIM * self.part.as_ref().map_or(site, |part| part.place(site)) + mu
    }

    /// Makes the free field: all links equal to the unit matrix, in double precision.
    pub fn unit(dims: Dims) -> Self {
        Self::new(dims, Links::Double(vec![Matrix3::identity(); NDIM * dims.volume()]))
    }

    /// Returns the extents of the lattice.
    pub fn dims(&self) -> Dims {
        self.dims
    }

    /// Returns the precision in which the links are stored.
    pub fn precision(&self) -> Precision {
        match self.links {
            Links::Single(_) => Precision::Single,
            Links::Double(_) => Precision::Double,
        }
    }

    /// Returns the stored links.
    pub fn links(&self) -> &Links {
        &self.links
    }

    /// Returns the stored links, to be changed in place.
    pub fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }

    /// Returns the link that leaves `site` in direction `mu`, in double precision.
    pub fn link(&self, site: usize, mu: usize) -> Matrix3<f64> {
        match &self.links {
            Links::Single(links) => links[self.place(site, mu)].cast(),
            Links::Double(links) => links[self.place(site, mu)],
        }
    }

    /// Replaces the link that leaves `site` in direction `mu`.
    ///
    /// `link` is rounded to the precision of storage.
    pub fn set_link(&mut self, site: usize, mu: usize, link: Matrix3<f64>) {
        let place = self.place(site, mu);
        match &mut self.links {
            Links::Single(links) => links[place] = link.cast(),
            Links::Double(links) => links[place] = link,
        }
    }

    /// Returns one entry of the link that leaves `site` in direction `mu`, in double.
    pub fn entry(&self, site: usize, mu: usize, row: usize, column: usize) -> Complex64 {
        match &self.links {
            Links::Single(links) => {
                let z = links[self.place(site, mu)].0[row][column];
                Complex64::new(f64::from(z.re), f64::from(z.im))
            }
            Links::Double(links) => links[self.place(site, mu)].0[row][column],
        }
    }
}
