//! Results as one page for a browser: tables and plots.
//!
//! The page has no scripts and loads nothing.

mod axis;
mod bars;
mod chart;
mod details;
mod headline;
mod subjects;

use super::joined::Joined;
use super::outcome::{ArithmeticCeiling, BenchmarkRun, MeasuredDevice, Row};
use super::text::{Columns, groups, significant, size, title};
use lattice_cli::page::{END, beginning, escaped};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A device and its measurements.
struct Seen<'a> {
    name: String,
    measured: &'a MeasuredDevice,
    rows: Vec<&'a Row>,
}

/// Returns the page of one result or several, in HTML that is well-formed XML too.
pub fn page(runs: &[BenchmarkRun]) -> String {
    let mut html = beginning("cr-solve bench");
    if let Some(joined) = Joined::of(runs) {
        let devices = seen(&joined);
        html += &headline::html(&devices);
        html += &facts(runs);
        let plots = subjects::html(&devices);
        if !plots.is_empty() {
            let _ = writeln!(html, "<section class=\"subjects\">\n<h2>All devices</h2>\n{plots}</section>");
        }
        html += &ceilings(&devices);
        for device in devices.iter().filter(|device| !device.rows.is_empty()) {
            let _ = writeln!(html, "<section class=\"device\">\n<h2>Details: {}</h2>", escaped(&device.name));
            html += &details::html(device);
            html += &tables(&device.rows);
            html += "</section>\n";
        }
        let together: Vec<&Row> = joined.outcome.rows.iter().filter(|row| row.device.is_none()).collect();
        if !together.is_empty() {
            html += "<section>\n<h2>All devices together</h2>\n";
            html += &tables(&together);
            html += "</section>\n";
        }
    }
    html + "<footer>Medians; ± is half the distance of the quartiles as a share of the median. Every row was checked against \
            the host before it was timed. Rates are by the device’s clock (event), of transfers and whole solves by the clock on \
            the wall.</footer>\n"
        + END
}

/// Returns all devices, with names that differ.
fn seen(joined: &Joined) -> Vec<Seen<'_>> {
    let Joined { outcome, machines } = joined;
    let name = |device: &MeasuredDevice| {
        let platform = format!(" ({})", device.platform);
        device.label.strip_suffix(&platform).unwrap_or(&device.label).to_owned()
    };
    let count = |names: &[String]| {
        names.iter().fold(BTreeMap::new(), |mut count: BTreeMap<String, usize>, name| {
            *count.entry(name.clone()).or_default() += 1;
            count
        })
    };
    let mut names: Vec<String> = outcome.devices.iter().map(name).collect();
    let shared = count(&names);
    for (name, machine) in names.iter_mut().zip(machines) {
        if let Some(machine) = machine.as_ref().filter(|machine| !machine.name.is_empty() && shared[name] > 1)
        {
            *name += &format!(", {}", machine.name);
        }
    }
    let shared = count(&names);
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    for name in names.iter_mut().filter(|name| shared[*name] > 1) {
        let number = used.entry(name.clone()).or_default();
        *number += 1;
        *name += &format!(", {number}");
    }
    let devices = outcome.devices.iter().zip(names).enumerate();
    let rows = |number| outcome.rows.iter().filter(|row| row.device == Some(number)).collect();
    devices.map(|(number, (measured, name))| Seen { name, measured, rows: rows(number) }).collect()
}

/// Most runs whose facts are shown; more runs are folded up.
const MOST_OPEN_RUNS: usize = 3;

/// Returns time, machine and options of each run.
fn facts(runs: &[BenchmarkRun]) -> String {
    let all: String = runs.iter().map(facts_of_run).collect();
    let all = format!("<div class=\"boxes\">\n{all}</div>\n");
    match runs.len() {
        ..=MOST_OPEN_RUNS => all,
        count => {
            let title = format!("{count} runs: commands, times and machines");
            format!("<details><summary>{title}</summary>\n{all}</details>\n")
        }
    }
}

fn facts_of_run(outcome: &BenchmarkRun) -> String {
    let machine = outcome.machine.as_ref();
    let processor = |machine: &super::machine::Machine| {
        let name = Some(machine.processor.as_str()).filter(|name| !name.is_empty())?;
        Some(format!("{name} ({} threads)", machine.threads))
    };
    let mut facts = vec![
        ("Command", Some(format!("cr-solve {}", outcome.command.join(" ")))),
        ("Date", Some(outcome.date.clone())),
        ("Time of day", outcome.time.as_ref().map(|time| format!("{time} UTC"))),
        ("Host", machine.map(|machine| machine.name.clone())),
        ("Processor", machine.and_then(processor)),
        ("System", machine.map(|machine| machine.system.clone())),
        ("Version", Some(outcome.version.clone())),
        ("Commit", outcome.commit.clone()),
    ];
    if !outcome.complete {
        facts.push(("Interrupted", Some("these are the rows that were measured before".to_owned())));
    }
    let (mut lines, mut missing) = (String::new(), Vec::new());
    for (name, value) in facts {
        match value.filter(|value| !value.is_empty()) {
            Some(value) => lines += &format!("<dt>{name}</dt><dd>{}</dd>\n", escaped(&value)),
            None => missing.push(name.to_lowercase()),
        }
    }
    if !missing.is_empty() {
        lines += &format!("<dt>Not known</dt><dd>{}</dd>\n", missing.join(", "));
    }
    format!("<dl class=\"facts\">\n{lines}</dl>\n")
}

/// Returns the table of ceilings, with one number a row.
///
/// The table thus needs no broad window.
fn ceilings(devices: &[Seen<'_>]) -> String {
    let mut html =
        "<section>\n<h2>Devices and their measured ceilings</h2>\n<table class=\"ceilings\">\n".to_owned();
    for device in devices {
        let MeasuredDevice { kind, platform, driver, opencl_version, compute_units, .. } = device.measured;
        let mut rows = vec![
            ("Kind", kind.clone()),
            ("Platform", platform.clone()),
            ("Driver", driver.clone()),
            ("OpenCL", opencl_version.clone()),
            ("Compute units", compute_units.to_string()),
            ("Clock", device.measured.clock_mhz.map_or_else(String::new, |mhz| format!("{mhz} MHz"))),
            ("Memory", device.measured.memory_bytes.map_or_else(String::new, size)),
            ("Cache", device.measured.cache_bytes.map_or_else(String::new, size)),
            ("Triad", format!("{} GB/s", significant(device.measured.triad_gb_s))),
            ("Memory at best", format!("{} GB/s", significant(device.measured.memory_gb_s))),
        ];
        let mut arithmetic = |names: [&'static str; 2], ceiling: Option<ArithmeticCeiling>| {
            let Some(ceiling) = ceiling else { return };
            rows.push((names[0], subjects::rate(ceiling.fma_gflops)));
            rows.extend(ceiling.matrix_gflops.map(|gflops| (names[1], subjects::rate(gflops))));
        };
        arithmetic(["Single precision", "Single precision (TF32), matrix units"], device.measured.single);
        arithmetic(["Double precision", "Double precision, matrix units"], device.measured.double);
        let _ = writeln!(html, "<tbody><tr><th colspan=\"2\">{}</th></tr>", escaped(&device.name));
        for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
            let _ = writeln!(html, "<tr><td>{name}</td><td>{}</td></tr>", escaped(value));
        }
        html += "</tbody>\n";
    }
    html + "</table>\n</section>\n"
}

/// Returns a table for each benchmark, folded up.
fn tables(rows: &[&Row]) -> String {
    let groups = groups(rows);
    let groups = groups.iter().map(|group| {
        let (header, lines, numeric) = Columns::of(group).cells(group);
        let title = escaped(&title(group[0]));
        let rows = if group.len() == 1 { "1 row".to_owned() } else { format!("{} rows", group.len()) };
        let table = table(&header, &lines, &numeric);
        format!("<details><summary>{title}: {rows}</summary>\n{table}</details>\n")
    });
    groups.collect()
}

fn table(header: &[String], lines: &[Vec<String>], numeric: &[usize]) -> String {
    let row = |tag: &str, cells: &[String]| {
        let cells = cells.iter().enumerate().map(|(column, cell)| {
            let class = if numeric.contains(&column) { " class=\"n\"" } else { "" };
            format!("<{tag}{class}>{}</{tag}>", escaped(cell))
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let body: String = lines.iter().map(|cells| row("td", cells)).collect();
    format!(
        "<div class=\"wide\"><table>\n<thead>{}</thead>\n<tbody>\n{body}</tbody>\n</table></div>\n",
        row("th", header)
    )
}

#[cfg(test)]
mod tests;
