//! News of the modes that deflate a job's solves.

use lattice_solvers::LanczosLook;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

/// The modes that deflated the solves of a propagator.
///
/// They are made once for all propagators with one operator.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DeflationOutcome {
    /// The number of modes.
    pub modes: usize,
    /// The file that they were read from, if they were not searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Applications of M†M or γ5M in the search; 0 for modes of a file.
    pub applications: usize,
    /// Time of the search or of reading, without compilers, in seconds.
    pub seconds: f64,
    /// The largest ‖A v − λ v‖ of a mode.
    pub largest_residual: f64,
}

impl fmt::Display for DeflationOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { modes, file, applications, seconds, .. } = self;
        match file {
            Some(path) => write!(f, "{modes} modes of {}, read in {seconds:.1} s", path.display()),
            None => write!(f, "{modes} modes found in {applications} applications and {seconds:.1} s"),
        }
    }
}

/// News of a job about the modes that deflate its solves.
#[derive(Debug)]
pub enum ModesNews<'a> {
    /// The search makes progress.
    Progress {
        /// The progress.
        look: &'a LanczosLook,
        /// The number of modes that are wanted.
        wanted: usize,
    },
    /// Modes are ready for the next solve.
    Ready(&'a DeflationOutcome),
}
