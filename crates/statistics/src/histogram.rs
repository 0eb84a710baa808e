//! Distributions of values.

use crate::scaling::{mean, norm, power_of_two};

/// Returns (xᵢ − x̄)/σ with the standard deviation σ of the values.
///
/// The result is `None` if there are fewer than two values, or all are equal.
pub fn pulls(values: &[f64]) -> Option<Vec<f64>> {
    let scale = power_of_two(values.iter().copied());
    let scaled: Vec<f64> = values.iter().map(|value| value / scale).collect();
    let mean = mean(&scaled);
    let deviations: Vec<f64> = scaled.iter().map(|value| value - mean).collect();
    let sigma = norm(&deviations) / (values.len() as f64 - 1.0).sqrt();
    (sigma > 0.0 && sigma.is_finite()).then(|| deviations.iter().map(|deviation| deviation / sigma).collect())
}

/// The density of values in bins of one width. Its integral is 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// The beginning of the first bin.
    pub first: f64,
    /// The width of the bins.
    pub width: f64,
    /// The density in each bin.
    pub densities: Vec<f64>,
}

impl Histogram {
    /// Counts N values in 2 N^⅓ bins from the least value to the largest.
    ///
    /// The result is `None` if there is no value, or one that is not finite, or all are equal. The number
    /// of bins is the rule of Rice (D. M. Lane, Introduction to Statistics).
    pub fn new(values: &[f64]) -> Option<Self> {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let bins = (2.0 * (values.len() as f64).cbrt()).ceil();
        let width = (largest - least) / bins;
        if !(width.is_finite() && width > 0.0) || values.iter().any(|value| value.is_nan()) {
            return None;
        }
        let mut densities = vec![0.0; bins as usize];
        let share = 1.0 / (values.len() as f64 * width);
        let last = densities.len() - 1;
        for value in values {
            densities[(((value - least) / width) as usize).min(last)] += share;
        }
        Some(Self { first: least, width, densities })
    }

    /// Returns the corners of the outline (x, density), from left to right.
    pub fn outline(&self) -> Vec<(f64, f64)> {
        let edge = |bin: usize| self.first + self.width * bin as f64;
        let bins = self.densities.iter().enumerate();
        let steps = bins.flat_map(|(bin, &density)| [(edge(bin), density), (edge(bin + 1), density)]);
        let ends = [(self.first, 0.0), (edge(self.densities.len()), 0.0)];
        std::iter::once(ends[0]).chain(steps).chain([ends[1]]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pulls_have_mean_zero_and_width_one_at_every_scale() {
        let values = [1.0, 4.0, 2.0, 7.0, 1.5];
        let expected = pulls(&values).unwrap();
        let squares: f64 = expected.iter().map(|pull| pull * pull).sum();
        assert!(expected.iter().sum::<f64>().abs() < 1e-14 && (squares / 4.0 - 1.0).abs() < 1e-14);
        for power in [-1000, 1000] {
            let scaled = values.map(|value| value * 2.0_f64.powi(power));
            assert_eq!(pulls(&scaled).unwrap(), expected, "{power}");
        }
        assert_eq!((pulls(&[3.0, 3.0]), pulls(&[1.0]), pulls(&[])), (None, None, None));
    }

    #[test]
    fn a_histogram_counts_every_value_once() {
        let values: Vec<f64> = (0..1000).map(|k| f64::from(k * k % 1009)).collect();
        let histogram = Histogram::new(&values).unwrap();
        let integral: f64 = histogram.densities.iter().sum::<f64>() * histogram.width;
        assert_eq!(histogram.densities.len(), 20);
        assert!((integral - 1.0).abs() < 1e-12);
        let end = histogram.first + 20.0 * histogram.width;
        assert!((end - 1008.0).abs() < 1e-9 && histogram.first == 0.0);
        let first_bin = values.iter().filter(|value| **value < histogram.width).count() as f64;
        assert!((histogram.densities[0] * histogram.width * 1000.0 - first_bin).abs() < 1e-9);
        let outline = histogram.outline();
        assert_eq!((outline.len(), outline[0].1, outline[41].1), (42, 0.0, 0.0));
        for none in [&[][..], &[1.0, 1.0], &[1.0, f64::NAN], &[0.0, f64::INFINITY]] {
            assert_eq!(Histogram::new(none), None, "{none:?}");
        }
    }
}
