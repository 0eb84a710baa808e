//! `cr-solve generate`, `info` and `convert` as a user runs them.

use crate::common;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use lattice_cl::io::read_gauge;
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;

fn program(folder: &TempDir, line: &str) -> Command {
    let mut command = cargo_bin_cmd!("cr-solve");
    command.current_dir(folder).args(line.split_whitespace());
    command
}

/// What one run of the program left behind.
struct Run {
    status: i32,
    stdout: String,
    stderr: String,
}

fn run(folder: &TempDir, line: &str) -> Run {
    let output = program(folder, line).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let run = Run {
        status: output.status.code().unwrap(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    };
    assert!(!run.stderr.contains("panicked"), "{line}: {}", run.stderr);
    run
}

/// The JSON that a successful run prints, with nothing beside it.
fn json(folder: &TempDir, line: &str) -> Value {
    let run = run(folder, &format!("{line} --json"));
    assert_eq!(run.status, 0, "{line}: {}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

/// Checks that a run is refused with this status and these words, and prints no result.
fn assert_refused(folder: &TempDir, line: &str, status: i32, words: &[&str]) {
    let run = run(folder, line);
    assert_eq!(run.status, status, "{line}: {}", run.stderr);
    assert_eq!(run.stdout, "", "{line}");
    assert!(run.stderr.starts_with("error: "), "{line}: {}", run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "{line}: `{word}` is not in: {}", run.stderr);
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

const GENERATE: &str = "generate --dims 4x2x6x4 --beta 5.8 --sweeps 3 --seed 7";

#[test]
fn generate_info_and_convert_agree() {
    let folder = folder();
    let generated = json(&folder, &format!("{GENERATE} --start hot --output a.ildg"));
    assert_eq!(generated["schema_version"], 1);
    assert_eq!(generated["dims"], serde_json::json!([4, 2, 6, 4]));
    assert_eq!(generated["beta"], 5.8);
    assert_eq!(generated["sweeps"], 3);
    assert_eq!(generated["seed"], 7);
    assert_eq!(generated["start"], "hot");
    assert_eq!(generated["output"], "a.ildg");
    assert!(generated["seconds"].as_f64().unwrap() >= 0.0);
    let history = generated["plaquette_history"].as_array().unwrap();
    assert_eq!(history.len(), 3);
    assert_eq!(history[2], generated["plaquette"]["average"]);

    let info = json(&folder, "info a.ildg");
    assert_eq!(info["schema_version"], 1);
    assert_eq!(info["format"], "ildg");
    assert_eq!(info["dims"], generated["dims"]);
    assert_eq!(info["precision"], 64);
    assert_eq!(info["plaquette"], generated["plaquette"]);
    assert!(info["link_trace"].as_f64().unwrap().abs() < 0.5);
    assert_eq!(info["polyakov"].as_array().unwrap().len(), 2);
    assert!(info["unitarity_deviation"].as_f64().unwrap() < 1e-13);
    assert!(info["determinant_deviation"].as_f64().unwrap() < 1e-13);
    assert_eq!(info["checksum"]["kind"], "scidac");
    assert_eq!(info["checksum"]["ok"], true);
    assert_eq!(info["checksum"]["stored"], info["checksum"]["computed"]);

    // Through every format that keeps all bits, and back.
    for (from, to) in [("a.ildg", "b.nersc"), ("b.nersc", "c.scidac"), ("c.scidac", "d.lime")] {
        let converted = json(&folder, &format!("convert {from} {to}"));
        assert_eq!(converted["output"]["file"], to);
        assert_eq!(converted["output"]["precision"], 64);
        let here = |name| json(&folder, &format!("info {name}"));
        assert_eq!(here(to)["plaquette"], info["plaquette"]);
        assert_eq!(here(to)["format"], converted["output"]["format"]);
    }
    let links = |name| read_gauge(folder.path().join(name)).unwrap();
    assert_eq!(links("a.ildg"), links("d.lime"));
    assert_eq!(names(folder.path()), ["a.ildg", "b.nersc", "c.scidac", "d.lime"]);
}

#[test]
fn the_same_seed_gives_the_same_file_and_another_another() {
    let folder = folder();
    for (name, more) in [("a", ""), ("b", ""), ("c", "--overrelaxation 0")] {
        let line = format!("{GENERATE} --output {name}.ildg {more}");
        assert_eq!(run(&folder, &line).status, 0);
    }
    let links = |name| read_gauge(folder.path().join(name)).unwrap();
    assert_eq!(links("a.ildg"), links("b.ildg"));
    assert_ne!(links("a.ildg"), links("c.ildg"));
}

#[test]
fn extents_may_be_four_words_and_a_start_may_be_a_file() {
    let folder = folder();
    let words = "generate --dims 4 2 6 4 --beta 5.8 --sweeps 0 --start weak:0.1 --output weak.ildg";
    assert_eq!(json(&folder, words)["dims"], serde_json::json!([4, 2, 6, 4]));
    let same = json(&folder, "generate --beta 5.8 --sweeps 0 --start weak.ildg --output same.nersc");
    assert_eq!(same["start"], "weak.ildg");
    let difference = same["plaquette"]["average"].as_f64().unwrap()
        - json(&folder, "info weak.ildg")["plaquette"]["average"].as_f64().unwrap();
    assert!(difference.abs() < 1e-14);
    let other = "generate --dims 4x4x4x4 --beta 5.8 --sweeps 0 --start weak.ildg --output other.ildg";
    assert_refused(&folder, other, 2, &["4x2x6x4", "4x4x4x4"]);

    // Some do not tell their extents.
    let Some(shared) = common::shared() else { return };
    let silent = shared.join("data/wilson_beta5.7_kappa0.141139.ildg");
    let start = format!("generate --beta 5.7 --sweeps 0 --output told.ildg --start {}", silent.display());
    assert_refused(&folder, &start, 3, &["does not say its extents"]);
    assert_eq!(json(&folder, &format!("{start} --dims 4x4x4x4"))["dims"], serde_json::json!([4, 4, 4, 4]));
}

#[test]
fn what_conversion_loses_is_said() {
    let folder = folder();
    assert_eq!(run(&folder, &format!("{GENERATE} --output a.ildg")).status, 0);
    let single = run(&folder, "convert a.ildg b.milc");
    assert_eq!(single.status, 0);
    assert!(
        single.stderr.contains("warning: the links are rounded from double to single"),
        "{}",
        single.stderr
    );
    assert_eq!(json(&folder, "info b.milc")["precision"], 32);
    let kept = run(&folder, "convert b.milc c --format ildg --precision double");
    assert_eq!(kept.status, 0);
    assert!(!kept.stderr.contains("rounded"), "{}", kept.stderr);
    assert_eq!(json(&folder, "info c")["precision"], 64);
}

#[test]
fn where_a_configuration_comes_from_is_carried_over_or_said_to_be_lost() {
    let Some(shared) = common::shared() else { return };
    let folder = folder();
    let sample = shared.join("data/lat.sample.l4444.ildg");
    let lfn = "lfn://USQCD/MILC/test/lat.sample.l4444";
    let to_nersc = json(&folder, &format!("convert {} a.nersc", sample.display()));
    assert!(to_nersc["lost"].to_string().contains(lfn), "{to_nersc}");
    let to_ildg = json(&folder, &format!("convert {} a.ildg", sample.display()));
    assert!(!to_ildg["lost"].to_string().contains(lfn), "{to_ildg}");
    assert!(run(&folder, "info -v a.ildg").stdout.contains(lfn));

    assert_eq!(run(&folder, &format!("{GENERATE} --output own.ildg")).status, 0);
    let about = "quenched SU(3)";
    assert_eq!(json(&folder, "convert own.ildg own.scidac")["lost"], serde_json::json!([]));
    assert!(run(&folder, "info -v own.scidac").stdout.contains(about));
    assert!(json(&folder, "convert own.scidac own.nersc")["lost"].to_string().contains(about));
}

#[test]
fn a_checksum_that_cannot_be_read_is_no_missing_one() {
    let folder = folder();
    assert_eq!(run(&folder, &format!("{GENERATE} --output a.ildg")).status, 0);
    let mut bytes = std::fs::read(folder.path().join("a.ildg")).unwrap();
    let sum = bytes.windows(6).position(|bytes| bytes == b"<suma>").unwrap() + 6;
    bytes[sum] = b'x';
    std::fs::write(folder.path().join("b.ildg"), &bytes).unwrap();
    let shown = run(&folder, "info b.ildg --json");
    assert_eq!(shown.status, 3, "{}", shown.stderr);
    assert!(shown.stderr.contains("scidac-checksum"), "{}", shown.stderr);
    let info: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(info["plaquette"], json(&folder, "info a.ildg")["plaquette"]);
    assert_eq!(run(&folder, "info b.ildg --ignore-checksum").status, 0);
}

#[test]
fn a_flipped_bit_is_reported_with_both_sums() {
    let folder = folder();
    assert_eq!(run(&folder, &format!("{GENERATE} --output a.ildg")).status, 0);
    let sound = json(&folder, "info a.ildg");
    let bytes = std::fs::read(folder.path().join("a.ildg")).unwrap();
    // The middle of the file is among the links, big-endian numbers at multiples of eight bytes.
    let number = bytes.len() / 16 * 8;
    // The last bit of the mantissa, one in the exponent, and the one in it that makes a link enormous.
    for (offset, bit) in [(7, 0x01), (1, 0x20), (0, 0x40)] {
        let mut damaged = bytes.clone();
        damaged[number + offset] ^= bit;
        std::fs::write(folder.path().join("b.ildg"), &damaged).unwrap();

        let shown = run(&folder, "info b.ildg --json");
        assert_eq!(shown.status, 1, "{}", shown.stderr);
        let info: Value = serde_json::from_str(&shown.stdout).unwrap();
        let [stored, computed] = ["stored", "computed"].map(|sum| info["checksum"][sum].as_str().unwrap());
        assert_eq!(info["checksum"]["ok"], false);
        assert_eq!(stored, sound["checksum"]["stored"]);
        assert_ne!(stored, computed);
        for word in ["error: b.ildg: checksum mismatch", stored, computed, "--ignore-checksum"] {
            assert!(shown.stderr.contains(word), "{}", shown.stderr);
        }
        assert_refused(&folder, "convert b.ildg c.nersc", 1, &[stored, computed, "--ignore-checksum"]);
        assert_eq!(names(folder.path()), ["a.ildg", "b.ildg"]);
    }
}

#[test]
fn a_wrong_checksum_may_be_ignored_and_links_far_from_su3_too() {
    let folder = folder();
    assert_eq!(run(&folder, &format!("{GENERATE} --output a.ildg")).status, 0);
    let path = folder.path().join("a.ildg");
    let mut bytes = std::fs::read(&path).unwrap();
    let number = bytes.len() / 16 * 8;
    let mut damage = |offset: usize, bit: u8| {
        bytes[number + offset] ^= bit;
        std::fs::write(&path, &bytes).unwrap();
    };
    damage(7, 0x01);
    let ignored = run(&folder, "info a.ildg --ignore-checksum");
    assert_eq!(ignored.status, 0);
    assert!(ignored.stdout.contains("MISMATCH"), "{}", ignored.stdout);
    assert!(ignored.stderr.starts_with("warning: "), "{}", ignored.stderr);
    assert_eq!(run(&folder, "convert a.ildg b.nersc --ignore-checksum").status, 0);

    damage(1, 0x20);
    let far = run(&folder, "info a.ildg --ignore-checksum --json");
    assert_eq!(far.status, 3);
    let info: Value = serde_json::from_str(&far.stdout).unwrap();
    assert!(info["unitarity_deviation"].as_f64().unwrap() > 1e-3);
    assert!(far.stderr.contains("far from SU(3)"), "{}", far.stderr);
    assert_refused(&folder, "convert a.ildg c.nersc --ignore-checksum", 3, &["far from SU(3)"]);
    let taken = run(&folder, "info a.ildg --ignore-checksum --ignore-unitarity");
    assert_eq!(taken.status, 0, "{}", taken.stderr);
}

#[test]
fn public_configurations_are_shown() {
    let Some(shared) = common::shared() else { return };
    let folder = folder();
    let data = |name: &str| shared.join("data").join(name).display().to_string();
    let nersc = json(&folder, &format!("info {}", data("nersc.l8t4b3360")));
    let ildg = json(&folder, &format!("info {}", data("ildg.l8t4b3360")));
    assert_eq!((&nersc["format"], &ildg["format"]), (&"nersc".into(), &"ildg".into()));
    // The value in the NERSC header.
    assert!((nersc["plaquette"]["average"].as_f64().unwrap() - 0.5038664469).abs() < 1e-9);
    for planes in ["average", "spatial", "temporal"] {
        let [a, b] = [&nersc, &ildg].map(|info| info["plaquette"][planes].as_f64().unwrap());
        assert!((a - b).abs() < 1e-14);
    }
    let unnamed = data("wilson_beta5.7_kappa0.141139.ildg");
    assert_refused(&folder, &format!("info {unnamed}"), 3, &["--dims"]);
}

#[test]
fn results_and_messages_keep_apart() {
    let folder = folder();
    let plain = run(&folder, &format!("{GENERATE} --output a.ildg"));
    assert!(plain.stdout.contains("plaquette") && plain.stderr.is_empty(), "{}", plain.stderr);
    let verbose = run(&folder, &format!("{GENERATE} --output a.ildg --force --json -v"));
    assert!(serde_json::from_str::<Value>(&verbose.stdout).is_ok());
    assert!(verbose.stderr.contains("sweep"), "{}", verbose.stderr);
    let quiet = run(&folder, "convert a.ildg b.milc -q");
    assert!(quiet.stdout.contains("b.milc") && quiet.stderr.is_empty(), "{}", quiet.stderr);
}

#[test]
fn colour_is_for_those_who_ask() {
    let folder = folder();
    let escape = '\x1b';
    assert!(!run(&folder, "info nothing").stderr.contains(escape));
    assert!(run(&folder, "info nothing --color always").stderr.contains(escape));
    assert!(!run(&folder, "info nothing --color never").stderr.contains(escape));
}

#[test]
fn wrong_usage_exits_with_2() {
    let folder = folder();
    let generate = |rest: &str| format!("generate --sweeps 1 --output a.ildg {rest}");
    for (rest, words) in [
        ("--beta 6 --dims 4x4x4x3", &["--dims", "extent 3", "direction t"][..]),
        ("--beta 6 --dims 4x0x4x4", &["--dims", "extent 0", "direction y"]),
        ("--beta 6 --dims 4 4 4 5", &["extent 5"]),
        ("--beta 6 --dims 4 4 4", &["four extents"]),
        ("--beta 6 --dims 2147483648x2147483648x4x4", &["2^40"]),
        ("--beta 6 --dims 1024x1024x1024x1024", &["1024x1024x1024x1024", "bytes"]),
        ("--beta 6", &["--dims"]),
        ("--beta 6 --start hot", &["--dims"]),
        ("--dims 4x4x4x4", &["--beta"]),
        ("--dims 4x4x4x4 --beta NaN", &["'NaN' for '--beta"]),
        ("--dims 4x4x4x4 --beta -1", &["β = -1"]),
        ("--dims 4x4x4x4 --beta inf", &["'inf' for '--beta"]),
        ("--dims 4x4x4x4 --beta six", &["--beta", "six"]),
        ("--dims 4x4x4x4 --beta 6 --start weak", &["weak:0.1"]),
        ("--dims 4x4x4x4 --beta 6 --start weak:lots", &["lots"]),
        ("--dims 4x4x4x4 --beta 6 --start weak:2", &["ε = 2"]),
        ("--dims 4x4x4x4 --beta 6 --seed -1", &["-1"]),
        ("--dims 4x4x4x4 --beta 6 --format hdf5", &["hdf5"]),
        ("--dims 4x4x4x4 --beta 6 --format milc --precision double", &["milc", "hint: "]),
    ] {
        assert_refused(&folder, &generate(rest), 2, words);
    }
    assert_refused(&folder, "generate --dims 4x4x4x4 --beta 6 --sweeps 1 --output conf", 2, &["--format"]);
    assert_refused(&folder, "info", 2, &["FILE"]);
    assert_refused(&folder, "solve-everything", 2, &["solve-everything"]);
    assert_eq!(names(folder.path()), [""; 0]);

    assert_eq!(run(&folder, &format!("{GENERATE} --output a.ildg")).status, 0);
    let before = std::fs::read(folder.path().join("a.ildg")).unwrap();
    assert_refused(&folder, "convert a.ildg ./a.ildg --precision single", 2, &["would overwrite the input"]);
    assert_refused(&folder, "convert a.ildg copy", 2, &["--format"]);
    assert_eq!(std::fs::read(folder.path().join("a.ildg")).unwrap(), before);
}

#[test]
fn unreadable_files_exit_with_3() {
    let folder = folder();
    std::fs::write(folder.path().join("empty.ildg"), "").unwrap();
    std::fs::write(folder.path().join("text.ildg"), "a poem, not a configuration").unwrap();
    for command in
        ["info {}", "convert {} out.nersc", "generate --beta 6 --sweeps 1 --output o.ildg --start {}"]
    {
        for (file, word) in
            [("empty.ildg", "empty"), ("text.ildg", "a poem"), ("nothing", "nothing"), (".", ".")]
        {
            assert_refused(&folder, &command.replace("{}", file), 3, &[file, word]);
        }
    }
    let unknown_start = "generate --dims 4x4x4x4 --beta 6 --sweeps 1 --output o.ildg --start lukewarm";
    assert_refused(&folder, unknown_start, 3, &["lukewarm", "hint: a start is cold, hot, weak:EPS"]);
}

/// The work asked for would take hours.
#[test]
fn an_unwritable_output_is_found_before_the_work() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("folder.ildg")).unwrap();
    for output in ["no/such/folder/a.ildg", "folder.ildg"] {
        let line = format!("generate --dims 16x16x16x16 --beta 6 --sweeps 1000000 --output {output}");
        let mut command = program(&folder, &line);
        let output = command.timeout(std::time::Duration::from_secs(60)).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = folder();
    assert_eq!(run(&folder, &format!("{GENERATE} --output a.ildg")).status, 0);
    for line in ["info a.ildg", "info a.ildg --json", "--help", "--version"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let program = std::process::Command::new(env!("CARGO_BIN_EXE_cr-solve"))
            .current_dir(&folder)
            .args(line.split(' '))
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = program.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{line}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_chain_is_not_lost() {
    use std::io::{BufRead, BufReader};
    let folder = folder();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("cr-solve"))
        .current_dir(&folder)
        .args(
            "generate --dims 4x4x4x4 --beta 5.7 --sweeps 1000000 --every 2 --output run.ildg --json -v"
                .split(' '),
        )
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(notes.any(|line| line.unwrap().contains("sweep=3")));
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let rest: Vec<String> = notes.map(Result::unwrap).collect();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{rest:?}");
    assert!(
        rest.iter().any(|line| line.contains("of 1000000 sweeps") && line.contains("--start run.ildg")),
        "{rest:?}"
    );
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let sweeps = result["sweeps"].as_u64().unwrap();
    assert!(sweeps >= 3 && result["complete"] == false, "{result}");
    assert_eq!(result["plaquette_history"].as_array().unwrap().len() as u64, sweeps);
    assert_eq!(result["series"].as_array().unwrap().len() as u64, sweeps / 2);

    // Each is the configuration that as many sweeps at once give.
    let line = "generate --dims 4x4x4x4 --beta 5.7 --sweeps 2 --output two.ildg";
    let two = json(&folder, line);
    let plaquette =
        |name: &str| json(&folder, &format!("info {name}"))["plaquette"]["average"].as_f64().unwrap();
    assert_eq!(plaquette("run.000002.ildg"), two["plaquette"]["average"].as_f64().unwrap());
    assert_eq!(plaquette("run.ildg"), result["plaquette"]["average"].as_f64().unwrap());
    let told = json(&folder, "info run.000002.ildg")["header"].to_string();
    assert!(told.contains("2 sweeps"), "{told}");
    assert_refused(&folder, &line.replace("two.ildg", "run.ildg"), 2, &["run.ildg is there already"]);
    let line = "generate --dims 4x4x4x4 --beta 5.7 --sweeps 4 --every 2 --output new.ildg";
    std::fs::write(folder.path().join("new.000004.ildg"), "precious").unwrap();
    assert_refused(&folder, line, 2, &["new.000004.ildg is there already"]);
}
