//! Series that the tests share.

use lattice_statistics::{GammaError, Observable, Series, gamma_method};

/// The drand48 of the C library.
pub struct Drand48(u64);

impl Drand48 {
    pub fn new(seed: u64) -> Self {
        Self((seed << 16) + 0x330e)
    }

    pub fn uniform(&mut self) -> f64 {
        self.0 = (self.0.wrapping_mul(0x5_deec_e66d) + 0xb) & ((1 << 48) - 1);
        self.0 as f64 / (1u64 << 48) as f64
    }

    /// Two Gaussian numbers by the method of Box and Muller.
    pub fn gaussians(&mut self) -> [f64; 2] {
        let (first, second) = (self.uniform(), self.uniform());
        let (sine, cosine) = (2.0 * std::f64::consts::PI * second).sin_cos();
        let radius = (-2.0 * (1.0 - first).ln()).sqrt();
        [radius * cosine, radius * sine]
    }
}

/// x_0 = g_0, x_i = a x_{i−1} + √(1 − a²) g_i for Gaussian numbers g.
///
/// Mean 0, variance 1, τ_int = (1 + a)/(1 − a)/2.
pub fn autoregressive(seed: u64, count: usize, a: f64) -> Vec<f64> {
    let mut random = Drand48::new(seed);
    let mut gaussians: Vec<f64> = (0..count.div_ceil(2)).flat_map(|_| random.gaussians()).collect();
    gaussians.truncate(count);
    let noise = (1.0 - a * a).sqrt();
    for index in 1..count {
        gaussians[index] = a * gaussians[index - 1] + noise * gaussians[index];
    }
    gaussians
}

/// The values of statistics.json: 1 + x/10.
pub fn values(seed: u64, count: usize, a: f64) -> Vec<f64> {
    autoregressive(seed, count, a).into_iter().map(|x| 1.0 + 0.1 * x).collect()
}

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
