//! LU factors on every device here: LAPACK's test ratios, and the pivots of the host's twin in double.

use crate::common;

use common::*;
use lattice_compute::scalar::Element;
use lattice_compute::{Buffer, Device};
use lattice_linalg::factor::{Lu, gesv, getrf, getri, getrs};
use lattice_linalg::{BlasError, MatMut, MatRef, MatrixLayout, Op, host};

/// L and U of what is stored, and rows of A in the order that the pivots give them.
fn parts(rows: usize, columns: usize, factors: &[C64]) -> [Vec<C64>; 2] {
    let fewer = rows.min(columns);
    let at = |i: usize, j: usize| factors[i + j * rows];
    let lower = |k: usize| {
        let (i, j) = (k % rows, k / rows);
        if i > j {
            at(i, j)
        } else if i == j {
            1.0.into()
        } else {
            C64::default()
        }
    };
    let upper = |k: usize| if k % fewer <= k / fewer { at(k % fewer, k / fewer) } else { C64::default() };
    [(0..rows * fewer).map(lower).collect(), (0..fewer * columns).map(upper).collect()]
}

fn permuted(rows: usize, a: &[C64], pivots: &[u32]) -> Vec<C64> {
    let mut a = a.to_vec();
    for column in a.chunks_mut(rows.max(1)) {
        pivots.iter().enumerate().for_each(|(i, &row)| column.swap(i, row as usize));
    }
    a
}

fn factorise<T: Element>(device: &Device, draw: &mut Draw, [rows, columns]: [usize; 2], size: f64) {
    let layout = draw.layout(rows, columns);
    let mut held = Held::new(layout, guard::<T>(), everywhere, |_, _| {
        T::from_complex(draw.number::<T>().to_complex() * size)
    });
    let a = held.wide();
    let what = format!("{layout:?} size {size:.0e} on {}", device.label());
    let mut buffer = Buffer::from_slice(device, &held.elements).unwrap();
    let fewer = rows.min(columns);
    let mut pivots = Buffer::from_slice(device, &vec![u32::MAX; fewer + 2]).unwrap();
    let info = getrf(MatMut::new(&mut buffer, layout).unwrap(), pivots.slice_mut(1..fewer + 1).unwrap());
    assert_eq!(info.unwrap().wait().unwrap(), 0, "{what}");
    held.take(&what, buffer.to_vec().unwrap());
    let pivots = pivots.to_vec().unwrap();
    assert_eq!([pivots[0], pivots[fewer + 1]], [u32::MAX; 2], "{what}: pivots outside");
    let pivots = &pivots[1..fewer + 1];
    assert!(pivots.iter().enumerate().all(|(i, &row)| row as usize >= i && (row as usize) < rows), "{what}");
    if fewer == 0 {
        return;
    }
    let [lower, upper] = parts(rows, columns, &held.wide());
    assert!(lower.iter().all(|z| z.norm() <= 1.4143), "{what}: a pivot is not the largest");
    let rest = difference(&permuted(rows, &a, pivots), &product(&lower, rows, &upper, fewer));
    let bound = fewer.max(columns) as f64 * norm1(&a, rows) * epsilon::<T>();
    expect_ratio(&format!("getrf {what}"), norm1(&rest, rows), bound);
    if epsilon::<T>() == f64::EPSILON {
        let mut twin = a;
        assert_eq!(host::lu::factorise(rows, &mut twin), (pivots.to_vec(), 0), "{what}");
    }
}

fn solve<T: Element>(device: &Device, draw: &mut Draw, n: usize) {
    let layout = draw.layout(n, n);
    let mut held = Held::new(layout, guard::<T>(), everywhere, |_, _| draw.number());
    let a = held.wide();
    let what = format!("{layout:?} on {}", device.label());
    let mut buffer = Buffer::from_slice(device, &held.elements).unwrap();
    let mut pivots = Buffer::<u32>::zeroed(device, n).unwrap();
    getrf(MatMut::new(&mut buffer, layout).unwrap(), &mut pivots).unwrap();
    for op in Op::ALL {
        let b_layout = draw.layout(n, 3);
        let mut b = Held::new(b_layout, guard::<T>(), everywhere, |_, _| draw.number());
        let right = b.wide();
        let mut b_buffer = Buffer::from_slice(device, &b.elements).unwrap();
        let (factors, to) =
            (MatRef::new(&buffer, layout).unwrap(), MatMut::new(&mut b_buffer, b_layout).unwrap());
        getrs(op, factors, &pivots, to).unwrap();
        b.take(&what, b_buffer.to_vec().unwrap());
        let (x, entering) = (b.wide(), entering(op, n, &a));
        let rest = difference(&right, &product(&entering, n, &x, n));
        let bound = norm1(&entering, n) * norm1(&x, n) * epsilon::<T>();
        expect_ratio(&format!("getrs {op:?} {what}"), norm1(&rest, n), bound);
    }
    getri(MatMut::new(&mut buffer, layout).unwrap(), &pivots).unwrap();
    held.take(&what, buffer.to_vec().unwrap());
    let inverse = held.wide();
    let rest = difference(&identity(n), &product(&inverse, n, &a, n));
    let bound = n as f64 * norm1(&a, n) * norm1(&inverse, n) * epsilon::<T>();
    expect_ratio(&format!("getri {what}"), norm1(&rest, n), bound);
}

fn sweep<T: Element>(device: &Device, seed: u64, sizes: &[usize]) {
    let draw = &mut Draw::new(seed);
    for &n in sizes {
        let other = draw.of(sizes);
        for extents in [[n, n], [n, other], [other, n]] {
            let size = draw.of(&[1.0, 1e30, 1e-30]);
            factorise::<T>(device, draw, extents, size);
        }
        solve::<T>(device, draw, n);
    }
}

#[test]
fn factors_solutions_and_inverses_meet_the_ratios() {
    for device in devices() {
        for_all_elements!(sweep(&device, 1, sizes()));
    }
}

#[test]
fn the_first_zero_pivot_is_named_and_the_rest_is_factorised() {
    for device in devices() {
        for n in if small() { vec![5] } else { vec![5, 70, 130] } {
            // Column 3 is twice column 2, in numbers whose products are exact.
            let draw = &mut Draw::new(5);
            let mut a: Vec<f64> = (0..n * n).map(|_| draw.of(&[-2.0, -1.0, 0.0, 1.0, 2.0])).collect();
            for i in 0..n {
                a[i + 3 * n] = 2.0 * a[i + 2 * n];
            }
            let layout = MatrixLayout::column_major(n, n);
            let buffer = Buffer::from_slice(&device, &a).unwrap();
            let lu = Lu::new(MatRef::new(&buffer, layout).unwrap()).unwrap();
            assert_eq!(lu.check().unwrap_err(), BlasError::Singular { pivot: 4, rows: n });
            assert_eq!(lu.determinant().unwrap().value(), C64::default());
            let mut again = Buffer::<f64>::zeroed(&device, n * n).unwrap();
            lu.reconstruct(MatMut::new(&mut again, layout).unwrap()).unwrap();
            let [wide, again] =
                [a, again.to_vec().unwrap()].map(|x| x.into_iter().map(C64::from).collect::<Vec<_>>());
            let bound = n as f64 * norm1(&wide, n) * f64::EPSILON;
            expect_ratio("reconstruct", norm1(&difference(&wide, &again), n), bound);
        }
    }
}

#[test]
fn ties_go_to_the_lowest_row_and_nans_are_passed_over() {
    for device in devices() {
        let n = if small() { 9 } else { 300 };
        let column = |special: &[(usize, f64)]| {
            let mut a = vec![1.0; n];
            special.iter().for_each(|&(i, x)| a[i] = x);
            let mut buffer = Buffer::from_slice(&device, &a).unwrap();
            let mut pivots = Buffer::<u32>::zeroed(&device, 1).unwrap();
            getrf(MatMut::new(&mut buffer, MatrixLayout::column_major(n, 1)).unwrap(), &mut pivots).unwrap();
            pivots.to_vec().unwrap()[0] as usize
        };
        assert_eq!(column(&[]), 0);
        assert_eq!(column(&[(2, -3.0), (n - 1, 3.0)]), 2);
        assert_eq!(column(&[(0, f64::NAN), (3, 2.0)]), 3);
        assert_eq!(column(&(0..n).map(|i| (i, f64::NAN)).collect::<Vec<_>>()), 0);
    }
}

fn owned<T: Element>(device: &Device, n: usize) {
    let draw = &mut Draw::new(11);
    let layout = draw.layout(n, n);
    let held = Held::new(layout, nan::<T>(), everywhere, |_, _| draw.number());
    let a = held.wide();
    let buffer = Buffer::from_slice(device, &held.elements).unwrap();
    let lu = Lu::new(MatRef::new(&buffer, layout).unwrap()).unwrap();
    let mut result = Buffer::<T>::zeroed(device, n * n).unwrap();
    let dense = MatrixLayout::row_major(n, n);
    lu.inverse(MatMut::new(&mut result, dense).unwrap()).unwrap();
    let found = result.to_vec().unwrap();
    let inverse: Vec<C64> = (0..n * n).map(|k| found[dense.index(k % n, k / n)].to_complex()).collect();
    let rest = difference(&identity(n), &product(&a, n, &inverse, n));
    expect_ratio("inverse", norm1(&rest, n), n as f64 * norm1(&a, n) * norm1(&inverse, n) * epsilon::<T>());
    let (found, exact) = (lu.condition().unwrap(), norm1(&a, n) * norm1(&inverse, n));
    assert!(found <= 1.01 * exact && found >= exact / 3.0, "condition {found} for {exact}");
    let mut twin = a;
    let (pivots, _) = host::lu::factorise(n, &mut twin);
    let swaps = pivots.iter().enumerate().filter(|&(i, &row)| i != row as usize).count();
    let expected: C64 =
        (0..n).map(|i| twin[i * (n + 1)]).product::<C64>() * if swaps.is_multiple_of(2) { 1.0 } else { -1.0 };
    let found = lu.determinant().unwrap().value();
    let bound = exact * n as f64 * epsilon::<T>() * expected.norm();
    assert!((found - expected).norm() <= bound, "{found} for {expected}");
}

#[test]
fn an_owner_has_inverse_determinant_and_condition() {
    for device in devices() {
        for_all_elements!(owned(&device, if small() { 5 } else { 45 }));
        let nothing = Buffer::<f64>::zeroed(&device, 0).unwrap();
        let lu = Lu::new(MatRef::new(&nothing, MatrixLayout::column_major(0, 0)).unwrap()).unwrap();
        assert_eq!((lu.determinant().unwrap().value(), lu.condition().unwrap()), (1.0.into(), 0.0));
    }
}

#[test]
fn a_system_is_solved_in_one_call_and_misfits_are_refused() {
    let device = &devices()[0];
    let layout = MatrixLayout::row_major(2, 2);
    let mut a = Buffer::from_slice(device, &[0.0, 2.0, 4.0, 1.0]).unwrap();
    let mut b = Buffer::from_slice(device, &[4.0, 6.0, -4.0]).unwrap();
    let mut pivots = Buffer::<u32>::zeroed(device, 2).unwrap();
    let column = MatrixLayout::column_major(2, 1);
    let info = gesv(MatMut::new(&mut a, layout).unwrap(), &mut pivots, MatMut::new(&mut b, column).unwrap());
    assert_eq!(info.unwrap().wait().unwrap(), 0);
    assert_eq!(b.to_vec().unwrap(), [1.0, 2.0, -4.0]);
    let mut few = Buffer::<u32>::zeroed(device, 1).unwrap();
    let error = getrf(MatMut::new(&mut a, layout).unwrap(), &mut few).unwrap_err();
    assert_eq!(
        error.to_string(),
        "getrf: pivots must have 2 elements (as A has rows or columns, the fewer), 1 found"
    );
}
