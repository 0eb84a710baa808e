//! Correlators of mesons: all pairs of sixteen matrices at source and sink.

use super::momenta::{Momenta, Momentum, Phases, Slices};
use super::quark::{QuarkPropagator, SitePropagator, phases_of_hadron};
use super::spin::gamma;
use crate::geometry::NDIM;
use num_complex::Complex64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The correlator of a meson.
///
/// C(p, t) = Σ_x e^{ip·(x−x₀)} tr\[γ5 S₂†(x) γ5 Γ(sink) S₁(x) Γ(source)\], S₁ of the quark and S₂ of
/// the antiquark. With the same Γ twice it is a channel of Chroma, sign included. Quark and antiquark
/// whose phases at the boundary in t differ give the meson a phase beyond the boundary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MesonCorrelator {
    /// The number of Γ at the source.
    pub source: usize,
    /// The number of Γ at the sink.
    pub sink: usize,
    /// n of p = 2πn/L.
    pub momentum: Momentum,
    /// Real and imaginary part at t = 0, 1, …, counted from the source.
    pub values: Vec<[f64; 2]>,
}

/// Numbers of a site from which all pairs of matrices follow.
pub(super) const NUMBERS: usize = 256;

/// Writes T = Σ_ab conj(S₂\[αa\]\[βb\]) S₁\[α′a\]\[β′b\].
///
/// Its place is ((4α + α′)·4 + β)·4 + β′.
pub(super) fn products_of_colours(s1: &SitePropagator, s2: &SitePropagator, numbers: &mut [Complex64]) {
    for (k, number) in numbers.iter_mut().enumerate() {
        let [alpha, alpha1, beta, beta1] = [k / 64, k / 16 % 4, k / 4 % 4, k % 4].map(|spin| 3 * spin);
        *number =
            (0..9).map(|k| s2[alpha + k / 3][beta + k % 3].conj() * s1[alpha1 + k / 3][beta1 + k % 3]).sum();
    }
}

/// Returns tr\[γ5 S₂† γ5 Γ(sink) S₁ Γ(source)\] from the products of colours.
fn trace(products: &[Complex64], source: usize, sink: usize) -> Complex64 {
    let (at_source, at_sink) = (gamma(source), gamma(sink));
    let sign = |spin: usize| if spin < 2 { 1.0 } else { -1.0 };
    let mut sum = Complex64::default();
    for (alpha, (alpha1, of_sink)) in at_sink.into_iter().enumerate() {
        for (beta1, (beta, of_source)) in at_source.into_iter().enumerate() {
            let product = products[((4 * alpha + alpha1) * 4 + beta) * 4 + beta1];
            sum += of_sink.and(of_source).times(product) * (sign(alpha) * sign(beta));
        }
    }
    sum
}

/// Returns all 16×16 correlators of each momentum, on the host.
///
/// `origin` is the site of the source. Momenta stand outside, sources fastest but one, sinks
/// fastest.
///
/// # Panics
/// If the propagators are of different lattices.
pub fn mesons(
    quark: &QuarkPropagator,
    antiquark: &QuarkPropagator,
    origin: [usize; NDIM],
    momenta: &Momenta,
) -> Vec<MesonCorrelator> {
    let slices = projected([quark, antiquark], origin, momenta);
    of_slices(&slices.times(&phases_of_meson([quark, antiquark], origin)), momenta)
}

/// Returns the products of colours of each time slice, without phases at the boundary.
pub(super) fn projected(
    [quark, antiquark]: [&QuarkPropagator; 2],
    origin: [usize; NDIM],
    momenta: &Momenta,
) -> Slices {
    assert_eq!(quark.dims(), antiquark.dims(), "propagators of one lattice");
    let phases = Phases::new(quark.dims(), origin, momenta);
    let (s1, s2) = (quark.sites(), antiquark.sites());
    phases.project(NUMBERS, |site, numbers| products_of_colours(&s1[site], &s2[site], numbers))
}

/// Returns the phases of a meson at all distances from its source.
pub(super) fn phases_of_meson(
    [quark, antiquark]: [&QuarkPropagator; 2],
    origin: [usize; NDIM],
) -> Vec<Complex64> {
    phases_of_hadron(&[quark], Some(antiquark), origin[NDIM - 1])
}

/// Returns the correlators from sums of the products of colours.
pub(super) fn of_slices(slices: &Slices, momenta: &Momenta) -> Vec<MesonCorrelator> {
    let (names, distances) = (momenta.names(), slices.distances());
    let all = (0..names.len()).flat_map(|p| (0..256).map(move |pair| (p, pair / 16, pair % 16)));
    let correlator = |(p, source, sink): (usize, usize, usize)| {
        let value = |distance| trace(slices.of(distance, p), source, sink);
        let values = (0..distances).map(value).map(|z| [z.re, z.im]).collect();
        MesonCorrelator { source, sink, momentum: names[p], values }
    };
    all.map(correlator).collect()
}

/// Returns the sign by which a correlator becomes ⟨O(x) Ō(0)⟩.
///
/// The sign depends on the matrix at the source. Ō = q̄₁ Γ̄ q₂ with Γ̄ = γ4 Γ† γ4. With it every
/// channel of free quarks is positive.
///
/// # Panics
/// If the number is above 15.
pub fn physical_sign(source: usize) -> f64 {
    assert!(source < 16, "there are sixteen matrices");
    if [0, 7, 8, 9, 10, 12].contains(&source) { -1.0 } else { 1.0 }
}
