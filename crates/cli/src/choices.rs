//! Options whose values are words of an enumeration.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lattice_files::words::{Words, parse};
use std::fmt::Display;

/// Makes a parser of all words of `T`. Help lists them, each with its line.
pub fn word<T: Words>() -> impl TypedValueParser<Value = T> {
    word_of(T::VALUES)
}

/// Makes a parser of the words of these values. Help lists them, each with its line.
pub fn word_of<T: Words>(values: &'static [T]) -> impl TypedValueParser<Value = T> {
    parser(values, |value, word| match value.help() {
        "" => word,
        help => word.help(help),
    })
}

/// Makes a parser of the words of these values. Help lists them without lines.
pub fn bare_word_of<T: Words>(values: &'static [T]) -> impl TypedValueParser<Value = T> {
    parser(values, |_, word| word)
}

fn parser<T: Words>(
    values: &'static [T],
    with_help: fn(T, PossibleValue) -> PossibleValue,
) -> impl TypedValueParser<Value = T> {
    let word = |&value: &T| with_help(value, PossibleValue::new(value.word()).aliases(value.aliases()));
    PossibleValuesParser::new(values.iter().map(word)).try_map(|word| parse(&word))
}

/// Tells whether the words of an option contain `found` or `all`.
pub fn is_wanted(asked: &[String], found: impl Display) -> bool {
    let found = found.to_string();
    asked.iter().any(|asked| *asked == "all" || *asked == found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::builder::ValueParser;
    use clap::{Arg, Command};

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Shape {
        Cube,
        Ball,
        Point,
    }

    lattice_files::words! {
        Shape, "shape":
        Cube = "cube" | "box", "Equal edges"; Ball = "ball"; Point = "point"
    }

    fn parsed(parser: impl Into<ValueParser>, word: &str) -> Result<Shape, String> {
        let argument = Arg::new("shape").long("shape").value_parser(parser.into());
        let matches = Command::new("test").arg(argument).try_get_matches_from(["test", "--shape", word]);
        matches.map(|matches| matches.get_one("shape").copied().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn words_and_aliases_are_read_and_others_refused_with_the_list() {
        assert_eq!(parsed(word::<Shape>(), "point"), Ok(Shape::Point));
        assert_eq!(parsed(word::<Shape>(), "box"), Ok(Shape::Cube));
        let error = parsed(word::<Shape>(), "disk").unwrap_err();
        assert!(error.contains("[possible values: cube, ball, point]"), "{error}");
        let two = &[Shape::Ball, Shape::Cube];
        assert_eq!(parsed(word_of(two), "ball"), Ok(Shape::Ball));
        let error = parsed(bare_word_of(two), "point").unwrap_err();
        assert!(error.contains("[possible values: ball, cube]"), "{error}");
    }

    #[test]
    fn help_has_the_lines_unless_it_is_bare() {
        let help = |parser: ValueParser| -> Vec<Option<String>> {
            let values = parser.possible_values().unwrap();
            values.map(|value| value.get_help().map(ToString::to_string)).collect()
        };
        assert_eq!(help(word::<Shape>().into()), [Some("Equal edges".to_owned()), None, None]);
        assert_eq!(help(bare_word_of(&[Shape::Cube]).into()), [None]);
    }
}
