//! Histories of measurements: values of another program, and input that is refused.

use crate::synthetic::{reference, values};

use crate::common::analyse as run;
use lattice_cl::io::write_results;
use lattice_statistics::{Observable, Quantity, Replica, Series, gamma_method};
use serde_json::Value;
use std::fmt::Write;
use tempfile::TempDir;

#[track_caller]
fn json(folder: &TempDir, line: &str) -> Value {
    let (status, output, messages) = run(folder, &format!("{line} --json"));
    assert_eq!(status, 0, "{line}: {messages}");
    serde_json::from_str(&output).unwrap()
}

fn write(folder: &TempDir, name: &str, text: &str) {
    std::fs::write(folder.path().join(name), text).unwrap();
}

/// Writes one number a line, with a comment, in a form that gives the numbers back.
fn write_series(folder: &TempDir, name: &str, values: &[f64]) {
    let lines: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    write(folder, name, &format!("# a history\n{}\n", lines.join("\n")));
}

const KEYS: [&str; 5] = ["mean", "error", "error_of_error", "tau_int", "tau_int_error"];

#[track_caller]
fn expect_close(found: &Value, expected: [f64; 5]) {
    for (key, expected) in KEYS.into_iter().zip(expected) {
        let number = found[key].as_f64().unwrap();
        assert!((number - expected).abs() <= 1e-10 * expected.abs(), "{key}: {number} is not {expected}");
    }
}

#[test]
fn the_reference_file_is_met() {
    let Some(reference) = reference() else { return };
    let folder = tempfile::tempdir().unwrap();
    let cases = reference["cases"].as_array().unwrap();
    let primary: Vec<&Value> = cases.iter().filter(|case| case["kind"] == "primary").collect();
    assert!(primary.len() >= 6);
    for case in primary {
        let number = |key: &str| case[key].as_f64().unwrap();
        let series = values(case["seed"].as_u64().unwrap(), number("n") as usize, number("a"));
        write_series(&folder, "series.txt", &series);
        let found = json(&folder, &format!("--series series.txt --window-parameter {}", case["S"]));
        expect_close(&found, KEYS.map(number));
        assert_eq!(found["window"], case["window"]);
    }
}

#[test]
fn several_files_are_replica() {
    let folder = tempfile::tempdir().unwrap();
    let runs = [values(21, 700, 0.6), values(22, 1000, 0.6)];
    write_series(&folder, "a.txt", &runs[0]);
    write_series(&folder, "b.txt", &runs[1]);
    let replica =
        ["a.txt", "b.txt"].into_iter().zip(runs).map(|(name, run)| Replica::new(name, run).unwrap());
    let observable = Observable::from_series(&Series::new(replica.collect()).unwrap());
    let expected = gamma_method(&observable, 1.5).unwrap().unwrap();
    let numbers = [
        observable.value(),
        expected.error,
        expected.error_of_error,
        expected.tau_int,
        expected.tau_int_error,
    ];
    for line in ["--series a.txt b.txt", "--series a.txt --series b.txt"] {
        let found = json(&folder, &format!("{line} --window-parameter 1.5"));
        expect_close(&found, numbers);
        assert_eq!(found["window"], expected.window);
        assert_eq!(found["replica"][1]["measurements"], 1000);
    }
}

/// Lines of configuration number, a random number, and the same random number with commas between.
fn table(numbers: impl Iterator<Item = usize>) -> String {
    let series = values(23, 1000, 0.8);
    let mut text = "trajectory,plaquette,twice\n".to_owned();
    for number in numbers {
        writeln!(text, "{},{:?},{:?}", 2 * number, series[number], 2.0 * series[number]).unwrap();
    }
    text
}

#[test]
fn columns_have_names_and_configurations_numbers() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "all.csv", &table(0..1000));
    write(&folder, "gap.csv", &table((0..1000).filter(|number| number % 7 != 3)));
    let plain = json(&folder, "--series all.csv --column plaquette");
    let both = json(&folder, "--series all.csv --numbers 1");
    assert_eq!(both["columns"].as_array().unwrap().len(), 2);
    assert!(both.get("mean").is_none() && plain.get("columns").is_none());
    for key in KEYS {
        assert_eq!(both["columns"][0][key], plain[key], "{key}");
    }
    assert_eq!((&both["columns"][0]["spacing"], &plain["spacing"]), (&Value::from(2), &Value::from(1)));
    let doubled = both["columns"][1]["error"].as_f64().unwrap() / plain["error"].as_f64().unwrap();
    assert!((doubled - 2.0).abs() < 1e-12, "{doubled}");

    let line = "--series gap.csv --column plaquette --numbers trajectory";
    let (status, _, messages) = run(&folder, line);
    assert!(status == 3 && messages.contains("gap between trajectories 4 and 8"), "{messages}");
    let [account, ignore] = ["account", "ignore"].map(|gaps| json(&folder, &format!("{line} --gaps {gaps}")));
    assert_eq!(account["mean"], ignore["mean"]);
    assert!(account["tau_int"].as_f64() > ignore["tau_int"].as_f64());
    assert!(account["warnings"][0].as_str().unwrap().contains("misses 143 trajectories"), "{account}");
}

#[test]
fn json_has_histories_too() {
    let folder = tempfile::tempdir().unwrap();
    let series = values(24, 200, 0.5);
    write_series(&folder, "plain.txt", &series);
    let lines: Vec<String> =
        series.iter().enumerate().map(|(n, x)| format!("{{\"n\": {n}, \"e\": {{\"c\": {x:?}}}}}")).collect();
    write(&folder, "lines.jsonl", &format!("\u{feff}{}\n", lines.join("\n")));
    write(&folder, "list.json", &format!("{{\"history\": {series:?}}}"));
    let plain = json(&folder, "--series plain.txt");
    for line in ["lines.jsonl --column e.c --numbers n", "list.json --column history"] {
        let found = json(&folder, &format!("--series {line}"));
        KEYS.iter().for_each(|key| assert_eq!(found[key], plain[key], "{line}: {key}"));
    }
}

#[test]
fn results_as_hdf5_have_the_keys_of_json() {
    let folder = tempfile::tempdir().unwrap();
    let series = values(24, 200, 0.5);
    let numbers: Vec<u64> = (0..200).map(|n| 3 * n).collect();
    let result = serde_json::json!({ "run": { "history": series, "n": numbers }, "beta": 6.0 });
    for name in ["a.json", "a.h5"] {
        write_results(folder.path().join(name), &result).unwrap();
    }
    std::fs::rename(folder.path().join("a.h5"), folder.path().join("unnamed")).unwrap();
    let line = "--column run.history --numbers run.n";
    let expected = json(&folder, &format!("--series a.json {line}"));
    let found = json(&folder, &format!("--series unnamed {line}"));
    KEYS.iter().for_each(|key| assert_eq!(found[key], expected[key], "{key}"));
    assert_eq!(found["spacing"], 3);
    let (status, _, messages) = run(&folder, "--series unnamed");
    assert!(status == 3 && messages.contains("choose run.history, run.n or beta"), "{messages}");
    write(&folder, "other.h5", "\u{89}");
    let (status, _, messages) = run(&folder, "--series other.h5 --column a");
    assert!(status == 3 && messages.contains("other.h5: is no result of a job: it is no JSON"), "{messages}");
}

/// Measurements as pyerrors writes them: configuration number, and deviation from the value.
fn deltas(values: &[f64], mean: f64) -> Vec<Value> {
    let row = |(at, value): (usize, &f64)| serde_json::json!([at + 1, value - mean]);
    values.iter().enumerate().map(row).collect()
}

#[test]
fn files_of_pyerrors_have_the_errors_of_pyerrors() {
    let folder = tempfile::tempdir().unwrap();
    let runs = [values(21, 700, 0.6), values(22, 1000, 0.6)];
    let mean = 0.9975378351999818;
    let replica = ["r1", "r2"]
        .into_iter()
        .zip(&runs)
        .map(|(name, run)| serde_json::json!({ "name": format!("A|{name}"), "deltas": deltas(run, mean) }));
    let data = serde_json::json!([{ "id": "A", "replica": replica.collect::<Vec<_>>() }]);
    let entry = serde_json::json!({ "type": "Obs", "layout": "1", "value": [mean], "data": data });
    let file = serde_json::json!({ "program": "pyerrors 2.17.0", "version": "1.1", "obsdata": [entry] });
    write(&folder, "a.json", &file.to_string());
    let found = json(&folder, "--series a.json");
    let expected =
        [mean, 0.004943518529599229, 0.0004870277169103238, 2.2328765893193125, 0.4021340423469892];
    expect_close(&found, expected);
    assert_eq!((&found["window"], &found["replica"][1]["name"]), (&16.into(), &"a.json, A|r2".into()));
    let (status, _, messages) = run(&folder, "--series a.json --column 2");
    assert!(status == 3 && messages.contains("no column 2; choose 1"), "{messages}");
    let (status, _, messages) = run(&folder, "--series a.json --numbers 1");
    assert!(status == 3 && messages.contains("leave out --numbers"), "{messages}");
}

#[test]
fn a_plot_has_the_autocorrelation_and_its_window() {
    let folder = tempfile::tempdir().unwrap();
    write_series(&folder, "series.txt", &values(3, 2000, 0.8));
    let found = json(&folder, "--series series.txt --plot tau.svg");
    let drawn = std::fs::read_to_string(folder.path().join("tau.svg")).unwrap();
    let window = format!("window {}, τ_int", found["window"]);
    assert!(drawn.contains(&window) && drawn.contains("series.txt"), "{drawn}");
    let (status, text, _) = run(&folder, "--series series.txt");
    assert!(status == 0 && text.contains("9.9511808959e-01") && text.contains("2000 measurements"), "{text}");
}

#[test]
fn what_has_no_error_is_named() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "nan.txt", "1\n2\nNaN\n4\n5\n");
    write(&folder, "one.txt", "1.5\n");
    write(&folder, "three.txt", "1\n2\n4\n");
    write(&folder, "constant.txt", &"0.1\n".repeat(50));
    write(&folder, "other.txt", &"0.2\n".repeat(50));
    write(&folder, "uneven.txt", "1 2\n3 4\n5\n");
    write(&folder, "twice.txt", "1 0.5\n2 0.25\n2 0.25\n3 0.75\n");
    write(&folder, "empty.txt", "# no number\n\n");
    write(&folder, "word.txt", "1\nO.5\n");
    write(&folder, "wide.txt", "1 2\n3 4\n5 7\n9 0\n");
    std::fs::write(folder.path().join("packed.json.gz"), b"\x1f\x8b\x08\x00").unwrap();
    write(&folder, "tiny.txt", &"0\n5e-324\n0\n".repeat(20));
    write_series(&folder, "fine.txt", &values(1, 100, 0.0));
    write_series(&folder, "short.txt", &values(5, 100, 0.95));
    for (line, status, wanted) in [
        ("nan.txt", 3, "nan.txt, line 3: `NaN` is not finite"),
        ("one.txt", 3, "one.txt has one measurement"),
        ("three.txt", 3, "three.txt has 3 measurements, too few"),
        ("constant.txt", 3, "constant.txt is constant: all measurements are 0.1"),
        ("tiny.txt", 3, "the error of tiny.txt is below the smallest number"),
        ("constant.txt other.txt", 3, "the series is constant"),
        ("uneven.txt", 3, "uneven.txt, line 3: 1 columns follow lines of 2"),
        ("twice.txt --numbers 1", 3, "twice.txt, line 3: configuration 2 is there twice"),
        ("empty.txt", 3, "empty.txt: there are no measurements"),
        ("word.txt", 3, "word.txt, line 2: `O.5` is no number"),
        ("fine.txt ./fine.txt", 3, "fine.txt and ./fine.txt have the same measurements"),
        ("fine.txt wide.txt", 3, "wide.txt has the columns 1, 2, and fine.txt has 1"),
        ("wide.txt --column 3", 3, "no column 3; choose 1 or 2"),
        ("packed.json.gz", 3, "packed.json.gz: the file is compressed"),
        ("missing.txt", 3, "missing.txt: cannot read it"),
        ("fine.txt --window-parameter -1", 2, "the window parameter is -1"),
        ("fine.txt --column 0", 2, "columns are counted from 1"),
        ("fine.txt --gaps ignore", 2, "--numbers"),
        ("fine.txt --list", 2, "cannot be used with"),
    ] {
        let (found, output, messages) = run(&folder, &format!("--series {line}"));
        assert!(found == status && messages.contains(wanted) && output.is_empty(), "{line}: {messages}");
    }
    assert_eq!(run(&folder, "fine.txt --series fine.txt").0, 2);
    assert_eq!(run(&folder, "fine.txt --window-parameter 2").0, 2);
    assert_eq!(json(&folder, "--series three.txt --window-parameter 0")["tau_int"], 0.5);
    let (status, _, messages) = run(&folder, "--series short.txt");
    assert!(status == 0 && messages.contains("100 measurements are few"), "{messages}");
}
