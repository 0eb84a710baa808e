//! The vector kernels against their host twins in double, on every device here.
//!
//! With `LATTICE_CL_TEST_SMALL=1` the vectors are tiny, for runs under a simulator:
//! `OPENCL_DYLIB_PATH=…/liboclgrind-rt.so oclgrind --data-races --uninitialized --check-api --log FILE …`

use crate::common;

use common::{devices, small, taken_for_gpus};
use lattice_cl::compute::{Buffer, BufferView, BufferViewMut, Device, DeviceError};
use lattice_cl::host::level1 as twin;
use lattice_cl::linalg;
use lattice_cl::scalar::{Element, Precision, Real};
use num_complex::Complex;

type C64 = Complex<f64>;

const GUARD: f64 = -7777.0;

/// A vector inside a larger buffer whose other elements must never change.
struct Guarded<T> {
    buffer: Buffer<T>,
    offset: usize,
    len: usize,
}

impl<T: Element> Guarded<T> {
    const AFTER: usize = 37;

    fn new(device: &Device, offset: usize, data: &[T]) -> Self {
        let guard = T::from_complex(GUARD.into());
        let mut all = vec![guard; offset + data.len() + Self::AFTER];
        all[offset..][..data.len()].copy_from_slice(data);
        Self { buffer: Buffer::from_slice(device, &all).unwrap(), offset, len: data.len() }
    }

    fn view(&self) -> BufferView<'_, T> {
        self.buffer.slice(self.offset..self.offset + self.len).unwrap()
    }

    fn view_mut(&mut self) -> BufferViewMut<'_, T> {
        self.buffer.slice_mut(self.offset..self.offset + self.len).unwrap()
    }

    /// The vector in double; what surrounds it is checked.
    fn contents(&self) -> Vec<C64> {
        let all = self.buffer.to_vec().unwrap();
        let guard = T::from_complex(GUARD.into());
        let (before, rest) = all.split_at(self.offset);
        let (inside, after) = rest.split_at(self.len);
        assert!(before.iter().chain(after).all(|g| *g == guard), "written outside the vector");
        widen(inside)
    }
}

fn widen<T: Element>(x: &[T]) -> Vec<C64> {
    x.iter().map(|z| z.to_complex()).collect()
}

fn vector<T: Element>(len: usize, seed: f64) -> Vec<T> {
    let value = |i: f64| C64::new((seed + 0.7 * i).sin(), (1.3 * seed - 0.9 * i).cos());
    (0..len).map(|i| T::from_complex(value(i as f64))).collect()
}

fn lengths() -> &'static [usize] {
    if small() { &[0, 1, 3, 33, 1100] } else { &[0, 1, 2, 3, 7, 31, 33, 255, 257, 1000, 4097, 100_003] }
}

/// Elements agree to the rounding of a few operations on numbers of order one.
#[track_caller]
fn assert_close<T: Element>(what: &str, found: &[C64], expected: &[C64]) {
    let unit = if T::Real::PRECISION == Precision::Single { f64::from(f32::EPSILON) } else { f64::EPSILON };
    assert_eq!(found.len(), expected.len());
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        // Also false for a NaN.
        assert!((f - e).norm() <= 16.0 * unit, "{what}: element {i} of {}: {f} wanted {e}", found.len());
    }
}

/// Sums of `len` terms of order one, in double, agree to the rounding of the additions.
#[track_caller]
fn assert_sum(what: &str, len: usize, found: impl Into<C64>, expected: impl Into<C64>) {
    let (found, expected) = (found.into(), expected.into());
    assert!(
        (found - expected).norm() <= 1e-14 * (len as f64 + 1.0),
        "{what} over {len}: {found} wanted {expected}"
    );
}

fn all_kernels<T: Element>() {
    for device in devices() {
        for (number, &len) in lengths().iter().enumerate() {
            // Offsets of every residue, so that nothing is aligned by luck.
            one_length::<T>(&device, len, [number % 5, 3, (2 * number + 1) % 7, 0]);
        }
    }
}

fn one_length<T: Element>(device: &Device, len: usize, offsets: [usize; 4]) {
    let (alpha, beta) = (C64::new(0.75, -0.3), C64::new(-0.6, 0.9));
    // What a device of this element type makes of the scalars.
    let [alpha, beta] = [alpha, beta].map(T::from_complex);
    let [a, b] = [alpha, beta].map(|z| z.to_complex());
    let data: [Vec<T>; 4] = [0.1, 1.2, 2.3, 3.4].map(|seed| vector(len, seed));
    let wide: [Vec<C64>; 4] = std::array::from_fn(|i| widen(&data[i]));
    let [hx, hy, hz, hw] = &wide;
    let fresh = |i: usize| Guarded::new(device, offsets[i], &data[i]);
    let (x, z) = (fresh(0), fresh(2));
    let expect = |update: &dyn Fn(&mut Vec<C64>), start: &Vec<C64>| {
        let mut expected = start.clone();
        update(&mut expected);
        expected
    };

    let mut y = fresh(1);
    linalg::copy(x.view(), y.view_mut()).unwrap();
    assert_eq!(y.contents(), *hx, "copy");

    let (mut u, mut v) = (fresh(0), fresh(1));
    linalg::swap(u.view_mut(), v.view_mut()).unwrap();
    assert_eq!((u.contents(), v.contents()), (hy.clone(), hx.clone()), "swap");

    let mut y = fresh(1);
    linalg::scal(alpha, y.view_mut()).unwrap();
    assert_close::<T>("scal", &y.contents(), &expect(&|y| twin::scal(a, y), hy));

    let mut y = fresh(1);
    linalg::axpy(alpha, x.view(), y.view_mut()).unwrap();
    assert_close::<T>("axpy", &y.contents(), &expect(&|y| twin::axpy(a, hx, y), hy));

    let mut y = fresh(1);
    linalg::axpby(alpha, x.view(), beta, y.view_mut()).unwrap();
    assert_close::<T>("axpby", &y.contents(), &expect(&|y| twin::axpby(a, hx, b, y), hy));

    let mut y = fresh(1);
    linalg::xpby(x.view(), beta, y.view_mut()).unwrap();
    assert_close::<T>("xpby", &y.contents(), &expect(&|y| twin::xpby(hx, b, y), hy));

    // With beta = 0 the old contents do not matter, whatever they are.
    let undefined = vec![T::from_complex(C64::new(f64::NAN, f64::NAN)); len];
    let mut y = Guarded::new(device, 3, &undefined);
    linalg::axpby(alpha, x.view(), 0, y.view_mut()).unwrap();
    assert_close::<T>("axpby, beta 0", &y.contents(), &expect(&|y| twin::axpby(a, hx, 0, y), hy));
    let mut y = Guarded::new(device, 2, &undefined);
    linalg::xpby(x.view(), 0, y.view_mut()).unwrap();
    assert_eq!(y.contents(), *hx, "xpby, beta 0");

    let dotc = linalg::dotc(x.view(), z.view()).unwrap().wait().unwrap();
    assert_sum("dotc", len, dotc, twin::dotc(hx, hz));
    let dotu = linalg::dotu(x.view(), z.view()).unwrap().wait().unwrap();
    assert_sum("dotu", len, dotu, twin::dotu(hx, hz));
    let norm2 = linalg::norm2(x.view()).unwrap().wait().unwrap();
    assert_sum("norm2", len, norm2, twin::norm2(hx));
    let nrm2 = linalg::nrm2(x.view()).unwrap().wait().unwrap();
    assert_sum("nrm2", len, nrm2, twin::nrm2(hx));
    assert_sum("nrm2", len, nrm2, norm2.sqrt());
    let asum = linalg::asum(x.view()).unwrap().wait().unwrap();
    assert_sum("asum", len, asum, twin::asum(hx));
    assert_eq!(linalg::iamax(x.view()).unwrap().wait().unwrap(), twin::iamax(hx), "iamax");
    let (dot, norm2) = linalg::dot_norm2(x.view(), z.view()).unwrap().wait().unwrap();
    assert_sum("dot_norm2: dot", len, dot, twin::dotc(hx, hz));
    assert_sum("dot_norm2: norm2", len, norm2, twin::norm2(hx));

    let mut y = fresh(1);
    let norm2 = linalg::axpy_norm2(alpha, x.view(), y.view_mut()).unwrap().wait().unwrap();
    let found = y.contents();
    assert_close::<T>("axpy_norm2", &found, &expect(&|y| twin::axpy(a, hx, y), hy));
    assert_sum("axpy_norm2: norm2", 4 * len, norm2, twin::norm2(&found));

    // p = x, x = y, Ap = z, r = w
    let (mut solution, mut residual) = (fresh(1), fresh(3));
    let norm2 = linalg::cr_step(alpha, x.view(), solution.view_mut(), z.view(), residual.view_mut()).unwrap();
    let norm2 = norm2.wait().unwrap();
    let (mut expected, mut expected_residual) = (hy.clone(), hw.clone());
    twin::cr_step(a, hx, &mut expected, hz, &mut expected_residual);
    let found = residual.contents();
    assert_close::<T>("cr_step: x", &solution.contents(), &expected);
    assert_close::<T>("cr_step: r", &found, &expected_residual);
    assert_sum("cr_step: norm2", 4 * len, norm2, twin::norm2(&found));

    // r = x, p = y, Ar = z, Ap = w
    for (factor, b) in [(beta, b), (T::default(), C64::default())] {
        let (mut direction, mut image) = (fresh(1), fresh(3));
        let sums =
            linalg::cr_direction(factor, x.view(), direction.view_mut(), z.view(), image.view_mut()).unwrap();
        let (product, norm2) = sums.wait().unwrap();
        let (mut expected, mut expected_image) = (hy.clone(), hw.clone());
        twin::cr_direction(b, hx, &mut expected, hz, &mut expected_image);
        let found = image.contents();
        assert_close::<T>("cr_direction: p", &direction.contents(), &expected);
        assert_close::<T>("cr_direction: Ap", &found, &expected_image);
        assert_sum("cr_direction: dot", 4 * len, product, twin::dotc(hx, &found));
        assert_sum("cr_direction: norm2", 4 * len, norm2, twin::norm2(&found));
    }

    assert_eq!(x.contents(), *hx, "what is only read stays");
    assert_eq!(z.contents(), *hz, "what is only read stays");
}

#[test]
fn kernels_agree_with_their_twins_single_real() {
    all_kernels::<f32>();
}

#[test]
fn kernels_agree_with_their_twins_double_real() {
    all_kernels::<f64>();
}

#[test]
fn kernels_agree_with_their_twins_single_complex() {
    all_kernels::<Complex<f32>>();
}

#[test]
fn kernels_agree_with_their_twins_double_complex() {
    all_kernels::<Complex<f64>>();
}

fn sums_in_groups_of_a_gpu<T: Element>() {
    for device in taken_for_gpus() {
        for &len in lengths() {
            for offset in [0, 1] {
                let [x, y] = [0.4, 1.9].map(|seed| Guarded::new(&device, offset, &vector::<T>(len, seed)));
                let (hx, hy) = (x.contents(), y.contents());
                let dotc = linalg::dotc(x.view(), y.view()).unwrap().wait().unwrap();
                assert_sum("dotc", len, dotc, twin::dotc(&hx, &hy));
                let norm2 = linalg::norm2(x.view()).unwrap().wait().unwrap();
                assert_sum("norm2", len, norm2, twin::norm2(&hx));
                let asum = linalg::asum(x.view()).unwrap().wait().unwrap();
                assert_sum("asum", len, asum, twin::asum(&hx));
            }
        }
    }
}

#[test]
fn sums_are_right_in_groups_of_a_gpu() {
    sums_in_groups_of_a_gpu::<f32>();
    sums_in_groups_of_a_gpu::<Complex<f32>>();
}

#[test]
fn a_sum_has_the_same_bits_every_time() {
    for device in devices() {
        for &len in lengths() {
            let x = Buffer::from_slice(&device, &vector::<Complex<f32>>(len, 0.4)).unwrap();
            let y = Buffer::from_slice(&device, &vector::<Complex<f32>>(len, 1.9)).unwrap();
            let bits = || {
                let (dot, norm2) = linalg::dot_norm2(&x, &y).unwrap().wait().unwrap();
                [dot.re, dot.im, norm2].map(f64::to_bits)
            };
            let first = bits();
            for _ in 1..20 {
                assert_eq!(bits(), first, "{len} elements on {}", device.label());
            }
        }
    }
}

#[test]
fn the_largest_is_the_first_of_equals_wherever_it_is() {
    for device in devices() {
        for &len in lengths().iter().filter(|&&len| len > 0) {
            for place in [0, len / 3, len - 1] {
                let mut x = vec![Complex::new(0.5_f32, -1.0); len];
                x[place] = Complex::new(-2.0, 1.0);
                x[len - 1] = Complex::new(1.0, 2.0);
                x[0] = if place == 0 { x[0] } else { Complex::new(f32::NAN, 0.0) };
                let x = Buffer::from_slice(&device, &x).unwrap();
                let found = linalg::iamax(&x).unwrap().wait().unwrap();
                assert_eq!(found, Some(place), "of {len} on {}", device.label());
            }
            let nothing = Buffer::from_slice(&device, &vec![f64::NAN; len]).unwrap();
            assert_eq!(linalg::iamax(&nothing).unwrap().wait().unwrap(), None);
        }
    }
}

#[test]
fn several_sums_may_be_under_way_and_may_be_dropped() {
    for device in devices() {
        let vectors: Vec<_> =
            (1..6).map(|n| Buffer::from_slice(&device, &vec![1.0_f64; 100 * n]).unwrap()).collect();
        let sums: Vec<_> = vectors.iter().map(|v| linalg::norm2(v).unwrap()).collect();
        drop(linalg::norm2(&vectors[0]).unwrap());
        for (n, sum) in sums.into_iter().enumerate().rev() {
            assert_eq!(sum.wait().unwrap(), 100.0 * (n as f64 + 1.0));
        }
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let (devices, others) = (devices(), devices());
    for (device, other) in devices.iter().zip(&others) {
        let x = Buffer::<f64>::zeroed(device, 4).unwrap();
        let mut short = Buffer::<f64>::zeroed(device, 3).unwrap();
        let mut foreign = Buffer::<f64>::zeroed(other, 4).unwrap();
        let error = linalg::axpy(1.0, &x, &mut short).unwrap_err();
        assert!(
            matches!(error, DeviceError::LengthMismatch { what: "axpy: x", wanted: 3, found: 4 }),
            "{error}"
        );
        let error = linalg::dotc(&x, &short).unwrap_err();
        assert!(matches!(error, DeviceError::LengthMismatch { .. }), "{error}");
        let error = linalg::axpy(1.0, &x, &mut foreign).unwrap_err();
        assert!(matches!(error, DeviceError::ForeignBuffer { .. }), "{error}");
    }
}
