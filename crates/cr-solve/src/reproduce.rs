//! `cr-solve reproduce`: does the job of an earlier result again, and compares.

use super::comparison::Comparison;
use super::run::show_of;
use crate::lattice::perform::perform;
use lattice_cl::io;
use lattice_cl::job::{Job, OneOrMore, Outputs};
use lattice_cli::common::Common;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::report::{Report, Table, path_text, scientific};
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

/// The command line of `reproduce`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The result of a job, HDF5 or JSON
    file: PathBuf,
    /// The gauge configuration, if it is not where it was
    #[arg(long, value_name = "FILE")]
    configuration: Option<PathBuf>,
    /// Largest difference on other devices, as a share of the largest number of a list [default: 1000 times the
    /// job's tolerance]
    #[arg(long)]
    tolerance: Option<f64>,
}

/// The outcome of a comparison.
#[derive(Serialize)]
struct Reproduction {
    schema_version: u32,
    #[serde(serialize_with = "path_text")]
    file: PathBuf,
    /// `true` if the links are those of the earlier result.
    same_links: bool,
    /// `true` if all bits must agree, because the devices and drivers are alike.
    same_devices: bool,
    /// The largest difference allowed; 0 on the same devices.
    tolerance: f64,
    reproduced: bool,
    #[serde(flatten)]
    comparison: Comparison,
}

/// Reads the result, does its job without writing files, and compares the numbers.
///
/// # Errors
/// When the file has no job, when the job fails, and when the numbers disagree.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let earlier = io::read_results(&arguments.file)?;
    let mut job = job_of(&earlier).map_err(|problem| {
        let message = format!("{}: {problem}", arguments.file.display());
        let failure = Failure::new(Status::File, anyhow::Error::msg(message));
        failure.hint("name a file of --results, or what `cr-solve run --json` printed")
    })?;
    job.outputs = Outputs::default().with_along(job.outputs.along);
    if let Some(file) = &arguments.configuration {
        job.configuration.file = Some(file.clone());
    }
    let mut common = common.clone();
    if common.device.is_empty() {
        common.device = job.devices.device.iter().flat_map(OneOrMore::as_slice).cloned().collect();
    }
    report.keep_result();
    perform(&job, show_of(&job), &common, report)?;
    let again = report.take_result().unwrap_or_default();
    let agrees = |pointer: &str| earlier.pointer(pointer) == again.pointer(pointer);
    let same_devices = agrees("/provenance/devices") && agrees("/devices") && agrees("/grid");
    let tolerance = match (same_devices, arguments.tolerance) {
        (true, None) => 0.0,
        (_, given) => given.unwrap_or(1000.0 * job.solver.tolerance()),
    };
    let comparison = Comparison::of(&earlier, &again, same_devices);
    let outcome = Reproduction {
        schema_version: 1,
        file: arguments.file.clone(),
        same_links: agrees("/configuration/blake3"),
        same_devices,
        tolerance,
        reproduced: comparison.others.is_empty() && comparison.largest_difference <= tolerance,
        comparison,
    };
    report.result(table(&outcome), &outcome)?;
    if outcome.reproduced {
        return Ok(Status::Fine);
    }
    let what = match outcome.same_links {
        true => "the numbers are not those of the earlier result",
        false => "the links are not those of the earlier result",
    };
    Err(Failure::new(Status::Failed, anyhow::Error::msg(format!("{}: {what}", arguments.file.display()))))
}

fn job_of(result: &Value) -> Result<Job, String> {
    let job = result.pointer("/job/resolved").ok_or("the result has no job")?;
    serde_json::from_value(job.clone())
        .map_err(|error| format!("the job of the result cannot be used: {error}"))
}

fn table(outcome: &Reproduction) -> Table {
    let Reproduction { comparison, same_devices, tolerance, .. } = outcome;
    let mut table = Table::default();
    table.line("result", outcome.file.display());
    table.line("links", if outcome.same_links { "the same" } else { "OTHERS" });
    let demand = match same_devices {
        true => "the same kind: all bits must agree".to_owned(),
        false => format!("others: numbers must agree to {}", scientific(*tolerance, 1)),
    };
    table.line("devices", demand);
    table.line(
        "compared",
        format_args!("{} numbers, {} with other bits", comparison.numbers, comparison.other_bits),
    );
    if comparison.other_bits > 0 {
        let difference = scientific(comparison.largest_difference, 2);
        table.line("largest difference", format_args!("{difference} at {}", comparison.place));
    }
    if !comparison.others.is_empty() {
        table.line("not alike", comparison.others.join(", "));
    }
    table.line("reproduced", if outcome.reproduced { "yes" } else { "NO" });
    table
}
