//! Exit statuses of the program, and the errors that lead to them.

mod algebra;
mod devices;
mod files;
mod science;
mod statistics;

use std::fmt;
use std::process::ExitCode;

/// The exit statuses of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// All is well.
    Fine = 0,
    /// The command ran but failed: no convergence, or a mismatch.
    Failed = 1,
    /// The command line asks for something that makes no sense.
    Usage = 2,
    /// A file cannot be read or written, or its content is invalid.
    File = 3,
    /// There is no such device, or it failed.
    Device = 4,
    /// SIGHUP ended it: the terminal is gone.
    HungUp = 129,
    /// Ctrl-C ended it.
    Interrupted = 130,
    /// SIGTERM ended it.
    Terminated = 143,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status as u8)
    }
}

/// The reason why a subcommand ends without a result.
#[derive(Debug)]
pub struct Failure {
    /// The exit status.
    pub status: Status,
    /// The error, with its causes.
    pub error: anyhow::Error,
    /// Actions that the user can take.
    pub hints: Vec<String>,
}

impl Failure {
    /// Creates a failure without hints.
    pub fn new(status: Status, error: impl Into<anyhow::Error>) -> Self {
        Self { status, error: error.into(), hints: Vec::new() }
    }

    /// Creates the failure of a command line that makes no sense.
    pub fn usage(message: String) -> Self {
        Self::new(Status::Usage, anyhow::Error::msg(message))
    }

    /// Adds an action that the user can take.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

/// Lets a failure pass through the library.
impl std::error::Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}
