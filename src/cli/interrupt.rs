//! Ctrl-C for commands that have something to show before they are done.

use super::failure::{Failure, Status};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a process that Ctrl-C ended says by custom.
const INTERRUPTED: i32 = 130;

/// Whether Ctrl-C has been pressed. Pressed again, it ends the program at once.
#[derive(Clone, Debug)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on, for the rest of the process.
    ///
    /// # Errors
    /// When the system refuses, or somebody listens already.
    pub fn listen() -> Result<Self, Failure> {
        let pressed = Arc::new(AtomicBool::new(false));
        let handler = Arc::clone(&pressed);
        ctrlc::set_handler(move || {
            if handler.swap(true, Ordering::Relaxed) {
                std::process::exit(INTERRUPTED);
            }
        })
        .map_err(|error| {
            Failure::new(Status::Failed, anyhow::Error::new(error).context("Ctrl-C cannot be listened for"))
        })?;
        Ok(Self(pressed))
    }

    /// Whether to come to an end.
    pub fn pressed(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
