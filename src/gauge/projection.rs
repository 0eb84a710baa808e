//! Projections of smeared links to SU(3).

use crate::host::Matrix3;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// The element of SU(3) that stands for a sum of links A.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Projection {
    /// The element V with the largest Re tr(V A†): the one nearest to A.
    #[default]
    Trace,
    /// The unitary factor A (A†A)^(−1/2), divided by the cube root of its determinant.
    Polar,
}

impl Projection {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Trace, Self::Polar];

    /// Returns the element; `None` for matrices that are singular or not finite.
    pub fn of(self, sum: &Matrix3<f64>) -> Option<Matrix3<f64>> {
        match self {
            Self::Trace => sum.nearest_special_unitary(),
            Self::Polar => sum.special_unitary_factor(),
        }
    }
}

impl fmt::Display for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Trace => "trace",
            Self::Polar => "polar",
        })
    }
}

impl FromStr for Projection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|projection| projection.to_string() == text);
        named.ok_or_else(|| format!("`{text}` is not a projection; choose trace or polar"))
    }
}
