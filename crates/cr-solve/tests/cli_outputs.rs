//! The one rule for the files that commands write, as a user meets it.

use assert_cmd::cargo::cargo_bin_cmd;
use clap::builder::ValueParser;
use lattice_cl::io::NumberArray;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// An option or argument that names a file to be written.
struct Row {
    /// The command with the option, or with the argument in brackets.
    option: &'static str,
    /// The file.
    file: &'static str,
    /// A cheap command line that writes it.
    line: &'static str,
    /// `false` if the line names a device that is not there, which is seen after its files.
    runs: bool,
}

const fn row(option: &'static str, file: &'static str, line: &'static str) -> Row {
    Row { option, file, line, runs: true }
}

const fn refused(option: &'static str, file: &'static str, line: &'static str) -> Row {
    Row { option, file, line, runs: false }
}

const ROWS: &[Row] = &[
    row("generate --output", "new.ildg", "generate --dims 2x2x2x4 --beta 6 --sweeps 1 -o new.ildg"),
    row("convert <output>", "new.nersc", "convert conf.ildg new.nersc"),
    row("smear <output>", "new.ildg", "smear conf.ildg new.ildg --stout 0.1,1"),
    row("flow <output>", "new.ildg", "flow conf.ildg new.ildg --time 0.02 --step 0.01"),
    row("fix <output>", "new.ildg", "fix conf.ildg new.ildg --gauge landau --tolerance 1e-2"),
    row("invert --output", "x.lime", "invert conf.ildg --kappa 0.1 --tol 1e-3 -o x.lime"),
    row("invert --plot", "x.svg", "invert conf.ildg --kappa 0.1 --tol 1e-3 --plot x.svg"),
    row("invert --trace", "t.json", "invert conf.ildg --kappa 0.1 --tol 1e-3 --trace t.json"),
    row("invert --results", "r.h5", "invert conf.ildg --kappa 0.1 --tol 1e-3 --results r.h5"),
    row("spectrum --output", "p.npy", "spectrum conf.ildg --kappa 0.1 --tol 1e-3 -o p.npy"),
    row("spectrum --plot", "p.svg", "spectrum conf.ildg --kappa 0.1 --tol 1e-3 --plot p.svg"),
    row("spectrum --report", "p.html", "spectrum conf.ildg --kappa 0.1 --tol 1e-3 --report p.html"),
    row("spectrum --trace", "t.json", "spectrum conf.ildg --kappa 0.1 --tol 1e-3 --trace t.json"),
    row("spectrum --results", "r.json", "spectrum conf.ildg --kappa 0.1 --tol 1e-3 --results r.json"),
    row("modes --output", "low.modes", "modes conf.ildg --kappa 0.1 --count 2 --tol 1e-3 --output low.modes"),
    row("modes --plot", "m.svg", "modes conf.ildg --kappa 0.1 --count 2 --tol 1e-3 --plot m.svg"),
    row("solve --output", "x.npy", "solve poisson2d:4 -o x.npy"),
    row("solve --plot", "x.svg", "solve poisson2d:4 --plot x.svg"),
    row("least-squares --output", "x.mtx", "least-squares a.npy -o x.mtx"),
    row("eigen --vectors", "v.npy", "eigen a.npy --vectors v.npy"),
    row("svd --u", "u.npy", "svd a.npy --u u.npy"),
    row("svd --vt", "vt.npy", "svd a.npy --vt vt.npy"),
    row(
        "analyse --table",
        "m.tex",
        "analyse h0.json h1.json h2.json h3.json --fit 1,3 --uncorrelated --table m.tex",
    ),
    row("analyse --report", "p.html", "analyse result.json --report p.html"),
    row("analyse --plot", "m.svg", "analyse result.json --plot m.svg"),
    row("poisson --output", "v.cube", "poisson rho.npy --cell cell.txt --output v.cube"),
    row("poisson --plot", "v.svg", "poisson rho.npy --cell cell.txt --plot v.svg"),
    row("xc --matrix", "v.npy", "xc h2.molden --grid 10x50 --matrix v.npy"),
    row("xc --gradient", "g.npy", "xc h2.molden --grid 10x50 --gradient g.npy"),
    row("md forces --forces", "f.npy", "md forces atoms.xyz --lj Ar=0.238,3.405 --cutoff 8 --forces f.npy"),
    row(
        "md run --trajectory",
        "out.xyz",
        "md run atoms.xyz --lj Ar=0.238,3.405 --cutoff 8 --step 2 --steps 2 --every 1 --trajectory out.xyz",
    ),
    row(
        "md run --plot",
        "e.svg",
        "md run atoms.xyz --lj Ar=0.238,3.405 --cutoff 8 --step 2 --steps 2 --every 1 --plot e.svg",
    ),
    row("md table --plot", "e.svg", "md table e2.table --section GOOD --samples 64,128 --plot e.svg"),
    row("bench bandwidth --report", "page.html", "bench bandwidth --quick --samples 1 --report page.html"),
    row("bench show --report", "page.html", "bench show bench.json --report page.html"),
    refused("bench blas --report", "page.html", "bench blas --report page.html --device nowhere"),
    refused("bench gemm --report", "page.html", "bench gemm --report page.html --device nowhere"),
    refused("bench factor --report", "page.html", "bench factor --report page.html --device nowhere"),
    refused("bench sparse --report", "page.html", "bench sparse --report page.html --device nowhere"),
    refused("bench fft --report", "page.html", "bench fft --report page.html --device nowhere"),
    refused("bench poisson --report", "page.html", "bench poisson --report page.html --device nowhere"),
    refused("bench sums --report", "page.html", "bench sums --report page.html --device nowhere"),
    refused("bench md --report", "page.html", "bench md --report page.html --device nowhere"),
    refused("bench xc --report", "page.html", "bench xc h2.molden --report page.html --device nowhere"),
    refused("bench stencil --report", "page.html", "bench stencil --report page.html --device nowhere"),
    refused("bench solver --report", "page.html", "bench solver --report page.html --device nowhere"),
    refused("bench measure --report", "page.html", "bench measure --report page.html --device nowhere"),
    refused("bench ladder --report", "page.html", "bench ladder --report page.html --device nowhere"),
    row("bench all --report", "page.html", "bench all --quick --samples 1 --report page.html"),
    row("man <folder>", "pages/cr-solve.1", "man pages"),
];

/// Options and arguments that name files to be read, or a state of the program's own.
const READ: &[&str] = &[
    "info <files>",
    "convert <input>",
    "measure <file>",
    "smear <input>",
    "flow <input>",
    "fix <input>",
    "invert <file>",
    "invert --checkpoint",
    "invert --resume",
    "invert --multigrid-setup",
    "spectrum <file>",
    "spectrum --checkpoint",
    "spectrum --resume",
    "spectrum --multigrid-setup",
    "modes <file>",
    "modes --checkpoint",
    "modes --resume",
    "solve --rhs",
    "solve --near-nullspace",
    "solve --checkpoint",
    "solve --resume",
    "least-squares <matrix>",
    "least-squares --rhs",
    "least-squares --checkpoint",
    "least-squares --resume",
    "eigen <matrix>",
    "svd <matrix>",
    "run <file>",
    "plan <file>",
    "plan --like",
    "reproduce <file>",
    "reproduce --configuration",
    "analyse <files>",
    "analyse --series",
    "poisson <input>",
    "xc <input>",
    "xc --density",
    "xc --density-block",
    "xc --points",
    "md forces <files>",
    "md forces --potential",
    "md run <files>",
    "md run --potential",
    "md run --checkpoint",
    "md table <file>",
    "bench xc <input>",
    "bench solver --configuration",
    "bench compare <before>",
    "bench compare <after>",
    "bench show <files>",
];

const HYDROGEN: &str = "[Molden Format]\n[Atoms] AU\nH 1 1 0 0 0\nH 2 1 0 0 1.4\n[GTO]\n1 0\ns 1 1.0\n0.5 1.0\n\n\
                        2 0\ns 1 1.0\n0.5 1.0\n\n[MO]\nEne= -0.5\nSpin= Alpha\nOccup= 2.0\n1 0.5568242238\n2 0.5568242238\n";

/// Runs a command on the host; returns its status and standard error.
fn run(folder: &Path, line: &str) -> (Option<i32>, String) {
    let mut command = cargo_bin_cmd!("cr-solve");
    command.current_dir(folder).env("LATTICE_CL_NO_CACHE", "1").args(line.split(' '));
    let is_told = line.contains("--device");
    if !is_told && !["convert", "generate", "fix", "man", "analyse"].iter().any(|name| line.starts_with(name))
    {
        command.args(["--device", "host"]);
    }
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Writes the files that the command lines read.
fn prepare(folder: &Path) {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    let array = |name: &str, shape: &[usize], value: &dyn Fn(usize) -> f64| {
        let values = (0..shape.iter().product()).map(value).collect();
        NumberArray { shape: shape.to_vec(), values }.write_npy(folder.join(name)).unwrap();
    };
    array("a.npy", &[4, 4], &|k| if k % 5 == 0 { 4.0 } else { 1.0 });
    array("rho.npy", &[4, 4, 4], &|k| if k % 2 == 0 { 0.1 } else { -0.1 });
    write("cell.txt", "9 0 0\n0 9 0\n0 0 9\n");
    write("h2.molden", HYDROGEN);
    let mut atoms =
        "8\nLattice=\"20 0 0 0 20 0 0 0 20\" Properties=species:S:1:pos:R:3 pbc=\"T T T\"\n".to_owned();
    for k in 0..8 {
        writeln!(atoms, "Ar {} {} {}", 4 * (k & 1), 2 * (k & 2), k & 4).unwrap();
    }
    write("atoms.xyz", &atoms);
    let mut table = "GOOD\nN 201 R 2 10\n\n".to_owned();
    for k in 0..201 {
        let r = 2.0 + f64::from(k) / 25.0;
        writeln!(table, "{} {r} {:e} {:e}", k + 1, (5.0 / r).powi(4), 4.0 * (5.0 / r).powi(4) / r).unwrap();
    }
    write("e2.table", &table);
    for k in 0..4 {
        let pion: Vec<String> =
            (0..8).map(|n| format!("{}.{}", 9 - n.min(8 - n), (2 * k + 3 * n) % 5)).collect();
        write(&format!("h{k}.json"), &format!("{{\"correlators\": {{\"pion\": [{}]}}}}", pion.join(",")));
    }
    for line in [
        "generate --dims 2x2x2x4 --beta 6 --sweeps 1 -o conf.ildg",
        "spectrum conf.ildg --kappa 0.1 --tol 1e-3 --results result.json",
    ] {
        let (status, said) = run(folder, line);
        assert_eq!(status, Some(0), "{line}: {said}");
    }
    let mut bench = cargo_bin_cmd!("cr-solve");
    bench.args("bench bandwidth --quick --samples 1 --device host --json".split(' '));
    std::fs::write(folder.join("bench.json"), bench.output().unwrap().stdout).unwrap();
}

/// Collects the options and arguments of a command and those below that are paths.
fn paths(command: &clap::Command, above: &str, found: &mut BTreeSet<String>) {
    for argument in command.get_arguments() {
        if argument.get_value_parser().type_id() == ValueParser::path_buf().type_id() {
            let id = argument.get_id();
            let name = argument.get_long().map_or(format!("<{id}>"), |long| format!("--{long}"));
            found.insert(format!("{above} {name}").trim().to_owned());
        }
    }
    for inner in command.get_subcommands() {
        paths(inner, format!("{above} {}", inner.get_name()).trim(), found);
    }
}

#[test]
fn every_path_of_a_command_line_is_known_to_be_read_or_written() {
    let mut found = BTreeSet::new();
    paths(&cr_solve::command_line(&[]), "", &mut found);
    let known: Vec<&str> = ROWS.iter().map(|row| row.option).chain(READ.iter().copied()).collect();
    let new: Vec<_> = found.iter().filter(|name| !known.contains(&name.as_str())).collect();
    assert!(new.is_empty(), "give these a row above, or a line among those that are read: {new:?}");
    let gone: Vec<_> = known.iter().filter(|name| !found.contains(**name)).collect();
    assert!(gone.is_empty(), "these options are gone: {gone:?}");
}

#[test]
fn an_existing_file_is_overwritten_with_force_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    for Row { option, file, line, runs } in ROWS {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "old").unwrap();
        let (status, said) = run(folder, line);
        assert_eq!(status, Some(2), "{option}: {said}");
        assert!(said.contains(file) && said.contains("--force"), "{option}: {said}");
        assert_eq!(std::fs::read(&path).unwrap(), b"old", "{option}");
        let (status, said) = run(folder, &format!("{line} --force"));
        if *runs {
            assert_eq!(status, Some(0), "{option}: {said}");
            assert_ne!(std::fs::read(&path).unwrap(), b"old", "{option}");
        } else {
            assert_eq!(status, Some(4), "{option}: {said}");
        }
        std::fs::remove_file(&path).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn names_that_no_file_can_have_are_refused_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let inputs = [
        "conf.ildg",
        "a.npy",
        "result.json",
        "rho.npy",
        "cell.txt",
        "h2.molden",
        "atoms.xyz",
        "e2.table",
        "bench.json",
    ];
    for Row { option, file, line, .. } in ROWS.iter().filter(|row| row.option != "man <folder>") {
        let ending = file.rsplit_once('.').unwrap().1;
        // The folder is not there.
        let (status, said) = run(folder, &line.replace(file, &format!("no/such/{file}")));
        assert_eq!(status, Some(3), "{option}: {said}");
        // The name promises a picture.
        let (status, said) = run(folder, &line.replace(file, "new.png"));
        assert_eq!(status, Some(2), "{option}: {said}");
        assert!(said.contains("new.png") && !folder.join("new.png").exists(), "{option}: {said}");
        // The file is an input, by another name of the right ending.
        for input in inputs.iter().filter(|input| line.contains(**input)) {
            let alias = folder.join(format!("alias.{ending}"));
            let before = std::fs::read(folder.join(input)).unwrap();
            std::os::unix::fs::symlink(folder.join(input), &alias).unwrap();
            let (status, said) =
                run(folder, &format!("{} --force", line.replace(file, &format!("alias.{ending}"))));
            assert_eq!(status, Some(2), "{option}: {said}");
            assert!(said.contains("would overwrite the input"), "{option}: {said}");
            assert_eq!(std::fs::read(folder.join(input)).unwrap(), before, "{option}");
            std::fs::remove_file(alias).unwrap();
        }
    }
}

#[test]
fn two_outputs_of_a_command_are_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    for line in [
        "svd a.npy --u same.npy --vt ./same.npy --force",
        "xc h2.molden --matrix same.npy --gradient same.npy",
        "invert conf.ildg --kappa 0.1 --trace same --results same",
        "md run atoms.xyz --lj Ar=0.238,3.405 --cutoff 8 --step 2 --steps 2 --trajectory same --checkpoint same",
    ] {
        let (status, said) = run(folder, line);
        assert_eq!(status, Some(2), "{line}: {said}");
        assert!(said.contains("are both the file") && !folder.join("same").exists(), "{line}: {said}");
    }
}
