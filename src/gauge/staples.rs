//! Staples: what is left of loops around a link without the link itself.

use super::directions::Directions;
use crate::host::{LinksOfSites, Matrix3};

/// Returns both staples of a link in a plane.
///
/// C_μ^{(ν)}(x) = U_ν(x) U_μ(x+ν) U_ν†(x+μ) + U_ν†(x−ν) U_μ(x−ν) U_ν(x−ν+μ).
pub(super) fn staples(links: &impl LinksOfSites, site: usize, mu: usize, nu: usize) -> Matrix3<f64> {
    staples_of(links, |site| links.link(site, nu), |site| links.link(site, mu), site, mu, nu)
}

/// Sums staples like [`staples`], of sides and middles that need not be links.
///
/// `side` stands for U_ν, `middle` for U_μ.
pub(super) fn staples_of(
    sites: &impl LinksOfSites,
    side: impl Fn(usize) -> Matrix3<f64>,
    middle: impl Fn(usize) -> Matrix3<f64>,
    site: usize,
    mu: usize,
    nu: usize,
) -> Matrix3<f64> {
    let (ahead, up, down) = (sites.forward(site, mu), sites.forward(site, nu), sites.backward(site, nu));
    let down_ahead = sites.forward(down, mu);
    side(site) * middle(up) * side(ahead).adjoint() + side(down).adjoint() * (middle(down) * side(down_ahead))
}

/// Returns the staples in all planes of these directions, added up.
pub(super) fn staple_sum(
    links: &impl LinksOfSites,
    site: usize,
    mu: usize,
    directions: Directions,
) -> Matrix3<f64> {
    directions.others(mu).fold(Matrix3::zero(), |sum, nu| sum + staples(links, site, mu, nu))
}

/// Returns the six staples of 2×1 links in each plane with μ, added up.
pub(super) fn rectangle_staple_sum(links: &impl LinksOfSites, site: usize, mu: usize) -> Matrix3<f64> {
    let others = Directions::ALL.others(mu);
    others.fold(Matrix3::zero(), |sum, nu| sum + rectangle_staples(links, site, mu, nu))
}

fn rectangle_staples(links: &impl LinksOfSites, x: usize, mu: usize, nu: usize) -> Matrix3<f64> {
    let u = |site, direction| links.link(site, direction);
    let back = |site, direction| links.link(site, direction).adjoint();
    let (forward, backward) = (|s, d| links.forward(s, d), |s, d| links.backward(s, d));
    // The way round a link in direction `a` by the side of `b`, ahead of it and behind it.
    let ahead = |s, a, b| u(s, b) * u(forward(s, b), a) * back(forward(s, a), b);
    let behind = |s, a, b| {
        let below = backward(s, b);
        back(below, b) * u(below, a) * u(forward(below, a), b)
    };
    let (right, up, down) = (forward(x, mu), forward(x, nu), backward(x, nu));
    let down_right = forward(down, mu);
    // Two links in ν, above and below.
    let tall = u(x, nu) * ahead(up, mu, nu) * back(right, nu)
        + back(down, nu) * behind(down, mu, nu) * u(down_right, nu);
    // The first of two links in μ, above and below.
    let first = u(x, nu) * u(up, mu) * ahead(right, nu, mu).adjoint()
        + back(down, nu) * u(down, mu) * ahead(down_right, nu, mu);
    // The second of two links in μ.
    let second = behind(x, nu, mu) * u(up, mu) * back(right, nu)
        + behind(down, nu, mu).adjoint() * u(down, mu) * u(down_right, nu);
    tall + first + second
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gauge::plaquette;
    use crate::geometry::{Dims, NDIM};
    use crate::host::random::hot;
    use crate::host::{GaugeConfiguration, doubled_links};

    fn links() -> GaugeConfiguration {
        hot(Dims::new([4, 2, 6, 4]).unwrap(), 3)
    }

    /// Returns Re tr(U C†), summed over all links.
    fn closed(links: &GaugeConfiguration, staples: impl Fn(usize, usize) -> Matrix3<f64>) -> f64 {
        let of_site = |site| {
            let of_link = |mu| (links.link(site, mu) * staples(site, mu).adjoint()).trace().re;
            (0..NDIM).map(of_link).sum::<f64>()
        };
        (0..links.dims().volume()).map(of_site).sum()
    }

    /// Each plaquette is in the staples of its four links.
    #[test]
    fn staples_close_to_plaquettes() {
        let links = links();
        let sum = closed(&links, |site, mu| staple_sum(&links, site, mu, Directions::ALL));
        let average = sum / (4 * 6 * 3 * links.dims().volume()) as f64;
        assert!((average - plaquette(&links).average).abs() < 1e-14);
    }

    /// Each rectangle is in the staples of its six links.
    #[test]
    fn staples_of_rectangles_close_to_rectangles() {
        let links = links();
        let sum = closed(&links, |site, mu| rectangle_staple_sum(&links, site, mu));
        let doubled = doubled_links(&links);
        let mut expected = 0.0;
        for site in 0..links.dims().volume() {
            for (mu, nu) in (0..NDIM).flat_map(|mu| Directions::ALL.others(mu).map(move |nu| (mu, nu))) {
                let middle = links.forward(links.forward(site, mu), mu);
                let there = doubled[NDIM * site + mu] * links.link(middle, nu);
                let back = links.link(site, nu) * doubled[NDIM * links.forward(site, nu) + mu];
                expected += 6.0 * (there * back.adjoint()).trace().re;
            }
        }
        assert!((sum - expected).abs() < 1e-9, "{sum} {expected}");
    }
}
