//! MINRES with a preconditioner.

use super::dense;

use dense::{Dense, Random, distance, failure};
use lattice_solvers::*;
use num_complex::Complex64;

const N: usize = 29;

type Vector = Vec<Complex64>;

/// Multiplies by the inverse sizes of the diagonal, which is positive for any matrix.
fn inverse_sizes(a: &Dense) -> impl FnMut(&Vector, &mut Vector) -> Preconditioned<dense::Space> {
    move |r, z| {
        z.iter_mut().zip(r).enumerate().for_each(|(k, (z, r))| *z = r / a.rows[k][k].norm());
        Ok(Work { flops: 2 * r.len() as u64, bytes: 0 })
    }
}

/// An indefinite matrix whose rows differ in size by many orders.
fn graded(seed: u64) -> Dense {
    let a = Dense::indefinite(N, seed);
    let scale = |k: usize| 10f64.powf(-3.0 * k as f64 / N as f64);
    Dense::from_fn(N, |i, j| a.rows[i][j] * scale(i) * scale(j))
}

#[test]
fn a_preconditioner_helps_with_a_graded_indefinite_system() {
    let a = graded(181);
    let b = Random(182).vector(N);
    let exact = a.solve(&b);
    let options = MinresOptions::default().with_breakdown(1e-14);
    let mut k = inverse_sizes(&a);
    let (x, info) = minres(&a, &b, None, &options, Some(&mut k), None).unwrap();
    let norm = distance(&exact, &vec![Complex64::default(); N]);
    assert!(distance(&x, &exact) < 1e-6 * norm, "{}", distance(&x, &exact) / norm);
    assert!(info.residual.true_residual <= 1e-10 && a.residual(&x, &b) <= 1.01e-10);
    let without =
        minres(&a, &b, None, &options, None, None).map_or(usize::MAX, |(_, without)| without.iterations);
    assert!(info.iterations < without, "{} {without}", info.iterations);
    assert_eq!(info.history.len(), info.iterations + 1);
    assert!(info.work.flops > (a.work().flops + 2 * N as u64) * info.iterations as u64);
    let near: Vector = exact.iter().map(|x| x * (1.0 + 1e-7)).collect();
    let (_, warm) = minres(&a, &b, Some(&near), &options, Some(&mut k), None).unwrap();
    assert!(warm.iterations < info.iterations);
}

#[test]
fn a_multiple_of_one_changes_nothing() {
    let a = Dense::indefinite(N, 183);
    let b = Random(184).vector(N);
    let (_, expected) = minres(&a, &b, None, &MinresOptions::default(), None, None).unwrap();
    for factor in [1.0, 1e-9, 3e7] {
        let mut k = |r: &Vector, z: &mut Vector| {
            z.iter_mut().zip(r).for_each(|(z, r)| *z = factor * r);
            Ok(Work::default())
        };
        let (_, found) = minres(&a, &b, None, &MinresOptions::default(), Some(&mut k), None).unwrap();
        for (found, expected) in found.history.iter().zip(&expected.history).take(N / 2) {
            assert!((found - expected).abs() < 1e-9, "{factor}: {found} {expected}");
        }
    }
}

#[test]
fn the_residual_that_is_reported_is_that_of_the_iterate() {
    let a = graded(185);
    let b = Random(186).vector(N);
    for most in [1, 2, 5, 11] {
        let stopping = Stopping::default().with_max_iterations(most);
        let params = MinresOptions::default().with_stopping(stopping).with_breakdown(1e-14);
        let outcome = minres(&a, &b, None, &params, Some(&mut inverse_sizes(&a)), None);
        let (why, x, info) = failure(outcome);
        assert_eq!(why, Failure::IterationLimit { limit: most });
        // The best iterate may be an earlier one.
        let found = a.residual(&x, &b);
        let least = info.history.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(found >= least - 1e-10 && found <= 4.01 * least, "{most}: {found} {least}");
        let last = info.history[most];
        assert!((last - info.residual.iterated).abs() < 1e-12, "{most}: {last}");
    }
}

#[test]
fn eigenvalues_of_one_size_are_found_in_two_steps() {
    // With the inverse sizes of a diagonal matrix there are the eigenvalues 1 and −1.
    let sign = |i: usize| if i.is_multiple_of(3) { -1.0 } else { 1.0 };
    let a = Dense::from_fn(N, |i, j| Complex64::from(if i == j { sign(i) * (1.0 + i as f64) } else { 0.0 }));
    let b = Random(187).vector(N);
    let stopping = Stopping::default().with_tolerance(1e-9);
    let params = MinresOptions::default().with_stopping(stopping);
    let (x, info) = minres(&a, &b, None, &params, Some(&mut inverse_sizes(&a)), None).unwrap();
    assert_eq!(info.iterations, 2);
    assert!(distance(&x, &a.solve(&b)) < 1e-9);
}

#[test]
fn a_preconditioner_that_is_not_positive_is_named() {
    let a = Dense::positive(N, 188);
    let b = Random(189).vector(N);
    let mut minus = |r: &Vector, z: &mut Vector| {
        *z = r.iter().map(|r| -r).collect();
        Ok(Work::default())
    };
    let options = MinresOptions::default();
    let (why, best, _) = failure(minres(&a, &b, None, &options, Some(&mut minus), None));
    assert!(
        matches!(why, Failure::Breakdown { quantity: "(r, Kr)", relative, .. } if relative < 0.0),
        "{why}"
    );
    assert_eq!(best, vec![Complex64::default(); N]);
    // The first direction alone does not show the negative ones.
    let mut mixed = |r: &Vector, z: &mut Vector| {
        z.iter_mut().zip(r).enumerate().for_each(|(k, (z, r))| *z = if k == 5 { -r } else { *r });
        Ok(Work::default())
    };
    let (why, ..) = failure(minres(&a, &b, None, &options, Some(&mut mixed), None));
    assert!(matches!(why, Failure::Breakdown { quantity: "(r, Kr)", .. }), "{why}");
}
