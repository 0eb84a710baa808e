//! The part of a Dirac operator within a site.

use super::coupling::Coupling;
use crate::geometry::Anisotropy;
use crate::host::{SiteFactor, SiteMatrix, StencilFactors};
use serde::{Deserialize, Serialize};

/// The part of a Dirac operator within a site, besides the mass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum SiteTerm {
    /// Nothing: the Wilson operator.
    #[default]
    Scalar,
    /// A twisted mass: + 2iκμγ5 for κ, + iμγ5 for a mass.
    ///
    /// Source: R. Frezzotti, P. A. Grassi, S. Sint and P. Weisz, JHEP 08 (2001) 058.
    ///
    /// This is the flavour with τ₃ = +1. The other flavour has −μ. M† of one flavour is γ5 M γ5 of
    /// the other flavour.
    Twisted {
        /// μ, in lattice units.
        mu: f64,
    },
    /// A clover term: + κ c_sw T for κ, + ½ c_sw T for a mass.
    ///
    /// A twisted mass may be added to the clover term.
    ///
    /// Source: B. Sheikholeslami and R. Wohlert, Nucl. Phys. B 259 (1985) 572.
    ///
    /// T = −Σ_{μ<ν} γ_μ γ_ν F_μν, with the [field strength](crate::host::FieldStrength) of the
    /// links of [`GaugeField::with_clover`](crate::field::GaugeField::with_clover).
    Clover {
        /// The coefficient of Sheikholeslami and Wohlert; 1 at tree level.
        csw: f64,
        /// μ, in lattice units; 0 for a clover term alone.
        mu: f64,
    },
}

/// A site term that defines no operator.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SiteTermError {
    /// μ is not a finite number.
    #[error("mu = {0:?} is not allowed: the twisted mass must be a finite number")]
    Mu(f64),
    /// c_sw is not a finite number.
    #[error("c_sw = {0:?} is not allowed: the coefficient of the clover term must be a finite number")]
    Csw(f64),
}

impl SiteTerm {
    /// Checks that the operator exists.
    ///
    /// # Errors
    /// When a parameter is not finite.
    pub fn checked(self) -> Result<Self, SiteTermError> {
        let finite = |value: f64, error: fn(f64) -> SiteTermError| {
            if value.is_finite() { Ok(()) } else { Err(error(value)) }
        };
        match self {
            SiteTerm::Scalar => {}
            SiteTerm::Twisted { mu } => finite(mu, SiteTermError::Mu)?,
            SiteTerm::Clover { csw, mu } => {
                finite(csw, SiteTermError::Csw)?;
                finite(mu, SiteTermError::Mu)?;
            }
        }
        Ok(self)
    }

    /// Returns the site term of the other flavour: with −μ.
    #[must_use]
    pub fn other_flavour(self) -> Self {
        match self {
            SiteTerm::Scalar => self,
            SiteTerm::Twisted { mu } => SiteTerm::Twisted { mu: -mu },
            SiteTerm::Clover { csw, mu } => SiteTerm::Clover { csw, mu: -mu },
        }
    }

    /// Returns the twisted mass μ, or zero if there is none.
    pub fn mu(self) -> f64 {
        match self {
            SiteTerm::Scalar => 0.0,
            SiteTerm::Twisted { mu } | SiteTerm::Clover { mu, .. } => mu,
        }
    }

    /// Returns the coefficient of the clover term, or zero if there is none.
    pub fn csw(self) -> f64 {
        match self {
            SiteTerm::Scalar | SiteTerm::Twisted { .. } => 0.0,
            SiteTerm::Clover { csw, .. } => csw,
        }
    }

    /// Returns the factors of M with this κ or mass, on an isotropic lattice.
    pub fn factors(self, coupling: impl Into<Coupling>) -> StencilFactors {
        self.factors_on(Anisotropy::default(), coupling)
    }

    /// Returns the factors of M with this κ or mass, on a lattice with this anisotropy.
    pub fn factors_on(self, anisotropy: Anisotropy, coupling: impl Into<Coupling>) -> StencilFactors {
        let (shift, coefficient) = coupling.into().coefficients(anisotropy);
        let factors = StencilFactors::new(shift, coefficient);
        // −2 times the coefficient of the hopping term is 2κ or 1. No twist is 0, not −0.
        let twist = |mu: f64| if mu == 0.0 { 0.0 } else { -2.0 * coefficient * mu };
        let clover = |csw: f64| match csw {
            0.0 => SiteMatrix::None,
            _ => SiteMatrix::Clover { factor: -coefficient * csw },
        };
        let shift = match self {
            SiteTerm::Scalar => factors.shift,
            SiteTerm::Twisted { mu } => SiteFactor { twist: twist(mu), ..factors.shift },
            SiteTerm::Clover { csw, mu } => {
                SiteFactor { twist: twist(mu), matrix: clover(csw), ..factors.shift }
            }
        };
        StencilFactors { shift, ..factors }
    }

    /// Tells whether γ5 M is Hermitian.
    pub fn is_gamma5_hermitian(self) -> bool {
        self.typical_factors().is_gamma5_hermitian()
    }

    /// Returns factors whose kernels serve all factors with this site term.
    pub(crate) fn typical_factors(self) -> StencilFactors {
        self.factors(super::Kappa(0.1))
    }
}
