//! `cr-solve run`: does what a job file says.

use super::job_file::{EXAMPLE, JobFile};
use crate::lattice::invert::{self, Invert};
use crate::lattice::outputs::destinations;
use crate::lattice::perform::{Show, perform, with_devices};
use crate::lattice::spectrum::{self, Spectrum};
use lattice_cl::job::{Job, OneOrMore, Task};
use lattice_cli::choices::word;
use lattice_cli::common::Common;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::ranks::Ranks;
use lattice_cli::report::Report;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The command line of `run`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The job: the options of invert or spectrum as TOML, in tables by what they are about; - for standard input
    #[arg(required_unless_present_any = ["example", "schema"])]
    file: Option<PathBuf>,
    /// Print a job file to begin with
    #[arg(long, conflicts_with_all = ["file", "set"])]
    example: bool,
    /// Print the JSON schema of job files, or of the results of a command
    #[arg(long, value_parser = word::<Documents>(), value_name = "OF", num_args = 0..=1, default_missing_value = "job")]
    #[arg(conflicts_with_all = ["file", "set", "example"])]
    schema: Option<Documents>,
    /// Give a key this TOML value, whatever the file says; several times for several keys
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// Reads the job and does it.
///
/// The result contains the job, with all defaults.
///
/// # Errors
/// When the job makes no sense, and when `perform` fails.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let Some(file) = &arguments.file else {
        match arguments.schema {
            Some(documents) => report.text(documents.schema())?,
            None => report.text(EXAMPLE.trim_end())?,
        }
        return Ok(Status::Fine);
    };
    let hint = |failure| hint_of_keys(failure, file);
    let job = JobFile::read(file, &arguments.set, &common.ranks).map_err(hint)?.job;
    expect_spared(file, &job, &common.ranks)?;
    let mut common = common.clone();
    if common.device.is_empty() {
        common.device = job.devices.device.iter().flat_map(OneOrMore::as_slice).cloned().collect();
    }
    let resolved = with_devices(job.resolved(), &common.device);
    let told = json!({ "file": file.display().to_string(), "set": arguments.set, "resolved": resolved });
    report.add_to_result("job", told);
    perform(&job, show_of(&job), &common, report).map_err(hint)
}

/// Tells in a failure that names options that they are keys of the job file.
pub fn hint_of_keys(failure: Failure, file: &Path) -> Failure {
    let names_options = failure.hints.iter().any(|hint| hint.contains("--"));
    if failure.status == Status::Usage || names_options {
        failure.hint(format!("each option --NAME is the key NAME in {}", file.display()))
    } else {
        failure
    }
}

/// Returns how the result of a job is shown.
pub fn show_of(job: &Job) -> &'static dyn Show {
    match job.command {
        Task::Invert => &Invert,
        Task::Spectrum => &Spectrum,
    }
}

/// Documents that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Documents {
    Job,
    Invert,
    Spectrum,
}

lattice_files::words! {
    Documents, "kind of documents":
    Job = "job", "Job files"; Invert = "invert", "Results of invert"; Spectrum = "spectrum", "Results of spectrum"
}

impl Documents {
    /// Returns the JSON schema.
    fn schema(self) -> String {
        let schema = match self {
            Self::Job => Job::schema(),
            Self::Invert => invert::schema(),
            Self::Spectrum => spectrum::schema(),
        };
        serde_json::to_string_pretty(&schema).expect("a schema is JSON")
    }
}

/// Checks that no output overwrites the job file.
fn expect_spared(file: &Path, job: &Job, ranks: &Ranks) -> Result<(), Failure> {
    match destinations(job, ranks)?.option_of(file) {
        Some(option) => {
            let name = option.trim_start_matches('-');
            let message = format!("{name} would overwrite the job file {}", file.display());
            Err(Failure::usage(message).hint("give it another name"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::job_keys::tables;
    use super::*;
    use clap::{Args, Command};

    /// Returns the options of a task, as the command line's parser calls them.
    fn options(task: Task) -> Vec<String> {
        let command = Command::new("job");
        let command = match task {
            Task::Invert => invert::Arguments::augment_args(command),
            Task::Spectrum => spectrum::Arguments::augment_args(command),
        };
        command.get_arguments().map(|option| option.get_id().to_string()).collect()
    }

    #[test]
    fn the_keys_of_a_job_are_the_options_of_its_task() {
        // A name for source, the name in results, and the name of a table need no option. Several
        // sources need a file.
        let of_files = ["kind", "label", "smearing", "slices", "parts", "from", "quarks", "current-momenta"];
        // `--device` is an option of every command.
        let of_others = [
            (
                Task::Invert,
                &["device", "along", "report", "smear-sink", "hadrons", "momenta", "average-momenta"][..],
            ),
            (Task::Spectrum, &["device", "spin", "colour"]),
        ];
        for (task, of_other) in of_others {
            let tables = tables().iter().filter(|table| !table.is_list);
            let keys = tables.flat_map(|table| table.keys.iter().map(|(name, _)| name.as_str()));
            let mut keys: Vec<String> = keys
                .filter(|name| !of_other.contains(name) && !of_files.contains(name))
                .map(|name| name.replace('-', "_"))
                .collect();
            let mut options = options(task);
            options.sort();
            keys.sort();
            assert_eq!(keys, options, "{task}: a job has every option, and no key but those of files");
        }
    }
}
