//! Series that the tests share.

use lattice_statistics::{GammaError, Observable, Series, gamma_method};

pub use crate::synthetic::*;

pub fn observable(values: Vec<f64>) -> Observable {
    Observable::from_series(&Series::from_values(values).unwrap())
}

pub fn estimate(observable: &Observable, window_parameter: f64) -> GammaError {
    gamma_method(observable, window_parameter).unwrap().unwrap()
}

#[track_caller]
pub fn expect_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} is not {expected}");
}

/// The series of a two-point function, with errors that are correlated in time.
///
/// Time t on configuration i: C(t) (1 + `noise` (0.8 x_i + 0.6 y_ti)) with AR(1) series x of seed
/// `seed` and y of seed `seed` + 10 + t, both with a = 0.5.
pub fn correlator(
    seed: u64,
    count: usize,
    times: usize,
    noise: f64,
    mean: impl Fn(f64) -> f64,
) -> Vec<Series> {
    let common = autoregressive(seed, count, 0.5);
    let at = |time: usize| {
        let own = autoregressive(seed + 10 + time as u64, count, 0.5);
        let one = |(x, y): (&f64, &f64)| mean(time as f64) * (1.0 + noise * (0.8 * x + 0.6 * y));
        Series::from_values(common.iter().zip(&own).map(one).collect()).unwrap()
    };
    (0..times).map(at).collect()
}

pub fn observables(series: &[Series]) -> Vec<Observable> {
    series.iter().map(Observable::from_series).collect()
}
