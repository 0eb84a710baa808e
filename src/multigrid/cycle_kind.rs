//! The kinds of cycles, by name.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

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

impl CycleKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::V, Self::K];

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

impl fmt::Display for CycleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V => "v",
            Self::K => "k",
        })
    }
}

impl FromStr for CycleKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.to_string() == text);
        found.ok_or_else(|| format!("`{text}` is no multigrid cycle; choose v or k"))
    }
}
