//! Fits. Values are by pyerrors 2.17.0 (S = 2) where nothing else is said.

use crate::common::{correlator, estimate, expect_close, observables, values};
use lattice_statistics::{
    Candidate, CorrelatorModel, Covariance, Fit, FitOptions, Function, ModelAverage, Observable, Polynomial,
    Quantity, RangeAverage, Resampled, Resampling, Series, StatisticsError, Weighting, chi_squared_p_value,
    fit, fit_ranges, hotelling_p_value, ranges_above_noise, ranges_within, resample,
};

fn times(count: usize) -> Vec<f64> {
    (0..count).map(|time| time as f64).collect()
}

/// exp(−0.3 t) + 0.7 exp(−0.9 t) with errors of 5 %, on 400 configurations.
fn two_states() -> Vec<Series> {
    correlator(40, 400, 12, 0.05, |t| (-0.3 * t).exp() + 0.7 * (-0.9 * t).exp())
}

#[track_caller]
fn expect_parameters(fit: &Fit<Observable>, expected: &[[f64; 2]]) {
    assert_eq!(fit.parameters.len(), expected.len());
    for (parameter, [value, error]) in fit.parameters.iter().zip(expected) {
        expect_close(parameter.value(), *value, 1e-8);
        expect_close(estimate(parameter, 2.0).error, *error, 1e-6);
    }
}

#[test]
fn fits_of_one_state_are_those_of_pyerrors() {
    let (x, y) = (times(12), observables(&two_states()));
    let covariance = Covariance::of_observables(&y, 2.0).unwrap();
    expect_close(covariance.covariance(2, 7), 1.1416390514256649e-6, 1e-10);
    expect_close(covariance.covariance(4, 4), 1.7139260506659507e-6, 1e-10);
    let covariance = covariance.range(5..12);
    let fit_with = |weighting| {
        let options = FitOptions::default().with_weighting(weighting);
        fit(&CorrelatorModel::exponentials(1), &x[5..], &y[5..], &covariance, &options).unwrap()
    };

    let correlated = fit_with(Weighting::Correlated);
    expect_parameters(
        &correlated,
        &[[1.0449031375208993, 0.005653374980672543], [0.30424758066792157, 0.0004545888736973576]],
    );
    expect_close(correlated.chi_squared, 39.11105734152718, 1e-9);
    expect_close(correlated.p_value.unwrap(), 2.255683018148602e-7, 1e-7);
    expect_close(correlated.hotelling_p_value.unwrap(), 5.783475153231521e-7, 1e-7);
    expect_close(correlated.expected_chi_squared, 5.0, 1e-10);

    let uncorrelated = fit_with(Weighting::Uncorrelated);
    expect_parameters(
        &uncorrelated,
        &[[1.046312042592557, 0.005687086305844769], [0.30435756320684165, 0.0004682295929794691]],
    );
    expect_close(uncorrelated.chi_squared, 11.249114267138614, 1e-9);
    expect_close(uncorrelated.p_value.unwrap(), 0.04665847544136881, 1e-8);
    expect_close(uncorrelated.chi_squared / uncorrelated.expected_chi_squared, 6.029289012370252, 1e-8);
}

#[test]
fn fits_of_two_states_are_those_of_pyerrors() {
    let (x, y) = (times(12), observables(&two_states()));
    let covariance = Covariance::of_observables(&y, 2.0).unwrap();
    let model = CorrelatorModel::exponentials(2);
    let correlated = fit(&model, &x, &y, &covariance, &FitOptions::default()).unwrap();
    expect_parameters(
        &correlated,
        &[
            [0.9862103746371654, 0.006559525917101056],
            [0.2985430569053773, 0.0006147892806184851],
            [0.7172938973988816, 0.0066635536727952275],
            [0.8811840681218582, 0.008330430613552745],
        ],
    );
    expect_close(correlated.chi_squared, 3.638581086648668, 1e-8);
    expect_close(correlated.hotelling_p_value.unwrap(), 0.8924375806665842, 1e-8);

    let options = FitOptions::default().with_weighting(Weighting::Uncorrelated);
    let uncorrelated = fit(&model, &x, &y, &covariance, &options).unwrap();
    expect_close(uncorrelated.chi_squared, 1.4359420631609783, 1e-8);
    expect_close(estimate(&uncorrelated.parameters[3], 2.0).error, 0.008730405529765483, 1e-6);
}

#[test]
fn resampled_fits_agree_with_the_gamma_method() {
    let series = two_states();
    let (x, y) = (times(12), observables(&series));
    let covariance = Covariance::of_observables(&y, 2.0).unwrap();
    let model = CorrelatorModel::exponentials(2);
    let gamma = fit(&model, &x, &y, &covariance, &FitOptions::default()).unwrap();
    for resampling in
        [Resampling::Jackknife { bin: 8 }, Resampling::Bootstrap { bin: 8, samples: 200, seed: 3 }]
    {
        let means = resample(&series, resampling).unwrap();
        let found = fit(&model, &x, &means, &covariance, &FitOptions::default()).unwrap();
        for (resampled, observable) in found.parameters.iter().zip(&gamma.parameters) {
            expect_close(resampled.value(), observable.value(), 1e-9);
            expect_close(resampled.error(), estimate(observable, 2.0).error, 0.25);
        }
    }
}

#[test]
fn periodic_models_find_exact_parameters() {
    for model in [CorrelatorModel::cosh(24.0, 2), CorrelatorModel::sinh(24.0, 2)] {
        let sign = if model == CorrelatorModel::cosh(24.0, 2) { 1.0 } else { -1.0 };
        let state = |e: f64, t: f64| (-e * t).exp() + sign * (-e * (24.0 - t)).exp();
        let series = correlator(70, 200, 24, 0.0, |t| 2.0 * state(0.4, t) + 3.0 * state(1.1, t));
        let noisy = correlator(71, 200, 24, 0.01, |t| 2.0 * state(0.4, t) + 3.0 * state(1.1, t));
        let covariance = Covariance::of_observables(&observables(&noisy)[1..12], 2.0).unwrap();
        let found =
            fit(&model, &times(24)[1..12], &observables(&series)[1..12], &covariance, &FitOptions::default())
                .unwrap();
        for (parameter, exact) in found.parameters.iter().zip([2.0, 0.4, 3.0, 1.1]) {
            expect_close(parameter.value(), exact, 1e-7);
        }
    }
}

#[test]
fn a_constant_is_the_weighted_mean_and_a_closure_is_a_model() {
    let series = |seed| Series::from_values(values(seed, 200, 0.0)).unwrap();
    let y = observables(&(0..5).map(series).collect::<Vec<_>>());
    let covariance = Covariance::of_observables(&y, 0.0).unwrap();
    let weights: Vec<_> = covariance.errors().iter().map(|error| error.powi(-2)).collect();
    let sum: f64 = y.iter().zip(&weights).map(|(y, weight)| weight * y.value()).sum();
    let mean = sum / weights.iter().sum::<f64>();
    let options = FitOptions::default().with_weighting(Weighting::Uncorrelated);
    let constant = fit(&Polynomial { degree: 0 }, &times(5), &y, &covariance, &options).unwrap();
    expect_close(constant.parameters[0].value(), mean, 1e-13);
    let closure = Function::new(1, |_, p| p[0].exp());
    let logarithm =
        fit(&closure, &times(5), &y, &covariance, &options.clone().with_initial(vec![0.5])).unwrap();
    expect_close(logarithm.parameters[0].value(), mean.ln(), 1e-8);
    let no_start = fit(&closure, &times(5), &y, &covariance, &options);
    assert_eq!(no_start.unwrap_err(), StatisticsError::NoStart);
}

#[test]
fn more_points_than_configurations_need_a_regularised_correlation() {
    let series = correlator(80, 10, 12, 0.01, |t| (-0.5 * t).exp());
    let (x, y) = (times(12), observables(&series));
    let covariance = Covariance::of_observables(&y, 0.0).unwrap();
    let fit_with = |weighting| {
        let options = FitOptions::default().with_weighting(weighting);
        fit(&CorrelatorModel::exponentials(1), &x, &y, &covariance, &options)
    };
    let refused = fit_with(Weighting::Correlated).unwrap_err();
    assert_eq!(refused, StatisticsError::TooFewMeasurements { points: 12, measurements: 10 });
    assert!(refused.to_string().contains("shrink"), "{refused}");
    for weighting in [Weighting::Shrunk(0.2), Weighting::SvdCut(0.05)] {
        let found = fit_with(weighting).unwrap();
        expect_close(found.parameters[1].value(), 0.5, 0.02);
        assert_eq!(found.p_value, None);
    }
    let off = fit_with(Weighting::Shrunk(1.5)).unwrap_err();
    assert!(matches!(off, StatisticsError::Option { .. }));
}

#[test]
fn what_points_cannot_determine_is_told() {
    let y = observables(&correlator(81, 100, 6, 0.01, |t| (-0.5 * t).exp()));
    let covariance = Covariance::of_observables(&y, 0.0).unwrap();
    let model = CorrelatorModel::exponentials(2);
    let few = fit(&model, &times(3), &y[..3], &covariance.range(0..3), &FitOptions::default()).unwrap_err();
    assert_eq!(few, StatisticsError::TooFewPoints { points: 3, parameters: 4 });
    let sum = Function::new(2, |_, p| p[0] + p[1]);
    let options = FitOptions::default().with_initial(vec![0.1, 0.2]);
    let sum = fit(&sum, &times(6), &y, &covariance, &options).unwrap_err();
    assert!(matches!(sum, StatisticsError::Undetermined { .. }), "{sum}");
    let constant = observables(&[Series::from_values(vec![1.0; 9]).unwrap()]);
    let covariance = Covariance::of_observables(&constant, 0.0).unwrap();
    let constant = fit(&Polynomial { degree: 0 }, &[0.0], &constant, &covariance, &FitOptions::default());
    assert_eq!(constant.unwrap_err(), StatisticsError::NoError { index: 0, error: 0.0 });
}

/// Values by scipy 1.x: `chi2.sf`, and `f.sf` of pyerrors' argument.
#[test]
fn p_values_are_those_of_the_distributions() {
    expect_close(chi_squared_p_value(10.0, 7).unwrap(), 0.18857346751344997, 1e-12);
    expect_close(chi_squared_p_value(400.0, 20).unwrap(), 2.0440955935807256e-72, 1e-9);
    expect_close(chi_squared_p_value(0.0, 3).unwrap(), 1.0, 0.0);
    assert_eq!(chi_squared_p_value(1.0, 0), None);
    expect_close(hotelling_p_value(10.0, 7, 50).unwrap(), 0.29577846768176863, 1e-10);
    assert_eq!(hotelling_p_value(1.0, 7, 7), None);
}

#[test]
fn an_average_over_ranges_finds_the_mass() {
    let series = two_states();
    let (x, y) = (times(12), observables(&series));
    let covariance = Covariance::of_observables(&y, 2.0).unwrap();
    let ranges: Vec<_> = ranges_within(0..12, 5).into_iter().filter(|range| range.end == 12).collect();
    assert_eq!(ranges.len(), 8);
    let mut masses = Vec::new();
    let mut candidates = Vec::new();
    for states in [1, 2] {
        let model = CorrelatorModel::exponentials(states);
        let fits = fit_ranges(&model, &x, &y, &covariance, &ranges, &FitOptions::default()).unwrap();
        for fit in fits.into_iter().filter_map(|one| one.fit.ok()) {
            let mass = fit.parameters[1].clone();
            candidates.push(Candidate::of_fit(&fit, 12, mass.value(), estimate(&mass, 2.0).error));
            masses.push(mass);
        }
    }
    let average = ModelAverage::of(&candidates).unwrap();
    assert!((average.value - 0.3).abs() < 3.0 * average.error(), "{average:?}");
    let combined = average.combine(&masses.iter().collect::<Vec<_>>()).unwrap();
    expect_close(combined.value(), average.value, 1e-13);
    assert!(estimate(&combined, 2.0).error <= average.statistical * 1.0001);
}

#[test]
fn an_average_over_ranges_leaves_out_fits_that_failed() {
    let (x, y) = (times(12), observables(&two_states()));
    let covariance = Covariance::of_observables(&y, 2.0).unwrap();
    let model = CorrelatorModel::exponentials(2);
    // Three points do not determine four parameters.
    let ranges = [0..12, 1..12, 9..12];
    let fits_of = |ranges| fit_ranges(&model, &x, &y, &covariance, ranges, &FitOptions::default()).unwrap();
    let found = RangeAverage::of(fits_of(&ranges), 1, 2.0).unwrap();
    assert_eq!(found.fits.iter().map(|(range, _)| range.clone()).collect::<Vec<_>>(), ranges[..2]);
    let candidates: Vec<_> = found
        .fits
        .iter()
        .map(|(_, fit)| {
            let mass = &fit.parameters[1];
            Candidate::of_fit(fit, 12, mass.value(), estimate(mass, 2.0).error)
        })
        .collect();
    assert_eq!(found.average, ModelAverage::of(&candidates).unwrap());
    assert_eq!(found.heaviest, usize::from(found.average.weights[1] > found.average.weights[0]));
    expect_close(found.combined().unwrap().value(), found.average.value, 1e-13);
    let failed = RangeAverage::of(fits_of(&ranges[2..]), 1, 2.0).unwrap_err();
    assert_eq!(failed, StatisticsError::TooFewPoints { points: 3, parameters: 4 });
    assert_eq!(RangeAverage::of(fits_of(&[]), 1, 2.0).unwrap_err(), StatisticsError::NoRanges);
    let fifth = RangeAverage::of(fits_of(&ranges[..1]), 4, 2.0).unwrap_err();
    assert!(matches!(fifth, StatisticsError::Time { time: 4, count: 4, .. }), "{fifth}");
}

#[test]
fn ranges_end_where_points_are_lost_in_noise() {
    let y = observables(&correlator(40, 400, 8, 0.0, |t| (-t).exp()));
    let errors: Vec<_> = (0..8).map(|t| if [0, 5].contains(&t) { 0.01 } else { 1e-4 }).collect();
    assert_eq!(ranges_above_noise(&y, &errors, 1, 3), [1..5, 2..5]);
    assert_eq!(ranges_above_noise(&y, &errors, 3, 3), []);
    assert_eq!(ranges_above_noise(&y, &[1e-5; 8], 4, 3), [4..8, 5..8]);
}

#[test]
fn weights_are_those_of_the_information_criterion() {
    let candidate = |value, chi_squared, parameters, cut_points| Candidate {
        value,
        error: 0.1,
        chi_squared,
        parameters,
        cut_points,
    };
    let average = ModelAverage::of(&[candidate(1.0, 5.0, 2, 1), candidate(2.0, 3.0, 2, 4)]).unwrap();
    // AIC: 5 + 4 + 2 = 11 and 3 + 4 + 8 = 15.
    let second = 1.0 / (1.0 + 2f64.exp());
    expect_close(average.weights[1], second, 1e-14);
    expect_close(average.value, 1.0 + second, 1e-14);
    expect_close(average.systematic, (second * (1.0 - second)).sqrt(), 1e-13);
    expect_close(average.statistical, 0.1, 1e-14);
    assert!(ModelAverage::of(&[]).is_err());
    let bad = ModelAverage::of(&[candidate(1.0, 5.0, 2, 1), candidate(f64::NAN, 3.0, 2, 4)]);
    assert_eq!(bad.unwrap_err(), StatisticsError::Candidate { index: 1 });
}

#[test]
fn covariances_of_resamples_weigh_fits() {
    let means = resample(&two_states(), Resampling::Jackknife { bin: 4 }).unwrap();
    let covariance = Covariance::of_resampled(&means).unwrap();
    assert_eq!(covariance.measurements(), 100);
    let found: Fit<Resampled> =
        fit(&CorrelatorModel::exponentials(2), &times(12), &means, &covariance, &FitOptions::default())
            .unwrap();
    let mass = &found.parameters[1];
    assert!((mass.value() - 0.3).abs() < 4.0 * mass.error());
}
