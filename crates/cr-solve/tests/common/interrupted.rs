//! Runs of the program that are ended by Ctrl-C.

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// What `cr-solve` prints with `--json` when SIGINT comes as soon as it announces something with `announced` in it. It has to end with status 130.
pub fn interrupted(line: &str, announced: &str) -> Value {
    let mut child = Command::new(cargo_bin!("cr-solve"))
        .args(line.split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(notes.any(|line| line.unwrap().contains(announced)));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    serde_json::from_str(&text).unwrap()
}
