//! Arguments as the parser takes them.

use std::ffi::OsString;

/// Joins the extents of a lattice that are separate words.
///
/// `--dims 8 8 8 16` becomes `--dims 8x8x8x16`. The words are joined before parsing. An option that
/// takes one to four words would swallow the file after it.
pub fn join_extents(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = arguments.into_iter().collect();
    let is_number = |word: &OsString| {
        word.to_str().is_some_and(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut from = 0;
    while let Some(option) = joined[from..].iter().position(|word| word == "--dims") {
        let first = from + option + 1;
        let count = joined[first..].iter().take(4).take_while(|word| is_number(word)).count();
        let extents = joined[first..first + count].join(&OsString::from("x"));
        if count > 1 {
            joined.splice(first..first + count, [extents]);
        }
        from = first;
    }
    joined
}

/// Renames `--color 2`, the colour of a source, to `--colour 2`.
///
/// `--color` with a word is about the terminal.
pub fn tell_colours_apart(arguments: Vec<OsString>) -> Vec<OsString> {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let next_is_number: Vec<bool> =
        arguments.iter().skip(1).map(|word| word.to_str().is_some_and(is_number)).chain([false]).collect();
    let renamed =
        arguments.into_iter().zip(next_is_number).map(|(word, next_is_number)| match word.to_str() {
            Some("--color") if next_is_number => "--colour".into(),
            Some(text) => match text.strip_prefix("--color=") {
                Some(value) if is_number(value) => format!("--colour={value}").into(),
                _ => word,
            },
            None => word,
        });
    renamed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(line: &str) -> String {
        let words = join_extents(line.split(' ').map(OsString::from));
        words.join(&OsString::from(" ")).into_string().unwrap()
    }

    #[test]
    fn words_of_digits_are_joined_and_nothing_else_is() {
        assert_eq!(joined("p generate --dims 8 8 8 16 --beta 6"), "p generate --dims 8x8x8x16 --beta 6");
        assert_eq!(joined("p info --dims 4 4 4 4 8"), "p info --dims 4x4x4x4 8");
        assert_eq!(joined("p tune --dims 8 8 8 8 --dims 4 4 4 4"), "p tune --dims 8x8x8x8 --dims 4x4x4x4");
        // Too few words are joined too. The message is then about extents.
        assert_eq!(joined("p --dims 8 8 8 -v"), "p --dims 8x8x8 -v");
        for same in ["p info --dims 8x8x8x16 conf", "p --dims 8 conf", "p --dims", "p"] {
            assert_eq!(joined(same), same);
        }
    }

    #[test]
    fn a_colour_with_a_number_is_that_of_the_source() {
        let told = |line: &str| {
            let words = tell_colours_apart(line.split(' ').map(OsString::from).collect());
            words.join(&OsString::from(" ")).into_string().unwrap()
        };
        assert_eq!(told("p invert --color 2 conf"), "p invert --colour 2 conf");
        assert_eq!(told("p invert --color=1"), "p invert --colour=1");
        for same in ["p --color never info 2", "p --color=auto", "p --color", "p --colour 2"] {
            assert_eq!(told(same), same);
        }
    }
}
