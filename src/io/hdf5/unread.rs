//! The bytes of a file that no structure has taken yet.

use super::{Input, bad};
use crate::io::error::Error;

/// How many bytes of a file can still belong to structures that have not been read.
///
/// Structures do not overlap. A file whose structures lead to each other in circles ends the reading.
pub(super) struct Unread(u64);

impl Unread {
    pub(super) fn of(input: &Input) -> Self {
        Self(input.length())
    }

    /// Counts a structure that begins at `byte`.
    pub(super) fn take(&mut self, input: &Input, byte: u64, bytes: u64) -> Result<(), Error> {
        match self.0.checked_sub(bytes) {
            Some(rest) => self.0 = rest,
            None => return Err(bad(input, byte, "its structures overlap or lead to each other in a circle")),
        }
        Ok(())
    }
}
