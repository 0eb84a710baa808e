//! Programs that other processes of the program compile ahead.

use lattice_cl::compute::{
    CacheMode, CompileWorkers, Device, DeviceOptions, DiscoveredDevice, KernelFamily, KernelKey,
    build_programs, discover,
};
use lattice_cl::scalar::Precision;
use serde_json::json;
use std::path::{Path, PathBuf};

// SAFETY: no kernel is launched.
#[allow(unsafe_code)]
const fn family(name: &'static str, text: &'static [&'static str]) -> KernelFamily {
    unsafe { KernelFamily::trusted(name, text) }
}

const SCALE: KernelFamily =
    family("scale", &["__kernel void scale(__global real *x) { x[get_global_id(0)] *= NUMBER; }"]);
const BROKEN: KernelFamily = family("broken", &["__kernel void k(__global real *x) { x[0] = nonsense; }"]);

/// Opens the first device, with a cache of its own and these workers; `None` without a device.
fn device(cache: &Path, worker: Option<PathBuf>) -> Option<Device> {
    let discovery = discover();
    let found = discovery.devices.first()?;
    let workers = worker.map(|program| CompileWorkers::new(program, ["compile-programs".into()]));
    let mut options = DeviceOptions::default().with_cache(CacheMode::Directory(cache.to_owned()));
    options.workers = workers;
    options.without_double = true;
    Some(Device::open(found, &options).unwrap())
}

fn keys() -> Vec<KernelKey> {
    (1..6).map(|number| KernelKey::new(SCALE, Precision::Single).define("NUMBER", number)).collect()
}

fn entries(cache: &Path) -> usize {
    let programs = std::fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path());
    programs.filter(|path| path.extension().is_some_and(|ending| ending == "bin")).count()
}

#[test]
fn workers_compile_into_the_cache_and_this_process_loads() {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_cr-solve"));
    // A program that is none, and one that answers nothing, cost nothing but time.
    for worker in [None, Some(program), Some("/nowhere/at/all".into()), Some("true".into())] {
        let folder = tempfile::tempdir().unwrap();
        let Some(device) = device(folder.path(), worker.clone()) else { return };
        let mut wanted: Vec<_> = keys().into_iter().map(|key| (device.clone(), key)).collect();
        wanted.push((device.clone(), KernelKey::new(BROKEN, Precision::Single)));
        build_programs(&wanted);
        assert_eq!(device.program_count(), keys().len(), "{worker:?}");
        assert_eq!(entries(folder.path()), keys().len(), "{worker:?}");
        let told = device.compilation();
        assert_eq!((told.compiled, told.loaded), (keys().len(), 0), "{worker:?}");
        for key in keys() {
            device.program(&key).unwrap().kernel("scale").unwrap();
        }
        assert!(device.program(&wanted[keys().len()].1).is_err(), "whoever asks is told");
        assert_eq!(device.compilation(), told, "nothing more was built");
        // The next run finds all that a worker has kept.
        let next = self::device(folder.path(), worker.clone()).unwrap();
        build_programs(&keys().into_iter().map(|key| (next.clone(), key)).collect::<Vec<_>>());
        let told = next.compilation();
        assert_eq!((told.compiled, told.loaded), (0, keys().len()), "{worker:?}");
    }
}

#[test]
fn a_worker_ends_with_its_input_and_refuses_what_is_no_request() {
    let run = |input: &str| {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_cr-solve"));
        command.arg("compile-programs").write_stdin(input.to_owned()).output().unwrap()
    };
    let ended = run("");
    assert!(ended.status.success() && ended.stdout.is_empty());
    let refused = run("no request\n");
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).starts_with("error: compile-programs: "));
    let folder = tempfile::tempdir().unwrap();
    let request = |device: &str, source: &str| {
        let (directory, identity, program) = (folder.path(), "what it depends on", "add");
        json!({ "device": device, "directory": directory, "identity": identity, "options": "", "source": source, "program": program })
    };
    let sound = "__kernel void add(__global int *x) { x[0] += 1; }";
    assert_eq!(run(&request("9.9 none", sound).to_string()).stdout, b"failed\n", "there is no such device");
    let Some(found) = discover().devices.first().map(DiscoveredDevice::label) else { return };
    assert_eq!(run(&request(&found, "nonsense").to_string()).stdout, b"failed\n");
    assert_eq!(run(&request(&found, sound).to_string()).stdout, b"compiled\n");
    assert_eq!(entries(folder.path()), 1);
}
