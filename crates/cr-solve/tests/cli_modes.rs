//! `cr-solve modes` and `--deflate`, as a user runs them.

use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};
use lattice_cl::Dims;
use lattice_cl::host::random;
use lattice_cl::io::{self, Format, WriteOptions};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A folder with `field.ildg`, a weak field.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let field = random::weak(Dims::new([4, 4, 2, 6]).unwrap(), 0.25, 3);
    let path = folder.path().join("field.ildg");
    io::write_gauge(&path, &field, &WriteOptions::new(Format::Ildg)).unwrap();
    folder
}

/// Runs the program in a folder, which must end so; returns standard output and standard error.
fn run(folder: &Path, line: &str, status: i32) -> (String, String) {
    let mut command = cargo_bin_cmd!("cr-solve");
    command.env("LATTICE_CL_NO_CACHE", "1").env("POCL_KERNEL_CACHE", "1");
    let output = command.current_dir(folder).args(line.split_whitespace()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{line}: {out}{said}");
    (out, said)
}

fn json(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&run(folder, &format!("{line} --json"), 0).0).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Checks that a run is refused with this status and these words, and prints no result.
fn assert_refused(folder: &Path, line: &str, status: i32, words: &[&str]) {
    let (out, said) = run(folder, line, status);
    assert_eq!(out, "", "{line}");
    words.iter().for_each(|word| assert!(said.contains(word), "{line}: `{word}` is not in: {said}"));
}

#[test]
fn more_modes_than_the_operator_has_are_refused_before_the_search() {
    let folder = tempfile::tempdir().unwrap();
    let links = random::weak(Dims::new([2, 2, 2, 2]).unwrap(), 0.2, 3);
    let options = WriteOptions::new(Format::Ildg);
    io::write_gauge(folder.path().join("small.ildg"), &links, &options).unwrap();
    let line = "modes small.ildg --kappa 0.12 --device host --count";
    assert_refused(folder.path(), &format!("{line} 200"), 2, &["200 modes", "at most 96"]);
    let plain = format!("{line} 193 --preconditioning none");
    assert_refused(folder.path(), &plain, 2, &["193 modes", "at most 192"]);
    let all = json(folder.path(), &format!("{line} 96 --tol 1e-8"));
    assert_eq!(numbers(&all["eigenvalues"]).len(), 96);
}

const SEARCH: &str = "modes field.ildg --kappa 0.13 --count 12 --device host";

#[test]
fn modes_are_found_written_and_deflate_solves() {
    let folder = folder();
    let folder = folder.path();
    let found = json(folder, &format!("{SEARCH} --output low.modes --plot low.svg"));
    let [values, residuals] = ["eigenvalues", "residuals"].map(|key| numbers(&found[key]));
    assert_eq!((values.len(), residuals.len()), (12, 12));
    assert!(values[0] > 0.0 && values.windows(2).all(|pair| pair[0] <= pair[1]), "{values:?}");
    assert!(residuals.iter().all(|residual| *residual < 1e-8), "{residuals:?}");
    assert!(std::fs::read_to_string(folder.join("low.svg")).unwrap().contains("<svg"));

    let solve = "invert field.ildg --kappa 0.13 --solver cg --device host";
    for solve in [solve.to_owned(), solve.replace("invert", "spectrum").replace("cg", "block-cg")] {
        let iterations = |result: &Value| {
            let one = if result["solves"].is_null() { result } else { &result["solves"][0] };
            let residual = one["residual"]["true"].as_f64().unwrap_or_else(|| panic!("{one}"));
            assert!(residual <= 1e-10, "{one}");
            one["iterations"].as_u64().unwrap()
        };
        let plain = json(folder, &solve);
        assert!(plain["deflation"].is_null());
        for (option, words) in [("low.modes", "12 modes of low.modes, read in"), ("12", "12 modes found in")]
        {
            let (out, said) = run(folder, &format!("{solve} --deflate {option} --json"), 0);
            assert!(said.contains(words), "{said}");
            let deflated: Value = serde_json::from_str(&out).unwrap();
            let counts = [&deflated, &plain].map(iterations);
            // Twelve columns at once have found the lowest modes early.
            assert!(counts[0] < counts[1] + u64::from(solve.contains("block-cg")), "{counts:?}");
            let about = &deflated["deflation"];
            assert_eq!((about["modes"].as_u64(), about["file"].is_null()), (Some(12), option == "12"));
            let seconds = ["seconds", "solve_seconds", "seconds_with_modes"];
            let [of_modes, solves, together] = seconds.map(|key| about[key].as_f64().unwrap());
            assert!(solves > 0.0 && (of_modes + solves - together).abs() < 1e-9, "{about}");
            for key in ["solution_norm2", "correlators"] {
                let [one, other] = [&plain, &deflated].map(|result| match &result[key] {
                    Value::Object(correlators) => numbers(&correlators["pion"]),
                    Value::Null => Vec::new(),
                    number => vec![number.as_f64().unwrap()],
                });
                for (one, other) in one.iter().zip(&other) {
                    assert!((one - other).abs() < 1e-8 * one.abs(), "{one} {other}");
                }
            }
        }
    }

    assert_refused(folder, &format!("{SEARCH} --output low.modes"), 2, &["low.modes", "is there already"]);
    let refusals = [
        ("--kappa 0.12 --deflate low.modes", 3, "its operator is"),
        ("--kappa 0.13 --mu 0.1 --deflate low.modes", 3, "its operator is"),
        ("--kappa 0.13 --boundary periodic --deflate low.modes", 3, "its boundary"),
        ("--kappa 0.13 --fat-links stout:0.1,1 --deflate low.modes", 3, "its configuration is"),
        ("--kappa 0.13 --preconditioning none --deflate low.modes", 3, "its preconditioning is even-odd"),
        ("--kappa 0.13 --deflate nothing.modes", 3, "nothing.modes"),
        ("--kappa 0.13 --deflate 0", 2, "no mode deflates nothing"),
    ];
    for (options, status, words) in refusals {
        let line = format!("invert field.ildg --solver cg --device host {options}");
        assert_refused(folder, &line, status, &[words]);
    }
    let auto = solve.replace("--solver cg", "");
    assert_refused(folder, &format!("{auto} --deflate 4"), 2, &["deflate", "cg, block-cg, cr and minres"]);
    assert_refused(folder, &format!("{SEARCH} --system direct"), 2, &["M is not Hermitian"]);
    assert_refused(folder, &format!("{SEARCH} --system hermitian --mu 0.1"), 2, &["twisted mass"]);
    assert_refused(folder, &format!("{SEARCH} --plot low.pdf"), 2, &["does not end in .svg"]);
}

#[test]
fn modes_are_those_of_every_operator() {
    let folder = folder();
    for options in ["--csw 1.2", "--mu 0.05", "--csw 1.1 --mu 0.05", "--system hermitian --csw 1.2"] {
        let line = format!("modes field.ildg --kappa 0.13 --count 4 --device host {options}");
        let found = json(folder.path(), &line);
        assert!(numbers(&found["residuals"]).iter().all(|residual| *residual < 1e-8), "{found}");
        let is_of_gamma5 = options.contains("hermitian");
        assert_eq!(found["operator"], if is_of_gamma5 { "gamma5 M" } else { "M^dagger M" });
        let solver = if is_of_gamma5 { "minres" } else { "cg" };
        let line = format!(
            "invert field.ildg --kappa 0.13 --solver {solver} --deflate 4 --device host {}",
            options.replace("--system hermitian", "")
        );
        let deflated = json(folder.path(), &line);
        assert_eq!(deflated["deflation"]["modes"], 4, "{deflated}");
        assert_eq!(deflated["converged"], true);
    }
}

/// Starts a search of which a state is kept before every step.
#[cfg(unix)]
fn started(folder: &Path, line: &str) -> Child {
    let mut command = Command::new(cargo_bin("cr-solve"));
    command.current_dir(folder).args(line.split_whitespace()).args(["--json", "--every", "0s"]);
    command.env("LATTICE_CL_NO_CACHE", "1").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until a file has been written so many times more.
#[cfg(unix)]
fn await_writes(path: &Path, count: usize, child: &mut Child) {
    use std::os::unix::fs::MetadataExt;
    let version = || std::fs::metadata(path).ok().map(|file| (file.ino(), file.mtime(), file.mtime_nsec()));
    let (mut last, mut seen) = (version(), 0);
    while seen < count {
        assert_eq!(child.try_wait().unwrap(), None, "the search ended before {} was written", path.display());
        let now = version();
        if now.is_some() && now != last {
            (last, seen) = (now, seen + 1);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[cfg(unix)]
#[test]
fn a_search_that_is_killed_goes_on_to_the_same_bits() {
    let folder = folder();
    let folder = folder.path();
    let search = format!("{SEARCH} --degree 12");
    let whole = json(folder, &format!("{search} --output whole.modes"));
    let mut options = "--checkpoint state";
    for signal in ["-KILL", "-INT", "-KILL", "-TERM"] {
        let mut child = started(folder, &format!("{search} --output again.modes {options}"));
        await_writes(&folder.join("state"), 6, &mut child);
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        if signal != "-KILL" {
            assert_eq!(output.status.code(), Some(if signal == "-INT" { 130 } else { 143 }), "{said}");
            assert!(said.contains("of 12 modes found") && said.contains("--resume state"), "{said}");
        }
        options = "--resume state";
    }
    let other = format!("{search} --resume state").replace("0.13", "0.12");
    assert_refused(folder, &other, 2, &["state is the checkpoint of another job: its operator is"]);
    let again = json(folder, &format!("{search} --output again.modes --resume state"));
    for key in ["eigenvalues", "residuals", "applications", "restarts"] {
        assert_eq!(again[key], whole[key], "{key}");
    }
    // The heads of the files tell when they were made; the modes after them are the same.
    let [one, other] =
        ["whole.modes", "again.modes"].map(|name| io::read_checkpoint(folder.join(name)).unwrap());
    assert!(one.blocks == other.blocks, "the modes differ");
    assert!(!folder.join("state").exists());
}
