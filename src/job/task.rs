//! The task of a job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

lattice_files::words! { Task, "task": Invert = "invert"; Spectrum = "spectrum" }
