//! Right-hand sides and guesses of every size, for each method.
//!
//! The tests also look at the remains of a solve that fails.

use super::dense;

use dense::{Dense, Random, distance};
use lattice_solvers::*;
use num_complex::Complex64;
use std::convert::Infallible;

const N: usize = 19;

type Vector = Vec<Complex64>;
type SolveResult = Result<(Vector, SolverInfo), SolverError<Vector, Infallible>>;
/// A function that solves A x = b from a guess in at most so many iterations.
type Method = fn(&Dense, &Vector, Option<&Vector>, usize) -> SolveResult;

fn stopping(max_iterations: usize) -> Stopping {
    Stopping::default().with_max_iterations(max_iterations)
}

/// All methods that begin from any guess, on a positive definite matrix.
const METHODS: [(&str, Method); 12] = [
    ("CR", |a, b, guess, most| {
        let options = CrOptions::default().with_stopping(stopping(most));
        conjugate_residual(a, b, guess, &options, None)
    }),
    ("CR, general", |a, b, guess, most| {
        let (stopping, recurrence) = (stopping(most), Recurrence::General);
        conjugate_residual(
            a,
            b,
            guess,
            &CrOptions::default().with_stopping(stopping).with_recurrence(recurrence),
            None,
        )
    }),
    ("MINRES", |a, b, guess, most| {
        minres(a, b, guess, &MinresOptions::default().with_stopping(stopping(most)), None, None)
    }),
    ("preconditioned MINRES", |a, b, guess, most| {
        let options = MinresOptions::default().with_stopping(stopping(most));
        minres(a, b, guess, &options, Some(&mut |r: &Vector, z: &mut Vector| a.diagonal_inverse(r, z)), None)
    }),
    ("CG", |a, b, guess, most| {
        conjugate_gradient(a, b, guess, &CgOptions::default().with_stopping(stopping(most)), None, None)
    }),
    ("preconditioned CG", |a, b, guess, most| {
        let options = CgOptions::default().with_stopping(stopping(most));
        conjugate_gradient(
            a,
            b,
            guess,
            &options,
            Some(&mut |r: &Vector, z: &mut Vector| a.diagonal_inverse(r, z)),
            None,
        )
    }),
    ("CGNE", |a, b, guess, most| {
        let options = CgOptions::default().with_stopping(stopping(most));
        cgne(a, &a.adjoint(), b, guess, &options, None)
    }),
    ("BiCGStab", |a, b, guess, most| {
        bicgstab(a, b, guess, &BicgstabOptions::default().with_stopping(stopping(most)), None)
    }),
    ("BiCGStab(2)", |a, b, guess, most| {
        bicgstab_l(a, b, guess, &BicgstabLOptions::default().with_stopping(stopping(most)), None)
    }),
    ("GCR", |a, b, guess, most| {
        gcr(a, b, guess, &GcrOptions::default().with_stopping(stopping(most)), None, None)
    }),
    ("MR", |a, b, guess, most| {
        minimal_residual(a, b, guess, &MrOptions::default().with_stopping(stopping(most)), None)
    }),
    ("CG on the normal equations", |a, b, guess, most| {
        let adjoint = a.adjoint();
        let normal = Dense::from_fn(N, |i, j| (0..N).map(|k| adjoint.rows[i][k] * a.rows[k][j]).sum());
        let mut source = b.clone();
        let Ok(()) = adjoint.apply(b, &mut source);
        let zero = b.iter().all(|b| *b == Complex64::default());
        // For a right-hand side equal to zero the residual is counted absolutely.
        let mut residual = |x: &Vector| Ok(if zero { distance(x, b) } else { a.residual(x, b) });
        let residual = Some(TrueResidual::Computed(&mut residual));
        let options = CgOptions::default().with_stopping(stopping(most));
        conjugate_gradient(&normal, &source, guess, &options, None, residual)
    }),
];

fn times(factor: f64, x: &Vector) -> Vector {
    x.iter().map(|x| x * factor).collect()
}

/// Returns the outcomes of all methods, block methods included.
fn every_outcome(a: &Dense, b: &Vector) -> Vec<(&'static str, SolveResult)> {
    let mut outcomes: Vec<_> =
        METHODS.iter().map(|(name, method)| (*name, method(a, b, None, 1000))).collect();
    let shifted = multi_shift_cg(a, &[0.0, 1.0], b, &MultiShiftOptions::default(), None);
    let first = |all: Vec<Shifted<Vector>>| all.into_iter().next().map(|shifted| shifted.x);
    outcomes.push((
        "several shifts",
        match shifted {
            Ok((all, info)) => Ok((first(all).unwrap(), info)),
            Err(SolverError::Source(error)) => Err(SolverError::Source(error)),
            Err(error) => panic!("{error}"),
        },
    ));
    outcomes
}

#[test]
fn a_right_hand_side_is_solved_for_or_refused_whatever_its_size() {
    let a = Dense::positive(N, 1);
    let b = Random(2).vector(N);
    let expected = a.solve(&b);
    for size in [1e-320, 1e-300, 1e-170, 1e-120, 1e-60, 1e-40, 1e-8, 1e8, 1e40, 1e60, 1e160, 1e305] {
        let small = times(size, &b);
        for (name, outcome) in every_outcome(&a, &small) {
            let solution = match outcome {
                Ok((x, info)) => {
                    assert!((1e-50..1e50).contains(&size), "{name}, {size:e}: {info:?}");
                    assert!(info.iterations > 0 && info.residual.true_residual > 0.0, "{name}, {size:e}");
                    times(1.0 / size, &x)
                }
                Err(SolverError::Source(SourceError::OutOfRange { power })) => {
                    assert!(!(1e-49..1e49).contains(&size), "{name}, {size:e}");
                    // The advice of the error helps. Powers of two are exact.
                    let scaled = times(f64::from(power).exp2(), &small);
                    let norm = distance(&scaled, &times(0.0, &b));
                    assert!((1e-23..1e6).contains(&norm), "{name}, {size:e}: {norm:e}");
                    if size < 1e-310 {
                        // The right-hand side has few digits.
                        continue;
                    }
                    let again = every_outcome(&a, &scaled).into_iter().find(|(other, _)| *other == name);
                    times(f64::from(-power).exp2() / size, &again.unwrap().1.unwrap().0)
                }
                Err(error) => panic!("{name}, {size:e}: {error}"),
            };
            let error = distance(&solution, &expected) / distance(&expected, &times(0.0, &b));
            assert!(error < 1e-7, "{name}, {size:e}: {error:e}");
        }
    }
    for (name, outcome) in every_outcome(&a, &times(0.0, &b)) {
        let (x, info) = outcome.unwrap();
        assert!(x.iter().all(|x| *x == Complex64::default()), "{name}");
        assert_eq!((info.iterations, info.residual.true_residual), (0, 0.0), "{name}");
    }
    for bad in [f64::NAN, f64::INFINITY] {
        let mut broken = b.clone();
        broken[3].im = bad;
        for (name, outcome) in every_outcome(&a, &broken) {
            let refused = outcome.unwrap_err();
            assert!(matches!(refused, SolverError::Source(SourceError::NotFinite)), "{name}: {refused}");
        }
    }
}

#[test]
fn the_power_of_two_that_makes_a_source_ordinary() {
    let space = dense::Space { dimension: N };
    let b = Random(3).vector(N);
    let safe = 1e-12..=1e12;
    let power = |b: &Vector| {
        let Ok(power) = power_of_source(&space, b, &safe);
        power
    };
    assert_eq!((power(&b), power(&times(1e11, &b)), power(&times(0.0, &b))), (Some(0), Some(0), Some(0)));
    for exponent in [-1060, -1000, -500, -60, 60, 500, 1018] {
        let found = power(&times(f64::from(exponent).exp2(), &b)).unwrap();
        assert!((found + exponent).abs() < 70, "{exponent}: {found}");
    }
    assert_eq!(power(&vec![Complex64::new(f64::INFINITY, 0.0); N]), None);
}

#[test]
fn a_guess_may_be_exact_or_as_bad_as_can_be() {
    let a = Dense::positive(N, 4);
    let b = Random(5).vector(N);
    let exact = a.solve(&b);
    let bad = Random(6).vector(N);
    for (name, method) in METHODS {
        let (_, info) = method(&a, &b, Some(&exact), 1000).unwrap();
        assert_eq!((info.iterations, info.history.len()), (0, 1), "{name}");
        for size in [1.0, 1e3, 1e6, 1e12, 1e100, 1e300, f64::INFINITY, f64::NAN] {
            let (x, info) = method(&a, &b, Some(&times(size, &bad)), 1000).unwrap();
            assert!(a.residual(&x, &b) <= 1e-10, "{name}, {size:e}: {info:?}");
        }
    }
}

#[test]
fn what_is_left_of_a_failure_is_never_worse_than_the_beginning() {
    let b = Random(7).vector(N);
    let guess = Random(8).vector(N);
    let singular = Dense::from_fn(N, |i, j| if i == j { (i as f64).into() } else { 0.0.into() });
    for (k, a) in [Dense::indefinite(N, 9), Dense::general(N, 10).shifted(-2.5), singular].iter().enumerate()
    {
        for (name, method) in METHODS {
            for most in [1, 2, 3, 5, 8, 60] {
                for guess in [None, Some(&guess)] {
                    let Err(SolverError::NotConverged { best, info, .. }) = method(a, &b, guess, most) else {
                        continue;
                    };
                    let what = format!("{name}, matrix {k}, {most} iterations, {}", guess.is_some());
                    let begun = guess.map_or(1.0, |guess| a.residual(guess, &b));
                    let found = a.residual(&best, &b);
                    assert!(found <= begun * (1.0 + 1e-12), "{what}: {found} {begun}");
                    let told = info.residual.true_residual;
                    assert!((found - told).abs() <= 1e-10 * found, "{what}: {found} {told}");
                }
            }
        }
        let options = MultiShiftOptions::default().with_stopping(stopping(3));
        let shifts = [0.0, 0.5];
        if let Err(SolverError::NotConverged { best, .. }) = multi_shift_cg(a, &shifts, &b, &options, None) {
            for Shifted { shift, x, residual, .. } in best {
                let found = a.shifted(shift).residual(&x, &b);
                assert!(
                    found <= 1.0 + 1e-12 && (found - residual.true_residual).abs() < 1e-10,
                    "{k}, {shift}"
                );
            }
        }
    }
}
