//! `cr-solve info`: what a gauge configuration is, and whether it is what it claims.

use super::arguments::{Input, path_text};
use super::failure::{Failure, Status};
use super::report::{Report, Table};
use lattice_cl::host::{Plaquette, Unitarity, link_trace, plaquette, polyakov_loop, unitarity};
use lattice_cl::io::{Checksum, Format, GaugeFile, HeaderCheck, UNITARITY_LIMIT};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The command line of `info`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The gauge configuration: ILDG, SciDAC, NERSC or MILC
    file: PathBuf,
    #[command(flatten)]
    input: Input,
}

#[derive(Serialize)]
struct Outcome {
    schema_version: u32,
    #[serde(serialize_with = "path_text")]
    file: PathBuf,
    format: Format,
    dims: [usize; 4],
    precision: u32,
    plaquette: Plaquette,
    link_trace: f64,
    polyakov: [f64; 2],
    #[serde(flatten)]
    unitarity: Unitarity,
    checksum: Option<Checksum>,
    header_checks: Vec<HeaderCheck>,
    fields: usize,
    header: Vec<(String, String)>,
}

/// Reads a configuration and reports on it, also when it disagrees with its checks; the status then tells.
///
/// # Errors
/// When the file cannot be read or is not valid, and when it disagrees with its checks.
pub fn run(arguments: &Arguments, report: &Report) -> Result<Status, Failure> {
    let (file, failure) = match arguments.input.read(&arguments.file, report) {
        Ok(file) => (file, None),
        Err(failure) => {
            // What a damaged file holds is of interest all the more.
            let lenient = Input { ignore_checksum: true, ignore_unitarity: true, ..arguments.input };
            match lenient.read(&arguments.file, report) {
                Ok(file) => (file, Some(failure)),
                Err(_) => return Err(failure),
            }
        }
    };
    let outcome = Outcome::of(&arguments.file, file);
    report.result(table(&outcome, report.is_verbose()), &outcome)?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    let doubts = doubts(&outcome);
    if !doubts.is_empty() {
        report.warning(format_args!("{}: {}", arguments.file.display(), doubts.join("; ")));
    }
    Ok(Status::Fine)
}

impl Outcome {
    fn of(path: &Path, file: GaugeFile) -> Self {
        let configuration = file.configuration;
        let polyakov = polyakov_loop(&configuration);
        Self {
            schema_version: 1,
            file: path.to_owned(),
            format: file.format,
            dims: configuration.dims().extents(),
            precision: configuration.precision().bits(),
            plaquette: plaquette(&configuration),
            link_trace: link_trace(&configuration),
            polyakov: [polyakov.re, polyakov.im],
            unitarity: unitarity(&configuration),
            checksum: file.checksum,
            header_checks: file.header_checks,
            fields: file.fields,
            header: file.facts,
        }
    }
}

/// What speaks against the file, in words.
fn doubts(outcome: &Outcome) -> Vec<String> {
    let mut doubts = Vec::new();
    if outcome.checksum.as_ref().is_some_and(|checksum| !checksum.ok) {
        doubts.push("the checksum does not match".to_owned());
    }
    let mismatches = outcome.header_checks.iter().filter(|check| !check.ok);
    doubts.extend(mismatches.map(|check| format!("the {} does not match", check.quantity)));
    let Unitarity { unitarity_deviation, determinant_deviation } = outcome.unitarity;
    // So put that NaN is a doubt as well.
    if ![unitarity_deviation, determinant_deviation].iter().all(|deviation| *deviation <= UNITARITY_LIMIT) {
        doubts.push("links are far from SU(3)".to_owned());
    }
    doubts
}

/// Twelve digits; of what links of SU(3) cannot give no hundreds of them.
fn digits(value: f64) -> String {
    if value.abs() < 1e6 { format!("{value:.12}") } else { format!("{value:e}") }
}

fn table(outcome: &Outcome, verbose: bool) -> Table {
    let Plaquette { average, spatial, temporal } = outcome.plaquette;
    let [re, im] = outcome.polyakov;
    let Unitarity { unitarity_deviation, determinant_deviation } = outcome.unitarity;
    let mut table = Table::default();
    table.line("file", outcome.file.display());
    table.line("format", outcome.format);
    table.line("extents", outcome.dims.map(|extent| extent.to_string()).join("x"));
    table.line("precision", format_args!("{} bits", outcome.precision));
    let [average, spatial, temporal, re] = [average, spatial, temporal, re].map(digits);
    let sign = if im.is_sign_negative() { "" } else { "+" };
    table.line("plaquette", format_args!("{average} (spatial {spatial}, temporal {temporal})"));
    table.line("link trace", digits(outcome.link_trace));
    table.line("Polyakov loop", format_args!("{re} {sign}{} i", digits(im)));
    table.line("unitarity", format_args!("largest |U U† − 1| = {unitarity_deviation:.2e}"));
    table.line("determinant", format_args!("largest |det U − 1| = {determinant_deviation:.2e}"));
    match &outcome.checksum {
        None => table.line("checksum", "none in the file"),
        Some(Checksum { kind, stored, ok: true, .. }) => {
            table.line("checksum", format_args!("{kind} {stored}, verified"));
        }
        Some(Checksum { kind, stored, computed, ok: false }) => {
            table.line("checksum", format_args!("{kind} MISMATCH: stored {stored}, computed {computed}"));
        }
    }
    for HeaderCheck { quantity, stored, computed, ok, .. } in &outcome.header_checks {
        let verdict = if *ok { "verified" } else { "MISMATCH" };
        table.line("header", format_args!("{quantity} {verdict}: stored {stored}, computed {computed}"));
    }
    if outcome.fields > 1 {
        table.line("fields", format_args!("{}; this is the first", outcome.fields));
    }
    for (name, value) in outcome.header.iter().filter(|_| verbose) {
        table.line("says", format_args!("{name} = {value}"));
    }
    table
}
