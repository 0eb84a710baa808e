//! A whole quark propagator in memory.

use super::propagator::Column;
use crate::device::vec_in_huge_pages;
use crate::geometry::Dims;
use crate::host::{NoRoom, Spinor};
use num_complex::Complex64;
use rayon::prelude::*;

/// S(x) at a site.
///
/// Rows belong to the sink and columns to the source. Both are 3·spin + colour.
pub type SitePropagator = [[Complex64; 12]; 12];

/// A quark propagator: all twelve solutions of a source.
#[derive(Clone, Debug)]
pub struct QuarkPropagator {
    dims: Dims,
    sites: Vec<SitePropagator>,
}

impl QuarkPropagator {
    /// Makes a propagator of zeros.
    ///
    /// # Errors
    /// If memory is too small: 2304 bytes for each site.
    pub fn new(dims: Dims) -> Result<Self, NoRoom> {
        let volume = dims.volume();
        let mut sites = vec_in_huge_pages(volume)?;
        // All threads take part: the first touch of fresh memory is slow.
        rayon::iter::repeat_n([[Complex64::default(); 12]; 12], volume).collect_into_vec(&mut sites);
        Ok(Self { dims, sites })
    }

    /// Returns the extents of the lattice.
    pub fn dims(&self) -> Dims {
        self.dims
    }

    /// Returns S of all sites, in lexicographic order.
    pub fn sites(&self) -> &[SitePropagator] {
        &self.sites
    }

    /// Takes the solution for one spin and colour of the source.
    ///
    /// # Panics
    /// If there is not one spinor for each site.
    pub fn set_column(&mut self, column: Column, solution: &[Spinor<f64>]) {
        assert_eq!(solution.len(), self.sites.len(), "one spinor for each site");
        let number = 3 * column.spin + column.colour;
        self.sites.par_iter_mut().zip(solution).for_each(|(site, psi)| {
            for (row, entries) in site.iter_mut().enumerate() {
                entries[number] = psi.component(row);
            }
        });
    }

    /// Multiplies the propagator by a number.
    ///
    /// 2κ converts from κ normalisation to mass normalisation.
    pub fn scale(&mut self, factor: f64) {
        self.sites.par_iter_mut().flatten().flatten().for_each(|z| *z *= factor);
    }
}
