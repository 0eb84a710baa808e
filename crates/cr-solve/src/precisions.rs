//! Names of precisions on the command line: words, and letters as the BLAS has them, wherever one of both is taken.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Real precisions of fields: double, single and half, or d, s and h; all of them.
pub fn of_fields() -> impl TypedValueParser<Value = String> {
    parser(&[("all", &[]), ("double", &["d"]), ("single", &["s"]), ("half", &["h"])])
}

/// Real precisions of memory and arithmetic: double and single, or d and s; all of them.
pub fn of_reals() -> impl TypedValueParser<Value = String> {
    parser(&[("all", &[]), ("double", &["d"]), ("single", &["s"])])
}

/// Element types: s, d, c and z, or single, double and these with -complex.
pub fn of_elements() -> impl TypedValueParser<Value = String> {
    parser(&[("s", &["single"]), ("d", &["double"]), ("c", &["single-complex"]), ("z", &["double-complex"])])
}

/// Gives the name for the name and for its aliases.
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
