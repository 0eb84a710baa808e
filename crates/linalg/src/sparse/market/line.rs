//! Lines of a text, with their numbers.

use lattice_files::text::shortened_bytes;

/// The lines of a text, without their ends, counted from 1.
pub(super) struct Lines<'a> {
    text: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    /// Begins with a line of this number.
    pub fn new(text: &'a [u8], number: usize) -> Self {
        Self { text, number }
    }

    /// Returns the bytes that have not been read.
    pub fn left(&self) -> usize {
        self.text.len()
    }

    /// Returns the rest of the text, and the number of its first line.
    pub fn rest(self) -> (&'a [u8], usize) {
        (self.text, self.number)
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<(usize, &'a [u8])> {
        if self.text.is_empty() {
            return None;
        }
        let end = self.text.iter().position(|&byte| byte == b'\n');
        let (line, rest) = match end {
            Some(end) => (&self.text[..end], &self.text[end + 1..]),
            None => (self.text, &self.text[self.text.len()..]),
        };
        self.text = rest;
        self.number += 1;
        Some((self.number - 1, line.strip_suffix(b"\r").unwrap_or(line)))
    }
}

/// Tells whether a line is neither blank nor a comment.
pub(super) fn has_content(line: &[u8]) -> bool {
    line.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|&byte| byte != b'%')
}

/// Returns the beginning of a text from a file, for a message.
pub(super) fn shown(text: &[u8]) -> String {
    const LONGEST: usize = 60;
    shortened_bytes(text.trim_ascii(), LONGEST)
}
