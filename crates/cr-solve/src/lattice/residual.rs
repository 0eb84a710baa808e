//! The residuals of a solve, as results have them.

use lattice_solvers::SolverInfo;
use schemars::JsonSchema;
use serde::Serialize;

/// The residuals of a solve, as JSON has them.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Residual {
    iterated: f64,
    #[serde(rename = "true")]
    true_residual: f64,
}

impl Residual {
    /// Creates the residuals of a solve that another run did.
    pub fn new(iterated: f64, true_residual: f64) -> Self {
        Self { iterated, true_residual }
    }

    /// Returns the residual of the recurrence.
    pub fn iterated(&self) -> f64 {
        self.iterated
    }

    /// Returns ‖b − M x‖ / ‖b‖.
    pub fn true_residual(&self) -> f64 {
        self.true_residual
    }
}

impl From<&SolverInfo> for Residual {
    fn from(info: &SolverInfo) -> Self {
        Self { iterated: info.residual.iterated, true_residual: info.residual.true_residual }
    }
}
