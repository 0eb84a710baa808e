//! The choice of tiles for grouped products on devices other than processors.

use super::grouped_launch::{Launch, MatrixLocation, Product, Tile};
use crate::error::BlasError;
use crate::op::Op;
use lattice_compute::scalar::{ElementType, Precision};
use lattice_compute::tuning::{self, Key, Step, Tunable, time_of_launch};
use lattice_compute::{AnyBuffer, Device, DeviceKind};
use std::time::Duration;

/// Products that are timed: as of the groups of a molecule, many of some hundreds of rows.
const TIMED: [usize; 3] = [490, 390, 390];

/// How many of them.
const COUNT: usize = 64;

/// Returns the tile of a device's products; on processors it has no meaning.
pub(super) fn choose(device: &Device, precision: Precision, op: Op) -> Tile {
    if device.info().kind == DeviceKind::Cpu {
        return shipped(device, precision);
    }
    tuning::choose(&Tiles { device, precision, op })
}

/// Returns the tile that is used untuned.
fn shipped(device: &Device, precision: Precision) -> Tile {
    let tile = |item, step| Tile { tile: [64, 64], item, step, vector: 1, prefetch: false };
    // 256 work-items, or 64 where a group cannot have as many.
    let tile = if device.info().max_work_group_size >= 256 { tile([4, 4], 16) } else { tile([8, 8], 16) };
    // A small local memory has room for few terms.
    let fits = |step: usize| Tile { step, ..tile }.complaint(device, precision.bytes()).is_none();
    Tile { step: [16, 8, 4].into_iter().find(|&step| fits(step)).unwrap_or(tile.step), ..tile }
}

/// The tiles of products in one precision.
struct Tiles<'a> {
    device: &'a Device,
    precision: Precision,
    op: Op,
}

/// Products that are timed, and their three buffers.
struct Timed {
    products: Vec<Product>,
    a: AnyBuffer,
    b: AnyBuffer,
    c: AnyBuffer,
}

impl Tunable for Tiles<'_> {
    type Variant = Tile;
    type Data = Timed;
    type Error = BlasError;

    fn device(&self) -> &Device {
        self.device
    }

    fn key(&self) -> Key {
        let op = if self.op == Op::T { "T" } else { "N" };
        Key::new("gemm_grouped", "hundreds of rows").option("element", self.precision).option("op", op)
    }

    fn shipped(&self) -> Tile {
        shipped(self.device, self.precision)
    }

    fn steps(&self) -> Vec<Step<'_, Tile>> {
        // Numbers of 16 bytes at once. Sums of an item take registers, twice as many in double.
        let (vector, items): (usize, &[[usize; 2]]) = match self.precision {
            Precision::Single => (4, &[[4, 4], [8, 4], [8, 8]]),
            Precision::Double => (2, &[[4, 4], [8, 4], [8, 8]]),
        };
        let usable = |tiles: Vec<Tile>| -> Vec<Tile> {
            tiles.into_iter().filter(|tile| self.complaint(tile).is_none()).collect()
        };
        vec![
            Box::new(move |best: &Tile| {
                usable(items.iter().map(|&item| Tile { item, vector, ..*best }).collect())
            }),
            Box::new(move |best: &Tile| usable(vec![Tile { prefetch: true, ..*best }])),
            Box::new(move |best: &Tile| {
                let tiles = [[128, 64], [64, 128], [128, 128], [32, 64]];
                usable(tiles.map(|tile| Tile { tile, ..*best }).to_vec())
            }),
            Box::new(move |best: &Tile| usable([8, 32].map(|step| Tile { step, ..*best }).to_vec())),
        ]
    }

    fn complaint(&self, variant: &Tile) -> Option<String> {
        variant.complaint(self.device, self.precision.bytes())
    }

    fn data(&self) -> Result<Timed, BlasError> {
        let [rows, columns, terms] = TIMED;
        let [m, n, k] = if self.op == Op::T { [columns, columns, rows] } else { [rows, columns, terms] };
        let place = |number: usize, leading: usize, columns: usize| MatrixLocation {
            first: number * leading * columns,
            leading,
        };
        let of = |number| {
            let a = if self.op == Op::T { place(number, k, m) } else { place(number, m, k) };
            Product { m, n, k, a, b: place(number, k, n), c: place(number, m, n) }
        };
        let element = ElementType { precision: self.precision, complex: false };
        let zeros = |count: usize| AnyBuffer::from_reals(self.device, element, COUNT * count, &|_| 0.0);
        Ok(Timed {
            products: (0..COUNT).map(of).collect(),
            a: zeros(m * k)?,
            b: zeros(k * n)?,
            c: zeros(m * n)?,
        })
    }

    fn time(&self, variant: &Tile, data: &mut Timed) -> Result<Duration, BlasError> {
        let launch = Launch::new(self.device, self.precision, self.op, &data.products, variant)?;
        let run = || launch.run([data.a.input(), data.b.input(), data.c.output()]).map(drop);
        time_of_launch(run, || Ok(self.device.finish()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host;
    use lattice_compute::scalar::{Element, Real};
    use lattice_compute::{Buffer, CacheMode, DeviceOptions, TuningMode, discover};

    /// Tiles that a search may take compute the same products.
    fn every_tile<T: Real + Element + host::level1::Arithmetic>(allowed: f64) {
        let options = DeviceOptions::default().with_cache(CacheMode::Off).with_tuning(TuningMode::Shipped);
        for mut found in discover().devices.into_iter().filter(|found| found.info.fp64) {
            found.info.kind = DeviceKind::Gpu;
            let device = Device::open(&found, &options).unwrap();
            for op in [Op::N, Op::T] {
                let tiles = Tiles { device: &device, precision: T::PRECISION, op };
                let vector = 16 / size_of::<T>();
                // One that differs from the shipped one in everything; compilers of processors take long for these.
                let one = Tile { tile: [128, 64], item: [8, 4], step: 8, vector, prefetch: true };
                let mut variants = vec![one];
                if std::env::var_os("LATTICE_CL_TEST_ALL").is_some_and(|value| value == "1") {
                    for step in tiles.steps() {
                        let more = step(&variants[variants.len() - 1]);
                        variants.extend(more);
                    }
                }
                assert!(variants.iter().all(|tile| tiles.complaint(tile).is_none()));
                let (m, n, k) = (67, 70, 37);
                let value = |k: usize| T::from_f64(((k * 37 % 101) as f64 - 50.0) / 50.0);
                let a: Vec<T> = (0..m * k).map(value).collect();
                let b: Vec<T> = (0..k * n).map(|i| value(i + 7)).collect();
                let mut wanted = vec![T::zero(); m * n];
                let left = |i: usize, p: usize| a[if op == Op::T { p + i * k } else { i + p * m }];
                host::gemm::gemm(k, 1, left, |p, j| b[p + j * k], 0, &mut wanted, m);
                let of_a = MatrixLocation { first: 0, leading: if op == Op::T { k } else { m } };
                let places =
                    [of_a, MatrixLocation { first: 0, leading: k }, MatrixLocation { first: 0, leading: m }];
                let product = Product { m, n, k, a: places[0], b: places[1], c: places[2] };
                let [a, b] = [&a, &b].map(|values| Buffer::from_slice(&device, values).unwrap());
                for tile in variants {
                    let mut c = Buffer::<T>::zeroed(&device, m * n).unwrap();
                    let launch = Launch::new(&device, T::PRECISION, op, &[product], &tile).unwrap();
                    launch.run([(&a).into(), (&b).into(), (&mut c).into()]).unwrap();
                    let apart = c.to_vec().unwrap().into_iter().zip(&wanted);
                    let apart = apart.map(|(a, &b)| (Real::to_f64(a) - Real::to_f64(b)).abs());
                    let most = apart.fold(0.0, f64::max);
                    assert!(most <= allowed, "{op:?}, {tile:?}: {most:e}");
                }
            }
        }
    }

    #[test]
    fn tiles_compute_the_same() {
        every_tile::<f64>(1e-13);
        every_tile::<f32>(1e-5);
    }
}
