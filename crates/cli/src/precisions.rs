//! Names of precisions on the command line.
//!
//! An argument that takes one form takes both: words, and letters like those of the BLAS.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Returns a parser for real precisions of fields.
///
/// Names are double, single and half, or d, s and h, or all.
pub(crate) fn of_fields() -> impl TypedValueParser<Value = String> {
    parser(&[("all", &[]), ("double", &["d"]), ("single", &["s"]), ("half", &["h"])])
}

/// Returns a parser for real precisions of memory and arithmetic.
///
/// Names are double and single, or d and s, or all.
pub fn of_reals() -> impl TypedValueParser<Value = String> {
    parser(&[("all", &[]), ("double", &["d"]), ("single", &["s"])])
}

/// Returns a parser for element types.
///
/// Names are s, d, c and z, or single, double, single-complex and double-complex.
pub fn of_elements() -> impl TypedValueParser<Value = String> {
    parser(&[("s", &["single"]), ("d", &["double"]), ("c", &["single-complex"]), ("z", &["double-complex"])])
}

/// Returns a parser that maps names and their aliases to the names.
fn parser(
    names: &'static [(&'static str, &'static [&'static str])],
) -> impl TypedValueParser<Value = String> + use<> {
    let values = names.iter().map(|(name, aliases)| PossibleValue::new(*name).aliases(*aliases));
    PossibleValuesParser::new(values).map(|text| {
        let named = names.iter().find(|(_, aliases)| aliases.contains(&text.as_str()));
        named.map_or(text.clone(), |(name, _)| (*name).to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command};

    #[test]
    fn letters_and_words_are_the_same() {
        let parsed = |parser: clap::builder::ValueParser, word: &str| -> Option<String> {
            let argument = Arg::new("precision").value_parser(parser);
            let command = Command::new("test").no_binary_name(true).arg(argument);
            command.try_get_matches_from([word]).ok()?.get_one::<String>("precision").cloned()
        };
        for (word, field, real, element) in [
            ("double", Some("double"), Some("double"), Some("d")),
            ("d", Some("double"), Some("double"), Some("d")),
            ("s", Some("single"), Some("single"), Some("s")),
            ("single", Some("single"), Some("single"), Some("s")),
            ("h", Some("half"), None, None),
            ("all", Some("all"), Some("all"), None),
            ("z", None, None, Some("z")),
            ("double-complex", None, None, Some("z")),
            ("quad", None, None, None),
        ] {
            assert_eq!(parsed(of_fields().into(), word).as_deref(), field, "{word}");
            assert_eq!(parsed(of_reals().into(), word).as_deref(), real, "{word}");
            assert_eq!(parsed(of_elements().into(), word).as_deref(), element, "{word}");
        }
    }
}
