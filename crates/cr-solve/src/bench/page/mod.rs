//! A result as one page for a browser: tables and plots, no scripts, nothing to load.

mod chart;
mod plots;

use super::outcome::{MeasuredDevice, Outcome, Row};
use super::text::{Columns, groups, significant, size, title};
use chart::escaped;
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");

/// The page, in HTML that is well-formed XML too.
pub fn page(outcome: &Outcome) -> String {
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>cr-solve bench</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>cr-solve bench</h1>\n"
    );
    html += &facts(outcome);
    html += &device_table(&outcome.devices);
    for (number, device) in outcome.devices.iter().enumerate() {
        let rows: Vec<&Row> = outcome.rows.iter().filter(|row| row.device == Some(number)).collect();
        if !rows.is_empty() {
            let _ = writeln!(html, "<section>\n<h2>Device {number}: {}</h2>", escaped(&device.label));
            html += &plots::of_device(outcome, number);
            html += &tables(&rows);
            html += "</section>\n";
        }
    }
    let together: Vec<&Row> = outcome.rows.iter().filter(|row| row.device.is_none()).collect();
    if !together.is_empty() {
        html += "<section>\n<h2>All devices together</h2>\n";
        html += &tables(&together);
        html += "</section>\n";
    }
    html + "<footer>Medians; ± is half the distance of the quartiles as a share of the median. Every row was checked against \
            the host before it was timed. Rates are by the device’s clock (event), of transfers and whole solves by the clock on \
            the wall.</footer>\n</main>\n</body>\n</html>\n"
}

fn facts(outcome: &Outcome) -> String {
    let mut facts = vec![
        ("Command", format!("cr-solve {}", outcome.command.join(" "))),
        ("Version", outcome.version.clone()),
        ("Commit", outcome.commit.clone().unwrap_or_else(|| "not known".to_owned())),
        (
            "Date",
            outcome
                .time
                .as_ref()
                .map_or_else(|| outcome.date.clone(), |time| format!("{} {time} UTC", outcome.date)),
        ),
    ];
    if let Some(machine) = &outcome.machine {
        let processor = format!("{} ({} threads)", machine.processor, machine.threads);
        facts.extend([
            ("Host", machine.name.clone()),
            ("Processor", processor),
            ("System", machine.system.clone()),
        ]);
    }
    if !outcome.complete {
        facts.push(("Interrupted", "these are the rows that were measured before".to_owned()));
    }
    let lines = facts.iter().map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>\n", escaped(value)));
    format!("<dl>\n{}</dl>\n", lines.collect::<String>())
}

fn device_table(devices: &[MeasuredDevice]) -> String {
    let header = [
        "",
        "device",
        "kind",
        "driver",
        "units",
        "clock",
        "memory",
        "GB/s",
        "single GFLOP/s",
        "double GFLOP/s",
    ];
    let lines: Vec<Vec<String>> = devices
        .iter()
        .enumerate()
        .map(|(number, device)| {
            let arithmetic = |ceiling: Option<super::outcome::ArithmeticCeiling>| {
                ceiling.map_or_else(String::new, |ceiling| match ceiling.matrix_gflops {
                    Some(units) => {
                        format!("{}, matrix units {}", significant(ceiling.fma_gflops), significant(units))
                    }
                    None => significant(ceiling.fma_gflops),
                })
            };
            vec![
                number.to_string(),
                device.label.clone(),
                device.kind.clone(),
                device.driver.clone(),
                device.compute_units.to_string(),
                device.clock_mhz.map_or_else(String::new, |mhz| format!("{mhz} MHz")),
                device.memory_bytes.map_or_else(String::new, size),
                significant(device.memory_gb_s),
                arithmetic(device.single),
                arithmetic(device.double),
            ]
        })
        .collect();
    let header: Vec<String> = header.map(str::to_owned).to_vec();
    format!("<h2>Devices and their measured ceilings</h2>\n{}", table(&header, &lines, &[4, 5, 6, 7, 8, 9]))
}

/// A table for each benchmark; that of latencies is open, as there is no plot of it.
fn tables(rows: &[&Row]) -> String {
    let groups = groups(rows);
    let groups = groups.iter().map(|group| {
        let (header, lines, numeric) = Columns::of(group).cells(group);
        let open = if group[0].text("part") == Some("latency") { " open=\"open\"" } else { "" };
        let title = escaped(&title(group[0]));
        format!(
            "<details{open}><summary>{title}: {} rows</summary>\n{}</details>\n",
            group.len(),
            table(&header, &lines, &numeric)
        )
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
mod tests {
    use super::*;
    use crate::bench::machine::Machine;
    use crate::bench::outcome::{Benchmark, Samples, Subject};

    #[test]
    fn a_page_is_well_formed_whatever_is_in_it() {
        let subject =
            |kernel: &str| Subject::new(Benchmark::Blas, kernel).bytes(1000).flops(1000).with("n", "<>&\"");
        let row = |subject| Row::new(subject, Samples { event: vec![], wall: vec![1e-3] }).unwrap();
        let mut outcome = Outcome {
            schema_version: 2,
            version: "0".to_owned(),
            commit: None,
            command: vec!["bench".to_owned(), "<all>".to_owned()],
            date: "2026-11-21".to_owned(),
            time: Some("14:03:22".to_owned()),
            machine: Some(Machine { name: "<node>".to_owned(), ..Machine::here() }),
            complete: false,
            devices: vec![MeasuredDevice::host(10.0)],
            rows: vec![row(subject("axpy <&>").on(0)), row(subject("all"))],
        };
        for rows in [2, 0] {
            outcome.rows.truncate(rows);
            let page = page(&outcome);
            let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
            let document = roxmltree::Document::parse_with_options(&page, options).unwrap();
            let circles = document.descendants().filter(|node| node.has_tag_name("circle")).count();
            assert_eq!(circles, rows / 2);
            assert!(page.contains("interrupted") || page.contains("Interrupted"));
        }
    }
}
