//! The lines of a file, and the sections that they make.

use super::error::MoldenError;
use lattice_files::number::{index, real};
use lattice_files::text::quoted;

/// Lines that are read one after the other, with their numbers.
#[derive(Clone)]
pub(super) struct Lines<'a> {
    lines: &'a [&'a str],
    /// The number of the first line, from 0.
    begin: usize,
    next: usize,
}

/// A section: the words in brackets, the rest of that line, and the lines up to the next section.
pub(super) struct Section<'a> {
    /// The words in brackets, in lower case.
    pub names: Vec<String>,
    /// The line of the title, in lower case.
    pub title: String,
    /// The number of that line, from 1.
    pub number: usize,
    pub lines: Lines<'a>,
}

/// Returns the words in brackets of a line that begins with one, in lower case.
fn names(line: &str) -> Vec<String> {
    let inside = |piece: &str| piece.split_once(']').map(|(inside, _)| inside.trim().to_ascii_lowercase());
    line.split('[').skip(1).filter_map(inside).collect()
}

/// Cuts the lines of a file into sections.
pub(super) fn sections<'a>(lines: &'a [&'a str]) -> Vec<Section<'a>> {
    let is_title = |line: &&str| line.trim_start().starts_with('[');
    let titles: Vec<usize> = (0..lines.len()).filter(|&number| is_title(&lines[number])).collect();
    let section = |(k, &at): (usize, &usize)| {
        let end = titles.get(k + 1).copied().unwrap_or(lines.len());
        Section {
            names: names(lines[at]),
            title: lines[at].trim().to_ascii_lowercase(),
            number: at + 1,
            lines: Lines { lines: &lines[at + 1..end], begin: at + 1, next: 0 },
        }
    };
    titles.iter().enumerate().map(section).collect()
}

impl<'a> Lines<'a> {
    /// Returns the next line without space around, if there is one.
    pub fn next(&mut self) -> Option<&'a str> {
        let line = self.lines.get(self.next)?;
        self.next += 1;
        Some(line.trim())
    }

    /// Returns the number of the line that was read last, from 1.
    pub fn number(&self) -> usize {
        (self.begin + self.next).max(1)
    }

    /// Makes an error of the line that was read last.
    pub fn error<T>(&self, problem: impl Into<String>) -> Result<T, MoldenError> {
        Err(MoldenError { line: self.number(), problem: problem.into() })
    }

    /// Decodes a number, also as Fortran writes it.
    pub fn real(&self, word: &str) -> Result<f64, MoldenError> {
        match real(word.as_bytes()) {
            Some(number) if number.is_finite() => Ok(number),
            _ => self.error(format!("`{}` is no finite number", quoted(word))),
        }
    }

    /// Decodes a number that counts something.
    pub fn count(&self, word: &str, what: &str) -> Result<usize, MoldenError> {
        match index(word.as_bytes()) {
            Some(number) => Ok(number as usize),
            None => self.error(format!("`{}` is no {what}; write digits", quoted(word))),
        }
    }
}
