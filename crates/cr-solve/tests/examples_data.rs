//! The inputs of `examples/data`, with the commands and the values of its page.

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a command line of the page on the host, in the root of the repository.
fn result(line: &str) -> Value {
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(words[0], "cr-solve", "{line}");
    let mut command = cargo_bin_cmd!("cr-solve");
    let output = command
        .current_dir(root())
        .args(&words[1..])
        .args(["--device", "host", "--json", "--quiet"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_command_of_the_page_gives_its_value() {
    let page = std::fs::read_to_string(root().join("examples/data/README.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| `cr-solve"));
    let mut used = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [_, line, entry, value, ..] = cells[..] else { panic!("{row}") };
        let result = result(line);
        let found =
            result.pointer(entry).and_then(Value::as_f64).unwrap_or_else(|| panic!("{row}: {result}"));
        match value.strip_prefix("below ") {
            Some(most) => assert!(found <= most.parse().unwrap(), "{row}: {found}"),
            None => {
                let decimals = value.split('.').next_back().unwrap().len() as i32;
                let value: f64 = value.parse().unwrap();
                assert!((found - value).abs() <= 0.6 * 0.1_f64.powi(decimals), "{row}: {found}");
            }
        }
        used.push(line.to_owned());
    }
    for file in std::fs::read_dir(root().join("examples/data")).unwrap() {
        let file = file.unwrap();
        assert!(file.metadata().unwrap().len() <= 200_000, "{file:?}");
        let name = file.file_name().into_string().unwrap();
        let is_input = !name.ends_with(".md") && !name.ends_with(".py");
        assert!(!is_input || used.iter().any(|line| line.contains(&name)), "no command uses {name}");
    }
}

/// The job file beside the data is one that runs where it lies.
#[test]
fn the_job_of_the_examples_finds_its_configuration() {
    let result = result("cr-solve run examples/spectrum.toml");
    assert_eq!(result["configuration"]["file"], "examples/data/b5.8.nersc");
    assert_eq!(result["converged"], true);
}
