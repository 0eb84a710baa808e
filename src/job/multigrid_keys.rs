//! The keys of `[solver]` that only a multigrid method has.

use super::invalid::Invalid;
use crate::io::text::{self, words_of};
use crate::multigrid::{Block, CycleKind, MOST_DEGREE, MOST_SETUP_ITERATIONS, MOST_VECTORS};
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The keys of a multigrid method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Setters)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct MultigridKeys {
    /// Levels of multigrid with the finest: 2 to 4. Default: as many as pay.
    #[cfg_attr(
        feature = "cli",
        arg(id = "multigrid_levels", long = "multigrid-levels", value_name = "N", hide_short_help = true)
    )]
    #[serde(rename = "multigrid-levels", skip_serializing_if = "Option::is_none")]
    pub levels: Option<usize>,
    /// Near-null vectors of each multigrid level, 1 to 128. Default: 24, less for small blocks.
    #[cfg_attr(
        feature = "cli",
        arg(id = "multigrid_vectors", long = "multigrid-vectors", value_name = "N", hide_short_help = true)
    )]
    #[serde(rename = "multigrid-vectors", skip_serializing_if = "Option::is_none")]
    pub vectors: Option<usize>,
    /// Iterations of BiCGStab that make a near-null vector, 1 to 1000. Default: 60.
    #[cfg_attr(
        feature = "cli",
        arg(
            id = "multigrid_iterations",
            long = "multigrid-iterations",
            value_name = "N",
            hide_short_help = true
        )
    )]
    #[serde(rename = "multigrid-iterations", skip_serializing_if = "Option::is_none")]
    pub iterations: Option<usize>,
    /// Extents of a multigrid block in x, y, z, t: 4x4x4x4. Default: about 4 each.
    ///
    /// The extents divide the lattice and the domains of its devices.
    #[cfg_attr(
        feature = "cli",
        arg(id = "multigrid_block", long = "multigrid-block", value_name = "BLOCK", hide_short_help = true)
    )]
    #[schemars(with = "String")]
    #[serde(rename = "multigrid-block", with = "text::option", skip_serializing_if = "Option::is_none")]
    pub block: Option<Block>,
    /// Degree of the multigrid smoother of the finest level, 1 to 16. Default: 4.
    #[cfg_attr(
        feature = "cli",
        arg(
            id = "multigrid_smoother",
            long = "multigrid-smoother",
            value_name = "N",
            hide_short_help = true
        )
    )]
    #[serde(rename = "multigrid-smoother", skip_serializing_if = "Option::is_none")]
    pub smoother: Option<usize>,
    /// Multigrid cycle of coarse levels: v, or k with more work and fewer cycles. Default: v.
    #[cfg_attr(
        feature = "cli",
        arg(id = "multigrid_cycle", long = "multigrid-cycle", value_name = "CYCLE", hide_short_help = true)
    )]
    #[schemars(schema_with = "words_of::<CycleKind>")]
    #[serde(rename = "multigrid-cycle", with = "text::option", skip_serializing_if = "Option::is_none")]
    pub cycle: Option<CycleKind>,
    /// File of the multigrid near-null vectors.
    ///
    /// A job writes the file if it does not exist. Other jobs on the same configuration read it.
    #[cfg_attr(
        feature = "cli",
        arg(id = "multigrid_setup", long = "multigrid-setup", value_name = "FILE", hide_short_help = true)
    )]
    #[serde(rename = "multigrid-setup", skip_serializing_if = "Option::is_none")]
    pub setup: Option<PathBuf>,
}

impl MultigridKeys {
    /// Checks that numbers are in their ranges.
    ///
    /// # Errors
    /// The first number that is not.
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let ranges = [
            ("multigrid-levels", self.levels, 2..=4),
            ("multigrid-vectors", self.vectors, 1..=MOST_VECTORS),
            ("multigrid-iterations", self.iterations, 1..=MOST_SETUP_ITERATIONS),
            ("multigrid-smoother", self.smoother, 1..=MOST_DEGREE),
        ];
        for (key, value, allowed) in ranges {
            if let Some(value) = value.filter(|value| !allowed.contains(value)) {
                return Err(Invalid::OfMultigrid { key, value, allowed });
            }
        }
        Ok(())
    }
}
