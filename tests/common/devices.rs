//! The devices and teams that tests run on.

use lattice_cl::device::{CacheMode, Device, DeviceOptions, Profiling, Selector, Team, discover};

/// Every device here with double precision; a loud line where there is none.
pub fn devices() -> Vec<Device> {
    opened(&DeviceOptions { profiling: Profiling::Off, cache: CacheMode::Off })
}

/// As [`devices`], opened in a particular way.
pub fn opened(options: &DeviceOptions) -> Vec<Device> {
    let discovery = discover();
    if let Some(absence) = &discovery.absence {
        println!("SKIPPED: no OpenCL device to test on: {absence}");
    }
    let usable = discovery.devices.iter().filter(|d| d.info.fp64);
    usable.map(|d| Device::open(d, options).expect("a discovered device opens")).collect()
}

/// True if the tests run under a simulator and must be tiny (`LATTICE_CL_TEST_SMALL=1`).
pub fn small() -> bool {
    std::env::var_os("LATTICE_CL_TEST_SMALL").is_some_and(|v| !v.is_empty() && v != "0")
}

/// The host, each OpenCL device alone, and each device opened two and three times over as a team (under a simulator,
/// two times).
pub fn teams() -> Vec<(String, Team)> {
    let mut teams = vec![("host".to_owned(), Team::host())];
    let discovery = discover();
    assert!(
        !discovery.devices.is_empty(),
        "no OpenCL device: {:?}; run scripts/setup-opencl.sh",
        discovery.absence
    );
    for found in discovery.devices.iter().filter(|found| found.info.fp64) {
        let index = Selector::Index(found.index);
        let most = if small() { 2 } else { 3 };
        for count in 1..=most {
            let team = Team::select(vec![index.clone(); count]).unwrap();
            teams.push((format!("{count} × {}", found.label()), team));
        }
    }
    teams
}

/// |a − b| relative to |b|.
pub fn relative(a: f64, b: f64) -> f64 {
    (a - b).abs() / b.abs()
}
