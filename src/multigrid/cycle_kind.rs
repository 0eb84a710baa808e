//! The kinds of cycles, by name.

use serde::{Deserialize, Serialize};

/// The solve of coarse levels that have another level below them.
///
/// The choice matters for three levels or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CycleKind {
    /// One cycle on each level.
    #[default]
    V,
    /// Up to three steps of GCR on each level, until the residual has fallen to a quarter.
    ///
    /// Each step is a cycle.
    K,
}

lattice_files::words! { CycleKind, "multigrid cycle": V = "v"; K = "k" }

impl CycleKind {
    /// Returns the most steps of a solve, and how far the residual falls.
    pub(super) fn steps(self) -> (usize, f64) {
        match self {
            Self::V => (1, 1.0),
            Self::K => (3, 0.25),
        }
    }

    /// Returns the steps that a solve is expected to take.
    pub(super) fn expected_steps(self) -> f64 {
        match self {
            Self::V => 1.0,
            Self::K => 2.0,
        }
    }
}
