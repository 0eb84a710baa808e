//! The merges of one level of divide and conquer, on a device.

use super::merge::Merge;
use crate::error::BlasResult;
use crate::matrix::{MatMut, MatRef, MatrixLayout, Order};
use crate::op::Op;
use lattice_compute::{
    Argument, Buffer, Device, DeviceKind, Kernel, KernelFamily, KernelKey, Range as Items, Result,
};
use std::ops::Range;
use std::sync::Arc;

const SECULAR: KernelFamily = KernelFamily::new("secular", &[include_str!("../../../cl/secular.cl")]);

/// Work-items of a group.
const GROUP: usize = 64;

/// Returns the work-items that share a root. Roots alone do not keep a GPU busy.
fn slots(device: &Device) -> usize {
    if device.info().kind == DeviceKind::Cpu { 1 } else { 8 }
}

/// The kernels that merge.
struct Kernels {
    slots: usize,
    solve_roots: Kernel,
    exact_weights: Kernel,
    fill_products: Kernel,
    take_ends: Kernel,
}

impl Kernels {
    /// Returns the kernels of a device, built on first use.
    fn of(device: &Device) -> Result<Arc<Self>> {
        device.attached(|device| Self::with(device, slots(device)))
    }

    fn with(device: &Device, slots: usize) -> Result<Self> {
        let key = KernelKey::of_real::<f64>(SECULAR).define("GROUP", GROUP).define("SLOTS", slots);
        let program = device.program(&key)?;
        Ok(Self {
            slots,
            solve_roots: program.kernel("solve_roots")?,
            exact_weights: program.kernel("exact_weights")?,
            fill_products: program.kernel("fill_products")?,
            take_ends: program.kernel("take_ends")?,
        })
    }
}

/// The merges of a level, with what their kernels read.
pub(super) struct Level {
    kernels: Arc<Kernels>,
    merges: Vec<Merge>,
    /// The columns that are wanted of each merge.
    wanted: Vec<Range<usize>>,
    table: Buffer<u64>,
    numbers: Buffer<f64>,
    roots: Buffer<f64>,
    exact: Buffer<f64>,
}

impl Level {
    /// Starts to solve for the roots of all merges. `wanted` chooses columns of a merge of some rows.
    pub fn start(
        device: &Device,
        merges: Vec<Merge>,
        wanted: impl Fn(usize) -> Range<usize>,
    ) -> BlasResult<Self> {
        Self::start_with(Kernels::of(device)?, device, merges, wanted)
    }

    fn start_with(
        kernels: Arc<Kernels>,
        device: &Device,
        merges: Vec<Merge>,
        wanted: impl Fn(usize) -> Range<usize>,
    ) -> BlasResult<Self> {
        let wanted: Vec<_> = merges.iter().map(|merge| wanted(merge.rows())).collect();
        let (table, numbers) = tables(&merges, &wanted);
        let count: usize = merges.iter().map(|merge| merge.poles.len()).sum();
        let mut level = Self {
            kernels,
            table: Buffer::from_slice(device, &table)?,
            numbers: Buffer::from_slice(device, &numbers)?,
            roots: Buffer::uninitialised(device, 2 * count)?,
            exact: Buffer::uninitialised(device, count)?,
            merges,
            wanted,
        };
        if count > 0 {
            let shared = level.items(|merge, _| merge.poles.len() * level.kernels.slots);
            let range = level.items(|merge, _| merge.poles.len());
            let known = [Argument::from(&level.table), Argument::from(&level.numbers)];
            let arguments = [&known[..], &[(&mut level.roots).into()]].concat();
            level.kernels.solve_roots.start(shared, &arguments)?;
            let arguments = [&known[..], &[(&level.roots).into(), (&mut level.exact).into()]].concat();
            level.kernels.exact_weights.start(range, &arguments)?;
        }
        Ok(level)
    }

    /// Waits for the roots. Starts to merge `vectors`, those of all halves, to `merged` by `products`.
    ///
    /// Returns all eigenvalues of each merge, the lowest first.
    pub fn finish(
        &self,
        vectors: &Buffer<f64>,
        products: &mut Buffer<f64>,
        merged: &mut Buffer<f64>,
    ) -> BlasResult<Vec<Vec<f64>>> {
        let roots = self.roots.to_vec()?;
        let (mut values, mut columns, mut first) = (Vec::new(), Vec::new(), 0);
        for (merge, wanted) in self.merges.iter().zip(&self.wanted) {
            let end = first + merge.poles.len();
            let all = merge.columns(&roots[2 * first..2 * end]);
            columns.extend(all[wanted.clone()].iter().map(|(_, column)| *column));
            values.push(all.into_iter().map(|(value, _)| value).collect());
            first = end;
        }
        if columns.is_empty() {
            return Ok(values);
        }
        let columns = Buffer::from_slice(vectors.device(), &columns)?;
        let known = [Argument::from(&self.table), Argument::from(&self.numbers)];
        let read = [(&self.roots).into(), (&self.exact).into(), (&columns).into()];
        let arguments = [&known[..], &read, &[(&mut *products).into()]].concat();
        self.kernels.fill_products.start(self.items(|_, wanted| wanted.len()), &arguments)?;
        let (mut from, mut to) = (0, 0);
        for (merge, wanted) in self.merges.iter().zip(&self.wanted) {
            let (rows, width) = (merge.rows(), wanted.len());
            let product = MatrixLayout::dense(Order::RowMajor, rows, width).offset(to);
            let place = MatrixLayout::column_major(rows, width).offset(to);
            let mut first = 0;
            for half in merge.halves {
                let of_half = first..first + half;
                let old = MatRef::new(vectors, MatrixLayout::column_major(half, half).offset(from))?;
                let factor = MatRef::new(&*products, product.submatrix(of_half.clone(), 0..width)?)?;
                let new = MatMut::new(&mut *merged, place.submatrix(of_half, 0..width)?)?;
                crate::gemm::gemm(Op::N, Op::N, 1, old, factor, 0, new)?;
                first += half;
                from += half * half;
            }
            to += rows * width;
        }
        Ok(values)
    }

    /// Waits for the first and the last rows of the merged eigenvectors, all of which were wanted.
    pub fn ends(&self, merged: &Buffer<f64>) -> BlasResult<[Vec<f64>; 2]> {
        let n: usize = self.merges.iter().map(Merge::rows).sum();
        let mut ends = Buffer::<f64>::uninitialised(merged.device(), 2 * n)?;
        let read = [Argument::value(n as u64), (&self.table).into(), merged.into()];
        let arguments = [&read[..], &[(&mut ends).into()]].concat();
        self.kernels.take_ends.start(self.items(|merge, _| merge.rows()), &arguments)?;
        let mut first = ends.to_vec()?;
        let last = first.split_off(n);
        Ok([first, last])
    }

    /// A work-item for each of so many numbers of the merges.
    fn items(&self, count: impl Fn(&Merge, &Range<usize>) -> usize) -> Items {
        let most = self.merges.iter().zip(&self.wanted).map(|(merge, wanted)| count(merge, wanted)).max();
        let most = most.unwrap_or(0).max(1).next_multiple_of(GROUP);
        Items::new([most, self.merges.len()], [GROUP, 1])
    }
}

/// Returns the tables of `cl/secular.cl`.
fn tables(merges: &[Merge], wanted: &[Range<usize>]) -> (Vec<u64>, Vec<f64>) {
    const ROW: usize = 11;
    let mut rows = Vec::with_capacity(merges.len() * ROW);
    let mut places: Vec<u64> = Vec::new();
    let mut numbers: Vec<f64> = merges.iter().map(|merge| merge.rho).collect();
    let (mut first_root, mut place, mut column) = (0, 0, 0);
    for (merge, wanted) in merges.iter().zip(wanted) {
        let count = merge.poles.len();
        let poles = numbers.len();
        let kept = merges.len() * ROW + places.len();
        let (height, width) = (merge.rows(), wanted.len());
        let of_merge = [
            count,
            poles,
            poles + count,
            first_root,
            kept,
            merge.rotations.len(),
            kept + count,
            height,
            width,
            place,
            column,
        ];
        rows.extend(of_merge.map(|number| number as u64));
        numbers.extend(merge.poles.iter().chain(&merge.weights));
        numbers.extend(merge.rotations.iter().flat_map(|rotation| [rotation.c, rotation.s]));
        places.extend(merge.kept.iter().map(|&row| row as u64));
        places.extend(merge.rotations.iter().flat_map(|rotation| rotation.rows.map(|row| row as u64)));
        first_root += count;
        place += height * width;
        column += width;
    }
    rows.extend(places);
    (rows, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::secular::{Root, exact_weights, root};
    use lattice_compute::{CacheMode, DeviceOptions, discover};

    fn merge(halves: [usize; 2], rho: f64, number: impl Fn(f64) -> f64) -> Merge {
        let rows = halves[0] + halves[1];
        let poles: Vec<f64> = (0..rows).map(|k| 0.01 * k as f64 + 1e-3 * number(k as f64)).collect();
        let weights = (0..rows).map(|k| 0.2 * number(7.0 + (k * k) as f64)).collect();
        let kept = (0..rows).rev().collect();
        Merge { halves, rho, poles, weights, kept, deflated: Vec::new(), rotations: Vec::new() }
    }

    #[test]
    fn roots_and_weights_are_those_of_the_twin() {
        let options = DeviceOptions::default().with_cache(CacheMode::Off);
        for found in discover().devices.into_iter().filter(|found| found.info.fp64) {
            let device = Device::open(&found, &options).unwrap();
            let merges = || {
                vec![
                    merge([1, 1], 2.0, f64::cos),
                    merge([20, 21], 0.3, f64::sin),
                    merge([3, 4], 1e-6, f64::cos),
                ]
            };
            for slots in [1, 4] {
                let kernels = Arc::new(Kernels::with(&device, slots).unwrap());
                let level = Level::start_with(kernels, &device, merges(), |rows| 0..rows).unwrap();
                let (roots, exact) = (level.roots.to_vec().unwrap(), level.exact.to_vec().unwrap());
                let mut first = 0;
                for Merge { rho, poles, weights, .. } in merges() {
                    let squares: Vec<f64> = weights.iter().map(|z| z * z).collect();
                    let twins: Vec<Root> = (0..poles.len()).map(|j| root(&poles, &squares, rho, j)).collect();
                    for (k, (twin, size)) in twins.iter().zip(exact_weights(&poles, &twins)).enumerate() {
                        let found = &roots[2 * (first + k)..][..2];
                        assert_eq!(found[0], poles[twin.pole], "{k} on {}", device.label());
                        let bound = 1e-9 * twin.distance.abs();
                        assert!((found[1] - twin.distance).abs() <= bound, "{k} {found:?} {twin:?}");
                        let found = exact[first + k];
                        assert!(
                            (found - size.copysign(weights[k])).abs() <= 1e-7 * size,
                            "{k} {found} {size}"
                        );
                        let expected = rho.sqrt() * weights[k];
                        assert!((found - expected).abs() < 1e-9 * rho.sqrt(), "{k} {found} {expected}");
                    }
                    first += poles.len();
                }
            }
        }
    }
}
