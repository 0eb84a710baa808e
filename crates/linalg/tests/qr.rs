//! QR factors on every device here: LAPACK's test ratios, and the reflectors of the host's twin.

use crate::common;

use common::*;
use lattice_compute::scalar::Element;
use lattice_compute::{Buffer, Device};
use lattice_linalg::factor::{Qr, gels, geqrf, gesv, posv, ungqr, unmqr};
use lattice_linalg::{BlasError, MatMut, MatRef, MatrixLayout, Op, Side, Triangle, host};

/// The first rows of a matrix, column after column, and zeros below its diagonal.
fn upper(rows: usize, kept: usize, a: &[C64]) -> Vec<C64> {
    let element =
        |k: usize| if k % kept <= k / kept { a[k % kept + k / kept * rows] } else { C64::default() };
    (0..kept * (a.len() / rows)).map(element).collect()
}

/// The matrix of so many columns, with zeros or cut off.
fn with_rows(rows: usize, wanted: usize, a: &[C64]) -> Vec<C64> {
    let columns = a.len().checked_div(rows).unwrap_or(0);
    let element = |k: usize| {
        let (i, j) = (k % wanted, k / wanted);
        if i < rows { a[i + j * rows] } else { C64::default() }
    };
    (0..wanted * columns).map(element).collect()
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
    let mut tau = Buffer::from_slice(device, &vec![guard::<T>(); fewer + 2]).unwrap();
    geqrf(MatMut::new(&mut buffer, layout).unwrap(), tau.slice_mut(1..fewer + 1).unwrap()).unwrap();
    held.take(&what, buffer.to_vec().unwrap());
    let taus = tau.to_vec().unwrap();
    assert_eq!([taus[0], taus[fewer + 1]], [guard::<T>(); 2], "{what}: τ outside");
    if fewer == 0 {
        return;
    }
    let factors = held.wide();
    if epsilon::<T>() == f64::EPSILON && rows < 200 && size == 1.0 {
        let mut twin = a.clone();
        let expected = host::qr::factorise(rows, &mut twin);
        let error = factors.iter().zip(&twin).map(|(f, t)| (f - t).norm()).fold(0.0, f64::max);
        assert!(error < 1e-11, "{what}: {error} from the twin");
        let error =
            taus[1..].iter().zip(&expected).map(|(f, t)| (f.to_complex() - t).norm()).fold(0.0, f64::max);
        assert!(error < 1e-11, "{what}: τ {error} from the twin");
    }
    // Q of as many columns as A has rows or columns, the fewer.
    let q_layout = draw.layout(rows, fewer);
    let mut q = Held::new(q_layout, guard::<T>(), everywhere, |i, j| T::from_complex(factors[i + j * rows]));
    let mut q_buffer = Buffer::from_slice(device, &q.elements).unwrap();
    let tau = tau.slice(1..fewer + 1).unwrap();
    ungqr(MatMut::new(&mut q_buffer, q_layout).unwrap(), tau).unwrap();
    q.take(&what, q_buffer.to_vec().unwrap());
    let q = q.wide();
    let adjoint = entering(Op::C, rows, &q);
    let rest = difference(&identity(fewer), &product(&adjoint, fewer, &q, rows));
    expect_ratio(&format!("Qᴴ Q {what}"), norm1(&rest, fewer), rows as f64 * epsilon::<T>());
    let again = product(&q, rows, &upper(rows, fewer, &factors), fewer);
    let bound = rows.max(columns) as f64 * norm1(&a, rows) * epsilon::<T>();
    expect_ratio(&format!("geqrf {what}"), norm1(&difference(&a, &again), rows), bound);

    // op(Q) C and C op(Q) with the whole Q.
    let factors = MatRef::new(&buffer, layout).unwrap();
    for side in [Side::Left, Side::Right] {
        for op in [Op::N, Op::C] {
            let extents = if side == Side::Left { [rows, 3] } else { [3, rows] };
            let c_layout = draw.layout(extents[0], extents[1]);
            let mut c = Held::new(c_layout, guard::<T>(), everywhere, |_, _| draw.number());
            let before = c.wide();
            let mut c_buffer = Buffer::from_slice(device, &c.elements).unwrap();
            unmqr(side, op, factors, tau, MatMut::new(&mut c_buffer, c_layout).unwrap()).unwrap();
            c.take(&what, c_buffer.to_vec().unwrap());
            // The first columns of Q give the first rows of Qᴴ C, and Q of what has no other rows.
            let after = c.wide();
            let what = format!("unmqr {side:?} {op:?} {what}");
            let bound = rows as f64 * norm1(&before, extents[0]).max(1.0) * epsilon::<T>();
            let (found, expected) = match (side, op) {
                (Side::Left, Op::C) => {
                    (with_rows(rows, fewer, &after), product(&adjoint, fewer, &before, rows))
                }
                (Side::Right, Op::N) => (after[..3 * fewer].to_vec(), product(&before, 3, &q, rows)),
                (Side::Left, _) => {
                    // Back again by the other product.
                    let back = product(&adjoint, fewer, &after, rows);
                    (with_rows(rows, fewer, &before), back)
                }
                (Side::Right, _) => (before[..3 * fewer].to_vec(), product(&after, 3, &q, rows)),
            };
            expect_ratio(&what, norm1(&difference(&found, &expected), found.len() / 3), bound);
        }
    }
}

fn sweep<T: Element>(device: &Device, seed: u64, sizes: &[usize]) {
    let draw = &mut Draw::new(seed);
    for &n in sizes {
        let other = draw.of(sizes);
        for extents in [[n, n], [n, other], [other, n]] {
            let sizes: &[f64] =
                if epsilon::<T>() == f64::EPSILON { &[1.0, 1e290, 1e-290] } else { &[1.0, 1e30, 1e-30] };
            let size = draw.of(sizes);
            factorise::<T>(device, draw, extents, size);
        }
    }
}

#[test]
fn factors_and_products_with_q_meet_the_ratios() {
    for device in devices() {
        for_all_elements!(sweep(&device, 3, sizes()));
    }
}

/// LAPACK's ratios for a solution: an optimal residual, or a solution in the row space.
fn least_squares<T: Element>(device: &Device, draw: &mut Draw, [rows, columns]: [usize; 2]) {
    let layout = draw.layout(rows, columns);
    let held = Held::new(layout, guard::<T>(), everywhere, |_, _| draw.number());
    let wide = held.wide();
    for op in [Op::N, Op::C] {
        let what = format!("gels {op:?} {layout:?} on {}", device.label());
        let mut buffer = Buffer::from_slice(device, &held.elements).unwrap();
        let b_layout = draw.layout(rows.max(columns), 3);
        let mut b = Held::new(b_layout, guard::<T>(), everywhere, |_, _| draw.number());
        let (equations, unknowns) = op.shape(rows, columns);
        let right = with_rows(rows.max(columns), equations, &b.wide());
        let mut b_buffer = Buffer::from_slice(device, &b.elements).unwrap();
        let (a, to) =
            (MatMut::new(&mut buffer, layout).unwrap(), MatMut::new(&mut b_buffer, b_layout).unwrap());
        assert_eq!(gels(op, a, to).unwrap().wait().unwrap(), 0, "{what}");
        b.take(&what, b_buffer.to_vec().unwrap());
        let x = with_rows(rows.max(columns), unknowns, &b.wide());
        let a = entering(op, rows, &wide);
        let rest = difference(&right, &product(&a, equations, &x, unknowns));
        let (size, adjoint) = (norm1(&a, equations), entering(Op::C, equations, &a));
        let longer = rows.max(columns) as f64;
        let scale = size * norm1(&x, unknowns) * epsilon::<T>();
        if equations > unknowns {
            // The residual is orthogonal to the columns of A.
            let projected = product(&adjoint, unknowns, &rest, equations);
            let bound = longer * size * (norm1(&right, equations) * epsilon::<T>() + scale);
            expect_ratio(&what, norm1(&projected, unknowns), bound);
        } else {
            expect_ratio(&what, norm1(&rest, equations), longer * scale);
        }
        if equations < unknowns {
            // x is a combination of the rows of A: after them, nothing of it is left for R.
            let mut joined = [adjoint, x.clone()].concat();
            host::qr::factorise(unknowns, &mut joined);
            let outside = joined[equations + equations * unknowns].norm();
            expect_ratio(&what, outside, longer * norm1(&x, unknowns) * epsilon::<T>());
        }
    }
}

#[test]
fn least_squares_have_the_least_residual_or_the_least_solution() {
    for device in devices() {
        let draw = &mut Draw::new(8);
        let shapes: &[[usize; 2]] = if small() {
            &[[5, 3], [3, 5]]
        } else {
            &[[1, 1], [5, 3], [3, 5], [90, 90], [200, 67], [40, 131]]
        };
        for &shape in shapes {
            for_all_elements!(least_squares(&device, draw, shape));
        }
    }
}

#[test]
fn without_full_rank_or_definiteness_b_stays() {
    for device in devices() {
        let layout = MatrixLayout::column_major(4, 3);
        let a = [1.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0];
        let right = [1.0, 2.0, 3.0, 4.0];
        let mut b = Buffer::from_slice(&device, &right).unwrap();
        let column = MatrixLayout::column_major(4, 1);
        let buffer = Buffer::from_slice(&device, &a).unwrap();
        let qr = Qr::new(MatRef::new(&buffer, layout).unwrap()).unwrap();
        qr.solve(MatMut::new(&mut b, column).unwrap()).unwrap();
        assert_eq!(b.to_vec().unwrap(), right);
        let error = qr.check().unwrap_err();
        assert_eq!(error, BlasError::RankDeficient { column: 2, rows: 4, columns: 3 });
        let mut factors = Buffer::from_slice(&device, &a).unwrap();
        let info =
            gels(Op::N, MatMut::new(&mut factors, layout).unwrap(), MatMut::new(&mut b, column).unwrap());
        assert_eq!(info.unwrap().wait().unwrap(), 2);
        assert_eq!(b.to_vec().unwrap(), right);

        let square = MatrixLayout::column_major(2, 2);
        let column = column.leading_dimension(4);
        let column = MatrixLayout { rows: 2, ..column };
        let mut singular = Buffer::from_slice(&device, &[1.0, 2.0, 2.0, 4.0]).unwrap();
        let mut pivots = Buffer::<u32>::zeroed(&device, 2).unwrap();
        let a = MatMut::new(&mut singular, square).unwrap();
        let info = gesv(a, &mut pivots, MatMut::new(&mut b, column).unwrap());
        assert_eq!(info.unwrap().wait().unwrap(), 2);
        assert_eq!(b.to_vec().unwrap(), right);
        let mut indefinite = Buffer::from_slice(&device, &[1.0, 2.0, 2.0, 1.0]).unwrap();
        let a = MatMut::new(&mut indefinite, square).unwrap();
        let info = posv(Triangle::Lower, a, MatMut::new(&mut b, column).unwrap());
        assert_eq!(info.unwrap().wait().unwrap(), 2);
        assert_eq!(b.to_vec().unwrap(), right);
    }
}

fn owned<T: Element>(device: &Device, [rows, columns]: [usize; 2]) {
    let draw = &mut Draw::new(13);
    let layout = draw.layout(rows, columns);
    let held = Held::new(layout, nan::<T>(), everywhere, |_, _| draw.number());
    let a = held.wide();
    let buffer = Buffer::from_slice(device, &held.elements).unwrap();
    let qr = Qr::new(MatRef::new(&buffer, layout).unwrap()).unwrap();
    qr.check().unwrap();
    let dense = MatrixLayout::row_major(rows, columns);
    let read = |buffer: &Buffer<T>| -> Vec<C64> {
        let found = buffer.to_vec().unwrap();
        (0..rows * columns).map(|k| found[dense.index(k % rows, k / rows)].to_complex()).collect()
    };
    let mut result = Buffer::from_slice(device, &vec![nan::<T>(); rows * columns]).unwrap();
    qr.reconstruct(MatMut::new(&mut result, dense).unwrap()).unwrap();
    let bound = rows as f64 * norm1(&a, rows) * epsilon::<T>();
    expect_ratio("reconstruct", norm1(&difference(&a, &read(&result)), rows), bound);
    qr.q(MatMut::new(&mut result, dense).unwrap()).unwrap();
    let q = read(&result);
    let rest = difference(&identity(columns), &product(&entering(Op::C, rows, &q), columns, &q, rows));
    expect_ratio("q", norm1(&rest, columns), rows as f64 * epsilon::<T>());
    // The condition of R by its inverse.
    let mut factors = a;
    host::qr::factorise(rows, &mut factors);
    let r = upper(rows, columns, &factors);
    let mut inverse = identity(columns);
    host::triangular::solve(false, 1, |i, j| r[i + j * columns], &mut inverse, columns);
    let (found, exact) = (qr.condition().unwrap(), norm1(&r, columns) * norm1(&inverse, columns));
    assert!(found <= 1.01 * exact && found >= exact / 3.0, "condition {found} for {exact}");
}

#[test]
fn an_owner_has_q_and_the_condition_and_misfits_are_refused() {
    for device in devices() {
        for_all_elements!(owned(&device, if small() { [6, 4] } else { [75, 45] }));
    }
    let device = &devices()[0];
    let wide = Buffer::<f64>::zeroed(device, 6).unwrap();
    let error = Qr::new(MatRef::new(&wide, MatrixLayout::column_major(2, 3)).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Qr: A must have 2 columns (the most columns that Q has, as many as its rows), 3 found"
    );
    let mut a = Buffer::<f64>::zeroed(device, 6).unwrap();
    let mut b = Buffer::<f64>::zeroed(device, 2).unwrap();
    let (a, b) = (
        MatMut::new(&mut a, MatrixLayout::column_major(2, 3)).unwrap(),
        MatMut::new(&mut b, MatrixLayout::column_major(2, 1)).unwrap(),
    );
    let error = gels(Op::N, a, b).unwrap_err();
    assert_eq!(error.to_string(), "gels: B must have 3 rows (as A has rows or columns, the more), 2 found");
}
