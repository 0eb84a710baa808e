//! Lines and numbers of text files.

use super::error::{FileError, FileProblem};
use lattice_files::input;
use lattice_files::number::real;
use lattice_files::text::shortened;
use std::path::Path;

/// Most bytes of a file: 16 GiB.
const LARGEST: u64 = 1 << 34;

/// Most characters of a word that are shown in a message.
const SHOWN: usize = 40;

/// Reads a text file, without a byte-order mark.
pub fn read(path: &Path) -> Result<String, FileError> {
    let bytes = input::read(path, LARGEST).map_err(|error| FileError::new(path, None, error.into()))?;
    String::from_utf8(bytes).map_err(|_| FileError::new(path, None, FileProblem::NotText))
}

/// Returns the beginning of a text, for messages.
pub fn shown(text: &str) -> String {
    shortened(text.trim(), SHOWN)
}

/// Reads a finite number, also as Fortran writes it.
pub fn number(word: &str) -> Result<f64, FileProblem> {
    match real(word.trim().as_bytes()) {
        Some(value) if value.is_finite() => Ok(value),
        Some(_) => Err(FileProblem::NotFinite(shown(word))),
        None => Err(FileProblem::NotANumber { text: shown(word), wanted: "number" }),
    }
}

/// Takes a name that terminals can show.
pub fn name(word: &str) -> Result<String, FileProblem> {
    if word.chars().any(char::is_control) { Err(FileProblem::Name(shown(word))) } else { Ok(word.to_owned()) }
}

/// Reads a count.
pub fn count(word: &str) -> Result<usize, FileProblem> {
    let not = |_| FileProblem::NotANumber { text: shown(word), wanted: "whole number" };
    word.trim().parse().map_err(not)
}

/// Cuts a line into columns of equal width; the last one may be shorter. Blank columns end it.
pub fn columns(line: &str, width: usize) -> impl Iterator<Item = &str> {
    let line = line.trim_end();
    (0..line.len().div_ceil(width)).map(move |column| {
        let end = line.len().min((column + 1) * width);
        line.get(column * width..end).unwrap_or("?")
    })
}
