//! Modes, the course of a search for them, and its callbacks.

use crate::keeper::StateKeeper;
use crate::outcome::Failure;
use crate::state::ForeignState;
use crate::work::Work;
use derive_setters::Setters;
use std::time::Duration;

/// An eigenvalue with its eigenvector.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode<V> {
    /// The eigenvalue λ.
    pub value: f64,
    /// The eigenvector v, with ‖v‖ = 1.
    pub vector: V,
    /// ‖A v − λ v‖, recomputed from its definition.
    pub residual: f64,
}

/// The course of a search for modes.
#[derive(Clone, Debug, PartialEq)]
pub struct LanczosInfo {
    /// Applications of A.
    pub applications: usize,
    /// Times at which the Krylov space began again.
    pub restarts: usize,
    /// The largest estimated residual of the modes still wanted, at each restart.
    ///
    /// It is relative to the largest known value of the iterated operator.
    pub history: Vec<f64>,
    /// Time of the search.
    pub time: Duration,
    /// Operations and memory traffic.
    pub work: Work,
}

/// The progress of a search at a restart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LanczosLook {
    /// Modes found.
    pub found: usize,
    /// Applications of A.
    pub applications: usize,
    /// Times at which the Krylov space began again.
    pub restarts: usize,
    /// The last number of [`LanczosInfo::history`].
    pub residual: f64,
}

/// Callbacks of a search. The default has none.
#[derive(Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct LanczosCallbacks<'a, V, E> {
    /// Receives the progress at every restart.
    pub watch: Option<&'a mut dyn FnMut(&LanczosLook)>,
    /// Keeps states. It is asked before every step.
    pub keeper: Option<&'a mut dyn StateKeeper<V, E>>,
}

impl<V, E> Default for LanczosCallbacks<'_, V, E> {
    fn default() -> Self {
        Self { watch: None, keeper: None }
    }
}

/// The reason why not all modes are there.
#[derive(Debug, thiserror::Error)]
pub enum LanczosError<V, E: std::error::Error> {
    /// The search ended before all modes were found.
    #[error("{} modes were found after {} applications: {failure}", found.len(), info.applications)]
    NotConverged {
        /// The reason.
        failure: Failure,
        /// The modes that were found, the best first. Better ones may be missing.
        found: Vec<Mode<V>>,
        /// The course of the search.
        info: Box<LanczosInfo>,
    },
    /// A parameter makes no sense.
    #[error("{name} = {value} is not allowed: {allowed}")]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// The value of the parameter.
        value: f64,
        /// The allowed values.
        allowed: &'static str,
    },
    /// The state to go on from is another method's.
    #[error(transparent)]
    ForeignState(ForeignState),
    /// The vector space or the operator failed.
    #[error(transparent)]
    Operation(#[from] E),
}

/// Modes and their search, or the reason why there are not all.
pub(super) type LanczosResult<V, E> = Result<(Vec<Mode<V>>, LanczosInfo), LanczosError<V, E>>;
