//! News of a job about its multigrid method.

use super::multigrid_choice::MultigridChoice;
use crate::multigrid::{LevelsInfo, SetupError, SetupProgress};
use std::path::Path;
use std::time::Duration;

/// News of a job about the set-up of its multigrid method.
#[derive(Debug)]
pub enum MultigridNews<'a> {
    /// The set-up makes progress.
    Progress(SetupProgress),
    /// The set-up is done.
    Ready {
        /// The levels.
        levels: LevelsInfo,
        /// Time of the set-up, without compilers.
        time: Duration,
        /// The file that the vectors were read from; `None` for new vectors.
        read: Option<&'a Path>,
    },
    /// An automatic choice weighed the method, and goes on with it or without it.
    Chosen(&'a MultigridChoice),
    /// The vectors were written to this file.
    Written(&'a Path),
    /// The set-up failed, and BiCGStab solves instead.
    Without(&'a SetupError),
}
