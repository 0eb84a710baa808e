//! The error of a file.

/// A Molden file that was not understood, and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct MoldenError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub problem: String,
}
