//! Results as tables for people and as comma-separated values.

use super::outcome::{BenchmarkRun, Clock, MeasuredDevice, Row};
use comfy_table::Table;
use lattice_cli::report::{align_right, plain_table};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

impl BenchmarkRun {
    /// Returns the name of the device on which a row was measured.
    pub fn device_name(&self, row: &Row) -> &str {
        match row.device {
            None => "all devices",
            Some(number) => self.devices.get(number).map_or("unknown", |device| &device.label),
        }
    }

    /// Returns a table for each device and benchmark, in the order of the rows.
    pub fn tables(&self) -> String {
        let mut text = String::new();
        for device in (0..self.devices.len()).map(Some).chain([None]) {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.device == device).collect();
            match device {
                Some(number) => text += &format!("Device {number}: {}", heading(&self.devices[number])),
                None if rows.is_empty() => continue,
                None => text += "All devices together",
            }
            text.push('\n');
            for group in groups(&rows) {
                text += &format!("{}\n", title(group[0]));
                text += &format!("{}\n\n", Columns::of(&group).table(&group));
            }
            if rows.is_empty() {
                text.push('\n');
            }
        }
        text + "Medians; ± is half the distance of the quartiles as a share of the median. Every row was checked before it was \
                timed.\nRates are by the device's clock (event), of transfers and whole solves by the clock on the wall."
    }

    /// Returns comma-separated values: a line of names, then one line for each row.
    ///
    /// The names differ. Times are in seconds, rates in 10⁹ bytes or operations per second.
    pub fn csv(&self) -> String {
        let rows: Vec<&Row> = self.rows.iter().collect();
        let columns = Columns::of(&rows);
        let mut taken: BTreeSet<String> = ABOUT.into_iter().chain(MEASURED).map(str::to_owned).collect();
        let mut unique = |name: &String, prefix: &str| {
            let mut name = name.clone();
            while !taken.insert(name.clone()) {
                name.insert_str(0, prefix);
            }
            name
        };
        let parameters: Vec<String> =
            columns.parameters.iter().map(|name| unique(name, "parameter_")).collect();
        let details: Vec<String> = columns.details.iter().map(|name| unique(name, "found_")).collect();
        let header = ABOUT.map(str::to_owned).into_iter().chain(parameters);
        let header = header.chain(MEASURED.map(str::to_owned)).chain(details).map(|name| quoted(&name));
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let lines = rows.iter().map(|row| {
            let mut cells =
                vec![self.device_name(row).to_owned(), row.benchmark.to_string(), row.kernel.clone()];
            cells.extend(columns.parameters.iter().map(|name| plain(row.parameters.get(name))));
            let (event, wall) = (row.event_seconds, row.wall_seconds);
            cells.extend([
                row.bytes.to_string(),
                row.flops.to_string(),
                row.samples.wall.len().max(row.samples.event.len()).to_string(),
                number(event.map(|spread| spread.quartile)),
                number(event.map(|spread| spread.median)),
                number(event.map(|spread| spread.upper_quartile)),
                number(wall.map(|spread| spread.quartile)),
                number(wall.map(|spread| spread.median)),
                number(wall.map(|spread| spread.upper_quartile)),
                (if row.rated_by == Clock::Event { "event" } else { "wall" }).to_owned(),
                number(row.gb_s),
                number(row.gflops),
                number(row.ceiling.map(|ceiling| ceiling.value)),
                number(row.share_of_ceiling),
            ]);
            cells.extend(columns.details.iter().map(|name| plain(row.details.get(name))));
            cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",")
        });
        [header.collect::<Vec<_>>().join(",")].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
    }
}

/// The first columns of comma-separated values, before the parameters.
const ABOUT: [&str; 3] = ["device", "benchmark", "kernel"];

/// The columns after the parameters.
const MEASURED: [&str; 14] = [
    "bytes",
    "flops",
    "samples",
    "event_quartile_s",
    "event_median_s",
    "event_upper_quartile_s",
    "wall_quartile_s",
    "wall_median_s",
    "wall_upper_quartile_s",
    "rated_by",
    "gb_s",
    "gflops",
    "ceiling",
    "share_of_ceiling",
];

/// Returns the benchmark and the part that rows of one table share.
pub fn kind(row: &Row) -> (super::outcome::Benchmark, Option<&str>) {
    (row.benchmark, row.text("part"))
}

/// Groups rows by kind, in the order of each kind's first row.
pub fn groups<'r>(rows: &[&'r Row]) -> Vec<Vec<&'r Row>> {
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for &row in rows {
        match groups.iter_mut().find(|group| kind(group[0]) == kind(row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// Returns the common subject of the rows of a group.
pub fn title(row: &Row) -> String {
    match row.text("part") {
        Some(part) => format!("{}, {part}", row.benchmark),
        None => row.benchmark.to_string(),
    }
}

fn heading(device: &MeasuredDevice) -> String {
    let mut text = format!(
        "{}, driver {}: memory {:.1} GB/s at best (triad {:.1})",
        device.label, device.driver, device.memory_gb_s, device.triad_gb_s
    );
    for (name, ceiling) in [("single", device.single), ("double", device.double)] {
        if let Some(ceiling) = ceiling {
            text += &format!(", {name} {:.0} GFLOP/s", ceiling.fma_gflops);
            if let Some(units) = ceiling.matrix_gflops {
                text += &format!(" (matrix units {units:.0})");
            }
        }
    }
    text
}

/// The columns that some rows need.
pub struct Columns {
    /// Parameters except the part, which is in the title.
    pub parameters: Vec<String>,
    /// Findings that are a single number or word.
    pub details: Vec<String>,
}

impl Columns {
    pub fn of(rows: &[&Row]) -> Self {
        let names = |of: fn(&Row) -> &Map<String, Value>| {
            let mut names: Vec<String> = Vec::new();
            for (name, value) in rows.iter().flat_map(|row| of(row)) {
                if !names.contains(name) && !value.is_object() && !value.is_array() {
                    names.push(name.clone());
                }
            }
            names
        };
        Self { parameters: names(|row| &row.parameters), details: names(|row| &row.details) }
    }

    /// Returns a header, a line of cells for each row, and the numeric columns.
    pub fn cells(&self, rows: &[&Row]) -> (Vec<String>, Vec<Vec<String>>, Vec<usize>) {
        let parameters: Vec<&String> = self.parameters.iter().filter(|name| *name != "part").collect();
        let mut header = vec!["kernel".to_owned()];
        header.extend(parameters.iter().map(|name| words(name)));
        let first_number = header.len();
        let rates = ["event µs", "wall µs", "±", "GB/s", "GFLOP/s", "of ceiling"];
        header.extend(rates.map(str::to_owned));
        header.extend(self.details.iter().map(|name| words(name)));
        let micro = |seconds: Option<f64>| seconds.map_or_else(String::new, |s| format!("{:.1}", s * 1e6));
        let rate = |rate: Option<f64>| rate.map_or_else(String::new, significant);
        let mut lines: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                let mut cells = vec![row.kernel.clone()];
                cells.extend(parameters.iter().map(|name| cell(name, row.parameters.get(*name))));
                cells.extend([
                    micro(row.event_seconds.map(|spread| spread.median)),
                    micro(row.wall_seconds.map(|spread| spread.median)),
                    row.seconds().map_or_else(String::new, |s| format!("{:.1} %", 50.0 * s.relative())),
                    rate(row.gb_s),
                    rate(row.gflops),
                    row.share_of_ceiling.map_or_else(String::new, |share| format!("{share:.2}")),
                ]);
                cells.extend(self.details.iter().map(|name| cell(name, row.details.get(name))));
                cells
            })
            .collect();
        let is_numeric = |column: usize| {
            (first_number..first_number + rates.len()).contains(&column)
                || lines.iter().all(|cells| cells[column].is_empty() || cells[column].parse::<f64>().is_ok())
        };
        let numeric: Vec<usize> = (1..header.len()).filter(|&column| is_numeric(column)).collect();
        let used: Vec<usize> = (0..header.len())
            .filter(|&column| column == 0 || lines.iter().any(|cells| !cells[column].is_empty()))
            .collect();
        let pick = |cells: &Vec<String>| used.iter().map(|&column| cells[column].clone()).collect();
        let header = pick(&header);
        lines = lines.iter().map(pick).collect();
        let numeric = (0..used.len()).filter(|&place| numeric.contains(&used[place])).collect();
        (header, lines, numeric)
    }

    fn table(&self, rows: &[&Row]) -> Table {
        let (header, lines, numeric) = self.cells(rows);
        let mut table = plain_table(header);
        table.add_rows(lines);
        align_right(&mut table, &numeric);
        table
    }
}

/// Returns a value's name in plain words, with its unit if the value has none.
fn words(name: &str) -> String {
    const KNOWN: [(&str, &str); 9] = [
        ("rhs", "right-hand sides"),
        ("dims", "lattice"),
        ("ops", "op(A) op(B)"),
        ("links", "reals a link"),
        ("share_of_error_bound", "error / bound"),
        ("of_equal_triad", "triad time / time"),
        ("deviation", "off the host by"),
        ("times_as_fast_as_cg", "cg time / time"),
        ("speed_up", "host time / time"),
    ];
    if let Some((_, words)) = KNOWN.iter().find(|(known, _)| *known == name) {
        return (*words).to_owned();
    }
    let units = [
        ("_gib_s", " GiB/s"),
        ("_gb_s", " GB/s"),
        ("_gflops", " GFLOP/s"),
        ("_seconds", " in s"),
        ("_bytes", ""),
    ];
    let (name, unit) = units
        .into_iter()
        .find_map(|(ending, unit)| Some((name.strip_suffix(ending)?, unit)))
        .unwrap_or((name, ""));
    name.replace('_', " ") + unit
}

/// Formats a value for people.
fn cell(name: &str, value: Option<&Value>) -> String {
    match value {
        Some(Value::Number(bytes)) if name.ends_with("_bytes") => {
            bytes.as_u64().map(size).unwrap_or_default()
        }
        Some(Value::Number(number)) if number.is_f64() => significant(number.as_f64().unwrap_or(f64::NAN)),
        Some(Value::Bool(true)) => "yes".to_owned(),
        Some(Value::Bool(false)) => "no".to_owned(),
        value => plain(value),
    }
}

fn plain(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// Returns the values of a row's parameters, side by side.
pub fn parameter_values(parameters: &Map<String, Value>) -> String {
    let values: Vec<String> = parameters.values().map(|value| plain(Some(value))).collect();
    values.join(" ")
}

/// Formats a number with at least three digits, and all digits before the point.
pub fn significant(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        size if size < 1e-3 => format!("{number:.1e}"),
        size if size < 1.0 => format!("{number:.3}"),
        size if size < 10.0 => format!("{number:.2}"),
        size if size < 100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

/// Quotes a cell of text by the rules of RFC 4180.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Formats a number of bytes for people.
pub fn size(bytes: u64) -> String {
    match bytes {
        0 => String::new(),
        bytes if bytes < 1 << 10 => format!("{bytes} B"),
        bytes if bytes < 1 << 20 => format!("{:.4} KiB", bytes as f64 / 1024.0).replace(".0000", ""),
        bytes if bytes < 1 << 30 => {
            format!("{:.2} MiB", bytes as f64 / f64::from(1 << 20)).replace(".00", "")
        }
        bytes => format!("{:.2} GiB", bytes as f64 / f64::from(1 << 30)).replace(".00", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Benchmark, Samples, Subject};

    #[test]
    fn sizes_and_cells_are_readable() {
        let sizes = [(128, "128 B"), (16 << 10, "16 KiB"), (3 << 19, "1.50 MiB"), (1 << 30, "1 GiB")];
        for (bytes, text) in sizes {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(quoted("triad"), "triad");
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
        let numbers =
            [(0.0, "0"), (1.234e-7, "1.2e-7"), (0.1234, "0.123"), (1.234, "1.23"), (4400.4, "4400")];
        for (number, text) in numbers {
            assert_eq!(significant(number), text);
        }
    }

    #[test]
    fn headings_are_words_with_units() {
        for (name, heading) in [
            ("effective_bandwidth_gib_s", "effective bandwidth GiB/s"),
            ("whole_solves_seconds", "whole solves in s"),
            ("array_bytes", "array"),
            ("share_of_error_bound", "error / bound"),
            ("in_cache", "in cache"),
        ] {
            assert_eq!(words(name), heading);
        }
    }

    #[test]
    fn columns_have_different_names_whatever_rows_name() {
        let subject = Subject::new(Benchmark::Stencil, "hop").on(0).bytes(8);
        let subject =
            subject.with("variant", "a").with("device", "b").with("bytes", "c").found("variant", "d");
        let subject = subject.found("gb_s", "e").found("found_variant", "f");
        let row = Row::new(subject, Samples { event: vec![], wall: vec![1.0] }).unwrap();
        let outcome = BenchmarkRun {
            devices: vec![MeasuredDevice::host(1.0)],
            rows: vec![row],
            ..BenchmarkRun::new(true)
        };
        let csv = outcome.csv();
        let [header, line] = [0, 1].map(|n| csv.lines().nth(n).unwrap().split(',').collect::<Vec<_>>());
        let distinct: BTreeSet<&str> = header.iter().copied().collect();
        assert_eq!(distinct.len(), header.len(), "{header:?}");
        let value = |name: &str| {
            // The name of the device has a comma, within quotation marks.
            line[1 + header.iter().position(|column| *column == name).unwrap()]
        };
        for (name, expected) in [
            ("variant", "a"),
            ("parameter_device", "b"),
            ("parameter_bytes", "c"),
            ("found_variant", "d"),
            ("found_gb_s", "e"),
        ] {
            assert_eq!(value(name), expected, "{name}");
        }
        assert_eq!(value("found_found_variant"), "f");
    }
}
