//! The errors between the ranks of a job.

use crate::launcher::{LIBRARY_VARIABLE, PATIENCE_VARIABLE};
use std::ffi::c_int;

/// The reason why processes cannot communicate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MpiError {
    /// A launcher has started several processes, and there is no library for them.
    #[error(
        "{launcher} has started {}, but no MPI library can be opened: {}; install that of the launcher, or name its \
         file in {LIBRARY_VARIABLE}",
        processes(*size),
        tried.join("; ")
    )]
    NoLibrary {
        /// The launcher of the processes.
        launcher: String,
        /// Number of processes, if the launcher tells it.
        size: Option<usize>,
        /// The reasons why the libraries that were tried could not be opened.
        tried: Vec<String>,
    },
    /// The library is not that of the launcher: each process would be a job of its own.
    #[error(
        "{launcher} has started {}, but {library} does not understand it, and each of them would be alone; start with the \
         launcher of that library, or name the launcher's library in {LIBRARY_VARIABLE}",
        processes(*size)
    )]
    OtherLauncher {
        /// The launcher of the processes.
        launcher: String,
        /// The name that the library gives itself.
        library: String,
        /// Number of processes, if the launcher tells it.
        size: Option<usize>,
    },
    /// The library ended the process while it began.
    #[error(
        "{library} ends this process in MPI_Init, for the reason above; start with the launcher of that library, or name the launcher's \
         library in {LIBRARY_VARIABLE}"
    )]
    EndedByLibrary {
        /// The name that the library gives itself.
        library: String,
    },
    /// The system starts no further thread.
    #[error(
        "no thread can be started that watches the other ranks: {reason}; raise the limit of memory or of processes (ulimit)"
    )]
    Thread {
        /// The words of the system.
        reason: String,
    },
    /// Some ranks have not begun.
    #[error(
        "not all ranks have begun within {seconds} s: one has ended, runs another program or is very slow; start all ranks with one \
         command line, or wait longer: {PATIENCE_VARIABLE}=SECONDS"
    )]
    NotAllHere {
        /// The patience.
        seconds: f64,
    },
    /// A rank gives no sign of life.
    #[error(
        "rank {rank} gives no sign of life for {seconds} s: it is stopped, gone or another program; to wait longer, set \
         {PATIENCE_VARIABLE}=SECONDS (0: for ever)"
    )]
    Silent {
        /// The rank.
        rank: usize,
        /// The patience.
        seconds: f64,
    },
    /// All ranks wait for each other.
    #[error(
        "all ranks have waited for each other for {seconds} s, each for something else; this is a fault of the program; to wait \
         longer, set {PATIENCE_VARIABLE}=SECONDS (0: for ever)"
    )]
    Standstill {
        /// The patience.
        seconds: f64,
    },
    /// The patience of ranks is no number.
    #[error("{PATIENCE_VARIABLE} is {text:?}; it is a number of seconds, and 0 stands for no end")]
    Patience {
        /// The value of the variable.
        text: String,
    },
    /// The library takes no calls from a thread that did not initialise it.
    #[error(
        "{library} takes calls from one thread only, and several are needed; build it with threads, or take another"
    )]
    NoThreads {
        /// The name that the library gives itself.
        library: String,
    },
    /// More bytes than a collective call takes.
    #[error("{found} bytes of each rank are too many to be gathered; at most {most} are possible")]
    TooLarge {
        /// Bytes of each rank.
        found: usize,
        /// The most that are possible.
        most: usize,
    },
    /// A function of MPI failed.
    #[error("{function} failed with code {code}")]
    Failed {
        /// The function.
        function: &'static str,
        /// The code that it returned.
        code: i32,
    },
}

impl MpiError {
    /// Makes the error of a thread that does not start.
    pub(crate) fn thread(refused: std::io::Error) -> Self {
        Self::Thread { reason: refused.to_string() }
    }
}

/// Names a number of processes.
fn processes(size: Option<usize>) -> String {
    size.map_or_else(|| "several processes".to_owned(), |size| format!("{size} processes"))
}

/// Makes the code that a function returned a result.
pub(crate) fn check(function: &'static str, code: c_int) -> Result<(), MpiError> {
    if code == 0 { Ok(()) } else { Err(MpiError::Failed { function, code }) }
}
