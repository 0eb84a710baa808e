//! The scale of stored links: elements of any size fit into the range of half precision.
//!
//! Half precision stores numbers up to 1. Links in SU(3) have no larger elements. Other links are
//! divided by a power of two, in every precision, and hops are multiplied by it. So conversions
//! between precisions need not know of it, and no bit of other precisions changes.

use crate::geometry::{LatticeError, NDIM};
use crate::host::{GaugeConfiguration, ordered_sum_of_sites};
use crate::scalar::Half;
use lattice_solvers::range::larger;

/// Largest ratio of the largest element to the usual one that half precision stores.
///
/// Links in SU(3) have a ratio of √3 or less. With this ratio the rounding of a usual element is a
/// thousandth of it, which solvers in mixed precision do not notice.
const MOST_UNLIKE: f64 = 32.0;

/// The factor by which stored links are divided, and the sizes of their elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LinkScale {
    /// A power of two.
    pub(super) factor: f64,
    largest: f64,
    /// The geometric mean over links of the root of their mean square.
    usual: f64,
}

impl LinkScale {
    /// The scale of links that are elements of SU(3).
    pub(super) const SPECIAL_UNITARY: Self = Self { factor: 1.0, largest: 1.0, usual: 1.0 };

    /// Finds the scale for all links of a configuration.
    ///
    /// Processes that have parts of the links all call this, and all find the same scale.
    pub(super) fn of(configuration: &GaugeConfiguration) -> Self {
        let sums = ordered_sum_of_sites(
            configuration.dims().volume(),
            configuration.part(),
            [0.0; 3],
            |[a, b, c]: [f64; 3], [largest, logarithms, count]| {
                [larger(a, largest), b + logarithms, c + count]
            },
            |site| {
                let links = (0..NDIM).map(|mu| configuration.link(site, mu).0);
                links.fold([0.0; 3], |[largest, logarithms, count], link| {
                    let squares = link.iter().flatten().map(|z| z.norm_sqr());
                    let sum: f64 = squares.clone().sum();
                    let largest = squares.fold(largest, larger);
                    // Boundaries may have links that vanish.
                    match sum > 0.0 {
                        true => [largest, logarithms + (sum / 9.0).ln(), count + 1.0],
                        false => [largest, logarithms, count],
                    }
                })
            },
        );
        let [largest, logarithms, count] = sums.unwrap_or_default();
        // No single link changes this mean by much, however large it is.
        let usual = if count > 0.0 { (0.5 * logarithms / count).exp() } else { 0.0 };
        Self::of_sizes(largest.sqrt(), usual)
    }

    fn of_sizes(largest: f64, usual: f64) -> Self {
        // An element above 1 by less than half a unit is stored as 1.
        let rounding = 0.5 / f64::from(Half::LARGEST);
        let exponent = (largest - rounding).log2().ceil();
        let factor = if exponent.is_finite() { exponent.exp2() } else { 1.0 };
        Self { factor, largest, usual }
    }

    /// Refuses links whose usual elements half precision would round away.
    pub(super) fn expect_alike(self) -> Result<(), LatticeError> {
        let Self { largest, usual, .. } = self;
        match largest <= MOST_UNLIKE * usual {
            true => Ok(()),
            false => Err(LatticeError::LinkTooLarge { found: largest, usual }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Dims;
    use crate::host::random::hot;

    #[test]
    fn links_are_divided_by_the_next_power_of_two() {
        for (largest, factor) in [
            (1.0, 1.0),
            (1.0 + 1e-6, 1.0),
            (1.0 + 1e-4, 2.0),
            (1.9, 2.0),
            (3.0, 4.0),
            (0.51, 1.0),
            (0.3, 0.5),
            (1e-3, 1.0 / 512.0),
            (0.0, 1.0),
            (f64::INFINITY, 1.0),
            (f64::NAN, 1.0),
        ] {
            assert_eq!(LinkScale::of_sizes(largest, 1.0).factor, factor, "{largest}");
        }
    }

    #[test]
    fn one_link_that_dwarfs_all_others_is_refused() {
        let links = hot(Dims::new([2, 4, 2, 2]).unwrap(), 1);
        for (factor, fits) in [(1.0, true), (4.0, true), (1e4, false)] {
            let mut links = links.clone();
            links.set_link(5, 2, links.link(5, 2).scale(factor));
            assert_eq!(LinkScale::of(&links).expect_alike().is_ok(), fits, "{factor}");
        }
        assert_eq!(LinkScale::of(&links).factor, 1.0);
        let unit = GaugeConfiguration::unit(links.dims());
        assert_eq!(LinkScale::of(&unit).factor, 1.0);
    }
}
