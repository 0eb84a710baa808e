//! What a job has found.

use super::flavour::Flavour;
use super::label::{Columns, Label};
use super::sources::LabelledSource;
use crate::hadron::Correlator;
use crate::operator::Coupling;
use crate::solve::{Attempt, SolveParams};
use lattice_solvers::{Failure, Residual, SolverInfo, Work};
use std::time::Duration;

/// What a job has found: the same for every task.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// One for each mass, flavour and source, sources fastest. The last is incomplete if a solve failed.
    pub propagators: Vec<PropagatorOutcome>,
    /// Work of the methods of this run.
    pub work: Work,
    /// Time in the methods of this run.
    pub time: Duration,
}

/// What was found for one mass and one source.
#[derive(Clone, Debug)]
pub struct PropagatorOutcome {
    /// The quark mass.
    pub coupling: Coupling,
    /// Up or down, with a twisted mass.
    pub flavour: Option<Flavour>,
    /// The source.
    pub source: LabelledSource,
    /// The solves, in the order of the columns.
    pub solves: Vec<SolveOutcome>,
    /// The method that ended the last solve.
    pub params: SolveParams,
    /// One for each observable; none if a solve failed, because a correlator of fewer than twelve columns means nothing.
    pub correlators: Vec<Correlator>,
}

/// How one solve went.
#[derive(Clone, Debug)]
pub struct SolveOutcome {
    /// Which solve.
    pub label: Label,
    /// How it went. Columns that are solved at once have its times and work in common.
    pub info: SolverInfo,
    /// Why the method gave up, if it did; the last one if several were tried.
    pub failure: Option<Failure>,
    /// What was tried, if the method was chosen.
    pub attempts: Vec<Attempt>,
    /// Time from its beginning to its end, without compilers.
    pub elapsed: Duration,
    /// Whether an earlier run has done it.
    pub found: bool,
}

impl Outcome {
    /// The solve that failed, if one did.
    pub fn failed(&self) -> Option<&SolveOutcome> {
        self.propagators.last()?.solves.iter().find(|solve| solve.failure.is_some())
    }

    /// Whether every solve found its solution.
    pub fn converged(&self) -> bool {
        self.failed().is_none()
    }

    /// Whether the callbacks wished to stop.
    pub fn interrupted(&self) -> bool {
        self.failed().is_some_and(|solve| solve.failure == Some(Failure::Interrupted))
    }

    pub(super) fn count(&mut self, info: &SolverInfo) {
        self.work += info.work;
        self.time += info.time;
    }
}

impl PropagatorOutcome {
    /// Whether every solve of it found its solution.
    pub fn converged(&self) -> bool {
        self.solves.iter().all(|solve| solve.failure.is_none())
    }
}

impl SolveOutcome {
    /// Of a solve that an earlier run has done: of how it went these are known.
    pub fn of_earlier_run(
        label: Label,
        iterations: usize,
        residual: Residual,
        attempts: Vec<Attempt>,
    ) -> Self {
        let info = SolverInfo {
            iterations,
            residual,
            history: Vec::new(),
            applications: 0,
            time: Duration::ZERO,
            work: Work::default(),
        };
        Self { label, info, failure: None, attempts, elapsed: Duration::ZERO, found: true }
    }

    /// Whether it was for all columns at once, and failed for all.
    pub fn failed_at_once(&self) -> bool {
        self.failure.is_some() && self.label.columns() == Columns::All
    }
}
