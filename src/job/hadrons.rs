//! `[hadrons]`: correlators of mesons, baryons and currents.

use super::invalid::Invalid;
use super::text;
use crate::geometry::Dims;
use crate::hadron::{HadronSets, Momenta, MomentaError, momenta_up_to};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest n² that a job may ask for.
const LARGEST_SQUARE: u64 = 1 << 20;

/// The hadrons to measure along t (spectrum only).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct HadronTable {
    /// Sets of hadrons with commas between them: mesons, octet, decuplet, currents.
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub hadrons: Option<HadronSets>,
    /// Momenta p = 2πn/L with n_x² + n_y² + n_z² up to this number. Default: 0.
    #[schemars(with = "u32")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub momenta: Option<u64>,
    /// Average over equivalent momenta.
    pub average_momenta: bool,
}

impl HadronTable {
    /// Returns `true` if nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// Checks the keys.
    ///
    /// # Errors
    /// If momenta are given without hadrons, or are too many.
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let given = [("momenta", self.momenta.is_some()), ("average-momenta", self.average_momenta)];
        if let (None, Some((key, _))) = (&self.hadrons, given.into_iter().find(|(_, is_given)| *is_given)) {
            return Err(Invalid::MomentaOfNothing(key));
        }
        match self.momenta {
            Some(square) if square > LARGEST_SQUARE => Err(Invalid::Momenta { square, most: LARGEST_SQUARE }),
            _ => Ok(()),
        }
    }

    /// Returns the momenta on a lattice.
    ///
    /// # Errors
    /// If the lattice does not have them all.
    pub(super) fn momenta(&self, dims: Dims) -> Result<Momenta, MomentaError> {
        let squared = u32::try_from(self.momenta.unwrap_or(0)).unwrap_or(u32::MAX);
        let momenta = Momenta::each(momenta_up_to(squared, dims)?);
        Ok(if self.average_momenta { momenta.averaged(dims) } else { momenta })
    }
}
