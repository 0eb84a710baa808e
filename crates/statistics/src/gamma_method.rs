//! The Γ method with automatic windowing.

use crate::autocorrelation::Autocorrelation;
use crate::error::{StatisticsError, StatisticsResult};
use crate::observable::Observable;

/// The window parameter S that is commonly taken.
pub const WINDOW_PARAMETER: f64 = 2.0;

/// The error of an observable, with autocorrelation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct GammaError {
    /// Statistical error of the value.
    pub error: f64,
    /// Statistical error of the error.
    pub error_of_error: f64,
    /// Integrated autocorrelation time in units of `spacing`.
    ///
    /// It is 0.5 without autocorrelation.
    pub tau_int: f64,
    /// Statistical error of the integrated autocorrelation time in the same unit.
    pub tau_int_error: f64,
    /// The last lag that is summed, in the same unit.
    pub window: usize,
    /// Trajectories from one measurement to the next.
    pub spacing: u64,
}

/// Returns the error of an observable by the Γ method.
///
/// `None` if no replica has two measurements. The window is the first W with exp(−W/τ) < τ/√(WN),
/// where τ is `window_parameter`/ln((2τ_int + 1)/(2τ_int − 1)) (U. Wolff, hep-lat/0306017, section
/// 3.3). τ_int is corrected for bias by eq. 49, and has the error of eq. 42. The window parameter 0
/// assumes that there is no autocorrelation. Replica of fewer than four measurements have no
/// window, and are treated so too.
///
/// # Errors
/// The window parameter is negative or not finite, or trajectories are not multiples of one spacing
/// apart.
pub fn gamma_method(observable: &Observable, window_parameter: f64) -> StatisticsResult<Option<GammaError>> {
    if !(window_parameter >= 0.0 && window_parameter.is_finite()) {
        return Err(StatisticsError::Option {
            option: "the window parameter",
            value: window_parameter,
            range: "finite and not negative",
        });
    }
    let Some(correlation) = Autocorrelation::of(observable)? else { return Ok(None) };
    let spacing = correlation.spacing();
    let count = observable.measurements() as f64;
    let variance = correlation.scaled[0];
    if variance == 0.0 {
        let zero = GammaError {
            error: 0.0,
            error_of_error: 0.0,
            tau_int: 0.5,
            tau_int_error: 0.0,
            window: 0,
            spacing,
        };
        return Ok(Some(zero));
    }
    let lags = correlation.scaled.len();
    if window_parameter == 0.0 || lags < 2 {
        let error = (variance / (count - 1.0)).sqrt() * correlation.scale;
        let error_of_error = error * (0.5 / count).sqrt();
        return Ok(Some(GammaError {
            error,
            error_of_error,
            tau_int: 0.5,
            tau_int_error: 0.0,
            window: 0,
            spacing,
        }));
    }
    let sums = partial_sums(&correlation.normalised());
    let is_last = |&window: &usize| {
        window + 1 >= lags || noise_exceeds_bias(window, sums[window], window_parameter, count)
    };
    let window = (1..lags).find(is_last).unwrap_or(lags - 1);
    let lag = window as f64;
    let tau_int = sums[window] * (1.0 + (2.0 * lag + 1.0) / count) / (1.0 + 1.0 / count);
    let tau_int_error = 2.0 * sums[window] * ((lag + 0.5 - sums[window]).abs() / count).sqrt();
    let error = (2.0 * tau_int * variance * (1.0 + 1.0 / count) / count).sqrt() * correlation.scale;
    let error_of_error = error * ((lag + 0.5) / count).sqrt();
    Ok(Some(GammaError { error, error_of_error, tau_int, tau_int_error, window, spacing }))
}

/// Returns 1/2 + Σ ρ(t) up to each lag, above 1/2.
fn partial_sums(normalised: &[f64]) -> Vec<f64> {
    let mut sum = 0.5;
    let above_half = |(lag, rho): (usize, &f64)| {
        sum += if lag == 0 { 0.0 } else { *rho };
        if sum <= 0.5 { 0.5 + f64::EPSILON } else { sum }
    };
    normalised.iter().enumerate().map(above_half).collect()
}

/// Tells whether summing to later lags would add more noise than bias is left.
fn noise_exceeds_bias(window: usize, tau_int: f64, window_parameter: f64, count: f64) -> bool {
    let tau = window_parameter / ((2.0 * tau_int + 1.0) / (2.0 * tau_int - 1.0)).ln();
    let lag = window as f64;
    (-lag / tau).exp() < tau / (lag * count).sqrt()
}
