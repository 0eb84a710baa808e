//! Tests of the documents against the program.
//!
//! The program takes every command line in the documents, and every link leads somewhere.

use super::*;
use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the Markdown pages for users, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let root = repository();
    let mut paths: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "crates/cr-solve/README.md"]
            .map(|name| root.join(name))
            .into();
    for folder in ["docs", "docs/measurements"] {
        paths.extend(fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// Returns lines in fences that begin with the program's name, without comments.
fn command_lines(text: &str) -> Vec<&str> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = !inside;
        } else if inside && line.starts_with("cr-solve ") {
            found.push(line.split(" #").next().unwrap().trim_end());
        }
    }
    found
}

/// Returns the words of a command line, like a shell: quotes join what is between them.
fn words(line: &str) -> Vec<OsString> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for letter in line.chars() {
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => quote = Some(letter),
            (' ', None) => words.push(String::new()),
            _ => words.last_mut().expect("there is a word").push(letter),
        }
    }
    words.into_iter().filter(|word| !word.is_empty()).map(OsString::from).collect()
}

/// Returns the texts in the round brackets of Markdown links.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

#[test]
fn every_command_line_of_the_documents_is_understood() {
    let mut count = 0;
    for (path, text) in pages() {
        for line in command_lines(&text) {
            count += 1;
            if let Err(error) = parse(&prepared(words(line))) {
                assert!(!error.use_stderr(), "{}: {line}: {error}", path.display());
            }
        }
    }
    assert!(count >= 20, "only {count} command lines were found");
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    for (path, text) in pages() {
        for link in links(&text).filter(|link| !link.contains("://")) {
            let file = path.parent().unwrap().join(link.split('#').next().unwrap());
            assert!(file.exists(), "{}: nothing is at {link}", path.display());
        }
    }
}

#[test]
fn the_book_has_every_page() {
    let docs = repository().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for (path, _) in pages().iter().filter(|(path, _)| path.starts_with(&docs)) {
        let name = path.strip_prefix(&docs).unwrap().to_str().unwrap();
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("({name})")),
            "{name} is not in SUMMARY.md"
        );
    }
}

/// Collects the files under a folder, relative to the folder.
fn files_under(folder: &Path, prefix: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = prefix.join(entry.file_name());
        if entry.path().is_dir() { files_under(&entry.path(), &name, found) } else { found.push(name) }
    }
}

#[test]
fn raw_runs_are_those_that_pages_of_measurements_cite() {
    let cited = pages().into_iter().filter(|(path, _)| path.to_string_lossy().contains("measurements"));
    let page: String = cited.map(|(_, text)| text).collect();
    let runs = repository().join("bench/runs");
    let begins_with_a_date =
        |text: &&str| text.len() > 10 && text.starts_with("20") && text.as_bytes()[4] == b'-';
    let cited: Vec<&str> = page.split('`').skip(1).step_by(2).filter(begins_with_a_date).collect();
    assert!(cited.len() > 20, "{cited:?}");
    // `folder/{one,other}` names several files.
    let each = |name: &&str| {
        let (folder, names) = name.split_once('{').unwrap_or((name, ""));
        names.trim_end_matches('}').split(',').map(|name| runs.join(format!("{folder}{name}"))).collect()
    };
    let cited: Vec<PathBuf> = cited.iter().flat_map(|name| -> Vec<PathBuf> { each(name) }).collect();
    for path in &cited {
        assert!(path.exists(), "{} is cited and not there", path.display());
    }
    let mut kept = Vec::new();
    files_under(&runs, Path::new(""), &mut kept);
    for file in kept {
        // A program stands beside its output.
        let output = runs.join(file.with_extension("txt"));
        let is_cited = |file: &Path| cited.iter().any(|cited| file.starts_with(cited));
        assert!(
            is_cited(&runs.join(&file)) || is_cited(&output),
            "bench/runs/{} is kept and no page cites it",
            file.display()
        );
    }
}

#[test]
fn every_method_is_in_the_documents() {
    let root = repository();
    let page = fs::read_to_string(root.join("docs/solving.md")).unwrap();
    let methods: Vec<_> = lattice_cl::job::Solver::all().map(|solver| solver.to_string()).collect();
    for name in &methods {
        assert!(page.contains(&format!("`{name}`")), "docs/solving.md has no {name}");
    }
}
