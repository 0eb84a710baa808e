//! What all ranks of a job must have in common, compared before they begin.
//!
//! Ranks with different options would wait for each other for ever, or compute with a mixture. So
//! they compare their command lines, their environment, their jobs and their input files.

use super::failure::{Failure, Status};
use crate::provenance::COMMIT;
use clap::{ArgMatches, Command};
use lattice_cl::io;
use lattice_compute::mpi::{LIBRARY_VARIABLE, PATIENCE_VARIABLE};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// Options that each rank may have for itself.
///
/// Devices are compared when they are open, because their names differ between machines.
const OWN_OPTIONS: [&str; 6] = ["json", "quiet", "verbose", "color", "no_color", "device"];

/// The beginning of the names of environment variables that count.
const VARIABLES: &str = "LATTICE_CL_";

/// Environment variables that each rank may have for itself.
const OWN_VARIABLES: [&str; 3] = [LIBRARY_VARIABLE, PATIENCE_VARIABLE, "LATTICE_CL_TUNING_FILE"];

/// Facts about a rank, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The reason why the rank cannot begin.
    refusal: Option<String>,
    /// A text that is the same if the facts are.
    ///
    /// Options of one meaning may be written in several ways.
    sum: String,
    facts: Vec<(String, String)>,
}

impl Facts {
    /// Returns the facts of a command line that is refused.
    pub fn refused(message: &str) -> Self {
        let line = message.lines().next().unwrap_or_default();
        let line = line.strip_prefix("error: ").unwrap_or(line);
        Self { refusal: Some(line.to_owned()), ..Self::default() }
    }

    /// Returns the facts of a command line, and of its environment.
    ///
    /// `meaning` has all options that count, as the program understands them.
    pub fn of_command_line(command: &Command, matches: &ArgMatches, meaning: &str) -> Self {
        let commit = COMMIT.unwrap_or("unknown");
        let version = format!("{} ({commit})", env!("CARGO_PKG_VERSION"));
        let mut facts = vec![("version".to_owned(), version)];
        let mut variables: Vec<(String, String)> = std::env::vars_os()
            .map(|(name, value)| [name, value].map(|text| text.to_string_lossy().into_owned()))
            .map(|[name, value]| (name, value))
            .filter(|(name, _)| name.starts_with(VARIABLES) && !OWN_VARIABLES.contains(&name.as_str()))
            .collect();
        variables.sort();
        let (mut command, mut matches) = (command, matches);
        let mut names = Vec::new();
        let mut options = Vec::new();
        loop {
            for argument in
                command.get_arguments().filter(|own| !OWN_OPTIONS.contains(&own.get_id().as_str()))
            {
                let Ok(Some(values)) = matches.try_get_raw(argument.get_id().as_str()) else { continue };
                let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
                let name = match argument.get_long() {
                    Some(long) => format!("--{long}"),
                    None => argument.get_id().to_string(),
                };
                options.push((name, values.join(" ")));
            }
            let Some((name, of_name)) = matches.subcommand() else { break };
            names.push(name);
            let Some(subcommand) = command.find_subcommand(name) else { break };
            (command, matches) = (subcommand, of_name);
        }
        facts.push(("command".to_owned(), names.join(" ")));
        facts.extend(variables);
        let sum = blake3::hash(format!("{facts:?} {meaning}").as_bytes()).to_string();
        facts.extend(options);
        Self { refusal: None, sum, facts }
    }

    /// Returns the facts of a document: a fact for each value in it.
    pub fn of_document(document: &Value) -> Self {
        let mut facts = Vec::new();
        flatten(String::new(), document, &mut facts);
        Self { refusal: None, sum: blake3::hash(document.to_string().as_bytes()).to_string(), facts }
    }

    /// Returns the facts of a file that was read.
    pub fn of_file(file: &Path, identity: String) -> Self {
        Self { refusal: None, sum: identity.clone(), facts: vec![(file.display().to_string(), identity)] }
    }

    /// Returns the facts of files that all ranks read.
    ///
    /// A file that is not there is a fact too.
    pub fn of_files<'a>(files: impl IntoIterator<Item = &'a Path>) -> Self {
        let fact = |file: &Path| {
            let identity = io::file_identity(file).map_err(|error| error.to_string());
            (file.display().to_string(), identity.unwrap_or_else(|error| error))
        };
        let facts: Vec<_> = files.into_iter().map(fact).collect();
        Self { refusal: None, sum: format!("{facts:?}"), facts }
    }
}

/// Adds the values of a document, by their keys.
fn flatten(name: String, value: &Value, facts: &mut Vec<(String, String)>) {
    let inner = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| flatten(inner(key), value, facts)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(k, value)| flatten(inner(&k.to_string()), value, facts));
        }
        value => facts.push((name, value.to_string())),
    }
}

/// What the facts are about, which makes the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Command lines and environments.
    CommandLine,
    /// Jobs, from files or options.
    Job,
    /// Files that are read.
    Files,
}

/// Compares the facts of all ranks, and names the first difference.
///
/// # Errors
/// When a rank differs from the first one.
pub fn expect_alike(about: About, all: &[Facts]) -> Result<(), Failure> {
    if let Some((rank, refusal)) =
        all.iter().enumerate().find_map(|(rank, facts)| Some((rank, facts.refusal.as_ref()?)))
    {
        let message = format!("rank {rank} refuses its command line: {refusal}");
        return Err(Failure::usage(message).hint("start all ranks with one command line"));
    }
    let Some(first) = all.first() else { return Ok(()) };
    let Some(rank) = all.iter().position(|facts| facts.sum != first.sum) else { return Ok(()) };
    let theirs = &all[rank];
    let value = |facts: &Facts, name: &str| {
        let value = facts.facts.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
        value.filter(|value| !value.is_empty())
    };
    let names = first.facts.iter().chain(&theirs.facts).map(|(name, _)| name.as_str());
    let different = |name: &&str| value(first, name) != value(theirs, name);
    let Some(name) = names.clone().find(different) else {
        return Err(Failure::usage(format!("rank {rank} has other options than rank 0"))
            .hint("start all ranks with one command line"));
    };
    let [own, other] = [first, theirs].map(|facts| value(facts, name));
    let has = |value: Option<String>| match value {
        Some(value) if about == About::CommandLine => format!("has {name} {value}"),
        Some(value) => format!("has {name} = {value}"),
        None => format!("has no {name}"),
    };
    Err(match about {
        About::Files => {
            let message = format!("{name}: rank {rank} sees another file under this name than rank 0");
            let failure = Failure::new(Status::File, anyhow::Error::msg(message));
            failure.hint("name a file that all ranks share, or copy it to all machines")
        }
        About::CommandLine => Failure::usage(format!("rank {rank} {}, and rank 0 {}", has(other), has(own)))
            .hint("start all ranks with one command line and one environment"),
        About::Job => Failure::usage(format!(
            "the jobs of the ranks differ: rank {rank} {}, and rank 0 {}",
            has(other),
            has(own)
        ))
        .hint("all ranks need the same job file and the same options"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(about: About, all: &[Facts]) -> String {
        expect_alike(about, all).unwrap_err().error.to_string()
    }

    #[test]
    fn the_first_difference_is_named() {
        let job = |kappa: f64| Facts::of_document(&json!({ "a": 1, "action": { "kappa": [0.1, kappa] } }));
        assert!(expect_alike(About::Job, &[job(0.2), job(0.2), job(0.2)]).is_ok());
        assert!(expect_alike(About::Job, &[]).is_ok());
        let words = "rank 2 has action.kappa.1 = 0.3, and rank 0 has action.kappa.1 = 0.2";
        let said = message(About::Job, &[job(0.2), job(0.2), job(0.3)]);
        assert!(said.ends_with(words), "{said}");
        let less = Facts::of_document(&json!({ "a": 1 }));
        let said = message(About::Job, &[job(0.2), less]);
        assert!(said.contains("rank 1 has no action.kappa.0, and rank 0 has"), "{said}");
    }

    #[test]
    fn a_refusal_comes_first() {
        let all = [Facts::of_document(&json!(1)), Facts::refused("error: unexpected argument\n\nUsage: x")];
        assert_eq!(message(About::CommandLine, &all), "rank 1 refuses its command line: unexpected argument");
    }

    #[test]
    fn options_of_one_meaning_are_alike() {
        let command = || {
            Command::new("cr-solve")
                .arg(clap::Arg::new("verbose").long("verbose").action(clap::ArgAction::SetTrue).global(true))
                .subcommand(
                    Command::new("invert").arg(clap::Arg::new("tol").long("tol").default_value("1e-8")),
                )
        };
        let of = |words: &[&str], meaning: &str| {
            let mut command = command();
            let matches = command.try_get_matches_from_mut(words).unwrap();
            Facts::of_command_line(&command, &matches, meaning)
        };
        let alike = [
            of(&["cr-solve", "invert", "--tol", "1e-3"], "0.001"),
            of(&["cr-solve", "invert", "--tol", "0.001", "--verbose"], "0.001"),
        ];
        assert!(expect_alike(About::CommandLine, &alike).is_ok());
        let other = [alike[0].clone(), of(&["cr-solve", "invert"], "1e-8")];
        assert_eq!(message(About::CommandLine, &other), "rank 1 has --tol 1e-8, and rank 0 has --tol 1e-3");
        let none = [alike[0].clone(), of(&["cr-solve"], "")];
        assert_eq!(
            message(About::CommandLine, &none),
            "rank 1 has no command, and rank 0 has command invert"
        );
    }

    #[test]
    fn files_are_known_by_what_is_in_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let facts = |content: Option<&str>| {
            let _ = std::fs::remove_file(&path);
            content.inspect(|content| std::fs::write(&path, content).unwrap());
            Facts::of_files([path.as_path()])
        };
        let all = [facts(Some("one")), facts(Some("one")), facts(Some("two")), facts(None)];
        assert!(expect_alike(About::Files, &all[..2]).is_ok());
        assert!(expect_alike(About::Files, &[all[3].clone(), facts(None)]).is_ok());
        assert!(message(About::Files, &all[1..3]).contains("a: rank 1 sees another file"));
        assert!(message(About::Files, &all[2..]).contains("a: rank 1 sees another file"));
    }
}
