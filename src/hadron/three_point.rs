//! Three-point functions: a current between a hadron's source and its sink.

use super::current::transported;
use super::meson::of_slices;
use super::momenta::{Momenta, Momentum, Phases};
use super::on_device::projected_on;
use super::quark::{QuarkPropagator, SitePropagator};
use super::sequential::{SinkHadron, SourceOperator};
use super::spin::gamma;
use crate::compute::{DeviceError, Team};
use crate::geometry::{Dims, NDIM};
use crate::host::LinkField;
use num_complex::Complex64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A three-point function.
///
/// C(q, τ) = Σ_y e^{iq·(y−x₀)} ⟨hadron at the sink, current at y, hadron at the source⟩, without
/// disconnected parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreePointCorrelator {
    /// The current: `gamma_N` is q̄ Γ(N) q, `conserved_x` to `_t` the conserved vector current.
    pub insertion: String,
    /// The operator at the source.
    pub source: SourceOperator,
    /// n of q = 2πn/L.
    pub momentum: Momentum,
    /// Real and imaginary part at τ = 0, 1, …, counted from the source.
    pub values: Vec<[f64; 2]>,
}

/// The propagators of a three-point function.
#[derive(Clone, Copy, Debug)]
pub struct ThreePoint<'a> {
    /// The quark that the current couples to, from the source.
    pub quark: &'a QuarkPropagator,
    /// The sequential propagator, from the sink.
    pub sequential: &'a QuarkPropagator,
    /// The hadron.
    pub hadron: &'a SinkHadron,
    /// The site of the source.
    pub origin: [usize; NDIM],
}

impl ThreePoint<'_> {
    /// Returns the functions of the sixteen local currents, by the devices of a team or the host.
    ///
    /// The currents have neither a renormalisation nor a factor 2κ.
    ///
    /// # Errors
    /// When a device fails.
    ///
    /// # Panics
    /// If the propagators are of different lattices.
    pub fn local_on(&self, team: &Team, momenta: &Momenta) -> Result<Vec<ThreePointCorrelator>, DeviceError> {
        // The field at the sink has the phase of the hadron. A current has none.
        let slices = projected_on(team, [self.quark, self.sequential], self.origin, momenta)?;
        let sources = self.hadron.sources();
        let wanted = of_slices(&slices, momenta).into_iter().filter(|meson| meson.source < sources);
        let renamed = wanted.map(|meson| ThreePointCorrelator {
            insertion: format!("gamma_{}", meson.sink),
            source: self.hadron.source(meson.source),
            momentum: meson.momentum,
            values: meson.values,
        });
        Ok(renamed.collect())
    }

    /// Returns the functions of the conserved vector current in all four directions, on the host.
    ///
    /// V_μ(y) = c_μ \[q̄(y+μ) (1+γ_μ) U_μ†(y) q(y) − q̄(y) (1−γ_μ) U_μ(y) q(y+μ)\]. `weights` are c_μ,
    /// the coefficients of the hops in M without their sign: κ, or ½ in mass normalisation. The links
    /// have the phases of the boundary. The charge Σ_y V_t at times before the sink, minus that at
    /// times behind it, then is the two-point function, to rounding.
    ///
    /// # Panics
    /// If links and propagators are of different lattices.
    pub fn conserved(
        &self,
        links: &LinkField<f64>,
        weights: [f64; NDIM],
        momenta: &Momenta,
    ) -> Vec<ThreePointCorrelator> {
        let dims = self.quark.dims();
        assert!(
            links.dims() == dims && self.sequential.dims() == dims,
            "links and propagators of one lattice"
        );
        let (s, from_sink) = (self.quark.sites(), self.sequential.sites());
        let phases = Phases::new(dims, self.origin, momenta);
        let sources = self.hadron.sources();
        let slices = phases.project(NDIM * sources, |site, numbers| {
            for (mu, numbers) in numbers.chunks_exact_mut(sources).enumerate() {
                let (ahead, link) = (dims.forward(site, mu), links.link(site, mu));
                let forwards = hopped(&transported(&link.adjoint(), &s[site]), mu, 1.0);
                let backwards = hopped(&transported(link, &s[ahead]), mu, -1.0);
                let (one, other) = (spins(&from_sink[ahead], &forwards), spins(&from_sink[site], &backwards));
                for (n, number) in numbers.iter_mut().enumerate() {
                    let entries = gamma(n).into_iter().enumerate();
                    let sum: Complex64 = entries
                        .map(|(row, (column, phase))| phase.times(one[column][row] - other[column][row]))
                        .sum();
                    *number = sum * weights[mu];
                }
            }
        });
        let names = momenta.names();
        let all = (0..names.len()).flat_map(|p| (0..NDIM * sources).map(move |number| (p, number)));
        all.map(|(p, number)| ThreePointCorrelator {
            insertion: format!("conserved_{}", Dims::direction_name(number / sources)),
            source: self.hadron.source(number % sources),
            momentum: names[p],
            values: slices.number(p, number).into_iter().map(|z| [z.re, z.im]).collect(),
        })
        .collect()
    }
}

/// (1 ± γ_μ) S.
fn hopped(s: &SitePropagator, mu: usize, sign: f64) -> SitePropagator {
    let mut product = *s;
    for (row, (column, phase)) in gamma(1 << mu).into_iter().enumerate() {
        for (colour, entry) in (0..36).map(|k| (k / 12, k % 12)) {
            product[3 * row + colour][entry] += phase.times(s[3 * column + colour][entry]) * sign;
        }
    }
    product
}

/// γ5 Σ† γ5 S, summed over colours of the source; `[row][column]` are spins of the source.
fn spins(sequential: &SitePropagator, s: &SitePropagator) -> [[Complex64; 4]; 4] {
    let sign = |spin: usize| if spin < 2 { 1.0 } else { -1.0 };
    std::array::from_fn(|beta| {
        std::array::from_fn(|beta1| {
            let entries = (0..36).map(|k| (k / 3, k % 3));
            let product = |(row, b): (usize, usize)| {
                sequential[row][3 * beta + b].conj() * s[row][3 * beta1 + b] * sign(row / 3)
            };
            entries.map(product).sum::<Complex64>() * sign(beta)
        })
    })
}
