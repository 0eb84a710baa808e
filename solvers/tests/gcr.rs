//! GCR(m): without preconditioner, and with other methods as preconditioner.

use super::dense;

use dense::{Dense, Random, distance, failure, monotone};
use lattice_solvers::*;
use num_complex::Complex64;

const N: usize = 23;

fn params(restart: usize) -> GcrOptions {
    GcrOptions::default().with_restart(restart)
}

#[test]
fn it_solves_a_matrix_whose_hermitian_part_is_definite() {
    let a = Dense::general(N, 71);
    let b = Random(72).vector(N);
    let exact = a.solve(&b);
    for restart in [1, 4, 2 * N] {
        let (x, info) = gcr(&a, &b, None, &params(restart), None, None).unwrap();
        assert!(distance(&x, &exact) < 1e-8);
        assert!(monotone(&info.history));
        assert!(info.residual.true_residual <= 1e-10 && a.residual(&x, &b) <= 1e-10);
        // One application an iteration, and one for the true residual.
        assert_eq!(info.applications, info.iterations + 1);
        let near: Vec<_> = exact.iter().map(|x| x * (1.0 + 1e-7)).collect();
        let (_, warm) = gcr(&a, &b, Some(&near), &params(restart), None, None).unwrap();
        assert!(warm.iterations < info.iterations);
        // Without restart the directions span the space after N of them.
        assert!(restart < N || info.iterations <= N);
    }
}

/// The residual of GCR is the smallest in the Krylov space.
///
/// The normal equations of the minimal problem give the expected one.
#[test]
fn the_residual_is_the_smallest_in_the_krylov_space() {
    let a = Dense::general(N, 73);
    let b = Random(74).vector(N);
    let (_, info) = gcr(&a, &b, None, &params(N), None, None).unwrap();
    let zero = vec![Complex64::default(); N];
    let product = |x: &[Complex64], y: &[Complex64]| x.iter().zip(y).map(|(x, y)| x.conj() * y).sum();
    let mut images: Vec<Vec<Complex64>> = Vec::new();
    for k in 1..=6 {
        let mut image = zero.clone();
        let Ok(()) = a.apply(images.last().unwrap_or(&b), &mut image);
        images.push(image);
        let gram = Dense::from_fn(k, |i, j| product(&images[i], &images[j]));
        let projections: Vec<Complex64> = images.iter().map(|image| product(image, &b)).collect();
        let coefficients = gram.solve(&projections);
        let combination: Vec<Complex64> = (0..N)
            .map(|site| coefficients.iter().zip(&images).map(|(c, image)| c * image[site]).sum())
            .collect();
        let expected = distance(&combination, &b) / distance(&zero, &b);
        assert!((info.history[k] - expected).abs() < 1e-9, "{k}: {} {expected}", info.history[k]);
    }
}

#[test]
fn other_methods_precondition_it() {
    let a = Dense::general(N, 75);
    let b = Random(76).vector(N);
    let exact = a.solve(&b);
    let (_, plain) = gcr(&a, &b, None, &params(8), None, None).unwrap();
    let check = |result: Result<Solution<Vec<Complex64>>, _>| {
        let (x, info): (_, SolverInfo) = result.unwrap();
        assert!(distance(&x, &exact) < 1e-8);
        assert!(monotone(&info.history));
        assert!(info.iterations < plain.iterations, "{} {}", info.iterations, plain.iterations);
        let outer = a.work().flops * info.applications as u64;
        assert!(info.work.flops > 3 * outer, "the work of the preconditioner counts");
    };

    let mut smoother = MrSmoother::new(&a, 5, 0.9).unwrap();
    let mut precondition = |r: &_, z: &mut _| smoother.apply(r, z);
    check(gcr(&a, &b, None, &params(8), Some(&mut precondition), None));

    let tolerance = Stopping::default().with_tolerance(0.1);
    let loose = BicgstabOptions::default().with_stopping(tolerance);
    let mut precondition = |r: &_, z: &mut _| {
        let (x, info) = bicgstab(&a, r, None, &loose, None)?;
        *z = x;
        Ok(info.work)
    };
    check(gcr(&a, &b, None, &params(8), Some(&mut precondition), None));

    // This preconditioner always gives up, after another number of iterations each time.
    let mut limit = 0;
    let mut precondition = |r: &_, z: &mut _| {
        limit = limit % 4 + 3;
        let stopping = Stopping::default().with_max_iterations(limit).with_tolerance(1e-30);
        let params = MrOptions::default().with_stopping(stopping);
        let (x, info) = minimal_residual(&a, r, None, &params, None)?;
        *z = x;
        Ok(info.work)
    };
    check(gcr(&a, &b, None, &params(8), Some(&mut precondition), None));
}

#[test]
fn an_exact_preconditioner_needs_one_iteration() {
    let a = Dense::general(N, 77);
    let b = Random(78).vector(N);
    let mut precondition = |r: &Vec<Complex64>, z: &mut Vec<Complex64>| {
        *z = a.solve(r);
        Ok(Work::default())
    };
    let (_, info) = gcr(&a, &b, None, &params(8), Some(&mut precondition), None).unwrap();
    assert_eq!(info.iterations, 1);
}

#[test]
fn what_a_preconditioner_says_is_passed_on() {
    let a = Dense::general(N, 79);
    let b = Random(80).vector(N);
    let wrong = MrOptions::default().with_relaxation(3.0);
    let mut precondition =
        |r: &_, _: &mut _| minimal_residual(&a, r, None, &wrong, None).map(|(_, info)| info.work);
    let result = gcr(&a, &b, None, &params(8), Some(&mut precondition), None);
    assert!(matches!(result, Err(SolverError::Parameter { name: "relaxation", .. })));
    assert!(matches!(
        gcr(&a, &b, None, &params(0), None, None),
        Err(SolverError::Parameter { name: "restart", .. })
    ));
}

#[test]
fn it_starts_again_when_a_direction_brings_nothing_new() {
    // This preconditioner says the same twice: the second direction is the first.
    let a = Dense::general(N, 81);
    let b = Random(82).vector(N);
    let mut said: Vec<Vec<Complex64>> = Vec::new();
    let mut precondition = |r: &Vec<Complex64>, z: &mut Vec<Complex64>| {
        let again = said.len() % 3 == 1;
        *z = if again { said[said.len() - 1].clone() } else { r.clone() };
        said.push(z.clone());
        Ok(Work::default())
    };
    let (x, _) = gcr(&a, &b, None, &params(8), Some(&mut precondition), None).unwrap();
    assert!(distance(&x, &a.solve(&b)) < 1e-8);
}

#[test]
fn it_gives_up_with_a_reason() {
    // A zero matrix has no image, and for a rotation by a right angle (r, Ar) is zero for every
    // real r.
    let zero = Dense::from_fn(2, |_, _| Complex64::default());
    let rotation = Dense::from_fn(2, |i, j| Complex64::from(j as f64 - i as f64));
    let b = vec![Complex64::from(1.0), Complex64::from(0.5)];
    for a in [zero, rotation] {
        let (why, best, info) = failure(gcr(&a, &b, None, &params(8), None, None));
        assert!(matches!(why, Failure::Breakdown { quantity: "(Ap, r)", .. }), "{why}");
        assert_eq!((info.iterations, best), (1, vec![Complex64::default(); 2]));
    }

    let mut poisoned = Dense::general(N, 83);
    poisoned.rows[3][5].re = f64::NAN;
    let (why, best, _) = failure(gcr(&poisoned, &Random(84).vector(N), None, &params(8), None, None));
    assert!(matches!(why, Failure::NotFinite { .. }), "{why}");
    assert!(best.iter().all(|x| x.is_finite()));
}
