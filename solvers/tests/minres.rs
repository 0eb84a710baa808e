//! MINRES: the smallest residual in the Krylov space, whatever the signs of the eigenvalues.

use super::dense;

use dense::{Dense, Random, distance, failure, monotone};
use lattice_solvers::*;
use num_complex::Complex64;

const N: usize = 23;

type Vector = Vec<Complex64>;

fn zero(n: usize) -> Vector {
    vec![Complex64::default(); n]
}

fn norm(x: &[Complex64]) -> f64 {
    distance(x, &zero(x.len()))
}

/// Removes from `x` its part along orthonormal vectors, twice, which is enough.
fn orthogonalise(x: &mut Vector, basis: &[Vector]) {
    for _ in 0..2 {
        for q in basis {
            let share: Complex64 = q.iter().zip(x.iter()).map(|(q, x)| q.conj() * x).sum();
            x.iter_mut().zip(q).for_each(|(x, q)| *x -= share * q);
        }
    }
}

fn normalised(x: &Vector) -> Vector {
    x.iter().map(|component| component / norm(x)).collect()
}

/// Returns the smallest ‖b − A x‖ / ‖b‖ in Krylov spaces, by least squares.
///
/// The spaces have the dimensions 0, 1, ….
fn smallest_residuals(a: &Dense, b: &Vector, most: usize) -> Vec<f64> {
    let (mut space, mut images): (Vec<Vector>, Vec<Vector>) = (vec![normalised(b)], Vec::new());
    let mut residuals = vec![1.0];
    for _ in 0..most {
        let mut image = zero(b.len());
        let Ok(()) = a.apply(space.last().unwrap(), &mut image);
        let mut next = image.clone();
        orthogonalise(&mut next, &space);
        space.push(normalised(&next));
        orthogonalise(&mut image, &images);
        images.push(normalised(&image));
        let mut left = b.clone();
        orthogonalise(&mut left, &images);
        residuals.push(norm(&left) / norm(b));
    }
    residuals
}

#[test]
fn it_solves_hermitian_systems_with_one_application_an_iteration() {
    for (a, seed) in [(Dense::positive(N, 141), 142), (Dense::indefinite(N, 143), 144)] {
        let b = Random(seed).vector(N);
        let exact = a.solve(&b);
        let (x, info) = minres(&a, &b, None, &MinresOptions::default(), None, None).unwrap();
        assert!(distance(&x, &exact) < 1e-8);
        assert!(monotone(&info.history));
        assert_eq!(info.history.len(), info.iterations + 1);
        assert!(info.residual.true_residual <= 1e-10 && a.residual(&x, &b) <= 1e-10);
        assert_eq!(info.applications, info.iterations + 1);
        assert!(info.work.flops > a.work().flops * info.iterations as u64);
        let near: Vector = exact.iter().map(|x| x * (1.0 + 1e-7)).collect();
        let (_, warm) = minres(&a, &b, Some(&near), &MinresOptions::default(), None, None).unwrap();
        assert!(warm.iterations < info.iterations);
    }
}

#[test]
fn each_residual_is_the_smallest_in_its_krylov_space() {
    for seed in [145, 146, 147] {
        let a = Dense::indefinite(N, seed);
        let b = Random(seed + 100).vector(N);
        let smallest = smallest_residuals(&a, &b, 14);
        let (_, info) = minres(&a, &b, None, &MinresOptions::default(), None, None).unwrap();
        for (k, (found, expected)) in info.history.iter().zip(&smallest).enumerate() {
            assert!((found - expected).abs() < 1e-10, "{seed}, {k}: {found} {expected}");
        }
        // The iterate has the residual that is reported.
        for most in [1, 2, 7, 13] {
            let stopping = Stopping::default().with_max_iterations(most);
            let params = MinresOptions::default().with_stopping(stopping);
            let (why, x, info) = failure(minres(&a, &b, None, &params, None, None));
            assert_eq!(why, Failure::IterationLimit { limit: most });
            assert!((a.residual(&x, &b) - smallest[most]).abs() < 1e-10, "{seed}, {most}");
            assert!((info.residual.iterated - smallest[most]).abs() < 1e-10, "{seed}, {most}");
        }
    }
}

#[test]
fn on_a_definite_matrix_it_is_conjugate_residual() {
    let a = Dense::positive(N, 148);
    let b = Random(149).vector(N);
    let (_, minimal) = minres(&a, &b, None, &MinresOptions::default(), None, None).unwrap();
    let (_, conjugate) = conjugate_residual(&a, &b, None, &CrOptions::default(), None).unwrap();
    for (m, c) in minimal.history.iter().zip(&conjugate.history).take(12) {
        assert!((m - c).abs() <= 1e-6 * c, "{m} {c}");
    }
}

#[test]
fn it_passes_over_a_step_without_length() {
    // (b, A b) = 0: the first residual is as large as b, and Conjugate Residual has no second
    // direction.
    let swap = Dense::from_fn(2, |i, j| Complex64::from(if i == j { 0.0 } else { 1.0 }));
    let b = vec![Complex64::from(1.0), Complex64::default()];
    let (why, ..) = failure(conjugate_residual(&swap, &b, None, &CrOptions::default(), None));
    assert!(matches!(why, Failure::Breakdown { .. }), "{why}");
    let (x, info) = minres(&swap, &b, None, &MinresOptions::default(), None, None).unwrap();
    assert_eq!((info.iterations, info.history), (2, vec![1.0, 1.0, 0.0]));
    assert!(distance(&x, &[b[1], b[0]]) < 1e-15);
}

#[test]
fn a_vector_of_eigenvalue_one_is_found_in_one_step() {
    // The next Lanczos vector is zero.
    let a = Dense::from_fn(N, |i, j| Complex64::from(if i == j { -2.0 } else { 0.0 }));
    let b = Random(150).vector(N);
    let (x, info) = minres(&a, &b, None, &MinresOptions::default(), None, None).unwrap();
    assert_eq!(info.iterations, 1);
    assert!(distance(&x, &a.solve(&b)) < 1e-14);
}

/// Makes diag(0, −1, 2, −3, …).
fn singular() -> Dense {
    let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    Dense::from_fn(N, |i, j| Complex64::from(if i == j { sign(i) * i as f64 } else { 0.0 }))
}

#[test]
fn a_singular_system_that_has_a_solution_is_solved() {
    let a = singular();
    let mut b = Random(151).vector(N);
    b[0] = Complex64::default();
    let (x, info) = minres(&a, &b, None, &MinresOptions::default(), None, None).unwrap();
    assert!(info.residual.true_residual <= 1e-10 && monotone(&info.history));
    // The solution is the shortest of all.
    assert_eq!(x[0], Complex64::default());
    for i in 1..N {
        assert!((x[i] - b[i] / a.rows[i][i]).norm() < 1e-9, "{i}");
    }
}

#[test]
fn a_singular_system_without_solution_is_given_up_with_the_smallest_residual() {
    let a = singular();
    let b = Random(152).vector(N);
    let (why, x, info) = failure(minres(&a, &b, None, &MinresOptions::default(), None, None));
    assert!(matches!(why, Failure::Breakdown { quantity: "‖Ar‖ / ‖r‖", .. }), "{why}");
    let smallest = b[0].norm() / norm(&b);
    assert!(
        (info.residual.true_residual - smallest).abs() < 1e-8,
        "{} {smallest}",
        info.residual.true_residual
    );
    assert!((a.residual(&x, &b) - smallest).abs() < 1e-8);
}

#[test]
fn it_gives_up_with_a_reason() {
    let nothing = Dense::from_fn(N, |_, _| Complex64::default());
    let b = Random(153).vector(N);
    let (why, best, info) = failure(minres(&nothing, &b, None, &MinresOptions::default(), None, None));
    assert!(matches!(why, Failure::Breakdown { quantity: "‖Ar‖ / ‖r‖", relative: 0.0, .. }), "{why}");
    assert_eq!((info.iterations, info.history, best), (0, vec![1.0], zero(N)));

    let mut poisoned = Dense::indefinite(N, 154);
    poisoned.rows[3][5].re = f64::NAN;
    let (why, best, _) = failure(minres(&poisoned, &b, None, &MinresOptions::default(), None, None));
    assert!(matches!(why, Failure::NotFinite { .. }), "{why}");
    assert!(best.iter().all(|x| x.is_finite()));
}

#[test]
fn it_solves_real_systems_in_single_precision() {
    // −u″ − 2 u on 40 points: eigenvalues of both signs.
    let a = vec::from_fn(40, |u: &[f32], out: &mut [f32]| {
        let at = |i: usize| u.get(i).copied().unwrap_or(0.0);
        (0..40).for_each(|i| out[i] = 0.7 * u[i] - at(i.wrapping_sub(1)) - at(i + 1));
    });
    let stopping = Stopping::default().with_tolerance(1e-5);
    let params = MinresOptions::default().with_stopping(stopping);
    let (_, info) = minres(&a, &vec![1.0; 40], None, &params, None, None).unwrap();
    assert!(info.residual.true_residual <= 1e-5 && monotone(&info.history));
}
