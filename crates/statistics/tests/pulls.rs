//! Error bars of 1000 synthetic ensembles, and the spread of their values.

use crate::common::{autoregressive, estimate, observables};
use lattice_statistics::{
    CorrelatorModel, Covariance, EffectiveMass, FitOptions, Quantity, Resampled, Resampling, Series,
    effective_masses, fit, resample,
};

const ENSEMBLES: u64 = 1000;
const TIMES: usize = 8;
const MASS: f64 = 0.4;

/// The root mean square of (value − exact)/error, within 5 % of 1.
#[track_caller]
fn expect_unit_pull(what: &str, pulls: &[f64]) {
    let pull = (pulls.iter().map(|pull| pull * pull).sum::<f64>() / pulls.len() as f64).sqrt();
    assert!((pull - 1.0).abs() < 0.05, "the pull of {what} is {pull}");
    let mean = pulls.iter().sum::<f64>() / pulls.len() as f64;
    assert!(mean.abs() < 0.12, "{what} is off by {mean} errors");
}

/// The largest distance from the uniform distribution, whose 1 % bound is 1.63/√n.
#[track_caller]
fn expect_uniform(mut p_values: Vec<f64>) {
    p_values.sort_by(f64::total_cmp);
    let count = p_values.len() as f64;
    let distance =
        |(index, p): (usize, &f64)| (p - index as f64 / count).max((index as f64 + 1.0) / count - p);
    let largest = p_values.iter().enumerate().map(distance).fold(0.0, f64::max);
    assert!(largest < 1.63 / count.sqrt(), "p-values are {largest} from uniform");
}

/// AR(1), with seeds mixed: neighbouring seeds of drand48 are not independent.
fn independent(seed: u64, count: usize, a: f64) -> Vec<f64> {
    let mixed = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    autoregressive(((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)) >> 32, count, a)
}

/// 2 exp(−0.4 t) with errors that are correlated in time.
///
/// Their Markov chain is AR(1) with this a on `count` configurations.
fn ensemble(seed: u64, count: usize, a: f64) -> Vec<Series> {
    let noise: Vec<_> = (0..=TIMES).map(|time| independent(seed * 1000 + time as u64, count, a)).collect();
    let at = |time: usize| {
        let mean = 2.0 * (-MASS * time as f64).exp();
        let one = |index: usize| mean * (1.0 + 0.02 * (0.7 * noise[TIMES][index] + 0.7 * noise[time][index]));
        Series::from_values((0..count).map(one).collect()).unwrap()
    };
    (0..TIMES).map(at).collect()
}

#[test]
fn pulls_of_means_are_one_for_every_method() {
    let methods =
        [Resampling::Jackknife { bin: 50 }, Resampling::Bootstrap { bin: 50, samples: 300, seed: 1 }];
    let mut pulls = [const { Vec::new() }; 4];
    for seed in 0..ENSEMBLES {
        let series = [Series::from_values(independent(seed + 5000, 4000, 0.5)).unwrap()];
        let mean = observables(&series).remove(0);
        pulls[0].push(mean.value() / estimate(&mean, 2.0).error);
        for (pulls, method) in pulls[1..].iter_mut().zip(methods) {
            let mean = resample(&series, method).unwrap().remove(0);
            pulls.push(mean.value() / mean.error());
        }
        let replica = ["a", "b"].map(|name| {
            let seed = 2 * seed + 90_000 + u64::from(name == "b");
            lattice_statistics::Replica::new(name, independent(seed, 1500, 0.5)).unwrap()
        });
        let mean = lattice_statistics::Observable::from_series(&Series::new(replica.into()).unwrap());
        pulls[3].push(mean.value() / estimate(&mean, 2.0).error);
    }
    for (what, pulls) in ["the Γ method", "the jackknife", "the bootstrap", "two replica"].iter().zip(&pulls)
    {
        expect_unit_pull(what, pulls);
    }
}

#[test]
fn pulls_of_fits_and_effective_masses_are_one_and_p_values_uniform() {
    let x: Vec<f64> = (0..TIMES).map(|time| time as f64).collect();
    let model = CorrelatorModel::exponentials(1);
    let options = FitOptions::default();
    let (mut fitted, mut resampled, mut effective) = (Vec::new(), Vec::new(), Vec::new());
    let (mut p_values, mut hotelling) = (Vec::new(), Vec::new());
    for seed in 0..ENSEMBLES {
        let series = ensemble(seed, 500, 0.0);
        let y = observables(&series);
        let covariance = Covariance::of_observables(&y, 0.0).unwrap();
        let found = fit(&model, &x, &y, &covariance, &options).unwrap();
        let mass = &found.parameters[1];
        fitted.push((mass.value() - MASS) / estimate(mass, 0.0).error);
        p_values.push(found.p_value.unwrap());
        hotelling.push(found.hotelling_p_value.unwrap());
        let mass = effective_masses(&y[2..4], EffectiveMass::Logarithm).unwrap().remove(0).unwrap();
        effective.push((mass.value() - MASS) / estimate(&mass, 0.0).error);
        let means = resample(&series, Resampling::Jackknife { bin: 10 }).unwrap();
        let found: Vec<Resampled> = fit(&model, &x, &means, &covariance, &options).unwrap().parameters;
        resampled.push((found[1].value() - MASS) / found[1].error());
    }
    expect_unit_pull("a fitted mass", &fitted);
    expect_unit_pull("a resampled fit", &resampled);
    expect_unit_pull("an effective mass", &effective);
    expect_uniform(p_values);
    expect_uniform(hotelling);
}

#[test]
fn pulls_of_fits_of_autocorrelated_data_are_one() {
    let x: Vec<f64> = (0..TIMES).map(|time| time as f64).collect();
    let model = CorrelatorModel::exponentials(1);
    let mut pulls = Vec::new();
    for seed in 0..ENSEMBLES {
        let y = observables(&ensemble(seed + 5000, 4000, 0.5));
        let covariance = Covariance::of_observables(&y, 2.0).unwrap();
        let found = fit(&model, &x, &y, &covariance, &FitOptions::default()).unwrap();
        pulls.push((found.parameters[1].value() - MASS) / estimate(&found.parameters[1], 2.0).error);
    }
    expect_unit_pull("a mass from autocorrelated data", &pulls);
}
