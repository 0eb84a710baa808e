//! Molecules of the reference values, and where they are computed.
//!
//! The files are read here, so that the tests of this crate build without the crates above it.
#![allow(dead_code)]

use lattice_compute::{
    CacheMode, Device, DeviceKind, DeviceOptions, DiscoveredDevice, Selector, Team, TuningMode, discover,
};
use lattice_xc::{Atom, Basis, Density, Grid, Shell};
use serde_json::Value;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Says loudly that a test leaves something out.
pub fn skipped(why: &str) {
    // Not by a macro: the test harness would keep that to itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// True if the tests run under a simulator and must be tiny (`LATTICE_CL_TEST_SMALL=1`).
pub fn small() -> bool {
    std::env::var_os("LATTICE_CL_TEST_SMALL").is_some_and(|v| !v.is_empty() && v != "0")
}

/// True if every combination is to be checked (`LATTICE_CL_TEST_ALL=1`), as `make check` does.
pub fn all_combinations() -> bool {
    std::env::var_os("LATTICE_CL_TEST_ALL").is_some_and(|value| value == "1")
}

fn options() -> DeviceOptions {
    DeviceOptions::default().with_cache(CacheMode::Off).with_tuning(TuningMode::Shipped)
}

fn usable() -> Vec<DiscoveredDevice> {
    let mut devices = discover().devices;
    devices.retain(|found| found.info.fp64);
    assert!(!devices.is_empty(), "no OpenCL device with double precision; run scripts/setup-opencl.sh");
    devices
}

/// A team of so many devices: the first one here, opened as often.
pub fn team_of(count: usize) -> Team {
    let first = Selector::Index(usable()[0].index);
    Team::select_with(vec![first; count], &options()).expect("a discovered device opens")
}

/// The first device here, taken for a GPU: work is then cut as on GPUs.
pub fn as_gpu() -> Team {
    let mut found = usable().swap_remove(0);
    found.info.kind = DeviceKind::Gpu;
    Team::of([Device::open(&found, &options()).expect("a discovered device opens")])
}

/// The first device here, taken for one without double precision.
pub fn without_double() -> Team {
    let mut found = usable().swap_remove(0);
    found.info.fp64 = false;
    let options = options().with_without_double(true);
    Team::of([Device::open(&found, &options).expect("a discovered device opens")])
}

/// The host, the first device alone, taken for a GPU, and as a team of two and of three.
pub fn teams() -> Vec<(&'static str, Team)> {
    vec![
        ("the host", Team::host()),
        ("a device", team_of(1)),
        ("a device as a GPU", as_gpu()),
        ("two devices", team_of(2)),
        ("three devices", team_of(3)),
    ]
}

/// An array of numbers.
pub struct NumberArray {
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
}

/// The arrays of an `.npz` file that is trusted.
pub struct ArrayFile(HashMap<String, Vec<u8>>);

fn word(bytes: &[u8], at: usize, count: usize) -> usize {
    bytes[at..at + count].iter().rev().fold(0, |number, &byte| (number << 8) | usize::from(byte))
}

impl ArrayFile {
    pub fn open(path: PathBuf) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let end = bytes.windows(4).rposition(|four| four == b"PK\x05\x06").unwrap();
        let mut at = word(&bytes, end + 16, 4);
        let mut files = HashMap::new();
        while bytes[at..].starts_with(b"PK\x01\x02") {
            let [name, extra, comment] = [28, 30, 32].map(|field| word(&bytes, at + field, 2));
            let local = word(&bytes, at + 42, 4);
            let begins = local + 30 + word(&bytes, local + 26, 2) + word(&bytes, local + 28, 2);
            let packed = &bytes[begins..begins + word(&bytes, at + 20, 4)];
            let mut content = Vec::new();
            match word(&bytes, at + 10, 2) {
                0 => content.extend(packed),
                _ => drop(flate2::read::DeflateDecoder::new(packed).read_to_end(&mut content).unwrap()),
            }
            let text = String::from_utf8_lossy(&bytes[at + 46..at + 46 + name]);
            files.insert(text.trim_end_matches(".npy").to_owned(), content);
            at += 46 + name + extra + comment;
        }
        Self(files)
    }
}

/// Reads an array; one with the first index fastest comes with its extents turned round.
pub fn array(file: &ArrayFile, name: &str) -> NumberArray {
    let bytes = &file.0[name];
    let length = word(bytes, 8, 2);
    let header = String::from_utf8_lossy(&bytes[10..10 + length]).into_owned();
    let shape = header.split(['(', ')']).nth(1).unwrap();
    let mut shape: Vec<usize> = shape.split(',').filter_map(|text| text.trim().parse().ok()).collect();
    let numbers = &bytes[10 + length..];
    let values: Vec<f64> = match ["<f8", "<i8", "<i4"].iter().position(|kind| header.contains(kind)) {
        Some(0) => numbers.chunks_exact(8).map(|n| f64::from_le_bytes(n.try_into().unwrap())).collect(),
        Some(1) => numbers.chunks_exact(8).map(|n| word(n, 0, 8) as f64).collect(),
        _ => numbers.chunks_exact(4).map(|n| word(n, 0, 4) as f64).collect(),
    };
    if header.contains("'fortran_order': True") {
        shape.reverse();
    }
    NumberArray { shape, values }
}

/// The folder of reference values, or `None` with a loud line.
pub fn reference() -> Option<PathBuf> {
    // Beside the checkout.
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = package.ancestors().skip(1).map(|folder| folder.join("shared/reference/xc"));
    let found = folders.find(|folder| folder.is_dir());
    if found.is_none() {
        skipped(&format!("there is no folder shared/reference/xc beside or above {}", package.display()));
    }
    found
}

pub fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A molecule with its grid and its density.
pub struct Molecule {
    pub name: &'static str,
    pub file: ArrayFile,
    pub basis: Basis,
    pub values: Value,
}

fn counts(file: &ArrayFile, name: &str) -> Vec<usize> {
    array(file, name).values.iter().map(|&x| x as usize).collect()
}

pub fn triples(values: &[f64]) -> Vec<[f64; 3]> {
    values.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect()
}

pub fn basis(file: &ArrayFile) -> Basis {
    let charges = counts(file, "atom_z");
    let positions = triples(&array(file, "atom_xyz").values);
    let [atoms, momenta, offsets] = ["shell_atom", "shell_l", "prim_off"].map(|name| counts(file, name));
    let [exponents, coefficients] = ["prim_exp", "prim_coef"].map(|name| array(file, name).values);
    let shell = |s: usize| Shell {
        atom: atoms[s],
        momentum: momenta[s],
        is_cartesian: false,
        primitives: (offsets[s]..offsets[s + 1]).map(|k| [exponents[k], coefficients[k]]).collect(),
    };
    let atoms = charges.into_iter().zip(positions).map(|(charge, position)| Atom { charge, position });
    Basis::new(atoms.collect(), (0..momenta.len()).map(shell).collect()).unwrap()
}

impl Molecule {
    pub fn read(folder: &Path, name: &'static str) -> Self {
        let file = ArrayFile::open(folder.join(format!("{name}.npz")));
        let basis = basis(&file);
        let values = json(&folder.join("values.json"))[name].clone();
        Self { name, file, basis, values }
    }

    pub fn grid(&self) -> Grid {
        let points = triples(&array(&self.file, "coords").values);
        Grid::new(points, array(&self.file, "weights").values).unwrap()
    }

    pub fn density(&self) -> Density {
        let n = self.basis.functions();
        let found = array(&self.file, "dm");
        match found.shape.len() {
            2 => Density::new(n, found.values).unwrap(),
            _ => {
                let (up, down) = found.values.split_at(n * n);
                Density::polarised(n, up.to_vec(), down.to_vec()).unwrap()
            }
        }
    }

    pub fn number(&self, name: &str) -> f64 {
        self.values[name].as_f64().unwrap()
    }

    /// The electrons of each spin.
    pub fn electrons(&self) -> [f64; 2] {
        match &self.values["nelec"] {
            Value::Array(both) => [both[0].as_f64().unwrap(), both[1].as_f64().unwrap()],
            all => [0.5 * all.as_f64().unwrap(); 2],
        }
    }
}

/// The largest difference of two lists.
#[track_caller]
pub fn apart(found: &[f64], wanted: &[f64]) -> f64 {
    assert_eq!(found.len(), wanted.len());
    found
        .iter()
        .zip(wanted)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |most, x| if x.is_nan() { x } else { x.max(most) })
}
