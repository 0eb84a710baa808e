//! Places, matrices and their facts for the tests of sparse matrices.
#![allow(dead_code)]

use lattice_compute::{CacheMode, Device, DeviceKind, DeviceOptions, DiscoveredDevice, TuningMode, discover};
use lattice_linalg::sparse::market::{AnyCsr, Market};
use lattice_linalg::sparse::{Coo, Csr, Entry, Processor};
use num_complex::Complex64;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Every device with double precision, opened in the same way each time.
pub fn devices() -> Vec<Device> {
    opened(usable())
}

/// Every device that is no GPU, taken for one: work is then cut as on GPUs.
pub fn taken_for_gpus() -> Vec<Device> {
    let mut found = usable();
    found.retain(|found| found.info.kind != DeviceKind::Gpu);
    found.iter_mut().for_each(|found| found.info.kind = DeviceKind::Gpu);
    opened(found)
}

fn usable() -> Vec<DiscoveredDevice> {
    let mut found = discover();
    found.devices.retain(|found| found.info.fp64);
    assert!(!found.devices.is_empty(), "no OpenCL device with double precision: run scripts/setup-opencl.sh");
    found.devices
}

fn opened(found: Vec<DiscoveredDevice>) -> Vec<Device> {
    let options = DeviceOptions::default().with_cache(CacheMode::Off).with_tuning(TuningMode::Shipped);
    found.iter().map(|found| Device::open(found, &options).expect("a discovered device opens")).collect()
}

/// The host, every device, and every device taken for a GPU.
pub fn places() -> Vec<Processor> {
    let devices = devices().into_iter().chain(taken_for_gpus());
    std::iter::once(Processor::Host).chain(devices.map(Processor::Device)).collect()
}

/// True if the tests run under a simulator and must be tiny (`LATTICE_CL_TEST_SMALL=1`).
pub fn small() -> bool {
    std::env::var_os("LATTICE_CL_TEST_SMALL").is_some_and(|v| !v.is_empty() && v != "0")
}

/// The folder of public matrices, or `None` with a loud line where it is missing.
pub fn matrices() -> Option<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = package.ancestors().map(|folder| folder.join("shared/data/matrices")).find(|f| f.is_dir());
    if folder.is_none() {
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: there is no folder shared/data/matrices above {}",
            package.display()
        );
    }
    folder
}

/// Reads a JSON file of the folder of matrices.
pub fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Reads a matrix of the folder.
pub fn matrix(folder: &Path, name: &str) -> AnyCsr {
    let plain = folder.join(format!("{name}.mtx"));
    let path = if plain.exists() { plain } else { folder.join(format!("{name}.mtx.gz")) };
    Market::read(&path).unwrap().to_csr().unwrap()
}

/// Reads a real matrix of the folder.
pub fn real_matrix(folder: &Path, name: &str) -> Csr<f64> {
    match matrix(folder, name) {
        AnyCsr::Real(matrix) => matrix,
        AnyCsr::Complex(_) => panic!("{name} is complex"),
    }
}

/// Returns sin(0.7 k) + 0.3 for k = 1, 2, …, with the imaginary part cos(0.4 k) if it is complex.
pub fn vector(len: usize, complex: bool) -> Vec<Complex64> {
    let component = |k: usize| {
        let k = k as f64;
        Complex64::new((0.7 * k).sin() + 0.3, if complex { (0.4 * k).cos() } else { 0.0 })
    };
    (1..=len).map(component).collect()
}

/// A complex number of `facts.json`: a number, or a text of Python.
pub fn complex(value: &Value) -> Complex64 {
    match value {
        Value::String(text) => {
            let text = text.trim_matches(['(', ')']).trim_end_matches('j');
            let sign = text
                .char_indices()
                .skip(1)
                .filter(|(k, c)| matches!(c, '+' | '-') && !text[..*k].ends_with('e'));
            let at = sign.map(|(k, _)| k).last().unwrap();
            Complex64::new(text[..at].parse().unwrap(), text[at..].parse().unwrap())
        }
        number => number.as_f64().unwrap().into(),
    }
}

/// Returns ‖x‖.
pub fn norm(x: &[Complex64]) -> f64 {
    x.iter().map(Complex64::norm_sqr).sum::<f64>().sqrt()
}

/// A matrix without a pattern, with rows of no entries to many.
pub fn sample(rows: usize, columns: usize, complex: bool) -> Coo<Complex64> {
    let mut state = 12345_u64;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) % below as u64) as usize
    };
    let mut entries = Vec::new();
    for row in 0..rows {
        let length = match row % 7 {
            0 => 0,
            3 => columns.min(40),
            _ => row % 5 + 1,
        };
        for _ in 0..length {
            let re = next(2001) as f64 / 1000.0 - 1.0;
            let im = if complex { next(2001) as f64 / 1000.0 - 1.0 } else { 0.0 };
            entries.push(Entry {
                row: row as u32,
                column: next(columns) as u32,
                value: Complex64::new(re, im),
            });
        }
    }
    Coo { rows, columns, entries }
}
