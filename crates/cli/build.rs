//! Tells the program which commit it was built from.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // What is measured and published is built for release; other builds need not be made anew for each commit.
    if std::env::var("PROFILE").as_deref() != Ok("release") {
        return;
    }
    // Whatever is compiled, and where git keeps what HEAD was and is.
    for path in ["../../src", "../../cl", "../../solvers/src", "../../crates", "../../Cargo.toml"] {
        println!("cargo::rerun-if-changed={path}");
    }
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    if let Some(commit) = git(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]) {
        println!("cargo::rustc-env=LATTICE_CL_COMMIT={commit}");
    }
}

/// What git says; `None` where there is no git, or no repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}
