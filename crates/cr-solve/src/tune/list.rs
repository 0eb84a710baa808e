//! `tune --list` and `--clear`: what is kept in the tuning file.

use comfy_table::{ContentArrangement, Table};
use lattice_cl::compute::Device;
use lattice_cl::tuning::{Entry, TuningFile};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::lattice::variants::{short, short_options};
use lattice_cli::report::{Report, align_right, path_text, plain_table};
use serde::Serialize;

/// The content of the tuning file, as JSON.
#[derive(Serialize)]
struct TuningList<'a> {
    schema_version: u32,
    #[serde(serialize_with = "path_text")]
    file: &'a std::path::Path,
    entries: Vec<Entry>,
}

/// Formats microseconds, or nothing if there was no time for a search.
fn micro(microseconds: Option<f64>) -> String {
    microseconds.map(|time| format!("{time:.1}")).unwrap_or_default()
}

/// Prints a table for each device, driver and version.
///
/// The JSON has everything about an entry.
pub fn list(file: &TuningFile, report: &Report) -> Result<Status, Failure> {
    let all = TuningList { schema_version: 1, file: file.path(), entries: file.entries()? };
    let mut devices: Vec<([&str; 3], Vec<&Entry>)> = Vec::new();
    for entry in &all.entries {
        let of = &entry.identity;
        let device = [of.device.as_str(), &of.driver, &of.version];
        match devices.iter_mut().find(|(other, _)| *other == device) {
            Some((_, entries)) => entries.push(entry),
            None => devices.push((device, vec![entry])),
        }
    }
    let mut text = format!("{}: {} kernel variants", file.path().display(), all.entries.len());
    for ([device, driver, version], entries) in devices {
        text += &format!("\n\n{device}, driver {driver}, version {version}\n{}", list_of_device(&entries));
    }
    report.result(text, &all)?;
    Ok(Status::Fine)
}

fn list_of_device(entries: &[&Entry]) -> Table {
    let mut table = plain_table(["kernel", "extents", "variant", "µs", "default µs"]);
    wrap(&mut table);
    for entry in entries {
        let of = &entry.identity;
        table.add_row([
            format!("{} {}", of.kernel, short_options(&of.options)),
            of.extents.clone(),
            short(&of.kernel, &entry.variant),
            micro(entry.microseconds),
            micro(entry.shipped_microseconds),
        ]);
    }
    align_right(&mut table, &[3, 4]);
    table
}

/// Width of a usual terminal.
///
/// Longer text goes on in the next line.
const MOST_COLUMNS: u16 = 100;

pub fn wrap(table: &mut Table) {
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(MOST_COLUMNS);
}

#[derive(Serialize)]
struct Cleared<'a> {
    schema_version: u32,
    #[serde(serialize_with = "path_text")]
    file: &'a std::path::Path,
    device: &'a str,
    removed: usize,
}

pub fn clear(file: &TuningFile, device: &Device, report: &Report) -> Result<Status, Failure> {
    let name = &device.info().name;
    let removed = file.remove_device(name)?;
    let cleared = Cleared { schema_version: 1, file: file.path(), device: name, removed };
    let text = format!("{}: {removed} kernel variants of {name} removed", file.path().display());
    report.result(text, &cleared)?;
    Ok(Status::Fine)
}

pub fn kept_in(file: Option<TuningFile>) -> Result<TuningFile, Failure> {
    file.ok_or_else(|| {
        Failure::usage("without a cache nothing is kept".to_owned())
            .hint("leave out --no-cache, and LATTICE_CL_NO_CACHE from the environment")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn lists_fit_into_a_terminal_whatever_is_kept() {
        let entry = |kernel: &str, options: &str, variant: Value| -> Entry {
            let identity = json!({
                "device": "d".repeat(50), "driver": "580.159.04", "version": "0.1.0", "kernel": kernel,
                "options": options, "extents": "m<=2^16 n<=2^16 k<=2^16", "variant": variant,
                "microseconds": 1_234_567.8, "shipped_microseconds": 1_234_567.8, "gain": 1.0,
                "variants_tried": 12, "date": "2026-11-25"
            });
            serde_json::from_value(identity).unwrap()
        };
        let everything = json!({
            "work_group": 1024, "sources_per_item": 12, "share_links": true, "max_registers": 255,
            "stream_links": true, "stream_output": true, "tile_z": 16, "boxes": true, "rounds": 16, "prefetch": 4
        });
        let options = "region=parity+shift precision=double links=18 sources=12 product=true";
        let entries =
            [entry("wilson", options, everything), entry("other", "a=b", json!({ "word": "w".repeat(300) }))];
        let text = list_of_device(&entries.iter().collect::<Vec<_>>()).to_string();
        assert!(text.contains("wilson parity+shift") && text.contains("prefetch 4"), "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= MOST_COLUMNS.into(), "{line}");
        }
    }
}
