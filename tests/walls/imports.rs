//! Which file of a crate imports from which, read from its text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module's path below the crate root: `["device", "buffer"]`.
type Module = Vec<String>;

/// For each file, the files of the same crate that it imports from.
pub type Graph = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// The import graph of the crate whose root module is `root/lib.rs`. Paths are relative to `root`.
pub fn graph(root: &Path) -> Graph {
    let mut sources = BTreeMap::new();
    read(root, root, &mut sources);
    let files: BTreeMap<Module, PathBuf> =
        sources.keys().map(|path| (module_of(path), path.clone())).collect();
    let mut exports = BTreeMap::new();
    for (path, text) in &sources {
        let module = module_of(path);
        for (used, _) in uses(text) {
            for tree in paths(used) {
                let name = tree.name.clone();
                if let Some(target) = absolute(&module, &tree.segments) {
                    exports.insert([module.clone(), vec![name]].concat(), target);
                }
            }
        }
    }
    let mut graph = Graph::new();
    for (path, text) in &sources {
        let module = module_of(path);
        // What a module only hands on it does not depend on.
        let imported = uses(text).into_iter().filter(|(_, public)| !public).flat_map(|(used, _)| paths(used));
        let targets = imported
            .map(|tree| tree.segments)
            .chain(expressions(text))
            .filter_map(|segments| absolute(&module, &segments))
            .filter_map(|target| file_of(&files, &exports, target))
            .filter(|target| target != path)
            .collect();
        graph.insert(path.clone(), targets);
    }
    graph
}

/// Groups of files that import each other in a circle; each sorted, files in no circle left out.
pub fn circles(graph: &Graph) -> BTreeSet<Vec<PathBuf>> {
    let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        graph.keys().map(|file| (file, reach(graph, file))).collect();
    graph
        .keys()
        .filter(|file| reached[file].contains(file))
        .map(|file| {
            graph.keys().filter(|other| reached[file].contains(other) && reached[other].contains(file))
        })
        .map(|group| group.cloned().collect())
        .collect()
}

/// Every file that one leads to by one import or more.
fn reach<'a>(graph: &'a Graph, file: &PathBuf) -> BTreeSet<&'a PathBuf> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&PathBuf> = graph[file].iter().collect();
    while let Some(file) = next.pop() {
        if reached.insert(file) {
            next.extend(&graph[file]);
        }
    }
    reached
}

fn read(root: &Path, folder: &Path, sources: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(root, &path, sources);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs") {
            let text = without_comments_and_tests(&fs::read_to_string(&path).unwrap());
            sources.insert(path.strip_prefix(root).unwrap().to_owned(), text);
        }
    }
}

/// Tests may import what they like. They stand at the end of a file.
fn without_comments_and_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    code.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

fn module_of(path: &Path) -> Module {
    let mut module: Module =
        path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|name| name == "mod" || name == "lib") {
        module.pop();
    }
    module
}

/// The text of every `use`, and whether it is public.
fn uses(text: &str) -> Vec<(&str, bool)> {
    text.match_indices("use ")
        .filter_map(|(at, keyword)| {
            let before = text[..at].trim_end();
            let statement = text[at + keyword.len()..].split(';').next()?;
            // `pub`, `pub(crate)`, `pub(in path)`; an attribute ends with a square bracket.
            let public = before.ends_with("pub") || before.ends_with(')');
            (public || before.is_empty() || before.ends_with([';', '}', '{', ']']))
                .then_some((statement, public))
        })
        .collect()
}

/// One name that a `use` brings in.
struct Tree {
    segments: Vec<String>,
    name: String,
}

/// All paths of a `use`, its groups written out.
fn paths(text: &str) -> Vec<Tree> {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    write_out(&[], &text, &mut found);
    found
}

fn write_out(prefix: &[String], text: &str, found: &mut Vec<Tree>) {
    let split = |path: &str| -> Vec<String> {
        path.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
    };
    if let Some((head, rest)) = text.split_once('{') {
        let prefix = [prefix, &split(head)].concat();
        let inside = rest.rsplit_once('}').map_or(rest, |(inside, _)| inside);
        for item in items(inside) {
            write_out(&prefix, item, found);
        }
        return;
    }
    let (path, alias) = text.split_once(" as ").unwrap_or((text, ""));
    let segments: Vec<String> = [prefix, &split(path)]
        .concat()
        .into_iter()
        .filter(|part| part != "self" || prefix.is_empty())
        .collect();
    if let Some(last) = segments.last() {
        let name = if alias.is_empty() { last.clone() } else { alias.trim().to_owned() };
        found.push(Tree { segments, name });
    }
}

/// The items of a group, at its own depth.
fn items(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(text[start..].trim());
    found.retain(|item| !item.is_empty());
    found
}

/// Paths within expressions and types that begin with `crate::` or `super::`.
fn expressions(text: &str) -> Vec<Vec<String>> {
    let is_path = |character: char| character.is_alphanumeric() || character == '_' || character == ':';
    ["crate::", "super::"]
        .iter()
        .flat_map(|keyword| text.match_indices(keyword))
        // `pub(in path)` says who may see something.
        .filter(|(at, _)| !text[..*at].ends_with(is_path) && !text[..*at].ends_with("(in "))
        .map(|(at, _)| text[at..].split(|character| !is_path(character)).next().unwrap())
        .map(|path| path.split("::").map(str::to_owned).filter(|part| !part.is_empty()).collect())
        // A group of names stands in a `use`, which is read elsewhere.
        .filter(|path: &Vec<String>| path.len() > 1)
        .collect()
}

/// The path from the crate root; `None` for other crates.
fn absolute(module: &Module, segments: &[String]) -> Option<Vec<String>> {
    match segments.first()?.as_str() {
        "crate" => Some(segments[1..].to_vec()),
        "self" => Some([module, &segments[1..]].concat()),
        "super" => {
            let parents = segments.iter().take_while(|part| *part == "super").count();
            let above = module.get(..module.len().checked_sub(parents)?)?;
            Some([above, &segments[parents..]].concat())
        }
        // Names of child modules; names of other crates lead to no file.
        _ => Some([module, segments].concat()),
    }
}

/// The file where a path leads to, by way of what modules export.
fn file_of(
    files: &BTreeMap<Module, PathBuf>,
    exports: &BTreeMap<Module, Module>,
    path: Vec<String>,
) -> Option<PathBuf> {
    let mut path = path;
    // A name that exports itself would never end.
    for round in 0..10 {
        // An item of the crate's root is in its file, whose path is empty. The root may hand on
        // items of other crates.
        let known = (round.min(1)..=path.len()).rev().find_map(|length| {
            let part = &path[..length];
            files
                .get(part)
                .map(|file| Ok(file.clone()))
                .or_else(|| exports.get(part).map(|target| Err(target.clone())))
        })?;
        match known {
            Ok(file) => return Some(file),
            Err(target) if target == path => return None,
            Err(target) => path = target,
        }
    }
    None
}
