//! `[solver]`: the method that solves the equation.

use super::deflation::Deflation;
use super::invalid::Invalid;
use super::solver::Solver;
use super::text::{self, words};
use super::wanted_precision::WantedPrecision;
use crate::device::Team;
use crate::multigrid::{Block, CycleKind, MOST_DEGREE, MOST_SETUP_ITERATIONS, MOST_VECTORS, MultigridParams};
use crate::operator::System;
use crate::solve::{AutoParams, BlockCgParams, CrParams, IterationPrecision, Preconditioning, SolveParams};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The method that solves the equation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Method {
    /// The method. auto takes bicgstab, cg if bicgstab fails or costs more, or multigrid.
    ///
    /// auto weighs multigrid after the first solve.
    #[schemars(with = "Solver")]
    #[serde(with = "text")]
    pub solver: Solver,
    /// The system: normal (M†M x = M†b), hermitian (γ5M x = γ5b) or direct (M x = b).
    ///
    /// Default: the system of the method.
    #[schemars(schema_with = "systems")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub system: Option<System>,
    /// The preconditioning: even-odd, even-odd-symmetric or none.
    ///
    /// even-odd iterates the Schur complement on the even sites. even-odd-symmetric multiplies the
    /// complement by the inverse site term.
    #[schemars(schema_with = "preconditionings")]
    #[serde(with = "text")]
    pub preconditioning: Preconditioning,
    /// Wanted ‖b − M x‖ / ‖b‖, in double. Default: 1e-10, in single precision 1e-5.
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tol: Option<f64>,
    /// Largest number of iterations.
    pub max_iterations: usize,
    /// Precision of the iteration. Default: mixed with auto and multigrid, double otherwise.
    ///
    /// mixed is mixed-half if all devices are GPUs, and mixed-single otherwise.
    #[schemars(with = "WantedPrecision")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub precision: Option<WantedPrecision>,
    /// Levels of multigrid with the finest: 2 to 4. Default: as many as pay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multigrid_levels: Option<usize>,
    /// Near-null vectors of each multigrid level, 1 to 128. Default: 24, less for small blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multigrid_vectors: Option<usize>,
    /// Iterations of BiCGStab that make a near-null vector, 1 to 1000. Default: 60.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multigrid_iterations: Option<usize>,
    /// Extents of a multigrid block in x, y, z, t: 4x4x4x4. Default: about 4 each.
    ///
    /// The extents divide the lattice and the domains of its devices.
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub multigrid_block: Option<Block>,
    /// Degree of the multigrid smoother of the finest level, 1 to 16. Default: 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multigrid_smoother: Option<usize>,
    /// Multigrid cycle of coarse levels: v, or k with more work and fewer cycles. Default: v.
    #[schemars(schema_with = "cycle_kinds")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub multigrid_cycle: Option<CycleKind>,
    /// File of the multigrid near-null vectors.
    ///
    /// A job writes the file if it does not exist. Other jobs on the same configuration read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multigrid_setup: Option<PathBuf>,
    /// Deflation by lowest modes: their number, or a file of `cr-solve modes`.
    ///
    /// cg, block-cg, cr and minres start from the part of the solution that the modes span. A number
    /// of modes is computed for each operator.
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub deflate: Option<Deflation>,
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
            multigrid_iterations: None,
            multigrid_block: None,
            multigrid_smoother: None,
            multigrid_cycle: None,
            multigrid_setup: None,
            deflate: None,
        }
    }
}

/// A method with all its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parameters {
    /// One method for all sources.
    One(SolveParams),
    /// The automatic choice of [`solve::Auto`](crate::solve::Auto).
    ///
    /// The multigrid method is weighed after the first solve. `None` if its preconditioning or its
    /// precision is not what was asked for.
    Auto(AutoParams, Option<MultigridParams>),
    /// All columns of a propagator at once.
    AllAtOnce(BlockCgParams),
    /// A multigrid method.
    Multigrid(MultigridParams),
}

impl Method {
    /// Returns the precision of the iteration on this team.
    ///
    /// An automatic choice begins with this precision.
    pub fn precision_on(&self, team: &Team) -> IterationPrecision {
        match (self.precision, self.solver) {
            (Some(wanted), _) => wanted.on(team),
            (None, Solver::Auto | Solver::Multigrid) => IterationPrecision::mixed_on(team),
            (None, _) => IterationPrecision::Double,
        }
    }

    /// Returns the system that is iterated.
    ///
    /// An automatic choice does not use the result.
    pub fn iterated_system(&self) -> System {
        self.system.or(self.solver.only_system()).unwrap_or_default()
    }

    /// Returns the wanted relative residual.
    pub fn tolerance(&self) -> f64 {
        self.tol.unwrap_or(match self.precision {
            Some(WantedPrecision::This(IterationPrecision::Single)) => 1e-5,
            _ => CrParams::default().tol,
        })
    }

    /// Returns the method with the defaults that depend on other keys.
    ///
    /// Keys that the automatic choice decides stay empty.
    #[must_use]
    pub fn resolved(&self) -> Self {
        let mut resolved = self.clone();
        resolved.tol = Some(self.tolerance());
        if self.solver != Solver::Auto {
            resolved.system = Some(self.iterated_system());
            resolved.precision = self.precision.or(Some(match self.solver {
                Solver::Multigrid => WantedPrecision::Mixed,
                _ => WantedPrecision::This(IterationPrecision::Double),
            }));
        }
        resolved
    }

    /// Returns the keys that another method takes over.
    ///
    /// The system is that of the other method. A method that is neither multigrid nor the automatic
    /// choice has no keys of multigrid.
    pub(super) fn for_solver(&self, solver: Solver) -> Self {
        let mut method = self.clone();
        if solver != self.solver {
            method.system = None;
        }
        if !matches!(solver, Solver::Multigrid | Solver::Auto) {
            method.multigrid_levels = None;
            method.multigrid_vectors = None;
            method.multigrid_iterations = None;
            method.multigrid_block = None;
            method.multigrid_smoother = None;
            method.multigrid_cycle = None;
            method.multigrid_setup = None;
        }
        if !is_deflated(solver) {
            method.deflate = None;
        }
        method
    }

    /// Checks the keys together.
    ///
    /// # Errors
    /// * If the tolerance is not between 0 and 1.
    /// * If the method does not iterate the system.
    /// * If a key belongs to another method.
    pub fn check(&self) -> Result<(), Invalid> {
        self.check_multigrid()?;
        if self.deflate.is_some() && !is_deflated(self.solver) {
            return Err(Invalid::DeflateOf(self.solver));
        }
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

    /// Checks the keys of a multigrid method, and that other methods have none of them.
    fn check_multigrid(&self) -> Result<(), Invalid> {
        let given = [
            ("multigrid-levels", self.multigrid_levels.is_some()),
            ("multigrid-vectors", self.multigrid_vectors.is_some()),
            ("multigrid-iterations", self.multigrid_iterations.is_some()),
            ("multigrid-block", self.multigrid_block.is_some()),
            ("multigrid-smoother", self.multigrid_smoother.is_some()),
            ("multigrid-cycle", self.multigrid_cycle.is_some()),
            ("multigrid-setup", self.multigrid_setup.is_some()),
        ];
        if !matches!(self.solver, Solver::Multigrid | Solver::Auto) {
            let given = given.into_iter().find(|(_, given)| *given);
            return given.map_or(Ok(()), |(key, _)| Err(Invalid::NoMultigrid { key }));
        }
        if let Some(levels) = self.multigrid_levels.filter(|levels| !(2..=4).contains(levels)) {
            return Err(Invalid::MultigridLevels(levels));
        }
        if let Some(vectors) = self.multigrid_vectors.filter(|vectors| !(1..=MOST_VECTORS).contains(vectors))
        {
            return Err(Invalid::MultigridVectors(vectors));
        }
        let allowed = |iterations: &usize| (1..=MOST_SETUP_ITERATIONS).contains(iterations);
        if let Some(iterations) = self.multigrid_iterations.filter(|iterations| !allowed(iterations)) {
            return Err(Invalid::MultigridIterations(iterations));
        }
        if let Some(degree) = self.multigrid_smoother.filter(|degree| !(1..=MOST_DEGREE).contains(degree)) {
            return Err(Invalid::MultigridSmoother(degree));
        }
        if self.solver == Solver::Auto {
            return Ok(());
        }
        if self.preconditioning != Preconditioning::EvenOdd {
            return Err(Invalid::PreconditioningOfMultigrid(self.preconditioning));
        }
        match self.precision {
            Some(wanted) if !is_of_multigrid(wanted) => Err(Invalid::PrecisionOfMultigrid(wanted)),
            _ => Ok(()),
        }
    }

    /// Returns the method with all its parameters, on this team.
    pub fn parameters(&self, team: &Team) -> Parameters {
        let (tol, max_iterations, precision) =
            (self.tolerance(), self.max_iterations, self.precision_on(team));
        let preconditioning = self.preconditioning;
        let common =
            CrParams { tol, max_iterations, system: self.iterated_system(), precision, preconditioning };
        let defaults = MultigridParams::default();
        let multigrid = MultigridParams {
            tol,
            max_iterations,
            levels: self.multigrid_levels,
            vectors: self.multigrid_vectors,
            block: self.multigrid_block,
            setup_iterations: self.multigrid_iterations.unwrap_or(defaults.setup_iterations),
            smoother_degree: self.multigrid_smoother.unwrap_or(defaults.smoother_degree),
            cycle: self.multigrid_cycle.unwrap_or(defaults.cycle),
            precision: match precision {
                IterationPrecision::Mixed(inner) => inner,
                _ => defaults.precision,
            },
        };
        match self.solver {
            Solver::Auto => {
                let fits =
                    preconditioning == Preconditioning::EvenOdd && self.precision.is_none_or(is_of_multigrid);
                let precision = self.precision.map(|_| precision);
                let params = AutoParams { tol, max_iterations, precision, preconditioning };
                Parameters::Auto(params, fits.then_some(multigrid))
            }
            Solver::One(method) => Parameters::One(method.params(&common)),
            Solver::Multigrid => Parameters::Multigrid(multigrid),
            Solver::BlockCg => {
                Parameters::AllAtOnce(BlockCgParams { tol, max_iterations, precision, preconditioning })
            }
        }
    }
}

/// Tells whether a method gains by a guess that modes make.
///
/// The Krylov space must stay orthogonal to them: that of M†M or γ5M does.
fn is_deflated(solver: Solver) -> bool {
    use crate::solve::SolveMethod::{Cg, Cr, Minres};
    matches!(solver, Solver::One(Cg | Cr | Minres) | Solver::BlockCg)
}

/// Tells whether a multigrid method iterates in this precision.
fn is_of_multigrid(wanted: WantedPrecision) -> bool {
    matches!(wanted, WantedPrecision::Mixed | WantedPrecision::This(IterationPrecision::Mixed(_)))
}

fn cycle_kinds(_: &mut SchemaGenerator) -> Schema {
    words(CycleKind::ALL)
}

fn systems(_: &mut SchemaGenerator) -> Schema {
    words([System::Normal, System::Hermitian, System::Direct])
}

fn preconditionings(_: &mut SchemaGenerator) -> Schema {
    words(Preconditioning::ALL)
}
