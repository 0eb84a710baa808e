//! One method's part in a solve, as results have it.

use super::residual::Residual;
use lattice_cl::solve::Attempt;
use schemars::JsonSchema;
use serde::Serialize;

/// One method's part in a solve, as JSON has it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AttemptOutcome {
    solver: &'static str,
    system: String,
    preconditioning: String,
    precision: String,
    iterations: usize,
    residual: Residual,
    failure: Option<String>,
}

impl AttemptOutcome {
    /// Returns the name of the method.
    pub fn solver(&self) -> &str {
        self.solver
    }
}

impl From<&Attempt> for AttemptOutcome {
    fn from(attempt: &Attempt) -> Self {
        let Attempt { params, multigrid, iterations, residual, failure, .. } = attempt;
        Self {
            solver: if *multigrid { "multigrid" } else { params.method() },
            system: params.system().to_string(),
            preconditioning: params.preconditioning().to_string(),
            precision: params.precision().to_string(),
            iterations: *iterations,
            residual: Residual::new(residual.iterated, residual.true_residual),
            failure: failure.clone(),
        }
    }
}
