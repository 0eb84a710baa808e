//! Checks that links are those of a gauge field.

use super::error::ErrorKind;
use super::signs::LinkSign;
use crate::compute::parallel::*;
use crate::geometry::{Dims, NDIM};
use crate::host::{GaugeConfiguration, Links, Matrix3, first_index};
use crate::scalar::Real;

/// The largest deviation from SU(3) that is accepted, in either precision.
///
/// Files in double may hold links that once were single. Such links are off by up to some 1e-6. A
/// flipped bit that matters, a wrong byte order or a rescaled link is off by far more.
pub const UNITARITY_LIMIT: f64 = 1e-4;

/// Refuses infinities and NaN, and names the first of them.
///
/// In a part of a configuration the name is not that of the link.
pub(super) fn check_finite(config: &GaugeConfiguration) -> Result<(), ErrorKind> {
    fn first<T: Real>(links: &[Matrix3<T>]) -> Option<usize> {
        let finite =
            |link: &Matrix3<T>| link.0.iter().flatten().all(|z| z.re.is_finite() && z.im.is_finite());
        first_index(links, |link| !finite(link))
    }
    let first = match config.links() {
        Links::Single(links) => first(links),
        Links::Double(links) => first(links),
    };
    match first {
        None => Ok(()),
        Some(index) => {
            let (coordinates, direction) = place(config.dims(), index);
            Err(ErrorKind::NotFinite { coordinates, direction })
        }
    }
}

/// Refuses links that are off SU(3) by more than [`UNITARITY_LIMIT`].
///
/// The error names the worst link. A process with a part of the links checks its share.
pub(super) fn check_special_unitary(config: &GaugeConfiguration) -> Result<(), ErrorKind> {
    // The first of equal ones is named, so that the answer does not depend on the threads.
    let share = config.share();
    let worst = (NDIM * share.start..NDIM * share.end)
        .into_par_iter()
        .map(|index| (deviation(&config.link(index / NDIM, index % NDIM)), index))
        .reduce(|| (0.0, usize::MAX), |a, b| if (b.0, a.1) > (a.0, b.1) { b } else { a });
    let (deviation, index) = worst;
    if deviation <= UNITARITY_LIMIT {
        return Ok(());
    }
    let (coordinates, direction) = place(config.dims(), index);
    Err(ErrorKind::NotSpecialUnitary { coordinates, direction, deviation, limit: UNITARITY_LIMIT })
}

/// The links of a configuration that have determinant −1.
#[derive(Debug, PartialEq)]
pub(super) enum Signs {
    /// No links, or there are links that are not unitary with determinant ±1.
    None,
    /// All links of some directions that leave one slice.
    ///
    /// A boundary condition makes such signs.
    Slices(Vec<LinkSign>),
    /// Number of links in another pattern, for example staggered phases.
    Others(usize),
}

/// Finds the signs in the links.
pub(super) fn signs(config: &GaugeConfiguration) -> Signs {
    let dims = config.dims();
    // For each direction and slice, the number of links with determinant −1; `None` if one is
    // neither 1 nor −1.
    let counts = (0..dims.volume()).into_par_iter().with_min_len(1024).try_fold(
        || Slices::new(dims),
        |mut slices, site| {
            let coordinates = dims.coordinates(site);
            for mu in 0..NDIM {
                let sign = config.link(site, mu).determinant_sign()?;
                slices.0[mu][coordinates[mu]] += usize::from(sign < 0.0);
            }
            Some(slices)
        },
    );
    let Some(counts) = counts else { return Signs::None };
    let Slices(counts) = counts.iter().fold(Slices::new(dims), |sum, more| sum.plus(more));
    let mut signs = Vec::new();
    for mu in 0..NDIM {
        let mut signed = (0..dims[mu]).filter(|&slice| counts[mu][slice] > 0);
        match (signed.next(), signed.next()) {
            (None, _) => {}
            (Some(slice), None) if counts[mu][slice] == dims.volume() / dims[mu] => {
                signs.push(LinkSign { direction: Dims::direction_name(mu), slice });
            }
            _ => return Signs::Others(counts.iter().flatten().sum()),
        }
    }
    if signs.is_empty() { Signs::None } else { Signs::Slices(signs) }
}

struct Slices([Vec<usize>; NDIM]);

impl Slices {
    fn new(dims: Dims) -> Self {
        Self(std::array::from_fn(|mu| vec![0; dims[mu]]))
    }

    fn plus(mut self, other: &Self) -> Self {
        for (own, other) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *own += other;
        }
        self
    }
}

/// Returns averages of plaquettes that differ by more than statistics.
///
/// One average is for the slice of a sign, the other for all other slices.
///
/// A sign on a whole slice cancels in every plaquette. If the slice stands out, more than a sign is
/// wrong with its links.
pub(super) fn odd_plaquettes(config: &GaugeConfiguration, sign: LinkSign) -> Option<[f64; 2]> {
    /// Number of errors of an average that are no accident.
    ///
    /// Neighbouring plaquettes are correlated.
    const SIGMAS: f64 = 10.0;
    let dims = config.dims();
    let mu = (0..NDIM).find(|&mu| Dims::direction_name(mu) == sign.direction)?;
    let plaquette = |site: usize, nu: usize| {
        let there = config.link(site, mu) * config.link(dims.forward(site, mu), nu);
        let back = config.link(site, nu) * config.link(dims.forward(site, nu), mu);
        (there * back.adjoint()).trace().re / 3.0
    };
    // Number, sum, and sum of squares, on the slice and elsewhere.
    let sums = (0..dims.volume())
        .into_par_iter()
        .with_min_len(1024)
        .map(|site| {
            let mut sums = [[0.0; 3]; 2];
            let here = usize::from(dims.coordinates(site)[mu] != sign.slice);
            for nu in (0..NDIM).filter(|&nu| nu != mu) {
                let value = plaquette(site, nu);
                for (sum, term) in sums[here].iter_mut().zip([1.0, value, value * value]) {
                    *sum += term;
                }
            }
            sums
        })
        .reduce(Default::default, |a, b| std::array::from_fn(|k| std::array::from_fn(|i| a[k][i] + b[k][i])));
    let [here, elsewhere] = sums.map(|[count, sum, _]| sum / count);
    let [_, [count, _, squares]] = sums;
    let variance = (squares / count - elsewhere * elsewhere).max(0.0);
    let error = (variance / sums[0][0]).sqrt();
    // Equal plaquettes, for example on the free field, differ by rounding.
    ((here - elsewhere).abs() > SIGMAS * error + 1e-6).then_some([here, elsewhere])
}

/// Multiplies the links that have these signs by −1.
pub(super) fn change_signs(config: &mut GaugeConfiguration, signs: &[LinkSign]) {
    fn change<T: Real>(dims: Dims, links: &mut [Matrix3<T>], signs: &[LinkSign]) {
        links.par_chunks_exact_mut(NDIM).enumerate().for_each(|(site, links)| {
            let coordinates = dims.coordinates(site);
            for (mu, link) in links.iter_mut().enumerate() {
                let here = LinkSign { direction: Dims::direction_name(mu), slice: coordinates[mu] };
                if signs.contains(&here) {
                    *link = link.scale(-T::one());
                }
            }
        });
    }
    let dims = config.dims();
    match config.links_mut() {
        Links::Single(links) => change(dims, links, signs),
        Links::Double(links) => change(dims, links, signs),
    }
}

/// Returns the larger of max |U U† − 1| and |det U − 1|.
///
/// The result is infinite if these numbers overflow.
fn deviation(link: &Matrix3<f64>) -> f64 {
    let (unitarity, determinant) = (link.unitarity_deviation(), (link.determinant() - 1.0).norm());
    if unitarity.is_nan() || determinant.is_nan() { f64::INFINITY } else { unitarity.max(determinant) }
}

fn place(dims: Dims, index: usize) -> ([usize; NDIM], char) {
    (dims.coordinates(index / NDIM), Dims::direction_name(index % NDIM))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gauge::{GenerateParams, Start, generate};
    use std::ops::ControlFlow;

    fn with(index: usize, value: f64) -> GaugeConfiguration {
        let mut config = GaugeConfiguration::unit(Dims::new([2, 4, 2, 6]).unwrap());
        let Links::Double(links) = config.links_mut() else { unreachable!("made in double") };
        links[index].0[1][1].re = value;
        config
    }

    #[test]
    fn the_first_link_that_is_not_finite_is_named() {
        for value in [f64::NAN, f64::INFINITY] {
            // Site 7 of 2×4×2×6 is x = 1, y = 3.
            let found = check_finite(&with(7 * NDIM + 2, value));
            assert!(
                matches!(found, Err(ErrorKind::NotFinite { coordinates: [1, 3, 0, 0], direction: 'z' })),
                "{found:?}"
            );
        }
        assert!(check_finite(&with(30, 1e300)).is_ok());
        let mut several = with(7 * NDIM + 2, f64::NAN);
        several.set_link(3, 1, several.link(3, 1).scale(f64::INFINITY));
        let found = check_finite(&several);
        assert!(
            matches!(found, Err(ErrorKind::NotFinite { coordinates: [1, 1, 0, 0], direction: 'y' })),
            "{found:?}"
        );
    }

    #[test]
    fn boundary_signs_are_found_and_taken_out() {
        let sign = |direction, slice| LinkSign { direction, slice };
        for signs in [vec![sign('t', 5)], vec![sign('t', 0)], vec![sign('x', 1), sign('t', 5)]] {
            let unit = GaugeConfiguration::unit(Dims::new([2, 4, 2, 6]).unwrap());
            let mut config = unit.clone();
            change_signs(&mut config, &signs);
            assert_eq!(super::signs(&config), Signs::Slices(signs.clone()));
            assert!(check_special_unitary(&config).is_err());
            change_signs(&mut config, &signs);
            assert_eq!(config, unit);
        }
        // Half a slice, two slices, staggered phases, and links that are no unitary matrices.
        let patterns: [fn([usize; 4], usize) -> f64; 4] = [
            |[x, _, _, t], mu| if mu == 3 && t == 5 && x == 0 { -1.0 } else { 1.0 },
            |[_, _, _, t], mu| if mu == 3 && t > 3 { -1.0 } else { 1.0 },
            |[x, y, z, _], mu| {
                if (x * usize::from(mu > 0) + y * usize::from(mu > 1) + z * usize::from(mu > 2)) % 2 == 1 {
                    -1.0
                } else {
                    1.0
                }
            },
            |[_, _, _, t], mu| if mu == 3 && t == 5 { -1.2 } else { 1.0 },
        ];
        for (k, pattern) in patterns.iter().enumerate() {
            let is_last = k + 1 == patterns.len();
            let mut config = GaugeConfiguration::unit(Dims::new([2, 4, 2, 6]).unwrap());
            for index in 0..NDIM * config.dims().volume() {
                let (site, mu) = (index / NDIM, index % NDIM);
                let factor = pattern(config.dims().coordinates(site), mu);
                config.set_link(site, mu, config.link(site, mu).scale(factor));
            }
            match super::signs(&config) {
                Signs::Others(count) => assert!(count > 0 && !is_last, "{count}"),
                Signs::None => assert!(is_last),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(super::signs(&with(5, f64::NAN)), Signs::None);
        assert_eq!(super::signs(&with(5, 1.0)), Signs::None);
    }

    #[test]
    fn a_slice_with_more_than_a_sign_stands_out() {
        let dims = Dims::new([4, 4, 4, 6]).unwrap();
        let params = GenerateParams { beta: 6.0, sweeps: 6, ..GenerateParams::default() };
        let config = generate(dims, Start::Hot, &params, &mut |_, _| ControlFlow::Continue(())).unwrap();
        let sign = LinkSign { direction: 't', slice: 5 };
        let mut signed = config.clone();
        change_signs(&mut signed, &[sign]);
        assert_eq!(odd_plaquettes(&config, sign), None);
        assert_eq!(odd_plaquettes(&signed, sign), None);
        assert_eq!(odd_plaquettes(&GaugeConfiguration::unit(dims), sign), None);
        // The third row alone: the determinant is -1 as well.
        let mut third = config.clone();
        for site in (0..dims.volume()).filter(|&site| dims.coordinates(site)[3] == 5) {
            let mut link = config.link(site, 3);
            link.0[2] = link.0[2].map(|entry| -entry);
            third.set_link(site, 3, link);
        }
        assert_eq!(signs(&third), Signs::Slices(vec![sign]));
        let [here, elsewhere] = odd_plaquettes(&third, sign).unwrap();
        assert!(here < elsewhere, "{here} {elsewhere}");
    }

    #[test]
    fn the_worst_link_is_named() {
        assert!(check_special_unitary(&with(5, 1.0 + 1e-6)).is_ok());
        for (value, wanted) in [(1.01, 0.0201), (-1.0, 2.0), (1e200, f64::INFINITY)] {
            match check_special_unitary(&with(7 * NDIM + 3, value)) {
                Err(ErrorKind::NotSpecialUnitary {
                    coordinates: [1, 3, 0, 0],
                    direction: 't',
                    deviation,
                    ..
                }) => {
                    assert!(deviation == wanted || (deviation - wanted).abs() < 1e-12, "{deviation}");
                }
                other => panic!("{value}: {other:?}"),
            }
        }
    }
}
