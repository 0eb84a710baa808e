//! What users name as inputs: fifos, devices, folders, pipes; sizes that nothing supports; names with escape sequences.
#![cfg(unix)]

use assert_cmd::cargo::cargo_bin_cmd;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Every way to name an input; `IN` stands for it.
const INPUTS: [&str; 27] = [
    "info IN",
    "convert IN o.ildg",
    "invert IN --kappa 0.1",
    "spectrum IN --kappa 0.1",
    "flow IN --time 0.1",
    "smear IN o.ildg --stout 0.1,3",
    "fix IN o.ildg --gauge coulomb",
    "measure IN",
    "run IN",
    "plan IN",
    "solve IN",
    "solve poisson2d:5 --rhs IN",
    "solve poisson2d:10 --preconditioner amg --near-nullspace IN",
    "solve IN --method lu",
    "solve good.mtx --method lu --rhs IN",
    "least-squares IN",
    "least-squares good.mtx --rhs IN",
    "eigen IN",
    "svd IN",
    "poisson IN",
    "analyse IN",
    "analyse --series IN",
    "reproduce IN",
    "xc IN",
    "md forces IN --lj Ar=0.2,3 --cutoff 4",
    "md run IN --lj Ar=0.2,3 --cutoff 4 --steps 1 --step 1",
    "bench show IN",
];

/// What a run left behind: its status and what it printed.
struct Run {
    status: i32,
    out: String,
    error: String,
}

fn run_words(folder: &Path, words: &[&str]) -> Run {
    let mut command = cargo_bin_cmd!("cr-solve");
    // Generous: only a hang shall end here.
    command.current_dir(folder).timeout(Duration::from_secs(300)).args(words).args(["--device", "host"]);
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert!(!error.contains("panicked"), "{words:?}: {error}");
    let status = output.status.code().unwrap_or_else(|| panic!("{words:?} does not end by itself: {error}"));
    Run { status, out, error }
}

fn run(folder: &Path, line: &str, input: &str) -> Run {
    let words: Vec<&str> =
        line.split_whitespace().map(|word| if word == "IN" { input } else { word }).collect();
    run_words(folder, &words)
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("good.mtx"),
        "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 4\n",
    )
    .unwrap();
    folder
}

fn fifo(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

#[test]
fn fifos_devices_and_folders_are_refused() {
    let folder = folder();
    let folder = folder.path();
    fifo(folder, "fifo");
    std::fs::create_dir(folder.join("sub")).unwrap();
    for (input, wanted) in [
        ("fifo", "nobody has written to this pipe"),
        ("/dev/zero", "a device, not a regular file"),
        ("sub", "a directory, not a regular file"),
    ] {
        // A fifo is waited for, so all wait at once.
        std::thread::scope(|scope| {
            for line in INPUTS {
                scope.spawn(move || {
                    let run = run(folder, line, input);
                    assert_ne!(run.status, 0, "{line} took {input}");
                    assert!(run.error.contains(wanted), "{line}, {input}: {}", run.error);
                });
            }
        });
    }
}

#[test]
fn what_comes_through_a_pipe_is_read() {
    let folder = folder();
    let path = fifo(folder.path(), "pipe.mtx");
    let text = std::fs::read(folder.path().join("good.mtx")).unwrap();
    for line in ["solve IN", "eigen IN", "svd IN", "least-squares IN", "solve good.mtx --method lu --rhs IN"]
    {
        std::thread::scope(|scope| {
            scope.spawn(|| OpenOptions::new().write(true).open(&path).unwrap().write_all(&text).unwrap());
            let run = run(folder.path(), line, "pipe.mtx");
            assert_eq!(run.status, 0, "{line}: {}", run.error);
        });
    }
}

/// A writer that keeps silent is waited for, but not against the user's will.
#[test]
fn a_signal_ends_the_wait_for_a_pipe() {
    let folder = folder();
    fifo(folder.path(), "fifo");
    for line in ["info IN", "solve IN", "least-squares IN", "run IN", "xc IN", "invert IN --kappa 0.1"] {
        let words = line.split_whitespace().map(|word| if word == "IN" { "fifo" } else { word });
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("cr-solve"))
            .current_dir(&folder)
            .args(words)
            .args(["--device", "host"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Opening returns when the program has opened its end.
        let _silent = OpenOptions::new().write(true).open(folder.path().join("fifo")).unwrap();
        std::thread::sleep(Duration::from_secs(3));
        assert!(child.try_wait().unwrap().is_none(), "{line} does not wait for the writer");
        assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
        assert!(!child.wait().unwrap().success(), "{line}");
    }
}

#[test]
fn extents_that_no_entry_supports_are_refused_in_little_memory() {
    let folder = folder();
    let folder = folder.path();
    for (name, sizes) in
        [("tall", "99999999 6 1"), ("wide", "6 99999999 1"), ("square", "99999999 99999999 1")]
    {
        let text = format!("%%MatrixMarket matrix coordinate real general\n{sizes}\n1 1 3.0\n");
        std::fs::write(folder.join(format!("{name}.mtx")), text).unwrap();
    }
    for line in [
        "info IN",
        "solve IN",
        "solve poisson2d:5 --rhs IN",
        "solve poisson2d:10 --preconditioner amg --near-nullspace IN",
        "solve IN --method lu",
        "least-squares IN",
        "eigen IN",
        "svd IN",
    ] {
        for name in ["tall.mtx", "wide.mtx", "square.mtx"] {
            // Little memory is allowed, so that a size that is believed fails.
            let words = line.split_whitespace().map(|word| if word == "IN" { name } else { word });
            let words: Vec<&str> = words.collect();
            let program = assert_cmd::cargo::cargo_bin!("cr-solve");
            let script = format!("ulimit -v 1500000; exec {} \"$@\"", program.display());
            let output = Command::new("sh")
                .current_dir(folder)
                .args(["-c", &script, "sh"])
                .args(&words)
                .args(["--device", "host"])
                .output()
                .unwrap();
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(matches!(output.status.code(), Some(2 | 3)), "{words:?}: {error}");
            assert!(error.contains("but 1 entry"), "{words:?}: {error}");
        }
    }
}

#[test]
fn no_control_character_of_a_name_a_file_or_an_option_is_printed() {
    let folder = folder();
    let folder = folder.path();
    let payload = "\u{1b}]0;owned\u{7}\u{9b}2J";
    let bad = format!("bad{payload}.mtx");
    std::fs::write(folder.join(&bad), format!("%%MatrixMarket matrix coordinate {payload} general\n1 1 1\n"))
        .unwrap();
    std::fs::write(folder.join("bad.npy"), format!("\u{1b}{payload}")).unwrap();
    let good = format!("good{payload}.mtx");
    std::fs::copy(folder.join("good.mtx"), folder.join(&good)).unwrap();
    let job = format!("job{payload}.toml");
    std::fs::write(folder.join(&job), format!("command = \"spectrum\"\n\"{payload}\" = 1\n")).unwrap();
    let missing = format!("missing{payload}");
    let mut printed = 0;
    for line in INPUTS {
        for input in [&bad, "bad.npy", &good, &job, &missing] {
            let run = run(folder, line, input);
            let is_control = |c: char| c.is_control() && c != '\n' && c != '\t';
            for text in [&run.out, &run.error] {
                assert!(!text.contains(is_control), "{line}, {input}: {text:?}");
                printed += usize::from(text.contains('\u{fffd}'));
            }
        }
    }
    for words in [
        vec!["invert", "good.mtx", "--kappa", payload],
        vec!["solve", "good.mtx", "--method", payload],
        vec!["solve", payload],
        vec![payload],
        vec!["run", &job, "--set", payload],
        vec!["solve", "good.mtx", payload],
        vec!["solve", "good.mtx", "--preconditioner", payload],
        vec!["solve", "good.mtx", "--color", "always", "--format", payload],
    ] {
        let run = run_words(folder, &words);
        assert_ne!(run.status, 0, "{words:?}");
        let error =
            run.error.replace("\u{1b}[1;31m", "").replace("\u{1b}[1;36m", "").replace("\u{1b}[0m", "");
        let is_control = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!error.contains(is_control), "{words:?}: {error:?}");
    }
    assert!(printed > 50, "{printed}");
}
