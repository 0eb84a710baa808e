//! Errors of files.

use lattice_compute::NoRoom;
use lattice_files::text;
use std::path::{Path, PathBuf};

/// A Matrix Market file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MarketError {
    /// The system refuses.
    #[error("{file}: {source}", file = text::path(file))]
    System {
        /// The file.
        file: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A line is not as it should be.
    #[error("{file}, line {line}: {found}; {wanted} expected", file = text::path(file))]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The expected text.
        wanted: String,
        /// The text that was found, and its problem.
        found: String,
    },
    /// The file as a whole is not as its first lines say.
    #[error("{file}: {problem}", file = text::path(file))]
    Whole {
        /// The file.
        file: PathBuf,
        /// The problem, and what to do.
        problem: String,
    },
    /// Memory is short.
    #[error("{file}: {source}", file = text::path(file))]
    NoRoom {
        /// The file.
        file: PathBuf,
        /// The memory that is wanted.
        source: NoRoom,
    },
}

/// An error of a text, before the file is named.
#[derive(Debug)]
pub(super) enum Wrong {
    Line { line: usize, wanted: String, found: String },
    Whole(String),
    NoRoom(NoRoom),
}

impl Wrong {
    pub fn line(line: usize, wanted: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Line { line, wanted: wanted.into(), found: found.into() }
    }

    pub fn in_file(self, file: &Path) -> MarketError {
        let file = file.to_owned();
        match self {
            Self::Line { line, wanted, found } => MarketError::Line { file, line, wanted, found },
            Self::Whole(problem) => MarketError::Whole { file, problem },
            Self::NoRoom(source) => MarketError::NoRoom { file, source },
        }
    }
}

impl From<NoRoom> for Wrong {
    fn from(error: NoRoom) -> Self {
        Self::NoRoom(error)
    }
}
