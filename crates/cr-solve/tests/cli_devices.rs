//! `--device` as a user gives it: several that fit, lists, all of them, and what is refused.

use crate::common;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use lattice_cl::Dims;
use lattice_cl::compute::discover;
use lattice_cl::host::random;
use lattice_cl::io::{self, Format, WriteOptions};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn field() -> &'static Path {
    static FIELD: OnceLock<PathBuf> = OnceLock::new();
    FIELD.get_or_init(|| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli_devices.ildg");
        let field = random::weak(Dims::new([2, 2, 2, 4]).unwrap(), 0.1, 3);
        io::write_gauge(&path, &field, &WriteOptions::new(Format::Ildg)).unwrap();
        path
    })
}

/// The status, standard output and standard error of `invert`, where PoCL, if it is here, has two devices of one kind.
fn invert(options: &str) -> (i32, String, String) {
    let mut command: Command = cargo_bin_cmd!("cr-solve");
    command.env("POCL_DEVICES", "basic basic").env("LATTICE_CL_NO_CACHE", "1").env("POCL_KERNEL_CACHE", "1");
    command.args(["invert", "--kappa", "0.1", "--json"]).arg(field()).args(options.split_whitespace());
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// How many devices took part.
fn team_of(stdout: &str) -> usize {
    let result: serde_json::Value = serde_json::from_str(stdout).unwrap();
    result["devices"].as_array().unwrap().len()
}

/// Whether PoCL alone is here, so that two devices of one kind can be had.
fn has_pocl_alone() -> bool {
    let devices = discover().devices;
    let alone = !devices.is_empty() && devices.iter().all(|found| found.info.pocl_version().is_some());
    if !alone {
        common::skipped(
            "PoCL is not the one platform here, so there are no two devices of one kind for sure",
        );
    }
    alone
}

#[test]
fn what_fits_several_devices_is_said_and_lists_and_all_make_teams() {
    if !has_pocl_alone() {
        return;
    }
    for (options, devices, said) in [
        ("--device basic", 1, Some("`basic`: 2 devices match; taking 0.0 (name 0.1, or both)")),
        ("--device 0.1", 1, None),
        ("--device 0.0,0.1", 2, None),
        ("--device 0.0 --device 0.1", 2, None),
        ("--device all", 2, None),
        ("--device 0.0,0.0", 2, Some("was given twice")),
    ] {
        let (status, stdout, stderr) = invert(options);
        assert_eq!((status, team_of(&stdout)), (0, devices), "{options}: {stderr}");
        match said {
            Some(said) => assert_eq!(stderr.matches(said).count(), 1, "{options}: {stderr}"),
            None => assert!(!stderr.contains("match") && !stderr.contains("given"), "{options}: {stderr}"),
        }
    }
    let (_, _, quiet) = invert("--device basic --quiet");
    assert_eq!(quiet, "");
}

/// `devices` where PoCL has two devices of one kind.
fn links(options: &str, peer: &str) -> serde_json::Value {
    let mut command: Command = cargo_bin_cmd!("cr-solve");
    command.env("POCL_DEVICES", "basic basic").env("LATTICE_CL_NO_CACHE", "1").env("LATTICE_CL_PEER", peer);
    let output = command.args(["devices", "--json"]).args(options.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    found["links"].clone()
}

#[test]
fn links_between_devices_are_shown_with_their_rates() {
    if !has_pocl_alone() {
        return;
    }
    let found = links("", "off");
    assert_eq!(found, serde_json::json!([{ "between": ["0.0", "0.1"], "way": null, "rates": null }]));
    let found = links("--rates", "");
    assert_eq!(found[0]["way"], "host");
    for rates in found[0]["rates"].as_array().unwrap() {
        assert!(rates["write_gb_s"].as_f64().unwrap() > 0.0 && rates["read_gb_s"].as_f64().unwrap() > 0.0);
        assert!(rates["flags_us"].is_null(), "the host waits");
    }
    let mut command: Command = cargo_bin_cmd!("cr-solve");
    let output = command.env("LATTICE_CL_PEER", "telepathy").arg("devices").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("LATTICE_CL_PEER: `telepathy` is no way"), "{text}");
}

#[test]
fn devices_lists_those_that_are_named_and_a_device_that_is_not_there_is_none() {
    let listed = |options: &str| {
        let mut command: Command = cargo_bin_cmd!("cr-solve");
        command.env("POCL_DEVICES", "basic basic").env("LATTICE_CL_NO_CACHE", "1");
        let output = command.args(["devices", "--json"]).args(options.split_whitespace()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let host = listed("--device host");
    assert_eq!((host["devices"].as_array().unwrap().len(), host["host"].is_null()), (0, false));
    if has_pocl_alone() {
        let one = listed("--device 0.1");
        assert_eq!(
            (&one["devices"][0]["selector"], one["devices"].as_array().unwrap().len()),
            (&"0.1".into(), 1)
        );
        assert!(one["host"].is_null() && one["devices"][0]["bandwidth_gb_s"].as_f64().unwrap() > 0.0);
        assert_eq!(listed("")["devices"].as_array().unwrap().len(), 2);
    }
    let (status, stdout, stderr) = invert("--device nowhere");
    assert_eq!((status, stdout.as_str()), (4, ""), "{stderr}");
    assert!(stderr.contains("nowhere"), "{stderr}");
}

#[test]
fn what_selects_by_itself_is_refused_beside_devices() {
    for (options, words) in [
        ("--device host,0.0", "`host` computes without OpenCL and cannot share the work with devices"),
        ("--device 0.0 --device host", "`host` computes without OpenCL"),
        ("--device all,host", "`all` selects devices by itself; give it alone"),
        ("--device auto,0.0", "`auto` selects devices by itself"),
    ] {
        let (status, stdout, stderr) = invert(options);
        assert_eq!((status, stdout.as_str()), (2, ""), "{options}: {stderr}");
        assert!(stderr.contains(words), "{options}: {stderr}");
    }
}
