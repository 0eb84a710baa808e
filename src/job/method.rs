//! `[solver]`: how the equation is solved.

use super::invalid::Invalid;
use super::solver::Solver;
use super::text::{self, words};
use super::wanted_precision::WantedPrecision;
use crate::device::Team;
use crate::multigrid::{Block, MultigridParams};
use crate::operator::System;
use crate::solve::{
    AutoParams, BlockCgParams, CrParams, Inner, IterationPrecision, Preconditioning, SolveParams,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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
    /// Levels of solver = multigrid, the finest included: 2 to 4. Default: as many as pay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multigrid_levels: Option<usize>,
    /// Near-null vectors of each level of solver = multigrid. Default: 24, and fewer where blocks are small.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multigrid_vectors: Option<usize>,
    /// Sites of a block of solver = multigrid in x, y, z, t: 4x4x4x4. Default: about 4 in each direction, such that it divides the lattice and the domains of
    /// its devices.
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub multigrid_block: Option<Block>,
    /// The file of the near-null vectors of solver = multigrid, for other jobs on the same configuration. It is written if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multigrid_setup: Option<PathBuf>,
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
            multigrid_levels: None,
            multigrid_vectors: None,
            multigrid_block: None,
            multigrid_setup: None,
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
    /// A multigrid method.
    Multigrid(MultigridParams),
}

impl Method {
    /// The precision of the iteration on this team; of an automatic choice that with which it begins.
    pub fn precision_on(&self, team: &Team) -> IterationPrecision {
        match (self.precision, self.solver) {
            (_, Solver::Multigrid) => IterationPrecision::Mixed(Inner::Single),
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
            resolved.precision = self.precision.or(Some(WantedPrecision::This(match self.solver {
                Solver::Multigrid => IterationPrecision::Mixed(Inner::Single),
                _ => IterationPrecision::Double,
            })));
        }
        resolved
    }

    /// Checks what the keys say together.
    ///
    /// # Errors
    /// When the tolerance is none, when the method does not iterate the system, and when a key is not the method's.
    pub fn check(&self) -> Result<(), Invalid> {
        self.check_multigrid()?;
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

    /// Checks the keys of a multigrid method, and those that it cannot have.
    fn check_multigrid(&self) -> Result<(), Invalid> {
        let given = [
            ("multigrid-levels", self.multigrid_levels.is_some()),
            ("multigrid-vectors", self.multigrid_vectors.is_some()),
            ("multigrid-block", self.multigrid_block.is_some()),
            ("multigrid-setup", self.multigrid_setup.is_some()),
        ];
        if self.solver != Solver::Multigrid {
            let given = given.into_iter().find(|(_, given)| *given);
            return given.map_or(Ok(()), |(key, _)| Err(Invalid::NoMultigrid { key }));
        }
        if let Some(levels) = self.multigrid_levels.filter(|levels| !(2..=4).contains(levels)) {
            return Err(Invalid::MultigridLevels(levels));
        }
        // More would overflow counts long after they overflow memory.
        if let Some(vectors) = self.multigrid_vectors.filter(|vectors| !(1..=1024).contains(vectors)) {
            return Err(Invalid::MultigridVectors(vectors));
        }
        if self.preconditioning != Preconditioning::EvenOdd {
            return Err(Invalid::PreconditioningOfMultigrid(self.preconditioning));
        }
        let mixed = WantedPrecision::This(IterationPrecision::Mixed(Inner::Single));
        match self.precision {
            Some(wanted) if wanted != WantedPrecision::Mixed && wanted != mixed => {
                Err(Invalid::PrecisionOfMultigrid(wanted))
            }
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
            Solver::Multigrid => Parameters::Multigrid(MultigridParams {
                tol,
                max_iterations,
                levels: self.multigrid_levels,
                vectors: self.multigrid_vectors,
                block: self.multigrid_block,
                ..Default::default()
            }),
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
