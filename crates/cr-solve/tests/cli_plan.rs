//! `cr-solve plan`: what a job takes, before it runs.

use crate::common;

use assert_cmd::cargo::cargo_bin_cmd;
use common::sample;
use lattice_cl::Precision;
use lattice_cl::io::{Format, WriteOptions, write_gauge};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

/// Runs the program on the host, and returns its status, output and messages.
fn run(folder: &TempDir, line: &str) -> (i32, String, String) {
    let words = line.split_whitespace().chain(["--device", "host"]);
    let output = cargo_bin_cmd!("cr-solve").current_dir(folder).args(words).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn plan(folder: &TempDir, line: &str) -> Value {
    let (status, output, messages) = run(folder, &format!("plan job.toml --json {line}"));
    assert_eq!(status, 0, "{messages}");
    serde_json::from_str(&output).unwrap()
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let config = sample([2, 2, 4, 4], Precision::Double);
    write_gauge(folder.path().join("a.ildg"), &config, &WriteOptions::new(Format::Ildg)).unwrap();
    let job = "command = \"spectrum\"\nconfiguration.file = \"a.ildg\"\naction.kappa = 0.1\n\
               [solver]\nsolver = \"cg\"\n[outputs]\nresults = \"r.json\"\noutput = \"p.lime\"\ncheckpoint = \"c\"\n";
    fs::write(folder.path().join("job.toml"), job).unwrap();
    folder
}

#[test]
fn a_plan_tells_what_the_job_takes_and_writes_nothing() {
    let folder = folder();
    let told = plan(&folder, "");
    assert_eq!((&told["dims"], &told["solves"]), (&serde_json::json!([2, 2, 4, 4]), &12.into()));
    assert_eq!((&told["fits"], &told["time"]), (&true.into(), &Value::Null));
    assert_eq!(told["memory"][0]["owner"], "this machine");
    assert_eq!(told["solutions_bytes"], 12 * 192 * 64);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);

    // The time of the same job, and of one on eight times as many sites.
    assert_eq!(run(&folder, "run job.toml --quiet").0, 0);
    let result: Value = serde_json::from_slice(&fs::read(folder.path().join("r.json")).unwrap()).unwrap();
    let same = plan(&folder, "--like r.json");
    let ratio = same["time"]["seconds"].as_f64().unwrap() / result["seconds"]["solve"].as_f64().unwrap();
    assert!((ratio - 1.0).abs() < 1e-9, "{same}");
    let set = "--set configuration.file=\"none.ildg\" --dims 4x4x8x8";
    let larger = plan(&folder, &format!("{set} --like r.json"));
    let ratio = larger["time"]["seconds"].as_f64().unwrap() / same["time"]["seconds"].as_f64().unwrap();
    assert!((ratio - 16.0).abs() < 1e-9, "{larger}");
    let bytes = |told: &Value| told["memory"][0]["bytes"].as_f64().unwrap();
    assert_eq!(bytes(&larger), 16.0 * bytes(&same));

    // Extents of the command line are those that are asked about.
    assert_eq!(plan(&folder, "--dims 4x4x8x8")["dims"], serde_json::json!([4, 4, 8, 8]));

    // A result of another operator tells no time, and says why.
    let (status, output, messages) = run(&folder, "plan job.toml --like r.json --set action.csw=1.0");
    assert!(status == 0 && output.contains("not known"), "{output}");
    assert!(messages.contains("it has the operator Wilson operator"), "{messages}");
}

#[test]
fn a_job_that_cannot_fit_is_refused_with_what_would() {
    let folder = folder();
    // Links and solutions of 10^9 sites.
    let set = "--set configuration.file=\"none.ildg\" --dims 192x192x192x192";
    let (status, output, messages) = run(&folder, &format!("plan job.toml {set}"));
    assert_eq!(status, 2, "{messages}");
    assert!(output.contains("fits") && output.contains("NO"), "{output}");
    assert!(
        messages.contains("the job does not fit: it takes") && messages.contains("of this machine"),
        "{messages}"
    );
    assert!(messages.contains("machines in place of 1"), "{messages}");
    // What is no configuration, and one that is not there without extents.
    let (status, _, messages) = run(&folder, "plan job.toml --set configuration.file=\"none.ildg\"");
    assert!(status == 3 && messages.contains("--dims"), "{messages}");
    assert_eq!(run(&folder, "plan job.toml --set configuration.file=\"job.toml\"").0, 3);
    assert_eq!(run(&folder, "plan job.toml --like job.toml").0, 3);
}
