//! The modes that a job is to deflate its solves by.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The modes that deflate solves: a file of modes, or a number of modes to be computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deflation {
    /// So many lowest modes of each operator, computed before its first solve.
    Count(usize),
    /// The modes of a file that [`DiracModes::write`](crate::modes::DiracModes::write) has written.
    File(PathBuf),
}

impl FromStr for Deflation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(0) => Err("no mode deflates nothing; give a number of modes, or leave it out".to_owned()),
            Ok(count) => Ok(Self::Count(count)),
            Err(_) if text.is_empty() => Err("give a number of modes, or a file of modes".to_owned()),
            Err(_) => Ok(Self::File(text.into())),
        }
    }
}

impl fmt::Display for Deflation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::File(path) => path.display().fmt(f),
        }
    }
}
