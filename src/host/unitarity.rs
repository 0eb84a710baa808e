//! How far links are from SU(3).

use super::configuration::GaugeConfiguration;
use super::ordered_sum::ordered_sum;
use crate::geometry::NDIM;
use serde::Serialize;

/// How far the links of a configuration are from SU(3). NaN if any link has a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Unitarity {
    /// The largest |entry| of U U† − 1.
    pub unitarity_deviation: f64,
    /// The largest |det U − 1|.
    pub determinant_deviation: f64,
}

/// The largest deviations of any link from unitarity and from determinant 1.
pub fn unitarity(config: &GaugeConfiguration) -> Unitarity {
    let [unitarity_deviation, determinant_deviation] = ordered_sum(
        config.dims().volume(),
        [0.0; 2],
        |a, b| [nan_or_larger(a[0], b[0]), nan_or_larger(a[1], b[1])],
        |site| {
            (0..NDIM).map(|mu| config.link(site, mu)).fold([0.0; 2], |largest, link| {
                [
                    nan_or_larger(largest[0], link.unitarity_deviation()),
                    nan_or_larger(largest[1], (link.determinant() - 1.0).norm()),
                ]
            })
        },
    );
    Unitarity { unitarity_deviation, determinant_deviation }
}

/// The larger of the two, or NaN if one is; `f64::max` would drop it.
fn nan_or_larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}
