//! Action density and topological charge of a configuration.

use super::observables::plaquette;
use crate::host::{FieldStrength, GaugeConfiguration, ordered_sum};
use serde::Serialize;

/// The density of the action, averaged over sites, in two discretisations that agree for smooth fields.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Energy {
    /// −Σ_{μ<ν} tr F_μν² with the traceless field strength of four-leaf clovers (M. Lüscher, JHEP 08 (2010) 071).
    pub clover: f64,
    /// 2 Σ_{μ<ν} Re tr(1 − P_μν).
    pub plaquette: f64,
}

/// The action density of a configuration.
pub fn energy(configuration: &GaugeConfiguration) -> Energy {
    let volume = configuration.dims().volume();
    let density = |site| FieldStrength::at(configuration, site).traceless().energy();
    Energy {
        clover: ordered_sum(volume, 0.0, |a, b| a + b, density) / volume as f64,
        plaquette: 36.0 * (1.0 - plaquette(configuration).average),
    }
}

/// The topological charge Q = −Σ_x tr[F_12 F_34 − F_13 F_24 + F_14 F_23]/(4π²), of the traceless field strength.
pub fn topological_charge(configuration: &GaugeConfiguration) -> f64 {
    let density = |site| FieldStrength::at(configuration, site).traceless().charge_density();
    ordered_sum(configuration.dims().volume(), 0.0, |a, b| a + b, density)
}
