//! The phases of links that leave the lattice: twin of `cl/stencil/boundary.cl`.

use super::{Cost, KernelPart};
use crate::compute::{Argument, KernelKey};
use crate::field::LinkFormat;
use crate::geometry::{Boundary, Layout, NDIM, Shard};
use crate::host::Reconstruction;
use crate::scalar::{Real, Storage};
use num_complex::Complex64;

/// The phases by which the hop multiplies, because reconstructed links lack them.
pub(crate) struct BoundaryPart<'a> {
    boundary: Boundary,
    layout: &'a Layout,
}

/// The names of a direction's macros.
struct Names {
    wrap: &'static str,
    turn: &'static str,
}

const NAMES: [Names; NDIM] = [
    Names { wrap: "WRAP_x", turn: "TURN_x" },
    Names { wrap: "WRAP_y", turn: "TURN_y" },
    Names { wrap: "WRAP_z", turn: "TURN_z" },
    Names { wrap: "WRAP_t", turn: "TURN_t" },
];

impl<'a> BoundaryPart<'a> {
    /// Makes the part of a domain.
    pub fn of(links: &LinkFormat, layout: &'a Layout) -> Self {
        Self { boundary: kept_apart(links), layout }
    }

    /// Returns the directions whose phase is a parameter.
    ///
    /// Kernels know only signs within a device.
    fn turned(&self) -> impl Iterator<Item = usize> {
        (0..NDIM).filter(|&mu| match self.boundary.sign(mu) {
            Some(sign) => sign < 0.0 && self.layout.domain().is_cut(mu),
            None => true,
        })
    }

    /// Returns the directions whose signs are in the kernel.
    fn wrapped(&self) -> impl Iterator<Item = usize> {
        (0..NDIM).filter(|&mu| self.boundary.sign(mu) == Some(-1.0) && !self.layout.domain().is_cut(mu))
    }

    /// Returns the phases that are parameters of a domain's kernel.
    pub fn phases(&self) -> Vec<Complex64> {
        self.turned().map(|mu| leaving(self.boundary, self.layout.domain().is_last(mu), mu)).collect()
    }

    /// Returns the arguments for the parameters of this part.
    pub fn arguments<'b, T: Storage>(phases: &'b [Complex64]) -> impl Iterator<Item = Argument<'b>> {
        phases.iter().flat_map(|phase| parts::<T>(*phase))
    }

    /// Lists one value for each lane: `1,1,-1,-1`.
    ///
    /// Lanes whose sub-lattice is the last one in direction `mu` get `last`, the others get
    /// `other`.
    fn lanes(&self, mu: usize, last: &str, other: &str) -> String {
        let cuts = self.layout.cuts();
        let stride: usize = cuts[..mu].iter().product();
        let is_last = |lane: usize| lane / stride % cuts[mu] == cuts[mu] - 1;
        let values = (0..self.layout.lanes()).map(|lane| if is_last(lane) { last } else { other });
        values.collect::<Vec<_>>().join(",")
    }
}

/// Returns the phases that the stored links lack.
fn kept_apart(links: &LinkFormat) -> Boundary {
    match links.reconstruction {
        Reconstruction::None => Boundary::periodic(),
        Reconstruction::Twelve | Reconstruction::Eight => links.boundary,
    }
}

/// Returns the phase of links that leave a domain's last slice in direction `mu`.
fn leaving(boundary: Boundary, is_last: bool, mu: usize) -> Complex64 {
    if is_last { boundary.phase(mu) } else { Complex64::new(1.0, 0.0) }
}

/// Returns the phase by which a hop multiplies links that leave a domain.
///
/// The links leave the domain's last slice in direction `mu`. The phase is 1 if the stored links
/// have the boundary's phase already.
pub(super) fn phase_of_leaving(shard: &Shard, links: &LinkFormat, mu: usize) -> Complex64 {
    leaving(kept_apart(links), shard.domain.is_last(mu), mu)
}

/// Returns a phase as two arguments of a kernel.
pub(crate) fn parts<'b, T: Storage>(phase: Complex64) -> [Argument<'b>; 2] {
    [phase.re, phase.im].map(|part| Argument::value(T::Real::from_f64(part)))
}

impl KernelPart for BoundaryPart<'_> {
    fn add_to(&self, key: KernelKey) -> KernelKey {
        let key = self.wrapped().fold(key, |key, mu| key.define(NAMES[mu].wrap, self.lanes(mu, "-1", "1")));
        let key = self.turned().fold(key, |key, mu| key.define(NAMES[mu].turn, self.lanes(mu, "1", "0")));
        key.part("boundary", include_str!("../../../../cl/stencil/boundary.cl"))
    }

    /// Returns no cost: links that leave the lattice are few.
    fn cost(&self, _: usize) -> Cost {
        Cost { flops: 0, spinors: 0, blocks: Vec::new() }
    }
}
