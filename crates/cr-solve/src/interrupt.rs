//! Ctrl-C and SIGTERM for commands that have something to keep or to show before they are done.

use super::failure::{Failure, Status};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the program is to come to an end, by Ctrl-C or SIGTERM. Asked again, it ends at once.
#[derive(Clone, Debug)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on, for the rest of the process.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn listen() -> Result<Self, Failure> {
        let pressed = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // What a process that a signal ended says by custom.
            let status = 128 + signal;
            // In this order: the first signal finds the flag down, and sets it.
            flag::register_conditional_shutdown(signal, status, Arc::clone(&pressed))
                .and_then(|_| flag::register(signal, Arc::clone(&pressed)))
                .map_err(|error| {
                    let error = anyhow::Error::new(error).context("interruptions cannot be listened for");
                    Failure::new(Status::Failed, error)
                })?;
        }
        Ok(Self(pressed))
    }

    /// Whether to come to an end.
    pub fn pressed(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
