//! Lattices whose spacing in time differs from the spacing in space.

/// The bare anisotropy ξ0 and the bare velocity ν of quarks.
///
/// Both follow Chroma's definitions. Hops in space have the weight ν/ξ0, hops in time 1. The
/// default is an isotropic lattice, ξ0 = ν = 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anisotropy {
    xi0: f64,
    nu: f64,
}

/// Numbers that define no anisotropic lattice.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AnisotropyError {
    /// ξ0 is not a positive finite number.
    #[error(
        "anisotropy = {0:?} is not allowed: xi0, the ratio of spacings, must be a positive finite number"
    )]
    Xi0(f64),
    /// ν is not a positive finite number, or too far from ξ0.
    #[error("nu = {0:?} is not allowed: it must be a positive finite number, and nu/xi0 too")]
    Nu(f64),
}

impl Anisotropy {
    /// Checks both numbers and makes the anisotropy.
    ///
    /// # Errors
    /// When ξ0, ν or ν/ξ0 is not positive and finite.
    pub fn new(xi0: f64, nu: f64) -> Result<Self, AnisotropyError> {
        if !(xi0.is_normal() && xi0 > 0.0) {
            return Err(AnisotropyError::Xi0(xi0));
        }
        if !((nu / xi0).is_normal() && nu > 0.0) {
            return Err(AnisotropyError::Nu(nu));
        }
        Ok(Self { xi0, nu })
    }

    /// Returns ξ0, the spacing in space over the spacing in time at tree level.
    pub fn xi0(&self) -> f64 {
        self.xi0
    }

    /// Returns ν.
    pub fn nu(&self) -> f64 {
        self.nu
    }

    /// Returns ν/ξ0, the weight of hops in space.
    pub fn spatial_weight(&self) -> f64 {
        self.nu / self.xi0
    }
}

impl Default for Anisotropy {
    fn default() -> Self {
        Self { xi0: 1.0, nu: 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_which_number_is_wrong() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(Anisotropy::new(bad, 1.0), Err(AnisotropyError::Xi0(_))), "{bad}");
            assert!(matches!(Anisotropy::new(1.0, bad), Err(AnisotropyError::Nu(_))), "{bad}");
        }
        assert!(Anisotropy::new(1e300, 1e-300).is_err());
        assert_eq!(Anisotropy::new(2.0, 0.5).unwrap().spatial_weight(), 0.25);
        assert_eq!(Anisotropy::default().spatial_weight(), 1.0);
    }
}
