//! Multi-shift Conjugate Gradient: every shifted system against Gaussian elimination.

use super::dense;

use dense::{Dense, Random, distance, failure};
use lattice_solvers::*;
use num_complex::Complex64;

const N: usize = 23;
/// Shifts that are neither sorted nor distinct.
const SHIFTS: [f64; 6] = [0.3, 0.0, 25.0, 0.3, 2.0, 1e4];

fn params(tolerance: f64) -> MultiShiftOptions {
    MultiShiftOptions::default().with_stopping(Stopping::default().with_tolerance(tolerance))
}

#[test]
fn it_solves_every_shifted_system() {
    let a = Dense::positive(N, 111);
    let b = Random(112).vector(N);
    for shifts in [&SHIFTS[..], &SHIFTS[2..5], &SHIFTS[..1]] {
        let (all, info) = multi_shift_cg(&a, shifts, &b, &params(1e-10), None).unwrap();
        assert_eq!(all.iter().map(|one| one.shift).collect::<Vec<_>>(), shifts);
        for Shifted { shift, x, residual, iterations } in &all {
            let shifted = a.shifted(*shift);
            assert!(distance(x, &shifted.solve(&b)) < 1e-8, "{shift}");
            let exact = shifted.residual(x, &b);
            assert!(exact <= 1e-10 && (exact - residual.true_residual).abs() < 1e-14, "{shift}");
            assert!(*iterations <= info.iterations);
        }
        let smallest = shifts.iter().copied().fold(f64::INFINITY, f64::min);
        // The smallest shift is solved like by plain Conjugate Gradient.
        let (_, plain) =
            conjugate_gradient(&a.shifted(smallest), &b, None, &CgOptions::default(), None, None).unwrap();
        assert_eq!(info.iterations, plain.iterations);
        for (expected, found) in plain.history.iter().zip(&info.history) {
            assert!((expected - found).abs() <= 1e-6 * expected, "{expected} {found}");
        }
        // One application an iteration, and one for each true residual.
        assert_eq!(info.applications, info.iterations + shifts.len());
    }
}

#[test]
fn shifts_that_converged_drop_out() {
    let a = Dense::positive(N, 113);
    let b = Random(114).vector(N);
    let (all, info) = multi_shift_cg(&a, &SHIFTS, &b, &params(1e-10), None).unwrap();
    for one in &all {
        let shifted = a.shifted(one.shift);
        let (_, alone) = conjugate_gradient(&shifted, &b, None, &CgOptions::default(), None, None).unwrap();
        assert!(one.iterations.abs_diff(alone.iterations) <= 1, "{} {}", one.iterations, alone.iterations);
    }
    let largest = all.last().unwrap();
    assert!(2 * largest.iterations < info.iterations);
}

/// ζᵢ r is the residual of each system: the iterated residual is the true one.
#[test]
fn the_recurrence_is_that_of_each_residual() {
    let a = Dense::positive(N, 115);
    let b = Random(116).vector(N);
    for limit in 1..6 {
        let stopping = Stopping::default().with_max_iterations(limit);
        let params = MultiShiftOptions::default().with_stopping(stopping);
        let (why, all, info) = failure(multi_shift_cg(&a, &SHIFTS[..5], &b, &params, None));
        assert_eq!(why, Failure::IterationLimit { limit });
        assert_eq!((info.iterations, info.history.len()), (limit, limit + 1));
        for Shifted { shift, x, residual, .. } in all {
            let exact = a.shifted(shift).residual(&x, &b);
            assert!((exact - residual.iterated).abs() < 1e-12, "{shift}: {exact} {residual:?}");
            assert!((exact - residual.true_residual).abs() < 1e-14, "{shift}: {exact} {residual:?}");
        }
    }
}

#[test]
fn a_zero_source_has_zero_solutions() {
    let a = Dense::positive(N, 117);
    let zero = vec![Complex64::default(); N];
    let (all, info) = multi_shift_cg(&a, &SHIFTS, &zero, &params(1e-10), None).unwrap();
    assert!(all.iter().all(|one| one.x == zero && one.residual.true_residual == 0.0));
    assert_eq!(info.iterations, 0);
}

#[test]
fn looking_rarely_gives_the_same_solutions() {
    let a = Dense::positive(N, 118);
    let b = Random(119).vector(N);
    let stopping = Stopping::default().with_look_every(Some(4));
    let params = MultiShiftOptions::default().with_stopping(stopping);
    let (all, info) = multi_shift_cg(&a, &SHIFTS, &b, &params, None).unwrap();
    for one in all {
        assert!(distance(&one.x, &a.shifted(one.shift).solve(&b)) < 1e-8);
    }
    assert_eq!((info.iterations % 4, info.history.len()), (0, info.iterations + 1));
}

#[test]
fn it_gives_up_with_a_reason() {
    // The matrix is indefinite, with the smallest shift too.
    let a = Dense::from_fn(2, |i, j| if i == j { Complex64::from(1.0 - 2.0 * i as f64) } else { 0.0.into() });
    let b = vec![Complex64::from(1.0), Complex64::from(1.0)];
    let (why, all, _) = failure(multi_shift_cg(&a, &[3.0, 0.0], &b, &params(1e-10), None));
    assert!(matches!(why, Failure::Breakdown { quantity: "(p, Ap)", .. }), "{why}");
    assert_eq!(all.len(), 2);
    // A shift makes the matrix definite.
    let (all, _) = multi_shift_cg(&a, &[3.0, 2.0], &b, &params(1e-10), None).unwrap();
    assert!(distance(&all[1].x, &a.shifted(2.0).solve(&b)) < 1e-9);

    let a = Dense::positive(N, 120);
    let b = Random(121).vector(N);
    let (why, all, info) = failure(multi_shift_cg(&a, &SHIFTS, &b, &params(1e-19), None));
    assert!(matches!(why, Failure::PrecisionLimit { .. }), "{why}");
    assert!(info.residual.true_residual < 1e-2 && all.iter().all(|one| one.residual.true_residual < 1e-2));

    let mut poisoned = Dense::positive(N, 122);
    poisoned.rows[3][4].re = f64::NAN;
    let (why, all, _) = failure(multi_shift_cg(&poisoned, &SHIFTS, &b, &params(1e-10), None));
    assert!(matches!(why, Failure::NotFinite { .. }), "{why}");
    assert!(all.iter().flat_map(|one| &one.x).all(|x| x.is_finite()));
}

#[test]
fn parameters_are_checked() {
    let a = Dense::positive(3, 123);
    let b = Random(124).vector(3);
    for shifts in [&[0.1, -0.1][..], &[f64::NAN], &[f64::INFINITY, 0.0]] {
        let result = multi_shift_cg(&a, shifts, &b, &params(1e-10), None);
        assert!(matches!(result, Err(SolverError::Parameter { name: "shift", .. })));
    }
    let result = multi_shift_cg(&a, &[], &b, &params(1e-10), None);
    assert!(matches!(result, Err(SolverError::Parameter { name: "number of shifts", .. })));
    let result = multi_shift_cg(&a, &SHIFTS, &b, &params(-1.0), None);
    assert!(matches!(result, Err(SolverError::Parameter { name: "tolerance", .. })));
}
