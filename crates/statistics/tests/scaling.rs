//! Measurements times a power of two have results times that power.

use crate::common::{correlator, estimate, expect_close, observables, values};
use lattice_statistics::{
    CorrelatorModel, Covariance, EffectiveMass, FitOptions, Quantity, Resampling, Series, Weighting, check,
    effective_masses, fit, resample,
};

const FACTORS: [i32; 2] = [1000, -1000];

fn scaled(series: &[Series], power: i32) -> Vec<Series> {
    let scaled = |series: &Series| {
        let values = series.replica()[0].values().iter().map(|value| value * 2f64.powi(power)).collect();
        Series::from_values(values).unwrap()
    };
    series.iter().map(scaled).collect()
}

#[test]
fn means_and_errors_scale() {
    let series = [Series::from_values(values(3, 2000, 0.8)).unwrap()];
    for power in FACTORS {
        let factor = 2f64.powi(power);
        let (plain, scaled) =
            (observables(&series).remove(0), observables(&scaled(&series, power)).remove(0));
        assert_eq!(scaled.value(), plain.value() * factor);
        let (plain, scaled) = (estimate(&plain, 2.0), estimate(&scaled, 2.0));
        assert_eq!(scaled.window, plain.window);
        expect_close(scaled.error, plain.error * factor, 1e-12);
        expect_close(scaled.tau_int, plain.tau_int, 1e-12);
    }
}

#[test]
fn resamples_and_warnings_scale() {
    let series = [Series::from_values(values(3, 2000, 0.8)).unwrap()];
    for power in FACTORS {
        for resampling in
            [Resampling::Jackknife { bin: 50 }, Resampling::Bootstrap { bin: 50, samples: 50, seed: 1 }]
        {
            let plain = resample(&series, resampling).unwrap();
            let scaled = resample(&scaled(&series, power), resampling).unwrap();
            expect_close(scaled[0].error(), plain[0].error() * 2f64.powi(power), 1e-12);
        }
        assert_eq!(check(&scaled(&series, power)[0], 2.0), check(&series[0], 2.0));
    }
}

#[test]
fn fits_and_effective_masses_scale() {
    let series = correlator(40, 400, 12, 0.05, |t| (-0.3 * t).exp() + 0.7 * (-0.9 * t).exp());
    let x: Vec<f64> = (0..12).map(|time| time as f64).collect();
    let model = CorrelatorModel::exponentials(2);
    let fit_of = |series: &[Series], weighting| {
        let y = observables(series);
        let covariance = Covariance::of_observables(&y, 2.0).unwrap();
        fit(&model, &x, &y, &covariance, &FitOptions::default().with_weighting(weighting)).unwrap()
    };
    for power in FACTORS {
        let factor = 2f64.powi(power);
        for weighting in [Weighting::Correlated, Weighting::Uncorrelated] {
            let (plain, scaled) = (fit_of(&series, weighting), fit_of(&scaled(&series, power), weighting));
            expect_close(scaled.chi_squared, plain.chi_squared, 1e-8);
            for (index, factor) in [factor, 1.0, factor, 1.0].into_iter().enumerate() {
                let (plain, scaled) = (&plain.parameters[index], &scaled.parameters[index]);
                expect_close(scaled.value(), plain.value() * factor, 1e-8);
                expect_close(estimate(scaled, 2.0).error, estimate(plain, 2.0).error * factor, 1e-7);
            }
        }
        let masses =
            |series: &[Series]| effective_masses(&observables(series), EffectiveMass::Logarithm).unwrap();
        let (plain, scaled) = (masses(&series), masses(&scaled(&series, power)));
        let (plain, scaled) = (plain[4].as_ref().unwrap(), scaled[4].as_ref().unwrap());
        expect_close(scaled.value(), plain.value(), 1e-12);
        expect_close(estimate(scaled, 2.0).error, estimate(plain, 2.0).error, 1e-12);
    }
}
