//! The result of `cr-solve bench` in all its forms, and of the benchmarks that have no test of their own.

use crate::common;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use common::schema::assert_valid;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

fn output(line: &str, directory: &Path) -> std::process::Output {
    let mut command: Command = cargo_bin_cmd!("cr-solve");
    command.current_dir(directory).args(line.split_whitespace()).arg("--no-tune").output().unwrap()
}

fn text(line: &str, directory: &Path) -> String {
    let output = output(line, directory);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../bench/schema.json")).unwrap()
}

/// The result of a benchmark, which is as its schema says.
fn result(line: &str, directory: &Path) -> Value {
    let found = serde_json::from_str(&text(&format!("bench {line} --json -q"), directory)).unwrap();
    assert_valid(&schema(), &found);
    found
}

fn rows(found: &Value) -> &Vec<Value> {
    found["rows"].as_array().unwrap()
}

#[test]
fn every_rung_of_the_ladder_is_checked_and_timed() {
    assert!(!common::devices().is_empty());
    let folder = tempfile::tempdir().unwrap();
    // More sites than one group has, in extents that differ.
    let found = result("ladder --device 0.0 --dims 2x4x6x4 --iterations 5 --samples 3", folder.path());
    let rungs = ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.6.1", "2.0", "this library"];
    for part in ["stencil", "iterations"] {
        let of_part = rows(&found).iter().filter(|row| row["parameters"]["part"] == part);
        let mut kernels: Vec<&str> = Vec::new();
        for row in of_part {
            kernels.push(row["kernel"].as_str().unwrap());
            let on_host = kernels.last() == Some(&"the host");
            assert_eq!(row["details"]["speed_up"].is_null(), on_host, "{row}");
            if part == "stencil" {
                assert_eq!(row["flops"], 1368 * 192);
                assert!(on_host || row["details"]["deviation"].as_f64().unwrap() < 1e-13, "{row}");
            } else {
                let expected = rows(&found)[1]["details"]["residual"].as_f64().unwrap();
                assert!(
                    common::relative(row["details"]["residual"].as_f64().unwrap(), expected) < 1e-9,
                    "{row}"
                );
            }
        }
        assert_eq!(kernels, [&["the host"], &rungs[..]].concat());
    }
}

#[test]
fn vectors_and_solves_are_checked_and_timed() {
    let folder = tempfile::tempdir().unwrap();
    let line = "blas --device 0.0 --precision d,c --lengths 1003 --sizes 33 --samples 3";
    let found = result(line, folder.path());
    let mut count: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for row in rows(&found) {
        let (element, kernel) =
            (row["parameters"]["element"].as_str().unwrap(), row["kernel"].as_str().unwrap());
        *count.entry((element, kernel)).or_default() += 1;
        let bytes = 8;
        match kernel {
            "axpy" => {
                assert_eq!(row["bytes"], 3 * bytes * 1003);
                assert_eq!(row["flops"], if element == "d" { 2 } else { 8 } * 1003);
            }
            "gemv" => assert_eq!(row["bytes"], bytes * (33 * 33 + 66)),
            _ => {}
        }
    }
    assert_eq!((count[&("d", "gemv")], count[&("c", "gemv")], count[&("d", "nrm2")]), (2, 3, 1));

    let line = "solver --device 0.0 --dims 4x4x4x4 --iterations 5 --precision double --samples 3";
    let found = result(line, folder.path());
    for row in rows(&found) {
        let residual = row["details"]["residual"].as_f64().unwrap();
        assert!(residual > 0.0 && residual < 1.0, "{row}");
    }
    assert_eq!(rows(&found).len(), 4 * 2);

    let clover = result(&format!("{line} --operator clover --csw 0.8 --whole"), folder.path());
    for (row, wilson) in rows(&clover).iter().zip(rows(&found)) {
        let parameters = &row["parameters"];
        assert_eq!((&parameters["operator"], &parameters["csw"]), (&json!("clover"), &json!(0.8)), "{row}");
        assert!(row["details"]["whole_solve_iterations"].as_u64().unwrap() > 5, "{row}");
        assert!(row["details"]["whole_solve_residual"].as_f64().unwrap() <= 1e-10, "{row}");
        // Blocks are memory to read.
        assert!(row["bytes"].as_u64() > wilson["bytes"].as_u64(), "{row}");
    }

    let at_once = result(&format!("{line} --sources 2 --point-sources"), folder.path());
    let row = rows(&at_once).last().unwrap();
    assert_eq!(
        (&row["parameters"]["sources"], &row["parameters"]["point_sources"]),
        (&json!(2), &json!(true))
    );
    let [block, cg] =
        ["whole_solves_iterations", "cg_iterations_of_all"].map(|n| row["details"][n].as_u64().unwrap());
    assert!(0 < block && block < cg, "{row}");

    let masses = result(
        "solver --device 0.0 --dims 4x4x4x4 --multigrid --kappa 0.12,0.125 --samples 3",
        folder.path(),
    );
    for (row, kappa) in rows(&masses).iter().zip([0.12, 0.125]) {
        assert_eq!((&row["kernel"], &row["parameters"]["kappa"]), (&json!("multigrid"), &json!(kappa)));
        let details = &row["details"];
        assert!(details["residual"].as_f64().unwrap() <= 1.01e-10, "{row}");
        assert!(
            details["whole_solve_iterations"].as_u64() < details["bicgstab_iterations"].as_u64(),
            "{row}"
        );
        let [solves, set_up, twelve] = ["twelve_solves_seconds", "set_up_seconds", "twelve_sources_seconds"]
            .map(|name| details[name].as_f64().unwrap());
        assert!((set_up + solves - twelve).abs() < 1e-9, "{row}");
        let [cycles, of_columns] =
            ["whole_solve_iterations", "columns_iterations"].map(|name| details[name].as_u64().unwrap());
        assert!(of_columns <= 2 * cycles, "{row}");
    }
    assert_eq!(rows(&masses).len(), 2);

    // With hops this small a few steps find the solution.
    let heavy = result(&format!("{line} --links 12 --kappa 0.001 --roughness 0.1"), folder.path());
    for (row, other) in rows(&heavy).iter().zip(rows(&found)) {
        assert_eq!((&row["parameters"]["links"], &other["parameters"]["links"]), (&json!(12), &json!(18)));
        assert!(row["details"]["residual"].as_f64().unwrap() < 1e-9, "{row}");
    }
}

#[test]
fn a_result_is_kept_shown_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let line = "bandwidth --device 0.0 --sizes 16K --widths 2 --precision double --only streams --samples 3";
    let mut found = result(line, folder.path());
    let write =
        |name: &str, value: &Value| std::fs::write(folder.path().join(name), value.to_string()).unwrap();
    write("a.json", &found);
    // All rows twice as fast, but for one that is as it was and one that is gone.
    let kept = rows(&found)[0].clone();
    for row in found["rows"].as_array_mut().unwrap() {
        for clock in ["event_seconds", "wall_seconds"] {
            row[clock] = json!({ "quartile": 1.0, "median": 2.0, "upper_quartile": 3.0 });
        }
    }
    write("slow.json", &found);
    for row in found["rows"].as_array_mut().unwrap() {
        row["event_seconds"] = json!({ "quartile": 0.5, "median": 0.6, "upper_quartile": 0.9 });
    }
    found["rows"][0] = kept;
    found["rows"].as_array_mut().unwrap().pop();
    write("fast.json", &found);
    let compare = |line: &str| -> Value { serde_json::from_str(&text(line, folder.path())).unwrap() };
    let same = compare("bench compare a.json a.json --json -q");
    assert!(rows(&same).iter().all(|row| row["moved"] == false && row["ratio"]["median"] == 1.0), "{same}");
    let moved = compare("bench compare slow.json fast.json --json -q");
    assert_eq!((&moved["only_before"], &moved["only_after"]), (&json!(1), &json!(0)));
    let flags: Vec<bool> = rows(&moved).iter().map(|row| row["moved"].as_bool().unwrap()).collect();
    assert_eq!(flags, [true; 6]);
    assert!(common::relative(rows(&moved)[1]["ratio"]["median"].as_f64().unwrap(), 2.0 / 0.6) < 1e-12);
    let shown = text("bench compare slow.json fast.json", folder.path());
    assert!(shown.contains("faster") && shown.contains("6 rows, 6 of them moved"), "{shown}");

    let shown = text("bench show a.json --report page.html", folder.path());
    assert!(shown.contains("triad") && shown.contains("GB/s"), "{shown}");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("<svg") && !page.contains("<script") && !page.contains("src="));
    assert_eq!(text("bench show a.json --csv", folder.path()).lines().count(), 1 + 7);
    write("other.json", &json!({ "schema_version": 1 }));
    for line in ["bench show other.json", "bench show page.html", "bench compare a.json none.json"] {
        assert_eq!(output(line, folder.path()).status.code(), Some(3), "{line}");
    }
}

/// A result of two rows that nothing has to be measured for.
fn small_result(label: &str, gflops: f64) -> Value {
    let time = json!({ "quartile": 1e-3, "median": 1e-3, "upper_quartile": 1e-3 });
    let row = |n: u64| {
        json!({
            "benchmark": "gemm", "kernel": "registers", "parameters": { "element": "d", "n": n, "ops": "NN" },
            "device": 0, "checked": true, "bytes": 24 * n * n, "flops": 2 * n * n * n, "event_seconds": time,
            "wall_seconds": time, "rated_by": "event", "gb_s": 1.0, "gflops": gflops * n as f64,
            "ceiling": null, "share_of_ceiling": null, "details": {},
            "samples": { "event": [1e-3], "wall": [1e-3] }
        })
    };
    let found = json!({
        "schema_version": 2, "version": "0.1.0", "commit": null, "command": ["bench", "gemm"],
        "date": "2026-11-25", "complete": true,
        "devices": [{
            "label": label, "kind": "gpu", "platform": "a platform", "driver": "1", "opencl_version": "1.2",
            "compute_units": 2, "clock_mhz": null, "memory_bytes": null, "cache_bytes": null, "triad_gb_s": 10.0,
            "memory_gb_s": 10.0, "single": null, "double": null
        }],
        "rows": [row(256), row(512), row(1024)]
    });
    assert_valid(&schema(), &found);
    found
}

#[test]
fn several_results_are_one_page() {
    let folder = tempfile::tempdir().unwrap();
    for (name, rate) in [("a", 0.1), ("b", 50.0)] {
        let found = small_result(&format!("device {name}"), rate).to_string();
        std::fs::write(folder.path().join(format!("{name}.json")), found).unwrap();
    }
    text("bench show a.json b.json --report page.html", folder.path());
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert_eq!(page.matches("class=\"headline\"").count(), 2);
    let subject = page.split_once("dgemm: products").unwrap().1.split_once("</figure>").unwrap().0;
    let legend = subject.split_once("<ul").unwrap().1;
    assert!(legend.contains("device a") && legend.contains("device b"), "{legend}");
    assert_eq!(legend.matches("<li>").count(), 2);
    assert!(subject.contains("TFLOP/s, log scale"));
    assert_eq!(text("bench show a.json b.json --csv", folder.path()).lines().count(), 1 + 6);
    for (line, status) in [("a.json b.json --json", 2), ("a.json none.json", 3), ("", 2)] {
        let found = output(&format!("bench show {line}"), folder.path());
        assert_eq!(found.status.code(), Some(status), "{line}");
    }
}

#[test]
fn a_page_that_cannot_be_written_is_known_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    // Hours of work, were it begun.
    let slow = "--samples 1000000 --seconds 1e9 --device host";
    for benchmark in ["bandwidth", "all", "stencil", "solver"] {
        let line = format!("bench {benchmark} {slow} --report none/page.html");
        let started = limited(&line, folder.path());
        assert_eq!(started.status.code(), Some(3), "{line}");
        assert!(started.stdout.is_empty());
        let message = String::from_utf8_lossy(&started.stderr);
        assert!(message.contains("none"), "{message}");
    }
}

#[test]
fn a_page_never_replaces_its_result() {
    let folder = tempfile::tempdir().unwrap();
    let kept = small_result("device", 1.0).to_string();
    for name in ["a.json", "b.json"] {
        std::fs::write(folder.path().join(name), &kept).unwrap();
    }
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut lines = vec!["a.json --report a.json", "a.json b.json --report ./b.json"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.json", folder.path().join("link")).unwrap();
        lines.push("a.json --report link");
    }
    for line in lines {
        let found = output(&format!("bench show {line}"), folder.path());
        assert_eq!(found.status.code(), Some(2), "{line}");
        assert!(String::from_utf8_lossy(&found.stderr).contains("would overwrite the input"), "{line}");
    }
    for name in ["a.json", "b.json"] {
        assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), kept);
    }
}

#[cfg(unix)]
#[test]
fn a_result_that_is_no_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(made.success());
    for line in ["show pipe", "show /dev/zero", "show .", "compare pipe pipe"] {
        let found = limited(&format!("bench {line}"), folder.path());
        assert_eq!(found.status.code(), Some(3), "{line}");
    }
}

/// What the program does within a minute: a longer run has no status.
fn limited(line: &str, directory: &Path) -> std::process::Output {
    let mut command: Command = cargo_bin_cmd!("cr-solve");
    let limit = std::time::Duration::from_secs(60);
    command.current_dir(directory).args(line.split_whitespace()).timeout(limit).output().unwrap()
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_of_all_is_a_valid_result() {
    // When products are announced, streams and vectors are measured.
    let found = common::interrupted::interrupted(
        "bench all --quick --samples 3 --seconds 0.01 --device 0.0 --json --no-tune",
        "gemm",
    );
    assert_valid(&schema(), &found);
    assert_eq!(found["complete"], false);
    let has = |benchmark: &str| rows(&found).iter().any(|row| row["benchmark"] == benchmark);
    assert!(has("bandwidth") && has("blas") && !has("ladder"), "{found}");
}
