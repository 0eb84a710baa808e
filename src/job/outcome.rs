//! The results of a job.

use super::label::{Columns, Label};
use super::modes_news::DeflationOutcome;
use super::multigrid_choice::MultigridChoice;
use super::sources::LabelledSource;
use crate::hadron::{Correlator, Hadrons};
use crate::operator::Coupling;
use crate::operator::Flavour;
use crate::solve::{Attempt, SolveParams};
use lattice_solvers::{Failure, Residual, SolverInfo, Work};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// The results of a job, in one form for every task.
#[derive(Clone, Debug, Default)]
pub struct JobOutcome {
    /// The propagators, one for each quark and each of its sources, sources fastest.
    ///
    /// Those of sequential sources come after all others. They have three-point functions and no correlators.
    /// The last propagator is incomplete if a solve failed.
    pub propagators: Vec<PropagatorOutcome>,
    /// The hadrons of two quarks, for each source and each pair of quarks.
    ///
    /// None unless the job asks for hadrons and has several masses or flavours.
    pub mixed: Vec<MixedHadrons>,
    /// The hadrons of `[[hadron]]`, for each of their sources.
    pub hadrons: Vec<NamedHadronOutcome>,
    /// Work of the methods of this run.
    pub work: Work,
    /// Time in the methods of this run.
    pub time: Duration,
}

/// The hadrons of two quarks from one source.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MixedHadrons {
    /// The quarks: the heavier and the lighter one, or flavours up and down.
    pub quarks: [String; 2],
    /// The label of the source.
    pub source: String,
    /// The correlators.
    #[serde(flatten)]
    pub hadrons: Hadrons,
}

/// The hadrons of an entry of `[[hadron]]` from one source.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NamedHadronOutcome {
    /// The labels of the quarks.
    pub quarks: Vec<String>,
    /// The label of the source.
    pub source: String,
    /// The smearing of the solutions, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smear_sink: Option<String>,
    /// The correlators.
    #[serde(flatten)]
    pub hadrons: Hadrons,
}

/// The results for one quark and one source.
#[derive(Clone, Debug)]
pub struct PropagatorOutcome {
    /// The quark mass.
    pub coupling: Coupling,
    /// Up or down, with a twisted mass.
    pub flavour: Option<Flavour>,
    /// The name that `[[quark]]` gives the quark.
    pub quark: Option<String>,
    /// The source.
    pub source: LabelledSource,
    /// The solves, in the order of the columns.
    pub solves: Vec<SolveOutcome>,
    /// The method that ended the last solve.
    pub params: SolveParams,
    /// The decision of an automatic choice about multigrid, if solves were left.
    pub choice: Option<MultigridChoice>,
    /// The modes that deflated the solves, if there were some.
    pub deflation: Option<DeflationOutcome>,
    /// The correlators, one for each observable; none if a solve failed.
    ///
    /// A correlator of fewer than twelve columns means nothing.
    pub correlators: Vec<Correlator>,
    /// The hadrons of this quark; none if a solve failed, or if the job asks for none.
    pub hadrons: Hadrons,
}

/// The result of one solve.
#[derive(Clone, Debug)]
pub struct SolveOutcome {
    /// The label of the solve.
    pub label: Label,
    /// The course of the solve.
    ///
    /// Columns that are solved at once have times and work in common.
    pub info: SolverInfo,
    /// The reason why the method gave up, if it did.
    ///
    /// The last reason counts if several methods were tried.
    pub failure: Option<Failure>,
    /// The attempts, if the method was chosen.
    pub attempts: Vec<Attempt>,
    /// Time from the solve's beginning to its end, without compilers.
    pub elapsed: Duration,
    /// `true` if an earlier run has done the solve.
    pub found: bool,
}

impl JobOutcome {
    /// Returns the solve that failed, if one did.
    pub fn failed(&self) -> Option<&SolveOutcome> {
        self.propagators.last()?.solves.iter().find(|solve| solve.failure.is_some())
    }

    /// Returns `true` if every solve found its solution.
    pub fn converged(&self) -> bool {
        self.failed().is_none()
    }

    /// Returns `true` if the callbacks wished to stop.
    pub fn interrupted(&self) -> bool {
        self.failed().is_some_and(|solve| solve.failure == Some(Failure::Interrupted))
    }

    pub(super) fn count(&mut self, info: &SolverInfo) {
        self.work += info.work;
        self.time += info.time;
    }
}

impl PropagatorOutcome {
    /// Returns `true` if every solve of the propagator found its solution.
    pub fn converged(&self) -> bool {
        self.solves.iter().all(|solve| solve.failure.is_none())
    }
}

impl SolveOutcome {
    /// Makes the outcome of a solve that an earlier run has done.
    ///
    /// Only the given facts are known of such a solve.
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

    /// Returns `true` if the solve was for all columns at once, and failed for all.
    pub fn failed_at_once(&self) -> bool {
        self.failure.is_some() && self.label.columns() == Columns::All
    }
}
