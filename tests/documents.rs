//! Rust in the documents compiles.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the files below a folder whose names end like this; build folders are left out.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let name = path.file_name().unwrap().to_str().unwrap();
            if name != "target" && !name.starts_with('.') {
                found.extend(files(&path, ending));
            }
        } else if path.to_str().unwrap().ends_with(ending) {
            found.push(path);
        }
    }
    found
}

#[test]
fn pages_with_rust_are_tests_of_a_crate() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut included = Vec::new();
    for folder in ["src", "solvers/src", "crates"] {
        for library in files(&repository.join(folder), "src/lib.rs") {
            let text = fs::read_to_string(&library).unwrap();
            let names =
                text.split("#[doc = include_str!(\"").skip(1).filter_map(|rest| rest.split('"').next());
            included.extend(names.map(|name| library.with_file_name(name).canonicalize().unwrap()));
        }
    }
    let mut with_rust = 0;
    for folder in ["docs", "solvers", "crates"] {
        for page in files(&repository.join(folder), ".md").into_iter().chain([repository.join("README.md")]) {
            let text = fs::read_to_string(&page).unwrap();
            if text.lines().any(|line| line.trim_start().starts_with("```rust")) {
                with_rust += 1;
                assert!(
                    included.contains(&page.canonicalize().unwrap()),
                    "{} has Rust that nothing compiles; include the page in the `lib.rs` of the crate that it is about, \
                     under `#[cfg(doctest)]` as the README is in `src/lib.rs`",
                    page.display()
                );
            }
        }
    }
    assert!(with_rust > 0, "no page with Rust was found");
}
