//! APE smearing (M. Albanese et al., Phys. Lett. B 192, 163 (1987)).

use super::directions::Directions;
use super::link_table::LinkTable;
use super::projection::Projection;
use super::staples::staple_sum;
use crate::host::{LinksOfSites, ProjectionError};

/// Computes V_μ = P\[(1−α) U_μ + α/(2(d−1)) Σ_ν C_μ^{(ν)}\] in d directions.
///
/// Codes that smear c U + Σ C have c = 2(d−1)(1−α)/α.
pub(super) fn ape_step(
    links: &LinkTable,
    alpha: f64,
    directions: Directions,
    projection: Projection,
) -> Result<LinkTable, ProjectionError> {
    let of_staples = alpha / (2 * (directions.count() - 1)) as f64;
    links.try_with_links(|site, mu| {
        let link = links.link(site, mu);
        if !directions.contains(mu) {
            return Some(link);
        }
        let staples = staple_sum(links, site, mu, directions).scale(of_staples);
        projection.of(&(link.scale(1.0 - alpha) + staples))
    })
}
