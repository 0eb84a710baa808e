//! Means over configurations, and their jackknife errors.

use lattice_cl::hadron::effective_mass;
use lattice_solvers::range::{exponent, larger, times_power};
use serde::Serialize;

/// The formula for the mass of a correlator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MassForm {
    /// arcosh((C(n−1) + C(n+1)) / 2C(n))
    Cosh,
    /// ln(C(n) / C(n+1))
    Log,
}

lattice_files::words! {
    MassForm, "formula of the mass":
    Cosh = "cosh", "arcosh((C(n−1) + C(n+1)) / 2C(n))";
    Log = "log", "ln(C(n) / C(n+1))"
}

impl MassForm {
    /// Returns the formula as text.
    pub fn formula(self) -> &'static str {
        match self {
            Self::Cosh => "arcosh (C(n-1) + C(n+1)) / 2C(n)",
            Self::Log => "ln C(n)/C(n+1)",
        }
    }

    fn of(self, correlator: &[f64]) -> Vec<Option<f64>> {
        match self {
            Self::Cosh => effective_mass(correlator),
            Self::Log => {
                let ratio = |n: usize| Some(correlator[n] / *correlator.get(n + 1)?);
                let real = |ratio: f64| (ratio > 0.0 && ratio.is_finite()).then(|| ratio.ln());
                (0..correlator.len()).map(|n| ratio(n).and_then(real)).collect()
            }
        }
    }
}

/// A value and its error, `null` where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    pub value: Option<f64>,
    pub error: Option<f64>,
}

/// The average of a correlator over configurations.
#[derive(Debug, PartialEq, Serialize)]
pub struct Averages {
    pub correlator: Vec<Estimate>,
    pub effective_mass: Vec<Estimate>,
}

impl Averages {
    /// Averages samples of a correlator, one of each configuration.
    pub fn new(samples: &[Vec<f64>], form: MassForm) -> Self {
        let mean = mean(samples, None);
        let without: Vec<Vec<f64>> = match samples.len() {
            1 => Vec::new(),
            count => (0..count).map(|left_out| self::mean(samples, Some(left_out))).collect(),
        };
        let masses: Vec<Vec<Option<f64>>> = without.iter().map(|mean| form.of(mean)).collect();
        let correlator = mean.iter().enumerate().map(|(n, &value)| Estimate {
            value: Some(value),
            error: jackknife(&without.iter().map(|mean| Some(mean[n])).collect::<Vec<_>>()),
        });
        let effective_mass = form.of(&mean).into_iter().enumerate().map(|(n, value)| Estimate {
            value,
            error: value.and_then(|_| jackknife(&masses.iter().map(|masses| masses[n]).collect::<Vec<_>>())),
        });
        Self { correlator: correlator.collect(), effective_mass: effective_mass.collect() }
    }
}

/// Returns the mean of samples, without one of them if it is left out.
fn mean(samples: &[Vec<f64>], left_out: Option<usize>) -> Vec<f64> {
    let taken: Vec<&Vec<f64>> =
        samples.iter().enumerate().filter(|(k, _)| Some(*k) != left_out).map(|(_, sample)| sample).collect();
    let mean = |n: usize| {
        let power = exponent(taken.iter().map(|sample| sample[n].abs()).fold(0.0, larger));
        let sum: f64 = taken.iter().map(|sample| times_power(sample[n], -power)).sum();
        times_power(sum / taken.len() as f64, power)
    };
    (0..samples[0].len()).map(mean).collect()
}

/// Returns the jackknife error of estimates that each leave out one of N samples.
///
/// The square of the error is (N − 1)/N Σ (θ_i − θ̄)². `None` below two samples, or if one has no estimate.
fn jackknife(estimates: &[Option<f64>]) -> Option<f64> {
    let estimates: Vec<f64> = estimates.iter().copied().collect::<Option<_>>()?;
    let count = estimates.len() as f64;
    if estimates.len() < 2 {
        return None;
    }
    // In a unit in which squares are in range.
    let power = exponent(estimates.iter().map(|estimate| estimate.abs()).fold(0.0, larger));
    let estimates: Vec<f64> = estimates.iter().map(|estimate| times_power(*estimate, -power)).collect();
    let mean = estimates.iter().sum::<f64>() / count;
    let squares: f64 = estimates.iter().map(|estimate| (estimate - mean).powi(2)).sum();
    Some(times_power(((count - 1.0) / count * squares).sqrt(), power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jackknife_of_a_mean_is_the_error_of_the_mean() {
        let samples = [1.0, 4.0, 2.0, 7.0].map(|value| vec![value]).to_vec();
        let averaged = Averages::new(&samples, MassForm::Log);
        // Σ (x − 3.5)² = 21, over N(N − 1) = 12.
        let Estimate { value, error } = averaged.correlator[0];
        assert_eq!(value, Some(3.5));
        assert!((error.unwrap() - (21.0f64 / 12.0).sqrt()).abs() < 1e-14);
        assert_eq!(Averages::new(&samples[..1], MassForm::Log).correlator[0].error, None);
    }

    #[test]
    fn errors_and_masses_have_the_scale_of_their_correlators() {
        let samples = [[3.0, 2.0, 1.4, 1.2], [3.2, 2.1, 1.3, 1.1], [2.9, 2.2, 1.5, 1.3]];
        let scaled = |power| samples.map(|sample| sample.map(|x| times_power(x, power)).to_vec());
        for form in [MassForm::Cosh, MassForm::Log] {
            let expected = Averages::new(&scaled(0), form);
            for power in [-1000, -660, -300, 300, 660, 1000, 1022] {
                let found = Averages::new(&scaled(power), form);
                assert_eq!(found.effective_mass, expected.effective_mass, "{power}");
                for (found, expected) in found.correlator.iter().zip(&expected.correlator) {
                    let of_unit = |x: Option<f64>| x.map(|x| times_power(x, -power));
                    assert_eq!(of_unit(found.value), expected.value, "{power}");
                    assert_eq!(of_unit(found.error), expected.error, "{power}");
                }
            }
        }
    }

    #[test]
    fn masses_are_those_of_one_state() {
        let exponential: Vec<f64> = (0..8).map(|n| (-0.5 * f64::from(n)).exp()).collect();
        let cosh: Vec<f64> = (0..8).map(|n| (0.3 * f64::from(n - 4)).cosh()).collect();
        for (form, correlator, mass) in [(MassForm::Log, exponential, 0.5), (MassForm::Cosh, cosh, 0.3)] {
            let samples =
                [1.0, 1.5, 0.5].map(|factor| correlator.iter().map(|c| c * factor).collect()).to_vec();
            let found = Averages::new(&samples, form).effective_mass[2];
            assert!((found.value.unwrap() - mass).abs() < 1e-12 && found.error.unwrap() < 1e-12);
        }
    }
}
