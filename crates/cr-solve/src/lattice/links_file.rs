//! A file of links that a command makes of another.

use super::fingerprint::Configuration;
use super::links_output::{DESCRIPTION, Output, help_on_format};
use lattice_cl::compute::{Stopwatch, Team};
use lattice_cl::host::GaugeConfiguration;
use lattice_cl::io::{Format, GaugeFile};
use lattice_cl::scalar::Precision;
use lattice_cli::choices::word;
use lattice_cli::destinations::Overwriting;
use lattice_cli::failure::Failure;
use lattice_cli::provenance::Provenance;
use lattice_cli::report::{Report, Table, path_text};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Options of writing the file.
#[derive(Debug, clap::Args)]
pub struct Destination {
    #[arg(long, help = help_on_format())]
    format: Option<Format>,
    /// Precision of the file: double or single [default: double if the format has it]
    #[arg(long, value_parser = word::<Precision>(), hide_possible_values = true)]
    precision: Option<Precision>,
    /// The logical file name of an ILDG file; by default the name of the output
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    lfn: Option<String>,
    #[command(flatten)]
    overwriting: Overwriting,
}

/// A file of links in a result.
#[derive(Debug, Serialize)]
pub struct FileSummary {
    #[serde(serialize_with = "path_text")]
    pub file: PathBuf,
    pub format: Format,
    pub precision: u32,
}

impl Destination {
    /// Decides how `output` is written, before the work.
    ///
    /// # Errors
    /// The errors of [`Output::prepare`].
    pub fn prepare(&self, input: &Path, output: &Path) -> Result<Output, Failure> {
        Output::prepare(Some(input), output, self.format, self.precision, self.overwriting)?
            .with_lfn(self.lfn.clone())
    }
}

impl FileSummary {
    /// Makes the summary of a file that was read.
    pub fn of_input(path: &Path, file: &GaugeFile) -> Self {
        Self { file: path.to_owned(), format: file.format, precision: file.configuration.precision().bits() }
    }

    /// Makes the summary of a file that links in double were written to.
    pub fn of_output(output: &Output) -> Self {
        let precision = output.precision_of(Precision::Double).bits();
        Self { file: output.path.clone(), format: output.format, precision }
    }
}

impl std::fmt::Display for FileSummary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}, {} bits)", self.file.display(), self.format, self.precision)
    }
}

/// The common part of results of commands that write one file of links.
#[derive(Serialize)]
pub struct Rewritten {
    schema_version: u32,
    configuration: Configuration,
    provenance: Provenance,
    dims: [usize; 4],
    input: FileSummary,
    output: FileSummary,
    seconds: f64,
    /// Compiling kernels, or loading them; `seconds` does not include it.
    compile_seconds: f64,
}

/// The moment at which a command began.
pub struct Beginning(Stopwatch, SystemTime);

impl Beginning {
    /// Takes the time.
    pub fn now(report: &Report) -> Self {
        Self(report.stopwatch(), SystemTime::now())
    }
}

impl Rewritten {
    /// Collects the facts after the file was written.
    pub fn new(
        Beginning(clock, time): Beginning,
        team: &Team,
        input: (&Path, &GaugeFile),
        output: &Output,
    ) -> Self {
        let (path, file) = input;
        Self {
            schema_version: 1,
            configuration: Configuration::new(path, &file.configuration),
            provenance: Provenance::new(team, time),
            dims: file.configuration.dims().extents(),
            input: FileSummary::of_input(path, file),
            output: FileSummary::of_output(output),
            seconds: clock.seconds(),
            compile_seconds: team.compile_time().as_secs_f64(),
        }
    }

    /// Makes a table with the first lines, those that `add` adds, and the last lines.
    pub fn table(&self, add: impl FnOnce(&mut Table)) -> Table {
        let mut table = Table::default();
        table.line("extents", self.dims.map(|extent| extent.to_string()).join("x"));
        table.line("configuration", self.configuration.fingerprint());
        add(&mut table);
        table.line("output", &self.output);
        let (seconds, compile) = (self.seconds, self.compile_seconds);
        table.line("seconds", format_args!("all {seconds:.2}, compile {compile:.2}"));
        table
    }
}

/// Says that links of single precision are taken as they are.
pub fn note_on_precision(path: &Path, file: &GaugeFile, report: &Report) {
    if file.configuration.precision() == Precision::Single {
        report.note(format_args!(
            "the links of {} are in single precision, and stay as far from SU(3) as they are; `cr-solve convert --reunitarise` brings them onto it",
            path.display()
        ));
    }
}

/// Writes links with a description of their origin.
///
/// The description has the command, the input file and that file's own description.
///
/// # Errors
/// If the system refuses.
pub fn write(
    output: &Output,
    links: &GaugeConfiguration,
    done: &str,
    (path, facts): (&Path, &[(String, String)]),
    report: &Report,
) -> Result<(), Failure> {
    let mut description = format!("{done}, of {}", path.display());
    if let Some((_, before)) = facts.iter().find(|(name, _)| name == DESCRIPTION) {
        description.push_str(&format!(": {before}"));
    }
    output.write(links, None, Some(description), report)
}
