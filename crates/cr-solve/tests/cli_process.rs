//! The program in surroundings that are short of something: caches, threads, room for files, memory.

use crate::common;

use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};
use lattice_cl::Dims;
use lattice_cl::compute::discover;
use lattice_cl::host::random;
use lattice_cl::io::{self, Format, WriteOptions};
#[cfg(unix)]
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::{Child, Stdio};
use std::process::{Command, Output};

fn field(folder: &Path) -> PathBuf {
    let path = folder.join("field.ildg");
    let links = random::weak(Dims::new([2, 2, 2, 4]).unwrap(), 0.1, 3);
    io::write_gauge(&path, &links, &WriteOptions::new(Format::Ildg)).unwrap();
    path
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn count_files(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .map(|entry| entry.unwrap().path())
        .map(|path| if path.is_dir() { count_files(&path) } else { 1 })
        .sum()
}

/// Kernels that PoCL has compiled, as libraries or as LLVM's code.
fn count_kernels(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let is_kernel = |path: &Path| path.extension().is_some_and(|ending| ending == "so" || ending == "bc");
    entries
        .map(|entry| entry.unwrap().path())
        .map(|path| if path.is_dir() { count_kernels(&path) } else { usize::from(is_kernel(&path)) })
        .sum()
}

/// Through the shell's `ulimit`, whose limits the program inherits.
#[cfg(unix)]
fn limited(limit: &str, line: &str) -> Output {
    let program = cargo_bin!("cr-solve").display().to_string();
    let script = format!("ulimit {limit} && exec {program} {line}");
    Command::new("sh").args(["-c", &script]).env("LATTICE_CL_NO_CACHE", "1").output().unwrap()
}

#[test]
fn a_home_that_is_no_folder_keeps_no_caches_and_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let field = field(folder.path());
    let mut command = cargo_bin_cmd!("cr-solve");
    command.env("HOME", "/dev/null").env_remove("XDG_CACHE_HOME").env_remove("LATTICE_CL_NO_CACHE");
    command.args(["invert", "--kappa", "0.1", "--tol", "1e-3", "--quiet"]).arg(field);
    let output = command.output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn without_caches_the_driver_keeps_nothing_either() {
    if !discover().devices.iter().all(|device| device.info.platform == "Portable Computing Language") {
        return common::skipped("only PoCL's cache can be looked into");
    }
    let folder = tempfile::tempdir().unwrap();
    let field = field(folder.path());
    let kept_after = |option: &str, variable: &str| {
        let cache = folder.path().join(format!("cache{option}{variable}"));
        std::fs::create_dir(&cache).unwrap();
        let mut command = cargo_bin_cmd!("cr-solve");
        command.env_remove("LATTICE_CL_NO_CACHE").env_remove("POCL_KERNEL_CACHE");
        command.env("XDG_CACHE_HOME", folder.path().join("xdg")).env("POCL_CACHE_DIR", &cache);
        if !variable.is_empty() {
            command.env(variable, "1");
        }
        command.args(["invert", "--kappa", "0.1", "--quiet", "--json"]).arg(&field);
        command.args(option.split_whitespace()).assert().success();
        count_kernels(&cache)
    };
    if kept_after("", "") == 0 {
        return common::skipped("this PoCL keeps nothing");
    }
    assert_eq!(kept_after("--no-cache", ""), 0);
    assert_eq!(kept_after("", "LATTICE_CL_NO_CACHE"), 0);
}

#[test]
fn a_number_of_threads_beyond_reason_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for wrong in ["100000", "many", "-1"] {
        let mut command = cargo_bin_cmd!("cr-solve");
        let output =
            command.env("RAYON_NUM_THREADS", wrong).arg("info").arg(field(folder.path())).output().unwrap();
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("RAYON_NUM_THREADS") && message.contains(wrong), "{message}");
    }
    let mut command = cargo_bin_cmd!("cr-solve");
    command.env("RAYON_NUM_THREADS", "1").arg("info").arg(field(folder.path())).assert().success();
}

#[cfg(unix)]
#[test]
fn a_limit_of_file_sizes_is_an_error_like_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("large.ildg");
    // 288 KiB of links, and room for 64 (of 512 or 1024 bytes, as the shell counts).
    let line = format!("generate --dims 4x4x4x8 --beta 6 --sweeps 0 --output {}", output.display());
    let found = limited("-f 64", &line);
    let message = text(&found.stderr);
    assert_eq!(found.status.code(), Some(3), "{message}");
    assert!(message.contains("large.ildg"), "{message}");
    assert_eq!(count_files(folder.path()), 0, "nothing is left behind");
}

/// With less and less memory: the right answer or an error that says how much is needed, never an abort.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("field.ildg");
    let links = random::weak(Dims::new([16, 16, 16, 16]).unwrap(), 0.1, 3);
    io::write_gauge(&path, &links, &WriteOptions::new(Format::Ildg)).unwrap();
    let line = format!("invert {} --kappa 0.1 --device host --solver cg --tol 1e-3 --quiet", path.display());
    let mut refused = 0;
    // Kibibytes of addresses. The links take 37 MiB each time, a field 12.
    for limit in [150_000, 200_000, 250_000, 300_000, 350_000, 400_000] {
        let found = limited(&format!("-v {limit}"), &line);
        let message = text(&found.stderr);
        match found.status.code() {
            Some(0) => {}
            Some(3 | 4) => {
                refused += 1;
                assert!(message.contains("bytes"), "at {limit} KiB: {message}");
            }
            other => panic!("at {limit} KiB: {other:?}: {message}"),
        }
    }
    assert!(refused > 0, "no limit was too small");
}

/// Their sum counts, not each alone: two gibibytes of addresses hold a matrix of 8192x8192 but not six.
#[cfg(target_os = "linux")]
#[test]
fn benchmarks_that_memory_cannot_hold_are_refused_before_the_work() {
    if discover().devices.is_empty() {
        return common::skipped("no OpenCL device");
    }
    for (line, what) in [
        ("bench gemm --sizes 8192 --precision d", "the matrices of a product of 8192"),
        ("bench gemm --sizes 8192 --precision d --device 0.0,0.0", "the matrices of a product"),
        ("bench stencil --dims 64x64x64x32 --no-tune", "links and spinors of a lattice of 64x64x64x32"),
        ("tune stencil --dims 64x64x64x32", "links and spinors of a lattice of 64x64x64x32"),
    ] {
        let found = limited("-v 2097152", line);
        let message = text(&found.stderr);
        assert_eq!(found.status.code(), Some(2), "{line}: {message}");
        assert!(message.contains(what) && message.contains("does not have"), "{line}: {message}");
    }
}

/// What needs OpenCL says so, and how to get it, with the exit status of a missing device; what can do without does.
#[test]
fn without_opencl_commands_that_need_it_say_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let bare = |line: &str| {
        let mut command = cargo_bin_cmd!("cr-solve");
        command.env("OCL_ICD_VENDORS", folder.path()).args(line.split(' ')).output().unwrap()
    };
    for line in ["tune", "bench gemm", "bench blas", "bench ladder"] {
        let output = bare(line);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{line}: {message}");
        assert!(
            message.contains("there is no OpenCL device") && message.contains("install"),
            "{line}: {message}"
        );
        assert!(output.stdout.is_empty(), "{line} prints no result");
    }
    let output = bare("bench bandwidth --quick --json");
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success() && result["rows"].as_array().is_some_and(|rows| !rows.is_empty()));
}

/// Starts the program, with standard error to read from.
#[cfg(unix)]
fn started(folder: &Path, script: &str, line: &str) -> Child {
    let script = format!("{script} exec {} {line}", cargo_bin!("cr-solve").display());
    let mut command = Command::new("sh");
    command.current_dir(folder).args(["-c", &script]).env("LATTICE_CL_NO_CACHE", "1");
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

#[cfg(unix)]
fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success(), "{signal}");
}

/// Waits until the program says something with these words.
#[cfg(unix)]
fn await_words(child: &mut Child, words: &str) {
    let mut said = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains(words)), "it never says {words}");
}

/// A job that takes minutes.
#[cfg(unix)]
fn endless(folder: &Path) -> String {
    let path = folder.join("field.ildg");
    let links = random::hot(Dims::new([8, 8, 8, 8]).unwrap(), 1);
    io::write_gauge(&path, &links, &WriteOptions::new(Format::Ildg)).unwrap();
    "spectrum field.ildg --kappa 0.2 --device host --solver cg --precision double --tol 1e-14 -v".to_owned()
}

#[cfg(unix)]
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Each signal that asks to end has the state kept, and leaves neither locks nor half-written files.
#[cfg(unix)]
#[test]
fn a_hang_up_keeps_the_state_like_other_requests() {
    let folder = tempfile::tempdir().unwrap();
    let line = endless(folder.path());
    for (signal, status) in [("-HUP", 129), ("-TERM", 143)] {
        let mut child =
            started(folder.path(), "", &format!("{line} --checkpoint c --resume-if-present --output x.lime"));
        await_words(&mut child, "iteration");
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{signal}: {said}");
        assert!(said.contains("go on with --resume c"), "{signal}: {said}");
        // Solutions beside the checkpoint stay with it.
        let left = names(folder.path()).into_iter().filter(|name| !name.starts_with("c."));
        assert_eq!(left.collect::<Vec<_>>(), ["c", "field.ildg"], "{signal}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_hang_up_that_is_ignored_stays_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let line = endless(folder.path());
    let mut child = started(folder.path(), "trap '' HUP;", &line);
    await_words(&mut child, "iteration");
    send("-HUP", &child);
    await_words(&mut child, "iteration");
    send("-TERM", &child);
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

/// A command that has nothing to keep, or has not begun, ends at once.
#[cfg(unix)]
#[test]
fn a_request_ends_what_does_not_listen() {
    let folder = tempfile::tempdir().unwrap();
    endless(folder.path());
    let line = "fix field.ildg y.lime --gauge landau --starts 1000000 -v";
    for (signal, status) in [("-HUP", 129), ("-INT", 130), ("-TERM", 143)] {
        let mut child = started(folder.path(), "", line);
        std::thread::sleep(std::time::Duration::from_millis(500));
        assert_eq!(child.try_wait().unwrap(), None, "{signal}: it ended by itself");
        send(signal, &child);
        assert_eq!(child.wait().unwrap().code(), Some(status), "{signal}");
        assert_eq!(names(folder.path()), ["field.ildg"], "{signal}");
    }
}

/// Accounts of services have no home: nothing is kept, and nothing is said about it.
#[cfg(unix)]
#[test]
fn without_a_home_nothing_is_kept_and_nothing_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let has_devices = !discover().devices.is_empty();
    let read_only = folder.path().join("file/below");
    std::fs::write(folder.path().join("file"), "").unwrap();
    for home in [Path::new("/dev/null"), &read_only] {
        let mut command = cargo_bin_cmd!("cr-solve");
        command.env_remove("LATTICE_CL_NO_CACHE").env_remove("XDG_CACHE_HOME").env("HOME", home);
        let temporary = folder.path().join("temporary");
        std::fs::create_dir_all(&temporary).unwrap();
        command.env_remove("POCL_CACHE_DIR").env("TMPDIR", &temporary);
        command.args(["devices", "--json"]);
        let output = command.output().unwrap();
        let said = text(&output.stderr);
        assert!(output.status.success(), "{}: {said}", home.display());
        assert!(!said.contains("warning") && !said.contains("WARN"), "{}: {said}", home.display());
        let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let shown = result["devices"].as_array().is_some_and(|devices| !devices.is_empty());
        assert_eq!(shown, has_devices, "{}: {result}", home.display());
        assert_eq!(count_files(&temporary), 0, "{}", home.display());
    }
}

/// A trajectory that finds no room is a failure of the end, after the energies were shown.
#[cfg(unix)]
#[test]
fn a_motion_goes_on_without_room_for_its_trajectory() {
    let folder = tempfile::tempdir().unwrap();
    let atoms: String = (0..64)
        .map(|k| {
            format!(
                "Ar {} {} {}\n",
                5.0 * f64::from(k % 4),
                5.0 * f64::from(k / 4 % 4),
                5.0 * f64::from(k / 16)
            )
        })
        .collect();
    let lattice = "Lattice=\"20 0 0 0 20 0 0 0 20\" Properties=species:S:1:pos:R:3";
    std::fs::write(folder.path().join("a.xyz"), format!("64\n{lattice}\n{atoms}")).unwrap();
    let line = format!(
        "md run {} --lj Ar=0.238,3.405 --cutoff 8 --step 2 --steps 40 --every 2 --device host --json \
         --trajectory {}",
        folder.path().join("a.xyz").display(),
        folder.path().join("t.xyz").display()
    );
    let found = limited("-f 32", &line);
    let said = text(&found.stderr);
    assert_eq!(found.status.code(), Some(3), "{said}");
    assert!(said.contains("t.xyz.part") && said.contains("the motion goes on"), "{said}");
    let result: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!((&result["complete"], result["rows"].as_array().unwrap().len()), (&true.into(), 21));
    // Whole frames under a name that says that they are not all.
    let frames = std::fs::read_to_string(folder.path().join("t.xyz.part")).unwrap();
    assert!(
        !folder.path().join("t.xyz").exists()
            && frames.lines().count().is_multiple_of(66)
            && !frames.is_empty()
    );
}

#[cfg(unix)]
#[test]
fn manual_pages_are_whole_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let found = limited("-f 8", &format!("man {}", folder.path().join("man").display()));
    assert_eq!(found.status.code(), Some(3), "{}", text(&found.stderr));
    let long = folder.path().join("man/cr-solve-spectrum.1");
    assert!(!long.exists(), "a page is longer than the limit");
}

/// Devices that run commands on the thread that ends another one hang in a context with others.
#[cfg(unix)]
#[test]
fn a_team_with_a_device_without_threads_solves() {
    let wanted = std::env::var_os("LATTICE_CL_TEST_ALL").is_some_and(|value| value == "1");
    if !wanted || !discover().devices.iter().any(|device| device.info.name.starts_with("pthread")) {
        return common::skipped("a team of PoCL's basic device; LATTICE_CL_TEST_ALL=1 runs it on PoCL 3");
    }
    let folder = tempfile::tempdir().unwrap();
    let field = field(folder.path());
    for ways in ["off", "host"] {
        let mut command = Command::new("timeout");
        command.args(["-k", "1", "100"]).arg(cargo_bin!("cr-solve"));
        command.args(["invert", "--kappa", "0.1", "--device", "all", "--quiet", "--json"]).arg(&field);
        command.env("POCL_DEVICES", "basic pthread").env("LATTICE_CL_PEER", ways);
        let output = command.output().unwrap();
        let said = text(&output.stderr);
        assert!(output.status.success(), "{ways}: {:?} {said}", output.status.code());
        let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(result["devices"].as_array().unwrap().len(), 2, "{ways}: {result}");
    }
}
