//! The errors between the ranks of a job.

use crate::launcher::LIBRARY_VARIABLE;

/// The reason why processes cannot communicate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MpiError {
    /// A launcher has started several processes, and there is no library for them.
    #[error(
        "{launcher} has started {size} processes, but no MPI library can be opened: {}; install that of the launcher, or name its \
         file in {LIBRARY_VARIABLE}",
        tried.join("; ")
    )]
    NoLibrary {
        /// The launcher of the processes.
        launcher: String,
        /// Number of processes.
        size: usize,
        /// The reasons why the libraries that were tried could not be opened.
        tried: Vec<String>,
    },
    /// The library is not that of the launcher: each process would be a job of its own.
    #[error(
        "{launcher} has started {size} processes, but {library} does not understand it, and each of them would be alone; start with the \
         launcher of that library, or name the launcher's library in {LIBRARY_VARIABLE}"
    )]
    OtherLauncher {
        /// The launcher of the processes.
        launcher: String,
        /// The name that the library gives itself.
        library: String,
        /// Number of processes.
        size: usize,
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
