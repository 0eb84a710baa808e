//! What the tests on devices share.

use lattice_cl::device::{CacheMode, Device, DeviceOptions, Profiling, discover};

/// Every device here with double precision; a loud line where there is none.
#[allow(dead_code)]
pub fn devices() -> Vec<Device> {
    opened(&DeviceOptions {
        profiling: Profiling::Off,
        cache: CacheMode::Off,
    })
}

/// As [`devices`], opened in a particular way.
#[allow(dead_code)]
pub fn opened(options: &DeviceOptions) -> Vec<Device> {
    let discovery = discover();
    if let Some(absence) = &discovery.absence {
        println!("SKIPPED: no OpenCL device to test on: {absence}");
    }
    let usable = discovery.devices.iter().filter(|d| d.info.fp64);
    usable
        .map(|d| Device::open(d, options).expect("a discovered device opens"))
        .collect()
}

/// True if the tests run under a simulator and must be tiny (`LATTICE_CL_TEST_SMALL=1`).
#[allow(dead_code)]
pub fn small() -> bool {
    std::env::var_os("LATTICE_CL_TEST_SMALL").is_some_and(|v| !v.is_empty() && v != "0")
}
