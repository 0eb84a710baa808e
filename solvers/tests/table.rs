//! The table of methods: every row solves, and refuses what it does not take.

use super::dense;

use dense::{Dense, Random, Space, distance};
use lattice_solvers::*;
use num_complex::Complex64;
use std::convert::Infallible;

const N: usize = 23;

type Vector = Vec<Complex64>;
type SolveResult = Result<Solution<Vector>, SolverError<Vector, Infallible>>;

/// A positive definite system, the inverse of its diagonal, and its solution.
struct System {
    a: Dense,
    adjoint: Dense,
    k: Dense,
    b: Vector,
    x: Vector,
}

impl System {
    fn new() -> Self {
        let (a, b) = (Dense::positive(N, 181), Random(182).vector(N));
        let k = Dense::from_fn(N, |i, j| if i == j { 1.0 / a.rows[i][i] } else { 0.0.into() });
        Self { adjoint: a.adjoint(), x: a.solve(&b), a, k, b }
    }

    fn solve<'t>(
        &'t self,
        method: Method,
        preconditioner: Option<&'t mut dyn Preconditioner<Space>>,
    ) -> SolveResult {
        method.solve(Task {
            operator: &self.a,
            adjoint: (method.needs() == Needs::Adjoint).then_some(&self.adjoint as &Operator<'_, Space>),
            b: &self.b,
            guess: None,
            options: MethodOptions::default(),
            preconditioner,
            callbacks: None.into(),
        })
    }

    #[track_caller]
    fn check(&self, method: Method, outcome: SolveResult) {
        let (x, info) = outcome.unwrap_or_else(|error| panic!("{}: {error}", method.name()));
        assert!(distance(&x, &self.x) < 1e-7 && info.residual.true_residual <= 1e-10, "{}", method.name());
    }
}

#[test]
fn every_method_solves_with_the_preconditioners_that_it_takes() {
    let system = System::new();
    let refused = |outcome: SolveResult| matches!(outcome, Err(SolverError::Parameter { .. }));
    for &method in Method::ALL {
        system.check(method, system.solve(method, None));
        let mut k = OperatorPreconditioner { operator: &system.k, changes: false };
        let fixed = system.solve(method, Some(&mut k));
        let mut k = |r: &Vector, z: &mut Vector| system.a.diagonal_inverse(r, z);
        let changing = system.solve(method, Some(&mut k));
        match method.accepts() {
            Accepts::None => assert!(refused(fixed) && refused(changing), "{}", method.name()),
            accepts if accepts.changing() => {
                system.check(method, fixed);
                system.check(method, changing);
            }
            _ => {
                system.check(method, fixed);
                assert!(refused(changing), "{}", method.name());
            }
        }
    }
}

#[test]
fn a_method_that_needs_the_adjoint_says_so() {
    let System { a, b, .. } = System::new();
    let task = Task {
        operator: &a,
        adjoint: None,
        b: &b,
        guess: None,
        options: MethodOptions::default(),
        preconditioner: None,
        callbacks: None.into(),
    };
    let error = Method::Cgne.solve(task).unwrap_err();
    assert!(error.to_string().contains("adjoint"), "{error}");
}

#[test]
fn names_are_different() {
    let names: std::collections::HashSet<_> = Method::ALL.iter().map(|method| method.name()).collect();
    assert_eq!(names.len(), Method::ALL.len());
}
