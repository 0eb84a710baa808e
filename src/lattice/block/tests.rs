//! The kernels on matrix units; the others are tested with the fields they are for.

use super::*;
use crate::device::{Buffer, CacheMode, DeviceOptions, MatrixOperation, TuningMode, discover};
use crate::host::{Dims, Spinor, block_fields};
use num_complex::Complex64;

const TOLERANCE: f64 = 1e-13;

/// Numbers without a pattern.
fn numbers(count: usize, seed: f64) -> Vec<f64> {
    (0..count).map(|i| (seed * (i + 1) as f64).sin() + (1e-3 * seed * (i * i % 8191) as f64).cos()).collect()
}

fn spinors(numbers: &[f64]) -> Vec<Spinor<f64>> {
    let spinor =
        |z: &[f64]| Spinor::from_fn(|s, c| Complex64::new(z[2 * (3 * s + c)], z[2 * (3 * s + c) + 1]));
    numbers.chunks(2 * Spinor::<f64>::COMPONENTS).map(spinor).collect()
}

fn components(spinors: &[Spinor<f64>]) -> impl Iterator<Item = Complex64> {
    spinors.iter().flat_map(|z| z.0.into_iter().flatten())
}

/// The largest absolute value; not a number if one of them is not.
fn largest(values: impl Iterator<Item = Complex64>) -> f64 {
    values.map(Complex64::norm).fold(
        0.0,
        |largest: f64, value| {
            if value.is_nan() || value > largest { value } else { largest }
        },
    )
}

/// The largest difference of numbers, relative to the largest number.
fn distance(found: &[Spinor<f64>], expected: &[Spinor<f64>]) -> f64 {
    largest(components(found).zip(components(expected)).map(|(a, b)| a - b)) / largest(components(expected))
}

fn assert_gram(found: &SquareMatrix, expected: &[Complex64], what: &str) {
    let size = found.size();
    for (k, expected) in expected.iter().enumerate() {
        let scale = found[(k / size, k / size)].re.max(found[(k % size, k % size)].re);
        let found = found[(k / size, k % size)];
        assert!((found - expected).norm() < TOLERANCE * scale, "{what}, {k}: {found} {expected}");
    }
}

/// The kernels treat all numbers of a field alike, so that the twin may take them for components of spinors in any order.
fn check(device: &Device, dims: Dims, parities: usize, columns: usize) {
    let what = format!("{}: {dims}, {parities} parities, {columns} columns", device.label());
    let layout = Layout::new(dims, 0, dims[3], 1, StoragePrecision::Double);
    let kernels = BlockKernels::with::<f64>(Method::MatrixUnits, device, &layout, parities, columns).unwrap();
    let count = columns * parities * layout.half_field(Shape::SPINOR);
    let mut host = [0.7, 1.1, 1.9, 2.3].map(|seed| spinors(&numbers(count, seed)));
    let mut there =
        [0.7, 1.1, 1.9, 2.3].map(|seed| Buffer::from_slice(device, &numbers(count, seed)).unwrap());
    let matrix = |seed: f64, is_there: fn(usize, usize) -> bool| {
        let at = |i: usize, j: usize| {
            Complex64::new((seed * (3 * i + j) as f64).sin(), (seed + (i * j) as f64).cos())
        };
        SquareMatrix::from_fn(columns, |i, j| if is_there(i, j) { at(i, j) } else { Complex64::default() })
    };
    let [earlier, step] = [3.1, 1.3].map(|seed| matrix(seed, |_, _| true));
    let (turn, keep) = (matrix(0.7, |i, j| i <= j), matrix(2.1, |i, j| i >= j));
    let close = |there: &[Buffer<f64>; 4], host: &[Vec<Spinor<f64>>; 4], what: &str| {
        for ((there, host), name) in there.iter().zip(host).zip(["X", "Q", "P", "O"]) {
            let error = distance(&spinors(&there.to_vec().unwrap()), host);
            assert!(error < TOLERANCE, "{what}, {name}: {error:e}");
        }
    };

    kernels.gram(Argument::from(&there[0])).unwrap();
    assert_gram(&kernels.sums().read().unwrap(), &block_fields::gram(columns, &host[0]), &what);

    let [_, q, p, _] = &mut there;
    kernels.subtract(&step, Argument::from(&*p), Argument::from(&mut *q)).unwrap();
    let gram = kernels.sums().read().unwrap();
    let [_, q, p, _] = &mut host;
    assert_gram(&gram, &block_fields::subtract(columns, p, step.elements(), q), &what);
    close(&there, &host, &format!("{what}: Q − Z D"));

    for flags in 0..16 {
        let [in_pairs, with_earlier, with_step, overwrite] = [1, 2, 4, 8].map(|bit| flags & bit != 0);
        if with_earlier && !in_pairs {
            continue;
        }
        let (earlier, step) = (with_earlier.then_some(&earlier), with_step.then_some(&step));
        let matrices = Advance { earlier, step, turn: &turn, keep: &keep, overwrite };
        let [x, q, p, o] = &mut host;
        block_fields::advance(matrices, x, q, p, in_pairs.then_some(o));
        let [x, q, p, o] = there.each_mut().map(Argument::from);
        kernels.advance(matrices, [x, q, p], in_pairs.then_some(o)).unwrap();
        close(&there, &host, &format!("{what}: {matrices:?}"));
    }
}

/// On devices without matrix units they are imitated.
#[test]
fn matrix_units_do_what_the_twin_does() {
    let options =
        DeviceOptions { cache: CacheMode::Off, tuning: TuningMode::Shipped, ..DeviceOptions::default() };
    let dims = |extents| Dims::new(extents).unwrap();
    for found in discover().devices.into_iter().filter(|found| found.info.fp64) {
        let device = Device::open(&found, &options).unwrap();
        // A lattice that fills work-groups and some that do not, and numbers of fields that are multiples of four and not.
        if std::env::var_os("LATTICE_CL_TEST_SMALL").is_some_and(|v| !v.is_empty() && v != "0") {
            check(&device, dims([2, 2, 2, 6]), 2, 5);
            continue;
        }
        check(&device, dims([4, 4, 4, 2]), 1, 8);
        check(&device, dims([2, 6, 2, 10]), 2, 5);
        if device.supports_matrix_units(MatrixOperation::SmallDouble) {
            for columns in 1..=12 {
                check(&device, dims([6, 2, 14, 10]), 2, columns);
            }
        }
    }
}
