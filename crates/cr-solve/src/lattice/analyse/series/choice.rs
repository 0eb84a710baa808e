//! Which columns of a file are measurements, and which are configuration numbers.

use std::fmt;
use std::str::FromStr;

/// A column, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnChoice {
    /// Its number, counted from 1.
    Number(usize),
    /// Its name in the header, or the keys to it in JSON: `energy.clover`.
    Name(String),
}

impl FromStr for ColumnChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().parse() {
            Ok(0) => Err("columns are counted from 1".to_owned()),
            Ok(number) => Ok(Self::Number(number)),
            Err(_) if text.trim().is_empty() => Err("a number or a name is wanted".to_owned()),
            Err(_) => Ok(Self::Name(text.trim().to_owned())),
        }
    }
}

impl fmt::Display for ColumnChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// The columns that are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The measurements; `None` for all columns.
    pub column: Option<ColumnChoice>,
    /// The configuration numbers, if the file has them.
    pub numbers: Option<ColumnChoice>,
}

/// The measurements of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    /// The name of each column.
    pub names: Vec<String>,
    /// The numbers of each column, one for each configuration.
    pub columns: Vec<Vec<f64>>,
    /// The configuration numbers, increasing.
    pub numbers: Option<Vec<u64>>,
}

impl Measurements {
    /// Returns the number of configurations.
    pub fn count(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }
}
