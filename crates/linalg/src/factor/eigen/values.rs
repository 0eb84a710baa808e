//! Eigenvalues of a tridiagonal matrix without eigenvectors.
//!
//! QL on the host finds all of them one after another. A GPU finds each without the others, by counts of
//! negative pivots: W. Barth, R. S. Martin and J. H. Wilkinson, Numer. Math. 9 (1967) 386.

use crate::error::BlasResult;
use lattice_compute::{
    Argument, Buffer, Device, DeviceKind, Kernel, KernelFamily, KernelKey, Range as Items,
};
use lattice_solvers::{NoEigenvalue, tridiagonal_eigen};
use std::ops::Range;

const STURM: KernelFamily = KernelFamily::new("sturm", &[include_str!("../../../cl/sturm.cl")]);

/// Work-items of a group.
const GROUP: usize = 64;

/// Work-items that share an eigenvalue.
const SECTIONS: usize = 8;

/// Fewest rows that a GPU is asked about.
const LEAST_ROWS: usize = 512;

/// The kernel of one device.
struct Section(Kernel);

/// Computes a range of the eigenvalues, the lowest first.
///
/// # Errors
/// If a device fails. The inner error says that a number is not finite.
pub(super) fn eigenvalues(
    device: &Device,
    diagonal: &[f64],
    beside: &[f64],
    range: Range<usize>,
) -> BlasResult<Result<Vec<f64>, NoEigenvalue>> {
    if device.info().kind == DeviceKind::Cpu || diagonal.len() < LEAST_ROWS {
        return Ok(by_ql(diagonal, beside).map(|values| values[range].to_vec()));
    }
    by_counts(device, diagonal, beside, range)
}

/// Computes all eigenvalues on the host, the lowest first.
pub(super) fn by_ql(diagonal: &[f64], beside: &[f64]) -> Result<Vec<f64>, NoEigenvalue> {
    let (mut values, mut beside) = (diagonal.to_vec(), beside.to_vec());
    beside.resize(values.len(), 0.0);
    tridiagonal_eigen(&mut values, &mut beside, &mut [])?;
    Ok(values)
}

fn by_counts(
    device: &Device,
    diagonal: &[f64],
    beside: &[f64],
    range: Range<usize>,
) -> BlasResult<Result<Vec<f64>, NoEigenvalue>> {
    let (n, count) = (diagonal.len(), range.len());
    let is_bad = |k: &usize| !diagonal[*k].is_finite() || beside.get(*k).is_some_and(|x| !x.is_finite());
    if let Some(index) = (0..n).find(is_bad) {
        return Ok(Err(NoEigenvalue { index }));
    }
    if count == 0 {
        return Ok(Ok(Vec::new()));
    }
    let size = diagonal.iter().chain(beside).fold(f64::MIN_POSITIVE, |size, x| size.max(x.abs()));
    let scaled: Vec<f64> = diagonal.iter().map(|x| x / size).collect();
    let beside: Vec<f64> = [0.0].into_iter().chain(beside.iter().map(|x| x / size)).collect();
    let squares: Vec<f64> = beside.iter().map(|x| x * x).collect();
    // Gershgorin's circles, and a little more for rounding.
    let radius = |k: usize| beside[k].abs() + beside.get(k + 1).map_or(0.0, |x| x.abs());
    let low = (0..n).map(|k| scaled[k] - radius(k)).fold(f64::INFINITY, f64::min) - 1e-14;
    let high = (0..n).map(|k| scaled[k] + radius(k)).fold(f64::NEG_INFINITY, f64::max) + 1e-14;
    let rounds = ((high - low) / (0.25 * f64::EPSILON)).log((SECTIONS + 1) as f64).ceil();
    let kernel = device.attached(|device| {
        let key = KernelKey::of_real::<f64>(STURM).define("GROUP", GROUP).define("SECTIONS", SECTIONS);
        device.program(&key)?.kernel("section").map(Section)
    })?;
    let (scaled, squares) = (Buffer::from_slice(device, &scaled)?, Buffer::from_slice(device, &squares)?);
    let mut values = Buffer::<f64>::uninitialised(device, count)?;
    let counts = [n, range.start, count, rounds as usize].map(|count| Argument::value(count as u32));
    let ends = [low, high].map(Argument::value);
    let read = [(&scaled).into(), (&squares).into()];
    let arguments = [&counts[..], &ends, &read, &[(&mut values).into()]].concat();
    kernel.0.start(Items::covering(count * SECTIONS, GROUP), &arguments)?;
    Ok(Ok(values.to_vec()?.into_iter().map(|value| value * size).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{matrices, small};
    use super::*;
    use lattice_compute::{CacheMode, DeviceOptions, discover};

    #[test]
    fn counts_find_the_eigenvalues_of_ql() {
        let options = DeviceOptions::default().with_cache(CacheMode::Off);
        for found in discover().devices.into_iter().filter(|found| found.info.fp64) {
            let device = Device::open(&found, &options).unwrap();
            let most = if small() { 9 } else { 67 };
            for (n, range) in [(1, 0..1), (2, 0..2), (most, 0..most), (most, 3..4), (most, 5..5)] {
                for (name, d, e) in matrices(n) {
                    let what = format!("{name}, {range:?} of {n} on {}", device.label());
                    let expected = by_ql(&d, &e).unwrap();
                    let beside = &e[..n - 1];
                    let found = by_counts(&device, &d, beside, range.clone()).unwrap().unwrap();
                    assert_eq!(found.len(), range.len(), "{what}");
                    let size = d.iter().chain(&e).fold(0.0_f64, |size, x| size.max(x.abs()));
                    for (found, expected) in found.iter().zip(&expected[range.clone()]) {
                        let bound = 4.0 * f64::EPSILON * (n as f64) * size;
                        assert!((found - expected).abs() <= bound, "{what}: {found} {expected}");
                    }
                }
            }
            let found = by_counts(&device, &[1.0, f64::NAN], &[0.0], 0..2).unwrap();
            assert_eq!(found, Err(NoEigenvalue { index: 1 }));
        }
    }
}
