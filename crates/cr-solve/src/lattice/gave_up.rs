//! The failure of a solve that gave up.

use lattice_cl::job::{Columns, Problem, PropagatorOutcome, SolveOutcome, Task};
use lattice_cl::operator::System;
use lattice_cl::solve::{Attempt, IterationPrecision};
use lattice_cli::failure::{Failure, Status};
use lattice_solvers::Failure as SolverFailure;

/// Returns the failure of a job whose solve gave up.
///
/// The failure has hints about what the user can do.
pub fn gave_up(
    problem: &Problem,
    propagator: &PropagatorOutcome,
    solve: &SolveOutcome,
    failure: &SolverFailure,
) -> Failure {
    let failure = without_name(problem, propagator, solve, failure);
    // One solve needs no name.
    if problem.job().command == Task::Invert && problem.labels().len() == 1 {
        return failure;
    }
    let at_once = if solve.label.columns() == Columns::All { " at once" } else { "" };
    let error = failure.error.context(format!("the solve for {}{at_once} failed", solve.label));
    Failure { error, ..failure }
}

fn without_name(
    problem: &Problem,
    propagator: &PropagatorOutcome,
    solve: &SolveOutcome,
    failure: &SolverFailure,
) -> Failure {
    let method = &problem.job().solver;
    let SolveOutcome { info, attempts, .. } = solve;
    let why = match attempts.as_slice() {
        [] => failure.to_string(),
        attempts => {
            let texts: Vec<_> = attempts.iter().map(Attempt::to_string).collect();
            format!("all methods gave up: {}", texts.join("; "))
        }
    };
    let message = format!(
        "no convergence after {} iterations: {why}; the true relative residual is {:.3e}, wanted {:.1e}",
        info.iterations,
        info.residual.true_residual,
        method.tolerance()
    );
    let params = &propagator.params;
    let hint = match failure {
        SolverFailure::IterationLimit { .. } => "allow more with --max-iterations, or loosen --tol",
        SolverFailure::PrecisionLimit { .. } if params.precision() != IterationPrecision::Double => {
            "iterate with --precision double, or loosen --tol"
        }
        SolverFailure::PrecisionLimit { .. } => "loosen --tol",
        SolverFailure::NotFinite { .. } => {
            "is kappa or the mass enormous? If not, look at the links with `cr-solve info`"
        }
        SolverFailure::OutOfRange { .. } => "multiply the source by a power of two",
        SolverFailure::Interrupted => "a job that was interrupted can go on later with --checkpoint",
        SolverFailure::Breakdown { .. } | SolverFailure::Stagnation { .. }
            if method.solver.only_system().is_some_and(|only| only != System::Normal) =>
        {
            "try --solver cg; beyond the critical kappa no method converges well"
        }
        SolverFailure::Breakdown { .. } | SolverFailure::Stagnation { .. }
            if params.system() != System::Normal =>
        {
            "try --system normal; beyond the critical kappa no method converges well"
        }
        SolverFailure::Breakdown { .. } | SolverFailure::Stagnation { .. } => {
            "is kappa beyond its critical value? A smaller kappa converges faster"
        }
    };
    Failure::new(Status::Failed, anyhow::Error::msg(message)).hint(hint)
}
