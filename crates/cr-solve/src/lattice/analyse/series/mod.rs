//! `cr-solve analyse --series`: the error of a mean from a history of measurements.

mod choice;
mod columns;
mod estimate;
mod file;
mod gaps;
mod json;
mod order;
mod problem;
mod pyerrors;
mod run;

use super::drawing::{Drawing, PageTable};
use choice::{Choice, ColumnChoice};
use estimate::{NamedSeries, SeriesEstimate, estimate, series_of};
use gaps::GapsChoice;
use lattice_cl::compute::parallel::*;
use lattice_cli::choices::word;
use lattice_cli::destinations::Overwriting;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::plot::{self, Plot, PlotError, short_name};
use lattice_cli::report::{Report, Table, align_right, decimal, plain_table, rounded, scientific};
use lattice_statistics::{Autocorrelation, Histogram, Observable, Series, WINDOW_PARAMETER, pulls};
use run::SeriesRun;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Options for histories of measurements.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Histories of measurements")]
pub struct SeriesOptions {
    /// The error of a mean by the Γ method, from numbers that were measured one after the other
    ///
    /// A file has one configuration a line: a number, or columns with commas or spaces between them.
    /// A # begins a comment. JSON has one object for each configuration, or a list, or is of pyerrors.
    /// HDF5 of this program has the same keys.
    /// Several files are independent runs, called replica.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "files")]
    pub series: Vec<PathBuf>,
    /// The column with the measurements: its number from 1 on, its name, or keys of JSON such as energy.clover [default: all columns]
    #[arg(long, value_name = "COLUMN", conflicts_with = "files")]
    column: Option<ColumnChoice>,
    /// The column with the numbers of the configurations
    #[arg(long, value_name = "COLUMN", conflicts_with = "files")]
    numbers: Option<ColumnChoice>,
    /// What missing configurations mean: refuse (the default), account or ignore
    #[arg(long, value_name = "MEANING", value_parser = word::<GapsChoice>(), requires = "numbers")]
    gaps: Option<GapsChoice>,
}

/// One run of a Markov chain.
#[derive(Serialize)]
struct ReplicaSummary {
    /// The file, and the name of the run in it.
    name: String,
    measurements: usize,
}

/// The result of `analyse --series`.
#[derive(Serialize)]
struct SeriesAnalysis {
    schema_version: u32,
    window_parameter: f64,
    replica: Vec<ReplicaSummary>,
    /// The estimate, if one column is read.
    #[serde(flatten)]
    single: Option<SeriesEstimate>,
    /// The estimates, if several columns are read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<SeriesEstimate>,
}

/// Reads the files, estimates the errors, and prints them.
///
/// # Errors
/// When a file is no history, when two files are copies, and when a series has no error.
pub fn run(
    options: &SeriesOptions,
    drawing: Drawing<'_>,
    window_parameter: Option<f64>,
    overwriting: Overwriting,
    report: &Report,
) -> Result<Status, Failure> {
    drawing.destinations(&options.series).check(overwriting)?;
    let window_parameter = window_parameter.unwrap_or(WINDOW_PARAMETER);
    let choice = Choice { column: options.column.clone(), numbers: options.numbers.clone() };
    let mut runs: Vec<SeriesRun> = Vec::new();
    for path in &options.series {
        for run in file::read(path, &choice, options.gaps.unwrap_or_default())? {
            expect_another(&runs, &run)?;
            runs.push(run);
        }
    }
    let replica: Vec<ReplicaSummary> = runs.iter().map(summary).collect();
    let series = series_of(runs)?;
    let is_single = series.len() == 1;
    let what = |column: &str| match (replica.as_slice(), is_single) {
        ([one], true) => one.name.clone(),
        ([one], false) => format!("column {column} of {}", one.name),
        (_, true) => "the series".to_owned(),
        (_, false) => format!("column {column}"),
    };
    let one = |named: &NamedSeries| estimate(named, window_parameter, &what(&named.column));
    let estimates: Vec<Result<SeriesEstimate, Failure>> = series.par_iter().map(one).collect();
    let mut estimates = estimates.into_iter().collect::<Result<Vec<_>, _>>()?;
    for estimate in &estimates {
        let warning = |text: &String| report.warning(format_args!("{}: {text}", what(&estimate.column)));
        estimate.warnings.iter().for_each(warning);
    }
    let plots = match (drawing.wants_one(), drawing.wants_all()) {
        (_, true) => &estimates[..],
        (true, false) => &estimates[..1],
        (false, false) => &[],
    };
    let plots = plots.iter().zip(&series);
    let mut plots: Vec<_> = plots
        .map(|(estimate, named)| autocorrelation(estimate, &named.series, &options.series[0]))
        .collect::<Result<_, _>>()?;
    if drawing.wants_all() {
        plots.extend(series.iter().filter_map(|named| distribution(named, &options.series[0])));
    }
    let single = is_single.then(|| estimates.remove(0));
    let outcome = SeriesAnalysis { schema_version: 1, window_parameter, replica, single, columns: estimates };
    let table = PageTable { title: "Estimates".to_owned(), header: HEADER.to_vec(), rows: rows(&outcome) };
    drawing.write("Errors of histories", &facts(&outcome), plots, [table], report)?;
    report.result(shown(&outcome), &outcome)?;
    Ok(Status::Fine)
}

fn summary(run: &SeriesRun) -> ReplicaSummary {
    ReplicaSummary { name: run.name.clone(), measurements: run.measurements.count() }
}

/// Refuses a run that is a copy of another, or has other columns.
fn expect_another(runs: &[SeriesRun], run: &SeriesRun) -> Result<(), Failure> {
    let failure = |message: String| Failure::new(Status::File, anyhow::Error::msg(message));
    let names = |run: &SeriesRun| run.measurements.names.join(", ");
    let Some(first) = runs.first() else { return Ok(()) };
    if first.measurements.names != run.measurements.names {
        let (found, expected) = (names(run), names(first));
        let message = format!("{} has the columns {found}, and {} has {expected}", run.name, first.name);
        return Err(failure(message).hint("name files of one form, or choose a column with --column"));
    }
    if let Some(other) = runs.iter().find(|other| other.measurements.columns == run.measurements.columns) {
        let message = format!("{} and {} have the same measurements", other.name, run.name);
        return Err(failure(message).hint("name each run once: copies would make the error too small"));
    }
    if first.values != run.values {
        let message = format!("{} and {} are not replica of one observable", first.name, run.name);
        return Err(failure(message).hint("join replica in pyerrors, and name one file"));
    }
    Ok(())
}

/// Draws Γ(t)/Γ(0) beyond the window, and the window.
fn autocorrelation(
    estimate: &SeriesEstimate,
    series: &Series,
    file: &Path,
) -> Result<Result<Plot, PlotError>, Failure> {
    const FEWEST_LAGS: usize = 10;
    let SeriesEstimate { window, spacing, .. } = estimate;
    let autocorrelation = Autocorrelation::of(&Observable::from_series(series))?;
    let autocorrelation = autocorrelation.map_or_else(Vec::new, |function| function.normalised());
    let lags = (2 * window + 1).max(FEWEST_LAGS).min(autocorrelation.len());
    let curve = (0..lags).map(|lag| (lag as f64, autocorrelation[lag])).collect();
    let end = *window as f64;
    let tau_int = format!("window {window}, τ_int {}", rounded(estimate.tau_int, 4));
    let lines = [
        plot::Series { name: "Γ(t)/Γ(0)".to_owned(), points: curve },
        plot::Series { name: tau_int, points: vec![(end, 0.0), (end, 1.0)] },
    ];
    let axes = match spacing {
        1 => ["lag t", "normalised autocorrelation"],
        _ => ["lag t (spacings of configurations)", "normalised autocorrelation"],
    };
    let title = format!("{}, column {}", short_name(file), estimate.column);
    Ok(plot::lines(&title, axes, &lines))
}

/// Draws the distribution of the measurements, beside the normal one; `None` if all are equal.
fn distribution(named: &NamedSeries, file: &Path) -> Option<Result<Plot, PlotError>> {
    const WIDEST: f64 = 4.0;
    let values: Vec<f64> =
        named.series.replica().iter().flat_map(|replica| replica.values()).copied().collect();
    let histogram = Histogram::new(&pulls(&values)?)?;
    let normal = |x: f64| (x, (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt());
    let lines = [
        plot::Series { name: format!("{} measurements", values.len()), points: histogram.outline() },
        plot::Series {
            name: "normal distribution".to_owned(),
            points: (-40..=40).map(|k| normal(WIDEST * f64::from(k) / 40.0)).collect(),
        },
    ];
    let title = format!("{}, column {}", short_name(file), named.column);
    Some(plot::lines(&title, ["(x − mean)/σ", "density"], &lines))
}

const HEADER: [&str; 7] = ["column", "mean", "error", "error of error", "tau_int", "error", "window"];

/// Returns the rows of the table of estimates.
fn rows(outcome: &SeriesAnalysis) -> Vec<Vec<String>> {
    let row = |estimate: &SeriesEstimate| {
        vec![
            estimate.column.clone(),
            scientific(estimate.mean, 10),
            scientific(estimate.error, 2),
            scientific(estimate.error_of_error, 1),
            decimal(estimate.tau_int, 3),
            decimal(estimate.tau_int_error, 3),
            estimate.window.to_string(),
        ]
    };
    outcome.single.iter().chain(&outcome.columns).map(row).collect()
}

/// Returns what all estimates have in common.
fn facts(outcome: &SeriesAnalysis) -> Vec<(&'static str, String)> {
    let replica = outcome.replica.iter();
    let replica = replica.map(|ReplicaSummary { name, measurements }| {
        ("replica", format!("{name}, {measurements} measurements"))
    });
    let window = format!("Γ method with S = {}", rounded(outcome.window_parameter, 6));
    replica.chain([("window", window)]).collect()
}

fn shown(outcome: &SeriesAnalysis) -> String {
    let mut head = Table::default();
    for (name, value) in facts(outcome) {
        head.line(name, value);
    }
    let mut table = plain_table(HEADER);
    align_right(&mut table, &[1, 2, 3, 4, 5, 6]);
    table.add_rows(rows(outcome));
    format!("{head}\n\n{table}")
}
