//! The walls of ARCHITECTURE.md: which way imports point, who knows OpenCL, who prints.

#[path = "walls/imports.rs"]
mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates, by the folders of their sources.
const CRATES: [&str; 3] = ["src", "solvers/src", "crates/cr-solve/src"];

/// The floors of the library, lowest first: modules, or files apart from theirs. Imports point down, or stay in their own module.
const FLOORS: [&[&str]; 10] = [
    &[
        "kept_file",
        "philox",
        "scalar",
        "sync",
        "temporary",
        "geometry/mod.rs",
        "geometry/boundary.rs",
        "geometry/dims.rs",
    ],
    &["device"],
    &["tuning"],
    &["host"],
    &["blas", "geometry"],
    &["field"],
    &["io", "observables"],
    &["operator"],
    &["solve"],
    &["lib"],
];

/// The same of `src/device`.
const DEVICE_FLOORS: [&[&str]; 9] = [
    &["absence", "room"],
    &["error"],
    &["select"],
    &["queue"],
    &["kernel"],
    &["open"],
    &["memory"],
    &["sums"],
    &["measure"],
];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn shown(circles: &BTreeSet<Vec<PathBuf>>) -> BTreeSet<Vec<String>> {
    circles.iter().map(|group| group.iter().map(|path| path.display().to_string()).collect()).collect()
}

/// Circles that are still there, by crate. None is added; one that is opened goes from this list.
fn known_circles() -> BTreeMap<&'static str, BTreeSet<Vec<String>>> {
    let known: [(&str, &[&str]); 3] = [
        (
            "src",
            &[
                "blas/error.rs blas/matrix.rs",
                "blas/gemm/narrow.rs blas/gemm/tuning.rs",
                "blas/split/mod.rs blas/split/worker.rs",
            ],
        ),
        ("solvers/src", &[]),
        ("crates/cr-solve/src", &["bench/gemm.rs bench/gemm_team.rs", "checkpoint/session.rs equation.rs"]),
    ];
    let files = |group: &&str| group.split(' ').map(str::to_owned).collect();
    known.map(|(folder, groups)| (folder, groups.iter().map(files).collect())).into()
}

#[test]
fn files_import_each_other_in_no_circle_but_the_known_ones() {
    let circles = |folder| shown(&imports::circles(&imports::graph(&repository().join(folder))));
    let found: BTreeMap<_, _> = CRATES.map(|folder| (folder, circles(folder))).into();
    assert_eq!(found, known_circles(), "circles found, and those that are known");
}

/// Imports between the modules of a folder of the library point down its floors.
fn expect_floors(folder: &str, floors: &[&[&str]], least_imports: usize) {
    let floor = |path: &Path| {
        let module = path.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
        let is_on = |name: &str| floors.iter().position(|floor| floor.contains(&name));
        let floor = is_on(path.to_str().unwrap()).or_else(|| is_on(&module));
        (floor.unwrap_or_else(|| panic!("{module} is on no floor: name it")), module)
    };
    // The folder's own file only hands on.
    let inside =
        |path: &Path| Some(path.strip_prefix(folder).ok()?.to_owned()).filter(|path| path != "mod.rs");
    let graph = imports::graph(&repository().join("src"));
    let mut imports = 0;
    for (file, targets) in &graph {
        for target in targets {
            let (Some(from), Some(to)) = (inside(file), inside(target)) else { continue };
            let ((from, module), (to, other)) = (floor(&from), floor(&to));
            imports += 1;
            assert!(module == other || to < from, "{} imports {}", file.display(), target.display());
        }
    }
    assert!(imports > least_imports, "imports are not found");
}

#[test]
fn imports_of_the_library_point_down_the_floors() {
    expect_floors("", &FLOORS, 300);
}

#[test]
fn imports_within_device_point_down_its_floors() {
    expect_floors("device", &DEVICE_FLOORS, 100);
}

/// The Rust files of a folder, with their texts.
fn sources(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
}

#[test]
fn only_device_knows_opencl_and_only_the_program_prints() {
    let mut found = Vec::new();
    for folder in CRATES {
        sources(&repository().join(folder), &mut found);
    }
    let (mut opencl, mut printing) = (0, 0);
    for (path, text) in found {
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let says = |words: &[&str]| {
            code.lines().any(|line| {
                !line.trim_start().starts_with("//") && words.iter().any(|word| line.contains(word))
            })
        };
        if says(&["opencl3::", "cl3::"]) {
            opencl += 1;
            assert!(path.starts_with(repository().join("src/device")), "{} knows OpenCL", path.display());
        }
        if says(&["println!", "print!", "stdout()", "stderr()"]) {
            printing += 1;
            assert!(path.starts_with(repository().join("crates/cr-solve")), "{} prints", path.display());
        }
    }
    assert!(opencl > 0 && printing > 0, "the words that are looked for are not found");
}
