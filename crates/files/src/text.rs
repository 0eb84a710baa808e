//! Text of files in messages.

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
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_is_left() {
        let text: String = (0..0x300).filter_map(char::from_u32).collect();
        assert!(!quoted(&text).chars().any(char::is_control));
        assert_eq!(printable("a\u{1b}[31mb\n"), "a\u{fffd}[31mb\u{fffd}");
    }

    #[test]
    fn long_text_is_cut_at_a_character() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äöü ...");
    }
}
