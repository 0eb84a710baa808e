//! What the tests of the program share, beside what all tests do.
#![allow(dead_code)]

#[cfg(unix)]
pub mod interrupted;
pub mod schema;

#[path = "../../../../tests/common/mod.rs"]
mod library;
#[allow(unused_imports)]
pub use library::*;

/// Runs `analyse`, and returns its status, output and messages.
pub fn analyse(folder: &tempfile::TempDir, line: &str) -> (i32, String, String) {
    let words = line.split_whitespace();
    let output = assert_cmd::cargo::cargo_bin_cmd!("cr-solve")
        .current_dir(folder)
        .arg("analyse")
        .args(words)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}
