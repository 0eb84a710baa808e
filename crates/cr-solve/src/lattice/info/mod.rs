//! `cr-solve info`: the content of a file, and its verification.

mod configuration;
mod matrix;
mod propagator;
mod verification;

use lattice_cl::io::{Contents, Error, Inspection};
use lattice_cl::linalg::sparse::market::is_market;
use lattice_cl::linalg::sparse::{Problem, Processor};
use lattice_cli::common::Common;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::lattice::input::Input;
use lattice_cli::report::{Report, Table, scientific};
use lattice_cli::team::select_one;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The command line of `info`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Gauge configurations, propagators or matrices; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// One line for each file
    #[arg(long)]
    brief: bool,
    #[command(flatten)]
    input: Input,
}

/// The content of one file.
#[derive(Serialize)]
#[serde(untagged)]
enum FileInfo {
    Configuration(Box<configuration::ConfigurationInfo>),
    Propagator(Box<propagator::PropagatorInfo>),
    Matrix(Box<matrix::MatrixInfo>),
}

/// The results for several files, in one object.
#[derive(Serialize)]
struct InfoResult {
    schema_version: u32,
    files: Vec<FileInfo>,
}

impl FileInfo {
    /// Reads a file, and returns its content and the first check that it fails.
    fn of(
        path: &Path,
        input: &Input,
        common: &Common,
        report: &Report,
    ) -> Result<(Self, Option<Error>), Failure> {
        // What comes through a pipe can be read once only.
        let is_sparse = || is_market(path) || path.extension().is_some_and(|ending| ending == "npz");
        if (path.is_file() && is_sparse()) || Problem::is_named_by(&path.display().to_string()) {
            let place = Processor::of_team(&select_one(common, None, report)?);
            return Ok((Self::Matrix(Box::new(matrix::MatrixInfo::of(path, &place)?)), None));
        }
        Ok(match input.inspect(path, report)? {
            Contents::Configuration(inspection) => {
                let Inspection { file, problem } = *inspection;
                let outcome = configuration::ConfigurationInfo::of(path, file);
                (Self::Configuration(Box::new(outcome)), problem)
            }
            Contents::Propagator(mut summary) => {
                let problem = summary.problem.take();
                (Self::Propagator(Box::new(propagator::PropagatorInfo::of(path, *summary))), problem)
            }
        })
    }

    fn table(&self, verbose: bool) -> Table {
        match self {
            Self::Configuration(outcome) => outcome.table(verbose),
            Self::Propagator(outcome) => outcome.table(verbose),
            Self::Matrix(outcome) => outcome.table(),
        }
    }

    fn line(&self) -> String {
        match self {
            Self::Configuration(outcome) => outcome.line(),
            Self::Propagator(outcome) => outcome.line(),
            Self::Matrix(outcome) => outcome.line(),
        }
    }

    fn doubts(&self) -> Vec<String> {
        match self {
            Self::Configuration(outcome) => outcome.doubts(),
            Self::Propagator(outcome) => outcome.doubts(),
            Self::Matrix(outcome) => outcome.doubts(),
        }
    }
}

/// Reads files and reports on them, even if they fail their checks.
///
/// # Errors
/// When a file cannot be read, is not valid, or fails its checks. If several files fail, the error
/// is that of the last one.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let mut outcomes = Vec::new();
    let mut failures = Vec::new();
    for path in &arguments.files {
        // The content of a damaged file is of interest all the more.
        match FileInfo::of(path, &arguments.input, common, report) {
            Ok((outcome, problem)) => {
                match problem {
                    Some(problem) => failures.push(Failure::from(problem)),
                    None => warn(path, &outcome, report),
                }
                outcomes.push(outcome);
            }
            Err(failure) => failures.push(failure),
        }
    }
    if !outcomes.is_empty() {
        let text = |outcome: &FileInfo| match arguments.brief {
            true => outcome.line(),
            false => outcome.table(report.is_verbose()).to_string(),
        };
        let between = if arguments.brief { "\n" } else { "\n\n" };
        let text = outcomes.iter().map(text).collect::<Vec<_>>().join(between);
        match (outcomes.as_slice(), arguments.files.as_slice()) {
            ([outcome], [_]) => report.result(text, outcome)?,
            _ => report.result(text, &InfoResult { schema_version: 1, files: outcomes })?,
        }
    }
    let Some(last) = failures.pop() else { return Ok(Status::Fine) };
    failures.iter().for_each(|failure| report.failure(failure));
    Err(last)
}

fn warn(path: &Path, outcome: &FileInfo, report: &Report) {
    let doubts = outcome.doubts();
    if !doubts.is_empty() {
        report.warning(format_args!("{}: {}", path.display(), doubts.join("; ")));
    }
}

/// Writes twelve digits behind the point, or an exponent for large numbers.
///
/// Links in SU(3) cannot give such large numbers.
fn digits(value: f64) -> String {
    if value.abs() < 1e6 { format!("{value:.12}") } else { scientific(value, 12) }
}

fn extents(dims: [usize; 4]) -> String {
    dims.map(|extent| extent.to_string()).join("x")
}

/// Returns the beginning of a text from a file, for people.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 1000;
    let mut shortened: String = text.chars().take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        shortened.push_str(" ... (all of it with --json)");
    }
    shortened
}
