//! The faults of a job that are found before any file is read.

use super::solver::Solver;
use super::task::Task;
use super::wanted_precision::WantedPrecision;
use crate::gauge::SmearError;
use crate::geometry::AnisotropyError;
use crate::hadron::SpinorSmearingError;
use crate::operator::{CouplingError, SiteTermError, System};
use crate::solve::Preconditioning;
use lattice_files::number::shown;
use std::ops::RangeInclusive;

/// A fault of a job.
///
/// [`key`](Self::key) names the key at fault.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Invalid {
    /// No gauge configuration is given.
    #[error("names no gauge configuration: give file in [configuration]")]
    NoConfiguration,
    /// No quark mass is given.
    #[error("gives no quark mass: give kappa or mass in [action]")]
    NoMass,
    /// `kappa` and `mass` are both given.
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
    /// A flavour is given without a twisted mass.
    #[error("gives a flavour, and there is no twisted mass: give mu in [action], or leave flavour out")]
    FlavourWithoutMu,
    /// `[sources]` and `[[source]]` are both given.
    #[error("gives both [sources] and [[source]]; one of them must go")]
    BothSources,
    /// A spin or colour that does not exist.
    #[error("{name} = {value} is not allowed: {value} is not in 0..={last}")]
    Column {
        /// The table or the entry of a list.
        table: String,
        /// `spin` or `colour`.
        name: &'static str,
        /// The value that was given.
        value: u64,
        /// The largest allowed.
        last: u64,
    },
    /// Two sources have the same label.
    #[error("two sources are called `{0}`; give each a label of its own")]
    LabelTwice(String),
    /// The parameters of a smearing of spinors are out of range.
    #[error("{problem}")]
    SpinorSmearing {
        /// The key.
        key: String,
        /// The fault.
        problem: SpinorSmearingError,
    },
    /// The parameters of a smearing of links are out of range.
    #[error("{problem}")]
    LinkSmearing {
        /// The key.
        key: String,
        /// The fault.
        problem: String,
    },
    /// Links are smeared for neither source nor sink.
    #[error("{0} has nothing to smear: smear the source or the sink too, or leave it out")]
    NothingToSmear(String),
    /// A `[[smearing]]` without a name of its own.
    #[error("{key} = \"{name}\" is not allowed: each [[smearing]] has a name of its own")]
    SmearingName {
        /// The key.
        key: String,
        /// The name that was given.
        name: String,
    },
    /// A name that nothing of the job has.
    #[error("{key} = \"{name}\" is no {what} of the job; there are: {names}")]
    NoSuch {
        /// The key.
        key: String,
        /// The name that was given.
        name: Box<str>,
        /// What has such names: `[[smearing]]`.
        what: &'static str,
        /// The names of the job, with commas between them.
        names: Box<str>,
    },
    /// A `[[quark]]` without a label of its own.
    #[error("{key} = \"{label}\" is not allowed: each [[quark]] has a label of its own")]
    QuarkLabel {
        /// The key.
        key: String,
        /// The label that was given.
        label: String,
    },
    /// A `[[quark]]` with no mass, or with two.
    #[error("gives the quark `{label}` no mass, or two: give it kappa or mass")]
    MassOfQuark {
        /// The key of the label.
        key: String,
        /// The label.
        label: String,
    },
    /// Masses or a flavour in `[action]` beside `[[quark]]`.
    #[error("gives kappa, mass or flavour in [action] beside [[quark]]; they belong to each [[quark]]")]
    MassBesideQuarks,
    /// Quarks with κ and quarks with a mass.
    #[error(
        "gives kappa of some quarks and mass of others; solutions have one normalisation, so give one of them"
    )]
    KappaAndMass(String),
    /// Both flavours of one `[[quark]]`.
    #[error("a [[quark]] is one flavour, up or down, of a twisted mass; write two for both")]
    FlavourOfQuark(String),
    /// A tolerance of a quark that is solved by multigrid.
    #[error("a quark that is solved by multigrid has no tol of its own; give it in [solver]")]
    ToleranceOfMultigrid(String),
    /// Block CG of some quarks only.
    #[error("block-cg solves for all quarks or for none; give it in [solver]")]
    BlockCgOfQuark(String),
    /// A fault of one `[[quark]]`.
    #[error("quark `{label}`: {fault}")]
    OfQuark {
        /// The number of the entry.
        number: usize,
        /// The label.
        label: String,
        /// The fault.
        fault: Box<Invalid>,
    },
    /// `[hadrons]` and `[[hadron]]` are both given.
    #[error("gives both [hadrons] and [[hadron]]; one of them must go")]
    BothHadrons,
    /// A `[[hadron]]` without sets.
    #[error("a [[hadron]] names no sets: give hadrons, such as mesons,octet")]
    NoHadrons(String),
    /// A `[[hadron]]` without one to three quarks.
    #[error("a [[hadron]] has one, two or three quarks; there are: {}", if names.is_empty() { "none, write [[quark]]".to_owned() } else { names.join(", ") })]
    HadronQuarks {
        /// The key.
        key: String,
        /// The names of the quarks.
        names: Vec<String>,
    },
    /// Three quarks of a set that has none.
    #[error("three quarks make baryons of the octet only; leave out the other sets, or name two quarks")]
    ThreeQuarks(String),
    /// Quarks of a hadron that are not all solved for a source.
    #[error("the quarks of a [[hadron]] have no propagators of a common source; see source of [[quark]]")]
    SourceOfHadron(String),
    /// A sequential source that cannot be made.
    #[error("{problem}")]
    Sequential {
        /// The key.
        key: String,
        /// The fault.
        problem: String,
    },
    /// A key that other kinds of sources have.
    #[error("{key} is no key of the source {source_text}; only {of} have it")]
    KeyOfOtherSource {
        /// The key.
        key: String,
        /// The source.
        source_text: String,
        /// The kinds of sources that have the key.
        of: &'static str,
    },
    /// A fault of one `[[hadron]]`.
    #[error("{fault}")]
    OfHadron {
        /// The key.
        key: String,
        /// The fault.
        fault: Box<Invalid>,
    },
    /// A source names a smearing and has one of its own.
    #[error("{0} names a [[smearing]] beside smear-source, smear-sink or smear-links; one form must go")]
    BothSmearings(String),
    /// The parameters of the operator's link smearing are out of range.
    #[error("{0}")]
    FatLinks(SmearError),
    /// The configuration for smearing is missing.
    #[error(
        "smears sources or sinks, or measures currents, and the links are on devices; call Problem::with_configuration"
    )]
    NoLinks,
    /// Momenta of no hadrons.
    #[error("{0} is given without hadrons: give hadrons, such as mesons,octet, or leave {0} out")]
    MomentaOfNothing(&'static str),
    /// More momenta than a job may have.
    #[error("momenta = {square} is not allowed: n² goes up to {most}")]
    Momenta {
        /// The number that was given.
        square: u64,
        /// The largest allowed.
        most: u64,
    },
    /// `along` and `[[observable]]` are both given.
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
    /// The tolerance is not between 0 and 1.
    #[error(
        "tol = {number} is not allowed: it must be a positive number below 1, which is the residual of x = 0",
        number = shown(.0)
    )]
    Tolerance(f64),
    /// A system is given to the automatic choice.
    #[error(
        "solver = auto chooses the system with the method, and cannot be told {0}; leave out system, or name a method"
    )]
    SystemOfAuto(System),
    /// A method does not iterate the given system.
    #[error("{solver} solves the {only} system, not the {system} one; leave out system, or take solver = cr")]
    OtherSystem {
        /// The method.
        solver: Solver,
        /// The system that the method iterates.
        only: System,
        /// The system that was given.
        system: System,
    },
    /// γ5 M is not Hermitian, but the Hermitian system is given.
    #[error(
        "the Hermitian system γ5 M x = γ5 b is not Hermitian for this operator (one flavour of twisted mass, or a clover term with symmetric even-odd preconditioning); iterate the normal or the direct system"
    )]
    NotHermitian,
    /// A method for several columns is given to `invert`.
    #[error(
        "block-cg solves for several sources at once, and invert has one; take solver = cg, or the command spectrum"
    )]
    SeveralColumns,
    /// A key of the multigrid method is given to another method.
    #[error("{key} is given, which only solver = multigrid and auto have; take it, or leave {key} out")]
    NoMultigrid {
        /// The key.
        key: String,
    },
    /// A number of the multigrid method is not allowed.
    #[error(
        "{key} = {value} is not allowed: choose a number from {} to {}, or leave it out", allowed.start(), allowed.end()
    )]
    OfMultigrid {
        /// The key.
        key: &'static str,
        /// Its value.
        value: usize,
        /// The numbers that are allowed.
        allowed: RangeInclusive<usize>,
    },
    /// The preconditioning is not that of the multigrid method.
    #[error(
        "solver = multigrid iterates the even-odd preconditioned system, not {0}; leave out preconditioning"
    )]
    PreconditioningOfMultigrid(Preconditioning),
    /// The precision is not that of the multigrid method.
    #[error("solver = multigrid iterates in mixed-single or mixed-half, not in {0}; leave out precision")]
    PrecisionOfMultigrid(WantedPrecision),
    /// The fingerprint of the configuration is missing.
    #[error(
        "{key} is given, and nothing tells the configuration from others; call Problem::with_fingerprint"
    )]
    NoFingerprint {
        /// `multigrid-setup` or `deflate`.
        key: &'static str,
    },
    /// Deflation is given to a method that gains nothing by it.
    #[error(
        "deflate is given, which solver = cg, block-cg, cr and minres have, not {0}; take one of them, or leave deflate out"
    )]
    DeflateOf(Solver),
    /// `resume-if-present` is given without `checkpoint`.
    #[error("resume-if-present goes on from the file of checkpoint, and there is none; give checkpoint too")]
    NoCheckpoint,
    /// `resume` and `resume-if-present` are both given.
    #[error("gives both resume and resume-if-present; one of them must go")]
    ResumeTwice,
}

impl Invalid {
    /// Returns the key at fault, such as `solver.tol` or `source[1].spin`.
    ///
    /// `None` if a key is missing.
    pub fn key(&self) -> Option<String> {
        let key = match self {
            Self::NoConfiguration | Self::NoMass => return None,
            Self::Column { table, name, .. } => return Some(format!("{table}.{name}")),
            Self::OtherTask { key, .. }
            | Self::SpinorSmearing { key, .. }
            | Self::LinkSmearing { key, .. }
            | Self::SmearingName { key, .. }
            | Self::NoSuch { key, .. }
            | Self::Sequential { key, .. }
            | Self::KeyOfOtherSource { key, .. }
            | Self::QuarkLabel { key, .. }
            | Self::MassOfQuark { key, .. }
            | Self::HadronQuarks { key, .. }
            | Self::OfHadron { key, .. }
            | Self::KappaAndMass(key)
            | Self::FlavourOfQuark(key)
            | Self::ToleranceOfMultigrid(key)
            | Self::BlockCgOfQuark(key)
            | Self::NoHadrons(key)
            | Self::ThreeQuarks(key)
            | Self::SourceOfHadron(key)
            | Self::BothSmearings(key)
            | Self::NothingToSmear(key) => return Some(key.clone()),
            Self::OfQuark { number, fault, .. } => {
                let name = fault.key()?;
                let name = name.rsplit('.').next().unwrap_or_default();
                return Some(format!("quark[{number}].{name}"));
            }
            Self::BothHadrons => "hadron",
            Self::MassBesideQuarks => "action",
            Self::BothMasses | Self::Mass(CouplingError::Mass(_)) => "action.mass",
            Self::Mass(CouplingError::Kappa(_)) => "action.kappa",
            Self::Mass(CouplingError::Diagonal { .. }) => "action.anisotropy",
            Self::Anisotropy(AnisotropyError::Xi0(_)) => "action.anisotropy",
            Self::Anisotropy(AnisotropyError::Nu(_)) => "action.nu",
            Self::FlavourWithoutMu => "action.flavour",
            Self::FatLinks(_) => "action.fat-links",
            Self::MassTwice(_) => "action",
            Self::SiteTerm(error) => return Some(format!("action.{}", error.key())),
            Self::BothSources | Self::LabelTwice(_) | Self::NoLinks => "source",
            Self::MomentaOfNothing(key) => return Some(format!("hadrons.{key}")),
            Self::Momenta { .. } => "hadrons.momenta",
            Self::BothObservables => "observable",
            Self::Tolerance(_) => "solver.tol",
            Self::SystemOfAuto(_) | Self::OtherSystem { .. } | Self::NotHermitian => "solver.system",
            Self::SeveralColumns => "solver.solver",
            Self::DeflateOf(_) => "solver.deflate",
            Self::NoMultigrid { key } => return Some(format!("solver.{key}")),
            Self::NoFingerprint { key } | Self::OfMultigrid { key, .. } => {
                return Some(format!("solver.{key}"));
            }
            Self::PreconditioningOfMultigrid(_) => "solver.preconditioning",
            Self::PrecisionOfMultigrid(_) => "solver.precision",
            Self::NoCheckpoint | Self::ResumeTwice => "outputs.resume-if-present",
        };
        Some(key.to_owned())
    }
}
