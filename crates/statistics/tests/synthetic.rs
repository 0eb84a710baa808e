//! Series of known autocorrelation, and values for them. Tests of the program include this file, too.

use serde_json::Value;
use std::path::Path;

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

/// The file shared/reference/statistics.json, unless this copy of the repository has none.
pub fn reference() -> Option<Value> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = package
        .ancestors()
        .map(|folder| folder.join("shared/reference/statistics.json"))
        .find(|f| f.is_file());
    let Some(file) = file else {
        eprintln!("SKIPPED: there is no shared/reference/statistics.json above {}", package.display());
        return None;
    };
    Some(serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap())
}
