//! Measurements that have no error, or a doubtful one.

use crate::common::{autoregressive, estimate, observable, values};
use lattice_statistics::{
    Gaps, Observable, Replica, Series, StatisticsError, Trajectories, Warning, check, gamma_method,
};

fn series(values: Vec<f64>) -> Series {
    Series::from_values(values).unwrap()
}

#[test]
fn one_measurement_has_no_error() {
    assert_eq!(gamma_method(&observable(vec![2.0]), 2.0).unwrap(), None);
    assert_eq!(check(&series(vec![2.0]), 2.0).unwrap(), [Warning::SingleMeasurement]);
    let replica = ["a", "b"].map(|name| Replica::new(name, vec![1.0]).unwrap());
    let two = Series::new(replica.into()).unwrap();
    assert_eq!(gamma_method(&Observable::from_series(&two), 2.0).unwrap(), None);
    let pair = estimate(&observable(vec![1.0, 2.0]), 2.0);
    assert_eq!((pair.error, pair.window), (0.5, 0));
}

#[test]
fn constants_have_the_error_zero_and_are_told() {
    for count in [2, 7, 1000] {
        let constant = vec![0.1; count];
        let found = estimate(&observable(constant.clone()), 2.0);
        assert_eq!((found.error, found.error_of_error, found.tau_int), (0.0, 0.0, 0.5));
        assert_eq!(series(constant.clone()).mean(), 0.1);
        assert_eq!(check(&series(constant), 2.0).unwrap(), [Warning::Constant { value: 0.1 }]);
    }
}

#[test]
fn trends_are_told_and_seldom_where_there_are_none() {
    let mut alarms = 0;
    for seed in 0..100 {
        let plain = values(seed, 1000, if seed % 2 == 0 { 0.0 } else { 0.8 });
        let has_trend = |values: &[f64]| {
            let warnings = check(&series(values.to_vec()), 2.0).unwrap();
            warnings.iter().any(|one| matches!(one, Warning::Trend { .. } | Warning::Thermalisation { .. }))
        };
        alarms += usize::from(has_trend(&plain));
        let drifting: Vec<_> = plain.iter().enumerate().map(|(at, value)| value + 4e-4 * at as f64).collect();
        assert!(has_trend(&drifting));
        let thermalising: Vec<_> =
            plain.iter().enumerate().map(|(at, value)| value + (-(at as f64) / 100.0).exp()).collect();
        assert!(has_trend(&thermalising));
    }
    assert!(alarms <= 1, "{alarms} of 100 have no trend");
}

#[test]
fn gaps_and_short_chains_are_told() {
    let numbers = Trajectories::new((0..60).filter(|n| n % 20 != 7).collect::<Vec<u64>>()).unwrap();
    let replica = Replica::on("1", numbers, autoregressive(1, 57, 0.0), Gaps::Account).unwrap();
    let warnings = check(&Series::new(vec![replica]).unwrap(), 2.0).unwrap();
    assert_eq!(warnings[0], Warning::Gaps { replica: "1".to_owned(), missing: 3 });
    let short = check(&series(values(5, 200, 0.95)), 2.0).unwrap();
    assert!(
        short.iter().any(|warning| matches!(warning, Warning::ShortChain { measurements: 200, .. })),
        "{short:?}"
    );
}

#[test]
fn bad_measurements_are_named() {
    for value in [f64::NAN, f64::INFINITY] {
        let error = Replica::new("run2", vec![1.0, 2.0, value]).unwrap_err();
        assert!(error.to_string().starts_with("measurement 2 of replica run2 is "), "{error}");
    }
    assert!(matches!(Replica::new("1", vec![]), Err(StatisticsError::NoMeasurements { .. })));
    let twice =
        Series::new(vec![Replica::new("1", vec![1.0]).unwrap(), Replica::new("1", vec![2.0]).unwrap()]);
    assert_eq!(twice, Err(StatisticsError::RepeatedReplica { name: "1".to_owned() }));
    for parameter in [-1.0, f64::NAN] {
        assert!(gamma_method(&observable(vec![1.0, 2.0]), parameter).is_err());
    }
}
