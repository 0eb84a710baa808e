//! Statistics of repeated measurements.

use serde::{Deserialize, Serialize};

/// The middle half of some samples, in their unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// A quarter of the samples is below.
    pub quartile: f64,
    /// Half of the samples is below.
    pub median: f64,
    /// Three quarters of the samples are below.
    pub upper_quartile: f64,
}

impl Spread {
    /// Returns the spread of samples, `None` without samples.
    ///
    /// Quantiles between two samples lie on the straight line that joins the samples.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let at = |share: f64| {
            let place = share * last as f64;
            let below = sorted[place.floor() as usize];
            below + place.fract() * (sorted[place.ceil() as usize] - below)
        };
        Some(Self { quartile: at(0.25), median: at(0.5), upper_quartile: at(0.75) })
    }

    /// Returns the distance of the quartiles as a share of the median.
    pub fn relative(&self) -> f64 {
        (self.upper_quartile - self.quartile) / self.median
    }
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn quantiles_of_samples_in_any_order() {
        let spread = Spread::of(&[5.0, 1.0, 4.0, 2.0, 3.0]).unwrap();
        assert_eq!(spread, Spread { quartile: 2.0, median: 3.0, upper_quartile: 4.0 });
        assert_eq!(spread.relative(), 2.0 / 3.0);
    }

    #[test]
    fn quantiles_between_samples_are_interpolated() {
        let spread = Spread::of(&[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!(spread, Spread { quartile: 1.75, median: 2.5, upper_quartile: 3.25 });
        let one = Spread::of(&[7.0]).unwrap();
        assert_eq!(one, Spread { quartile: 7.0, median: 7.0, upper_quartile: 7.0 });
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn one_wild_sample_changes_little() {
        let calm: Vec<f64> = (0..20).map(|i| 10.0 + 0.01 * f64::from(i)).collect();
        let mut wild = calm.clone();
        wild[3] = 1e6;
        let [calm, wild] = [&calm, &wild].map(|samples| Spread::of(samples).unwrap());
        assert!((wild.median - calm.median).abs() < 0.02);
        assert!((wild.upper_quartile - calm.upper_quartile).abs() < 0.02);
    }
}
