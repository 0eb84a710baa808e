//! Jackknife and bootstrap of binned measurements.

use crate::error::{StatisticsError, StatisticsResult};
use crate::quantity::{DifferentiableMap, Quantity};
use crate::random::Random;
use crate::scaling::{self, power_of_two};
use crate::series::Series;
use crate::trajectories::Trajectories;
use std::sync::Arc;

/// How measurements are drawn again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resampling {
    /// Each bin is left out once.
    Jackknife {
        /// Measurements in a bin, at least.
        bin: usize,
    },
    /// Bins are drawn with replacement, as many as there are.
    Bootstrap {
        /// Measurements in a bin, at least.
        bin: usize,
        /// Number of draws.
        samples: usize,
        /// Seed of the draws. The same seed draws the same bins on every machine.
        seed: u64,
    },
}

impl Resampling {
    /// Returns the number of measurements in a bin.
    pub fn bin(self) -> usize {
        match self {
            Self::Jackknife { bin } | Self::Bootstrap { bin, .. } => bin,
        }
    }
}

/// The ensemble and the draws that resampled quantities share.
#[derive(Debug, PartialEq)]
struct Scheme {
    resampling: Resampling,
    bins: usize,
    replica: Vec<(Arc<str>, Trajectories)>,
}

/// A quantity on all measurements and on each resample.
#[derive(Clone, Debug, PartialEq)]
pub struct Resampled {
    value: f64,
    samples: Vec<f64>,
    scheme: Arc<Scheme>,
}

/// Returns the means of several series of one ensemble on the same resamples.
///
/// A replica is cut into bins of neighbouring measurements. No measurement is left out: bins have
/// one more measurement where the lengths do not divide. Bins should be several times longer than
/// τ_int. A replica that is shorter than a bin is one bin.
///
/// # Errors
/// The series are measured on different trajectories, there are fewer than two bins, or an option
/// is 0.
pub fn resample(series: &[Series], resampling: Resampling) -> StatisticsResult<Vec<Resampled>> {
    let Some(first) = series.first() else { return Ok(Vec::new()) };
    check(resampling)?;
    let ensemble = |series: &Series| -> Vec<_> {
        series.replica().iter().map(|chain| (chain.shared_name(), chain.trajectories().clone())).collect()
    };
    let replica = ensemble(first);
    if let Some(index) = series.iter().position(|other| ensemble(other) != replica) {
        return Err(StatisticsError::DifferentEnsembles { index, what: "trajectories" });
    }
    let sizes: Vec<_> = replica
        .iter()
        .flat_map(|(_, trajectories)| bin_sizes(trajectories.len(), resampling.bin()))
        .collect();
    if sizes.len() < 2 {
        return Err(StatisticsError::TooFewBins { bins: sizes.len(), length: resampling.bin() });
    }
    let scheme = Arc::new(Scheme { resampling, bins: sizes.len(), replica });
    let binned: Vec<_> = series
        .iter()
        .map(|series| {
            let value = series.mean();
            (value, bin_sums(series, value, resampling.bin()))
        })
        .collect();
    let samples = match resampling {
        Resampling::Jackknife { .. } => {
            binned.iter().map(|(value, sums)| without_each(sums, &sizes, *value)).collect()
        }
        Resampling::Bootstrap { samples, seed, .. } => bootstrap(&binned, &sizes, samples, seed),
    };
    let resampled = |((value, _), samples)| Resampled { value, samples, scheme: scheme.clone() };
    Ok(binned.into_iter().zip(samples).map(resampled).collect())
}

/// Refuses options that leave nothing to draw.
fn check(resampling: Resampling) -> StatisticsResult<()> {
    let range = |option, value: usize, least: usize, range| match value < least {
        true => Err(StatisticsError::Option { option, value: value as f64, range }),
        false => Ok(()),
    };
    range("the length of a bin", resampling.bin(), 1, "at least 1")?;
    match resampling {
        Resampling::Jackknife { .. } => Ok(()),
        Resampling::Bootstrap { samples, .. } => {
            range("the number of bootstrap samples", samples, 2, "at least 2")
        }
    }
}

/// Returns the numbers of measurements in the bins of a replica.
fn bin_sizes(measurements: usize, bin: usize) -> Vec<usize> {
    let bins = (measurements / bin).max(1);
    (0..bins).map(|index| measurements / bins + usize::from(index < measurements % bins)).collect()
}

/// Returns the sum of deviations from `value` in each bin.
fn bin_sums(series: &Series, value: f64, bin: usize) -> Vec<f64> {
    let mut sums = Vec::new();
    for chain in series.replica() {
        let mut rest = chain.values();
        for size in bin_sizes(rest.len(), bin) {
            let (values, after) = rest.split_at(size);
            sums.push(values.iter().map(|measured| measured - value).sum());
            rest = after;
        }
    }
    sums
}

/// Returns the mean without each of the bins.
fn without_each(sums: &[f64], sizes: &[usize], value: f64) -> Vec<f64> {
    let all: f64 = sums.iter().sum();
    let count: usize = sizes.iter().sum();
    sums.iter().zip(sizes).map(|(sum, size)| value + (all - sum) / (count - size) as f64).collect()
}

/// Returns the means of each quantity on draws of bins, which all quantities share.
fn bootstrap(binned: &[(f64, Vec<f64>)], sizes: &[usize], samples: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    let mut means = vec![Vec::with_capacity(samples); binned.len()];
    for _ in 0..samples {
        let draw: Vec<_> = sizes.iter().map(|_| random.below(sizes.len())).collect();
        let count: usize = draw.iter().map(|&bin| sizes[bin]).sum();
        for ((value, sums), means) in binned.iter().zip(&mut means) {
            let sum: f64 = draw.iter().map(|&bin| sums[bin]).sum();
            means.push(value + sum / count as f64);
        }
    }
    means
}

impl Resampled {
    /// Returns the value on each resample.
    pub fn samples(&self) -> &[f64] {
        &self.samples
    }

    /// Returns how measurements were drawn again.
    pub fn resampling(&self) -> Resampling {
        self.scheme.resampling
    }

    /// Returns the number of bins.
    pub fn bins(&self) -> usize {
        self.scheme.bins
    }

    /// Returns the statistical error.
    ///
    /// Jackknife: √((n − 1)/n Σ (θ_k − θ̄)²) for n bins. Bootstrap: the standard deviation of the
    /// samples.
    pub fn error(&self) -> f64 {
        scaling::norm(&self.deviations()) * self.weight().sqrt()
    }

    /// Returns the estimate of the bias.
    ///
    /// Jackknife: (n − 1)(θ̄ − θ) for n bins. Bootstrap: θ̄ − θ.
    pub fn bias(&self) -> f64 {
        let bias = scaling::mean(&self.samples) - self.value;
        match self.scheme.resampling {
            Resampling::Jackknife { .. } => (self.scheme.bins - 1) as f64 * bias,
            Resampling::Bootstrap { .. } => bias,
        }
    }

    /// Returns the correlation on the same resamples, 0 for constants.
    pub(crate) fn correlation(&self, other: &Self) -> f64 {
        let unit = |quantity: &Self| {
            let deviations = quantity.deviations();
            let scale = power_of_two(deviations.iter().copied());
            deviations.into_iter().map(|deviation| deviation / scale).collect::<Vec<_>>()
        };
        let (left, right) = (unit(self), unit(other));
        let product: f64 = left.iter().zip(&right).map(|(left, right)| left * right).sum();
        let norm = scaling::norm(&left) * scaling::norm(&right);
        if norm == 0.0 { 0.0 } else { product / norm }
    }

    /// Returns an error unless all quantities are of the same resamples.
    pub(crate) fn expect_same_resamples(quantities: &[&Self]) -> StatisticsResult<()> {
        match quantities.iter().position(|quantity| quantity.scheme != quantities[0].scheme) {
            Some(index) => Err(StatisticsError::DifferentEnsembles { index, what: "resamples" }),
            None => Ok(()),
        }
    }

    /// Returns deviations of the samples from their mean.
    fn deviations(&self) -> Vec<f64> {
        let mean = scaling::mean(&self.samples);
        self.samples.iter().map(|sample| sample - mean).collect()
    }

    /// Returns the factor from the sum of squared deviations to the squared error.
    fn weight(&self) -> f64 {
        let count = self.samples.len() as f64;
        match self.scheme.resampling {
            Resampling::Jackknife { .. } => (count - 1.0) / count,
            Resampling::Bootstrap { .. } => 1.0 / (count - 1.0),
        }
    }
}

impl Quantity for Resampled {
    fn value(&self) -> f64 {
        self.value
    }

    /// The functions are evaluated on each resample, without derivatives.
    fn mapped(inputs: &[&Self], map: &dyn DifferentiableMap) -> StatisticsResult<Vec<Self>> {
        let Some(first) = inputs.first() else {
            return Err(StatisticsError::NoMeasurements { what: "a derived quantity".to_owned() });
        };
        Self::expect_same_resamples(inputs)?;
        let centre: Vec<_> = inputs.iter().map(|input| input.value).collect();
        let with_value = |value| Self {
            value,
            samples: Vec::with_capacity(first.samples.len()),
            scheme: first.scheme.clone(),
        };
        let mut quantities: Vec<_> = map.values(&centre)?.into_iter().map(with_value).collect();
        for sample in 0..first.samples.len() {
            let point: Vec<_> = inputs.iter().map(|input| input.samples[sample]).collect();
            let values = map.values(&point)?;
            quantities.iter_mut().zip(values).for_each(|(quantity, value)| quantity.samples.push(value));
        }
        Ok(quantities)
    }
}
