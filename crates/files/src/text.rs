//! Text of files in messages.

use std::fmt::Display;
use std::path::Path;

/// The byte-order mark that editors of Windows put before a text in UTF-8.
pub const MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns a text without the byte-order mark before it.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Most characters of a text that [`quoted`] shows.
const LONGEST: usize = 300;

/// Makes text from a file printable, and shortens it for a message.
pub fn quoted(text: &str) -> String {
    shortened(text, LONGEST)
}

/// Makes text from a file printable, and shortens it to `longest` characters.
pub fn shortened(text: &str, longest: usize) -> String {
    let mut shown: String = printable(text).chars().take(longest).collect();
    if text.chars().nth(longest).is_some() {
        shown.push_str(" ...");
    }
    shown
}

/// Replaces the control characters of text, so that a terminal can show it.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if is_control(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Makes text of several lines printable, line by line.
pub fn printable_lines(text: &str) -> String {
    let shown = |c| if is_control(c) && c != '\n' && c != '\t' { char::REPLACEMENT_CHARACTER } else { c };
    text.chars().map(shown).collect()
}

/// Makes the beginning of some bytes of a file printable, of at most `longest` characters.
pub fn shortened_bytes(bytes: &[u8], longest: usize) -> String {
    // A character has four bytes at most.
    let beginning = &bytes[..bytes.len().min(4 * longest + 4)];
    shortened(&String::from_utf8_lossy(beginning), longest)
}

/// Returns the name of a file for a message.
pub fn path(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// Tells whether a character moves a terminal's cursor, or turns the order of a line's text.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Writes extents, coordinates or a shape: `(4, 3)`.
pub fn tuple(numbers: &[impl Display]) -> String {
    let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("({})", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_is_left() {
        let text: String = (0..0x300).filter_map(char::from_u32).collect();
        assert!(!quoted(&text).chars().any(char::is_control));
        assert_eq!(printable("a\u{1b}[31mb\n"), "a\u{fffd}[31mb\u{fffd}");
        assert_eq!(printable("a\u{202e}b"), "a\u{fffd}b");
        assert_eq!(printable_lines("a\u{1b}b\nc\r"), "a\u{fffd}b\nc\u{fffd}");
        assert_eq!(path(Path::new("a\u{9b}2J")), "a\u{fffd}2J");
        assert_eq!(shortened_bytes(b"\x1b\xff12", 3), "\u{fffd}\u{fffd}1 ...");
    }

    #[test]
    fn a_mark_counts_at_the_beginning_alone() {
        assert_eq!(without_mark(b"\xef\xbb\xbfa"), b"a");
        for text in [&b""[..], b"a", b"\xef\xbb", b"a\xef\xbb\xbf"] {
            assert_eq!(without_mark(text), text);
        }
    }

    #[test]
    fn numbers_stand_in_parentheses() {
        assert_eq!([tuple(&[4, 3]), tuple(&[7]), tuple(&[] as &[u8])], ["(4, 3)", "(7)", "()"]);
    }

    #[test]
    fn long_text_is_cut_at_a_character() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äöü ...");
    }
}
