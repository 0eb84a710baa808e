//! One solve after the other, by a method or by one that is chosen.

use super::callbacks::OfSolve;
use super::method::Parameters;
use crate::device::Team;
use crate::field::SpinorField;
use crate::operator::Dirac;
use crate::solve::{
    Attempt, Auto, AutoSolution, BlockCgParams, CgParams, InvertError, SolveParams, solve_with_checkpoints,
};
use lattice_solvers::{Failure, SolverInfo};

/// The solver of one propagator: one method for all sources, or one that is chosen and remembers from column to column what worked.
pub(super) struct Solving {
    auto: Option<Auto>,
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

impl Solving {
    /// Nothing is known of the equation yet.
    pub fn new(parameters: Parameters, team: &Team) -> Self {
        match parameters {
            Parameters::One(params) => Self { auto: None, params },
            Parameters::Auto(params) => {
                let auto = Auto::new(params);
                let params = auto.first_step(team);
                Self { auto: Some(auto), params }
            }
            // All at once or one after the other, it is Conjugate Gradient on the same system.
            Parameters::AllAtOnce(BlockCgParams { tol, max_iterations, precision, preconditioning }) => {
                let params = CgParams { tol, max_iterations, precision, preconditioning };
                Self { auto: None, params: SolveParams::Cg(params) }
            }
        }
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
        let solved =
            match &mut self.auto {
                None => solve_with_checkpoints(dirac, b, &self.params, callbacks).map(|(x, info)| Solved {
                    x,
                    info,
                    failure: None,
                    attempts: Vec::new(),
                }),
                Some(auto) => auto
                    .solve(dirac, b, callbacks)
                    .map(|AutoSolution { x, info, attempts }| Solved { x, info, failure: None, attempts }),
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
        self.note_last(&solved.attempts);
        Ok(solved)
    }

    /// Takes note of what was tried for a column that an earlier run has solved.
    pub fn learn(&mut self, team: &Team, attempts: &[Attempt]) {
        if let Some(auto) = &mut self.auto {
            auto.learn(team, attempts);
        }
        self.note_last(attempts);
    }

    fn note_last(&mut self, attempts: &[Attempt]) {
        if let Some(last) = attempts.last() {
            self.params = last.params;
        }
    }
}
