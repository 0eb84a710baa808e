//! The page of the book with every option, made from the command line.

use super::command_line;
use clap::{Arg, Command};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Variable that has the page written anew.
const WRITE: &str = "LATTICE_CL_WRITE_DOCUMENTS";

const BEGINNING: &str = "# Options

Every option of the program, with the commands that have it. An option that means different things has a row for each.
The table is made from the program: `LATTICE_CL_WRITE_DOCUMENTS=1 cargo test -p cr-solve --lib options_page` writes it anew.

| option | commands | meaning |
|---|---|---|
";

/// An option with its meaning, and the commands that have it.
type Rows = BTreeMap<(String, String), Vec<String>>;

/// Adds the options of a command and those below.
fn collect(command: &Command, path: &str, rows: &mut Rows) {
    let mut add = |argument: &Arg, command: &str| {
        let entry = rows.entry((signature(argument), meaning(argument))).or_default();
        if !entry.iter().any(|known| known == command) {
            entry.push(command.to_owned());
        }
    };
    for argument in command.get_arguments().filter(|one| one.get_long().is_some() && !one.is_hide_set()) {
        add(argument, if argument.is_global_set() || path.is_empty() { "all" } else { path });
    }
    for below in command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help")
    {
        collect(below, format!("{path} {}", below.get_name()).trim_start(), rows);
    }
}

/// Returns an option with what it takes.
fn signature(argument: &Arg) -> String {
    let long = argument.get_long().unwrap_or_default();
    let short = argument.get_short().map_or_else(String::new, |short| format!("-{short}, "));
    let takes = argument.get_action().takes_values();
    let value = argument.get_value_names().filter(|_| takes).and_then(|names| names.first());
    format!("{short}--{long}{}", value.map_or_else(String::new, |value| format!(" {value}")))
}

/// Returns the first sentence of the help, with values and default.
fn meaning(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let mut text = help.lines().next().unwrap_or_default().to_owned();
    let values = argument.get_possible_values();
    if argument.get_action().takes_values() && !values.is_empty() && !argument.is_hide_possible_values_set() {
        let names: Vec<&str> =
            values.iter().filter(|value| !value.is_hide_set()).map(|value| value.get_name()).collect();
        text += &format!(": {}", names.join(", "));
    }
    let defaults: Vec<_> = argument.get_default_values().iter().map(|one| one.to_string_lossy()).collect();
    if argument.get_action().takes_values() && !defaults.is_empty() {
        text += &format!(" [default: {}]", defaults.join(", "));
    }
    text.replace('|', "\\|").replace('<', "\\<")
}

fn page() -> String {
    let mut command = command_line(&["cr-solve".into()]);
    command.build();
    let mut rows = Rows::new();
    collect(&command, "", &mut rows);
    let rows = rows.iter().map(|((option, meaning), commands)| {
        format!("| `{option}` | {} | {meaning} |\n", commands.join(", "))
    });
    format!("{BEGINNING}{}", rows.collect::<String>())
}

#[test]
fn the_page_of_options_is_that_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/options.md");
    let page = page();
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().find(|line| !written.lines().any(|known| known == *line));
    assert!(written == page, "docs/options.md is not up to date, write it anew by {WRITE}=1: {differs:?}");
    assert!(page.lines().count() > 100, "{page}");
}
