//! Projections of smeared links to SU(3).

use crate::host::Matrix3;
use serde::Serialize;

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

lattice_files::words! { Projection, "projection": Trace = "trace"; Polar = "polar" }

impl Projection {
    /// Returns the element; `None` for matrices that are singular or not finite.
    pub fn of(self, sum: &Matrix3<f64>) -> Option<Matrix3<f64>> {
        match self {
            Self::Trace => sum.nearest_special_unitary(),
            Self::Polar => sum.special_unitary_factor(),
        }
    }
}
