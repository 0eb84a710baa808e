//! Minimal Residual: as a method, and as a smoother.

use super::dense;

use dense::{Dense, Random, distance, failure, monotone};
use lattice_solvers::*;
use num_complex::Complex64;

const N: usize = 23;

fn params(relaxation: f64) -> MrOptions {
    MrOptions::default().with_relaxation(relaxation)
}

#[test]
fn it_solves_a_matrix_whose_hermitian_part_is_definite() {
    let a = Dense::general(N, 51);
    let b = Random(52).vector(N);
    let exact = a.solve(&b);
    for relaxation in [0.8, 1.0, 1.1] {
        let (x, info) = minimal_residual(&a, &b, None, &params(relaxation), None).unwrap();
        assert!(distance(&x, &exact) < 1e-8);
        assert!(monotone(&info.history));
        assert_eq!(info.history.len(), info.iterations + 1);
        assert!(info.residual.true_residual <= 1e-10 && a.residual(&x, &b) <= 1e-10);
        // One application an iteration, and one for the true residual.
        assert_eq!(info.applications, info.iterations + 1);
        let near: Vec<_> = exact.iter().map(|x| x * (1.0 + 1e-7)).collect();
        let (_, warm) = minimal_residual(&a, &b, Some(&near), &params(relaxation), None).unwrap();
        assert!(warm.iterations < info.iterations);
    }
}

#[test]
fn a_step_shortens_the_residual_by_what_the_relaxation_says() {
    // ‖r'‖² = ‖r‖² − ω (2 − ω) |(r, Ar)|² / (Ar, Ar)
    let a = Dense::general(N, 53);
    let b = Random(54).vector(N);
    let space = a.space();
    let mut image = b.clone();
    let Ok(b_ab) = a.apply_dot(&b, &mut image);
    let [b_norm2, image_norm2] = [&b, &image].map(|x| space.norm2(x).unwrap().re);
    for relaxation in [0.5, 1.0, 1.7] {
        let stopping = Stopping::default().with_max_iterations(1);
        let params = params(relaxation).with_stopping(stopping);
        let (why, x, info) = failure(minimal_residual(&a, &b, None, &params, None));
        assert_eq!(why, Failure::IterationLimit { limit: 1 });
        let gain = relaxation * (2.0 - relaxation) * b_ab.norm_sqr() / (image_norm2 * b_norm2);
        let expected = (1.0 - gain).sqrt();
        assert!((info.residual.iterated - expected).abs() < 1e-13);
        assert!((a.residual(&x, &b) - expected).abs() < 1e-13);
    }
}

#[test]
fn the_smoother_does_the_same_steps() {
    let a = Dense::general(N, 55);
    let b = Random(56).vector(N);
    for (steps, relaxation) in [(1, 1.0), (3, 0.9), (7, 1.2)] {
        let stopping = Stopping::default().with_max_iterations(steps);
        let params = params(relaxation).with_stopping(stopping);
        let (_, expected, _) = failure(minimal_residual(&a, &b, None, &params, None));
        let mut smoother = MrSmoother::new(&a, steps, relaxation).unwrap();
        let mut x = Random(57).vector(N);
        // The second call checks that the first one leaves no trace.
        for _ in 0..2 {
            let work = smoother.apply(&b, &mut x).unwrap();
            assert!(distance(&x, &expected) < 1e-13);
            assert!(work.flops >= a.work().flops * steps as u64);
        }
    }
}

#[test]
fn the_smoother_stops_where_the_system_is_solved() {
    // One step solves the first system. The second step of the other would be 0/0 too. Zero has the
    // solution zero.
    let twice = Dense::from_fn(N, |i, j| Complex64::from(if i == j { 2.0 } else { 0.0 }));
    let zero = vec![Complex64::default(); N];
    let b = Random(58).vector(N);
    for (b, exact) in [(&b, twice.solve(&b)), (&zero, zero.clone())] {
        let mut x = Random(59).vector(N);
        MrSmoother::new(&twice, 4, 1.0).unwrap().apply(b, &mut x).unwrap();
        assert_eq!(x, exact);
    }
}

#[test]
fn it_gives_up_with_a_reason() {
    // (r, Ar) is zero for every real r.
    let rotation = Dense::from_fn(2, |i, j| Complex64::from(j as f64 - i as f64));
    let b = vec![Complex64::from(1.0), Complex64::from(0.5)];
    let (why, best, info) = failure(minimal_residual(&rotation, &b, None, &params(1.0), None));
    assert!(matches!(why, Failure::Breakdown { quantity: "(r, Ar)", .. }), "{why}");
    assert_eq!((info.iterations, best), (1, vec![Complex64::default(); 2]));

    let mut poisoned = Dense::general(N, 60);
    poisoned.rows[3][5].re = f64::NAN;
    let (why, best, _) =
        failure(minimal_residual(&poisoned, &Random(61).vector(N), None, &params(1.0), None));
    assert!(matches!(why, Failure::NotFinite { .. }), "{why}");
    assert!(best.iter().all(|x| x.is_finite()));
}

#[test]
fn parameters_are_checked() {
    let a = Dense::general(3, 62);
    let b = Random(63).vector(3);
    for relaxation in [0.0, 2.0, -1.0, f64::NAN] {
        let result = minimal_residual(&a, &b, None, &params(relaxation), None);
        assert!(matches!(result, Err(SolverError::Parameter { name: "relaxation", .. })));
        let result = MrSmoother::new(&a, 3, relaxation);
        assert!(matches!(result, Err(SolverError::Parameter { name: "relaxation", .. })));
    }
    assert!(matches!(MrSmoother::new(&a, 0, 1.0), Err(SolverError::Parameter { name: "steps", .. })));
}
