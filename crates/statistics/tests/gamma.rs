//! The Γ method on series of known autocorrelation.

use crate::common::{autoregressive, estimate, expect_close, observable, values};
use lattice_statistics::{
    Autocorrelation, Gaps, HyperDual, Observable, Quantity, Replica, Series, StatisticsError, Trajectories,
};
use std::time::Instant;

#[test]
fn autocorrelation_times_are_exact_within_their_errors() {
    for a in [0.0, 0.8, 0.95] {
        let exact = 0.5 * (1.0 + a) / (1.0 - a);
        let (mut sum, mut squares, mut errors) = (0.0, 0.0, 0.0);
        let series = 40;
        for seed in 0..series {
            let found = estimate(&observable(autoregressive(100 + seed, 8000, a)), 2.0);
            sum += found.tau_int;
            squares += (found.tau_int - exact).powi(2);
            errors += found.tau_int_error.powi(2);
        }
        let mean = sum / series as f64;
        let spread = (squares / series as f64).sqrt();
        let error = (errors / series as f64).sqrt();
        assert!((mean / exact - 1.0).abs() < 0.05, "{mean} is not {exact}");
        // At a = 0 the window is as long as noise allows, and eq. 42 is an upper bound.
        assert!(spread < 1.3 * error && (a == 0.0 || spread > 0.7 * error), "{spread} is not {error}");
    }
}

#[test]
fn an_autocorrelation_function_is_the_sum_over_pairs() {
    let values = values(7, 101, 0.5);
    let mean = values.iter().sum::<f64>() / 101.0;
    let gamma = |lag: usize| {
        let pairs = values.iter().zip(&values[lag..]).map(|(x, y)| (x - mean) * (y - mean));
        pairs.sum::<f64>() / (101 - lag) as f64
    };
    let found = Autocorrelation::of(&observable(values.clone())).unwrap().unwrap().normalised();
    assert_eq!(found.len(), 50);
    for (lag, found) in found.into_iter().enumerate() {
        assert!((found - gamma(lag) / gamma(0)).abs() < 1e-13);
    }
}

#[test]
fn derived_observables_compose() {
    let [a, b] = [observable(values(1, 500, 0.3)), observable(values(2, 500, 0.3))];
    let product = Observable::derived(&[&a, &b], |x| x[0] * x[1]).unwrap();
    let root = Observable::derived(&[&product], |x| x[0].sqrt()).unwrap();
    let at_once = Observable::derived(&[&a, &b], |x| (x[0] * x[1]).sqrt()).unwrap();
    expect_close(root.value(), at_once.value(), 1e-15);
    expect_close(estimate(&root, 2.0).error, estimate(&at_once, 2.0).error, 1e-13);
    // A ratio of equals has no error.
    let one = Observable::derived(&[&a, &a], |x| x[0] / x[1]).unwrap();
    assert!(estimate(&one, 2.0).error < 1e-16);
}

#[test]
fn derivatives_are_those_of_differences() {
    let functions: [fn(HyperDual) -> HyperDual; 14] = [
        |x| x.exp(),
        |x| x.ln(),
        |x| x.sqrt(),
        |x| x.recip(),
        |x| x.powi(3),
        |x| x.powi(-2),
        |x| x.powf(1.7),
        |x| x.sin() * x.cos(),
        |x| x.sinh() / x.cosh(),
        |x| x.tanh(),
        |x| (x + 1.0).acosh(),
        |x| (2.0 - x) * x / (x + 3.0),
        |x| (x - 5.0).abs(),
        |x| x.powi(1) - x.powi(0) - 1.0 / x,
    ];
    for function in functions {
        let step = 1e-4;
        let at = |x: f64| function(HyperDual::constant(x)).value;
        let found = function(HyperDual { value: 0.7, first: 1.0, second: 1.0, mixed: 0.0 });
        let slope = (at(0.7 + step) - at(0.7 - step)) / (2.0 * step);
        let curvature = (at(0.7 + step) - 2.0 * at(0.7) + at(0.7 - step)) / (step * step);
        assert!((found.first - slope).abs() < 1e-6 && found.first == found.second);
        assert!((found.mixed - curvature).abs() < 1e-5, "{} is not {curvature}", found.mixed);
    }
}

#[test]
fn gaps_are_refused_unless_their_meaning_is_said() {
    let numbers = || Trajectories::new(vec![1, 2, 3, 5, 6, 7]).unwrap();
    let on = |gaps| Replica::on("1", numbers(), vec![1.0, 2.0, 1.0, 2.0, 1.0, 2.0], gaps);
    let gap = StatisticsError::Gap { replica: "1".to_owned(), before: 3, after: 5, spacing: 1 };
    assert_eq!(on(Gaps::Refuse), Err(gap));
    assert_eq!(on(Gaps::Ignore).unwrap().trajectories(), &Trajectories::consecutive(6));
    assert_eq!(on(Gaps::Account).unwrap().trajectories(), &numbers());
    assert!(Trajectories::new(vec![1, 3, 3]).is_err());
}

#[test]
fn trajectories_off_the_grid_or_far_apart_are_errors() {
    let on = |numbers: Vec<u64>| {
        let replica =
            Replica::on("1", Trajectories::new(numbers).unwrap(), vec![1.0, 2.0, 1.5], Gaps::Account);
        Autocorrelation::of(&Observable::from_series(&Series::new(vec![replica.unwrap()]).unwrap()))
    };
    assert_eq!(on(vec![2, 4, 7]), Err(StatisticsError::Spacing { replica: "1".to_owned(), spacing: 2 }));
    assert!(matches!(on(vec![0, 1, u64::MAX]), Err(StatisticsError::Span { .. })));
}

#[test]
fn missing_trajectories_do_not_bias_the_autocorrelation_time() {
    let mut sums = [0.0; 2];
    for seed in 0..20 {
        let all = values(400 + seed, 6000, 0.8);
        let kept: Vec<u64> = (0..6000).filter(|index| (index * 7919) % 10 < 7).collect();
        let values: Vec<f64> = kept.iter().map(|index| all[*index as usize]).collect();
        for (sum, gaps) in sums.iter_mut().zip([Gaps::Account, Gaps::Ignore]) {
            let replica =
                Replica::on("1", Trajectories::new(kept.clone()).unwrap(), values.clone(), gaps).unwrap();
            let found = estimate(&Observable::from_series(&Series::new(vec![replica]).unwrap()), 2.0);
            *sum += found.tau_int / 20.0;
        }
    }
    expect_close(sums[0], 4.5, 0.06);
    assert!(sums[1] < 4.0, "{} is not that of the shorter chain", sums[1]);
}

#[test]
fn many_numbers_are_analysed_within_a_second() {
    let series: Vec<_> = (0..64).map(|seed| observable(values(seed, 10_000, 0.8))).collect();
    let start = Instant::now();
    for observable in &series {
        estimate(observable, 2.0);
    }
    assert!(start.elapsed().as_secs_f64() < 1.0, "{:?}", start.elapsed());
}
