//! `[solver]`: how the equation is solved.

use super::invalid::Invalid;
use super::solver::Solver;
use super::text::{self, words};
use super::wanted_precision::WantedPrecision;
use crate::device::Team;
use crate::operator::System;
use crate::solve::{AutoParams, BlockCgParams, CrParams, IterationPrecision, Preconditioning, SolveParams};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// How the equation is solved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Method {
    /// The method. auto begins with bicgstab, and goes on with cg where that gives up or costs more.
    #[schemars(with = "Solver")]
    #[serde(with = "text")]
    pub solver: Solver,
    /// What is iterated: normal (M†M x = M†b), hermitian (γ5M x = γ5b) or direct (M x = b). Default: that of the method.
    #[schemars(schema_with = "systems")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub system: Option<System>,
    /// Which form of the equation is iterated: even-odd (its Schur complement on the even sites), even-odd-symmetric (its other form) or none (as it is).
    #[schemars(schema_with = "preconditionings")]
    #[serde(with = "text")]
    pub preconditioning: Preconditioning,
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10, in single precision 1e-5.
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tol: Option<f64>,
    /// Most iterations.
    pub max_iterations: usize,
    /// Precision of the iteration. mixed is mixed-half where all devices are GPUs, mixed-single elsewhere. Default: mixed with auto, double with a
    /// method by name.
    #[schemars(with = "WantedPrecision")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub precision: Option<WantedPrecision>,
}

impl Default for Method {
    fn default() -> Self {
        Self {
            solver: Solver::Auto,
            system: None,
            preconditioning: Preconditioning::EvenOdd,
            tol: None,
            max_iterations: CrParams::default().max_iterations,
            precision: None,
        }
    }
}

/// A method with all its parameters: one for all sources, or one that is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parameters {
    /// This method.
    One(SolveParams),
    /// The choice of [`solve::Auto`](crate::solve::Auto).
    Auto(AutoParams),
    /// All columns of a propagator at once.
    AllAtOnce(BlockCgParams),
}

impl Method {
    /// The precision of the iteration on this team; of an automatic choice that with which it begins.
    pub fn precision_on(&self, team: &Team) -> IterationPrecision {
        match (self.precision, self.solver) {
            (Some(wanted), _) => wanted.on(team),
            (None, Solver::Auto) => IterationPrecision::mixed_on(team),
            (None, _) => IterationPrecision::Double,
        }
    }

    /// Which system is iterated; an automatic choice is not told by it.
    pub fn iterated_system(&self) -> System {
        self.system.or(self.solver.only_system()).unwrap_or_default()
    }

    /// The wanted relative residual.
    pub fn tolerance(&self) -> f64 {
        self.tol.unwrap_or(match self.precision {
            Some(WantedPrecision::This(IterationPrecision::Single)) => 1e-5,
            _ => CrParams::default().tol,
        })
    }

    /// With the defaults that depend on other keys; what is left to the automatic choice stays so.
    #[must_use]
    pub fn resolved(&self) -> Self {
        let mut resolved = self.clone();
        resolved.tol = Some(self.tolerance());
        if self.solver != Solver::Auto {
            resolved.system = Some(self.iterated_system());
            resolved.precision = self.precision.or(Some(WantedPrecision::This(IterationPrecision::Double)));
        }
        resolved
    }

    /// Checks what the keys say together.
    ///
    /// # Errors
    /// When the tolerance is none, and when the method does not iterate the system.
    pub fn check(&self) -> Result<(), Invalid> {
        let tolerance = self.tolerance();
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return Err(Invalid::Tolerance(tolerance));
        }
        let Some(system) = self.system else { return Ok(()) };
        if self.solver == Solver::Auto {
            return Err(Invalid::SystemOfAuto(system));
        }
        match self.solver.only_system() {
            Some(only) if only != system => Err(Invalid::OtherSystem { solver: self.solver, only, system }),
            _ => Ok(()),
        }
    }

    /// The method with all parameters, on this team.
    pub fn parameters(&self, team: &Team) -> Parameters {
        let (tol, max_iterations, precision) =
            (self.tolerance(), self.max_iterations, self.precision_on(team));
        let preconditioning = self.preconditioning;
        let common =
            CrParams { tol, max_iterations, system: self.iterated_system(), precision, preconditioning };
        match self.solver {
            Solver::Auto => {
                let precision = self.precision.map(|_| precision);
                Parameters::Auto(AutoParams { tol, max_iterations, precision, preconditioning })
            }
            Solver::One(method) => Parameters::One(method.params(&common)),
            Solver::BlockCg => {
                Parameters::AllAtOnce(BlockCgParams { tol, max_iterations, precision, preconditioning })
            }
        }
    }
}

fn systems(_: &mut SchemaGenerator) -> Schema {
    words([System::Normal, System::Hermitian, System::Direct])
}

fn preconditionings(_: &mut SchemaGenerator) -> Schema {
    words(Preconditioning::ALL)
}
