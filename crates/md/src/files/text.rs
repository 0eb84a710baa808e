//! Lines and numbers of text files.

use super::error::{FileError, FileProblem};
use lattice_compute::kept_file::{self, Links};
use std::path::Path;

/// Most bytes of a file: 16 GiB.
const LARGEST: u64 = 1 << 34;

/// Most characters of a word that are shown in a message.
const SHOWN: usize = 40;

/// Reads a text file.
pub fn read(path: &Path) -> Result<String, FileError> {
    let bytes = kept_file::read(path, Links::Followed, LARGEST)
        .map_err(|error| FileError::new(path, None, error.into()))?;
    String::from_utf8(bytes).map_err(|_| FileError::new(path, None, FileProblem::NotText))
}

/// Returns the beginning of a text, for messages.
pub fn shown(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Reads a finite number. A `D` may stand for the `E` of its exponent.
pub fn number(word: &str) -> Result<f64, FileProblem> {
    let plain = word.trim();
    let value = plain.parse().or_else(|_| plain.replace(['D', 'd'], "E").parse::<f64>());
    match value {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(FileProblem::NotFinite(shown(word))),
        Err(_) => Err(FileProblem::NotANumber { text: shown(word), wanted: "number" }),
    }
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
