//! The phases that a quark takes on its way through time.

use super::configuration::GaugeConfiguration;
use crate::compute::parallel::*;
use crate::geometry::{Boundary, NDIM};
use num_complex::Complex64;
use std::ops::Range;

/// The phases of a quark's hops in t: one for each time slice that a hop leaves.
///
/// The boundary condition gives the last hop its sign and its angle. Links may have signs of their
/// own on any slice, as MILC and QUDA leave them in files. The phase of a way is the product over
/// its hops, so that no correlator depends on who said the phase, or on its slice.
#[derive(Clone, Debug, PartialEq)]
pub struct TimePhases(Vec<Complex64>);

impl TimePhases {
    /// Takes the phase of a boundary condition, on a lattice with this extent in t.
    pub fn of_boundary(extent: usize, boundary: Boundary) -> Self {
        let mut phases = vec![Complex64::new(1.0, 0.0); extent];
        phases.iter_mut().rev().take(1).for_each(|last| *last = boundary.phase(NDIM - 1));
        Self(phases)
    }

    /// Takes the phase of a boundary condition and the signs in the links of a configuration.
    pub fn of_links(configuration: &GaugeConfiguration, boundary: Boundary) -> Self {
        let Self(mut phases) = Self::of_boundary(configuration.dims()[NDIM - 1], boundary);
        signed_slices(configuration).into_iter().for_each(|t| phases[t] = -phases[t]);
        Self(phases)
    }

    /// Returns the extent of the lattice in t.
    pub fn extent(&self) -> usize {
        self.0.len()
    }

    /// Returns the phase of a quark that goes this many slices forwards from time slice `t`.
    pub fn over(&self, t: usize, distance: usize) -> Complex64 {
        (t..t + distance).map(|t| self.0[t % self.0.len()]).product()
    }
}

/// Returns the time slices whose t-links have a sign: all of them have determinant −1.
///
/// A process with a part of the links finds none: such links are in SU(3).
pub(crate) fn signed_slices(configuration: &GaugeConfiguration) -> Vec<usize> {
    if configuration.part().is_some() {
        return Vec::new();
    }
    let is_negative = |site: usize| configuration.link(site, NDIM - 1).determinant_sign() == Some(-1.0);
    let has_sign = |&t: &usize| sites_of_slice(configuration, t).into_par_iter().all(is_negative);
    (0..configuration.dims()[NDIM - 1]).filter(has_sign).collect()
}

/// Multiplies the t-links that leave some time slices by −1.
pub(crate) fn change_time_signs(configuration: &mut GaugeConfiguration, slices: &[usize]) {
    for site in slices.iter().flat_map(|&t| sites_of_slice(configuration, t)).collect::<Vec<_>>() {
        configuration.set_link(site, NDIM - 1, configuration.link(site, NDIM - 1).scale(-1.0));
    }
}

fn sites_of_slice(configuration: &GaugeConfiguration, t: usize) -> Range<usize> {
    let dims = configuration.dims();
    let in_slice = dims.volume() / dims[NDIM - 1];
    t * in_slice..(t + 1) * in_slice
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Dims, Theta};
    use crate::host::random::weak;

    /// Changes the sign of the t-links that leave some slices, at the sites that are wanted.
    fn signed(slices: &[usize], is_wanted: impl Fn(usize) -> bool) -> GaugeConfiguration {
        let dims = Dims::new([2, 4, 2, 6]).unwrap();
        let mut links = weak(dims, 0.4, 3);
        let of_slice = |&site: &usize| slices.contains(&dims.coordinates(site)[3]);
        for site in (0..dims.volume()).filter(of_slice).filter(|&site| is_wanted(site)) {
            links.set_link(site, 3, links.link(site, 3).scale(-1.0));
        }
        links
    }

    #[test]
    fn a_phase_is_the_product_over_the_slices_that_are_left() {
        let twisted = Boundary::antiperiodic_t().twisted(Theta::new([0.3, 0.0, 0.0, 0.5]).unwrap());
        let phases = TimePhases::of_links(&signed(&[1], |_| true), twisted);
        let [one, i] = [Complex64::new(1.0, 0.0), Complex64::i()];
        // −i at the boundary, and −1 behind slice 1.
        for (t, distance, expected) in
            [(0, 0, one), (0, 1, one), (0, 2, -one), (2, 3, one), (2, 4, -i), (5, 3, i), (1, 12, -one)]
        {
            assert_eq!(phases.over(t, distance), expected, "{t}, {distance}");
        }
    }

    #[test]
    fn only_a_whole_slice_has_a_sign() {
        let of = |links: &GaugeConfiguration| TimePhases::of_links(links, Boundary::periodic());
        let periodic = TimePhases::of_boundary(6, Boundary::periodic());
        assert_eq!(of(&signed(&[5], |_| true)), TimePhases::of_boundary(6, Boundary::antiperiodic_t()));
        assert_eq!(of(&signed(&[0, 2, 5], |_| true)).over(0, 6), -Complex64::new(1.0, 0.0));
        assert_eq!(of(&signed(&[5], |site| site % 2 == 0)), periodic);
        assert_eq!(of(&signed(&[], |_| true)), periodic);
    }
}
