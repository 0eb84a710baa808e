//! Correlators of currents.
//!
//! The conserved vector current goes to ρ, the local axial current to π.

use super::meson::phases_of_meson;
use super::momenta::{Momenta, Phases, Slices};
use super::quark::{QuarkPropagator, SitePropagator};
use super::spin::gamma;
use crate::geometry::{Dims, NDIM};
use crate::host::{LinkField, Matrix3};
use num_complex::Complex64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::array::from_fn;

/// The correlator of a current without momentum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurrentCorrelator {
    /// `conserved_vector_x` to `_z`, or `local_axial`.
    pub name: String,
    /// The values at t = 0, 1, …, counted from the source.
    pub values: Vec<f64>,
}

/// Γ S Γ′ of matrices with one entry in a row, on the spins of sink and source.
fn between(sink: usize, s: &SitePropagator, source: usize) -> SitePropagator {
    let (left, right) = (gamma(sink), gamma(source));
    let mut product = [[Complex64::default(); 12]; 12];
    for (row, (from_row, of_row)) in left.into_iter().enumerate() {
        for (from_column, (column, of_column)) in right.into_iter().enumerate() {
            for (a, b) in (0..9).map(|k| (k / 3, k % 3)) {
                product[3 * row + a][3 * column + b] =
                    of_row.and(of_column).times(s[3 * from_row + a][3 * from_column + b]);
            }
        }
    }
    product
}

/// U S: the link on the colours of the sink.
pub(super) fn transported(link: &Matrix3<f64>, s: &SitePropagator) -> SitePropagator {
    from_fn(|row| from_fn(|column| (0..3).map(|k| link.0[row % 3][k] * s[row / 3 * 3 + k][column]).sum()))
}

/// tr\[A† B\].
fn product(a: &SitePropagator, b: &SitePropagator) -> Complex64 {
    a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| a.conj() * b).sum()
}

const GAMMA5: usize = 15;

/// The name of the local axial current.
pub(super) const AXIAL_NAME: &str = "local_axial";

/// Sums a number of each site over the time slices.
fn summed(
    quark: &QuarkPropagator,
    origin: [usize; NDIM],
    of_site: impl Fn(usize) -> Complex64 + Sync,
) -> Slices {
    let momenta = Momenta::each([[0; 3]]);
    Phases::new(quark.dims(), origin, &momenta).project(1, |site, numbers| numbers[0] = of_site(site))
}

/// Returns the real parts at all distances.
fn real_parts(slices: &Slices) -> Vec<f64> {
    slices.number(0, 0).into_iter().map(|z| z.re).collect()
}

/// Returns the conserved vector currents of x, y and z with ρ at the source.
///
/// The host computes Σ_x Re tr\[A†(x) (γ_k − 1) U_k(x) S(x+k) γ_k\] with A = γ5 S γ5. The terms of
/// Chroma with A(x+k) are the same, because γ5 anticommutes with γ_k. The links have the phases of
/// the boundary.
///
/// # Panics
/// If links and propagator are of different lattices.
pub fn conserved_vector(
    quark: &QuarkPropagator,
    links: &LinkField<f64>,
    origin: [usize; NDIM],
) -> Vec<CurrentCorrelator> {
    let (dims, s) = (quark.dims(), quark.sites());
    assert_eq!(dims, links.dims(), "links and propagator of one lattice");
    let current = |k: usize| {
        let of_site = |site: usize| {
            let (ahead, of_k, link) = (dims.forward(site, k), 1 << k, links.link(site, k));
            let a = between(GAMMA5, &s[site], GAMMA5);
            let there = transported(link, &s[ahead]);
            product(&a, &between(of_k, &there, of_k)) - product(&a, &between(0, &there, of_k))
        };
        CurrentCorrelator { name: conserved_name(k), values: real_parts(&summed(quark, origin, of_site)) }
    };
    (0..3).map(current).collect()
}

/// Returns the name of the conserved vector current in a direction.
pub(super) fn conserved_name(k: usize) -> String {
    format!("conserved_vector_{}", Dims::direction_name(k))
}

/// Returns the local axial current with π at the source.
///
/// −Σ_x Re tr\[A† Γ(7) S₁ Γ(15)\] with A = γ5 S₂ γ5.
///
/// # Panics
/// If the propagators are of different lattices.
pub fn local_axial(
    quark: &QuarkPropagator,
    antiquark: &QuarkPropagator,
    origin: [usize; NDIM],
) -> CurrentCorrelator {
    assert_eq!(quark.dims(), antiquark.dims(), "propagators of one lattice");
    let of_site = |site: usize| {
        let a = between(GAMMA5, &antiquark.sites()[site], GAMMA5);
        -product(&a, &between(7, &quark.sites()[site], GAMMA5))
    };
    let slices = summed(quark, origin, of_site).times(&phases_of_meson([quark, antiquark], origin));
    CurrentCorrelator { name: AXIAL_NAME.to_owned(), values: real_parts(&slices) }
}
