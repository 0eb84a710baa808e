//! `cr-solve run`: does what a job file says.

use super::Common;
use super::failure::{Failure, Status};
use super::job::{EXAMPLE, FILE, Job, KEYS, Key, Kind, Task};
use super::method::Method;
use super::report::Report;
use super::{invert, spectrum};
use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use lattice_cl::io;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The command line of `run`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The job: the options of invert or spectrum as TOML, in tables by what they are about; - for standard input
    #[arg(required_unless_present = "example")]
    file: Option<PathBuf>,
    /// Print a job file to begin with
    #[arg(long, conflicts_with_all = ["file", "set"])]
    example: bool,
    /// Give a key this TOML value, whatever the file says; several times for several keys
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// Reads the job and does it. The result has the job in it, with all defaults.
///
/// # Errors
/// When the job makes no sense, and as [`invert::run`] and [`spectrum::run`].
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let Some(file) = &arguments.file else {
        report.text(EXAMPLE.trim_end())?;
        return Ok(Status::Fine);
    };
    let job = Job::read(file, &arguments.set)?;
    let mut common = common.clone();
    if common.device.is_empty() {
        common.device = job.devices();
    }
    let matches = command(job.task)
        .no_binary_name(true)
        .try_get_matches_from(job.words())
        .map_err(|error| refused(&job, &error))?;
    let hint = || format!("each option --NAME is the key NAME in {}", file.display());
    let echo = |method: &Method| {
        let resolved = resolved(job.task, &matches, method, &common);
        report.add_to_result(
            "job",
            json!({ "file": file.display().to_string(), "set": arguments.set, "resolved": resolved }),
        );
    };
    let done = match job.task {
        Task::Invert => {
            let arguments =
                invert::Arguments::from_arg_matches(&matches).map_err(|error| refused(&job, &error))?;
            spared(file, &arguments.outputs())?;
            echo(arguments.method());
            invert::run(&arguments, &common, report)
        }
        Task::Spectrum => {
            let arguments =
                spectrum::Arguments::from_arg_matches(&matches).map_err(|error| refused(&job, &error))?;
            spared(file, &arguments.outputs(&[]))?;
            echo(arguments.method());
            spectrum::run(&arguments, &common, report)
        }
    };
    done.map_err(|failure| {
        let names_options = failure.hints.iter().any(|hint| hint.contains("--"));
        if failure.status == Status::Usage || names_options { failure.hint(hint()) } else { failure }
    })
}

/// Checks that no output overwrites the job file.
fn spared(job: &Path, outputs: &[(&'static str, Option<&Path>)]) -> Result<(), Failure> {
    match outputs.iter().find(|(_, path)| path.is_some_and(|path| io::is_same_file(path, job))) {
        Some((option, _)) => {
            let name = option.trim_start_matches('-');
            let message = format!("{name} would overwrite the job file {}", job.display());
            Err(Failure::usage(message).hint("give it another name"))
        }
        None => Ok(()),
    }
}

/// The command line of a task.
fn command(task: Task) -> Command {
    let command = Command::new("job");
    match task {
        Task::Invert => invert::Arguments::augment_args(command),
        Task::Spectrum => spectrum::Arguments::augment_args(command),
    }
}

/// What the parser of the command line has against a value, said of the key.
fn refused(job: &Job, error: &clap::Error) -> Failure {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    let named = text(ContextKind::InvalidArg).unwrap_or_default();
    let name = named.trim_start_matches('-').split([' ', '=']).next().unwrap_or_default();
    let mut problem = match text(ContextKind::InvalidValue) {
        Some(value) => format!("{name} = {value} is not allowed"),
        None => error.kind().to_string(),
    };
    if let Some(cause) = std::error::Error::source(error) {
        problem = format!("{problem}: {cause}");
    }
    if let Some(values) = text(ContextKind::ValidValue) {
        problem = format!("{problem}; choose {values}");
    }
    job.error_at(name, problem).into()
}

/// All keys of a task with their values, defaults included.
fn resolved(task: Task, matches: &ArgMatches, method: &Method, common: &Common) -> Value {
    let mut tables = Map::new();
    tables.insert("command".to_owned(), task.to_string().into());
    for key in KEYS.iter().filter(|key| key.is_of(task)) {
        let value = match key.name {
            // Their defaults depend on other keys.
            "system" | "precision" => method.resolved(key.name).map(Value::from),
            "tol" => Some(method.tolerance().into()),
            _ if key.of_program => Some(match &common.device[..] {
                [] => "auto".into(),
                [one] => one.as_str().into(),
                several => several.into(),
            }),
            _ => value(key, matches),
        };
        if let (Some(value), Value::Object(table)) =
            (value, tables.entry(key.table).or_insert_with(|| Map::new().into()))
        {
            table.insert(key.name.to_owned(), value);
        }
    }
    tables.into()
}

fn value(key: &Key, matches: &ArgMatches) -> Option<Value> {
    let id = identifier(key);
    if key.kind == Kind::Flag {
        return Some(matches.get_flag(&id).into());
    }
    let text = matches.get_raw(&id)?.next()?.to_string_lossy().into_owned();
    Some(match key.kind {
        Kind::Count => text.parse::<u64>().map_or(Value::Null, Value::from),
        Kind::Number => text.parse::<f64>().map_or(Value::Null, Value::from),
        _ => text.into(),
    })
}

/// What the parser of the command line calls an option.
fn identifier(key: &Key) -> String {
    if key.name == FILE { FILE.to_owned() } else { key.name.replace('-', "_") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_a_job_are_the_options_of_its_task() {
        for task in [Task::Invert, Task::Spectrum] {
            let command = command(task);
            let mut options: Vec<String> =
                command.get_arguments().map(|option| option.get_id().to_string()).collect();
            let mut keys: Vec<String> =
                KEYS.iter().filter(|key| key.is_of(task) && !key.of_program).map(identifier).collect();
            options.sort();
            keys.sort();
            assert_eq!(keys, options, "{task}: job::KEYS has every option, and no other key");
        }
    }
}
