//! A gauge configuration read from a file: every link, in its stored precision.

use super::matrix3::Matrix3;
use crate::geometry::{Dims, NDIM};
use crate::scalar::Precision;
use num_complex::Complex64;

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

/// An SU(3) gauge field on the host: one link for each site and direction.
///
/// Sites are lexicographic, x fastest. The direction (x, y, z, t) is the fastest index of all. No
/// boundary condition is applied to the links.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeConfiguration {
    dims: Dims,
    links: Links,
}

impl GaugeConfiguration {
    /// Takes links in the order `4·site + mu`.
    ///
    /// # Panics
    /// When there are not exactly four links for each site.
    pub fn new(dims: Dims, links: Links) -> Self {
        let count = match &links {
            Links::Single(links) => links.len(),
            Links::Double(links) => links.len(),
        };
        assert_eq!(count, NDIM * dims.volume(), "a {dims} lattice needs four links a site");
        Self { dims, links }
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
            Links::Single(links) => links[NDIM * site + mu].cast(),
            Links::Double(links) => links[NDIM * site + mu],
        }
    }

    /// Replaces the link that leaves `site` in direction `mu`.
    ///
    /// `link` is rounded to the precision of storage.
    pub fn set_link(&mut self, site: usize, mu: usize, link: Matrix3<f64>) {
        match &mut self.links {
            Links::Single(links) => links[NDIM * site + mu] = link.cast(),
            Links::Double(links) => links[NDIM * site + mu] = link,
        }
    }

    /// Returns one entry of the link that leaves `site` in direction `mu`, in double.
    pub fn entry(&self, site: usize, mu: usize, row: usize, column: usize) -> Complex64 {
        match &self.links {
            Links::Single(links) => {
                let z = links[NDIM * site + mu].0[row][column];
                Complex64::new(f64::from(z.re), f64::from(z.im))
            }
            Links::Double(links) => links[NDIM * site + mu].0[row][column],
        }
    }
}
