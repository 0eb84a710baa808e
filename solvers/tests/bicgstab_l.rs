//! BiCGStab(ℓ) for several ℓ.

use super::dense;

use dense::{Dense, Random, distance, failure};
use lattice_solvers::*;
use num_complex::Complex64;

const N: usize = 23;

fn params(degree: usize) -> BicgstabLOptions {
    BicgstabLOptions::default().with_degree(degree)
}

#[test]
fn it_solves_a_matrix_that_is_not_hermitian() {
    let a = Dense::general(N, 91);
    let b = Random(92).vector(N);
    let exact = a.solve(&b);
    for degree in 1..=4 {
        let (x, info) = bicgstab_l(&a, &b, None, &params(degree), None).unwrap();
        assert!(distance(&x, &exact) < 1e-8);
        assert!(info.residual.true_residual <= 1e-10 && a.residual(&x, &b) <= 1e-10);
        assert_eq!(info.history.len(), info.iterations + 1);
        // 2ℓ applications an iteration, and one for the true residual.
        assert_eq!(info.applications, 2 * degree * info.iterations + 1);
        let near: Vec<_> = exact.iter().map(|x| x * (1.0 + 1e-7)).collect();
        let (_, warm) = bicgstab_l(&a, &b, Some(&near), &params(degree), None).unwrap();
        assert!(warm.iterations < info.iterations);
    }
}

#[test]
fn with_degree_one_it_is_bicgstab() {
    let a = Dense::general(N, 93);
    let b = Random(94).vector(N);
    let (_, expected) = bicgstab(&a, &b, None, &BicgstabOptions::default(), None).unwrap();
    let (_, found) = bicgstab_l(&a, &b, None, &params(1), None).unwrap();
    assert_eq!(found.iterations, expected.iterations);
    for (expected, found) in expected.history.iter().zip(&found.history) {
        assert!((expected - found).abs() <= 1e-6 * expected, "{expected} {found}");
    }
}

/// Checks the residual of the first iteration from its definition.
///
/// Two steps of bi-conjugate gradients end in the residual r whose coefficients make it orthogonal
/// to q and A†q. Then ‖r − γ₁ Ar − γ₂ A²r‖ is minimal.
#[test]
fn the_first_iteration_is_what_it_says() {
    let a = Dense::general(N, 95);
    let b = Random(96).vector(N);
    let stopping = Stopping::default().with_max_iterations(1);
    let (_, _, info) = failure(bicgstab_l(&a, &b, None, &params(2).with_stopping(stopping), None));

    let powers = |start: &[Complex64]| {
        let mut powers = vec![start.to_vec()];
        for k in 0..2 {
            let mut image = powers[k].clone();
            let Ok(()) = a.apply(&powers[k], &mut image);
            powers.push(image);
        }
        powers
    };
    let product =
        |x: &[Complex64], y: &[Complex64]| -> Complex64 { x.iter().zip(y).map(|(x, y)| x.conj() * y).sum() };
    let minus = |x: &[Complex64], c: &[Complex64], y: &[Vec<Complex64>]| -> Vec<Complex64> {
        (0..N).map(|i| x[i] - c[0] * y[0][i] - c[1] * y[1][i]).collect()
    };
    let adjoint_b: Vec<Complex64> =
        (0..N).map(|i| (0..N).map(|k| a.rows[k][i].conj() * b[k]).sum()).collect();
    let (krylov, shadows) = (powers(&b), [b.clone(), adjoint_b]);
    let conditions = Dense::from_fn(2, |i, j| product(&shadows[i], &krylov[j + 1]));
    let right = [product(&shadows[0], &b), product(&shadows[1], &b)];
    let r = minus(&b, &conditions.solve(&right), &krylov[1..]);

    let images = powers(&r);
    let gram = Dense::from_fn(2, |i, j| product(&images[i + 1], &images[j + 1]));
    let right = [product(&images[1], &r), product(&images[2], &r)];
    let r = minus(&r, &gram.solve(&right), &images[1..]);
    let zero = vec![Complex64::default(); N];
    let expected = distance(&r, &zero) / distance(&b, &zero);
    assert!((info.residual.iterated - expected).abs() < 1e-10, "{} {expected}", info.residual.iterated);
}

#[test]
fn a_second_degree_follows_eigenvalues_far_from_the_real_axis() {
    // Rotations by nearly a right angle: a step along the residual hardly helps, two of them do.
    let n = 40;
    let a = Dense::from_fn(n, |i, j| {
        let strength = 1.0 + (i / 2) as f64 / 10.0;
        match (i / 2 == j / 2, i == j) {
            (true, true) => Complex64::from(0.02),
            (true, false) => Complex64::from(if i < j { strength } else { -strength }),
            _ => Complex64::default(),
        }
    });
    let b: Vec<Complex64> = Random(97).vector(n).iter().map(|z| Complex64::from(z.re)).collect();
    let applications = |degree| {
        let stopping = Stopping::default().with_max_iterations(2000 / degree);
        match bicgstab_l(&a, &b, None, &params(degree).with_stopping(stopping), None) {
            Ok((_, info)) => info.applications,
            Err(SolverError::NotConverged { .. }) => usize::MAX,
            Err(other) => panic!("{other}"),
        }
    };
    let (first, second) = (applications(1), applications(2));
    assert!(2 * second < first, "{second} {first}");
}

#[test]
fn it_starts_again_after_a_breakdown() {
    // (b, Ab) is zero: b cannot be its own shadow.
    let reflection = Dense::from_fn(2, |i, j| Complex64::from([[1.0, 0.0], [0.0, -1.0]][i][j]));
    // The first residual is orthogonal to the second.
    let entries = [[1.0, 2.0, 0.0], [-2.0, 1.0, 1.0], [0.0, 0.0, 3.0]];
    let second = Dense::from_fn(3, |i, j| Complex64::from(entries[i][j]));
    // One step solves it. A second step would be 0/0.
    let twice = Dense::from_fn(3, |i, j| Complex64::from(if i == j { 2.0 } else { 0.0 }));
    let unit = |n: usize| (0..n).map(|i| Complex64::from(if i == 0 { 1.0 } else { 0.0 })).collect();
    for (a, b) in [(reflection, vec![1.0.into(); 2]), (second, unit(3)), (twice, unit(3))] {
        for degree in 1..=3 {
            let (x, _) = bicgstab_l(&a, &b, None, &params(degree), None).unwrap();
            assert!(distance(&x, &a.solve(&b)) < 1e-9);
        }
    }
}

#[test]
fn it_gives_up_with_a_reason() {
    let zero = Dense::from_fn(2, |_, _| Complex64::default());
    let b = vec![Complex64::from(1.0), Complex64::from(0.5)];
    let (why, best, info) = failure(bicgstab_l(&zero, &b, None, &params(2), None));
    assert!(matches!(why, Failure::Breakdown { .. }), "{why}");
    assert!(info.iterations <= 3);
    assert_eq!(best, vec![Complex64::default(); 2]);

    let mut poisoned = Dense::general(N, 98);
    poisoned.rows[3][5].re = f64::NAN;
    let (why, best, _) = failure(bicgstab_l(&poisoned, &Random(99).vector(N), None, &params(2), None));
    assert!(matches!(why, Failure::NotFinite { .. }), "{why}");
    assert!(best.iter().all(|x| x.is_finite()));

    let a = Dense::general(N, 100);
    let b = Random(101).vector(N);
    let stopping = Stopping::default().with_tolerance(1e-19);
    let (why, _, info) = failure(bicgstab_l(&a, &b, None, &params(2).with_stopping(stopping), None));
    assert!(matches!(why, Failure::PrecisionLimit { .. }), "{why}");
    assert!(info.residual.true_residual < 1e-12);

    let result = bicgstab_l(&a, &b, None, &params(0), None);
    assert!(matches!(result, Err(SolverError::Parameter { name: "degree", .. })));
}
