//! `cr-solve completions` and `cr-solve man`.
//!
//! They give the command line to shells and to `man`.

use super::failure::{Failure, Status};
use super::report::Report;
use anyhow::Context;
use clap::Command;
use clap_complete::Shell;
use std::path::PathBuf;

/// The command line of `completions`.
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// The command line of `man`.
#[derive(Debug, clap::Args)]
pub struct Man {
    /// The folder; it is made if it is not there
    folder: PathBuf,
}

/// Prints the script that completes command lines.
///
/// # Errors
/// When the script cannot be written.
pub fn completions(
    arguments: &Completions,
    mut command: Command,
    report: &Report,
) -> Result<Status, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "cr-solve", &mut script);
    report.text(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Status::Fine)
}

/// Writes a page for every command.
///
/// # Errors
/// When the folder or a page cannot be written.
pub fn man(arguments: &Man, command: Command) -> Result<Status, Failure> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command, folder))
        .with_context(|| format!("the manual cannot be written into {}", folder.display()))
        .map_err(|error| Failure::new(Status::File, error))?;
    Ok(Status::Fine)
}
