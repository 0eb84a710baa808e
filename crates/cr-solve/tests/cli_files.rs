//! Files as a user hands them to `cr-solve`: several, through pipes, of other codes, damaged, without room.

use crate::common;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use common::{sample, shared};
use lattice_cl::geometry::{Boundary, NDIM};
use lattice_cl::io::{
    CheckpointWriter, Format, WriteOptions, read_checkpoint, read_gauge, read_propagator, write_gauge,
};
use lattice_cl::{GaugeConfiguration, Precision};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

struct Run {
    status: i32,
    stdout: String,
    stderr: String,
}

impl Run {
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    #[track_caller]
    fn says(&self, status: i32, words: &[&str]) {
        assert_eq!(self.status, status, "{}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is not in: {}", self.stderr);
        }
    }
}

fn program(folder: &TempDir, line: &str) -> Command {
    let mut command = cargo_bin_cmd!("cr-solve");
    command.current_dir(folder).args(line.split_whitespace());
    command
}

fn run(folder: &TempDir, line: &str) -> Run {
    outcome(&mut program(folder, line))
}

fn outcome(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let status = output.status.code().unwrap();
    Run { status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

const EXTENTS: [usize; NDIM] = [4, 2, 6, 4];

fn written(folder: &TempDir, name: &str, config: &GaugeConfiguration, format: Format) {
    let options = WriteOptions::new(format).with_description(Some(format!("made for {name}")));
    write_gauge(folder.path().join(name), config, &options).unwrap();
}

/// A configuration whose t-links on the last slice have the sign of antiperiodic fermions.
fn with_sign(config: &GaugeConfiguration) -> GaugeConfiguration {
    let dims = config.dims();
    let mut signed = config.clone();
    for site in (0..dims.volume()).filter(|&site| dims.coordinates(site)[3] == dims[3] - 1) {
        signed.set_link(site, 3, config.link(site, 3).scale(-1.0));
    }
    signed
}

#[test]
fn several_files_are_shown_each_with_what_it_says_of_itself() {
    let folder = folder();
    let config = sample(EXTENTS, Precision::Single);
    written(&folder, "a.ildg", &config, Format::Ildg);
    written(&folder, "b.milc", &config, Format::Milc);
    std::fs::write(folder.path().join("poem"), "a poem").unwrap();

    let one = run(&folder, "info a.ildg");
    assert_eq!(one.status, 0);
    assert!(one.stdout.contains("description    made for a.ildg"), "{}", one.stdout);
    assert!(one.stdout.contains("lfn"), "{}", one.stdout);

    let brief = run(&folder, "info --brief a.ildg poem b.milc");
    brief.says(3, &["poem", "a poem"]);
    let lines: Vec<_> = brief.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", brief.stdout);
    for (line, name) in lines.iter().zip(["a.ildg  ildg 4x2x6x4", "b.milc  milc 4x2x6x4"]) {
        assert!(line.starts_with(name) && line.contains("checksum verified"), "{line}");
    }
    let long = run(&folder, "info a.ildg b.milc");
    assert!(long.stdout.contains("\n\nfile"), "{}", long.stdout);

    let all = run(&folder, "info a.ildg poem b.milc --json").json();
    let files = all["files"].as_array().unwrap();
    let single = run(&folder, "info a.ildg --json").json();
    assert_eq!((files.len(), &files[0]), (2, &single));
    assert_eq!(single["kind"], "configuration");
}

#[cfg(unix)]
#[test]
fn a_file_may_come_through_a_pipe() {
    let folder = folder();
    let config = sample(EXTENTS, Precision::Double);
    written(&folder, "a.ildg", &config, Format::Ildg);
    let bytes = std::fs::read(folder.path().join("a.ildg")).unwrap();
    let wanted = run(&folder, "info a.ildg --json").json();

    let piped = outcome(program(&folder, "info - --json").write_stdin(bytes.clone()));
    assert_eq!(piped.status, 0, "{}", piped.stderr);
    for key in ["plaquette", "checksum", "dims"] {
        assert_eq!(piped.json()[key], wanted[key]);
    }
    // A flipped bit is found in one pass: there is no second one.
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 16 * 8 + 7] ^= 1;
    let piped = outcome(program(&folder, "info /dev/stdin --json").write_stdin(damaged));
    piped.says(1, &["checksum mismatch"]);
    assert_eq!(piped.json()["checksum"]["ok"], false);
    let piped = outcome(program(&folder, "convert - b.nersc").write_stdin(bytes.clone()));
    assert_eq!(piped.status, 0, "{}", piped.stderr);
    assert_eq!(read_gauge(folder.path().join("b.nersc")).unwrap(), config);
    let piped = outcome(program(&folder, "info -").write_stdin(""));
    piped.says(3, &["empty"]);
    // As a redirection, which is a file.
    let file = std::fs::File::open(folder.path().join("a.ildg")).unwrap();
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_cr-solve"))
        .args(["info", "-", "--brief"])
        .stdin(file)
        .output()
        .unwrap();
    assert!(child.status.success() && String::from_utf8(child.stdout).unwrap().contains("4x2x6x4"));
}

/// As kill -9 leaves them, in the middle of a file.
#[cfg(unix)]
#[test]
fn what_killed_runs_left_of_a_file_is_removed_by_the_next_one() {
    let folder = folder();
    written(&folder, "a.ildg", &sample(EXTENTS, Precision::Double), Format::Ildg);
    for name in [".b.nersc.AbC123.part", ".other.nersc.AbC123.part", ".b.nersc.notes.part"] {
        std::fs::write(folder.path().join(name), "half of it").unwrap();
    }
    assert_eq!(run(&folder, "convert a.ildg b.nersc").status, 0);
    let there = |name: &str| folder.path().join(name).exists();
    assert!(there("b.nersc") && !there(".b.nersc.AbC123.part"));
    assert!(there(".other.nersc.AbC123.part") && there(".b.nersc.notes.part"));
}

#[test]
fn results_do_not_go_to_a_stream() {
    let folder = folder();
    let config = sample(EXTENTS, Precision::Double);
    written(&folder, "a.ildg", &config, Format::Ildg);
    for line in [
        "convert a.ildg - --format nersc",
        "generate --dims 4x4x4x4 --beta 6 --sweeps 0 --format ildg --output -",
        "invert a.ildg --kappa 0.1 --device host --output -",
    ] {
        run(&folder, line).says(3, &["standard output", "name a file"]);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn text_that_cannot_be_written_is_a_failure() {
    let folder = folder();
    written(&folder, "a.ildg", &sample(EXTENTS, Precision::Double), Format::Ildg);
    for line in
        ["--help", "--version", "info --help", "info a.ildg", "info a.ildg --json", "convert a.ildg b.nersc"]
    {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let status = std::process::Command::new(env!("CARGO_BIN_EXE_cr-solve"))
            .current_dir(&folder)
            .args(line.split(' '))
            .stdout(full)
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(3), "{line}");
    }
}

#[test]
fn propagators_of_others_are_shown() {
    let Some(shared) = shared() else { return };
    let folder = folder();
    for (name, sums, bits, note) in [
        ("propagator_l4444_k0.12_csw1.2.lime", "3b595664 9aa8f53d", 64, "kappa 0.12 csw 1.2"),
        ("propagator_l4444_k0.12_csw1.2_f32.lime", "eda58c87 279b482e", 32, "single precision"),
    ] {
        let path = shared.join("data").join(name);
        let shown = run(&folder, &format!("info {} --json", path.display()));
        assert_eq!(shown.status, 0, "{}", shown.stderr);
        let info = shown.json();
        assert_eq!(info["kind"], "propagator");
        assert_eq!(info["dims"], serde_json::json!([4, 4, 4, 4]));
        // Published beside the file.
        for (t, wanted) in [15.57115535, 0.94756393, 0.27975898, 0.87693191].into_iter().enumerate() {
            assert!((info["norm2_by_t"][t].as_f64().unwrap() - wanted).abs() < 1e-6, "{info}");
        }
        let solutions = info["solutions"].as_array().unwrap();
        assert_eq!(solutions.len(), 12);
        for (k, solution) in solutions.iter().enumerate() {
            assert_eq!((&solution["spin"], &solution["color"]), (&(k / 3).into(), &(k % 3).into()));
            assert_eq!(solution["checksum"]["stored"], sums);
            assert_eq!((&solution["checksum"]["ok"], &solution["precision"]), (&true.into(), &bits.into()));
        }
        let text = run(&folder, &format!("info {}", path.display())).stdout;
        for word in ["12: all spins and colours", note, "DeGrand-Rossi", &format!("{sums}, verified")] {
            assert!(text.contains(word), "`{word}` is not in: {text}");
        }
    }
}

#[test]
fn a_propagator_of_this_program_is_shown_as_it_was_solved() {
    let folder = folder();
    written(&folder, "a.ildg", &sample([4, 2, 2, 4], Precision::Double), Format::Ildg);
    let line = "invert a.ildg --kappa 0.1 --spin 2 --colour 1 --device host --output x.lime --json";
    let solved = run(&folder, line);
    assert_eq!(solved.status, 0, "{}", solved.stderr);
    let shown = run(&folder, "info x.lime --json").json();
    let field = &read_propagator(folder.path().join("x.lime")).unwrap().records[0].field;
    let norm =
        field.iter().flat_map(|spinor| spinor.0.iter().flatten()).map(|z| z.norm_sqr()).sum::<f64>().sqrt();
    let solution = &shown["solutions"][0];
    assert_eq!((&solution["spin"], &solution["color"]), (&2.into(), &1.into()));
    assert!((solution["norm"].as_f64().unwrap() / norm - 1.0).abs() < 1e-12);
    assert_eq!(solution["checksum"]["ok"], true);
    let text = run(&folder, "info x.lime").stdout;
    assert!(text.contains("1: spin.colour 2.1") && text.contains("0.1"), "{text}");

    let mut bytes = std::fs::read(folder.path().join("x.lime")).unwrap();
    let place = bytes.len() - 1000;
    bytes[place] ^= 1;
    std::fs::write(folder.path().join("bad.lime"), bytes).unwrap();
    run(&folder, "info bad.lime").says(1, &["checksum mismatch"]);
    assert_eq!(run(&folder, "info bad.lime --ignore-checksum").status, 0);
    run(&folder, "convert x.lime b.nersc").says(2, &["b.nersc", "--format scidac"]);
}

#[test]
fn logical_file_names_are_given_kept_or_those_of_the_file() {
    let folder = folder();
    let lfn = |name: &str| {
        let info = run(&folder, &format!("info {name} --json")).json();
        let header = info["header"].as_array().unwrap();
        let entry = header.iter().find(|entry| entry[0] == "lfn");
        entry.map(|entry| entry[1].as_str().unwrap().to_owned())
    };
    let generate = "generate --dims 4x2x2x4 --beta 6 --sweeps 0 --start hot";
    assert_eq!(run(&folder, &format!("{generate} --output a.ildg")).status, 0);
    assert_eq!(lfn("a.ildg").as_deref(), Some("a.ildg"));
    assert_eq!(run(&folder, &format!("{generate} --output b.ildg --lfn lfn://here/b")).status, 0);
    assert_eq!(lfn("b.ildg").as_deref(), Some("lfn://here/b"));
    for (line, wanted) in [
        ("convert a.ildg c.ildg", "c.ildg"),
        ("convert b.ildg d.ildg", "lfn://here/b"),
        ("convert b.ildg e.ildg --lfn other", "other"),
    ] {
        let converted = run(&folder, line);
        assert_eq!(converted.stderr, "", "{line}");
        assert_eq!(lfn(line.split(' ').nth(2).unwrap()).as_deref(), Some(wanted));
    }
    run(&folder, "convert a.ildg f.nersc --lfn other").says(2, &["nersc format has no logical file name"]);
    run(&folder, &format!("{generate} --output f.milc --lfn other")).says(2, &["no logical file name"]);
}

#[test]
fn links_are_projected_to_su3_when_asked() {
    let folder = folder();
    written(&folder, "a.milc", &sample([4, 4, 2, 4], Precision::Single), Format::Milc);
    let solve = "--kappa 0.1 --device host --links 12";
    run(&folder, &format!("invert a.milc {solve}")).says(2, &["deviate from SU(3)", "convert --reunitarise"]);
    let converted = run(&folder, "convert a.milc b.ildg --reunitarise --json");
    assert_eq!(converted.status, 0, "{}", converted.stderr);
    let change = converted.json()["reunitarised"].as_f64().unwrap();
    assert!(change > 1e-9 && change < 1e-6, "{change:e}");
    let info = run(&folder, "info b.ildg --json").json();
    assert_eq!(info["precision"], 64);
    assert!(info["unitarity_deviation"].as_f64().unwrap() < 1e-14, "{info}");
    let solved = run(&folder, &format!("invert b.ildg {solve}"));
    assert_eq!(solved.status, 0, "{}", solved.stderr);
    // To a format in single precision the change is rounded away, and that is said.
    run(&folder, "convert a.milc c.milc --reunitarise").says(0, &["rounded from double to single"]);
}

/// The correlator with a sign in the links is that without one, or the solve is refused.
#[test]
fn a_boundary_sign_in_the_links_never_makes_periodic_fermions() {
    let folder = folder();
    let config = sample([4, 2, 2, 4], Precision::Double);
    written(&folder, "a.ildg", &config, Format::Ildg);
    written(&folder, "signed.ildg", &with_sign(&config), Format::Ildg);
    let correlator = |line: &str| {
        let solved = run(&folder, &format!("spectrum {line} --kappa 0.1 --device host --json"));
        assert_eq!(solved.status, 0, "{line}: {}", solved.stderr);
        let values = solved.json()["correlators"]["pion"].as_array().unwrap().clone();
        values.iter().map(|value| value.as_f64().unwrap()).collect::<Vec<_>>()
    };
    let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a / b - 1.0).abs() < 1e-8);
    assert_eq!(Boundary::default(), Boundary::antiperiodic_t());
    let wanted = correlator("a.ildg");
    assert!(!same(&wanted, &correlator("a.ildg --boundary periodic")));
    for ignored in ["", "--ignore-unitarity", "--ignore-unitarity --ignore-checksum"] {
        for command in ["spectrum", "invert"] {
            let line = format!("{command} signed.ildg --kappa 0.1 --device host {ignored}");
            let words = ["slice t = 3", "--signs-in-links remove", "--boundary periodic"];
            run(&folder, &line).says(3, &words);
        }
        assert!(same(&wanted, &correlator(&format!("signed.ildg --signs-in-links remove {ignored}"))));
        let kept = format!("signed.ildg --signs-in-links keep --boundary periodic {ignored}");
        assert!(same(&wanted, &correlator(&kept)));
    }
    let info = run(&folder, "info signed.ildg --json");
    info.says(3, &["--signs-in-links"]);
    assert_eq!(info.json()["signs_in_links"], serde_json::json!([{ "direction": "t", "slice": 3 }]));
    run(&folder, "convert signed.ildg b.ildg --signs-in-links remove")
        .says(0, &["was taken out of the t-links"]);
    assert_eq!(read_gauge(folder.path().join("b.ildg")).unwrap(), config);
    run(&folder, "info a.ildg --signs-in-links perhaps").says(2, &["refuse, remove or keep"]);
}

/// A checkpoint with other blocks, as long as its sum is right.
fn forged(from: &Path, to: &Path, change: impl Fn(usize, Vec<u8>) -> Vec<u8>) {
    let checkpoint = read_checkpoint(from).unwrap();
    let mut writer = CheckpointWriter::create(to, &checkpoint.about).unwrap();
    for (k, block) in checkpoint.blocks.into_iter().enumerate() {
        writer.block(&change(k, block)).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn a_checkpoint_that_does_not_fit_is_an_invalid_file() {
    let folder = folder();
    written(&folder, "a.ildg", &sample([4, 4, 2, 4], Precision::Double), Format::Ildg);
    let line = "invert a.ildg --kappa 0.124 --solver cg --device host";
    let stopped = run(&folder, &format!("{line} --checkpoint c --every 0s --max-iterations 3"));
    assert_ne!(stopped.status, 0);
    let path = |name: &str| folder.path().join(name);
    if !path("c").exists() {
        panic!("no state was kept: {}", stopped.stderr);
    }
    for (name, change) in [
        (
            "half",
            (|_, block: Vec<u8>| block[..block.len() / 16 * 8].to_vec()) as fn(usize, Vec<u8>) -> Vec<u8>,
        ),
        ("odd", |_, mut block| {
            block.push(0);
            block
        }),
        ("empty", |_, _| Vec::new()),
    ] {
        forged(&path("c"), &path(name), change);
        let resumed = run(&folder, &format!("{line} --resume {name}"));
        assert_eq!(resumed.status, 3, "{name}: {}", resumed.stderr);
        assert!(!resumed.stderr.contains("panicked"), "{}", resumed.stderr);
    }
}

/// A file with a hole of a tebibyte, which no machine here has as memory.
#[cfg(target_os = "linux")]
#[test]
fn a_checkpoint_larger_than_the_memory_is_refused() {
    use std::os::unix::fs::FileExt;
    let folder = folder();
    let path = folder.path().join("c");
    let mut writer = CheckpointWriter::create(&path, "{}").unwrap();
    writer.block(&[0; 8]).unwrap();
    writer.finish().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let block = 144 + 8;
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    let hole = 1_u64 << 40;
    file.write_all_at(&hole.to_be_bytes(), block as u64 + 8).unwrap();
    let sum = &bytes[block + 144 + 8..];
    if file.write_all_at(sum, block as u64 + 144 + hole).is_err() {
        common::skipped("this file system has no files of a tebibyte");
        return;
    }
    written(&folder, "a.ildg", &sample([4, 2, 2, 4], Precision::Double), Format::Ildg);
    run(&folder, "invert a.ildg --kappa 0.1 --device host --resume c")
        .says(3, &["1099511627776 bytes", "which this machine does not have"]);
}

#[test]
fn formats_without_a_header_are_read_by_name() {
    let folder = folder();
    let config = sample(EXTENTS, Precision::Double);
    written(&folder, "a.ildg", &config, Format::Ildg);
    run(&folder, "convert a.ildg bare --format bridge-binary").says(0, &[]);
    run(&folder, "measure bare --dims 4x2x6x4").says(3, &["not a gauge configuration"]);
    run(&folder, "measure bare --format bridge-binary").says(3, &["--dims"]);
    let [by_name, original] =
        ["measure bare --dims 4x2x6x4 --format bridge-binary --json", "measure a.ildg --json"]
            .map(|line| run(&folder, line).json());
    assert_eq!(by_name["plaquette"], original["plaquette"]);
    let info = run(&folder, "info bare --dims 4x2x6x4 --input-format bridge-binary --json").json();
    let lists = ["verified", "not_verified"].map(|key| info[key].to_string());
    assert!(
        lists[0].contains("SU(3)") && lists[1].contains("extents") && lists[1].contains("checksum"),
        "{lists:?}"
    );
    run(&folder, "convert bare b.h5 --dims 4x2x6x4 --input-format bridge-binary").says(0, &[]);
    assert!(read_gauge(folder.path().join("b.h5")).unwrap() == config);
    let info = run(&folder, "info b.h5 --json").json();
    assert!(info["verified"].to_string().contains("pyquda checksum"), "{info}");
}

#[test]
fn propagators_are_converted_between_all_formats() {
    let folder = folder();
    written(&folder, "a.ildg", &sample([2, 2, 2, 4], Precision::Double), Format::Ildg);
    let solve = "spectrum a.ildg --kappa 0.05 --tol 1e-4 --device host --quiet --output p.lime";
    run(&folder, solve).says(0, &[]);
    let original = read_propagator(folder.path().join("p.lime")).unwrap();
    let mut last = "p.lime".to_owned();
    for (name, format) in
        [("p.npy", "npy"), ("p.h5", "pyquda-hdf5"), ("q.lalibe-hdf5", "lalibe-hdf5"), ("q.lime", "scidac")]
    {
        let run_of = run(&folder, &format!("convert {last} {name} --json"));
        run_of.says(0, &[]);
        let result = run_of.json();
        assert_eq!(
            (result["output"]["format"].as_str(), result["solutions"].as_u64()),
            (Some(format), Some(12))
        );
        let read = read_propagator(folder.path().join(name)).unwrap();
        assert!(
            read.records
                .iter()
                .map(|record| &record.field)
                .eq(original.records.iter().map(|record| &record.field))
        );
        let info = run(&folder, &format!("info {name} --json")).json();
        assert_eq!(info["format"].as_str(), Some(format));
        last = name.to_owned();
    }
    run(&folder, "convert p.lime r.lime --reunitarise").says(2, &["propagator"]);
    run(&folder, "convert p.lime r.lime --format nersc").says(2, &["nersc", "lalibe-hdf5"]);
}
