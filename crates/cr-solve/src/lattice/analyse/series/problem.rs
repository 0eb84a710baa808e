//! Files of measurements that cannot be read.

use super::choice::ColumnChoice;
use lattice_cli::failure::{Failure, Status};
use lattice_files::text;
use lattice_files::words::sentence;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePosition {
    /// The whole file.
    Whole,
    /// A line, counted from 1.
    Line(usize),
    /// An object of JSON, counted from 1.
    Object(usize),
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Line(line) => write!(f, ", line {line}"),
            Self::Object(object) => write!(f, ", object {object}"),
        }
    }
}

/// A file of measurements that cannot be read, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}{position}: {problem}", text::path(path))]
pub struct SeriesFileError {
    path: PathBuf,
    position: FilePosition,
    problem: SeriesProblem,
}

impl SeriesFileError {
    pub fn new(path: &Path, position: FilePosition, problem: SeriesProblem) -> Self {
        Self { path: path.to_owned(), position, problem }
    }
}

/// The reason why a file of measurements cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SeriesProblem {
    #[error("cannot read it: {0}")]
    Unreadable(#[from] io::Error),
    #[error("{0}")]
    Result(Box<lattice_cl::io::ErrorKind>),
    #[error("there are no measurements; write one number a line")]
    Empty,
    #[error("the file is compressed; give --series <(zcat FILE)")]
    Compressed,
    #[error("the line has more than {longest} bytes; write one configuration a line")]
    LongLine { longest: u64 },
    #[error("`{0}` is no number; correct it, or put # before a comment")]
    NotANumber(String),
    #[error("`{0}` is not finite; leave this configuration out, or measure it again")]
    NotFinite(String),
    #[error("`{0}` is no configuration number; write whole numbers from 0 on")]
    NotAnIndex(String),
    #[error("{found} columns follow lines of {expected}; give all lines as many")]
    Columns { expected: usize, found: usize },
    #[error("configuration {number} is there twice; give each once, because copies make errors too small")]
    Repeated { number: u64 },
    #[error("configuration {number} follows {previous}; sort the lines by configuration")]
    Order { previous: u64, number: u64 },
    #[error("there is no column {choice}; {}", listed(names))]
    NoColumn { choice: ColumnChoice, names: Vec<String> },
    #[error("--column says which numbers of the result are the series; {}", listed(names))]
    NeedsColumn { names: Vec<String> },
    #[error("{choice} has {found} numbers and the configurations {expected}; give one for each")]
    Lengths { choice: ColumnChoice, expected: usize, found: usize },
    #[error("this is no JSON, which has no NaN: {0}; correct it, or write the numbers as columns")]
    Json(serde_json::Error),
    #[error(
        "the file of pyerrors has {found}, where {what} is wanted; write one observable, or a list of them"
    )]
    Pyerrors { what: &'static str, found: usize },
    #[error("the file of pyerrors has its own configuration numbers; leave out --numbers")]
    OwnNumbers,
    #[error("the file has {bytes} bytes, and JSON at most {most}; write the numbers as columns")]
    LargeJson { bytes: u64, most: u64 },
}

impl From<SeriesFileError> for Failure {
    fn from(error: SeriesFileError) -> Self {
        Failure::new(Status::File, error)
    }
}

/// Most names of a list in a message.
const MOST_NAMES: usize = 20;

fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(MOST_NAMES).map(|name| text::shortened(name, 40)).collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    match names.len() {
        0 => "the file has no names".to_owned(),
        count if count > MOST_NAMES => format!("choose one of {}, …", shown.join(", ")),
        _ => format!("choose {}", sentence(&shown, "or")),
    }
}
