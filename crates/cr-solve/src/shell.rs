//! `cr-solve completions` and `cr-solve man`.
//!
//! They give the command line to shells and to `man`.

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man as Manual;
use lattice_cl::io;
use lattice_cli::destinations::{ANY, Destinations, Overwriting};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::report::Report;
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
    #[command(flatten)]
    overwriting: Overwriting,
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
/// When the folder or a page cannot be written, or a page exists.
pub fn man(arguments: &Man, command: Command) -> Result<Status, Failure> {
    let folder = &arguments.folder;
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let failed = |error| {
        let what = format!("the manual cannot be written into {}", folder.display());
        Failure::new(Status::File, anyhow::Error::new(error).context(what))
    };
    let mut pages = Vec::new();
    add_pages(&command, &mut pages).map_err(failed)?;
    std::fs::create_dir_all(folder).map_err(failed)?;
    let path = |name: &String| folder.join(name);
    Destinations::default()
        .writing("the page", ANY, pages.iter().map(|(name, _)| path(name)))
        .check(arguments.overwriting)?;
    // Pages are there as a whole or not at all.
    for (name, text) in &pages {
        io::write_file(path(name), text)?;
    }
    Ok(Status::Fine)
}

/// Adds the pages of a command and its subcommands, with their file names.
fn add_pages(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    command
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .try_for_each(|command| add_pages(command, pages))?;
    let manual = Manual::new(command.clone());
    let mut page = Vec::new();
    manual.render(&mut page)?;
    pages.push((manual.get_filename(), page));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn pages_are_those_of_the_generator() {
        let folder = tempfile::tempdir().unwrap();
        let [own, generated] = ["own", "generated"].map(|name| folder.path().join(name));
        let command = crate::Program::command();
        man(&Man { folder: own.clone(), overwriting: Overwriting { force: false } }, command.clone())
            .unwrap();
        std::fs::create_dir(&generated).unwrap();
        clap_mangen::generate_to(command, &generated).unwrap();
        let files = |folder: &PathBuf| {
            let mut names: Vec<_> =
                std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
                .into_iter()
                .map(|name| (name.clone(), std::fs::read(folder.join(name)).unwrap()))
                .collect::<Vec<_>>()
        };
        let pages = files(&own);
        assert!(pages.len() > 20 && pages == files(&generated));
    }
}
