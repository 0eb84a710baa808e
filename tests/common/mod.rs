//! What several tests share.
#![allow(dead_code)]

pub mod devices;
pub mod reference;
pub mod spinors;

#[allow(unused_imports)]
pub use devices::*;
use lattice_cl::geometry::NDIM;
use lattice_cl::host::{Links, Matrix3};
use lattice_cl::io::Format;
use lattice_cl::linalg::gemm::Mma;
use lattice_cl::{Dims, GaugeConfiguration, Precision, Real};
use num_complex::Complex;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder of public files and values, or `None` with a loud line where it is missing.
pub fn shared() -> Option<PathBuf> {
    // Beside the checkout, whichever package of the workspace the test belongs to.
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found =
        package.ancestors().skip(1).map(|folder| folder.join("shared")).find(|f| f.join("data").is_dir());
    if found.is_none() {
        skipped(&format!("there is no folder shared/data beside or above {}", package.display()));
    }
    found
}

/// Says loudly that a test leaves something out.
pub fn skipped(why: &str) {
    // Not by a macro: the test harness would keep that to itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// Links in SU(3) that all differ from each other.
pub fn sample(extents: [usize; NDIM], precision: Precision) -> GaugeConfiguration {
    let dims = Dims::new(extents).unwrap();
    let link = |n: usize| {
        Matrix3::<f64>::from_fn(|i, j| {
            let k = (9 * n + 3 * i + j) as f64;
            Complex::new((1.3 * k).sin() + if i == j { 1.5 } else { 0.0 }, (0.7 * k).cos())
        })
        .reunitarised()
    };
    let count = NDIM * dims.volume();
    let links = match precision {
        Precision::Single => Links::Single((0..count).map(|n| link(n).cast()).collect()),
        Precision::Double => Links::Double((0..count).map(link).collect()),
    };
    GaugeConfiguration::new(dims, links)
}

/// The formats that a file tells itself, with more than the extents before the links.
pub const WITH_HEADERS: [Format; 4] = [Format::Ildg, Format::SciDac, Format::Nersc, Format::Milc];

/// Half the distance from 1 to the next number.
pub fn unit_roundoff<R: Real>() -> f64 {
    R::epsilon().to_f64() / 2.0
}

/// A kernel for matrix units with small tiles. For single precision it is less accurate than calls allow unless they say so.
pub const SMALL_MMA: Mma = Mma {
    tile: [32, 32, 16],
    warp: [16, 16],
    stages: 3,
    instruction: 8,
    band: 3,
    spread: false,
    prefetch: 0,
    max_registers: None,
};
