//! `cr-solve smear`: smeared links of a gauge configuration.

use super::Common;
use super::arguments::{Input, help_on_configuration};
use super::failure::{Failure, Status};
use super::links_file::{self, Destination, FileSummary};
use super::provenance::{Configuration, Provenance};
use super::report::{Report, Table};
use super::smearing::SmearingOptions;
use super::team::{device_names, select_one};
use lattice_cl::gauge::{plaquette, smear_on};
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

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
    schema_version: u32,
    configuration: Configuration,
    provenance: Provenance,
    dims: [usize; 4],
    devices: Vec<String>,
    smearing: String,
    steps: usize,
    input: FileSummary,
    output: FileSummary,
    /// The average of ⅓ Re tr P of the smeared links.
    plaquette: f64,
    plaquette_spatial: f64,
    plaquette_temporal: f64,
    seconds: f64,
}

/// Reads links, smears them and writes the result.
///
/// # Errors
/// * If a parameter is out of its range.
/// * If the input cannot be read.
/// * If the output cannot be written, or is the input.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let (began, started) = (Instant::now(), SystemTime::now());
    let Some(params) = arguments.smearing.params(report)? else {
        return Err(Failure::usage("no smearing is chosen".to_owned())
            .hint("give --ape ALPHA,N, --stout RHO,N or --hyp A1,A2,A3,N"));
    };
    let host_only = (!params.smearing.has_kernels()).then(|| format!("{} smearing", params.smearing.name()));
    let team = select_one(common, host_only.as_deref(), report)?;
    let output = arguments.destination.prepare(&arguments.input, &arguments.output)?;
    let file = arguments.reading.read(&arguments.input, report)?;
    links_file::note_on_precision(&arguments.input, &file, report);
    let spinner = report.spinner("smearing");
    let smeared = smear_on(&team, &file.configuration, &params)?;
    spinner.finish_and_clear();
    links_file::write(&output, &smeared, &params.to_string(), (&arguments.input, &file.facts), report)?;
    let found = plaquette(&smeared);
    let outcome = SmearResult {
        schema_version: 1,
        configuration: Configuration::new(&arguments.input, &file.configuration),
        provenance: Provenance::new(&team, started),
        dims: smeared.dims().extents(),
        devices: device_names(&team),
        smearing: params.to_string(),
        steps: params.steps,
        input: FileSummary::of_input(&arguments.input, &file),
        output: FileSummary::of_output(&output),
        plaquette: found.average,
        plaquette_spatial: found.spatial,
        plaquette_temporal: found.temporal,
        seconds: began.elapsed().as_secs_f64(),
    };
    report.result(table(&outcome), &outcome)?;
    Ok(Status::Fine)
}

fn table(outcome: &SmearResult) -> Table {
    let mut table = Table::default();
    table.line("extents", outcome.dims.map(|extent| extent.to_string()).join("x"));
    table.line("configuration", outcome.configuration.fingerprint());
    table.line("device", outcome.devices.join(", "));
    table.line("smearing", &outcome.smearing);
    table.line(
        "plaquette",
        format_args!(
            "{:.12} (spatial {:.12}, temporal {:.12})",
            outcome.plaquette, outcome.plaquette_spatial, outcome.plaquette_temporal
        ),
    );
    table.line("output", &outcome.output);
    table.line("seconds", format_args!("{:.2}", outcome.seconds));
    table
}
