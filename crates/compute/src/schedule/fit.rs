//! Times of jobs by their sizes.

/// Times of jobs as a constant and a slope times a job's size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Seconds of a job of no size.
    pub constant: f64,
    /// Seconds for a size of 1.
    pub slope: f64,
    /// The root of the mean square of relative errors.
    pub error: f64,
}

impl Fit {
    /// Returns the seconds of a job.
    pub fn seconds(&self, size: f64) -> f64 {
        self.constant + self.slope * size
    }
}

/// Fits a line to measured times, with the least squares of relative errors.
///
/// Constant and slope are not negative. Times are positive.
///
/// # Panics
/// If there is no time, or not one for each size.
pub fn fit(sizes: &[f64], seconds: &[f64]) -> Fit {
    assert!(!sizes.is_empty() && sizes.len() == seconds.len(), "a size and a time of each job are wanted");
    // With u = 1/t and v = s/t, the sum of (a u + b v - 1)^2 is least.
    let pairs = || sizes.iter().zip(seconds).map(|(s, t)| (1.0 / t, s / t));
    let sum = |of: fn((f64, f64)) -> f64| pairs().map(of).sum::<f64>();
    let (uu, uv, vv) = (sum(|(u, _)| u * u), sum(|(u, v)| u * v), sum(|(_, v)| v * v));
    let (u, v) = (sum(|(u, _)| u), sum(|(_, v)| v));
    let determinant = uu * vv - uv * uv;
    let both = (determinant > 1e-12 * uu * vv)
        .then(|| [(u * vv - v * uv) / determinant, (v * uu - u * uv) / determinant]);
    // Where one is negative, the other alone fits best.
    let [constant, slope] = match both {
        Some([constant, slope]) if constant >= 0.0 && slope >= 0.0 => [constant, slope],
        Some([_, slope]) if slope < 0.0 => [u / uu, 0.0],
        _ if vv > 0.0 => [0.0, v / vv],
        _ => [u / uu, 0.0],
    };
    let squares: f64 = pairs().map(|(u, v)| (constant * u + slope * v - 1.0).powi(2)).sum();
    Fit { constant, slope, error: (squares / sizes.len() as f64).sqrt() }
}
