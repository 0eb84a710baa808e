//! What a job tells of a multigrid method.

use crate::multigrid::{LevelsInfo, SetupError, SetupProgress};
use std::path::Path;
use std::time::Duration;

/// What a job tells of the set-up of a multigrid method.
#[derive(Debug)]
pub enum MultigridNews<'a> {
    /// It is under way.
    Progress(SetupProgress),
    /// It stands.
    Ready {
        /// The levels.
        levels: LevelsInfo,
        /// Time that it took, without compilers.
        time: Duration,
        /// The file that its vectors come from, if they do.
        read: Option<&'a Path>,
    },
    /// Its vectors are in this file now.
    Written(&'a Path),
    /// It cannot be made, and BiCGStab solves instead.
    Without(&'a SetupError),
}
