//! Jackknife and bootstrap.

use crate::common::{autoregressive, estimate, expect_close, observable, values};
use lattice_statistics::{
    Covariance, Observable, Quantity, Replica, Resampled, Resampling, Series, StatisticsError, resample,
};

fn series(values: Vec<f64>) -> Series {
    Series::from_values(values).unwrap()
}

#[test]
fn the_jackknife_of_a_mean_is_the_standard_error() {
    let values = values(1, 1000, 0.0);
    let jackknife = resample(&[series(values.clone())], Resampling::Jackknife { bin: 1 }).unwrap().remove(0);
    let without_window = estimate(&observable(values), 0.0);
    expect_close(jackknife.error(), without_window.error, 1e-12);
    assert!(jackknife.bias().abs() < 1e-13);
}

#[test]
fn bins_of_autocorrelated_data_and_the_gamma_method_agree() {
    let [a, b] = [values(61, 20_000, 0.8), values(62, 20_000, 0.8)];
    let ratio =
        Observable::derived(&[&observable(a.clone()), &observable(b.clone())], |x| x[0] / x[1]).unwrap();
    let gamma = estimate(&ratio, 2.0);
    let both = [series(a), series(b)];
    for resampling in
        [Resampling::Jackknife { bin: 100 }, Resampling::Bootstrap { bin: 100, samples: 1000, seed: 1 }]
    {
        let means = resample(&both, resampling).unwrap();
        let ratio = Resampled::derived(&[&means[0], &means[1]], |x| x[0] / x[1]).unwrap();
        expect_close(ratio.error(), gamma.error, 0.15);
    }
}

#[test]
fn covariances_are_those_of_the_series() {
    let [x, y] = [autoregressive(3, 4000, 0.0), autoregressive(4, 4000, 0.0)];
    let mixed: Vec<_> = x.iter().zip(&y).map(|(x, y)| 0.8 * x + 0.6 * y).collect();
    let all = [series(x), series(mixed)];
    let observables: Vec<_> = all.iter().map(Observable::from_series).collect();
    let gamma = Covariance::of_observables(&observables, 0.0).unwrap();
    let jackknife =
        Covariance::of_resampled(&resample(&all, Resampling::Jackknife { bin: 1 }).unwrap()).unwrap();
    let draws = Resampling::Bootstrap { bin: 1, samples: 2000, seed: 5 };
    let bootstrap = Covariance::of_resampled(&resample(&all, draws).unwrap()).unwrap();
    expect_close(gamma.correlation(0, 1), 0.8, 0.03);
    expect_close(jackknife.correlation(0, 1), gamma.correlation(0, 1), 1e-10);
    expect_close(jackknife.covariance(1, 1), gamma.covariance(1, 1), 1e-10);
    expect_close(bootstrap.covariance(0, 1), gamma.covariance(0, 1), 0.1);
}

#[test]
fn a_seed_draws_the_same_bins() {
    let series = [series(values(1, 100, 0.0))];
    let draw =
        |seed| resample(&series, Resampling::Bootstrap { bin: 3, samples: 20, seed }).unwrap().remove(0);
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1).samples(), draw(2).samples());
}

#[test]
fn no_measurement_is_left_out_and_bins_end_with_replica() {
    let replica =
        vec![Replica::new("a", values(1, 11, 0.0)).unwrap(), Replica::new("b", values(2, 7, 0.0)).unwrap()];
    let series = Series::new(replica).unwrap();
    let mean = resample(std::slice::from_ref(&series), Resampling::Jackknife { bin: 3 }).unwrap().remove(0);
    assert_eq!((mean.bins(), mean.value()), (3 + 2, series.mean()));
}

#[test]
fn the_bias_of_a_square_is_the_variance_of_the_mean() {
    let mean = resample(&[series(values(9, 500, 0.0))], Resampling::Jackknife { bin: 1 }).unwrap().remove(0);
    let square = Resampled::derived(&[&mean], |x| x[0] * x[0]).unwrap();
    expect_close(square.bias(), mean.error().powi(2), 1e-6);
}

#[test]
fn what_cannot_be_resampled_is_told() {
    let one = series(vec![1.0, 2.0, 3.0]);
    let few = resample(std::slice::from_ref(&one), Resampling::Jackknife { bin: 2 });
    assert_eq!(few, Err(StatisticsError::TooFewBins { bins: 1, length: 2 }));
    let empty = resample(std::slice::from_ref(&one), Resampling::Jackknife { bin: 0 });
    assert!(matches!(empty, Err(StatisticsError::Option { .. })));
    let other = resample(&[one.clone(), series(vec![1.0, 2.0])], Resampling::Jackknife { bin: 1 });
    assert!(matches!(other, Err(StatisticsError::DifferentEnsembles { index: 1, .. })));
    let draw = |seed| {
        resample(std::slice::from_ref(&one), Resampling::Bootstrap { bin: 1, samples: 9, seed }).unwrap()
    };
    let mixed = Resampled::derived(&[&draw(1)[0], &draw(2)[0]], |x| x[0] + x[1]);
    assert!(matches!(mixed, Err(StatisticsError::DifferentEnsembles { index: 1, .. })));
}
