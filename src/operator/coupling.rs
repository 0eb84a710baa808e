//! The quark mass, in κ or mass normalisation.

use crate::geometry::{Anisotropy, NDIM};

/// The hopping parameter κ: selects the normalisation M = 1 − κ H.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kappa(pub f64);

/// The bare quark mass m: selects the normalisation M = (4 + m) − ½ H.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mass(pub f64);

/// The quark mass, which also fixes the normalisation of M.
///
/// The masses are related by m = 1/(2κ) − 4, the operators by M_mass = M_κ / (2κ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coupling {
    /// The hopping parameter: M in κ normalisation.
    Kappa(Kappa),
    /// The bare mass: M in mass normalisation.
    Mass(Mass),
}

/// A κ or mass that defines no operator.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum CouplingError {
    /// κ is not positive and finite, or so small that the mass would be infinite.
    #[error("kappa = {0:?} is not allowed: it must be a positive finite number, and 1/kappa finite")]
    Kappa(f64),
    /// The mass is not a finite number above −4, or so large that κ would vanish.
    #[error(
        "mass = {0:?} is not allowed: it must be a finite number above -4, where kappa would be infinite, and kappa not vanish"
    )]
    Mass(f64),
    /// The multiple of 1 in M vanishes or is negative, on an anisotropic lattice.
    #[error(
        "kappa = {kappa:?} is not allowed with nu/xi0 = {weight:?}: the multiple of 1 in M, {diagonal:?} in kappa normalisation, must be positive and finite"
    )]
    Diagonal {
        /// The hopping parameter.
        kappa: f64,
        /// The weight of hops in space.
        weight: f64,
        /// The multiple of 1 in κ normalisation.
        diagonal: f64,
    },
}

impl From<Kappa> for Coupling {
    fn from(kappa: Kappa) -> Self {
        Coupling::Kappa(kappa)
    }
}

impl From<Mass> for Coupling {
    fn from(mass: Mass) -> Self {
        Coupling::Mass(mass)
    }
}

impl Coupling {
    /// Checks that the operator exists.
    ///
    /// # Errors
    /// * κ is not positive and finite.
    /// * m is not finite, or not above −4.
    /// * κ or m is so extreme that the other number is not normal.
    pub fn checked(self) -> Result<Self, CouplingError> {
        match self {
            Coupling::Kappa(Kappa(kappa)) if !(kappa.is_normal() && kappa > 0.0) => {
                Err(CouplingError::Kappa(kappa))
            }
            Coupling::Mass(Mass(mass)) if !(mass > -4.0 && self.kappa().is_normal()) => {
                Err(CouplingError::Mass(mass))
            }
            _ => Ok(self),
        }
    }

    /// Checks that the operator exists on a lattice with this anisotropy.
    ///
    /// # Errors
    /// Fails like [`checked`](Self::checked), and when 1 + 3ν/ξ0 + m is not positive and finite.
    pub fn checked_on(self, anisotropy: Anisotropy) -> Result<Self, CouplingError> {
        let (shift, coefficient) = self.checked()?.coefficients(anisotropy);
        if shift.is_finite() && shift > 0.0 {
            return Ok(self);
        }
        let (kappa, weight) = (self.kappa(), anisotropy.spatial_weight());
        Err(CouplingError::Diagonal { kappa, weight, diagonal: shift * (kappa / -coefficient) })
    }

    /// Returns κ = 1 / (8 + 2m).
    pub fn kappa(self) -> f64 {
        match self {
            Coupling::Kappa(Kappa(kappa)) => kappa,
            Coupling::Mass(Mass(mass)) => 0.5 / (4.0 + mass),
        }
    }

    /// Returns m = 1/(2κ) − 4.
    pub fn mass(self) -> f64 {
        match self {
            Coupling::Kappa(Kappa(kappa)) => 0.5 / kappa - 4.0,
            Coupling::Mass(Mass(mass)) => mass,
        }
    }

    /// Returns the coefficients of the hops in x, y, z and t, without their sign.
    ///
    /// They are κ, or ½ in mass normalisation; in space times ν/ξ0.
    pub fn hop_weights(self, anisotropy: Anisotropy) -> [f64; NDIM] {
        let (_, coefficient) = self.coefficients(anisotropy);
        let in_space = -coefficient * anisotropy.spatial_weight();
        [in_space, in_space, in_space, -coefficient]
    }

    /// Returns the coefficients of ψ and of the hopping term.
    ///
    /// Hops in space have the weight w = ν/ξ0 in the hopping term. In mass normalisation the
    /// coefficient of ψ is 1 + 3w + m. In κ normalisation it is 2κ times as large: 1 − 6κ(1 − w).
    pub(super) fn coefficients(self, anisotropy: Anisotropy) -> (f64, f64) {
        let weight = anisotropy.spatial_weight();
        match self {
            Coupling::Kappa(Kappa(kappa)) => (1.0 - 6.0 * kappa * (1.0 - weight), -kappa),
            Coupling::Mass(Mass(mass)) => (1.0 + 3.0 * weight + mass, -0.5),
        }
    }
}
