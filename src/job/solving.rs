//! One solve after the other, by a method or by one that is chosen.

use super::callbacks::{Callbacks, OfSolve};
use super::error::JobError;
use super::method::Parameters;
use super::multigrid::Levels;
use crate::device::Team;
use crate::field::SpinorField;
use crate::multigrid::{Multigrid, MultigridParams};
use crate::operator::Dirac;
use crate::solve::{
    Attempt, Auto, AutoParams, AutoSolution, BlockCgParams, CgParams, InvertError, SolveParams,
    solve_with_checkpoints,
};
use lattice_solvers::{Failure, SolverInfo};

/// The solver of one propagator: one method for all sources, or one that is chosen and remembers from column to column what worked.
///
/// A multigrid method is followed by a chosen one, where it cannot be made or gives up.
pub(super) struct Solving<'a, 'l> {
    auto: Option<Auto>,
    /// The levels, and the number of the operator.
    multigrid: Option<(&'a mut Levels<'l>, usize)>,
    params: SolveParams,
}

/// A solution, or the best that was reached, and how it went.
pub(super) struct Solved {
    /// The solution; the best iterate if the method gave up.
    pub x: SpinorField<f64>,
    pub info: SolverInfo,
    /// Why the method gave up, if it did; the last one if several were tried.
    pub failure: Option<Failure>,
    /// What was tried, if the method was chosen.
    pub attempts: Vec<Attempt>,
}

impl<'a, 'l> Solving<'a, 'l> {
    /// Nothing is known of the equation yet. A multigrid method has its levels, and the number of the operator.
    pub fn new(parameters: Parameters, team: &Team, multigrid: Option<(&'a mut Levels<'l>, usize)>) -> Self {
        let (mut auto, multigrid) = (None, multigrid);
        let params = match parameters {
            Parameters::One(params) => params,
            Parameters::Auto(params) => auto.insert(Auto::new(params)).first_step(team),
            // All at once or one after the other, it is Conjugate Gradient on the same system.
            Parameters::AllAtOnce(BlockCgParams { tol, max_iterations, precision, preconditioning }) => {
                SolveParams::Cg(CgParams { tol, max_iterations, precision, preconditioning })
            }
            Parameters::Multigrid(params) => {
                let MultigridParams { tol, max_iterations, .. } = params;
                auto = Some(Auto::new(AutoParams { tol, max_iterations, ..Default::default() }));
                Multigrid::outer(&params)
            }
        };
        Self { auto, multigrid, params }
    }

    /// Makes what the next solve needs, before its time begins.
    ///
    /// # Errors
    /// When a file of a set-up is of no use. A multigrid method that cannot be made is told, and another one solves.
    pub fn prepare(&mut self, team: &Team, callbacks: &mut dyn Callbacks) -> Result<(), JobError> {
        let (Some((levels, operator)), Some(auto)) = (&mut self.multigrid, &self.auto) else { return Ok(()) };
        if levels.of(*operator, callbacks)?.is_none() {
            self.params = auto.first_step(team);
        }
        Ok(())
    }

    /// The method; if it is chosen, that which ended the last solve.
    pub fn params(&self) -> SolveParams {
        self.params
    }

    /// Solves M x = b.
    pub fn solve(
        &mut self,
        dirac: &Dirac<f64>,
        b: &SpinorField<f64>,
        callbacks: &mut OfSolve<'_>,
    ) -> Result<Solved, InvertError> {
        let alone = |(x, info)| Solved { x, info, failure: None, attempts: Vec::new() };
        let chosen = |AutoSolution { x, info, attempts }| Solved { x, info, failure: None, attempts };
        let multigrid = self.multigrid.as_mut().and_then(|(levels, operator)| levels.ready(*operator));
        let solved = match (&mut self.auto, multigrid) {
            (None, _) => solve_with_checkpoints(dirac, b, &self.params, callbacks).map(alone),
            (Some(auto), None) => auto.solve(dirac, b, callbacks).map(chosen),
            (Some(auto), Some(multigrid)) => multigrid.solve_or(auto, dirac, b, callbacks).map(chosen),
        };
        let solved = match solved {
            Ok(solved) => solved,
            Err(InvertError::NotConverged { failure, best, info }) => {
                Solved { x: *best, info: *info, failure: Some(failure), attempts: Vec::new() }
            }
            Err(InvertError::AllGaveUp { failure, best, info, attempts }) => {
                Solved { x: *best, info: *info, failure: Some(failure), attempts }
            }
            Err(error) => return Err(error),
        };
        self.note(&solved.attempts);
        Ok(solved)
    }

    /// Takes note of what was tried for a column that an earlier run has solved.
    pub fn learn(&mut self, team: &Team, attempts: &[Attempt]) {
        if let Some(auto) = &mut self.auto {
            auto.learn(team, attempts);
        }
        self.note(attempts);
    }

    /// Takes note of the last method, and of cycles that gave up: they are not tried again with this operator.
    fn note(&mut self, attempts: &[Attempt]) {
        if let Some(last) = attempts.last() {
            self.params = last.params;
        }
        if let Some((levels, operator)) = &mut self.multigrid
            && attempts.iter().any(|attempt| attempt.multigrid && attempt.failure.is_some())
        {
            levels.give_up(*operator);
        }
    }
}
