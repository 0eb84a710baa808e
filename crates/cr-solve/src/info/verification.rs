//! What `info` could verify about a file, and what it could not.

use crate::report::Table;
use serde::Serialize;

/// What was verified, and what could not be, in words.
#[derive(Debug, Default, Serialize)]
pub struct Verification {
    pub verified: Vec<String>,
    pub not_verified: Vec<String>,
}

impl Verification {
    /// Adds both lists to a table.
    pub fn lines(&self, table: &mut Table) {
        for (name, list) in [("verified", &self.verified), ("not verified", &self.not_verified)] {
            if !list.is_empty() {
                table.line(name, list.join(", "));
            }
        }
    }
}
