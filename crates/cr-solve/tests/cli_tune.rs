//! `cr-solve tune` as a user runs it, and what becomes of its results.

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Output;
use tempfile::TempDir;

/// A tuning file that is not there yet.
struct TuningFile {
    _folder: TempDir,
    file: PathBuf,
}

impl TuningFile {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tuning.json");
        Self { _folder: folder, file }
    }

    fn run(&self, line: &str) -> Output {
        let mut command = cargo_bin_cmd!("cr-solve");
        command.env("LATTICE_CL_TUNING_FILE", &self.file).env_remove("LATTICE_CL_NO_CACHE");
        command.args(line.split_whitespace()).output().unwrap()
    }

    fn json(&self, line: &str) -> Value {
        let output = self.run(&format!("{line} --json -q"));
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    #[track_caller]
    fn assert_refused(&self, line: &str, status: i32, words: &str) {
        let output = self.run(line);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{line}: {message}");
        assert!(message.contains(words), "{line}: {message}");
        assert!(output.stdout.is_empty());
    }
}

/// One precision and storage on the smallest lattice.
const CASE: &str = "--device 0.0 --dims 4x4x4x4 --precision single --links 12";

#[test]
fn what_tune_finds_is_kept_listed_used_and_cleared() {
    let tuning = TuningFile::new();
    let found = tuning.json(&format!("tune {CASE} --budget 1"));
    let rows = found["rows"].as_array().unwrap();
    let kernels =
        [("full", false), ("parity", false), ("parity+shift", false), ("full", true), ("parity+shift", true)];
    for (row, (region, product)) in rows.iter().zip(kernels) {
        assert_eq!(
            row["options"],
            format!("region={region} precision=single links=12 sources=1 product={product}")
        );
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(number("microseconds") > 0.0 && number("microseconds") <= number("shipped_microseconds"));
        assert!(number("gain") == 1.0 || number("gain") > 1.01, "{row}");
        assert_eq!(row["variant"] == row["shipped"], number("gain") == 1.0);
        assert!(number("variants_tried") >= 1.0);
    }
    assert_eq!(rows.len(), kernels.len());
    assert_eq!(found["file"], tuning.file.to_str().unwrap());

    let listed = tuning.json("tune --list");
    let entries = listed["entries"].as_array().unwrap();
    assert_eq!(entries.len(), rows.len());
    for (entry, row) in entries.iter().zip(rows) {
        for key in ["kernel", "options", "extents", "variant", "microseconds", "variants_tried"] {
            assert_eq!(entry[key], row[key], "{key}");
        }
        assert_eq!((&entry["device"], &entry["driver"]), (&found["device"], &found["driver"]));
    }

    // Another work-group than any that is shipped, as a person might write it.
    let mut edited: Value = serde_json::from_slice(&fs::read(&tuning.file).unwrap()).unwrap();
    for entry in edited["entries"].as_array_mut().unwrap() {
        entry["variant"]["work_group"] = 3.into();
    }
    fs::write(&tuning.file, edited.to_string()).unwrap();
    let used = |option: &str| {
        let found = tuning.json(&format!("bench stencil {CASE} --launches 1 {option}"));
        found["rows"][0]["details"]["tuning"]["work_group"].as_u64().unwrap()
    };
    assert_eq!(used(""), 3);
    assert_ne!(used("--no-tune"), 3);

    assert_eq!(tuning.json("tune --device 0.0 --clear")["removed"], kernels.len());
    assert_eq!(tuning.json("tune --device 0.0 --clear")["removed"], 0);
    assert_eq!(tuning.json("tune --list")["entries"], serde_json::json!([]));

    // Kernels with a clover term are others.
    let clover = tuning.json(&format!("tune {CASE} --operator clover --budget 0"));
    for (row, other) in clover["rows"].as_array().unwrap().iter().zip(rows) {
        assert_eq!(row["options"], format!("{} clover=true", other["options"].as_str().unwrap()));
    }
    assert_eq!(clover["rows"].as_array().unwrap().len(), rows.len());
}

#[test]
fn axes_of_transforms_are_tuned_and_used() {
    let tuning = TuningFile::new();
    let line = "tune fft --device 0.0 --sizes 12x30,17 --precision single --kind c2c,r2c --budget 1";
    let found = tuning.json(line);
    let rows = found["rows"].as_array().unwrap();
    let keys: Vec<_> =
        rows.iter().map(|row| [&row["options"], &row["extents"]].map(|x| x.as_str().unwrap())).collect();
    for (kind, length) in [("c2c", 30), ("c2c", 12), ("r2c", 30), ("c2c", 17), ("r2c", 17)] {
        let options = format!("element=c kind={kind} lines=rows");
        assert!(keys.contains(&[&options, &format!("n={length}")]), "{keys:?}");
    }
    assert!(rows.iter().all(|row| row["kernel"] == "fft"));
    assert!(rows.iter().any(|row| row["variants_tried"].as_u64().unwrap() > 1), "{rows:?}");
    // What was found is read and used, and its numbers are checked.
    let used =
        tuning.json("bench fft --device 0.0 --sizes 12x30,17 --precision s --samples 2 --seconds 0.01");
    assert_eq!(used["rows"].as_array().unwrap().len(), 6);
    let listed = tuning.json("tune --list");
    assert!(listed["entries"].as_array().unwrap().iter().any(|entry| entry["kernel"] == "fft"));
    tuning.assert_refused("tune fft --device 0.0 --sizes 8x0", 2, "one to four extents");
}

#[test]
fn products_of_matrices_are_tuned_by_classes_of_their_extents() {
    let tuning = TuningFile::new();
    let line =
        "tune gemm --device 0.0 --sizes 40,33x64x20 --precision single --elements real --forms nt --budget 1";
    let found = tuning.json(line);
    let rows = found["rows"].as_array().unwrap();
    let extents: Vec<_> = rows.iter().map(|row| row["extents"].as_str().unwrap()).collect();
    assert_eq!(extents, ["m<=2^6 n<=2^6 k<=2^6", "m<=2^6 n<=2^6 k<=2^5"]);
    for row in rows {
        assert_eq!(row["options"], "element=s arithmetic=ieee form=nt");
        assert_eq!(row["variant"] == row["shipped"], row["gain"] == 1.0, "{row}");
    }
    let kept = tuning.json("tune --list");
    assert_eq!(kept["entries"][0]["variant"], rows[0]["variant"]);
    tuning.assert_refused("tune gemm --sizes 8x8", 2, "8192x32x8192");
}

#[test]
fn a_file_that_is_not_understood_is_refused_before_the_work_and_left_as_it_is() {
    let tuning = TuningFile::new();
    for (content, words) in [
        ("{ \"schema_version\": 7, \"entries\": [] }", "schema_version 7"),
        ("{ \"schema_version\": 1, \"entr", "move it away"),
    ] {
        fs::write(&tuning.file, content).unwrap();
        for line in [&format!("tune {CASE}"), "tune --list", "tune --clear --device 0.0"] {
            tuning.assert_refused(line, 3, words);
        }
        assert_eq!(fs::read_to_string(&tuning.file).unwrap(), content);
    }
    // Other commands go on, and say so.
    let output = tuning.run(&format!("bench stencil {CASE} --launches 1"));
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("tuning.json: not a tuning file"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let tuning = TuningFile::new();
    tuning.assert_refused("tune --no-tune", 2, "--no-tune");
    tuning.assert_refused("tune --device host", 2, "--device");
    tuning.assert_refused("tune --list --no-cache", 2, "--no-cache");
    tuning.assert_refused("tune --list --clear", 2, "--clear");
    tuning.assert_refused("tune nonsense", 2, "nonsense");
    // Each family has options of its own, and none is passed over.
    for (family, option) in [
        ("gemm", "--links 8"),
        ("fft", "--rhs 2"),
        ("md", "--forms nn"),
        ("sparse", "--dims 4x4x4x4"),
        ("stencil", "A.mtx"),
    ] {
        let name = option.split(' ').next().unwrap();
        tuning.assert_refused(&format!("tune {family} {option}"), 2, name);
    }
    tuning.assert_refused("tune --dims 4x4x4x3", 2, "4x4x4x3");
    assert!(!tuning.file.exists());
}
