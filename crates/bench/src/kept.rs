//! Kept results: reading them, and `cr-solve bench show`.

use super::outcome::{BenchmarkRun, Row, SCHEMA_VERSION};
use super::publish::publish;
use anyhow::Context;
use lattice_cl::io;
use lattice_cli::common::Common;
use lattice_cli::destinations::{Destinations, HTML, Overwriting};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::report::Report;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The command line of `bench show`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Output of `bench … --json`; several files are shown beside each other
    #[arg(value_name = "FILE.json", required = true)]
    files: Vec<PathBuf>,
    /// Print the rows as comma-separated values
    #[arg(long)]
    csv: bool,
    /// Write a page with tables and plots, too
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    #[command(flatten)]
    overwriting: Overwriting,
}

/// Shows kept results.
///
/// # Errors
/// When a file cannot be read or holds no such result, or the page cannot be written.
pub fn show(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    if arguments.csv && common.output.json {
        let message = "--csv and --json are two forms of one result; give one of them".to_owned();
        return Err(Failure::usage(message));
    }
    if arguments.files.len() > 1 && common.output.json {
        let message = "--json shows one result, and several files are given".to_owned();
        return Err(Failure::usage(message).hint("name one file, or leave out --json"));
    }
    Destinations::reading(&arguments.files)
        .writing("--report", HTML, &arguments.report)
        .check(arguments.overwriting)?;
    let runs = arguments.files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
    let cells = expect_few_cells(runs.iter().flat_map(|run| &run.rows));
    cells.context("the results together").map_err(|error| Failure::new(Status::File, error))?;
    publish(&runs, arguments.csv, arguments.report.as_deref(), report)?;
    Ok(Status::Fine)
}

/// Most bytes of a file that is read; a result has some hundred kilobytes.
const MOST_BYTES: u64 = 64 << 20;

/// Most cells of a table with all rows and all names of parameters and details.
///
/// A result of `bench all` has some ten thousand.
const MOST_CELLS: usize = 500_000;

/// Reads a result.
///
/// # Errors
/// When the file cannot be read or holds no such result.
pub fn read(file: &Path) -> Result<BenchmarkRun, Failure> {
    let opened = io::read_small_file(file, MOST_BYTES)
        .with_context(|| format!("{}: the result cannot be opened", file.display()));
    let text = opened.map_err(|error| Failure::new(Status::File, error))?;
    let what = || format!("{}: this is no result of bench --json", file.display());
    parse(&text).with_context(what).map_err(|error| Failure::new(Status::File, error))
}

fn parse(text: &[u8]) -> anyhow::Result<BenchmarkRun> {
    let value: Value = serde_json::from_slice(text)?;
    let found = &value["schema_version"];
    if *found != SCHEMA_VERSION {
        anyhow::bail!("schema_version is {found}, and {SCHEMA_VERSION} is wanted: made by another version");
    }
    let mut outcome: BenchmarkRun = serde_json::from_value(value)?;
    let devices = outcome.devices.len();
    for (place, row) in outcome.rows.iter().enumerate() {
        if let Some(number) = row.device.filter(|&number| number >= devices) {
            anyhow::bail!(
                "rows[{place}].device is {number}, and there are only {devices} devices, from 0 on"
            );
        }
    }
    expect_few_cells(outcome.rows.iter())?;
    outcome.leave_out_ceilings_of_caches();
    Ok(outcome)
}

/// Refuses rows that would make an oversized table.
fn expect_few_cells<'r>(rows: impl Iterator<Item = &'r Row> + Clone) -> anyhow::Result<()> {
    let names: BTreeSet<&String> =
        rows.clone().flat_map(|row| row.parameters.keys().chain(row.details.keys())).collect();
    let (count, names) = (rows.count(), names.len());
    let cells = names.saturating_mul(count);
    if cells > MOST_CELLS {
        anyhow::bail!(
            "{count} rows with {names} different names of parameters and details make {cells} cells, more than {MOST_CELLS}"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Benchmark, MeasuredDevice, Samples, Subject};

    fn outcome(rows: usize) -> BenchmarkRun {
        let row = |number: usize| {
            let subject =
                Subject::new(Benchmark::Blas, "axpy").on(0).bytes(1000).with(&format!("n{number}"), 1);
            let mut row = Row::new(subject, Samples { event: vec![], wall: vec![1e-3] }).unwrap();
            // The end of a run fills in the ceiling.
            row.ceiling.as_mut().unwrap().value = 10.0;
            row
        };
        BenchmarkRun {
            devices: vec![MeasuredDevice::host(10.0)],
            rows: (0..rows).map(row).collect(),
            ..BenchmarkRun::new(true)
        }
    }

    fn parsed(outcome: &BenchmarkRun) -> Result<BenchmarkRun, String> {
        parse(serde_json::to_string(outcome).unwrap().as_bytes()).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn a_row_of_a_device_that_is_not_there_is_refused() {
        let mut outcome = outcome(2);
        assert!(parsed(&outcome).is_ok());
        outcome.rows[1].device = Some(7);
        let error = parsed(&outcome).unwrap_err();
        assert!(error.contains("rows[1].device is 7"), "{error}");
        outcome.rows[1].device = None;
        assert!(parsed(&outcome).is_ok());
    }

    #[test]
    fn rows_that_name_everything_differently_are_refused() {
        assert!(parsed(&outcome(600)).is_ok());
        let error = parsed(&outcome(3000)).unwrap_err();
        assert!(error.contains("3000 rows with 3000 different names"), "{error}");
    }
}
