//! The checks of a file by `info`.

use lattice_cli::report::Table;
use serde::Serialize;

/// The facts that were verified, and those that could not be, in words.
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
