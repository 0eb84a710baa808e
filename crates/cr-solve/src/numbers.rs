//! Numbers of the command line.
//!
//! Every option takes every spelling of a negative number, and none takes an infinite one.

use clap::builder::ValueParser;
use clap::{Arg, Command, value_parser};
use lattice_cli::numbers::finite;
use std::collections::BTreeSet;
use std::ffi::OsString;

/// Joins options with values that begin with a minus: `--mu -1e-3` becomes `--mu=-1e-3`.
///
/// The parser would take such a word for an option. No option begins with a digit or a point.
pub fn join_negative(arguments: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let mut options = BTreeSet::new();
    collect_options(command, &mut options);
    let mut joined: Vec<OsString> = Vec::with_capacity(arguments.len());
    let mut ended = false;
    for word in arguments {
        ended |= word == "--";
        let takes_it = !ended
            && word.to_str().is_some_and(is_negative)
            && joined
                .last()
                .and_then(|before| before.to_str()?.strip_prefix("--"))
                .is_some_and(|name| options.contains(name));
        match joined.last_mut().filter(|_| takes_it) {
            Some(before) => {
                before.push("=");
                before.push(word);
            }
            None => joined.push(word),
        }
    }
    joined
}

/// Collects the long names of options that take a value, of a command and those below.
fn collect_options(command: &Command, names: &mut BTreeSet<String>) {
    for argument in command.get_arguments().filter(|argument| argument.get_action().takes_values()) {
        names.extend(argument.get_long_and_visible_aliases().into_iter().flatten().map(str::to_owned));
        names.extend(argument.get_all_aliases().into_iter().flatten().map(str::to_owned));
    }
    command.get_subcommands().for_each(|inner| collect_options(inner, names));
}

/// Tells whether a word is a negative number, or a list that begins with one.
fn is_negative(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('-') else { return false };
    let digits = rest.strip_prefix('.').unwrap_or(rest);
    let is_word = ["inf", "infinity", "nan"].iter().any(|known| rest.eq_ignore_ascii_case(known));
    digits.starts_with(|first: char| first.is_ascii_digit()) || is_word
}

/// Lets every option with a real number take what [`finite`] reads.
pub fn take_reals(command: Command) -> Command {
    let is_real = |argument: &Arg| {
        argument.get_value_parser().type_id() == ValueParser::from(value_parser!(f64)).type_id()
    };
    let command = command.mut_args(|argument| {
        let reads = |text: &str| finite(text).ok_or("a finite number is wanted");
        if is_real(&argument) { argument.value_parser(reads) } else { argument }
    });
    command.mut_subcommands(take_reals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Program, parse, prepared};
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    /// Calls `each` with the words of every command, and its options that take a value.
    fn walk(command: &Command, above: &[String], each: &mut dyn FnMut(&[String], &clap::Arg)) {
        let words = [above, &[command.get_name().to_owned()]].concat();
        if !command.has_subcommands() {
            let options = command.get_arguments().filter(|option| option.get_long().is_some());
            options
                .filter(|option| option.get_action().takes_values())
                .for_each(|option| each(&words, option));
        }
        command.get_subcommands().for_each(|inner| walk(inner, &words, each));
    }

    /// Returns the error of a command line, if it has one.
    fn error(words: &[String], option: &clap::Arg, value: &str) -> Option<clap::Error> {
        let option = format!("--{}", option.get_long().unwrap());
        let words = words.iter().cloned().chain([option, value.to_owned()]).map(OsString::from);
        parse(&prepared(words)).err()
    }

    #[test]
    fn every_option_takes_every_spelling_of_a_negative_number() {
        let mut command = Program::command();
        command.build();
        let number = ValueParser::from(clap::value_parser!(f64)).type_id();
        let (mut seen, mut numbers) = (0, 0);
        walk(&command, &[], &mut |words, option| {
            seen += 1;
            let is_number = option.get_value_parser().type_id() == number;
            numbers += usize::from(is_number);
            for value in ["-1e-3", "-.001", "-0.001", "-1.E+2", "-1d-2", "-0.1-100", "-5", "-1,2,3,4"] {
                let Some(error) = error(words, option, value) else { continue };
                // Options that want `=` get no other word.
                let wants_equals = option.is_require_equals_set();
                let unknown = error.kind() == ErrorKind::UnknownArgument;
                assert!(wants_equals || !unknown, "{words:?} {option} {value}: {error}");
                // Some options want positive numbers, and say so.
                let is_misread = error.to_string().contains("a finite number is wanted");
                assert!(
                    !is_number || value == "-1,2,3,4" || !is_misread,
                    "{words:?} {option} {value}: {error}"
                );
            }
        });
        assert!(seen > 200 && numbers > 40, "{seen} options, {numbers} of them numbers");
    }

    #[test]
    fn no_option_takes_an_infinite_number() {
        let line = |line: &str| parse(&prepared(line.split(' ').map(OsString::from)));
        for (option, value) in [("mu", "nan"), ("mu", "-inf"), ("csw", "1e400"), ("theta", "nan,0,0,0")] {
            let error = line(&format!("cr-solve spectrum conf --kappa 0.1 --{option} {value}")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ValueValidation, "{option} {value}: {error}");
            assert!(error.to_string().contains(option), "{error}");
        }
        assert!(line("cr-solve spectrum conf --kappa 0.1,inf").is_err());
        for value in ["NaN,3", "0.2,inf"] {
            assert!(
                line(&format!("cr-solve md forces a.xyz --cutoff 8 --lj Ar={value}")).is_err(),
                "{value}"
            );
        }
        assert!(line("cr-solve spectrum conf --kappa 0.1 --mu -1e-3 --csw -.5").is_ok());
    }

    #[test]
    fn only_values_of_options_are_joined() {
        let command = Program::command();
        let joined = |line: &str| {
            let words = join_negative(line.split(' ').map(OsString::from).collect(), &command);
            words.join(&OsString::from(" ")).into_string().unwrap()
        };
        assert_eq!(joined("p invert --mu -1e-3 c --csw -.5"), "p invert --mu=-1e-3 c --csw=-.5");
        assert_eq!(joined("p invert --boundary -1,1,1,1 c"), "p invert --boundary=-1,1,1,1 c");
        for same in ["p -q -1", "p --quiet -1", "p --mu -q", "p --mu - x", "p --mu -- -1", "p -- --mu -1"] {
            assert_eq!(joined(same), same);
        }
    }
}
