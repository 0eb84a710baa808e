//! The walls of ARCHITECTURE.md: which way imports point, who knows OpenCL, who prints.

mod imports;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The crates, by the folders of their sources.
const CRATES: [&str; 14] = [
    "crates/files/src",
    "crates/mpi/src",
    "crates/compute/src",
    "crates/linalg/src",
    "crates/md/src",
    "crates/poisson/src",
    "solvers/src",
    "src",
    "crates/cli/src",
    "crates/bench/src",
    "crates/cr-solve/src",
    "crates/python/src",
    "crates/statistics/src",
    "crates/xc/src",
];

/// The floors of the root crate, lowest first: modules, or files apart from theirs. Imports point down, or stay in their module.
const FLOORS: [&[&str]; 11] = [
    &["geometry/mod.rs", "geometry/boundary.rs", "geometry/dims.rs"],
    &["host"],
    &["geometry"],
    &["field"],
    &["gauge"],
    &["io"],
    &["operator"],
    &["solve"],
    &["hadron", "modes", "multigrid"],
    &["job"],
    &["lib"],
];

/// The floors of `lattice-compute`.
const COMPUTE_FLOORS: [&[&str]; 13] = [
    &["absence", "philox", "scalar", "schedule", "sync"],
    &["error", "parallel", "spare"],
    &["select"],
    &["cuda"],
    &["queue"],
    &["kernel"],
    &["open"],
    &["memory"],
    &["peer"],
    &["sums"],
    &["measure"],
    &["host", "tuning"],
    &["lib"],
];

/// The floors of `lattice-mpi`.
const MPI_FLOORS: [&[&str]; 7] = [
    &["abi", "launcher"],
    &["error"],
    &["library", "patience"],
    &["beginning", "ring"],
    &["world"],
    &["post", "post_elsewhere"],
    &["lib"],
];

/// The floors of `lattice-linalg`.
const LINALG_FLOORS: [&[&str]; 13] = [
    &["op"],
    &["host"],
    &["error", "completion"],
    &["fft"],
    &["vector", "matrix"],
    &["block", "level1"],
    &["level2"],
    &["gemm"],
    &["level3"],
    &["triangular"],
    &["factor", "sparse"],
    &["split"],
    &["lib"],
];

/// The floors of `lattice-poisson`.
const POISSON_FLOORS: [&[&str]; 6] = [
    &["cell", "order", "sums"],
    &["coulomb", "error"],
    &["device", "host", "numbers", "share"],
    &["slabs", "transfer"],
    &["plan"],
    &["lib"],
];

/// The floors of `lattice-md`.
const MD_FLOORS: [&[&str]; 10] = [
    &["elements", "error", "spline", "units"],
    &["formula", "table"],
    &["potential"],
    &["system"],
    &["evaluation", "velocities"],
    &["files", "host", "options", "state"],
    &["device"],
    &["forces"],
    &["motion"],
    &["lib"],
];

/// The floors of `lattice-xc`.
const XC_FLOORS: [&[&str]; 8] = [
    &["error", "functional", "harmonics"],
    &["basis", "density", "stages"],
    &["grid"],
    &["groups", "overlap"],
    &["tables", "host", "molden"],
    &["device"],
    &["plan"],
    &["lib"],
];

/// The floors of `lattice-statistics`.
const STATISTICS_FLOORS: [&[&str]; 13] = [
    &["distribution", "eigen", "error", "hyper_dual", "random", "scaling"],
    &["histogram", "model", "quantity", "trajectories"],
    &["correlator_model", "effective_mass", "scale", "series"],
    &["gevp", "observable", "resample"],
    &["autocorrelation"],
    &["gamma_method"],
    &["checks", "covariance"],
    &["uncertain", "weighting"],
    &["any_quantity", "minimise"],
    &["fit"],
    &["model_average", "ranges", "three_point"],
    &["range_average"],
    &["lib"],
];

/// The floors of `lattice-cli`.
const CLI_FLOORS: [&[&str]; 7] = [
    &["choices", "extents", "failure", "numbers", "precisions", "progress", "provenance"],
    &["agreement", "destinations", "finite", "forces", "matrix_source", "memory", "molecule"],
    &["report"],
    &["interrupt", "lattice", "plot", "ranks"],
    &["common", "page"],
    &["team"],
    &["lib"],
];

/// The floors of `lattice-bench`: results, a session, benchmarks. `all` runs commands by their lines.
const BENCH_FLOORS: [&[&str]; 9] = [
    &["machine", "statistics"],
    &["outcome"],
    &["joined", "session", "text"],
    &["gemm", "page", "solver", "triads"],
    &[
        "bandwidth",
        "blas",
        "factor",
        "fft",
        "gemm_team",
        "ladder",
        "md",
        "measure",
        "multigrid",
        "publish",
        "sparse",
        "stencil",
        "sums",
        "xc",
    ],
    &["kept", "poisson"],
    &["compare"],
    &["lib"],
    &["all"],
];

/// The floors of the program: what commands share, commands, jobs, the command line.
const PROGRAM_FLOORS: [&[&str]; 12] = [
    &["arguments", "comparison", "job_keys", "numbers", "process", "shell", "solve_bar"],
    &["checkpoint", "devices", "job_file"],
    &[
        "help",
        "lattice/company",
        "lattice/fingerprint",
        "lattice/gave_up",
        "lattice/links_output",
        "lattice/residual",
        "lattice/smearing",
        "lattice/trace",
        "lattice/words",
    ],
    &[
        "lattice/attempt_outcome",
        "lattice/equation",
        "lattice/links_file",
        "lattice/outputs",
        "lattice/writing",
    ],
    &["lattice/solutions"],
    &[
        "algebra/dense",
        "algebra/spectral",
        "lattice/analyse",
        "lattice/convert",
        "lattice/fix",
        "lattice/flow",
        "lattice/generate",
        "lattice/info",
        "lattice/measure",
        "lattice/perform",
        "lattice/smear",
        "science/md",
        "science/poisson",
        "science/xc",
    ],
    &["algebra/solve", "lattice/head", "lattice/modes", "lattice/report_page"],
    &["lattice/invert", "lattice/spectrum"],
    &["run", "tune"],
    &["plan", "reproduce"],
    &["lib", "main"],
    &["documents", "options_page"],
];

/// Groups of the program's commands.
const GROUPS: [&str; 3] = ["algebra", "lattice", "science"];

/// The floors of the Python module.
const PYTHON_FLOORS: [&[&str]; 8] = [
    &["building", "failure", "interop", "report"],
    &["work"],
    &["numbers", "program"],
    &["array", "collector"],
    &["devices"],
    &["analysis", "factors", "gauge", "opencl", "poisson", "product", "sparse"],
    &["propagator"],
    &["dirac", "hadrons", "job", "lib"],
];

/// The floors of `lattice-files`.
const FILES_FLOORS: [&[&str]; 3] = [
    &["leftovers", "lib", "number", "room", "text", "words"],
    &["npy", "regular", "temporary"],
    &["input", "npz"],
];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn files_import_each_other_in_no_circle() {
    let circles: Vec<_> = CRATES
        .into_iter()
        .flat_map(|folder| {
            imports::circles(&imports::graph(&repository().join(folder)))
                .into_iter()
                .map(move |files| (folder, files))
        })
        .collect();
    assert!(circles.is_empty(), "{circles:#?}");
}

/// The floor of a file, and its module: the innermost one that a floor names.
fn floor_of(path: &Path, floors: &[&[&str]]) -> (usize, PathBuf) {
    let is_on = |name: &Path| floors.iter().position(|floor| floor.iter().any(|on| Path::new(on) == name));
    let name = path.with_extension("");
    let known = name.ancestors().find(|module| is_on(module).is_some());
    let module = known.unwrap_or_else(|| panic!("{} is on no floor: name it", path.display()));
    // A file may be on a floor apart from its module.
    let floor = is_on(path).or_else(|| is_on(module)).unwrap();
    (floor, module.to_owned())
}

/// Imports between the modules of a crate point down its floors.
fn expect_floors(folder: &str, floors: &[&[&str]], least_imports: usize) {
    let graph = imports::graph(&repository().join(folder));
    let mut imports = 0;
    for (file, targets) in &graph {
        for target in targets {
            let ((from, module), (to, other)) = (floor_of(file, floors), floor_of(target, floors));
            imports += 1;
            assert!(
                module == other || to < from,
                "in {folder} {} imports {}",
                file.display(),
                target.display()
            );
        }
    }
    assert!(imports > least_imports, "imports are not found");
}

#[test]
fn commands_import_no_other_group_of_commands() {
    let group = |path: &Path| {
        let first = path.iter().next().and_then(|name| name.to_str());
        first.filter(|name| GROUPS.contains(name)).map(str::to_owned)
    };
    let graph = imports::graph(&repository().join("crates/cr-solve/src"));
    let mut imports = 0;
    for (file, targets) in &graph {
        let Some(own) = group(file) else { continue };
        for target in targets {
            imports += 1;
            let is_other = group(target).is_some_and(|other| other != own);
            assert!(!is_other, "{} imports {}", file.display(), target.display());
        }
    }
    assert!(imports > 50, "imports are not found: {imports}");
}

#[test]
fn imports_point_down_the_floors() {
    expect_floors("src", &FLOORS, 200);
    expect_floors("crates/compute/src", &COMPUTE_FLOORS, 100);
    expect_floors("crates/linalg/src", &LINALG_FLOORS, 60);
    expect_floors("crates/mpi/src", &MPI_FLOORS, 5);
    expect_floors("crates/poisson/src", &POISSON_FLOORS, 15);
    expect_floors("crates/md/src", &MD_FLOORS, 30);
    expect_floors("crates/xc/src", &XC_FLOORS, 30);
    expect_floors("crates/statistics/src", &STATISTICS_FLOORS, 50);
    expect_floors("crates/cli/src", &CLI_FLOORS, 30);
    expect_floors("crates/bench/src", &BENCH_FLOORS, 50);
    expect_floors("crates/cr-solve/src", &PROGRAM_FLOORS, 100);
    expect_floors("crates/python/src", &PYTHON_FLOORS, 30);
    expect_floors("crates/files/src", &FILES_FLOORS, 5);
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

/// The lines of a source that are neither comments nor of its unit tests.
fn lines_of_code(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("]\nmod tests").next().unwrap();
    code.lines().filter(|line| !line.trim_start().starts_with("//"))
}

#[test]
fn one_crate_knows_opencl_and_one_mpi_only_the_program_prints_and_threads_may_be_refused() {
    let mut found = Vec::new();
    for folder in CRATES {
        sources(&repository().join(folder), &mut found);
    }
    let (mut opencl, mut mpi, mut printing) = (0, 0, 0);
    for (path, text) in found {
        let says =
            |words: &[&str]| lines_of_code(&text).any(|line| words.iter().any(|word| line.contains(word)));
        if says(&["opencl3::", "cl3::"]) {
            opencl += 1;
            assert!(
                path.starts_with(repository().join("crates/compute/src")),
                "{} knows OpenCL",
                path.display()
            );
        }
        if says(&["\"MPI_"]) {
            mpi += 1;
            assert!(path.starts_with(repository().join("crates/mpi/src")), "{} knows MPI", path.display());
        }
        if says(&[".detach("]) {
            // A forked process must be refused before it waits for threads that it has not.
            assert!(path.ends_with("crates/python/src/work.rs"), "{} leaves the interpreter", path.display());
        }
        assert!(
            !says(&["scope.spawn(||", "scope.spawn(move ||", "thread::spawn("]),
            "{}: a thread that the system refuses is a panic; take lattice_files::threads, or thread::Builder",
            path.display()
        );
        assert!(
            !says(&["rayon::prelude"]),
            "{}: each loop of rayon is compiled with a scheduler of its own; take lattice_compute::parallel",
            path.display()
        );
        if says(&["println!", "print!", "stdout()", "stderr()"]) {
            printing += 1;
            let speaks = |folder: &str| path.starts_with(repository().join(folder));
            assert!(speaks("crates/cli") || speaks("crates/cr-solve"), "{} prints", path.display());
        }
    }
    assert!(opencl > 0 && mpi > 0 && printing > 0, "the words that are looked for are not found");
}

/// The items of the lattice crate that the shared crate names outside its folder `lattice`: files, and a cause of failure.
const LATTICE_NAMES_OF_CLI: [&str; 2] = ["lattice_cl::io", "lattice_cl::field::RESTORING_A_FIELD"];

#[test]
fn the_crate_that_commands_share_knows_lattices_in_one_folder() {
    let mut found = Vec::new();
    sources(&repository().join("crates/cli/src"), &mut found);
    let (inside, outside): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|(path, _)| path.parent().is_some_and(|folder| folder.ends_with("lattice")));
    assert!(inside.iter().any(|(_, text)| text.contains("lattice_cl::geometry")), "lattices are not found");
    for (path, text) in outside {
        for line in lines_of_code(&text).filter(|line| line.contains("lattice_cl::")) {
            let is_known = LATTICE_NAMES_OF_CLI.iter().any(|name| line.contains(name));
            assert!(is_known, "{} knows lattices: {line}", path.display());
        }
    }
}

/// Files that open what no user names: the system's own files, and outputs.
const OPENERS: [(&str, &str); 10] = [
    ("crates/compute/src/select/caches.rs", "/sys"),
    ("crates/cli/src/interrupt.rs", "/proc"),
    ("crates/cli/src/provenance.rs", "/proc"),
    ("crates/bench/src/machine.rs", "/proc"),
    ("crates/cr-solve/src/checkpoint/lock.rs", "a lock, by lattice_files::regular"),
    ("crates/cr-solve/src/checkpoint/mod.rs", "a file to be removed, by lattice_files::regular"),
    ("crates/cr-solve/src/documents.rs", "tests"),
    ("crates/cr-solve/src/options_page.rs", "the page of options"),
    ("crates/cr-solve/src/science/md/trajectory.rs", "an output that grows"),
    ("crates/mpi/src/post.rs", "/dev/urandom"),
];

/// What opens a file without a look at what is there: a fifo or a device may hang the program.
#[test]
fn one_crate_opens_the_files_that_users_name() {
    let mut found = Vec::new();
    for folder in CRATES {
        sources(&repository().join(folder), &mut found);
    }
    let opens = |line: &str| {
        ["File::open(", "fs::read(", "fs::read_to_string(", "OpenOptions::new(", "File::options("].iter().any(
            |word| {
                // `ArrayFile::open` is another name.
                let whole = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                line.match_indices(word).any(|(at, _)| whole(at))
            },
        )
    };
    let mut openers = BTreeSet::new();
    for (path, text) in found {
        let path = path.strip_prefix(repository()).unwrap().to_owned();
        if !path.starts_with("crates/files") && lines_of_code(&text).any(opens) {
            openers.insert(path);
        }
    }
    let known: BTreeSet<PathBuf> = OPENERS.iter().map(|(path, _)| PathBuf::from(path)).collect();
    assert_eq!(openers, known, "lattice_files::input opens what a user names");
}

/// Names that do not say which thing a type is.
const VAGUE_NAMES: [&str; 7] = ["Found", "Kept", "Outcome", "Part", "Place", "Wanted", "Way"];

/// The names of the types that a line of a source declares.
fn declared_types(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let names = words.clone().skip(1);
    words
        .zip(names)
        .filter_map(|(word, name)| ["enum", "struct", "trait", "type"].contains(&word).then_some(name))
}

/// The vague names of types in a file, with the numbers of their lines.
fn vague_types(text: &str) -> Vec<(usize, &str)> {
    let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let names = code.flat_map(|(k, line)| declared_types(line).map(move |name| (k + 1, name)));
    names.filter(|(_, name)| VAGUE_NAMES.contains(name)).collect()
}

/// All Rust files of a folder, those of unit tests too.
fn all_sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            all_sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn names_of_types_say_which_thing_they_are() {
    // This file declares none of them, so texts get their names by arguments.
    let [way, part, found] = ["Way", "Part", "Found"];
    let text = format!("pub(crate) enum {way}<R> {{\n// struct {part};\ntype {found} = u8;");
    assert_eq!(vague_types(&text), [(1, way), (3, found)]);
    assert_eq!(vague_types("struct PartOfRows(Part);\nlet kept = Known::Kept(Wanted);"), []);
    // A word may be a name once the glossary says what it means, and it means one thing.
    let glossary = fs::read_to_string(repository().join("docs/glossary.md")).unwrap();
    let defined: BTreeSet<String> = glossary
        .lines()
        .filter_map(|line| line.strip_prefix('|')?.split('|').next())
        .flat_map(|words| words.split(',').map(|word| word.trim().to_lowercase()))
        .collect();
    assert!(defined.contains("halo"), "the words of the glossary are not found");
    let mut files = Vec::new();
    for folder in ["benches", "crates", "examples", "fuzz", "solvers", "src", "tests"] {
        all_sources(&repository().join(folder), &mut files);
    }
    assert!(files.len() > 500, "sources are not found: {}", files.len());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let vague = vague_types(&text).into_iter().find(|(_, name)| !defined.contains(&name.to_lowercase()));
        if let Some((line, name)) = vague {
            let file = file.strip_prefix(repository()).unwrap().display();
            panic!(
                "{file}:{line}: `{name}` does not say which thing the type is: use the field's word for it"
            );
        }
    }
}

/// Endings of the names of structures that a caller fills with what it wants.
const NAMES_OF_OPTIONS: [&str; 4] = ["Options", "Params", "Callbacks", "Stopping"];

/// Returns structures of options in a file that lack an attribute, and the number of all.
fn open_options(text: &str) -> (Vec<&str>, usize) {
    let mut lacking = Vec::new();
    let mut all = 0;
    let mut head: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim) {
        let names = line.starts_with("pub struct ").then(|| declared_types(line)).into_iter().flatten();
        for name in names.filter(|name| NAMES_OF_OPTIONS.iter().any(|ending| name.ends_with(ending))) {
            all += 1;
            let says = |words: &str| head.iter().any(|line| line.contains(words));
            let may_grow = says("#[non_exhaustive]");
            if !(may_grow && says("Setters)]") && says("#[setters(prefix = \"with_\")]")) {
                lacking.push(name);
            }
        }
        match line {
            "" => head.clear(),
            _ => head.push(line),
        }
    }
    (lacking, all)
}

#[test]
fn structures_of_options_may_grow_and_are_set_by_name() {
    let closed = "#[derive(Clone, Setters)]\n#[setters(prefix = \"with_\")]\n#[non_exhaustive]\n";
    let text = format!("{closed}pub struct CgOptions {{}}\n\n#[derive(Clone)]\npub struct MrParams {{}}\n");
    assert_eq!(open_options(&text), (vec!["MrParams"], 2));
    let mut found = Vec::new();
    for folder in
        CRATES.iter().filter(|folder| !["crates/cr-solve/src", "crates/python/src"].contains(folder))
    {
        sources(&repository().join(folder), &mut found);
    }
    let mut all = 0;
    for (path, text) in found {
        let (lacking, here) = open_options(&text);
        all += here;
        assert!(
            lacking.is_empty(),
            "{}: {lacking:?} takes #[derive(Setters)], #[setters(prefix = \"with_\")] and #[non_exhaustive]",
            path.strip_prefix(repository()).unwrap().display()
        );
    }
    assert!(all > 35, "structures of options are not found: {all}");
}
