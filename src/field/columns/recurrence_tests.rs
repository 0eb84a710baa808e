//! Tests of the small matrices on devices against their twin.

use super::recurrence::OnDevices;
use crate::compute::{Buffer, CacheMode, Device, DeviceKind, DeviceOptions, TuningMode, discover};
use lattice_solvers::{BlockEvent, BlockRecurrence, Due, Limits, SquareMatrix};
use num_complex::Complex64;

const LIMITS: Limits = Limits { breakdown: 1e-12, dependent: 1e-13, alike: 1e-7, overwritten: 0.01 };

/// Numbers without a pattern.
fn sample(columns: usize, seed: f64) -> SquareMatrix {
    SquareMatrix::from_fn(columns, |i, j| {
        let k = (columns * i + j + 1) as f64;
        Complex64::new((seed * k * k).sin(), (1.7 * seed * k).cos())
    })
}

/// Returns the Gram matrix of some columns, near 1 with a small `share`.
fn gram(columns: usize, seed: f64, share: f64) -> SquareMatrix {
    let sample = sample(columns, seed);
    let rows = SquareMatrix::from_fn(columns, |i, j| sample[(i, j)] * share + f64::from(u8::from(i == j)));
    &rows.adjoint() * &rows
}

/// Returns the Gram matrix with its column `to` made of column `from` and a little of itself.
fn with_alike(gram: &SquareMatrix, from: usize, to: usize, rest: f64) -> SquareMatrix {
    let mix = SquareMatrix::from_fn(gram.size(), |i, j| match (i == from, i == to, j == to) {
        (true, _, true) => Complex64::i(),
        (_, true, true) => rest.into(),
        _ => f64::from(u8::from(i == j)).into(),
    });
    &(&mix.adjoint() * gram) * &mix
}

/// Returns the numbers of tiles on and above the diagonal, row after row.
fn in_tiles(gram: &SquareMatrix, tile: usize) -> Vec<f64> {
    let across = gram.size().div_ceil(tile);
    let mut numbers = Vec::new();
    for (row, column) in (0..across).flat_map(|row| (row..across).map(move |column| (row, column))) {
        for (i, j) in (0..tile * tile).map(|k| (tile * row + k / tile, tile * column + k % tile)) {
            // Numbers that are not looked at.
            let there = i <= j && j < gram.size();
            let number = if there { gram[(i, j)] } else { Complex64::new(f64::NAN, 7.0) };
            numbers.extend([number.re, number.im]);
        }
    }
    numbers
}

/// A recurrence under way, on a device and its twin.
struct Both<'a> {
    device: &'a Device,
    there: OnDevices,
    twin: BlockRecurrence,
    tile: usize,
}

impl Both<'_> {
    fn begin(device: &Device, columns: usize, tile: usize, replaces: bool, target: f64) -> Both<'_> {
        let upper = sample(columns, 0.37);
        let c = SquareMatrix::from_fn(columns, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => upper[(i, j)],
            std::cmp::Ordering::Equal => (1.5 + upper[(i, j)].re).into(),
            std::cmp::Ordering::Greater => 0.0.into(),
        });
        let scales = (0..columns).map(|j| 1.0 + 0.3 * j as f64).collect();
        let due = Due { scales, targets: vec![target; columns], bound: 1e-9, replaces };
        let mut twin = BlockRecurrence::new(LIMITS, due, c, SquareMatrix::identity(columns));
        twin.step = sample(columns, 0.91);
        Both { device, there: OnDevices::new(&[device], twin.clone()).unwrap(), twin, tile }
    }

    /// Does an iteration on both, and compares all bits.
    fn follow(
        &mut self,
        curvature: &SquareMatrix,
        residual: &SquareMatrix,
        what: &str,
    ) -> Option<BlockEvent> {
        let tiles = [curvature, residual].map(|gram| in_tiles(gram, self.tile));
        let tiles = tiles.map(|numbers| Buffer::from_slice(self.device, &numbers).unwrap());
        self.there.follow_on(0, tiles.each_ref(), self.tile as u32);
        self.twin.follow_curvature(curvature);
        self.twin.follow_residual(residual);
        assert_eq!(self.there.all_on(0), self.twin, "{}, {what}", self.device.label());
        self.twin.event
    }
}

/// Every device with double precision, also with work-groups like those of a GPU.
fn devices() -> Vec<Device> {
    let options = DeviceOptions::default().with_cache(CacheMode::Off).with_tuning(TuningMode::Shipped);
    let found = discover().devices.into_iter().filter(|found| found.info.fp64);
    let of_kinds = found.flat_map(|found| {
        let mut gpu = found.clone();
        gpu.info.kind = DeviceKind::Gpu;
        [found, gpu]
    });
    of_kinds.map(|found| Device::open(&found, &options).unwrap()).collect()
}

fn check(device: &Device, columns: usize, tile: usize) {
    let what = |what: &str| format!("{columns} columns in tiles of {tile}: {what}");
    let begin = |replaces, target| Both::begin(device, columns, tile, replaces, target);
    let curvature = |k: usize| gram(columns, 0.7 + 0.1 * k as f64, 0.4);
    let residual = |k: usize| gram(columns, 1.3 + 0.1 * k as f64, 0.3 / columns as f64);

    let mut both = begin(true, 1e-30);
    for k in 0..5 {
        assert_eq!(both.follow(&curvature(k), &residual(k), &what("ordinary")), None);
    }
    assert_eq!(both.twin.residuals.len(), 5);
    // Infinite residuals end it, and nothing changes any more.
    let mut infinite = residual(5);
    infinite[(0, columns - 1)] = f64::INFINITY.into();
    for k in 5..8 {
        let event = both.follow(&curvature(k), &infinite, &what("infinite residual"));
        assert_eq!(event, Some(BlockEvent::InfiniteResidual));
    }
    assert_eq!((both.twin.residuals.len(), &both.twin.step), (5, &SquareMatrix::zero(columns)));

    let mut both = begin(true, 1e-30);
    let event = both.follow(&infinite, &residual(0), &what("infinite curvature"));
    assert_eq!(event, Some(BlockEvent::InfiniteCurvature));

    for replaces in [true, false] {
        let mut both = begin(replaces, 1e3);
        for k in 0..3 {
            let event = both.follow(&curvature(k), &residual(k), &what("due"));
            assert_eq!(event, Some(BlockEvent::Due), "{replaces}");
        }
        assert_eq!(both.twin.residuals.len(), 1);
        assert_eq!(both.twin.turn, SquareMatrix::zero(columns));
    }

    let last = columns - 1;
    let mut negative = curvature(0);
    negative[(last, last)] = Complex64::from(-1.0);
    let event = begin(true, 1e-30).follow(&negative, &residual(0), &what("breakdown"));
    assert!(matches!(event, Some(BlockEvent::Breakdown(share)) if share <= -1.0), "{event:?}");
    if columns == 1 {
        return;
    }
    let alike = |rest| with_alike(&residual(0), 0, last, rest);
    // Rounding, which leaves the column out and Q stored anew; too little; and little.
    let mut both = begin(true, 1e-30);
    assert_eq!(both.follow(&curvature(0), &alike(0.0), &what("dependent")), None);
    assert_eq!((both.twin.overwrites, both.twin.c[(last, last)]), (1, 0.0.into()));
    let mut gone = curvature(1);
    (0..columns).for_each(|i| (gone[(i, last)], gone[(last, i)]) = Default::default());
    assert_eq!(both.follow(&gone, &gone, &what("left out")), None);
    let event = begin(true, 1e-30).follow(&curvature(0), &alike(1e-5), &what("alike"));
    assert_eq!(event, Some(BlockEvent::Alike));
    let mut both = begin(true, 1e-30);
    assert_eq!(both.follow(&curvature(0), &alike(1e-2), &what("overwritten")), None);
    assert_eq!(both.twin.t, SquareMatrix::identity(columns));
    assert_eq!(both.follow(&curvature(1), &residual(1), &what("after overwriting")), None);
}

#[test]
fn devices_make_the_matrices_of_the_twin() {
    let small = std::env::var_os("LATTICE_CL_TEST_SMALL").is_some_and(|v| !v.is_empty() && v != "0");
    for device in devices() {
        for columns in if small { vec![1, 3] } else { (1..=12).chain([17, 24]).collect() } {
            check(&device, columns, 3 + columns % 2);
        }
    }
}
