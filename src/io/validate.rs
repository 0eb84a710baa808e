//! Whether links are what a gauge field is made of.

use super::error::ErrorKind;
use crate::host::{Dims, GaugeConfiguration, Links, Matrix3, NDIM};
use crate::scalar::Real;
use rayon::prelude::*;

/// The largest deviation from SU(3) that is taken without question, in either precision: files in double may hold
/// links that once were single, which are off by up to some 1e-6, while a flipped bit that matters, a wrong byte
/// order or a rescaled link is off by far more.
pub const UNITARITY_LIMIT: f64 = 1e-4;

/// Refuses infinities and NaN, and names the first of them.
pub(super) fn check_finite(config: &GaugeConfiguration) -> Result<(), ErrorKind> {
    fn first<T: Real>(links: &[Matrix3<T>]) -> Option<usize> {
        let finite =
            |link: &Matrix3<T>| link.0.iter().flatten().all(|z| z.re.is_finite() && z.im.is_finite());
        links.par_iter().position_first(|link| !finite(link))
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

/// Refuses links that are off SU(3) by more than [`UNITARITY_LIMIT`], and names the worst.
pub(super) fn check_special_unitary(config: &GaugeConfiguration) -> Result<(), ErrorKind> {
    // Of equal ones the first, so that the answer does not depend on the threads.
    let worst = (0..NDIM * config.dims().volume())
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

/// The larger of max |U U† − 1| and |det U − 1|; infinite where they overflow.
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
