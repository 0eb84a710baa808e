//! `cr-solve bench` as a user runs it, and solving with links stored in fewer reals.

use crate::common;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use lattice_cl::host::random;
use lattice_cl::io::{self, Format, WriteOptions};
use lattice_cl::{Dims, GaugeConfiguration, Precision};
use serde_json::Value;
use std::path::Path;

fn output(line: &str, directory: &Path) -> std::process::Output {
    let mut command: Command = cargo_bin_cmd!("cr-solve");
    // Kernels that PoCL has compiled stay: only what this program keeps must not matter here.
    command.env("LATTICE_CL_NO_CACHE", "1").env("POCL_KERNEL_CACHE", "1");
    command.current_dir(directory).args(line.split_whitespace()).arg("--no-tune").output().unwrap()
}

/// A parameter of a row.
fn word<'a>(row: &'a Value, name: &str) -> &'a str {
    row["parameters"][name].as_str().unwrap()
}

fn json(line: &str, directory: &Path) -> Value {
    let output = output(line, directory);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn lists_name_what_is_timed() {
    let folder = tempfile::tempdir().unwrap();
    let line = "bench stencil --device 0.0 --dims 4x4x4x4 --precision single,half --links 8,12 --launches 1 --json -q";
    let found = json(line, folder.path());
    let rows = found["rows"].as_array().unwrap().iter();
    let kinds: Vec<(&str, u64)> =
        rows.map(|row| (word(row, "precision"), row["parameters"]["links"].as_u64().unwrap())).collect();
    assert_eq!(kinds, [("single", 12), ("single", 8), ("half", 12), ("half", 8)]);
}

/// All devices together are timed behind each alone, and compared with the fastest.
#[test]
fn a_team_is_compared_with_one_device() {
    let folder = tempfile::tempdir().unwrap();
    let line = "bench stencil --device 0.0 --device 0.0 --dims 4x4x4x8 --precision double --links 12 --launches 3 --json -q";
    let found = json(line, folder.path());
    let rows = found["rows"].as_array().unwrap();
    let devices: Vec<Option<u64>> = rows.iter().map(|row| row["device"].as_u64()).collect();
    assert_eq!(devices, [Some(0), Some(1), None]);
    let seconds = |row: &Value| row["wall_seconds"]["median"].as_f64().unwrap();
    let times = seconds(&rows[0]).min(seconds(&rows[1])) / seconds(&rows[2]);
    let detail = |name: &str| rows[2]["details"][name].as_f64().unwrap();
    assert!(common::relative(detail("times_as_fast_as_one"), times) < 1e-12, "{}", rows[2]);
    assert!(common::relative(detail("efficiency"), times / 2.0) < 1e-12, "{}", rows[2]);
    assert!(rows[..2].iter().all(|row| row["details"].get("efficiency").is_none()));
}

#[test]
fn every_storage_is_checked_and_timed() {
    assert!(!common::devices().is_empty());
    let folder = tempfile::tempdir().unwrap();
    let found = json("bench stencil --device 0.0 --dims 4x4x4x8 --launches 3 --json -q", folder.path());
    let rows = found["rows"].as_array().unwrap();
    let kinds: Vec<(&str, u64)> = rows
        .iter()
        .map(|row| (word(row, "precision"), row["parameters"]["links"].as_u64().unwrap()))
        .collect();
    let expected = ["double", "single", "half"]
        .into_iter()
        .flat_map(|precision| [18, 12, 8].map(|links| (precision, links)));
    assert_eq!(kinds, expected.collect::<Vec<_>>());
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap();
        let (bound, bytes, unit) = match word(row, "precision") {
            "double" => (1e-14, 8.0, 0.0),
            "single" => (1e-6, 4.0, 0.0),
            // A unit for each of the two spinors.
            _ => (1e-3, 2.0, 4.0),
        };
        let deviation = row["details"]["deviation"].as_f64().unwrap();
        assert!(deviation < bound && deviation > 0.0, "{row}");
        // 1320 flops for each of the 256 even sites, 8 links and 48 reals of traffic.
        let seconds = row["event_seconds"]["median"].as_f64().unwrap();
        assert!(common::relative(number("gflops"), 1320.0 * 256.0 / seconds / 1e9) < 1e-9);
        let bytes =
            (bytes * (8.0 * row["parameters"]["links"].as_f64().unwrap() + 48.0) + 2.0 * unit) * 256.0;
        assert!(common::relative(number("gb_s"), bytes / seconds / 1e9) < 1e-9);
    }
    let device = &found["devices"][0];
    assert!(device["triad_gb_s"].as_f64().unwrap() > 0.0);
    assert!(device["single"]["fma_gflops"].as_f64().unwrap() > 0.0, "{device}");
}

#[test]
fn products_of_matrices_are_checked_and_timed() {
    let folder = tempfile::tempdir().unwrap();
    let line =
        "bench gemm --device 0.0 --sizes 33,40x7x20 --precision d,c --ops nn,ct --launches 3 --json -q";
    let found = json(line, folder.path());
    let rows = found["rows"].as_array().unwrap();
    for (element, flops, bytes) in [("d", 2.0, 8.0), ("c", 8.0, 8.0)] {
        for (name, size, terms, written) in
            [("n", 33.into(), 33.0 * 33.0 * 33.0, 33.0 * 33.0), ("extents", "40x7x20".into(), 5600.0, 280.0)]
        {
            let size: Value = size;
            let of_size = |row: &&Value| word(row, "element") == element && row["parameters"][name] == size;
            // Two kernels of the textbook and the shipped one, in two forms; on a processor also the host's library.
            let count = rows.iter().filter(of_size).filter(|row| !row["details"]["tuning"].is_null()).count();
            assert_eq!(count, 6, "{element} {size}");
            for row in rows.iter().filter(of_size) {
                let number = |value: &Value| value.as_f64().unwrap();
                let by = row["rated_by"].as_str().unwrap();
                let seconds = number(&row[format!("{by}_seconds")]["median"]);
                assert!(common::relative(number(&row["gflops"]), flops * terms / seconds / 1e9) < 1e-9);
                // Each term reads an element of both factors, and each element of the product is written.
                let gib = bytes * (2.0 * terms + written) / 1024_f64.powi(3);
                let details = &row["details"];
                assert!(
                    common::relative(number(&details["effective_bandwidth_gib_s"]), gib / seconds) < 1e-9
                );
                assert!(number(&details["share_of_error_bound"]) < 1.0);
            }
        }
    }
    assert!(found["devices"][0]["double"]["fma_gflops"].as_f64().unwrap() > 0.0);

    let refused = output(
        r#"bench gemm --device 0.0 --sizes 8 --precision s --variant {"kernel":"panels","panel":[8,4],"block":[12,8,8],"lanes":8}"#,
        folder.path(),
    );
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("whole panels"));
}

#[test]
fn factorisations_are_checked_and_compared_with_products() {
    let folder = tempfile::tempdir().unwrap();
    let line = "bench factor --device 0.0 --sizes 70 --precision d,c --launches 2 --json -q";
    let found = json(line, folder.path());
    let rows = found["rows"].as_array().unwrap();
    let names = ["gemm", "potrf", "getrf", "geqrf", "trsm", "gesv"];
    let expected: Vec<_> = ["d", "c"].iter().flat_map(|element| names.map(|name| (*element, name))).collect();
    let kinds: Vec<_> =
        rows.iter().map(|row| (word(row, "element"), row["kernel"].as_str().unwrap())).collect();
    assert_eq!(kinds, expected);
    let rate = |row: &Value| row["gflops"].as_f64().unwrap();
    for row in rows.iter().filter(|row| row["kernel"] != "gemm") {
        let of_products = rows.iter().find(|other| {
            other["kernel"] == "gemm" && other["parameters"]["element"] == row["parameters"]["element"]
        });
        let share = row["details"]["share_of_gemm"].as_f64().unwrap();
        assert!(common::relative(share, rate(row) / rate(of_products.unwrap())) < 1e-2, "{row}");
        assert!(row["details"]["ratio"].as_f64().unwrap() < 30.0);
    }
}

#[test]
fn products_are_timed_on_each_device_and_on_all() {
    let folder = tempfile::tempdir().unwrap();
    let line = "bench gemm --device 0.0 --device 0.0 --sizes 192 --precision d --launches 2 --json -q";
    let found = json(line, folder.path());
    let rows = found["rows"].as_array().unwrap();
    let kinds: Vec<_> =
        rows.iter().map(|row| (row["device"].as_u64(), word(row, "matrices") == "on devices")).collect();
    let members = [Some(0), Some(1), None];
    assert_eq!(
        kinds,
        members.into_iter().flat_map(|member| [(member, false), (member, true)]).collect::<Vec<_>>()
    );
    for row in rows {
        let seconds = row["wall_seconds"]["median"].as_f64().unwrap();
        assert!(
            common::relative(row["gflops"].as_f64().unwrap(), 2.0 * 192.0_f64.powi(3) / seconds / 1e9) < 1e-9
        );
        assert!(row["details"]["share_of_error_bound"].as_f64().unwrap() < 1.0);
        if word(row, "matrices") == "in host memory" {
            let rows = row["details"]["rows"].as_array().unwrap().iter();
            let rows: u64 = rows.map(|rows| rows.as_u64().unwrap()).sum();
            assert_eq!(rows, 192);
        }
    }
}

#[test]
fn the_host_is_no_device_to_bench() {
    let folder = tempfile::tempdir().unwrap();
    let output = output("bench stencil --device host --dims 4x4x4x4", folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--device"));
}

#[test]
fn a_solve_with_fewer_reals_a_link_has_the_same_solution() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, field: &GaugeConfiguration| {
        io::write_gauge(folder.path().join(name), field, &WriteOptions::new(Format::Ildg)).unwrap();
    };
    let field = random::weak(Dims::new([4, 4, 4, 8]).unwrap(), 0.2, 1);
    write("field.ildg", &field);
    let norm2 = |links: u32| {
        let line =
            format!("invert field.ildg --kappa 0.11 --device 0.0 --links {links} --tol 1e-12 --json -q");
        let found = json(&line, folder.path());
        assert_eq!(found["links"], links);
        found["solution_norm2"].as_f64().unwrap()
    };
    let expected = norm2(18);
    for links in [12, 8] {
        assert!(common::relative(norm2(links), expected) < 1e-10, "{links}");
    }

    // Links in single precision are not in SU(3) to double precision.
    let options = WriteOptions::new(Format::Ildg).with_precision(Some(Precision::Single));
    io::write_gauge(folder.path().join("single.ildg"), &field, &options).unwrap();
    let refused = output("invert single.ildg --kappa 0.11 --links 12 -q", folder.path());
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("SU(3)"));
}

#[test]
fn flow_smearing_and_contractions_are_checked_and_timed() {
    let folder = tempfile::tempdir().unwrap();
    let line = "bench measure --device 0.0 --dims 4x4x2x4 --momenta 1 --launches 1 --seconds 0.01 --json -q";
    let found = json(line, folder.path());
    let rows = found["rows"].as_array().unwrap();
    let kernels: Vec<&str> = rows.iter().map(|row| row["kernel"].as_str().unwrap()).collect();
    let expected = ["flow wilson", "flow symanzik", "stout", "energy", "gaussian", "mesons", "nucleon"];
    assert_eq!(kernels, expected);
    // Two matrices in and out at the least, and four at a stage in the middle.
    let bytes: Vec<u64> = rows.iter().map(|row| row["bytes"].as_u64().unwrap()).collect();
    let sites = 128;
    assert_eq!(bytes[..3], [10 * 144 * 4 * sites, 10 * 144 * 4 * sites, 2 * 144 * 4 * sites]);
    assert_eq!((rows[5]["parameters"]["momenta"].as_u64(), bytes[5]), (Some(7), 2304 * sites));
}
