//! The distance of links from SU(3).

use super::configuration::GaugeConfiguration;
use super::ordered_sum::ordered_sum_of_sites;
use crate::geometry::NDIM;
use lattice_solvers::range::larger;
use serde::Serialize;

/// Distance of the links of a configuration from SU(3). NaN if any link has a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Unitarity {
    /// The largest |entry| of U U† − 1.
    pub unitarity_deviation: f64,
    /// The largest |det U − 1|.
    pub determinant_deviation: f64,
}

/// Returns the largest deviations of links from unitarity and from determinant 1.
///
/// Processes that have parts of the links all call this.
pub fn unitarity(config: &GaugeConfiguration) -> Unitarity {
    let largest = ordered_sum_of_sites(
        config.dims().volume(),
        config.part(),
        [0.0; 2],
        |a, b| [larger(a[0], b[0]), larger(a[1], b[1])],
        |site| {
            (0..NDIM).map(|mu| config.link(site, mu)).fold([0.0; 2], |largest, link| {
                [
                    larger(largest[0], link.unitarity_deviation()),
                    larger(largest[1], (link.determinant() - 1.0).norm()),
                ]
            })
        },
    );
    let [unitarity_deviation, determinant_deviation] = largest.unwrap_or([f64::NAN; 2]);
    Unitarity { unitarity_deviation, determinant_deviation }
}
