//! Threads that the system may refuse.
//!
//! A process may have too little memory or too many threads for another one. `std::thread::spawn` then ends the
//! program by a panic. Everything here returns an error.

use std::panic::resume_unwind;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// The system starts no further thread.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the system starts no further thread ({reason}); raise the limit of memory (ulimit -v, cgroup) or of processes (ulimit -u, cgroup)"
)]
pub struct NoThread {
    /// The words of the system.
    pub reason: String,
}

/// Starts `work` on a thread of a scope.
///
/// # Errors
/// [`NoThread`]; the work is not done then.
pub fn start<'scope, R: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> R + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, R>, NoThread> {
    Builder::new().spawn_scoped(scope, work).map_err(|error| NoThread { reason: error.to_string() })
}

/// Returns the result of a thread, or resumes its panic.
pub fn joined<R>(thread: ScopedJoinHandle<'_, R>) -> R {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Does all work at the same time, each on a thread of its own.
///
/// The results are in the order of the work.
///
/// # Errors
/// [`NoThread`]; work that has a thread by then is done, and its results are lost.
pub fn together<R: Send>(
    work: impl IntoIterator<Item = impl FnOnce() -> R + Send>,
) -> Result<Vec<R>, NoThread> {
    std::thread::scope(|scope| {
        let threads = work.into_iter().map(|work| start(scope, work)).collect::<Result<Vec<_>, _>>()?;
        Ok(threads.into_iter().map(joined).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn work_is_done_at_once_and_its_results_are_in_order() {
        let all = Barrier::new(3);
        let work = (0..3).map(|number| {
            let all = &all;
            move || {
                all.wait();
                number
            }
        });
        assert_eq!(together(work), Ok(vec![0, 1, 2]));
    }
}
