//! Divide and conquer for real tridiagonal matrices.
//!
//! The matrix is cut into blocks of the same depth, which QL solves. Halves become one by a product
//! with the eigenvectors of a diagonal matrix plus one of rank one. The host decides which poles have
//! no part in it, and sorts. All else runs on the device. The twin of it all is
//! [`tridiagonal_eigen`], which is QL for the whole matrix.

use super::level::Level;
use super::merge::{Merge, SolvedSubproblem};
use crate::error::BlasResult;
use lattice_compute::parallel::*;
use lattice_compute::{Buffer, Device};
use lattice_solvers::{NoEigenvalue, tridiagonal_eigen};
use std::ops::Range;

/// Most rows of a block that QL solves.
const LEAF: usize = 64;

/// The eigenvalues of a tridiagonal matrix with its eigenvectors.
pub(super) struct Eigen {
    /// All eigenvalues, the lowest first.
    pub values: Vec<f64>,
    /// The wanted eigenvectors, as columns, and perhaps more numbers behind them.
    pub vectors: Buffer<f64>,
}

/// Computes all eigenvalues, and a range of the eigenvectors, of a tridiagonal matrix.
///
/// The call returns when the last product is enqueued.
///
/// # Errors
/// If a device fails. The inner error says that a number is not finite.
pub(super) fn eigenvectors(
    device: &Device,
    diagonal: &[f64],
    beside: &[f64],
    range: Range<usize>,
) -> BlasResult<Result<Eigen, NoEigenvalue>> {
    let n = diagonal.len();
    let mut depth = 0;
    while n >> depth > LEAF {
        depth += 1;
    }
    // Weights in a merge are compared with eigenvalues near 1.
    let size = diagonal.iter().chain(beside).fold(0.0_f64, |size, x| size.max(x.abs()));
    let scale = if size > 0.0 && size.is_finite() { 1.0 / size } else { 1.0 };
    let scaled = |numbers: &[f64]| -> Vec<f64> { numbers.iter().map(|x| x * scale).collect() };
    let (mut diagonal, beside) = (scaled(diagonal), scaled(beside));
    let bounds = |level: usize| -> Vec<usize> { (0..=1 << level).map(|k| (k * n) >> level).collect() };
    let cuts = bounds(depth);
    for &cut in &cuts[1..cuts.len() - 1] {
        let rho = beside[cut - 1].abs();
        diagonal[cut - 1] -= rho;
        diagonal[cut] -= rho;
    }
    let leaves: Result<Vec<_>, NoEigenvalue> = (0..cuts.len() - 1)
        .into_par_iter()
        .map(|k| leaf(cuts[k], &diagonal[cuts[k]..cuts[k + 1]], &beside[cuts[k]..]))
        .collect();
    let leaves = match leaves {
        Ok(leaves) => leaves,
        Err(error) => return Ok(Err(error)),
    };
    let only = |m: usize, level: usize| if level == 0 { range.clone() } else { 0..m };
    let packed: Vec<f64> =
        leaves.iter().flat_map(|(part, vectors)| vectors[only(part.values.len(), depth)].concat()).collect();
    // Levels take turns between two buffers.
    let elements = |level: usize| -> usize {
        bounds(level).windows(2).map(|cut| cut[1] - cut[0]).map(|rows| rows * only(rows, level).len()).sum()
    };
    let most = |first: usize| (first..depth).step_by(2).map(elements).max().unwrap_or(0);
    let of_leaves = Buffer::from_slice(device, &packed)?;
    let mut products = Buffer::<f64>::uninitialised(device, most(0).max(most(1)))?;
    let [mut even, mut odd] =
        [Buffer::<f64>::uninitialised(device, most(0))?, Buffer::<f64>::uninitialised(device, most(1))?];
    let mut parts: Vec<SolvedSubproblem> = leaves.into_iter().map(|(part, _)| part).collect();
    for level in (0..depth).rev() {
        let cuts = bounds(level + 1);
        let merges = parts.par_chunks(2).zip(cuts.par_chunks(2));
        let merges = merges.map(|(halves, cut)| Merge::of(&halves[0], &halves[1], beside[cut[1] - 1]));
        let work = Level::start(device, merges.collect(), |rows| only(rows, level))?;
        let (halves, merged) = if level % 2 == 0 { (&odd, &mut even) } else { (&even, &mut odd) };
        let halves = if level + 1 == depth { &of_leaves } else { halves };
        let values = work.finish(halves, &mut products, merged)?;
        let [mut first, mut last] = if level > 0 { work.ends(merged)? } else { [Vec::new(), Vec::new()] };
        parts = Vec::new();
        for values in values {
            let rows = values.len().min(first.len());
            let [later_first, later_last] = [first.split_off(rows), last.split_off(rows)];
            parts.push(SolvedSubproblem { values, first, last });
            (first, last) = (later_first, later_last);
        }
    }
    let values = parts.pop().map_or_else(Vec::new, |part| part.values);
    let vectors = if depth == 0 { of_leaves } else { even };
    Ok(Ok(Eigen { values: values.into_iter().map(|value| value / scale).collect(), vectors }))
}

/// Solves the block from row `first` on by QL.
fn leaf(
    first: usize,
    diagonal: &[f64],
    beside: &[f64],
) -> Result<(SolvedSubproblem, Vec<Vec<f64>>), NoEigenvalue> {
    let m = diagonal.len();
    let mut values = diagonal.to_vec();
    let mut beside = beside[..beside.len().min(m)].to_vec();
    beside.resize(m, 0.0);
    let unit = |k: usize| -> Vec<f64> { (0..m).map(|i| f64::from(u8::from(i == k))).collect() };
    let mut vectors: Vec<Vec<f64>> = (0..m).map(unit).collect();
    tridiagonal_eigen(&mut values, &mut beside, &mut vectors)
        .map_err(|NoEigenvalue { index }| NoEigenvalue { index: first + index })?;
    let row = |i: usize| vectors.iter().map(|vector| vector[i]).collect();
    Ok((SolvedSubproblem { values, first: row(0), last: row(m.saturating_sub(1)) }, vectors))
}

#[cfg(test)]
mod tests {
    use super::super::samples::matrices;
    use super::super::values::by_ql;
    use super::*;
    use lattice_compute::{CacheMode, DeviceOptions, discover};

    #[test]
    fn eigenvectors_are_those_of_ql_on_every_device() {
        let options = DeviceOptions::default().with_cache(CacheMode::Off);
        for found in discover().devices.into_iter().filter(|found| found.info.fp64) {
            let device = Device::open(&found, &options).unwrap();
            for n in [0, 1, 2, 64, 65, 131, 300] {
                for (name, d, e) in matrices(n) {
                    let what = format!("{name}, {n} on {}", device.label());
                    let Eigen { values, vectors } = eigenvectors(&device, &d, &e, 0..n).unwrap().unwrap();
                    let vectors = vectors.to_vec().unwrap();
                    let expected = by_ql(&d, &e).unwrap();
                    let size = d.iter().chain(&e).fold(0.0_f64, |size, x| size.max(x.abs()));
                    let bound = 10.0 * f64::EPSILON * (n.max(1) as f64) * size;
                    for (found, expected) in values.iter().zip(&expected) {
                        assert!((found - expected).abs() <= bound, "{what}: {found} {expected}");
                    }
                    let column = |k: usize| &vectors[k * n..(k + 1) * n];
                    for k in 0..n {
                        let v = column(k);
                        for i in 0..n {
                            let above = if i > 0 { e[i - 1] * v[i - 1] } else { 0.0 };
                            let below = if i + 1 < n { e[i] * v[i + 1] } else { 0.0 };
                            let rest = above + d[i] * v[i] + below - values[k] * v[i];
                            assert!(rest.abs() <= bound, "{what}: {rest:e} in eigenvector {k}");
                        }
                        for l in 0..=k {
                            let dot: f64 = v.iter().zip(column(l)).map(|(x, y)| x * y).sum();
                            let off = (dot - f64::from(u8::from(k == l))).abs();
                            assert!(off < 10.0 * f64::EPSILON * n as f64, "{what}: {off:e} of {k}, {l}");
                        }
                    }
                }
            }
            let mut d = vec![1.0; 80];
            d[70] = f64::NAN;
            assert!(eigenvectors(&device, &d, &[0.5; 80], 0..80).unwrap().is_err());
        }
    }
}
