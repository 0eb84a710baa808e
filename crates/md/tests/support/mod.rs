//! Reference files, and the places where forces are computed.
#![allow(dead_code)]

use lattice_compute::{
    CacheMode, Device, DeviceKind, DeviceOptions, DiscoveredDevice, Team, TuningMode, discover,
};
use lattice_md::{Mixing, Potential, Precision, System, read_xyz};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

pub const PRECISIONS: [Precision; 3] = [Precision::Double, Precision::Mixed, Precision::Single];

/// The host, each device with double precision, and each that is no GPU taken for one: groups are then larger than one work-item.
///
/// # Panics
/// When there is no device: a test never passes because it had nothing to run on.
pub fn places() -> Vec<(String, Team)> {
    // The root crate's tests have more ways to open devices. To depend on it would make these tests wait until it is compiled.
    let options = DeviceOptions::default().with_cache(CacheMode::Off).with_tuning(TuningMode::Shipped);
    let open = |found: &DiscoveredDevice| Device::open(found, &options).expect("a discovered device opens");
    let mut found = discover().devices;
    found.retain(|found| found.info.fp64);
    assert!(!found.is_empty(), "no OpenCL device with double precision; run scripts/setup-opencl.sh");
    let mut places = vec![("host".to_owned(), Team::host())];
    for found in &mut found {
        places.push((format!("device {}", found.label()), Team::of([open(found)])));
        if found.info.kind != DeviceKind::Gpu {
            found.info.kind = DeviceKind::Gpu;
            places.push((format!("as a GPU {}", found.label()), Team::of([open(found)])));
        }
    }
    places
}

/// Each device with double precision, with searches that end with it.
pub fn tuned_devices() -> Vec<(String, Device)> {
    let options = DeviceOptions::default().with_cache(CacheMode::Off);
    let found = discover().devices.into_iter().filter(|found| found.info.fp64);
    found
        .map(|found| (found.label().to_string(), Device::open(&found, &options).expect("a device opens")))
        .collect()
}

/// True if the tests run under a simulator and must be tiny (`LATTICE_CL_TEST_SMALL=1`).
pub fn small() -> bool {
    std::env::var_os("LATTICE_CL_TEST_SMALL").is_some_and(|v| !v.is_empty() && v != "0")
}

/// True if long tests are asked for (`LATTICE_CL_TEST_ALL=1`).
pub fn all() -> bool {
    std::env::var_os("LATTICE_CL_TEST_ALL").is_some_and(|v| !v.is_empty() && v != "0")
}

/// Says loudly that a test leaves something out.
pub fn skipped(why: &str) {
    // Not by a macro: the test harness would keep that to itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// The reference values and their folder, or `None` with a loud line.
pub fn reference() -> Option<(PathBuf, Value)> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Some(folder) = package.ancestors().map(|f| f.join("shared/reference/md")).find(|f| f.is_dir()) else {
        skipped(&format!("there is no folder shared/reference/md beside or above {}", package.display()));
        return None;
    };
    match std::fs::read_to_string(folder.join("values.json")) {
        Ok(text) => Some((folder, serde_json::from_str(&text).unwrap())),
        Err(error) => {
            skipped(&format!("{}: {error}", folder.display()));
            None
        }
    }
}

/// Vectors in a `.npy` file of doubles.
pub fn vectors(path: &Path) -> Vec<[f64; 3]> {
    let bytes = std::fs::read(path).unwrap();
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert!(bytes.starts_with(b"\x93NUMPY\x01") && bytes[10..10 + header].windows(3).any(|w| w == b"<f8"));
    let numbers: Vec<f64> =
        bytes[10 + header..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    numbers.chunks_exact(3).map(|xyz| [xyz[0], xyz[1], xyz[2]]).collect()
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// Lennard-Jones potentials by the parameters of an entry of `values.json`.
pub fn lennard_jones(values: &Value) -> Potential {
    let [epsilon, sigma] = ["epsilon", "sigma"].map(|name| numbers(&values[name]));
    let types: Vec<_> = epsilon.into_iter().zip(sigma).map(|(e, s)| [e, s]).collect();
    Potential::lennard_jones(&types, Mixing::LorentzBerthelot).unwrap()
}

pub fn rms(vectors: &[[f64; 3]]) -> f64 {
    (vectors.iter().flatten().map(|x| x * x).sum::<f64>() / vectors.len() as f64).sqrt()
}

/// |a − b| over |b|, in the 2-norm.
pub fn apart(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    assert_eq!(a.len(), b.len());
    let differences: Vec<[f64; 3]> =
        a.iter().zip(b).map(|(a, b)| std::array::from_fn(|axis| a[axis] - b[axis])).collect();
    rms(&differences) / rms(b)
}

/// |a − b| at most, over the rms of b.
pub fn furthest(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let differences = a.iter().zip(b).flat_map(|(a, b)| (0..3).map(move |axis| (a[axis] - b[axis]).abs()));
    differences.fold(0.0, f64::max) / rms(b)
}

/// Argon of the reference files, with the number of atoms of 500 that are kept, or a small lattice of its own.
pub fn argon(folder: &Path) -> System {
    read_xyz(&folder.join("argon.xyz")).unwrap()
}

/// Atoms of two types on a lattice that is stirred, in an oblong box; some lie outside of it.
pub fn stirred(count: [usize; 3]) -> System {
    let edges = [3.9, 4.1, 4.3].map(|spacing: f64| spacing);
    let edges: [f64; 3] = std::array::from_fn(|axis| edges[axis] * count[axis] as f64);
    let (mut positions, mut types) = (Vec::new(), Vec::new());
    for i in 0..count[0] * count[1] * count[2] {
        let cell = [i % count[0], i / count[0] % count[1], i / count[0] / count[1]];
        let t = i as f64;
        let noise = [(1.7 * t).sin(), (2.9 * t).cos(), (4.3 * t + 1.0).sin()];
        let turns = [(i % 3) as f64 - 1.0, 0.0, (i % 5) as f64];
        positions.push(std::array::from_fn(|axis| {
            edges[axis] * ((cell[axis] as f64 + 0.12 * noise[axis]) / count[axis] as f64 + turns[axis])
        }));
        types.push((i * i % 3 % 2) as u32);
    }
    System::new(edges, vec!["Ar".to_owned(), "Kr".to_owned()], types, positions).unwrap()
}

/// Potentials for [`stirred`].
pub fn two_types() -> Potential {
    Potential::lennard_jones(&[[0.238, 3.405], [0.39, 3.83]], Mixing::Geometric).unwrap()
}
