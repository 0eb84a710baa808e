//! The plan of a solve of M x = b: preconditioning and precision.

use crate::compute::{DeviceKind, Team};
use crate::operator::SchurSymmetry;
use serde::{Deserialize, Serialize};

/// The preconditioning of M x = b.
///
/// The residual that decides is that of M x = b itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Preconditioning {
    /// M x = b itself.
    #[default]
    None,
    /// The equation of the Schur complement on the even sites.
    ///
    /// See [`SchurComplement`](crate::operator::SchurComplement).
    EvenOdd,
    /// The symmetric Schur complement.
    ///
    /// With it, hops to even sites also end with the inverse.
    EvenOddSymmetric,
}

lattice_files::words! { Preconditioning, "preconditioning": None = "none"; EvenOdd = "even-odd"; EvenOddSymmetric = "even-odd-symmetric" }

impl Preconditioning {
    /// Returns the symmetry of the iterated Schur complement; `None` without one.
    pub(crate) fn schur_symmetry(self) -> Option<SchurSymmetry> {
        match self {
            Self::None => None,
            Self::EvenOdd => Some(SchurSymmetry::Asymmetric),
            Self::EvenOddSymmetric => Some(SchurSymmetry::Symmetric),
        }
    }
}

/// The precision in which an equation is iterated.
///
/// The residual that decides is always in double.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum IterationPrecision {
    /// 64 bits.
    #[default]
    Double,
    /// 32 bits: reaches true residuals of about 1e-6.
    Single,
    /// The iteration has less precision, and finds corrections to a solution in double.
    ///
    /// The iterated residual is replaced by the solution's residual each time that it has fallen
    /// enough. Mixed precision reaches the residuals of double.
    Mixed(Inner),
}

/// The lower precision of a mixed precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Inner {
    /// 32 bits.
    Single,
    /// 16 bits in memory ([`Half`](crate::Half)), arithmetic in 32.
    Half,
}

impl Inner {
    /// Returns the fraction to which ‖r‖ falls before it is replaced.
    ///
    /// Rounding must not have spoiled the iterated residual by then.
    pub(crate) fn replaced_at(self) -> f64 {
        match self {
            Inner::Single => 0.01,
            Inner::Half => 0.1,
        }
    }
}

lattice_files::words! {
    IterationPrecision, "precision of an iteration":
    Double = "double"; Single = "single"; Mixed(Inner::Single) = "mixed-single"; Mixed(Inner::Half) = "mixed-half"
}

impl IterationPrecision {
    /// Returns the mixed precision that suits a team.
    ///
    /// If all devices are GPUs, corrections are in half precision: memory is the limit of GPUs.
    /// Otherwise corrections are in single: half costs more instructions than it saves memory
    /// traffic.
    pub fn mixed_on(team: &Team) -> Self {
        let gpus =
            !team.is_host() && team.devices().iter().all(|device| device.info().kind == DeviceKind::Gpu);
        Self::Mixed(if gpus { Inner::Half } else { Inner::Single })
    }
}
