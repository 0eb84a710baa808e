//! Effective masses, correlator matrices, three-point functions, flow scales.

use crate::common::{autoregressive, correlator, estimate, expect_close, observable, observables};
use lattice_statistics::three_point::{ratio, ratio_with_momenta, summation, summed};
use lattice_statistics::{
    CorrelatorMatrix, Covariance, EffectiveMass, FLOW_TARGET, FitOptions, Observable, Quantity, Resampling,
    StateOrder, StatisticsError, effective_masses, folded, resample, t0, w0,
};

/// cosh with mass 0.3 on 16 times, with errors of 1 %, on 400 configurations.
fn periodic(sign: f64, noise: f64) -> Vec<lattice_statistics::Series> {
    correlator(40, 400, 16, noise, |t| (-0.3 * t).exp() + sign * (-0.3 * (16.0 - t)).exp())
}

/// Values by pyerrors 2.17.0.
#[test]
fn effective_masses_are_those_of_pyerrors() {
    let expect = |mass: &Option<Observable>, value: f64, error: f64, tolerance: f64| {
        let mass = mass.as_ref().unwrap();
        expect_close(mass.value(), value, tolerance);
        expect_close(estimate(mass, 2.0).error, error, tolerance);
    };
    let two = observables(&correlator(40, 400, 12, 0.05, |t| (-0.3 * t).exp() + 0.7 * (-0.9 * t).exp()));
    let logarithm = effective_masses(&two, EffectiveMass::Logarithm).unwrap();
    expect(&logarithm[3], 0.35388900395541784, 0.0035501567510646706, 1e-10);
    assert!(logarithm[11].is_none());
    let periodic = observables(&periodic(1.0, 0.01));
    let cosh = effective_masses(&periodic, EffectiveMass::Cosh { extent: 16 }).unwrap();
    // The root finder of pyerrors stops at about 1e-8.
    expect(&cosh[3], 0.301001700051277, 0.0005964636034099071, 1e-7);
    let arcosh = effective_masses(&periodic, EffectiveMass::Arcosh).unwrap();
    expect(&arcosh[4], 0.3029991135494321, 0.002466639576688564, 1e-9);
    assert!(arcosh[0].is_none() && arcosh[15].is_none());
}

#[test]
fn exact_correlators_have_their_mass_on_both_sides_of_the_middle() {
    for (sign, definition) in
        [(1.0, EffectiveMass::Cosh { extent: 16 }), (-1.0, EffectiveMass::Sinh { extent: 16 })]
    {
        let exact = observables(&periodic(sign, 0.0));
        let masses = effective_masses(&exact, definition).unwrap();
        for time in (0..15).filter(|time| sign > 0.0 || ![7, 8].contains(time)) {
            expect_close(masses[time].as_ref().unwrap().value(), 0.3, 1e-9);
        }
        let resampled = resample(&periodic(sign, 0.001), Resampling::Jackknife { bin: 10 }).unwrap();
        let resampled = effective_masses(&resampled, definition).unwrap();
        let noisy = effective_masses(&observables(&periodic(sign, 0.001)), definition).unwrap();
        for time in [1, 3, 12] {
            let (jackknife, gamma) = (resampled[time].as_ref().unwrap(), noisy[time].as_ref().unwrap());
            expect_close(jackknife.error(), estimate(gamma, 2.0).error, 0.3);
        }
    }
}

#[test]
fn a_period_closes_and_folds() {
    let exact = observables(&periodic(1.0, 0.0));
    let masses = effective_masses(&exact, EffectiveMass::PeriodicArcosh).unwrap();
    assert!(masses[0].is_none());
    // C(T) is C(0), so that the last time has both neighbours.
    let expect = |mass: &Option<Observable>| expect_close(mass.as_ref().unwrap().value(), 0.3, 1e-9);
    masses[1..].iter().for_each(expect);
    let noisy = observables(&periodic(1.0, 0.01));
    for (extent, count) in [(16, 9), (15, 8), (1, 1), (0, 0)] {
        let halves = folded(&noisy[..extent]).unwrap();
        assert_eq!(halves.len(), count);
        for (time, half) in halves.iter().enumerate() {
            let mean = 0.5 * (noisy[time].value() + noisy[(extent - time) % extent].value());
            expect_close(half.value(), mean, 1e-15);
        }
    }
}

#[test]
fn masses_that_do_not_exist_are_none() {
    let rising = observables(&correlator(1, 50, 6, 0.01, |t| (0.5 * t).exp()));
    let cosh = effective_masses(&rising, EffectiveMass::Cosh { extent: 32 }).unwrap();
    assert!(cosh.iter().all(Option::is_none));
    let changing = observables(&correlator(1, 50, 6, 0.01, |t| if t == 2.0 { -1.0 } else { 1.0 }));
    let logarithm = effective_masses(&changing, EffectiveMass::Logarithm).unwrap();
    assert_eq!(
        logarithm.iter().map(Option::is_some).collect::<Vec<_>>(),
        [true, false, false, true, true, false]
    );
}

/// C_ij(t) = Σ_n Z_in Z_jn exp(−E_n t) with noise that differs between entries.
fn matrix(noise: f64) -> CorrelatorMatrix<Observable> {
    let overlaps = [[1.0, 0.5, 0.2], [0.4, -1.0, 0.3], [0.3, 0.2, 1.0]];
    let energies = [0.3, 0.7, 1.2];
    let entry = |time: usize, row: usize, column: usize| {
        let mean: f64 = (0..3)
            .map(|state| {
                overlaps[row][state] * overlaps[column][state] * (-energies[state] * time as f64).exp()
            })
            .sum();
        let seed = (row.min(column) * 3 + row.max(column)) as u64 + 20 * time as u64;
        observable(autoregressive(seed, 300, 0.3).into_iter().map(|x| mean * (1.0 + noise * x)).collect())
    };
    let at = |time: usize| (0..9).map(|index| entry(time, index / 3, index % 3)).collect();
    CorrelatorMatrix::new(3, (0..6).map(at).collect()).unwrap()
}

#[test]
fn eigenvalues_of_a_correlator_matrix_have_the_energies_of_its_states() {
    for order in [StateOrder::Size, StateOrder::Overlap { time: 2 }] {
        let energies = matrix(0.0).effective_energies(1, order).unwrap();
        for (energies, exact) in energies.iter().zip([0.3, 0.7, 1.2]) {
            for energy in &energies[1..5] {
                expect_close(energy.as_ref().unwrap().value(), exact, 1e-9);
            }
            assert!(energies[5].is_none());
        }
    }
}

#[test]
fn errors_of_eigenvalues_are_those_of_differences() {
    let noisy = matrix(1e-4).eigenvalues(1, StateOrder::Size).unwrap();
    let fluctuation = noisy[1][3].replica()[0].deviations()[5];
    // A configuration moves C(1) and C(3) by its deviations: the eigenvalue of the moved matrices
    // differs by its own.
    let moved = |times: &dyn Fn(&Observable) -> f64| -> CorrelatorMatrix<Observable> {
        let overlaps = [[1.0, 0.5, 0.2], [0.4, -1.0, 0.3], [0.3, 0.2, 1.0]];
        let energies = [0.3, 0.7, 1.2];
        let entry = |time: usize, row: usize, column: usize| {
            let mean: f64 = (0..3)
                .map(|n| overlaps[row][n] * overlaps[column][n] * (-energies[n] * time as f64).exp())
                .sum();
            let seed = (row.min(column) * 3 + row.max(column)) as u64 + 20 * time as u64;
            let series =
                autoregressive(seed, 300, 0.3).into_iter().map(|x| mean * (1.0 + 1e-4 * x)).collect();
            let entry = observable(series);
            observable(vec![times(&entry)])
        };
        let at = |time: usize| (0..9).map(|index| entry(time, index / 3, index % 3)).collect();
        CorrelatorMatrix::new(3, (0..6).map(at).collect()).unwrap()
    };
    let step = 1e-3;
    let at = |sign: f64| {
        let moved = moved(&|entry| entry.value() + sign * step * entry.replica()[0].deviations()[5]);
        moved.eigenvalues(1, StateOrder::Size).unwrap()[1][3].value()
    };
    expect_close(fluctuation, (at(1.0) - at(-1.0)) / (2.0 * step), 1e-5);
}

#[test]
fn a_matrix_that_is_not_positive_is_told() {
    let entry = |value: f64| observable(vec![value; 5]);
    let times = vec![vec![entry(1.0), entry(2.0), entry(2.0), entry(1.0)]];
    let matrix = CorrelatorMatrix::new(2, times).unwrap();
    assert_eq!(
        matrix.eigenvalues(0, StateOrder::Size).unwrap_err(),
        StatisticsError::NotPositive { time: 0 }
    );
    assert!(matches!(matrix.eigenvalues(1, StateOrder::Size), Err(StatisticsError::Time { time: 1, .. })));
}

#[test]
fn the_slope_of_summed_ratios_is_the_matrix_element() {
    let two = correlator(5, 300, 13, 0.002, |t| 2.0 * (-0.5 * t).exp());
    let two = observables(&two);
    let mut sums = Vec::new();
    let separations = [6usize, 8, 10, 12];
    for separation in separations {
        // The excited state of each end adds exp(−τ) and exp(−(T − τ)).
        let mean = |tau: f64| {
            let rest = separation as f64 - tau;
            2.0 * (-0.5 * separation as f64).exp() * (1.25 + 0.3 * ((-tau).exp() + (-rest).exp()))
        };
        let three = correlator(100 * separation as u64, 300, separation + 1, 0.002, mean);
        let ratios = ratio(&observables(&three), &two[separation]).unwrap();
        sums.push(summed(&ratios, 1).unwrap());
    }
    let covariance = Covariance::of_observables(&sums, 2.0).unwrap();
    let found =
        summation(&separations.map(|t| t as f64), &sums, &covariance, &FitOptions::default()).unwrap();
    let element = &found.parameters[1];
    let error = estimate(element, 2.0).error;
    assert!((element.value() - 1.25).abs() < 3.0 * error && error < 0.01, "{} {error}", element.value());
    assert!(summed(&sums, 2).is_err());
}

#[test]
fn a_ratio_with_momenta_cancels_energies_and_overlaps() {
    let [source, sink] = [
        observables(&correlator(5, 50, 9, 0.0, |t| 3.0 * (-0.5 * t).exp())),
        observables(&correlator(6, 50, 9, 0.0, |t| 5.0 * (-0.8 * t).exp())),
    ];
    // √(3 · 5) is the product of overlaps.
    let three =
        correlator(7, 50, 9, 0.0, |tau| 0.7 * 15f64.sqrt() * (-0.5 * tau).exp() * (-0.8 * (8.0 - tau)).exp());
    for ratio in ratio_with_momenta(&observables(&three), &source, &sink).unwrap() {
        expect_close(ratio.value(), 0.7, 1e-12);
    }
}

#[test]
fn flow_scales_are_those_of_a_known_curve() {
    // t² E = c t + d t²: t_0 and w_0² are roots of quadratics. A cubic is exact.
    let times: Vec<f64> = (0..40).map(|step| 0.1 * step as f64).collect();
    let noise = autoregressive(9, 200, 0.4);
    let (c, d) = (0.1, 0.02);
    let series = |amplitude: f64| -> Vec<_> {
        let at = |time: &f64| {
            let energy = if *time == 0.0 { 0.0 } else { c / time + d };
            lattice_statistics::Series::from_values(
                noise.iter().map(|x| energy * (1.0 + amplitude * x)).collect(),
            )
        };
        times.iter().map(|time| at(time).unwrap()).collect()
    };
    let exact_t0 = (-c + (c * c + 4.0 * d * FLOW_TARGET).sqrt()) / (2.0 * d);
    let exact_w0 = ((-c + (c * c + 8.0 * d * FLOW_TARGET).sqrt()) / (4.0 * d)).sqrt();
    let exact = observables(&series(0.0));
    expect_close(t0(&times, &exact, FLOW_TARGET).unwrap().value(), exact_t0, 1e-12);
    expect_close(w0(&times, &exact, FLOW_TARGET).unwrap().value(), exact_w0, 1e-11);

    // All energies move together: d ln t_0/d ln E is known.
    let noisy = series(0.01);
    let relative = estimate(&observable(noise.iter().map(|x| 1.0 + 0.01 * x).collect()), 2.0).error;
    let mean = 1.0 + 0.01 * noise.iter().sum::<f64>() / 200.0;
    let (c, d) = (c * mean, d * mean);
    let exact_t0 = (-c + (c * c + 4.0 * d * FLOW_TARGET).sqrt()) / (2.0 * d);
    let slope = FLOW_TARGET / mean / (c + 2.0 * d * exact_t0);
    let gamma = t0(&times, &observables(&noisy), FLOW_TARGET).unwrap();
    expect_close(gamma.value(), exact_t0, 1e-12);
    expect_close(estimate(&gamma, 2.0).error, slope * relative, 1e-9);
    let jackknife = resample(&noisy, Resampling::Jackknife { bin: 5 }).unwrap();
    expect_close(t0(&times, &jackknife, FLOW_TARGET).unwrap().error(), slope * relative, 0.3);

    let short = t0(&times[..5], &exact[..5], FLOW_TARGET).unwrap_err();
    assert!(matches!(short, StatisticsError::NotCrossed { .. }), "{short}");
}
