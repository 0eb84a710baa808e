//! What Dirac operators do within a site.

use super::coupling::Coupling;
use crate::host::{SiteNumber, StencilForm};
use serde::{Deserialize, Serialize};

/// What a Dirac operator does within a site, besides the mass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum SiteTerm {
    /// Nothing: the Wilson operator.
    #[default]
    Scalar,
    /// A twisted mass, + 2iκμγ5 in κ form and + iμγ5 in mass form (R. Frezzotti, P. A. Grassi, S. Sint and P. Weisz, JHEP 08 (2001) 058).
    ///
    /// This is the flavour with τ₃ = +1; the other one has −μ. M† of the one is γ5 M γ5 of the other.
    Twisted {
        /// μ, in lattice units.
        mu: f64,
    },
}

/// A site term that defines no operator.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SiteTermError {
    /// μ is not a number.
    #[error("mu = {0:?} is not allowed: the twisted mass must be a finite number")]
    Mu(f64),
}

impl SiteTerm {
    /// Checks that the operator exists.
    ///
    /// # Errors
    /// When a parameter is not finite.
    pub fn checked(self) -> Result<Self, SiteTermError> {
        match self {
            SiteTerm::Twisted { mu } if !mu.is_finite() => Err(SiteTermError::Mu(mu)),
            _ => Ok(self),
        }
    }

    /// The twisted mass μ; zero where there is none.
    pub fn mu(self) -> f64 {
        match self {
            SiteTerm::Scalar => 0.0,
            SiteTerm::Twisted { mu } => mu,
        }
    }

    /// The numbers of M with this mass.
    pub(super) fn form(self, coupling: Coupling) -> StencilForm {
        let (shift, coefficient) = coupling.coefficients();
        let form = StencilForm::new(shift, coefficient);
        match self {
            SiteTerm::Scalar => form,
            // −2 times the coefficient of the hopping term is 2κ or 1.
            SiteTerm::Twisted { mu } => {
                StencilForm { shift: SiteNumber { twist: -2.0 * coefficient * mu, ..form.shift }, ..form }
            }
        }
    }

    /// A form whose kernels are those of all forms with this site term.
    pub(crate) fn some_form(self) -> StencilForm {
        self.form(super::Kappa(0.1).into())
    }
}
