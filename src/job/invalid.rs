//! What can be wrong with a job before anything is read.

use super::solver::Solver;
use super::task::Task;
use super::wanted_precision::WantedPrecision;
use crate::geometry::AnisotropyError;
use crate::hadron::SpinorSmearingError;
use crate::operator::{CouplingError, SiteTermError, System};
use crate::solve::Preconditioning;

/// A job that makes no sense. [`key`](Self::key) says which key is at fault.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Invalid {
    /// There are no links.
    #[error("names no gauge configuration: give file in [configuration]")]
    NoConfiguration,
    /// There is no quark mass.
    #[error("gives no quark mass: give kappa or mass in [action]")]
    NoMass,
    /// There are quark masses of both forms.
    #[error("gives both kappa and mass; one of them must go")]
    BothMasses,
    /// A quark mass that defines no operator.
    #[error(transparent)]
    Mass(#[from] CouplingError),
    /// A list has the same quark mass twice.
    #[error("{0} stands there twice; leave one of them out")]
    MassTwice(String),
    /// A site term that defines no operator.
    #[error(transparent)]
    SiteTerm(#[from] SiteTermError),
    /// An anisotropy that defines no lattice.
    #[error(transparent)]
    Anisotropy(#[from] AnisotropyError),
    /// A coefficient of the clover term is not a number.
    #[error("{name} = {value:?} is not allowed: the coefficient of the clover term must be a finite number")]
    CloverOfPlane {
        /// `clover-r` or `clover-t`.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// A flavour of quarks without one.
    #[error("gives a flavour, and there is no twisted mass: give mu in [action], or leave flavour out")]
    FlavourWithoutMu,
    /// One of the two coefficients of a clover term.
    #[error("gives one of clover-r and clover-t; give both, or csw, which is both")]
    HalfOfClover,
    /// Coefficients of a clover term in both forms.
    #[error("gives csw and clover-r, clover-t; csw is both of them, one form must go")]
    BothClovers,
    /// There are sources of both forms.
    #[error("gives both [sources] and [[source]]; one of them must go")]
    BothSources,
    /// A spin or colour that does not exist.
    #[error("{name} = {value} is not allowed: {value} is not in 0..={last}")]
    Column {
        /// The table or the entry of a list.
        table: String,
        /// `spin` or `colour`.
        name: &'static str,
        /// What was given.
        value: u64,
        /// The largest allowed.
        last: u64,
    },
    /// Two sources that cannot be told apart.
    #[error("two sources are called `{0}`; give each a label of its own")]
    LabelTwice(String),
    /// A smearing of spinors out of its range.
    #[error("{problem}")]
    SpinorSmearing {
        /// The key.
        key: String,
        /// What is wrong.
        problem: SpinorSmearingError,
    },
    /// A smearing of links out of its range.
    #[error("{problem}")]
    LinkSmearing {
        /// The key.
        key: String,
        /// What is wrong.
        problem: String,
    },
    /// Links are smeared for nothing.
    #[error("{0} has nothing to smear: give smear-source or smear-sink, or leave smear-links out")]
    NothingToSmear(String),
    /// Nobody has given the configuration whose links smear sources.
    #[error(
        "smears sources or sinks, or measures currents, and the links are on devices; call Problem::with_configuration"
    )]
    NoLinks,
    /// There are observables of both forms.
    #[error("gives both along in [outputs] and [[observable]]; one of them must go")]
    BothObservables,
    /// A key of the other task.
    #[error("{key} is no key of {task}; [{table}] may have {allowed}")]
    OtherTask {
        /// The key.
        key: String,
        /// The task of the job.
        task: Task,
        /// The table or list.
        table: &'static str,
        /// Keys of this task there.
        allowed: &'static str,
    },
    /// No residual is as small, or as large.
    #[error("tol = {0} is not allowed: it must be a positive number below 1, which is the residual of x = 0")]
    Tolerance(f64),
    /// The automatic choice was told a system.
    #[error(
        "solver = auto chooses the system with the method, and cannot be told {0}; leave out system, or name a method"
    )]
    SystemOfAuto(System),
    /// A method was told a system that it does not iterate.
    #[error("{solver} solves the {only} system, not the {system} one; leave out system, or take solver = cr")]
    OtherSystem {
        /// The method.
        solver: Solver,
        /// What it iterates.
        only: System,
        /// What was asked for.
        system: System,
    },
    /// γ5 M is not Hermitian, and its system was asked for.
    #[error(
        "the Hermitian system γ5 M x = γ5 b is not Hermitian for this operator (one flavour of twisted mass, or a clover term in symmetric even-odd form); iterate the normal or the direct system"
    )]
    NotHermitian,
    /// A method for several columns was asked for one.
    #[error(
        "block-cg solves for several sources at once, and invert has one; take solver = cg, or the command spectrum"
    )]
    SeveralColumns,
    /// A key of the multigrid method was given to another one.
    #[error("gives {key}, which only solver = multigrid has; take it, or leave {key} out")]
    NoMultigrid {
        /// The key.
        key: &'static str,
    },
    /// So many levels there are not.
    #[error("multigrid-levels = {0} is not allowed: choose 2, 3 or 4, or leave it out")]
    MultigridLevels(usize),
    /// So many vectors there are not.
    #[error("multigrid-vectors = {0} is not allowed: choose a number from 1 to 1024, or leave it out")]
    MultigridVectors(usize),
    /// A multigrid method iterates the even-odd preconditioned system.
    #[error(
        "solver = multigrid iterates the even-odd preconditioned system, not {0}; leave out preconditioning"
    )]
    PreconditioningOfMultigrid(Preconditioning),
    /// A multigrid method iterates in mixed precision.
    #[error("solver = multigrid iterates in mixed-single, not in {0}; leave out precision")]
    PrecisionOfMultigrid(WantedPrecision),
    /// Nobody has said which configuration it is.
    #[error(
        "gives multigrid-setup, and nothing tells the configuration from others; call Problem::with_fingerprint"
    )]
    NoFingerprint,
    /// There is no checkpoint that may be present.
    #[error("resume-if-present goes on from the file of checkpoint, and there is none; give checkpoint too")]
    NoCheckpoint,
    /// It cannot go on from two states.
    #[error("gives both resume and resume-if-present; one of them must go")]
    ResumeTwice,
}

impl Invalid {
    /// The key at fault, such as `solver.tol` or `source[1].spin`; `None` if one is missing.
    pub fn key(&self) -> Option<String> {
        let key = match self {
            Self::NoConfiguration | Self::NoMass => return None,
            Self::Column { table, name, .. } => return Some(format!("{table}.{name}")),
            Self::OtherTask { key, .. }
            | Self::SpinorSmearing { key, .. }
            | Self::LinkSmearing { key, .. }
            | Self::NothingToSmear(key) => return Some(key.clone()),
            Self::BothMasses | Self::Mass(CouplingError::Mass(_)) => "action.mass",
            Self::Mass(CouplingError::Kappa(_)) => "action.kappa",
            Self::Mass(CouplingError::Diagonal { .. }) => "action.anisotropy",
            Self::Anisotropy(AnisotropyError::Xi0(_)) => "action.anisotropy",
            Self::Anisotropy(AnisotropyError::Nu(_)) => "action.nu",
            Self::CloverOfPlane { name, .. } => return Some(format!("action.{name}")),
            Self::FlavourWithoutMu => "action.flavour",
            Self::HalfOfClover => "action.clover-r",
            Self::BothClovers => "action.csw",
            Self::MassTwice(_) => "action",
            Self::SiteTerm(SiteTermError::Mu(_)) => "action.mu",
            Self::SiteTerm(SiteTermError::Csw(_)) => "action.csw",
            Self::BothSources | Self::LabelTwice(_) | Self::NoLinks => "source",
            Self::BothObservables => "observable",
            Self::Tolerance(_) => "solver.tol",
            Self::SystemOfAuto(_) | Self::OtherSystem { .. } | Self::NotHermitian => "solver.system",
            Self::SeveralColumns => "solver.solver",
            Self::NoFingerprint => "solver.multigrid-setup",
            Self::NoMultigrid { key } => return Some(format!("solver.{key}")),
            Self::MultigridLevels(_) => "solver.multigrid-levels",
            Self::MultigridVectors(_) => "solver.multigrid-vectors",
            Self::PreconditioningOfMultigrid(_) => "solver.preconditioning",
            Self::PrecisionOfMultigrid(_) => "solver.precision",
            Self::NoCheckpoint | Self::ResumeTwice => "outputs.resume-if-present",
        };
        Some(key.to_owned())
    }
}
