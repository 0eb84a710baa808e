//! `cr-solve bench bandwidth` as a user runs it.

use crate::common;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use std::collections::BTreeSet;

fn output(line: &str) -> std::process::Output {
    let mut command: Command = cargo_bin_cmd!("cr-solve");
    // Kernels that PoCL has compiled stay: only what this program keeps must not matter here.
    command.env("LATTICE_CL_NO_CACHE", "1").env("POCL_KERNEL_CACHE", "1");
    command.args(["bench", "bandwidth"]).args(line.split_whitespace()).output().unwrap()
}

#[test]
fn every_part_is_checked_and_timed_on_two_devices() {
    assert!(!common::devices().is_empty());
    let output = output(
        "--device 0.0 --device 0.0 --sizes 16K,1000 --widths 2 --precision double --samples 3 --json -q",
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["schema_version"], 2);
    assert_eq!(found["complete"], true);
    let kinds: Vec<_> = found["devices"].as_array().unwrap().iter().map(|device| &device["kind"]).collect();
    assert_eq!(kinds, ["cpu", "cpu", "host"]);
    let rows = found["rows"].as_array().unwrap();
    let of = |part: &str, device: Value| -> BTreeSet<String> {
        let rows = rows.iter().filter(|row| row["parameters"]["part"] == part && row["device"] == device);
        rows.map(|row| row["kernel"].as_str().unwrap().to_owned()).collect()
    };
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
    for device in [0, 1].map(Value::from) {
        let streams = ["read", "write", "copy", "scale", "add", "triad", "dot"];
        assert_eq!(of("streams", device.clone()), names(&streams));
        let patterns = ["coalesced", "misaligned by 7", "stride 7", "random"];
        assert_eq!(of("patterns", device.clone()), names(&patterns));
        assert_eq!(of("transfers", device.clone()), names(&["to device", "from device", "both at once"]));
        assert_eq!(of("latency", device.clone()), names(&["launch"]));
        assert_eq!(of("together", device.clone()), names(&["copy", "triad", "dot"]));
    }
    assert_eq!(of("host", 2.into()), names(&["read", "write", "copy", "scale", "add", "triad", "dot"]));
    assert_eq!(of("transfers", Value::Null), names(&["device to device"]));
    assert_eq!(of("peers", Value::Null), names(&["write", "read"]));
    assert_eq!(of("together", Value::Null), names(&["copy", "triad", "dot"]));
    for row in rows {
        let wall = row["samples"]["wall"].as_array().unwrap();
        assert_eq!(wall.len(), 3, "{row}");
        if row["parameters"]["part"] == "streams" {
            // The size that is a multiple of nothing is rounded up to whole vectors of 16.
            let (bytes, moved) =
                (row["parameters"]["array_bytes"].as_u64().unwrap(), row["bytes"].as_u64().unwrap());
            assert!(bytes == 1024 || bytes == 16 << 10, "{row}");
            let arrays = match row["kernel"].as_str().unwrap() {
                "read" | "write" => 1,
                "copy" | "scale" | "dot" => 2,
                _ => 3,
            };
            assert_eq!(moved, arrays * bytes);
            let seconds = row["event_seconds"]["median"].as_f64().unwrap();
            assert!(common::relative(row["gb_s"].as_f64().unwrap(), moved as f64 / seconds / 1e9) < 1e-9);
            // Arrays this small stay in a cache, which the memory's ceiling says nothing about.
            assert!(row["share_of_ceiling"].is_null() && row["ceiling"].is_null(), "{row}");
        }
    }
}

#[test]
fn comma_separated_values_have_a_line_a_row() {
    let output = output(
        "--device 0.0 --sizes 16K --widths 2 --only streams,latency --precision single --samples 3 --csv -q",
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("device,benchmark,kernel,part,variant,"));
    assert_eq!(lines.len(), 1 + 7 + 4);
    let columns = lines[0].split(',').count();
    assert!(lines[1..].iter().all(|line| line.split(',').count() == columns), "{text}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for line in
        ["--device 0.0 --csv --json", "--device 0.0 --sizes 12", "--device 0.0 --seconds 0", "--widths 3"]
    {
        assert_eq!(output(line).status.code(), Some(2), "{line}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_what_was_measured() {
    // When the second size is announced the first one is measured.
    let found = common::interrupted::interrupted(
        "bench bandwidth --device 0.0 --sizes 1K,2K --widths 2 --precision double --only streams --samples 1000000 --seconds 0.3 --json",
        "2 KiB",
    );
    assert_eq!(found["complete"], false);
    let rows = found["rows"].as_array().unwrap();
    assert!(
        rows.len() >= 7 && rows[..7].iter().all(|row| row["parameters"]["array_bytes"] == 1024),
        "{found}"
    );
}
