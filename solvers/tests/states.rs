//! Solves that are interrupted and go on from the state that was kept.
//!
//! They give the same bits as without interruption.

use super::dense;

use dense::keeper::StopAt;
use dense::{Dense, Random, distance};
use lattice_solvers::*;
use num_complex::Complex64;
use std::convert::Infallible;

const N: usize = 31;

type Vector = Vec<Complex64>;

fn with<'a>(keeper: &'a mut StopAt) -> Callbacks<'a, dense::Space> {
    Callbacks::default().with_keeper(Some(keeper))
}

type SolveResult = Result<(Vector, SolverInfo), SolverError<Vector, Infallible>>;

/// Returns the parts that must be the same: all but the time.
fn told(outcome: SolveResult) -> (Vector, SolverInfo, Option<Failure>) {
    let (x, info, failure) = match outcome {
        Ok((x, info)) => (x, info, None),
        Err(SolverError::NotConverged { failure, best, info }) => (best, *info, Some(failure)),
        Err(error) => panic!("{error}"),
    };
    (x, SolverInfo { time: Default::default(), ..info }, failure)
}

/// Stops a solve at each possible place, and lets it go on from there.
///
/// `solve(keeper)` runs the solve.
fn check(what: &str, solve: impl Fn(&mut StopAt) -> SolveResult) -> Vector {
    let stop_at = |stop, from| StopAt { asked: 0, stop, from, kept: None };
    let mut never = stop_at(usize::MAX, None);
    let whole = told(solve(&mut never));
    assert!(never.asked > 1, "{what}: asked {} times only", never.asked);
    for stop in 1..=never.asked {
        let mut keeper = stop_at(stop, None);
        let (_, info, failure) = told(solve(&mut keeper));
        assert_eq!(failure, Some(Failure::Interrupted), "{what}, {stop}");
        assert!(info.residual.true_residual.is_finite());
        let mut rest = stop_at(usize::MAX, keeper.kept);
        assert_eq!(told(solve(&mut rest)), whole, "{what}: stopped at the look number {stop}");
        assert_eq!(rest.asked, never.asked - stop + 1, "{what}");
    }
    whole.0
}

#[test]
fn a_solve_that_was_interrupted_gives_the_same_bits() {
    let (positive, indefinite, general) =
        (Dense::positive(N, 1), Dense::indefinite(N, 2), Dense::general(N, 3));
    let b = Random(4).vector(N);
    for look_every in [Some(1), Some(3), None] {
        let stopping = Stopping::default().with_look_every(look_every);
        let cr = |recurrence| CrOptions::default().with_stopping(stopping).with_recurrence(recurrence);
        let (hermitian, any) = (cr(Recurrence::Hermitian), cr(Recurrence::General));
        let minimal = MinresOptions::default().with_stopping(stopping);
        let cg = CgOptions::default().with_stopping(stopping);
        let stabilised = BicgstabOptions::default().with_stopping(stopping);
        let solutions = [
            (
                &positive,
                check("CR", |keeper| conjugate_residual(&positive, &b, None, &hermitian, with(keeper))),
            ),
            (
                &indefinite,
                check("CR, indefinite", |keeper| {
                    conjugate_residual(&indefinite, &b, None, &hermitian, with(keeper))
                }),
            ),
            (
                &general,
                check("CR, general", |keeper| conjugate_residual(&general, &b, None, &any, with(keeper))),
            ),
            (
                &indefinite,
                check("MINRES", |keeper| minres(&indefinite, &b, None, &minimal, None, with(keeper))),
            ),
            (
                &positive,
                check("CG", |keeper| conjugate_gradient(&positive, &b, None, &cg, None, with(keeper))),
            ),
            (
                &general,
                check("BiCGStab", |keeper| bicgstab(&general, &b, Some(&b), &stabilised, with(keeper))),
            ),
        ];
        let higher = BicgstabLOptions::default().with_stopping(stopping).with_degree(3);
        let gcr_params = GcrOptions::default().with_stopping(stopping).with_restart(4);
        let mr = MrOptions::default().with_stopping(stopping);

        for flexible in [false, true] {
            let params = CgOptions::default().with_stopping(stopping).with_flexible(flexible);
            let x = check("preconditioned CG", |keeper| {
                let mut k = |r: &Vector, z: &mut Vector| positive.diagonal_inverse(r, z);
                conjugate_gradient(&positive, &b, None, &params, Some(&mut k), with(keeper))
            });
            assert!(distance(&x, &positive.solve(&b)) < 1e-8);
        }
        let x = check("preconditioned MINRES", |keeper| {
            let mut k = |r: &Vector, z: &mut Vector| positive.diagonal_inverse(r, z);
            minres(&positive, &b, None, &minimal, Some(&mut k), with(keeper))
        });
        assert!(distance(&x, &positive.solve(&b)) < 1e-8);
        let more = [
            check("BiCGStab(3)", |keeper| bicgstab_l(&general, &b, None, &higher, with(keeper))),
            check("GCR(4)", |keeper| gcr(&general, &b, None, &gcr_params, None, with(keeper))),
            check("CGNE", |keeper| cgne(&general, &general.adjoint(), &b, None, &cg, with(keeper))),
            check("MR", |keeper| minimal_residual(&general, &b, None, &mr, with(keeper))),
        ];
        for (a, x) in solutions.into_iter().chain(more.map(|x| (&general, x))) {
            assert!(distance(&x, &a.solve(&b)) < 1e-8);
        }
    }
}

#[test]
fn a_solve_that_fails_fails_in_the_same_way() {
    // BiCGStab starts again with other shadow residuals before it gives up.
    let singular =
        Dense::from_fn(N, |i, j| if i == j && i > 0 { (1.0 + i as f64).into() } else { 0.0.into() });
    let b = Random(5).vector(N);
    let stopping = Stopping::default().with_max_iterations(60);
    let params = BicgstabOptions::default().with_stopping(stopping);
    check("singular", |keeper| bicgstab(&singular, &b, None, &params, with(keeper)));
    let params = BicgstabLOptions::default().with_stopping(stopping);
    check("singular, degree 2", |keeper| bicgstab_l(&singular, &b, None, &params, with(keeper)));
    let params = MinresOptions::default().with_stopping(stopping);
    check("singular, MINRES", |keeper| minres(&singular, &b, None, &params, None, with(keeper)));
}

#[test]
fn a_state_of_another_method_is_refused() {
    let a = Dense::positive(N, 6);
    let b = Random(7).vector(N);
    let mut keeper = StopAt { asked: 0, stop: 3, from: None, kept: None };
    told(conjugate_gradient(&a, &b, None, &CgOptions::default(), None, with(&mut keeper)));
    let state = keeper.kept.unwrap();
    let mut keeper = StopAt { asked: 0, stop: 0, from: Some(state.clone()), kept: None };
    let error = conjugate_residual(&a, &b, None, &CrOptions::default(), with(&mut keeper)).unwrap_err();
    assert!(matches!(error, SolverError::ForeignState(_)), "{error}");
    for word in ["Conjugate Gradient", "Conjugate Residual"] {
        assert!(error.to_string().contains(word), "{error}");
    }
    let mut broken = state;
    broken.scalars.clear();
    let mut keeper = StopAt { asked: 0, stop: 0, from: Some(broken), kept: None };
    let error = conjugate_gradient(&a, &b, None, &CgOptions::default(), None, with(&mut keeper)).unwrap_err();
    assert!(error.to_string().contains("`(r, r)`"), "{error}");
}

#[test]
fn a_solve_is_watched_at_every_look() {
    let (a, b) = (Dense::positive(N, 8), Random(9).vector(N));
    for (look_every, most) in [(Some(1), usize::MAX), (Some(4), usize::MAX), (Some(4), 6)] {
        let stopping = Stopping::default().with_look_every(look_every).with_max_iterations(most);
        let params = CgOptions::default().with_stopping(stopping);
        let mut looks = Vec::new();
        let mut watching = Watching(|look: &Look| looks.push(*look));
        let callbacks = Callbacks::default().with_keeper(Some(&mut watching));
        let (_, info, _) = told(conjugate_gradient(&a, &b, None, &params, None, callbacks));
        let places: Vec<_> = looks.iter().map(|look| look.iterations).collect();
        let step = look_every.unwrap();
        let mut expected: Vec<_> = (0..info.iterations).step_by(step).collect();
        expected.push(info.iterations);
        assert_eq!(places, expected);
        assert!(looks.iter().all(|look| look.residual.iterated == info.history[look.iterations]));
    }
}
