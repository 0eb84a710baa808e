//! Conjugate Gradient with a preconditioner, and any method with one on the right.

use super::dense;

use dense::{Dense, Random, distance, failure};
use lattice_solvers::*;
use num_complex::Complex64;

const N: usize = 29;

type Vector = Vec<Complex64>;

/// A positive definite matrix whose rows differ in size by many orders.
fn graded(seed: u64) -> Dense {
    let a = Dense::positive(N, seed);
    let scale = |k: usize| 10f64.powf(-4.0 * k as f64 / N as f64);
    Dense::from_fn(N, |i, j| a.rows[i][j] * scale(i) * scale(j))
}

#[test]
fn a_preconditioner_makes_a_graded_system_as_easy_as_the_plain_one() {
    let a = graded(161);
    let b = Random(162).vector(N);
    let exact = a.solve(&b);
    let plain = CgOptions::default().with_stopping(Stopping::default().with_max_iterations(300));
    let without =
        conjugate_gradient(&a, &b, None, &plain, None, None).map_or(300, |(_, info)| info.iterations);
    for flexible in [false, true] {
        let options = CgOptions::default().with_flexible(flexible);
        let mut k = |r: &Vector, z: &mut Vector| a.diagonal_inverse(r, z);
        let (x, info) = conjugate_gradient(&a, &b, None, &options, Some(&mut k), None).unwrap();
        let norm = distance(&exact, &vec![Complex64::default(); N]);
        assert!(distance(&x, &exact) < 1e-7 * norm);
        assert!(info.residual.true_residual <= 1e-10 && a.residual(&x, &b) <= 1.01e-10);
        assert!(info.iterations <= N + 5 && info.iterations < without, "{} {without}", info.iterations);
        assert_eq!(info.history.len(), info.iterations + 1);
        let near: Vector = exact.iter().map(|x| x * (1.0 + 1e-7)).collect();
        let (_, warm) = conjugate_gradient(&a, &b, Some(&near), &options, Some(&mut k), None).unwrap();
        assert!(warm.iterations < info.iterations);
    }
}

#[test]
fn with_the_exact_inverse_one_iteration_is_enough() {
    let a = Dense::positive(N, 163);
    let b = Random(164).vector(N);
    let mut inverse = |r: &Vector, z: &mut Vector| {
        *z = a.solve(r);
        Ok(Work::default())
    };
    let stopping = Stopping::default().with_tolerance(1e-8);
    let options = CgOptions::default().with_stopping(stopping);
    let (_, info) = conjugate_gradient(&a, &b, None, &options, Some(&mut inverse), None).unwrap();
    assert_eq!(info.iterations, 1);
}

#[test]
fn the_flexible_form_bears_a_preconditioner_that_changes() {
    let a = Dense::positive(N, 165);
    let b = Random(166).vector(N);
    let mut times = 0;
    let mut changing = |r: &Vector, z: &mut Vector| {
        times += 1;
        let work = a.diagonal_inverse(r, z)?;
        z.iter_mut().enumerate().for_each(|(k, z)| *z *= 1.0 + 0.2 * ((times * k) as f64).sin());
        Ok(work)
    };
    let options = CgOptions::default().with_flexible(true);
    let (x, info) = conjugate_gradient(&a, &b, None, &options, Some(&mut changing), None).unwrap();
    assert!(distance(&x, &a.solve(&b)) < 1e-7 && info.iterations < 4 * N);
}

#[test]
fn what_is_not_positive_is_named() {
    let b = Random(167).vector(N);
    let options = CgOptions::default();
    let indefinite = Dense::from_fn(N, |i, j| if i == j { (i as f64 - 2.5).into() } else { 0.0.into() });
    let mut one = |r: &Vector, z: &mut Vector| {
        z.clone_from(r);
        Ok(Work::default())
    };
    let (why, ..) = failure(conjugate_gradient(&indefinite, &b, None, &options, Some(&mut one), None));
    assert!(matches!(why, Failure::Breakdown { quantity: "(p, Ap)", .. }), "{why:?}");
    let positive = Dense::positive(N, 168);
    let mut minus = |r: &Vector, z: &mut Vector| {
        *z = r.iter().map(|r| -r).collect();
        Ok(Work::default())
    };
    let (why, ..) = failure(conjugate_gradient(&positive, &b, None, &options, Some(&mut minus), None));
    assert!(matches!(why, Failure::Breakdown { quantity: "(r, Kr)", .. }), "{why:?}");
}

#[test]
fn any_method_takes_a_preconditioner_on_the_right() {
    let general = Dense::general(N, 169);
    let scale = |k: usize| 10f64.powf(-3.0 * k as f64 / N as f64);
    let a = Dense::from_fn(N, |i, j| general.rows[i][j] * scale(j));
    let k = Dense::from_fn(N, |i, j| if i == j { (1.0 / scale(i)).into() } else { 0.0.into() });
    let b = Random(170).vector(N);
    let both = RightPreconditioned::new(&a, &k).unwrap();
    let (y, info) = bicgstab(&both, &b, None, &BicgstabOptions::default(), None).unwrap();
    let (solution, again) =
        both.solve(|both| bicgstab(both, &b, None, &BicgstabOptions::default(), None)).unwrap();
    let (plain, expected) = bicgstab(&general, &b, None, &BicgstabOptions::default(), None).unwrap();
    assert!(distance(&y, &plain) < 1e-8 && info.iterations.abs_diff(expected.iterations) <= 1);
    let mut x = y.clone();
    let Ok(()) = k.apply(&y, &mut x);
    assert!(a.residual(&x, &b) <= 1.01e-10);
    assert_eq!((solution, again.history), (x, info.history));
    assert_eq!(both.work().flops, a.work().flops + k.work().flops);
}
