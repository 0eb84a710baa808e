//! One solve after the other, by a method or by one that is chosen.

use super::checkpoint::Session;
use super::failure::{Failure, Status};
use lattice_cl::device::Team;
use lattice_cl::field::SpinorField;
use lattice_cl::geometry::LatticeError;
use lattice_cl::operator::Dirac;
use lattice_cl::solve::{
    Attempt, Auto, AutoSolution, BlockCgParams, BlockSolution, CgParams, InvertError, SolveParams,
    block_cg_with_checkpoints, solve_with_checkpoints,
};
use lattice_solvers::{Failure as SolverFailure, SolverInfo};

/// The solver of a job: one method for all sources, or one that is chosen and remembers from source to source what worked.
pub struct Solving {
    auto: Option<Auto>,
    /// The method; if it is chosen, that which ended the last solve.
    params: SolveParams,
}

/// A solution, or the best that was reached, and how it went.
pub struct Solved {
    /// The solution; the best iterate if the method gave up.
    pub x: SpinorField<f64>,
    /// How it went.
    pub info: SolverInfo,
    /// Why the method gave up, if it did; the last one if several were tried.
    pub failure: Option<SolverFailure>,
    /// What was tried, if the method was chosen.
    pub attempts: Vec<Attempt>,
}

impl Solving {
    /// By one method.
    pub fn by(params: SolveParams) -> Self {
        Self { auto: None, params }
    }

    /// By a choice, on this team.
    pub fn choosing(auto: Auto, team: &Team) -> Self {
        let params = auto.first_step(team);
        Self { auto: Some(auto), params }
    }

    /// The method; if it is chosen, that which ended the last solve.
    pub fn params(&self) -> SolveParams {
        self.params
    }

    /// Solves M x = b, as a part of the job of the session.
    pub fn solve(
        &mut self,
        wilson: &Dirac<f64>,
        b: &SpinorField<f64>,
        session: &mut Session<'_>,
    ) -> Result<Solved, Failure> {
        let solved =
            match &mut self.auto {
                None => solve_with_checkpoints(wilson, b, &self.params, session).map(|(x, info)| Solved {
                    x,
                    info,
                    failure: None,
                    attempts: Vec::new(),
                }),
                Some(auto) => auto
                    .solve(wilson, b, session)
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
            Err(InvertError::Lattice(error)) => return Err(error.into()),
            Err(
                error @ (InvertError::Parameter { .. }
                | InvertError::NotHermitian
                | InvertError::Source(_)
                | InvertError::ForeignState(_)),
            ) => {
                return Err(Failure::new(Status::Usage, error));
            }
        };
        self.note_last(&solved.attempts);
        Ok(solved)
    }

    /// Takes note of what was tried for a source that an earlier run has solved.
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

    /// Solves M x = b for all fields of `b` at once; gives one solution for each, or the one failure of all.
    pub fn solve_at_once(
        &mut self,
        wilson: &Dirac<f64>,
        b: &SpinorField<f64>,
        session: &mut Session<'_>,
    ) -> Result<Vec<Solved>, Failure> {
        let SolveParams::Cg(CgParams { tol, max_iterations, precision, preconditioning }) = self.params
        else {
            unreachable!("several sources at once are solved by Conjugate Gradient");
        };
        let params = BlockCgParams { tol, max_iterations, precision, preconditioning };
        match block_cg_with_checkpoints(wilson, b, &params, session) {
            Ok(BlockSolution { x: all, residuals, info }) => {
                let of_source = |(source, residual)| {
                    let mut x = wilson.lattice().spinor()?;
                    all.copy_source_to(source, &mut x).map_err(LatticeError::from)?;
                    let info = SolverInfo { residual, ..info.clone() };
                    Ok(Solved { x, info, failure: None, attempts: Vec::new() })
                };
                residuals.into_iter().enumerate().map(of_source).collect()
            }
            Err(InvertError::NotConverged { failure, best, info }) => {
                Ok(vec![Solved { x: *best, info: *info, failure: Some(failure), attempts: Vec::new() }])
            }
            Err(InvertError::Lattice(error)) => Err(error.into()),
            Err(error) => Err(Failure::new(Status::Usage, error)),
        }
    }
}
