//! The program in surroundings that are short of something: caches, threads, room for files, memory.

mod common;

use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};
use lattice_cl::Dims;
use lattice_cl::device::discover;
use lattice_cl::host::random;
use lattice_cl::io::{self, Format, WriteOptions};
use std::path::{Path, PathBuf};
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
        ("bench stencil --dims 64x64x64x32 --no-tune", "links and spinors of a 64x64x64x32 lattice"),
        ("tune stencil --dims 64x64x64x32", "links and spinors of a 64x64x64x32 lattice"),
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
