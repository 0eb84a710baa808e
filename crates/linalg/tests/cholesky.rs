//! Cholesky's factorisation on every device here: LAPACK's test ratios, and the factors of the host's twin in double.

use crate::common;

use common::*;
use lattice_compute::scalar::Element;
use lattice_compute::{Buffer, Device, Team};
use lattice_linalg::factor::{Cholesky, posv, potrf, potri, potrs};
use lattice_linalg::split::{self, HostMut, factor::FactorParams};
use lattice_linalg::{BlasError, MatMut, MatRef, MatrixLayout, Op, Triangle, host};

/// A Hermitian, positive definite matrix of this condition, roughly: D B D for a B with a dominant diagonal.
fn positive(draw: &mut Draw, n: usize, condition: f64, size: f64) -> Vec<C64> {
    let scale = |i: usize| (condition.powf(-0.5 * i as f64 / n as f64) * size).sqrt();
    let mut a = vec![C64::default(); n * n];
    for j in 0..n {
        for i in j..n {
            let z = if i == j {
                C64::from(1.0 + draw.real().abs())
            } else {
                draw.number::<C64>() / (2.0 * n as f64)
            };
            a[i + j * n] = z * scale(i) * scale(j);
            a[j + i * n] = a[i + j * n].conj();
        }
    }
    a
}

/// A of this precision, whole, and in a buffer of which the other triangle and imaginary parts of the diagonal are NaN.
fn stored<T: Element>(layout: MatrixLayout, triangle: Triangle, a: &mut [C64]) -> Held<T> {
    let n = layout.rows;
    a.iter_mut().for_each(|z| *z = T::from_complex(*z).to_complex());
    let belongs = if triangle == Triangle::Lower { in_lower } else { in_upper };
    Held::new(layout, nan::<T>(), belongs, |i, j| {
        let z = a[i + j * n];
        T::from_complex(if i == j { C64::new(z.re, f64::NAN) } else { z })
    })
}

/// L of a factor in either triangle.
fn lower_of(triangle: Triangle, n: usize, factor: &[C64]) -> Vec<C64> {
    entering(if triangle == Triangle::Lower { Op::N } else { Op::C }, n, factor)
}

/// Both triangles of what one of them says.
fn mirrored(triangle: Triangle, n: usize, x: &[C64]) -> Vec<C64> {
    let stored = |i: usize, j: usize| (triangle == Triangle::Lower) == (i >= j) || i == j;
    let element = |k: usize| {
        let (i, j) = (k % n, k / n);
        if stored(i, j) { x[i + j * n] } else { x[j + i * n].conj() }
    };
    (0..n * n).map(element).collect()
}

fn check<T: Element>(device: &Device, draw: &mut Draw, n: usize) {
    let triangle = draw.of(&[Triangle::Lower, Triangle::Upper]);
    let layout = draw.layout(n, n);
    let (condition, size) =
        draw.of(&[(1.0, 1.0), (0.01 / epsilon::<T>(), 1.0), (100.0, 1e30), (100.0, 1e-30)]);
    let mut a = positive(draw, n, condition, size);
    let mut held = stored::<T>(layout, triangle, &mut a);
    let what =
        format!("{triangle:?} {layout:?} condition {condition:.0e} size {size:.0e} on {}", device.label());
    let unit = epsilon::<T>();

    let mut buffer = Buffer::from_slice(device, &held.elements).unwrap();
    let info = potrf(triangle, MatMut::new(&mut buffer, layout).unwrap()).unwrap();
    assert_eq!(info.wait().unwrap(), 0, "{what}");
    held.take(&what, buffer.to_vec().unwrap());
    let lower = lower_of(triangle, n, &held.wide());
    let rest = difference(&a, &product(&lower, n, &entering(Op::C, n, &lower), n));
    expect_ratio(&format!("potrf {what}"), norm1(&rest, n), n as f64 * norm1(&a, n) * unit);
    if condition <= 100.0 {
        let mut twin = a.clone();
        assert_eq!(host::cholesky::factorise(n, &mut twin), 0);
        (0..n * n).filter(|k| k % n < k / n).for_each(|k| twin[k] = C64::default());
        let error = norm1(&difference(&lower, &twin), n);
        expect_ratio(&format!("twin {what}"), error, n as f64 * norm1(&twin, n) * unit * 10.0);
    }

    // Solutions with the factor.
    let columns = draw.of(&[1, 3]);
    let b_layout = draw.layout(n, columns);
    let mut b = Held::new(b_layout, guard::<T>(), everywhere, |_, _| draw.number());
    let right = b.wide();
    let mut b_buffer = Buffer::from_slice(device, &b.elements).unwrap();
    let factor = MatRef::new(&buffer, layout).unwrap();
    potrs(triangle, factor, MatMut::new(&mut b_buffer, b_layout).unwrap()).unwrap();
    b.take(&what, b_buffer.to_vec().unwrap());
    let x = b.wide();
    let rest = difference(&right, &product(&a, n, &x, n));
    expect_ratio(&format!("potrs {what}"), norm1(&rest, n), norm1(&a, n) * norm1(&x, n) * unit);

    // The inverse: ‖I − A A⁻¹‖ / (n ‖A‖ ‖A⁻¹‖ ε).
    potri(triangle, MatMut::new(&mut buffer, layout).unwrap()).unwrap();
    held.take(&what, buffer.to_vec().unwrap());
    if n > 0 {
        let inverse = mirrored(triangle, n, &held.wide());
        let rest = difference(&identity(n), &product(&a, n, &inverse, n));
        let bound = n as f64 * norm1(&a, n) * norm1(&inverse, n) * unit;
        expect_ratio(&format!("potri {what}"), norm1(&rest, n), bound);
    }
}

fn sweep<T: Element>(device: &Device, seed: u64, sizes: &[usize]) {
    let draw = &mut Draw::new(seed);
    for &n in sizes {
        (0..3).for_each(|_| check::<T>(device, draw, n));
    }
}

#[test]
fn factors_solutions_and_inverses_meet_the_ratios() {
    for device in devices() {
        for_all_elements!(sweep(&device, 1, sizes()));
    }
}

/// Checks A x = L Lᴴ x for an x, which takes less time than L Lᴴ.
#[track_caller]
fn expect_factor_of<T: Element>(what: &str, a: &[C64], lower: &[C64], n: usize) {
    let x: Vec<C64> = (0..n).map(|i| C64::new((i as f64).sin(), (3.0 * i as f64).cos())).collect();
    let with = |m: &[C64]| product(m, n, &x, n);
    let projected = product(&entering(Op::C, n, lower), n, &x, n);
    let rest = difference(&with(a), &product(lower, n, &projected, n));
    expect_ratio(what, norm1(&rest, n), n as f64 * norm1(a, n) * norm1(&x, n) * epsilon::<T>());
}

fn large<T: Element>(device: &Device, triangle: Triangle, n: usize) {
    let layout = MatrixLayout::column_major(n, n).leading_dimension(n + 3);
    let mut a = positive(&mut Draw::new(5), n, 1.0, 1.0);
    let mut held = stored::<T>(layout, triangle, &mut a);
    let mut buffer = Buffer::from_slice(device, &held.elements).unwrap();
    let info = potrf(triangle, MatMut::new(&mut buffer, layout).unwrap()).unwrap();
    assert_eq!(info.wait().unwrap(), 0);
    let what = format!("{triangle:?} {n} on {}", device.label());
    held.take(&what, buffer.to_vec().unwrap());
    expect_factor_of::<T>(&what, &a, &lower_of(triangle, n, &held.wide()), n);
}

#[test]
fn matrices_of_several_panels_are_factorised() {
    for device in devices() {
        large::<f64>(&device, Triangle::Lower, if small() { 300 } else { 1045 });
        large::<num_complex::Complex<f32>>(&device, Triangle::Upper, if small() { 300 } else { 790 });
    }
}

#[test]
fn columns_of_several_panels_have_the_rows_below_them() {
    let n = if small() { 300 } else { 700 };
    for device in devices() {
        let layout = MatrixLayout::row_major(n, n);
        let mut a = positive(&mut Draw::new(6), n, 1.0, 1.0);
        let mut held = stored::<f64>(layout, Triangle::Lower, &mut a);
        let mut elements = held.elements.clone();
        let params = FactorParams::default().with_width(Some(n / 2 + 1));
        let (team, to) = (Team::of([device.clone()]), HostMut::new(&mut elements, layout).unwrap());
        assert_eq!(split::factor::potrf(&team, &params, &mut |_| true, Triangle::Lower, to).unwrap(), 0);
        held.take("columns", elements);
        expect_factor_of::<f64>("columns", &a, &lower_of(Triangle::Lower, n, &held.wide()), n);
    }
}

/// A matrix whose leading minor of this order is the first that is not positive.
fn fails_at<T: Element>(device: &Device, order: usize, n: usize, by: f64) {
    for triangle in [Triangle::Lower, Triangle::Upper] {
        let mut a = positive(&mut Draw::new(7), n, 1.0, 1.0);
        a[(order - 1) * (n + 1)] = by.into();
        let layout = MatrixLayout::row_major(n, n);
        let held = stored::<T>(layout, triangle, &mut a);
        let mut buffer = Buffer::from_slice(device, &held.elements).unwrap();
        let info = potrf(triangle, MatMut::new(&mut buffer, layout).unwrap()).unwrap();
        assert_eq!(info.wait().unwrap(), order, "{n} {by} on {}", device.label());
        // The leading part is factorised.
        let found = buffer.to_vec().unwrap();
        let mut twin = a.clone();
        assert_eq!(host::cholesky::factorise(n, &mut twin), order);
        for j in 0..order - 1 {
            for i in j..order - 1 {
                let (row, column) = if triangle == Triangle::Lower { (i, j) } else { (j, i) };
                let z = found[layout.index(row, column)].to_complex();
                let z = if triangle == Triangle::Lower { z } else { z.conj() };
                assert!((z - twin[i + j * n]).norm() < 100.0 * epsilon::<T>(), "({i}, {j}) of {order}");
            }
        }
        let owner = Cholesky::new(
            triangle,
            MatRef::new(&Buffer::from_slice(device, &held.elements).unwrap(), layout).unwrap(),
        );
        let error = owner.unwrap().check().unwrap_err();
        assert_eq!(error, BlasError::NotPositiveDefinite { order, rows: n });
    }
}

#[test]
fn the_first_minor_that_is_not_positive_is_named() {
    for device in devices() {
        let cases = if small() {
            vec![(1, 3), (5, 5)]
        } else {
            vec![(1, 3), (64, 64), (65, 130), (130, 130), (3, 200)]
        };
        for (order, n) in cases {
            fails_at::<f64>(&device, order, n, -1.0);
            fails_at::<num_complex::Complex<f32>>(&device, order, n, 0.0);
        }
        fails_at::<f32>(&device, 2, 5, f64::NAN);
    }
}

fn owned<T: Element>(device: &Device, n: usize) {
    let draw = &mut Draw::new(11);
    for triangle in [Triangle::Lower, Triangle::Upper] {
        let layout = draw.layout(n, n);
        let mut a = positive(draw, n, 1e3, 1.0);
        let held = stored::<T>(layout, triangle, &mut a);
        let buffer = Buffer::from_slice(device, &held.elements).unwrap();
        let cholesky = Cholesky::new(triangle, MatRef::new(&buffer, layout).unwrap()).unwrap();
        let unit = epsilon::<T>();
        let mut result = Buffer::<T>::zeroed(device, n * n).unwrap();
        let dense = MatrixLayout::row_major(n, n);
        let read = |buffer: &Buffer<T>| -> Vec<C64> {
            let found = buffer.to_vec().unwrap();
            (0..n * n).map(|k| found[dense.index(k % n, k / n)].to_complex()).collect()
        };
        cholesky.reconstruct(MatMut::new(&mut result, dense).unwrap()).unwrap();
        let rest = difference(&a, &read(&result));
        expect_ratio("reconstruct", norm1(&rest, n), n as f64 * norm1(&a, n) * unit);
        cholesky.inverse(MatMut::new(&mut result, dense).unwrap()).unwrap();
        let inverse = read(&result);
        let rest = difference(&identity(n), &product(&a, n, &inverse, n));
        expect_ratio("inverse", norm1(&rest, n), n as f64 * norm1(&a, n) * norm1(&inverse, n) * unit);
        let mut twin = a.clone();
        host::cholesky::factorise(n, &mut twin);
        let expected: f64 = (0..n).map(|i| 2.0 * twin[i * (n + 1)].re.ln()).sum();
        let found = cholesky.log_determinant().unwrap();
        assert!((found - expected).abs() <= 1e3 * n as f64 * unit, "{found} for {expected}");
        let (found, exact) = (cholesky.condition().unwrap(), norm1(&a, n) * norm1(&inverse, n));
        assert!(found <= 1.01 * exact && found >= exact / 3.0, "condition {found} for {exact}");
    }
}

#[test]
fn an_owner_has_inverse_determinant_and_condition() {
    for device in devices() {
        for_all_elements!(owned(&device, if small() { 5 } else { 70 }));
        let nothing = Buffer::<f64>::zeroed(&device, 0).unwrap();
        let empty = MatRef::new(&nothing, MatrixLayout::column_major(0, 0)).unwrap();
        let cholesky = Cholesky::new(Triangle::Lower, empty).unwrap();
        assert_eq!((cholesky.log_determinant().unwrap(), cholesky.condition().unwrap()), (0.0, 0.0));
    }
}

#[test]
fn a_system_is_solved_in_one_call_and_misfits_are_refused() {
    let device = &devices()[0];
    let layout = MatrixLayout::column_major(2, 2);
    let mut a = Buffer::from_slice(device, &[4.0, 2.0, f64::NAN, 5.0]).unwrap();
    let mut b = Buffer::from_slice(device, &[8.0, 14.0, -4.0]).unwrap();
    let column = MatrixLayout::column_major(2, 1);
    let info =
        posv(Triangle::Lower, MatMut::new(&mut a, layout).unwrap(), MatMut::new(&mut b, column).unwrap());
    assert_eq!(info.unwrap().wait().unwrap(), 0);
    assert_eq!(b.to_vec().unwrap(), [0.75, 2.5, -4.0]);
    let error = posv(
        Triangle::Lower,
        MatMut::new(&mut a, layout).unwrap(),
        MatMut::new(&mut b, MatrixLayout::column_major(3, 1)).unwrap(),
    );
    assert_eq!(error.unwrap_err().to_string(), "posv: B must have 2 rows (as A has), 3 found");
    let error = potrf(Triangle::Lower, MatMut::new(&mut a, MatrixLayout::column_major(2, 1)).unwrap());
    assert_eq!(error.unwrap_err().to_string(), "potrf: A must be square, 2×1 found");
}
