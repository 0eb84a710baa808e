//! Conjugate Gradient on A A†y = b with x = A†y.

use super::dense;

use dense::keeper::StopAt;
use dense::{Dense, Random, distance, failure};
use lattice_solvers::*;
use num_complex::Complex64;

const N: usize = 23;

type Vector = Vec<Complex64>;

/// Returns the iterate after each of the first iterations, by `solve(callbacks)`.
fn iterates(
    count: usize,
    solve: impl Fn(
        Callbacks<'_, dense::Space>,
    ) -> Result<Solution<Vector>, SolverError<Vector, std::convert::Infallible>>,
) -> Vec<Vector> {
    let iterate = |iteration: usize| {
        // The keeper is asked before each iteration.
        let mut keeper = StopAt { stop: iteration + 1, ..Default::default() };
        let (why, ..) = failure(solve(Callbacks::default().with_keeper(Some(&mut keeper))));
        assert_eq!(why, Failure::Interrupted);
        let kept = keeper.kept.unwrap();
        kept.vectors.into_iter().find(|(name, _)| name == "x").unwrap().1
    };
    (1..=count).map(iterate).collect()
}

#[test]
fn solves_a_matrix_that_is_not_hermitian() {
    let a = Dense::general(N, 1);
    let adjoint = a.adjoint();
    let b = Random(2).vector(N);
    let exact = a.solve(&b);
    let (x, info) = cgne(&a, &adjoint, &b, None, &CgOptions::default(), None).unwrap();
    assert!(distance(&x, &exact) < 1e-8);
    assert!(a.residual(&x, &b) <= 1e-10 && info.iterations <= N + 5);
    assert_eq!(info.history.len(), info.iterations + 1);
    // An iteration takes two applications. A†r at the beginning and the true residual take one
    // each.
    assert_eq!(info.applications, 2 * info.iterations + 2);
    let near: Vector = exact.iter().map(|x| x * (1.0 + 1e-7)).collect();
    let (_, warm) = cgne(&a, &adjoint, &b, Some(&near), &CgOptions::default(), None).unwrap();
    assert!(warm.iterations < info.iterations);
}

#[test]
fn is_conjugate_gradient_on_the_other_normal_equations_and_its_error_falls() {
    let a = Dense::general(N, 3);
    let adjoint = a.adjoint();
    // The matrix A A†, in full.
    let product = Dense::from_fn(N, |i, j| (0..N).map(|k| a.rows[i][k] * adjoint.rows[k][j]).sum());
    let b = Random(4).vector(N);
    let exact = a.solve(&b);
    let stopping = Stopping::default().with_look_every(Some(1));
    let params = CgOptions::default().with_stopping(stopping);
    let found = iterates(8, |callbacks| cgne(&a, &adjoint, &b, None, &params, callbacks));
    let expected = iterates(8, |callbacks| conjugate_gradient(&product, &b, None, &params, None, callbacks));
    let mut error = distance(&exact, &vec![Complex64::default(); N]);
    for (k, (x, y)) in found.iter().zip(&expected).enumerate() {
        let mut of_y = y.clone();
        adjoint.apply(y, &mut of_y).unwrap();
        assert!(distance(x, &of_y) < 1e-10, "{k}");
        let next = distance(x, &exact);
        assert!(next < error, "{k}: {next} {error}");
        error = next;
    }
}

#[test]
fn a_singular_system_without_solution_ends_in_a_typed_error() {
    let a = Dense::from_fn(4, |i, j| if i == j && i > 0 { Complex64::from(i as f64) } else { 0.0.into() });
    let b = vec![Complex64::from(1.0); 4];
    let (why, best, _) = failure(cgne(&a, &a.adjoint(), &b, None, &CgOptions::default(), None));
    assert!(!matches!(why, Failure::IterationLimit { .. }), "{why}");
    assert!(best.iter().all(|x| x.is_finite()));
    let zero = Dense::from_fn(4, |_, _| Complex64::default());
    let (why, best, _) = failure(cgne(&zero, &zero, &b, None, &CgOptions::default(), None));
    assert!(matches!(why, Failure::NotFinite { .. } | Failure::Breakdown { .. }), "{why}");
    assert!(best.iter().all(|x| x.is_finite()));
}
