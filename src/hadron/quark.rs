//! A whole quark propagator in memory.

use super::propagator::Column;
use crate::compute::parallel::*;
use crate::compute::vec_in_huge_pages;
use crate::geometry::{Boundary, Dims, NDIM};
use crate::host::{NoRoom, Spinor, TimePhases};
use num_complex::Complex64;

/// S(x) at a site.
///
/// Rows belong to the sink and columns to the source. Both are 3·spin + colour.
pub type SitePropagator = [[Complex64; 12]; 12];

/// A quark propagator: all twelve solutions of a source.
///
/// It knows the phases of its quark in t, which hadrons beyond the boundary take.
#[derive(Clone, Debug)]
pub struct QuarkPropagator {
    dims: Dims,
    sites: Vec<SitePropagator>,
    time_phases: TimePhases,
}

impl QuarkPropagator {
    /// Makes a propagator of zeros, of a quark that is periodic in t.
    ///
    /// # Errors
    /// If memory is too small: 2304 bytes for each site.
    pub fn new(dims: Dims) -> Result<Self, NoRoom> {
        let volume = dims.volume();
        let mut sites = vec_in_huge_pages(volume)?;
        // All threads take part: the first touch of fresh memory is slow.
        (0..volume).into_par_iter().map(|_| [[Complex64::default(); 12]; 12]).collect_into_vec(&mut sites);
        let time_phases = TimePhases::of_boundary(dims[NDIM - 1], Boundary::periodic());
        Ok(Self { dims, sites, time_phases })
    }

    /// Replaces the phases of the quark in t.
    ///
    /// # Panics
    /// If they are of another extent.
    #[must_use]
    pub fn with_time_phases(self, time_phases: TimePhases) -> Self {
        assert_eq!(time_phases.extent(), self.dims[NDIM - 1], "phases of the lattice");
        Self { time_phases, ..self }
    }

    /// Returns the phases of the quark in t.
    pub fn time_phases(&self) -> &TimePhases {
        &self.time_phases
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

/// Returns the phases of a hadron at the distances 0, 1, … from its source on time slice `t`.
///
/// They are the products of its quarks' phases, and of the conjugate phase of an antiquark.
pub(super) fn phases_of_hadron(
    quarks: &[&QuarkPropagator],
    antiquark: Option<&QuarkPropagator>,
    t: usize,
) -> Vec<Complex64> {
    let of = |distance| phase_of_hadron(quarks, antiquark, t, distance);
    (0..quarks[0].dims[NDIM - 1]).map(of).collect()
}

/// Returns one of the [`phases_of_hadron`].
pub(super) fn phase_of_hadron(
    quarks: &[&QuarkPropagator],
    antiquark: Option<&QuarkPropagator>,
    t: usize,
    distance: usize,
) -> Complex64 {
    let over = |quark: &QuarkPropagator| quark.time_phases.over(t, distance);
    match (quarks, antiquark) {
        // Exactly 1, whatever the phase.
        ([quark], Some(antiquark)) if quark.time_phases == antiquark.time_phases => 1.0.into(),
        _ => {
            let of_quarks: Complex64 = quarks.iter().map(|quark| over(quark)).product();
            of_quarks * antiquark.map_or(1.0.into(), |antiquark| over(antiquark).conj())
        }
    }
}
