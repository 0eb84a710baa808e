//! Quantities whose method for errors is chosen at run time.

use crate::common::{correlator, observables};
use lattice_statistics::{
    AnyQuantity, CorrelatorModel, Covariance, FitOptions, Quantity, Resampling, StatisticsError, Uncertain,
    fit, resample,
};

#[test]
fn fits_are_those_of_the_method() {
    let series = correlator(40, 200, 8, 0.05, |t| (-0.3 * t).exp());
    let x: Vec<f64> = (0..8).map(f64::from).collect();
    let model = CorrelatorModel::exponentials(1);
    let jackknife = Resampling::Jackknife { bin: 4 };
    let (gamma, resampled) = (observables(&series), resample(&series, jackknife).unwrap());
    let expected = [
        {
            let covariance = Covariance::of_observables(&gamma, 1.5).unwrap();
            let found = fit(&model, &x, &gamma, &covariance, &FitOptions::default()).unwrap();
            (found.chi_squared, found.parameters[1].error(1.5).unwrap())
        },
        {
            let covariance = Covariance::of_resampled(&resampled).unwrap();
            let found = fit(&model, &x, &resampled, &covariance, &FitOptions::default()).unwrap();
            (found.chi_squared, Some(found.parameters[1].error()))
        },
    ];
    for (resampling, expected) in [None, Some(jackknife)].into_iter().zip(expected) {
        let quantities = AnyQuantity::of_series(&series, resampling).unwrap();
        let covariance = AnyQuantity::covariance(&quantities, 1.5).unwrap();
        let found = fit(&model, &x, &quantities, &covariance, &FitOptions::default()).unwrap();
        assert_eq!((found.chi_squared, found.parameters[1].error(1.5).unwrap()), expected);
    }
}

#[test]
fn two_methods_are_not_mixed() {
    let series = correlator(1, 50, 2, 0.1, |t| (-t).exp());
    let of = |resampling| AnyQuantity::of_series(&series, resampling).unwrap();
    let mixed = [of(None).remove(0), of(Some(Resampling::Jackknife { bin: 1 })).remove(1)];
    let product = AnyQuantity::derived(&[&mixed[0], &mixed[1]], |x| x[0] * x[1]).unwrap_err();
    assert_eq!(product, StatisticsError::DifferentMethods { index: 1 });
    let covariance = AnyQuantity::covariance(&mixed, 2.0).unwrap_err();
    assert_eq!(covariance, StatisticsError::DifferentMethods { index: 1 });
}
