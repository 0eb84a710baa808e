//! Interruptions by Ctrl-C and SIGTERM.
//!
//! They matter to commands that have something to keep or to show before they are done.

use super::failure::{Failure, Status};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The request to end the program, by Ctrl-C or SIGTERM.
///
/// A second request ends the program at once.
#[derive(Clone, Debug)]
pub struct Interrupt {
    pressed: Arc<AtomicBool>,
    /// The signal that came.
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Listens for signals from now on, for the rest of the process.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn listen() -> Result<Self, Failure> {
        let pressed = Arc::new(AtomicBool::new(false));
        let came = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM] {
            // By custom, the exit status of a process that a signal ended.
            let status = 128 + signal;
            // The order matters: the first signal finds the flag down, and sets it.
            flag::register_conditional_shutdown(signal, status, Arc::clone(&pressed))
                .and_then(|_| flag::register_usize(signal, Arc::clone(&came), signal as usize))
                .and_then(|_| flag::register(signal, Arc::clone(&pressed)))
                .map_err(|error| {
                    let error = anyhow::Error::new(error).context("interruptions cannot be listened for");
                    Failure::new(Status::Failed, error)
                })?;
        }
        Ok(Self { pressed, signal: came })
    }

    /// Tells whether the program is to come to an end.
    pub fn pressed(&self) -> bool {
        self.pressed.load(Ordering::Relaxed)
    }

    /// Returns the exit status of a program that ends because of the request.
    ///
    /// The status is that of a process which the signal ended.
    pub fn status(&self) -> Status {
        if self.signal.load(Ordering::Relaxed) == SIGTERM as usize {
            Status::Terminated
        } else {
            Status::Interrupted
        }
    }
}
