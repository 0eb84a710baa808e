//! Stout smearing (C. Morningstar and M. Peardon, Phys. Rev. D 69, 054501 (2004)).

use super::directions::Directions;
use super::link_table::LinkTable;
use super::staples::staple_sum;
use crate::host::LinksOfSites;

/// Does one step: U_μ → exp(TA(ρ C_μ U_μ†)) U_μ.
///
/// ρ is equal in all planes of the directions.
pub(super) fn stout_step(links: &LinkTable, rho: f64, directions: Directions) -> LinkTable {
    links.with_links(|site, mu| {
        let link = links.link(site, mu);
        if !directions.contains(mu) {
            return link;
        }
        let force = staple_sum(links, site, mu, directions).scale(rho) * link.adjoint();
        force.traceless_anti_hermitian().exponential() * link
    })
}
