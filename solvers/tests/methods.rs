//! Each method against Gaussian elimination, and the ways in which each gives up.

use super::dense;

use dense::{Dense, Random, distance, failure, monotone};
use lattice_solvers::*;
use num_complex::Complex64;

const N: usize = 23;

fn cr(recurrence: Recurrence) -> CrOptions {
    CrOptions::default().with_recurrence(recurrence)
}

#[test]
fn conjugate_residual_solves_hermitian_systems() {
    for (a, seed) in [(Dense::positive(N, 1), 2), (Dense::indefinite(N, 3), 4)] {
        let b = Random(seed).vector(N);
        let (x, info) = conjugate_residual(&a, &b, None, &cr(Recurrence::Hermitian), None).unwrap();
        assert!(distance(&x, &a.solve(&b)) < 1e-8);
        assert!(info.residual.true_residual <= 1e-10);
        assert!(monotone(&info.history));
        assert_eq!(info.history.len(), info.iterations + 1);
        assert!(info.work.flops > 0 && info.work.bytes > 0);
    }
}

#[test]
fn both_recurrences_are_the_same_method_for_a_hermitian_matrix() {
    let a = Dense::positive(N, 5);
    let b = Random(6).vector(N);
    let (_, published) = conjugate_residual(&a, &b, None, &cr(Recurrence::Hermitian), None).unwrap();
    let (_, general) = conjugate_residual(&a, &b, None, &cr(Recurrence::General), None).unwrap();
    for (p, g) in published.history.iter().zip(&general.history).take(12) {
        assert!((p - g).abs() <= 1e-6 * p, "{p} {g}");
    }
}

#[test]
fn general_recurrence_solves_a_matrix_that_is_not_hermitian() {
    let a = Dense::general(N, 7);
    let b = Random(8).vector(N);
    let (x, info) = conjugate_residual(&a, &b, None, &cr(Recurrence::General), None).unwrap();
    assert!(distance(&x, &a.solve(&b)) < 1e-8);
    assert!(monotone(&info.history));
}

#[test]
fn conjugate_gradient_solves_positive_systems_in_at_most_n_steps_or_so() {
    let a = Dense::positive(N, 9);
    let b = Random(10).vector(N);
    let (x, info) = conjugate_gradient(&a, &b, None, &CgOptions::default(), None, None).unwrap();
    assert!(distance(&x, &a.solve(&b)) < 1e-8);
    assert!(info.iterations <= N + 5);
}

#[test]
fn a_good_guess_saves_iterations_and_a_perfect_one_all() {
    let a = Dense::positive(N, 11);
    let b = Random(12).vector(N);
    let exact = a.solve(&b);
    let near: Vec<_> = exact.iter().map(|x| x * (1.0 + 1e-7)).collect();
    let params = cr(Recurrence::Hermitian);
    let (_, cold) = conjugate_residual(&a, &b, None, &params, None).unwrap();
    let (x, warm) = conjugate_residual(&a, &b, Some(&near), &params, None).unwrap();
    let (_, done) = conjugate_residual(&a, &b, Some(&exact), &params, None).unwrap();
    assert!(warm.iterations < cold.iterations);
    assert_eq!(done.iterations, 0);
    assert!(distance(&x, &exact) < 1e-8);
    let (_, cg) = conjugate_gradient(&a, &b, Some(&exact), &CgOptions::default(), None, None).unwrap();
    assert_eq!(cg.iterations, 0);
}

#[test]
fn a_zero_source_has_the_zero_solution() {
    let a = Dense::positive(N, 13);
    let b = vec![Complex64::default(); N];
    let (x, info) = conjugate_residual(&a, &b, None, &CrOptions::default(), None).unwrap();
    assert_eq!(x, b);
    assert_eq!((info.iterations, info.residual.true_residual), (0, 0.0));
    // From a guess the solution has to be found.
    let guess = Random(1).vector(N);
    let (x, _) = conjugate_residual(&a, &b, Some(&guess), &CrOptions::default(), None).unwrap();
    assert!(distance(&x, &b) < 1e-8);
}

#[test]
fn the_residual_that_counts_decides() {
    // Normal equations: the solver iterates A†A x = A†b. The residual that counts is ‖b − A x‖ /
    // ‖b‖.
    let a = Dense::general(N, 14);
    let normal = Dense::positive(N, 14);
    let b = Random(15).vector(N);
    let adjoint_b: Vec<Complex64> =
        (0..N).map(|i| (0..N).map(|k| a.rows[k][i].conj() * b[k]).sum()).collect();
    let norm = distance(&b, &vec![Complex64::default(); N]);
    let mut looks = 0;
    let mut counts = |x: &Vec<Complex64>| {
        looks += 1;
        let mut ax = x.clone();
        a.apply(x, &mut ax)?;
        Ok(distance(&ax, &b) / norm)
    };
    let (x, info) = conjugate_residual(
        &normal,
        &adjoint_b,
        None,
        &CrOptions::default(),
        Some(TrueResidual::Computed(&mut counts)),
    )
    .unwrap();
    assert!(info.residual.true_residual <= 1e-10);
    assert!(distance(&x, &a.solve(&b)) < 1e-8);
    assert!((1..6).contains(&looks), "{looks}");
}

/// The residual that counts may be smaller than the iterated one.
///
/// Only the iterated one is looked at on the way.
#[test]
fn what_is_small_enough_at_the_limit_is_a_solution() {
    let (a, b) = (Dense::positive(N, 14), Random(15).vector(N));
    let params = CgOptions::default().with_stopping(Stopping::default().with_max_iterations(3));
    let mut counts = |_: &Vec<Complex64>| Ok(1e-11);
    let residual = Some(TrueResidual::Computed(&mut counts));
    let (_, info) = conjugate_gradient(&a, &b, None, &params, None, residual).unwrap();
    assert_eq!((info.iterations, info.residual.true_residual), (3, 1e-11));
    assert!(info.residual.iterated > 1e-10);
}

#[test]
fn looking_rarely_gives_the_same_solution() {
    let a = Dense::positive(N, 16);
    let b = Random(17).vector(N);
    let stopping = Stopping::default().with_look_every(Some(4));
    let (x, info) =
        conjugate_residual(&a, &b, None, &CrOptions::default().with_stopping(stopping), None).unwrap();
    assert!(distance(&x, &a.solve(&b)) < 1e-8);
    // The method looked at the end of four iterations, and then took note of each.
    assert_eq!((info.iterations % 4, info.history.len()), (0, info.iterations + 1));
}

#[test]
fn the_iteration_limit_keeps_the_best_iterate_and_the_history() {
    let a = Dense::positive(N, 18);
    let b = Random(19).vector(N);
    let stopping = Stopping::default().with_max_iterations(5);
    let (why, x, info) =
        failure(conjugate_residual(&a, &b, None, &CrOptions::default().with_stopping(stopping), None));
    assert_eq!(why, Failure::IterationLimit { limit: 5 });
    assert_eq!((info.iterations, info.history.len()), (5, 6));
    let mut ax = x.clone();
    a.apply(&x, &mut ax).unwrap();
    let residual = distance(&ax, &b) / distance(&b, &vec![Complex64::default(); N]);
    assert!((residual - info.residual.iterated).abs() < 1e-10);
    assert!((residual - info.residual.true_residual).abs() < 1e-14);
    let (why, ..) =
        failure(conjugate_gradient(&a, &b, None, &CgOptions::default().with_stopping(stopping), None, None));
    assert_eq!(why, Failure::IterationLimit { limit: 5 });
}

#[test]
fn a_skew_matrix_breaks_conjugate_residual_down() {
    // (r, A r) is imaginary for a skew-Hermitian A and zero for a real skew one.
    let a = Dense::from_fn(2, |i, j| Complex64::from(j as f64 - i as f64));
    let b = vec![Complex64::from(1.0), Complex64::from(2.0)];
    let (why, _, info) = failure(conjugate_residual(&a, &b, None, &CrOptions::default(), None));
    assert!(matches!(why, Failure::Breakdown { quantity: "(r, Ar)", .. }), "{why}");
    assert_eq!(info.iterations, 1);
}

#[test]
fn conjugate_gradient_refuses_an_indefinite_matrix() {
    let a = Dense::from_fn(2, |i, j| if i == j { Complex64::from(1.0 - 2.0 * i as f64) } else { 0.0.into() });
    let b = vec![Complex64::from(1.0), Complex64::from(1.0)];
    let (why, ..) = failure(conjugate_gradient(&a, &b, None, &CgOptions::default(), None, None));
    assert!(matches!(why, Failure::Breakdown { quantity: "(p, Ap)", .. }), "{why}");
}

#[test]
fn conjugate_gradient_returns_the_best_iterate_and_not_the_last() {
    // The right-hand side hardly has a nearly singular direction: the residual falls, then grows.
    let a = Dense::from_fn(N, |i, j| match (i == j, i) {
        (true, 0) => Complex64::from(-1e-3),
        (true, i) => Complex64::from(1.0 + i as f64),
        (false, _) => 0.0.into(),
    });
    let mut b = vec![Complex64::from(1.0); N];
    b[0] = 1e-4.into();
    let (_, best, info) = failure(conjugate_gradient(&a, &b, None, &CgOptions::default(), None, None));
    let mut ax = best.clone();
    a.apply(&best, &mut ax).unwrap();
    let residual = distance(&ax, &b) / distance(&b, &vec![Complex64::default(); N]);
    let smallest = info.history.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(residual <= 2.0 * smallest + 1e-12, "{residual} {smallest}");
    assert!((residual - info.residual.true_residual).abs() < 1e-12);
}

#[test]
fn a_singular_system_without_solution_ends_in_a_typed_error() {
    let a = Dense::from_fn(4, |i, j| if i == j && i > 0 { Complex64::from(i as f64) } else { 0.0.into() });
    let b = vec![Complex64::from(1.0); 4];
    let (why, best, _) = failure(conjugate_residual(&a, &b, None, &CrOptions::default(), None));
    assert!(!matches!(why, Failure::IterationLimit { .. }), "{why}");
    assert!(best.iter().all(|x| x.is_finite()));
}

#[test]
fn not_a_number_is_named() {
    let mut a = Dense::positive(N, 20);
    a.rows[3][4] = Complex64::new(f64::NAN, 0.0);
    let b = Random(21).vector(N);
    let (why, best, _) = failure(conjugate_residual(&a, &b, None, &CrOptions::default(), None));
    assert!(matches!(why, Failure::NotFinite { .. }), "{why}");
    assert!(best.iter().all(|x| x.is_finite()));
    let mut b = b;
    b[0].re = f64::INFINITY;
    let refused = conjugate_gradient(&a, &b, None, &CgOptions::default(), None, None).unwrap_err();
    assert!(matches!(refused, SolverError::Source(SourceError::NotFinite)), "{refused}");
}

#[test]
fn the_published_ratio_stagnates_on_a_matrix_that_is_not_hermitian() {
    // A rotation by nearly a quarter turn: the published β no longer makes directions conjugate.
    let a = Dense::from_fn(N, |i, j| {
        let above = if (i + 1) % N == j { 1.0 } else { 0.0 };
        Complex64::new(if i == j { 0.3 } else { 0.0 } + above, 0.0)
    });
    let b = Random(22).vector(N);
    let stopping = Stopping::default().with_stagnation_window(100).with_max_iterations(5000);
    let params = cr(Recurrence::Hermitian).with_stopping(stopping);
    let (why, ..) = failure(conjugate_residual(&a, &b, None, &params, None));
    assert!(matches!(why, Failure::Stagnation { window: 100, .. }), "{why}");
}

#[test]
fn an_unreachable_tolerance_is_the_precision_limit_not_success() {
    let a = Dense::positive(N, 23);
    let b = Random(24).vector(N);
    // The last tolerance is below all that the iterated residual can reach before it underflows.
    for tolerance in [1e-19, 1e-300] {
        let stopping = Stopping::default().with_tolerance(tolerance);
        let cr = CrOptions::default().with_stopping(stopping);
        let cg = CgOptions::default().with_stopping(stopping);
        let minimal = MinresOptions::default().with_stopping(stopping);
        for (why, best, info) in [
            failure(conjugate_residual(&a, &b, None, &cr, None)),
            failure(conjugate_gradient(&a, &b, None, &cg, None, None)),
            failure(minres(&a, &b, None, &minimal, None, None)),
        ] {
            assert!(matches!(why, Failure::PrecisionLimit { .. }), "{why}");
            assert!(info.residual.true_residual < 1e-12);
            assert!(best.iter().all(|value| value.is_finite()));
        }
    }
}

#[test]
fn a_true_residual_that_falls_slowly_is_no_precision_limit() {
    // Normal equations of a diagonal A with a wide spectrum: ‖b − A x‖ follows ‖A†(b − A x)‖
    // slowly.
    let n = 60;
    let value = |i: usize| 1e-3_f64.powf(i as f64 / (n - 1) as f64);
    let diagonal = |power: i32| {
        Dense::from_fn(n, |i, j| if i == j { value(i).powi(power).into() } else { Complex64::default() })
    };
    let (a, normal) = (diagonal(1), diagonal(2));
    let b = vec![Complex64::new(1.0, 0.0); n];
    let mut adjoint_b = b.clone();
    a.apply(&b, &mut adjoint_b).unwrap();
    let norm = (n as f64).sqrt();
    let mut counts = |x: &Vec<Complex64>| {
        let mut ax = x.clone();
        a.apply(x, &mut ax)?;
        Ok(distance(&ax, &b) / norm)
    };
    for tolerance in (1..60).map(|k| 0.8_f64.powi(k)) {
        let stopping = Stopping::default().with_tolerance(tolerance);
        let params = CrOptions::default().with_stopping(stopping);
        let (_, info) =
            conjugate_residual(&normal, &adjoint_b, None, &params, Some(TrueResidual::Computed(&mut counts)))
                .unwrap();
        assert!(info.residual.true_residual <= tolerance);
        let params = CgOptions::default().with_stopping(stopping);
        let (_, info) = conjugate_gradient(
            &normal,
            &adjoint_b,
            None,
            &params,
            None,
            Some(TrueResidual::Computed(&mut counts)),
        )
        .unwrap();
        assert!(info.residual.true_residual <= tolerance);
    }
}

#[test]
fn parameters_are_checked() {
    let a = Dense::positive(3, 25);
    let b = Random(26).vector(3);
    for tolerance in [0.0, -1.0, f64::NAN] {
        let stopping = Stopping::default().with_tolerance(tolerance);
        let result = conjugate_residual(&a, &b, None, &CrOptions::default().with_stopping(stopping), None);
        assert!(matches!(result, Err(SolverError::Parameter { name: "tolerance", .. })));
    }
}

#[test]
fn bicgstab_solves_a_matrix_that_is_not_hermitian() {
    let a = Dense::general(N, 41);
    let b = Random(42).vector(N);
    let exact = a.solve(&b);
    let (x, info) = bicgstab(&a, &b, None, &BicgstabOptions::default(), None).unwrap();
    assert!(distance(&x, &exact) < 1e-8);
    assert!(info.residual.true_residual <= 1e-10);
    assert_eq!(info.history.len(), info.iterations + 1);
    // Two applications an iteration, and one for the true residual.
    assert_eq!(info.applications, 2 * info.iterations + 1);
    let near: Vec<_> = exact.iter().map(|x| x * (1.0 + 1e-7)).collect();
    let (_, warm) = bicgstab(&a, &b, Some(&near), &BicgstabOptions::default(), None).unwrap();
    assert!(warm.iterations < info.iterations);
}

#[test]
fn bicgstab_starts_again_after_a_breakdown() {
    // (b, Ab) is zero: b cannot be its own shadow.
    let reflection = Dense::from_fn(2, |i, j| Complex64::from([[1.0, 0.0], [0.0, -1.0]][i][j]));
    let b = vec![Complex64::from(1.0); 2];
    let (x, _) = bicgstab(&reflection, &b, None, &BicgstabOptions::default(), None).unwrap();
    assert!(distance(&x, &reflection.solve(&b)) < 1e-10);

    // The first residual is orthogonal to the second.
    let entries = [[1.0, 2.0, 0.0], [-2.0, 1.0, 1.0], [0.0, 0.0, 3.0]];
    let a = Dense::from_fn(3, |i, j| Complex64::from(entries[i][j]));
    let b = vec![Complex64::from(1.0), Complex64::default(), Complex64::default()];
    let (x, _) = bicgstab(&a, &b, None, &BicgstabOptions::default(), None).unwrap();
    assert!(distance(&x, &a.solve(&b)) < 1e-9);
}

#[test]
fn bicgstab_gives_up_where_no_shadow_residual_helps() {
    // A zero matrix allows no step. A rotation by a right angle allows no step that helps: (r, Ar)
    // is zero for every real r.
    let zero = Dense::from_fn(2, |_, _| Complex64::default());
    let rotation = Dense::from_fn(2, |i, j| Complex64::from(j as f64 - i as f64));
    for a in [zero, rotation] {
        let b = vec![Complex64::from(1.0), Complex64::from(0.5)];
        let Err(SolverError::NotConverged { failure, best, info }) =
            bicgstab(&a, &b, None, &BicgstabOptions::default(), None)
        else {
            panic!("solved a system that this method cannot solve");
        };
        assert!(matches!(failure, Failure::Breakdown { .. }), "{failure}");
        assert!(info.iterations <= 3 && distance(&best, &[Complex64::default(); 2]) == 0.0);
    }

    let mut poisoned = Dense::general(N, 44);
    poisoned.rows[3][5].re = f64::NAN;
    let outcome = bicgstab(&poisoned, &Random(45).vector(N), None, &BicgstabOptions::default(), None);
    let Err(SolverError::NotConverged { failure, .. }) = outcome else { panic!("solved with NaN") };
    assert!(matches!(failure, Failure::NotFinite { .. }), "{failure}");
}
