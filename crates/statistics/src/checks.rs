//! Warnings about measurements whose error bars are doubtful.

use crate::error::StatisticsResult;
use crate::gamma_method::gamma_method;
use crate::observable::Observable;
use crate::scaling::{mean, power_of_two};
use crate::series::{Gaps, Replica, Series};
use crate::trajectories::Trajectories;
use std::fmt;

/// A drift or difference above this many of its errors is told.
const SIGNIFICANT: f64 = 4.0;
/// Shorter replica, or halves of them, are not looked at for trends.
const LEAST_MEASUREMENTS: usize = 20;
/// Fewer autocorrelation times give no reliable error (U. Wolff, hep-lat/0306017).
const LEAST_AUTOCORRELATION_TIMES: f64 = 50.0;

/// A property of measurements that makes an error bar doubtful.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// No replica has two measurements.
    SingleMeasurement,
    /// All measurements are equal.
    Constant {
        /// Their value.
        value: f64,
    },
    /// Trajectories are missing.
    Gaps {
        /// Name of the replica.
        replica: String,
        /// Number of missing trajectories, in units of the spacing.
        missing: u64,
    },
    /// Measurements drift in Markov time.
    Trend {
        /// Name of the replica.
        replica: String,
        /// The change of a fitted line from the first to the last measurement.
        drift: f64,
        /// The statistical error of the change, with autocorrelation.
        error: f64,
    },
    /// The first tenth of the measurements differs from the last half.
    Thermalisation {
        /// Name of the replica.
        replica: String,
        /// Mean of the first tenth less that of the last half.
        difference: f64,
        /// The statistical error of the difference, with autocorrelation.
        error: f64,
    },
    /// The chain is short for its autocorrelation.
    ShortChain {
        /// Number of measurements.
        measurements: usize,
        /// Integrated autocorrelation time, in measurements.
        tau_int: f64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SingleMeasurement => {
                write!(f, "there is one measurement, which has no error; measure more")
            }
            Self::Constant { value } => write!(f, "all measurements are {value:e}, so the error is 0"),
            Self::Gaps { replica, missing } => write!(f, "replica {replica} misses {missing} trajectories"),
            Self::Trend { replica, drift, error } => {
                write!(f, "replica {replica} drifts by {drift:.2e} with the error {error:.1e}; run it longer")
            }
            Self::Thermalisation { replica, difference, error } => write!(
                f,
                "replica {replica} begins {difference:.2e} from its end, with the error {error:.1e}; \
                 leave out its thermalisation"
            ),
            Self::ShortChain { measurements, tau_int } => write!(
                f,
                "{measurements} measurements are few for the autocorrelation time {tau_int:.1}; \
                 the error may be too small"
            ),
        }
    }
}

/// Returns warnings about the error of a series.
///
/// # Errors
/// The Γ method fails.
pub fn check(series: &Series, window_parameter: f64) -> StatisticsResult<Vec<Warning>> {
    let mut warnings: Vec<_> = series.replica().iter().filter_map(gaps).collect();
    let observable = Observable::from_series(series);
    let Some(estimate) = gamma_method(&observable, window_parameter)? else {
        warnings.push(Warning::SingleMeasurement);
        return Ok(warnings);
    };
    if observable.is_constant() {
        // Replica may be constant at different values.
        let value = series.replica()[0].values()[0];
        if series.replica().iter().all(|chain| chain.values()[0] == value) {
            warnings.push(Warning::Constant { value });
        }
        return Ok(warnings);
    }
    for chain in series.replica() {
        warnings.extend(trend(chain, window_parameter)?);
        warnings.extend(thermalisation(chain, window_parameter)?);
    }
    let (measurements, tau_int) = (series.measurements(), estimate.tau_int);
    if (measurements as f64) < LEAST_AUTOCORRELATION_TIMES * tau_int {
        warnings.push(Warning::ShortChain { measurements, tau_int });
    }
    Ok(warnings)
}

/// Returns a warning if trajectories are missing.
fn gaps(chain: &Replica) -> Option<Warning> {
    let spacing = chain.trajectories().spacing()?;
    let gaps = chain.trajectories().gaps();
    let missing = gaps.iter().map(|(before, after)| (after - before) / spacing - 1).sum();
    (!gaps.is_empty()).then(|| Warning::Gaps { replica: chain.name().to_owned(), missing })
}

/// Returns a warning if a line through the measurements has a significant slope.
///
/// The slope's variance is 2 τ_int σ²/Σ (s − s̄)², with variance and τ_int of the deviations from
/// the line.
fn trend(chain: &Replica, window_parameter: f64) -> StatisticsResult<Option<Warning>> {
    let count = chain.values().len();
    if count < LEAST_MEASUREMENTS {
        return Ok(None);
    }
    let numbers = chain.trajectories().numbers();
    let times: Vec<_> = numbers.iter().map(|number| (number - numbers[0]) as f64).collect();
    let length = times[count - 1];
    let middle = mean(&times);
    let centred: Vec<_> = times.iter().map(|time| (time - middle) / length).collect();
    let scale = power_of_two(chain.values().iter().copied());
    let centre = chain.mean();
    let deviations: Vec<_> = chain.values().iter().map(|value| value / scale - centre / scale).collect();
    let squares: f64 = centred.iter().map(|time| time * time).sum();
    let drift =
        centred.iter().zip(&deviations).map(|(time, deviation)| time * deviation).sum::<f64>() / squares;
    let residuals =
        centred.iter().zip(&deviations).map(|(time, deviation)| deviation - drift * time).collect();
    let about_line = Replica::on(chain.name(), chain.trajectories().clone(), residuals, Gaps::Account)?;
    let observable = Observable::from_series(&Series::new(vec![about_line])?);
    let Some(estimate) = gamma_method(&observable, window_parameter)? else { return Ok(None) };
    // The error of the mean is √(2 τ_int σ²/N).
    let error = estimate.error * (count as f64 / squares).sqrt();
    let replica = chain.name().to_owned();
    let is_trend = drift.abs() > SIGNIFICANT * error;
    Ok(is_trend.then_some(Warning::Trend { replica, drift: drift * scale, error: error * scale }))
}

/// Returns a warning if the first tenth differs from the last half.
///
/// Variance and τ_int are those of the last half, which is free of the start (J. Geweke, Bayesian
/// Statistics 4).
fn thermalisation(chain: &Replica, window_parameter: f64) -> StatisticsResult<Option<Warning>> {
    let count = chain.values().len();
    if count < 2 * LEAST_MEASUREMENTS {
        return Ok(None);
    }
    let (start, half) = (count / 10, count / 2);
    let numbers = &chain.trajectories().numbers()[half..];
    let end = Replica::on(
        chain.name(),
        Trajectories::new(numbers.to_vec())?,
        chain.values()[half..].to_vec(),
        Gaps::Account,
    )?;
    let difference = mean(&chain.values()[..start]) - end.mean();
    let observable = Observable::from_series(&Series::new(vec![end])?);
    let Some(estimate) = gamma_method(&observable, window_parameter)? else { return Ok(None) };
    let error = estimate.error * (1.0 + (count - half) as f64 / start as f64).sqrt();
    let replica = chain.name().to_owned();
    let is_significant = difference.abs() > SIGNIFICANT * error;
    Ok(is_significant.then_some(Warning::Thermalisation { replica, difference, error }))
}
