//! Errors of archives.

use crate::npy::ArrayError;
use crate::text::shortened;
use std::io;

/// Most characters of a name that a message shows.
pub(super) const SHOWN: usize = 60;

/// Most names that a message lists.
const LISTED: usize = 32;

/// An archive that was not read, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The system refused.
    #[error("cannot read the archive: {0}")]
    System(io::Error),
    /// The archive is damaged, or of a kind that is not read.
    #[error("the archive cannot be used: {problem}; write it with numpy.savez")]
    Damaged {
        /// What is wrong.
        problem: String,
    },
    /// There is no array of the name.
    #[error("has no array `{name}`; its arrays are: {}", names_text(found))]
    NoSuchArray {
        /// The name that was looked for.
        name: String,
        /// The names in the file.
        found: Vec<String>,
    },
    /// An array cannot be used.
    #[error("the array `{}`: {source}", shortened(name, SHOWN))]
    Array {
        /// Its name.
        name: String,
        /// The reason.
        source: ArrayError,
    },
}

impl ArchiveError {
    pub(super) fn damaged(problem: impl Into<String>) -> Self {
        Self::Damaged { problem: problem.into() }
    }
}

/// Lists names for a message.
fn names_text(names: &[String]) -> String {
    let mut text =
        names.iter().take(LISTED).map(|name| shortened(name, SHOWN)).collect::<Vec<_>>().join(", ");
    if names.len() > LISTED {
        text.push_str(&format!(" and {} more", names.len() - LISTED));
    }
    text
}
