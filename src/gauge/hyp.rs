//! HYP smearing (A. Hasenfratz and F. Knechtli, Phys. Rev. D 64, 034504 (2001)).
//!
//! A link is smeared with links that share a hypercube with it. Level by level, P a projection to
//! SU(3):
//!
//! | level | links |
//! |---|---|
//! | inner | V̄_{μ;η} = P\[(1−α3) U_μ + α3/2 C_μ^{(η)}(U)\], staples in one direction η |
//! | middle | Ṽ_{μ;ν} = P\[(1−α2) U_μ + α2/4 Σ_ρ C_μ^{(ρ)}(V̄_{·;σ})\], ρ and σ the two directions beside μ and ν |
//! | outer | V_μ = P\[(1−α1) U_μ + α1/6 Σ_ν staples with sides Ṽ_{ν;μ} and middles Ṽ_{μ;ν}\] |
//!
//! In space there are two levels: V_μ = P\[(1−α2) U_μ + α2/4 Σ_ν C_μ^{(ν)}(V̄_{·;η})\], η the third
//! direction.

use super::link_table::LinkTable;
use super::projection::Projection;
use super::staples::{staples, staples_of};
use crate::geometry::NDIM;
use crate::host::{LinksOfSites, Matrix3, ProjectionError};

/// Directions of space.
const SPACE: usize = NDIM - 1;

/// Fields of links in memory at once, in four dimensions and in space.
pub(super) const FIELDS: [usize; 2] = [10, 5];

/// Does one step in four dimensions.
pub(super) fn hyp_step(
    links: &LinkTable,
    [outer, middle, inner]: [f64; 3],
    projection: Projection,
) -> Result<LinkTable, ProjectionError> {
    let inner = levels(NDIM, |eta| inner_level(links, inner, eta, NDIM, projection))?;
    let middle = levels(NDIM, |nu| {
        links.try_with_links(|site, mu| {
            let link = links.link(site, mu);
            if mu == nu {
                return Some(link);
            }
            let sum = sum_over((0..NDIM).filter(|&rho| rho != mu && rho != nu), |rho| {
                // The direction that is none of the three.
                let sigma = 6 - mu - nu - rho;
                staples(&inner[sigma], site, mu, rho)
            });
            projection.of(&(link.scale(1.0 - middle) + sum.scale(middle / 4.0)))
        })
    })?;
    drop(inner);
    links.try_with_links(|site, mu| {
        let sum = sum_over((0..NDIM).filter(|&nu| nu != mu), |nu| {
            let (side, top) = (&middle[mu], &middle[nu]);
            staples_of(links, |site| side.link(site, nu), |site| top.link(site, mu), site, mu, nu)
        });
        projection.of(&(links.link(site, mu).scale(1.0 - outer) + sum.scale(outer / 6.0)))
    })
}

/// Does one step of the spatial links, with spatial staples.
pub(super) fn hyp_step_in_space(
    links: &LinkTable,
    [outer, inner]: [f64; 2],
    projection: Projection,
) -> Result<LinkTable, ProjectionError> {
    let inner = levels(SPACE, |eta| inner_level(links, inner, eta, SPACE, projection))?;
    links.try_with_links(|site, mu| {
        let link = links.link(site, mu);
        if mu == SPACE {
            return Some(link);
        }
        let sum =
            sum_over((0..SPACE).filter(|&nu| nu != mu), |nu| staples(&inner[3 - mu - nu], site, mu, nu));
        projection.of(&(link.scale(1.0 - outer) + sum.scale(outer / 4.0)))
    })
}

/// Computes V̄_{μ;η} in the first `directions`. Other links stay.
fn inner_level(
    links: &LinkTable,
    alpha: f64,
    eta: usize,
    directions: usize,
    projection: Projection,
) -> Result<LinkTable, ProjectionError> {
    links.try_with_links(|site, mu| {
        let link = links.link(site, mu);
        if mu == eta || mu >= directions {
            return Some(link);
        }
        projection.of(&(link.scale(1.0 - alpha) + staples(links, site, mu, eta).scale(alpha / 2.0)))
    })
}

/// Returns a field of links for each direction.
fn levels(
    directions: usize,
    level: impl Fn(usize) -> Result<LinkTable, ProjectionError>,
) -> Result<Vec<LinkTable>, ProjectionError> {
    (0..directions).map(level).collect()
}

fn sum_over(directions: impl Iterator<Item = usize>, term: impl Fn(usize) -> Matrix3<f64>) -> Matrix3<f64> {
    directions.fold(Matrix3::zero(), |sum, direction| sum + term(direction))
}
