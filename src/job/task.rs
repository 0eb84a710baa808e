//! The task of a job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The task of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Solves for one column (spin and colour) of each source.
    Invert,
    /// Solves for all twelve columns of each source, and measures the observables.
    #[default]
    Spectrum,
}

impl Task {
    /// All tasks.
    pub const ALL: [Self; 2] = [Self::Invert, Self::Spectrum];
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invert => "invert",
            Self::Spectrum => "spectrum",
        })
    }
}
