//! `cr-solve bench compare`: comparison of two kept results.

use super::kept::read;
use super::outcome::{MeasuredDevice, Row, SCHEMA_VERSION};
use super::text::{kind, parameter_values, significant};
use crate::statistics::Spread;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::numbers::finite;
use lattice_cli::report::{Report, align_right, plain_table};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::str::FromStr;

/// The command line of `bench compare`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Output of `bench … --json` from before
    #[arg(value_name = "A.json")]
    before: PathBuf,
    /// Output of `bench … --json` from after
    #[arg(value_name = "B.json")]
    after: PathBuf,
    /// Show only the rows that moved by more than noise
    #[arg(long)]
    moved: bool,
    /// Exit with status 1 if a row became slower by more than this, as in 5%
    ///
    /// Differences within the noise do not count. Files without a common row also give status 1.
    #[arg(long, value_name = "PERCENT")]
    fail_above: Option<Share>,
}

/// A share, as a number of per cent.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share(f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match finite(text.trim().trim_end_matches('%').trim_end()) {
            Some(percent) if percent >= 0.0 => Ok(Self(percent / 100.0)),
            _ => Err("a number of per cent is wanted, as in 5%".to_owned()),
        }
    }
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
    /// Speed after, relative to the speed before.
    ratio: Spread,
    /// `true` if the row moved by more than noise: the quartiles of both are apart.
    moved: bool,
}

/// Compares the times of all rows that two files share.
///
/// # Errors
/// When a file cannot be read or holds no such result.
pub fn compare(arguments: &Arguments, report: &Report) -> Result<Status, Failure> {
    let (before, after) = (read(&arguments.before)?, read(&arguments.after)?);
    let pairs = pairs(&before.devices, &after.devices);
    let mut unmatched: HashMap<Subject, VecDeque<&Row>> = HashMap::new();
    for row in &after.rows {
        unmatched.entry(subject(row, row.device)).or_default().push_back(row);
    }
    let (mut rows, mut only_before, mut shared) = (Vec::new(), 0, 0);
    for row in &before.rows {
        // A row of a device that the other file lacks has no counterpart either.
        let place = match row.device {
            None => Some(None),
            Some(number) => pairs[number].map(Some),
        };
        let other = place.and_then(|place| unmatched.get_mut(&subject(row, place))?.pop_front());
        let Some(other) = other else {
            only_before += 1;
            continue;
        };
        shared += 1;
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
    let only_after = after.rows.len() - shared;
    let comparison = Comparison { schema_version: SCHEMA_VERSION, rows, only_before, only_after };
    for (device, pair) in before.devices.iter().zip(&pairs) {
        let Some(other) = pair.map(|number| &after.devices[number]) else {
            report.note(format_args!("{} is compared with none of the other file", device.label));
            continue;
        };
        if (&device.label, &device.driver) != (&other.label, &other.driver) {
            report.note(format_args!(
                "{}, driver {} is compared with {}, driver {}",
                device.label, device.driver, other.label, other.driver
            ));
        }
    }
    report.result(table(&comparison, arguments.moved), &comparison)?;
    match arguments.fail_above.map(|Share(share)| share) {
        Some(share) => expect_no_slower(&comparison, share),
        None => Ok(Status::Fine),
    }
}

/// The subject of a row: kind, kernel, device and parameters.
type Subject = (String, String, Option<usize>, String);

fn subject(row: &Row, device: Option<usize>) -> Subject {
    // Sorted, because files may have the parameters in different orders.
    let parameters: std::collections::BTreeMap<_, _> =
        row.parameters.iter().map(|(name, value)| (name, value.to_string())).collect();
    (format!("{:?}", kind(row)), row.kernel.clone(), device, format!("{parameters:?}"))
}

/// Returns the device of `after` that each device of `before` is compared with.
///
/// The choice is the next device of the same kind, else the next other device of OpenCL. The host
/// is compared with the host only.
fn pairs(before: &[MeasuredDevice], after: &[MeasuredDevice]) -> Vec<Option<usize>> {
    let mut pairs = vec![None; before.len()];
    let mut free: Vec<usize> = (0..after.len()).collect();
    let mut pair = |fits: fn(&MeasuredDevice, &MeasuredDevice) -> bool| {
        for (device, pair) in before.iter().zip(&mut pairs).filter(|(_, pair)| pair.is_none()) {
            if let Some(place) = free.iter().position(|&number| fits(device, &after[number])) {
                *pair = Some(free.remove(place));
            }
        }
    };
    pair(|a, b| a.kind == b.kind && a.label == b.label);
    pair(|a, b| a.kind == b.kind);
    pair(|a, b| a.kind != "host" && b.kind != "host");
    pairs
}

/// Fails if a row became slower by more than `share` and by more than noise.
fn expect_no_slower(comparison: &Comparison, share: f64) -> Result<Status, Failure> {
    if comparison.rows.is_empty() {
        let message = "no row is in both results, so nothing is known to be as fast as before";
        return Err(Failure::new(Status::Failed, anyhow::Error::msg(message)));
    }
    let slower = |row: &&Compared| row.moved && row.ratio.median < 1.0 / (1.0 + share);
    let count = comparison.rows.iter().filter(slower).count();
    if count == 0 {
        return Ok(Status::Fine);
    }
    let error = anyhow::anyhow!(
        "{count} of {} rows are slower by more than {} % and by more than noise",
        comparison.rows.len(),
        significant(100.0 * share)
    );
    Err(Failure::new(Status::Failed, error))
}

/// Returns the quotient of two times, with the extremes from their quartiles.
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
    fn devices_are_paired_by_kind_before_number() {
        let device = |kind: &str, label: &str| MeasuredDevice {
            kind: kind.to_owned(),
            label: label.to_owned(),
            ..MeasuredDevice::host(1.0)
        };
        let (host, cpu) = (device("host", "host"), device("cpu", "0.0"));
        let (gpu, other) = (device("gpu", "1.0"), device("gpu", "1.1"));
        let all = [cpu.clone(), gpu.clone(), other.clone(), host.clone()];
        let paired = |before: &[&MeasuredDevice]| {
            let before: Vec<MeasuredDevice> = before.iter().map(|&device| device.clone()).collect();
            pairs(&before, &all)
        };
        assert_eq!(paired(&[&host, &cpu]), [Some(3), Some(0)]);
        assert_eq!(paired(&[&other, &gpu]), [Some(2), Some(1)], "one and the same device");
        assert_eq!(paired(&[&device("gpu", "2.0"), &device("accelerator", "3.0")]), [Some(1), Some(0)]);
        assert_eq!(paired(&[&host, &host]), [Some(3), None]);
    }

    #[test]
    fn a_limit_is_a_number_of_per_cent() {
        assert_eq!("5%".parse(), Ok(Share(0.05)));
        assert_eq!(" 2.5 % ".parse(), Ok(Share(0.025)));
        assert_eq!("5".parse(), Ok(Share(0.05)));
        for text in ["", "%", "-1%", "nan", "inf", "five"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
    }

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
