//! The line of keys of an extended XYZ file.

use super::error::FileProblem;
use super::text::shown;
use std::iter::Peekable;
use std::str::Chars;

/// The keys of a line, and their values without quotes and outer brackets.
pub struct Keys(Vec<(String, String)>);

impl Keys {
    /// Splits a line of `key=value`, with or without blanks around the `=`.
    ///
    /// A value is a word, or stands in "", '', {}, [] or (). Brackets may be nested. Within quotes a
    /// backslash stands before a character that means itself. A word without `=` is a key without value.
    ///
    /// # Errors
    /// [`FileProblem::Unclosed`].
    pub fn parse(line: &str) -> Result<Self, FileProblem> {
        let mut keys = Vec::new();
        let mut rest = line.chars().peekable();
        loop {
            skip_blanks(&mut rest);
            if rest.peek().is_none() {
                return Ok(Self(keys));
            }
            let key = word(&mut rest, |c| c == '=');
            let key = key.trim_matches(['"', '\'']).to_owned();
            skip_blanks(&mut rest);
            let value = match rest.next_if_eq(&'=') {
                Some(_) => {
                    skip_blanks(&mut rest);
                    value(&mut rest).ok_or_else(|| FileProblem::Unclosed(shown(&key)))?
                }
                None => String::new(),
            };
            keys.push((key, value));
        }
    }

    /// Returns the value of a key, in small letters or large ones.
    ///
    /// # Errors
    /// [`FileProblem::TwoKeys`].
    pub fn get(&self, wanted: &'static str) -> Result<Option<&str>, FileProblem> {
        let mut values = self.0.iter().filter(|(key, _)| key.eq_ignore_ascii_case(wanted));
        match (values.next(), values.next()) {
            (_, Some((key, _))) => Err(FileProblem::TwoKeys(shown(key))),
            (first, None) => Ok(first.map(|(_, value)| value.as_str())),
        }
    }
}

/// Splits the numbers or words of an array at blanks, commas and brackets.
pub fn items(value: &str) -> impl Iterator<Item = &str> {
    let between = |c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}' | '(' | ')');
    value.split(between).filter(|item| !item.is_empty())
}

fn skip_blanks(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| c.is_whitespace()).is_some() {}
}

/// Takes characters up to a blank or another end.
fn word(rest: &mut Peekable<Chars<'_>>, ends: impl Fn(char) -> bool) -> String {
    let mut word = String::new();
    while let Some(c) = rest.next_if(|&c| !c.is_whitespace() && !ends(c)) {
        word.push(c);
    }
    word
}

/// Takes a value; `None` if it has no end.
fn value(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    match rest.peek() {
        Some('"' | '\'') => quoted(rest),
        Some('{' | '[' | '(') => bracketed(rest),
        _ => Some(word(rest, |_| false)),
    }
}

/// Takes a text in quotes, and leaves the quotes out.
fn quoted(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let quote = rest.next()?;
    let mut text = String::new();
    loop {
        match rest.next()? {
            '\\' => text.push(rest.next()?),
            c if c == quote => return Some(text),
            c => text.push(c),
        }
    }
}

/// Takes a text in brackets, and leaves the outer ones out.
fn bracketed(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut text = String::new();
    let mut closing = Vec::new();
    loop {
        let c = rest.next()?;
        match c {
            '{' => closing.push('}'),
            '[' => closing.push(']'),
            '(' => closing.push(')'),
            c if closing.last() == Some(&c) => {
                closing.pop();
                if closing.is_empty() {
                    return Some(text);
                }
            }
            _ => {}
        }
        if closing.len() > 1 || !matches!(c, '{' | '[' | '(') {
            text.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get<'a>(keys: &'a Keys, key: &'static str) -> Option<&'a str> {
        keys.get(key).unwrap()
    }

    #[test]
    fn values_stand_in_quotes_and_brackets_of_every_kind() {
        let line =
            r#"Lattice={4 0} a = "b c" , pbc=[T, F] d='it "is"' e=[[1, 2], [3,4]] f=(5) LAST flag g=7"#;
        let keys = Keys::parse(line).unwrap();
        for (key, value) in [
            ("lattice", "4 0"),
            ("a", "b c"),
            ("pbc", "T, F"),
            ("d", "it \"is\""),
            ("e", "[1, 2], [3,4]"),
            ("f", "5"),
            ("last", ""),
            ("G", "7"),
        ] {
            assert_eq!(get(&keys, key), Some(value), "{key}");
        }
        assert_eq!(get(&keys, "none"), None);
        assert_eq!(items(get(&keys, "e").unwrap()).collect::<Vec<_>>(), ["1", "2", "3", "4"]);
    }

    #[test]
    fn what_a_comment_quotes_is_no_key() {
        let line = r#"comment="a \"Lattice=1\" of pbc=F" Lattice="2 3" note='Properties=x' it's"#;
        let keys = Keys::parse(line).unwrap();
        assert_eq!(get(&keys, "lattice"), Some("2 3"));
        assert_eq!(get(&keys, "comment"), Some("a \"Lattice=1\" of pbc=F"));
        assert_eq!((get(&keys, "pbc"), get(&keys, "properties")), (None, None));
    }

    #[test]
    fn open_quotes_and_keys_given_twice_are_named() {
        for line in ["a=\"1 2", "a={1 [2}", "a='1\\", "a=[[1, 2]"] {
            let found = Keys::parse(line).err();
            assert!(matches!(&found, Some(FileProblem::Unclosed(key)) if key == "a"), "{line}: {found:?}");
        }
        let twice = Keys::parse("pbc=T PBC=F").unwrap();
        assert!(matches!(twice.get("pbc"), Err(FileProblem::TwoKeys(_))));
    }
}
