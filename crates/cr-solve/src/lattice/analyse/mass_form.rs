//! Formulas of the effective mass.

use lattice_cl::hadron::effective_mass;
use lattice_statistics::{EffectiveMass, Quantity, StatisticsResult, effective_masses};
use serde::Serialize;

/// The formula for the mass of a correlator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MassForm {
    /// arcosh((C(n−1) + C(n+1)) / 2C(n))
    Cosh,
    /// ln(C(n) / C(n+1))
    Log,
}

lattice_files::words! {
    MassForm, "formula of the mass":
    Cosh = "cosh", "arcosh((C(n−1) + C(n+1)) / 2C(n))";
    Log = "log", "ln(C(n) / C(n+1))"
}

impl MassForm {
    /// Returns the usual form: baryons fall with one exponential in each direction of time.
    pub fn usual(is_baryon: bool) -> Self {
        if is_baryon { Self::Log } else { Self::Cosh }
    }

    /// Returns the formula as text.
    pub fn formula(self) -> &'static str {
        match self {
            Self::Cosh => "arcosh (C(n-1) + C(n+1)) / 2C(n)",
            Self::Log => "ln C(n)/C(n+1)",
        }
    }

    /// Returns the effective mass of a correlator at each distance, `None` where it is undefined.
    pub fn of(self, correlator: &[f64]) -> Vec<Option<f64>> {
        match self {
            Self::Cosh => effective_mass(correlator),
            Self::Log => {
                let ratio = |n: usize| Some(correlator[n] / *correlator.get(n + 1)?);
                let real = |ratio: f64| (ratio > 0.0 && ratio.is_finite()).then(|| ratio.ln());
                (0..correlator.len()).map(|n| ratio(n).and_then(real)).collect()
            }
        }
    }

    /// Returns the effective mass of quantities at each distance.
    ///
    /// It is `None` where it is undefined, be it on one resample only.
    pub fn of_quantities<Q: Quantity>(self, correlator: &[Q]) -> StatisticsResult<Vec<Option<Q>>> {
        let definition = match self {
            Self::Cosh => EffectiveMass::PeriodicArcosh,
            Self::Log => EffectiveMass::Logarithm,
        };
        effective_masses(correlator, definition)
    }
}
