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
use std::path::{Path, PathBuf};

/// The command line of `completions`.
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell; with --install the one that SHELL names, unless another is given
    #[arg(required_unless_present = "install")]
    shell: Option<Shell>,
    /// Write the script to the place where the shell looks for it
    #[arg(long)]
    install: bool,
    #[command(flatten)]
    overwriting: Overwriting,
}

/// The command line of `man`.
#[derive(Debug, clap::Args)]
pub struct Man {
    /// The folder; it is made if it is not there
    folder: PathBuf,
    #[command(flatten)]
    overwriting: Overwriting,
}

/// Prints or installs the script that completes command lines.
///
/// # Errors
/// When the shell is not known, and when the script cannot be written or is there already.
pub fn completions(
    arguments: &Completions,
    mut command: Command,
    report: &Report,
) -> Result<Status, Failure> {
    let unknown = || {
        Failure::usage("the variable SHELL names no shell that is known".to_owned())
            .hint("name it: `cr-solve completions bash --install`")
    };
    let shell = arguments.shell.or_else(Shell::from_env).ok_or_else(unknown)?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "cr-solve", &mut script);
    if !arguments.install {
        report.text(String::from_utf8_lossy(&script).trim_end())?;
        return Ok(Status::Fine);
    }
    let file = place(shell, |name| std::env::var_os(name).map(PathBuf::from))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| {
        let what = format!("the folder {} cannot be made", folder.display());
        Failure::new(Status::File, anyhow::Error::new(error).context(what))
    })?;
    Destinations::default().writing("the script", ANY, [&file]).check(arguments.overwriting)?;
    io::write_file(&file, &script)?;
    report.text(format_args!("wrote {}", file.display()))?;
    match shell {
        Shell::Zsh => {
            report.note(format_args!("put `fpath=({} $fpath)` before compinit in ~/.zshrc", folder.display()))
        }
        Shell::Elvish => report.note("put `use cr-solve` into ~/.config/elvish/rc.elv"),
        _ => {}
    }
    Ok(Status::Fine)
}

/// Returns the file in which a shell looks for the script. `variable` looks up the environment.
fn place(shell: Shell, variable: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf, Failure> {
    let set = |name| variable(name).filter(|path| path.is_absolute());
    let base = |name, below: &str| set(name).or_else(|| Some(set("HOME")?.join(below)));
    let data = || base("XDG_DATA_HOME", ".local/share");
    let settings = || base("XDG_CONFIG_HOME", ".config");
    let file = match shell {
        Shell::Bash => data().map(|data| data.join("bash-completion/completions/cr-solve")),
        Shell::Zsh => data().map(|data| data.join("zsh/site-functions/_cr-solve")),
        Shell::Fish => settings().map(|settings| settings.join("fish/completions/cr-solve.fish")),
        Shell::Elvish => settings().map(|settings| settings.join("elvish/lib/cr-solve.elv")),
        _ => {
            let failure = Failure::usage(format!("{shell} has no folder for such scripts"));
            return Err(
                failure.hint(format!("add the output of `cr-solve completions {shell}` to its profile"))
            );
        }
    };
    file.ok_or_else(|| Failure::usage("the variable HOME names no folder to install into".to_owned()))
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
    fn every_shell_has_its_place_or_says_that_it_has_none() {
        let home = |name: &str| (name == "HOME").then(|| PathBuf::from("/home/a"));
        for (shell, file) in [
            (Shell::Bash, "/home/a/.local/share/bash-completion/completions/cr-solve"),
            (Shell::Zsh, "/home/a/.local/share/zsh/site-functions/_cr-solve"),
            (Shell::Fish, "/home/a/.config/fish/completions/cr-solve.fish"),
            (Shell::Elvish, "/home/a/.config/elvish/lib/cr-solve.elv"),
        ] {
            assert_eq!(place(shell, home).unwrap(), Path::new(file));
        }
        let moved = |name: &str| (name == "XDG_DATA_HOME").then(|| PathBuf::from("/data"));
        let bash = place(Shell::Bash, moved).unwrap();
        assert_eq!(bash, Path::new("/data/bash-completion/completions/cr-solve"));
        assert_eq!(place(Shell::PowerShell, home).unwrap_err().status, Status::Usage);
        assert_eq!(place(Shell::Fish, |_| None).unwrap_err().status, Status::Usage);
    }

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
