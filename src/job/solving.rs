//! The solves of one propagator, one after the other.

use super::callbacks::{Callbacks, OfSolve};
use super::deflating::Deflating;
use super::error::JobError;
use super::method::{Method, Parameters};
use super::modes_news::DeflationOutcome;
use super::multigrid::Levels;
use super::multigrid_choice::MultigridChoice;
use super::multigrid_news::MultigridNews;
use crate::compute::Team;
use crate::field::SpinorField;
use crate::modes::DiracModes;
use crate::multigrid::{Multigrid, MultigridParams};
use crate::operator::Dirac;
use crate::solve::{
    Attempt, Auto, AutoParams, AutoSolution, BlockCgParams, BlockSolution, CgParams, InvertError,
    SolveParams, solve_with_checkpoints,
};
use lattice_solvers::{Failure, SolverInfo};

/// The solver of one propagator.
///
/// The solver is one method, a multigrid method or an automatic choice. An automatic choice
/// remembers from column to column which method worked. It also solves when a multigrid method
/// cannot be set up or gives up.
pub(super) struct Solving<'a, 'l> {
    auto: Option<Auto>,
    /// The levels, and the number of the operator.
    multigrid: Option<(&'a mut Levels<'l>, usize)>,
    /// The modes that deflate solves, the number of the operator, and the method.
    deflation: Option<(&'a mut Deflating<'l>, usize, &'a Method)>,
    /// `true` if multigrid is weighed, and was not asked for.
    weighs: bool,
    /// `true` if cycles for several columns at once have not converged.
    one_by_one: bool,
    params: SolveParams,
}

/// A solution or the best iterate, and the course of the solve.
pub(super) struct Solved {
    /// The solution; the best iterate if the method gave up.
    pub x: SpinorField<f64>,
    pub info: SolverInfo,
    /// The reason why the (last) method gave up, if it did.
    pub failure: Option<Failure>,
    /// The attempts of an automatic choice.
    pub attempts: Vec<Attempt>,
}

impl<'a, 'l> Solving<'a, 'l> {
    /// Makes a solver that knows nothing of the equation yet.
    ///
    /// `multigrid` holds the levels and the number of the operator, `deflation` the modes.
    pub fn new(
        parameters: Parameters,
        team: &Team,
        multigrid: Option<(&'a mut Levels<'l>, usize)>,
        deflation: Option<(&'a mut Deflating<'l>, usize, &'a Method)>,
    ) -> Self {
        let (mut auto, multigrid) = (None, multigrid);
        let params = match parameters {
            Parameters::One(params) => params,
            Parameters::Auto(params, _) => auto.insert(Auto::new(params)).first_step(team),
            // Single columns use conjugate gradient on the same system.
            Parameters::AllAtOnce(BlockCgParams { tol, max_iterations, precision, preconditioning }) => {
                SolveParams::Cg(CgParams { tol, max_iterations, precision, preconditioning })
            }
            Parameters::Multigrid(params) => {
                let MultigridParams { tol, max_iterations, .. } = params;
                auto = Some(Auto::new(AutoParams { tol, max_iterations, ..Default::default() }));
                Multigrid::outer(&params)
            }
        };
        let weighs = matches!(parameters, Parameters::Auto(..));
        Self { auto, multigrid, deflation, weighs, one_by_one: false, params }
    }

    /// Prepares the next solve, before its time begins.
    ///
    /// If the set-up of a multigrid method fails, another method solves. The callbacks are told.
    ///
    /// # Errors
    /// If the file of a set-up or of modes cannot be used, or if modes cannot be found.
    pub fn prepare(&mut self, team: &Team, callbacks: &mut dyn Callbacks) -> Result<(), JobError> {
        if let Some((deflating, operator, method)) = &mut self.deflation {
            deflating.prepare(*operator, method, callbacks)?;
        }
        let (Some((levels, operator)), Some(auto)) = (&mut self.multigrid, &self.auto) else { return Ok(()) };
        if self.weighs && !levels.choice(*operator).is_some_and(|choice| choice.multigrid) {
            return Ok(());
        }
        if levels.of(*operator, callbacks)?.is_none() {
            self.params = auto.first_step(team);
        }
        Ok(())
    }

    /// Returns the method, or the last method of an automatic choice.
    pub fn params(&self) -> SolveParams {
        self.params
    }

    /// Returns the number of columns that are solved at once, a divisor of `columns`.
    ///
    /// Columns are solved at once if multigrid was asked for or chosen, and is ready.
    pub fn columns_at_once(&mut self, dirac: &Dirac<f64>, columns: usize) -> usize {
        if self.one_by_one {
            return 1;
        }
        self.cycles().map_or(1, |multigrid| multigrid.columns_at_once(dirac.lattice(), columns))
    }

    /// Returns the multigrid method, if it was asked for or chosen, and is ready.
    fn cycles(&mut self) -> Option<&mut Multigrid> {
        let (levels, operator) = self.multigrid.as_mut()?;
        let chosen = !self.weighs || levels.choice(*operator).is_some_and(|choice| choice.multigrid);
        levels.ready(*operator).filter(|_| chosen)
    }

    /// Solves M x = b for all columns of b at once, by multigrid cycles.
    ///
    /// # Errors
    /// If cycles do not converge, or a device fails.
    ///
    /// # Panics
    /// If [`columns_at_once`](Self::columns_at_once) is 1.
    pub fn solve_at_once(
        &mut self,
        dirac: &Dirac<f64>,
        b: &SpinorField<f64>,
        callbacks: &mut OfSolve<'_>,
    ) -> Result<BlockSolution, InvertError> {
        let multigrid = self.cycles().expect("a multigrid method is ready");
        let solved = multigrid.solve_columns(dirac, b, Some(callbacks));
        self.params = Multigrid::outer(multigrid.params());
        solved
    }

    /// Solves for one column after the other from now on.
    pub fn one_by_one(&mut self) {
        self.one_by_one = true;
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
        let mut auto = self.auto.take();
        let params = self.params;
        let solved = match (&mut auto, self.cycles()) {
            (None, _) => match self.modes() {
                Some(modes) => modes.solve(dirac, b, &params, Some(callbacks)).map(alone),
                None => solve_with_checkpoints(dirac, b, &params, callbacks).map(alone),
            },
            (Some(auto), None) => auto.solve(dirac, b, callbacks).map(chosen),
            (Some(auto), Some(multigrid)) => multigrid.solve_or(auto, dirac, b, callbacks).map(chosen),
        };
        self.auto = auto;
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

    /// Returns the modes that deflate solves, if they are ready.
    pub fn deflation(&self) -> Option<&DeflationOutcome> {
        let (deflating, operator, _) = self.deflation.as_ref()?;
        deflating.outcome(*operator)
    }

    /// Returns the part of the solution that modes span, if there are modes.
    pub fn guess(
        &self,
        dirac: &Dirac<f64>,
        b: &SpinorField<f64>,
    ) -> Result<Option<SpinorField<f64>>, InvertError> {
        self.modes().map(|modes| modes.guess(dirac, b)).transpose()
    }

    /// Returns the modes of the operator, if they are ready.
    fn modes(&self) -> Option<&DiracModes> {
        let (deflating, operator, _) = self.deflation.as_ref()?;
        deflating.ready(*operator)
    }

    /// Weighs multigrid for the solves that are left, once for each operator.
    ///
    /// `attempts` are those of the last solve. `left` counts solves, and later masses among them. A propagator
    /// has `columns`. After a method that gave up multigrid is left out: beyond the critical mass its cycles
    /// give up as well.
    pub fn weigh(
        &mut self,
        attempts: &[Attempt],
        left: [usize; 2],
        columns: usize,
        callbacks: &mut dyn Callbacks,
    ) {
        let Some((levels, operator)) = self.multigrid.as_mut().filter(|_| self.weighs) else { return };
        if attempts.iter().any(|attempt| attempt.failure.is_some()) {
            levels.give_up(*operator);
            return;
        }
        if levels.choice(*operator).is_none() {
            let bytes = attempts.iter().map(|attempt| attempt.work.bytes).sum();
            levels.weigh(*operator, bytes, left, columns);
            if let Some(choice) = levels.choice(*operator) {
                callbacks.multigrid(&MultigridNews::Chosen(choice));
            }
        }
    }

    /// Returns the decision of an automatic choice on multigrid, if there is one.
    pub fn choice(&self) -> Option<MultigridChoice> {
        let (levels, operator) = self.multigrid.as_ref()?;
        levels.choice(*operator).copied()
    }

    /// Learns from the attempts for a column that an earlier run has solved.
    pub fn learn(&mut self, team: &Team, attempts: &[Attempt]) {
        if let Some(auto) = &mut self.auto {
            auto.learn(team, attempts);
        }
        self.note(attempts);
    }

    /// Notes the last method, and whether multigrid cycles gave up.
    ///
    /// Cycles that gave up are not tried again with this operator.
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
