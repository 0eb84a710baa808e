//! `[solver]`: the method that solves the equation.

use super::deflation::Deflation;
use super::invalid::Invalid;
use super::multigrid_keys::MultigridKeys;
use super::solver::Solver;
use super::wanted_precision::WantedPrecision;
use crate::compute::Team;
use crate::io::text::{self, words_of};
use crate::multigrid::MultigridParams;
use crate::operator::System;
use crate::solve::{AutoParams, BlockCgParams, CrParams, IterationPrecision, Preconditioning, SolveParams};
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The method that solves the equation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Setters)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct Method {
    /// The method. auto chooses among bicgstab, cg and multigrid.
    ///
    /// auto takes cg if bicgstab fails or costs more, and weighs multigrid after the first solve.
    #[cfg_attr(feature = "cli", arg(long, value_name = "METHOD", value_parser = solvers(), default_value = "auto"))]
    #[schemars(with = "Solver")]
    #[serde(with = "text")]
    pub solver: Solver,
    /// The system: normal (M†M x = M†b), hermitian (γ5M x = γ5b) or direct (M x = b).
    ///
    /// Default: the system of the method. Only cr can iterate every system. Its default is normal.
    #[cfg_attr(feature = "cli", arg(long, hide_short_help = true))]
    #[schemars(schema_with = "words_of::<System>")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub system: Option<System>,
    /// The preconditioning: even-odd, even-odd-symmetric or none.
    ///
    /// even-odd iterates the Schur complement on the even sites, in about half as many iterations.
    /// even-odd-symmetric multiplies the complement by the inverse site term, which takes fewer
    /// iterations with a clover term.
    #[cfg_attr(feature = "cli", arg(long, default_value_t = Preconditioning::EvenOdd, hide_short_help = true))]
    #[schemars(schema_with = "words_of::<Preconditioning>")]
    #[serde(with = "text")]
    pub preconditioning: Preconditioning,
    /// Wanted ‖b − M x‖ / ‖b‖, in double.
    ///
    /// Default: 1e-10, in single precision 1e-5.
    #[cfg_attr(feature = "cli", arg(long))]
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tol: Option<f64>,
    /// Largest number of iterations.
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = CrParams::default().max_iterations))]
    #[cfg_attr(feature = "cli", arg(hide_short_help = true))]
    pub max_iterations: usize,
    /// Precision of the iteration: double, single, mixed-single, mixed-half or mixed.
    ///
    /// mixed-single and mixed-half keep the solution in double, and compute corrections in single
    /// or half precision. mixed is mixed-half if all devices are GPUs, and mixed-single otherwise.
    /// Default: mixed with auto, which falls back to double, and with multigrid; double otherwise.
    #[cfg_attr(feature = "cli", arg(long, hide_short_help = true))]
    #[schemars(with = "WantedPrecision")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub precision: Option<WantedPrecision>,
    /// The keys of a multigrid method.
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub multigrid: MultigridKeys,
    /// Deflation by lowest modes: their number, or a file of `cr-solve modes`.
    ///
    /// cg, block-cg, cr and minres start from the part of the solution that the modes span. A number
    /// of modes is computed for each operator.
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE|N", hide_short_help = true))]
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
            multigrid: MultigridKeys::default(),
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
            method.multigrid = MultigridKeys::default();
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
        if !matches!(self.solver, Solver::Multigrid | Solver::Auto) {
            let given = text::keys(&self.multigrid).into_iter().next();
            return given.map_or(Ok(()), |(key, _)| Err(Invalid::NoMultigrid { key }));
        }
        self.multigrid.check()?;
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
            levels: self.multigrid.levels,
            vectors: self.multigrid.vectors,
            block: self.multigrid.block,
            setup_iterations: self.multigrid.iterations.unwrap_or(defaults.setup_iterations),
            smoother_degree: self.multigrid.smoother.unwrap_or(defaults.smoother_degree),
            cycle: self.multigrid.cycle.unwrap_or(defaults.cycle),
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
                let params =
                    AutoParams { tol, max_iterations, precision, preconditioning, ..Default::default() };
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

/// The names of the methods with their summaries, as values of an option.
#[cfg(feature = "cli")]
fn solvers() -> impl clap::builder::TypedValueParser<Value = Solver> {
    use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
    let names = Solver::all().map(|solver| PossibleValue::new(solver.name()).help(solver.summary()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Solver>())
}
