//! `cr-solve convert`: another format or precision for a file.
//!
//! The file holds a gauge configuration or a propagator.

use super::links_file::FileSummary;
use super::links_output::{DESCRIPTION, LOGICAL_FILE_NAME, Output, help_on_format};
use lattice_cl::geometry::Dims;
use lattice_cl::io::{self, Format, GaugeFile, Propagator, PropagatorFormat, PropagatorWriter};
use lattice_cl::scalar::Precision;
use lattice_cli::choices::word;
use lattice_cli::destinations::{ANY, Destinations, Overwriting};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::lattice::input::Input;
use lattice_cli::report::{Report, Table, path_text, scientific};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

/// The command line of `convert`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Gauge configuration or propagator to read; - is standard input, for a configuration
    input: PathBuf,
    /// The file to write
    output: PathBuf,
    #[arg(long, help = help_on_format_of_any())]
    format: Option<String>,
    /// Precision of the file: double or single [default: that of the input]
    #[arg(long, value_parser = word::<Precision>(), hide_possible_values = true)]
    precision: Option<Precision>,
    /// Replace every link by the nearest element of SU(3)
    ///
    /// The output is in double precision if the format has it.
    #[arg(long)]
    reunitarise: bool,
    /// Logical file name of an ILDG file [default: that of the input, or the output's name]
    #[arg(long, value_name = "NAME")]
    lfn: Option<String>,
    #[command(flatten)]
    overwriting: Overwriting,
    #[command(flatten)]
    reading: Input,
}

#[derive(Serialize)]
struct ConvertResult {
    schema_version: u32,
    dims: [usize; 4],
    input: FileSummary,
    output: FileSummary,
    /// Largest change of an entry of a link by re-unitarising, as an absolute value.
    reunitarised: Option<f64>,
    lost: Vec<String>,
    seconds: f64,
}

/// Reads one file and writes the other.
///
/// # Errors
/// When the input cannot be read or fails its checks. When the output cannot be written or is the
/// input.
pub fn run(arguments: &Arguments, report: &Report) -> Result<Status, Failure> {
    let began = Instant::now();
    // A pipe can be read but once, and is taken for a configuration.
    if arguments.reading.input_format.is_none()
        && arguments.input.is_file()
        && io::holds_propagator(&arguments.input)?
    {
        return propagator(arguments, report);
    }
    let format = arguments.format.as_deref().map(Format::from_str).transpose();
    let format = format.map_err(|error| Failure::usage(error.to_string()))?;
    let Arguments { input, output, precision, overwriting, lfn, .. } = arguments;
    let output =
        Output::prepare(Some(input), output, format, *precision, *overwriting)?.with_lfn(lfn.clone())?;
    let mut file = arguments.reading.read(&arguments.input, report)?;
    let read = file.configuration.precision();
    let reunitarised = match arguments.reunitarise {
        true => Some(reunitarise(&mut file, &arguments.input)?),
        false => None,
    };
    let written = output.precision_of(file.configuration.precision());
    let carried = |name| fact(&file, name).filter(|_| output.format.takes_over(name)).map(str::to_owned);
    let lfn = carried(LOGICAL_FILE_NAME).filter(|lfn| !is_own_name(lfn, &arguments.input));
    output.write(&file.configuration, lfn, carried(DESCRIPTION), report)?;

    let dims = file.configuration.dims();
    let outcome = ConvertResult {
        schema_version: 1,
        dims: dims.extents(),
        input: FileSummary { file: arguments.input.clone(), format: file.format, precision: read.bits() },
        lost: losses(&file, &arguments.input, output.format, written),
        output: FileSummary { file: output.path, format: output.format, precision: written.bits() },
        reunitarised,
        seconds: began.elapsed().as_secs_f64(),
    };
    for lost in &outcome.lost {
        report.warning(lost);
    }
    report.result(table(&outcome, dims), &outcome)?;
    Ok(Status::Fine)
}

#[derive(Serialize)]
struct PropagatorResult {
    schema_version: u32,
    dims: [usize; 4],
    input: PropagatorFile,
    output: PropagatorFile,
    /// Number of solutions.
    solutions: usize,
    lost: Vec<String>,
    seconds: f64,
}

/// A file of a propagator in a result.
#[derive(Serialize)]
struct PropagatorFile {
    #[serde(serialize_with = "path_text")]
    file: PathBuf,
    format: PropagatorFormat,
    precision: u32,
}

/// Writes a propagator in another format.
///
/// The numbers stay as they are: no format says its normalisation, and none is changed.
fn propagator(arguments: &Arguments, report: &Report) -> Result<Status, Failure> {
    let began = Instant::now();
    if arguments.reunitarise || arguments.lfn.is_some() {
        let message = "--reunitarise and --lfn are for gauge configurations, and the input is a propagator";
        return Err(Failure::usage(message.to_owned()).hint("leave them out"));
    }
    let named = arguments.format.as_deref().map(PropagatorFormat::from_str).transpose();
    let named = named.map_err(|error| Failure::usage(error.to_string()))?;
    let Some(format) = named.or_else(|| PropagatorFormat::of_file_name(&arguments.output)) else {
        let message = format!("the name {} does not tell the format to write", arguments.output.display());
        return Err(Failure::usage(message).hint("give --format scidac, lalibe-hdf5, pyquda-hdf5 or npy"));
    };
    Destinations::reading([&arguments.input])
        .writing("the output", ANY, [&arguments.output])
        .check(arguments.overwriting)?;
    let propagator = arguments.reading.read_propagator(&arguments.input, report)?;
    let Propagator { format: read_format, dims, records, .. } = propagator;
    let read = records.iter().map(|record| record.precision).max().unwrap_or(Precision::Double);
    let written = arguments.precision.map_or(read, Into::into);
    let info = format!("of {}", arguments.input.display());
    let mut writer = PropagatorWriter::create_as(&arguments.output, format, dims, written, &info)?;
    let solutions = records.len();
    // Each solution leaves memory when it is written.
    for record in records {
        writer.write(record.spin, record.colour, &record.field)?;
    }
    writer.finish()?;
    let mut lost = Vec::new();
    if written < read {
        lost.push(format!("the spinors are rounded from {read} to {written} precision"));
    }
    let file = |file: &Path, format, precision: Precision| PropagatorFile {
        file: file.to_owned(),
        format,
        precision: precision.bits(),
    };
    let outcome = PropagatorResult {
        schema_version: 1,
        dims: dims.extents(),
        input: file(&arguments.input, read_format, read),
        output: file(&arguments.output, format, written),
        solutions,
        lost,
        seconds: began.elapsed().as_secs_f64(),
    };
    for lost in &outcome.lost {
        report.warning(lost);
    }
    let mut table = Table::default();
    table.line("extents", dims);
    for (name, PropagatorFile { file, format, precision }) in
        [("input", &outcome.input), ("output", &outcome.output)]
    {
        table.line(name, format_args!("{}, {format}, {precision} bits", file.display()));
    }
    table.line("solutions", outcome.solutions);
    report.result(table, &outcome)?;
    Ok(Status::Fine)
}

/// Returns the help of `--format` of `convert`.
fn help_on_format_of_any() -> String {
    help_on_format() + "; a propagator: scidac, lalibe-hdf5, pyquda-hdf5 or npy"
}

/// Projects the links of a file to SU(3).
///
/// Returns the largest change of an entry.
fn reunitarise(file: &mut GaugeFile, path: &Path) -> Result<f64, Failure> {
    let reunitarised = file.configuration.reunitarised();
    let (configuration, change) = reunitarised.map_err(|error| {
        let message = format!("{}: {error}", path.display());
        Failure::new(Status::File, anyhow::Error::msg(message))
    })?;
    file.configuration = configuration;
    Ok(change)
}

/// Tells whether a logical file name is only the name of the file.
///
/// Another file does not take over such a name.
fn is_own_name(lfn: &str, path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == lfn)
}

/// Records of LIME files that need no mention in a list of losses.
///
/// Their content is the configuration, is carried over, or is named separately if it is lost.
const KNOWN_RECORDS: [&str; 10] = [
    "scidac-private-file-xml",
    "scidac-file-xml",
    "scidac-private-record-xml",
    "scidac-record-xml",
    "ildg-format",
    "ildg-binary-data",
    "scidac-binary-data",
    "scidac-checksum",
    "ildg-data-lfn",
    "xlf-info",
];

/// Most records that a message names.
const MOST_NAMED: usize = 12;

fn fact<'a>(file: &'a GaugeFile, name: &str) -> Option<&'a str> {
    file.facts.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
}

/// Lists what the input has and the output lacks.
fn losses(file: &GaugeFile, path: &Path, format: Format, written: Precision) -> Vec<String> {
    let mut lost = Vec::new();
    let stored = file.configuration.precision();
    if written < stored {
        lost.push(format!("the links are rounded from {stored} to {written} precision"));
    }
    if file.fields > 1 {
        lost.push(format!("only the first of {} fields is written", file.fields));
    }
    let not_carried_over: Vec<_> = Format::provenance()
        .into_iter()
        .filter(|&name| !format.takes_over(name))
        .filter_map(|name| fact(file, name).map(|value| (name, value)))
        .filter(|&(name, value)| name != LOGICAL_FILE_NAME || !is_own_name(value, path))
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if !not_carried_over.is_empty() {
        lost.push(format!("not carried over from the header: {}", not_carried_over.join("; ")));
    }
    let records = fact(file, "records").unwrap_or_default().split(", ");
    let mut unknown: Vec<_> =
        records.filter(|kind| !kind.is_empty() && !KNOWN_RECORDS.contains(kind)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    if !unknown.is_empty() {
        let named = unknown.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = match unknown.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        lost.push(format!("not carried over are the records {named}{more}"));
    }
    lost
}

fn table(outcome: &ConvertResult, dims: Dims) -> Table {
    let mut table = Table::default();
    table.line("extents", dims);
    table.line("input", &outcome.input);
    table.line("output", &outcome.output);
    if let Some(change) = outcome.reunitarised {
        table.line("re-unitarised", format_args!("largest change of an entry {}", scientific(change, 2)));
    }
    table
}
