//! Products of many shapes in one launch, against their twin.

use crate::common;

use common::{Draw, devices, small};
use lattice_compute::Buffer;
use lattice_compute::scalar::{Element, Real};
use lattice_compute::{CacheMode, Device, DeviceKind, DeviceOptions, TuningMode, discover};
use lattice_linalg::gemm::{Grouped, MatrixLocation, Product};
use lattice_linalg::{BlasError, Op, host};

/// Every device, and each of them taken for a GPU.
fn places() -> Vec<Device> {
    let mut places = devices();
    let options = DeviceOptions::default().with_cache(CacheMode::Off).with_tuning(TuningMode::Shipped);
    for mut found in discover().devices {
        if found.info.fp64 && found.info.kind != DeviceKind::Gpu {
            found.info.kind = DeviceKind::Gpu;
            places.push(Device::open(&found, &options).unwrap());
        }
    }
    places
}

/// Products with gaps between columns and between matrices, and the elements of the three buffers.
fn products(draw: &mut Draw, op: Op) -> (Vec<Product>, [usize; 3]) {
    let extents: &[[usize; 3]] = if small() {
        &[[5, 3, 4], [1, 13, 17], [0, 2, 3]]
    } else {
        &[
            [64, 64, 64],
            [1, 1, 1],
            [150, 67, 33],
            [16, 13, 5],
            [33, 2, 129],
            [7, 100, 0],
            [0, 3, 3],
            [130, 5, 71],
        ]
    };
    let mut used = [3, 0, 5];
    let products = extents
        .iter()
        .map(|&[m, n, k]| {
            let rows = [if op == Op::T { k } else { m }, k, m];
            let columns = [if op == Op::T { m } else { k }, n, n];
            let mut place = |which: usize| {
                let leading = (rows[which] + draw.of(&[0, 1, 4])).max(1);
                let first = used[which];
                used[which] += leading * columns[which] + draw.of(&[0, 3]);
                MatrixLocation { first, leading }
            };
            Product { m, n, k, a: place(0), b: place(1), c: place(2) }
        })
        .collect();
    (products, used)
}

fn all_products<T: Real + Element + host::level1::Arithmetic>(bound: f64) {
    let mut draw = Draw::new(11);
    for op in [Op::N, Op::T] {
        let (products, used) = products(&mut draw, op);
        let [a, b]: [Vec<T>; 2] =
            [used[0], used[1]].map(|count| (0..count).map(|_| draw.number::<T>()).collect());
        let guard = T::from_f64(-7777.0);
        let mut wanted = vec![guard; used[2] + 9];
        for product in &products {
            let Product { m, n, k, .. } = *product;
            let at = |place: MatrixLocation, i: usize, j: usize| place.first + i + j * place.leading;
            let left = |i, p| a[if op == Op::T { at(product.a, p, i) } else { at(product.a, i, p) }];
            let mut c = vec![T::zero(); m * n];
            host::gemm::gemm(k, 1, left, |p, j| b[at(product.b, p, j)], 0, &mut c, m);
            for (place, &value) in c.iter().enumerate() {
                wanted[at(product.c, place % m, place / m)] = value;
            }
        }
        for device in places() {
            let [a, b] = [&a, &b].map(|x| Buffer::from_slice(&device, x).unwrap());
            let mut c = Buffer::from_slice(&device, &vec![guard; wanted.len()]).unwrap();
            let grouped = Grouped::<T>::new(&device, op, &products).unwrap();
            let mut bits = Vec::new();
            for _ in 0..2 {
                grouped.multiply(a.view(), b.view(), c.view_mut()).unwrap().wait().unwrap();
                let found = c.to_vec().unwrap();
                for (place, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
                    let apart = (Real::to_f64(*found) - Real::to_f64(*wanted)).abs();
                    assert!(apart <= bound, "{op:?} on {device:?}: element {place} {found} {wanted}");
                }
                bits.push(found);
            }
            assert_eq!(bits[0], bits[1], "the same bits");
            let multiplied: usize = products.iter().map(|p| 2 * p.m * p.n * p.k).sum();
            assert_eq!(grouped.flops(), multiplied as u64);
        }
    }
}

#[test]
fn grouped_products_are_those_of_the_definition() {
    all_products::<f64>(1e-13);
    all_products::<f32>(1e-4);
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    for device in devices() {
        let place = |leading| MatrixLocation { first: 0, leading };
        let product = Product { m: 3, n: 2, k: 4, a: place(3), b: place(4), c: place(3) };
        let short = Buffer::<f64>::zeroed(&device, 7).unwrap();
        let mut c = Buffer::zeroed(&device, 6).unwrap();
        let grouped = Grouped::new(&device, Op::N, &[product]).unwrap();
        let error = grouped.multiply(short.view(), short.view(), c.view_mut()).unwrap_err();
        assert!(matches!(error, BlasError::BufferTooShort { wanted: 12, found: 7, .. }), "{error}");
        let error = Grouped::<f64>::new(&device, Op::T, &[product]).unwrap_err();
        assert!(matches!(error, BlasError::LeadingDimension { wanted: 4, found: 3, .. }), "{error}");
        let error = Grouped::<f64>::new(&device, Op::C, &[product]).unwrap_err();
        assert!(matches!(error, BlasError::WrongOp { .. }), "{error}");
        let nothing = Grouped::<f64>::new(&device, Op::N, &[]).unwrap();
        nothing.multiply(short.view(), short.view(), c.view_mut()).unwrap();
    }
}
