//! `cr-solve smear`: smeared links of a gauge configuration.

use super::links_file::{self, Beginning, Destination, Rewritten};
use super::links_output::help_on_configuration;
use super::smearing::SmearingOptions;
use lattice_cl::gauge::{plaquette, smear_on};
use lattice_cli::common::Common;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::lattice::input::Input;
use lattice_cli::report::{Report, Table};
use lattice_cli::team::{device_names, select_one};
use serde::Serialize;
use std::path::PathBuf;

/// The command line of `smear`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[arg(value_name = "FILE", help = help_on_configuration())]
    input: PathBuf,
    /// The file to write
    #[arg(value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    smearing: SmearingOptions,
    #[command(flatten)]
    destination: Destination,
    #[command(flatten)]
    reading: Input,
}

#[derive(Serialize)]
struct SmearResult {
    #[serde(flatten)]
    rewritten: Rewritten,
    devices: Vec<String>,
    smearing: String,
    steps: usize,
    /// The average of ⅓ Re tr P of the smeared links.
    plaquette: f64,
    plaquette_spatial: f64,
    plaquette_temporal: f64,
}

/// Reads links, smears them and writes the result.
///
/// # Errors
/// * If a parameter is out of its range.
/// * If the input cannot be read.
/// * If the output cannot be written, or is the input.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let beginning = Beginning::now(report);
    let Some(params) = arguments.smearing.params(report)? else {
        return Err(Failure::usage("no smearing is chosen".to_owned())
            .hint("give --ape ALPHA,N, --stout RHO,N or --hyp A1,A2,A3,N"));
    };
    let host_only = (!params.smearing.has_kernels()).then(|| format!("{} smearing", params.smearing.name()));
    let output = arguments.destination.prepare(&arguments.input, &arguments.output)?;
    let team = select_one(common, host_only.as_deref(), report)?;
    let file = arguments.reading.read(&arguments.input, report)?;
    links_file::note_on_precision(&arguments.input, &file, report);
    let spinner = report.spinner("smearing");
    let smeared = smear_on(&team, &file.configuration, &params)?;
    spinner.finish_and_clear();
    links_file::write(&output, &smeared, &params.to_string(), (&arguments.input, &file.facts), report)?;
    let found = plaquette(&smeared);
    let outcome = SmearResult {
        rewritten: Rewritten::new(beginning, &team, (&arguments.input, &file), &output),
        devices: device_names(&team),
        smearing: params.to_string(),
        steps: params.steps,
        plaquette: found.average,
        plaquette_spatial: found.spatial,
        plaquette_temporal: found.temporal,
    };
    report.result(table(&outcome), &outcome)?;
    Ok(Status::Fine)
}

fn table(outcome: &SmearResult) -> Table {
    let SmearResult { plaquette, plaquette_spatial, plaquette_temporal, .. } = outcome;
    outcome.rewritten.table(|table| {
        table.line("device", outcome.devices.join(", "));
        table.line("smearing", &outcome.smearing);
        table.line(
            "plaquette",
            format_args!(
                "{plaquette:.12} (spatial {plaquette_spatial:.12}, temporal {plaquette_temporal:.12})"
            ),
        );
    })
}
