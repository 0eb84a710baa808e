//! `cr-solve bench compare` and `bench show`: results that were kept.

use super::outcome::{Outcome, Row, SCHEMA_VERSION};
use super::text::{kind, parameter_values, significant};
use crate::Common;
use crate::failure::{Failure, Status};
use crate::report::{Report, align_right, plain_table};
use crate::statistics::Spread;
use anyhow::Context;
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The command line of `bench compare`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// What `bench … --json` printed before
    #[arg(value_name = "A.json")]
    before: PathBuf,
    /// What it printed after
    #[arg(value_name = "B.json")]
    after: PathBuf,
    /// Show only the rows that moved by more than noise
    #[arg(long)]
    moved: bool,
}

/// The command line of `bench show`.
#[derive(Debug, clap::Args)]
pub struct ShowArguments {
    /// What `bench … --json` printed
    #[arg(value_name = "FILE.json")]
    file: PathBuf,
    /// Print the rows as comma-separated values
    #[arg(long)]
    csv: bool,
    /// Write a page with tables and plots, too
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

/// Shows a result that was kept.
///
/// # Errors
/// When the file cannot be read or is no such result, or the page cannot be written.
pub fn show(arguments: &ShowArguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    if arguments.csv && common.json {
        let message = "--csv and --json are two forms of one result; give one of them".to_owned();
        return Err(Failure::usage(message));
    }
    let outcome = read(&arguments.file)?;
    super::publish(&outcome, arguments.csv, arguments.report.as_deref(), report)?;
    Ok(Status::Fine)
}

fn read(file: &Path) -> Result<Outcome, Failure> {
    let result = || -> anyhow::Result<Outcome> {
        let text = std::fs::read_to_string(file)?;
        let value: Value = serde_json::from_str(&text)?;
        let found = &value["schema_version"];
        if *found != SCHEMA_VERSION {
            anyhow::bail!(
                "schema_version is {found}, and {SCHEMA_VERSION} is wanted: made by another version"
            );
        }
        Ok(serde_json::from_value(value)?)
    };
    let what = || format!("{}: this is no result of bench --json", file.display());
    result().with_context(what).map_err(|error| Failure::new(Status::File, error))
}

#[derive(Serialize)]
struct Comparison {
    schema_version: u32,
    rows: Vec<Compared>,
    /// Rows that only one of the files has.
    only_before: usize,
    only_after: usize,
}

/// One row of both files.
#[derive(Serialize)]
struct Compared {
    device: String,
    benchmark: String,
    kernel: String,
    parameters: Map<String, Value>,
    before_seconds: Spread,
    after_seconds: Spread,
    /// How many times as fast it is after.
    ratio: Spread,
    /// By more than noise: the quartiles of both are apart.
    moved: bool,
}

/// Compares the times of all rows that two files share.
///
/// # Errors
/// When a file cannot be read or is no such result.
pub fn compare(arguments: &Arguments, report: &Report) -> Result<Status, Failure> {
    let (before, after) = (read(&arguments.before)?, read(&arguments.after)?);
    let mut unmatched: Vec<&Row> = after.rows.iter().collect();
    let (mut rows, mut only_before) = (Vec::new(), 0);
    for row in &before.rows {
        let Some(place) = unmatched.iter().position(|other| is_same(row, other)) else {
            only_before += 1;
            continue;
        };
        let other = unmatched.remove(place);
        if let Some((before_seconds, after_seconds)) = row.seconds().zip(other.seconds()) {
            let ratio = ratio(before_seconds, after_seconds);
            rows.push(Compared {
                device: before.device_name(row).to_owned(),
                benchmark: row.benchmark.to_string(),
                kernel: row.kernel.clone(),
                parameters: row.parameters.clone(),
                before_seconds,
                after_seconds,
                moved: ratio.quartile > 1.0 || ratio.upper_quartile < 1.0,
                ratio,
            });
        }
    }
    let comparison =
        Comparison { schema_version: SCHEMA_VERSION, rows, only_before, only_after: unmatched.len() };
    for (device, other) in before.devices.iter().zip(&after.devices) {
        if (&device.label, &device.driver) != (&other.label, &other.driver) {
            report.note(format_args!(
                "{}, driver {} is compared with {}, driver {}",
                device.label, device.driver, other.label, other.driver
            ));
        }
    }
    report.result(table(&comparison, arguments.moved), &comparison)?;
    Ok(Status::Fine)
}

/// Whether two rows are about the same.
fn is_same(a: &Row, b: &Row) -> bool {
    kind(a) == kind(b) && (&a.kernel, a.device, &a.parameters) == (&b.kernel, b.device, &b.parameters)
}

/// Quotient of two times, in the worst case of their quartiles and in the best.
fn ratio(before: Spread, after: Spread) -> Spread {
    Spread {
        quartile: before.quartile / after.upper_quartile,
        median: before.median / after.median,
        upper_quartile: before.upper_quartile / after.quartile,
    }
}

fn table(comparison: &Comparison, moved: bool) -> String {
    let header =
        ["device", "benchmark", "kernel", "parameters", "before µs", "after µs", "ratio", "from", "to", ""];
    let mut table = plain_table(header);
    for row in comparison.rows.iter().filter(|row| row.moved || !moved) {
        table.add_row([
            row.device.clone(),
            row.benchmark.clone(),
            row.kernel.clone(),
            parameter_values(&row.parameters),
            format!("{:.1}", row.before_seconds.median * 1e6),
            format!("{:.1}", row.after_seconds.median * 1e6),
            significant(row.ratio.median),
            significant(row.ratio.quartile),
            significant(row.ratio.upper_quartile),
            match row.moved {
                true if row.ratio.median > 1.0 => "faster",
                true => "slower",
                false => "",
            }
            .to_owned(),
        ]);
    }
    align_right(&mut table, &[4, 5, 6, 7, 8]);
    let moved = comparison.rows.iter().filter(|row| row.moved).count();
    format!(
        "{table}\n{} rows, {moved} of them moved by more than noise: the quartiles are apart. A ratio above 1 is faster after.\n\
         Only before: {} rows; only after: {}.",
        comparison.rows.len(),
        comparison.only_before,
        comparison.only_after
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_has_not_moved() {
        let spread = |quartile, median, upper_quartile| Spread { quartile, median, upper_quartile };
        let moved = |a, b| {
            let ratio = ratio(a, b);
            ratio.quartile > 1.0 || ratio.upper_quartile < 1.0
        };
        let calm = spread(0.9, 1.0, 1.1);
        assert!(!moved(calm, calm));
        assert!(!moved(calm, spread(1.05, 1.2, 1.3)));
        assert!(moved(calm, spread(1.15, 1.2, 1.3)) && moved(calm, spread(0.7, 0.8, 0.89)));
        assert_eq!(ratio(calm, spread(0.4, 0.5, 0.6)).median, 2.0);
    }
}
