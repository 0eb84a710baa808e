//! Values of shared/reference/statistics.json, and others by pyerrors 2.17.0.

use crate::common::{estimate, expect_close, observable, reference, values};
use lattice_statistics::{Gaps, Observable, Quantity, Replica, Series, Trajectories};
use serde_json::Value;

#[test]
fn the_reference_file_is_met() {
    let Some(reference) = reference() else { return };
    for case in reference["cases"].as_array().unwrap() {
        let number = |key: &str| case[key].as_f64().unwrap();
        let series = |seed: &Value| {
            observable(values(seed.as_u64().unwrap(), case["n"].as_u64().unwrap() as usize, number("a")))
        };
        let quantity = match case["kind"].as_str().unwrap() {
            "primary" => series(&case["seed"]),
            kind => {
                let [a, b] = [series(&case["seeds"][0]), series(&case["seeds"][1])];
                match kind {
                    "derived: ratio a/b" => Observable::derived(&[&a, &b], |x| x[0] / x[1]).unwrap(),
                    "derived: sqrt(a^2+b^2)" => {
                        Observable::derived(&[&a, &b], |x| (x[0].powi(2) + x[1].powi(2)).sqrt()).unwrap()
                    }
                    other => panic!("{other} is unknown"),
                }
            }
        };
        let found = estimate(&quantity, number("S"));
        expect_close(quantity.value(), number("mean"), 1e-12);
        for (found, key) in [
            (found.error, "error"),
            (found.error_of_error, "error_of_error"),
            (found.tau_int, "tau_int"),
            (found.tau_int_error, "tau_int_error"),
        ] {
            if let Some(expected) = case[key].as_f64() {
                expect_close(found, expected, 1e-10);
            }
        }
        assert_eq!(found.window as u64, case["window"].as_u64().unwrap());
    }
}

/// Compares value, error, its error, τ_int, its error, and the window.
#[track_caller]
fn expect(observable: &Observable, window_parameter: f64, expected: [f64; 5], window: usize) {
    let found = estimate(observable, window_parameter);
    let numbers = [observable.value(), found.error, found.error_of_error, found.tau_int, found.tau_int_error];
    for (found, expected) in numbers.into_iter().zip(expected) {
        expect_close(found, expected, 1e-10);
    }
    assert_eq!(found.window, window);
}

fn on(name: &str, numbers: impl Iterator<Item = u64>, values: Vec<f64>) -> Replica {
    Replica::on(name, Trajectories::new(numbers.collect::<Vec<_>>()).unwrap(), values, Gaps::Account).unwrap()
}

fn primary(replica: Vec<Replica>) -> Observable {
    Observable::from_series(&Series::new(replica).unwrap())
}

#[test]
fn several_replica_are_those_of_pyerrors() {
    let replica = vec![
        Replica::new("r1", values(21, 700, 0.6)).unwrap(),
        Replica::new("r2", values(22, 1000, 0.6)).unwrap(),
    ];
    let expected = [
        0.9975378351999818,
        0.004943518529599229,
        0.0004870277169103238,
        2.2328765893193125,
        0.4021340423469892,
    ];
    expect(&primary(replica), 2.0, expected, 16);

    let replica = vec![
        on("r1", (2..=1800).step_by(2), values(24, 900, 0.7)),
        on("r2", (4..=3200).step_by(4), values(25, 800, 0.5)),
    ];
    let expected = [
        0.9927488618252543,
        0.005056586665172059,
        0.0005130409353533039,
        2.3043633987461,
        0.42782399290914513,
    ];
    expect(&primary(replica), 2.0, expected, 17);
}

/// The kept trajectories: every seventh and thirty more are missing.
fn kept() -> impl Iterator<Item = u64> {
    (0..1000).filter(|index| index % 7 != 3 && !(400..430).contains(index))
}

fn with_gaps(seed: u64) -> Observable {
    let all = values(seed, 1000, 0.8);
    primary(vec![on("1", kept().map(|index| index + 1), kept().map(|index| all[index as usize]).collect())])
}

#[test]
fn gaps_and_spacings_are_those_of_pyerrors() {
    let expected = [
        0.9857129637818576,
        0.010406729187220068,
        0.0017868857416434851,
        4.385358813278731,
        1.297772230509952,
    ];
    expect(&with_gaps(23), 2.0, expected, 24);

    let sparse = primary(vec![on("1", (4..=4000).step_by(4), values(23, 1000, 0.8))]);
    let expected = [
        0.987672775697938,
        0.010009611124010099,
        0.0016599062197854536,
        4.836501798009917,
        1.3892023174137602,
    ];
    expect(&sparse, 2.0, expected, 27);
    assert_eq!(estimate(&sparse, 2.0).spacing, 4);
}

#[test]
fn a_ratio_of_series_with_different_gaps_is_that_of_pyerrors() {
    let ratio =
        Observable::derived(&[&observable(values(23, 1000, 0.8)), &with_gaps(26)], |x| x[0] / x[1]).unwrap();
    let expected =
        [0.9764686563512, 0.012812485799717506, 0.002005471244624337, 4.061151571745025, 1.113092797687566];
    expect(&ratio, 2.0, expected, 24);
}

#[test]
fn short_series_and_no_autocorrelation_are_those_of_pyerrors() {
    let all = values(23, 1000, 0.8);
    let uncorrelated = [0.987672775697938, 0.0032183757548853004, 7.196506965060732e-05, 0.5, 0.0];
    expect(&observable(all.clone()), 0.0, uncorrelated, 0);
    let five =
        [1.022005047244242, 0.02119968731118118, 0.011611546952389973, 1.3673568983792275, 0.63182697416993];
    expect(&observable(all[..5].to_vec()), 2.0, five, 1);
    let nine = [
        0.9889125701277344,
        0.025529772591483178,
        0.010422486016404194,
        1.4691090698838765,
        0.42858142389328263,
    ];
    expect(&observable(all[..9].to_vec()), 2.0, nine, 1);
}
