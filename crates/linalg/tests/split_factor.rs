//! Factorisations of host matrices by teams: LAPACK's test ratios, interruptions, and one device's results.

use crate::common;

use common::*;
use lattice_compute::Team;
use lattice_linalg::split::factor::{
    Divisible, FactorParams, geqrf, getrf, getrs, potrf, potrs, trsm, unmqr,
};
use lattice_linalg::split::{HostMut, HostRef, SplitParams};
use lattice_linalg::{BlasError, Diagonal, MatrixLayout, Op, Triangle, host};

/// The host, each device, and teams of two and three.
fn teams() -> Vec<Team> {
    let mut teams: Vec<Team> = devices().into_iter().map(|device| Team::of([device])).collect();
    teams.push(Team::host());
    for count in [2, 3] {
        teams.push(Team::of((0..count).flat_map(|_| devices().into_iter().take(1))));
    }
    teams
}

/// Narrow blocks, all devices taking part, and for some cases hardly any memory.
fn params(team: &Team, width: usize, little: bool) -> FactorParams {
    let rates = Some(vec![1.0; team.len()]);
    let products = SplitParams::default().with_rates(rates).with_memory(little.then_some(1));
    FactorParams::default().with_products(products).with_width(Some(width)).with_finished(0)
}

fn named(team: &Team, layout: &MatrixLayout) -> String {
    format!("{layout:?} on {} devices", team.len())
}

/// The part of a matrix that `keeps` tells, and zeros elsewhere; ones on the diagonal if `ones`.
fn part(rows: usize, kept: [usize; 2], a: &[C64], keeps: fn(usize, usize) -> bool, ones: bool) -> Vec<C64> {
    let element = |k: usize| {
        let (i, j) = (k % kept[0], k / kept[0]);
        match (ones && i == j, keeps(i, j)) {
            (true, _) => 1.0.into(),
            (_, true) => a[i + j * rows],
            (_, false) => C64::default(),
        }
    };
    (0..kept[0] * kept[1]).map(element).collect()
}

/// Factorises in two goes, ended after the first block, and checks that the bits are the same.
fn interrupted<T: Divisible>(
    whole: &[T],
    before: &[T],
    mut run: impl FnMut(&mut [T], usize, &mut dyn FnMut(usize) -> bool) -> Result<(), BlasError>,
) {
    let mut elements = before.to_vec();
    let mut first = None;
    let ended = run(&mut elements, 0, &mut |columns| {
        first.get_or_insert(columns);
        false
    });
    let Some(columns) = first else { return };
    match ended {
        Err(BlasError::Ended { columns: finished, .. }) => assert_eq!(finished, columns),
        Ok(()) => assert_eq!(elements, whole, "a single block"),
        Err(other) => panic!("{other}"),
    }
    run(&mut elements, columns, &mut |_| true).unwrap();
    // Guards are numbers, so that equality says all.
    assert_eq!(elements, whole, "other bits after {columns} columns");
}

fn cholesky<T: Divisible>(team: &Team, draw: &mut Draw, n: usize, width: usize) {
    let triangle = draw.of(&[Triangle::Lower, Triangle::Upper]);
    let layout = draw.layout(n, n);
    let what = format!("{triangle:?} {}", named(team, &layout));
    let mut a = vec![C64::default(); n * n];
    for j in 0..n {
        for i in j..n {
            let z = if i == j { C64::from(1.5) } else { draw.number::<C64>() / (2.0 * n as f64) };
            a[i + j * n] = T::from_complex(z).to_complex();
            a[j + i * n] = a[i + j * n].conj();
        }
    }
    let belongs = if triangle == Triangle::Lower { in_lower } else { in_upper };
    let unread = |z: C64| T::from_complex(C64::new(z.re, f64::NAN));
    let mut held = Held::new(layout, nan::<T>(), belongs, |i, j| {
        if i == j { unread(a[i + j * n]) } else { T::from_complex(a[i + j * n]) }
    });
    let params = params(team, width, n.is_multiple_of(2));
    let mut elements = held.elements.clone();
    let to = HostMut::new(&mut elements, layout).unwrap();
    assert_eq!(potrf(team, &params, &mut |_| true, triangle, to).unwrap(), 0, "{what}");
    let factor = elements.clone();
    held.take(&what, elements);
    let wide = held.wide();
    let lower = entering(if triangle == Triangle::Lower { Op::N } else { Op::C }, n, &wide);
    let adjoint = entering(Op::C, n, &lower);
    let rest = difference(&product(&lower, n, &adjoint, n), &a);
    expect_ratio(&format!("potrf {what}"), norm1(&rest, n), n as f64 * norm1(&a, n) * epsilon::<T>());

    let b_layout = draw.layout(n, 3);
    let mut b = Held::new(b_layout, guard::<T>(), everywhere, |_, _| draw.number());
    let right = b.wide();
    let mut x = b.elements.clone();
    let to = HostMut::new(&mut x, b_layout).unwrap();
    potrs(team, &params, triangle, HostRef::new(&factor, layout).unwrap(), to).unwrap();
    b.take(&what, x);
    let rest = difference(&right, &product(&a, n, &b.wide(), n));
    let bound = norm1(&a, n) * norm1(&b.wide(), n) * epsilon::<T>();
    expect_ratio(&format!("potrs {what}"), norm1(&rest, n), bound);
}

fn lu<T: Divisible>(team: &Team, draw: &mut Draw, [rows, columns]: [usize; 2], width: usize) {
    let layout = draw.layout(rows, columns);
    let what = named(team, &layout);
    let mut held = Held::new(layout, guard::<T>(), everywhere, |_, _| draw.number());
    let (before, a, fewer) = (held.elements.clone(), held.wide(), rows.min(columns));
    let params = params(team, width, rows.is_multiple_of(2));
    let mut pivots = vec![u32::MAX; fewer];
    let mut elements = before.clone();
    let to = HostMut::new(&mut elements, layout).unwrap();
    assert_eq!(getrf(team, &params, &mut |_| true, to, &mut pivots).unwrap(), 0, "{what}");
    let factors = elements.clone();
    if !team.is_host() {
        interrupted(&factors, &before, |elements, finished, watch| {
            let params = params.clone().with_finished(finished);
            // The pivots of the finished columns are those of the whole.
            let mut again = pivots.clone();
            again[finished.min(fewer)..].fill(u32::MAX);
            let to = HostMut::new(elements, layout).unwrap();
            getrf(team, &params, &mut |done| watch(done.columns), to, &mut again).map(drop)
        });
    }
    held.take(&what, elements);
    let wide = held.wide();
    let lower = part(rows, [rows, fewer], &wide, |i, j| i > j, true);
    let upper = part(rows, [fewer, columns], &wide, in_upper, false);
    let mut permuted = a.clone();
    for column in permuted.chunks_mut(rows.max(1)) {
        pivots.iter().enumerate().for_each(|(i, &row)| column.swap(i, row as usize));
    }
    let rest = difference(&permuted, &product(&lower, rows, &upper, fewer));
    let bound = fewer.max(columns) as f64 * norm1(&a, rows) * epsilon::<T>();
    expect_ratio(&format!("getrf {what}"), norm1(&rest, rows), bound);
    if epsilon::<T>() == f64::EPSILON && fewer > 0 {
        let mut twin = a.clone();
        assert_eq!(host::lu::factorise(rows, &mut twin), (pivots.clone(), 0), "{what}");
    }
    if rows != columns {
        return;
    }
    for op in Op::ALL {
        let b_layout = draw.layout(rows, 2);
        let mut b = Held::new(b_layout, guard::<T>(), everywhere, |_, _| draw.number());
        let right = b.wide();
        let mut x = b.elements.clone();
        let to = HostMut::new(&mut x, b_layout).unwrap();
        getrs(team, &params, op, HostRef::new(&factors, layout).unwrap(), &pivots, to).unwrap();
        b.take(&what, x);
        let entered = entering(op, rows, &a);
        let rest = difference(&right, &product(&entered, rows, &b.wide(), rows));
        let bound = norm1(&entered, rows) * norm1(&b.wide(), rows) * epsilon::<T>();
        expect_ratio(&format!("getrs {op:?} {what}"), norm1(&rest, rows), bound);
    }
}

fn qr<T: Divisible>(team: &Team, draw: &mut Draw, [rows, columns]: [usize; 2], width: usize) {
    let layout = draw.layout(rows, columns);
    let what = named(team, &layout);
    let mut held = Held::new(layout, guard::<T>(), everywhere, |_, _| draw.number());
    let (before, a, fewer) = (held.elements.clone(), held.wide(), rows.min(columns));
    let params = params(team, width, rows.is_multiple_of(2));
    let mut tau = vec![guard::<T>(); fewer];
    let mut elements = before.clone();
    let to = HostMut::new(&mut elements, layout).unwrap();
    geqrf(team, &params, &mut |_| true, to, &mut tau).unwrap();
    let factors = elements.clone();
    if !team.is_host() {
        interrupted(&factors, &before, |elements, finished, watch| {
            let params = params.clone().with_finished(finished);
            let mut again = tau.clone();
            again[finished.min(fewer)..].fill(nan::<T>());
            let to = HostMut::new(elements, layout).unwrap();
            geqrf(team, &params, &mut |done| watch(done.columns), to, &mut again)
        });
    }
    held.take(&what, elements);
    if fewer == 0 {
        return;
    }
    // Q R, with R in a matrix of all rows.
    let r = part(rows, [rows, columns], &held.wide(), in_upper, false);
    let c_layout = draw.layout(rows, columns);
    let mut c = Held::new(c_layout, guard::<T>(), everywhere, |i, j| T::from_complex(r[i + j * rows]));
    let reflectors = layout.submatrix(0..rows, 0..fewer).unwrap();
    for (op, expected) in [(Op::N, &a), (Op::C, &r)] {
        let mut elements = c.elements.clone();
        let to = HostMut::new(&mut elements, c_layout).unwrap();
        unmqr(team, &params, op, HostRef::new(&factors, reflectors).unwrap(), &tau, to).unwrap();
        c.take(&what, elements);
        let bound = rows.max(columns) as f64 * norm1(&a, rows) * epsilon::<T>();
        let error = norm1(&difference(&c.wide(), expected), rows);
        expect_ratio(&format!("geqrf, unmqr {op:?} {what}"), error, bound);
    }
}

fn systems<T: Divisible>(team: &Team, draw: &mut Draw, n: usize, width: usize) {
    for (triangle, keeps) in [(Triangle::Lower, in_lower as fn(_, _) -> _), (Triangle::Upper, in_upper)] {
        for op in Op::ALL {
            let diagonal = draw.of(&[Diagonal::Stored, Diagonal::Ones]);
            let layout = draw.layout(n, n);
            let what = format!("{triangle:?} {op:?} {diagonal:?} {}", named(team, &layout));
            let a = Held::new(layout, nan::<T>(), keeps, |i, j| {
                let z = draw.number::<C64>() / (n as f64);
                T::from_complex(if i != j { z } else { 2.0.into() })
            });
            let wide = part(n, [n, n], &a.wide(), keeps, diagonal == Diagonal::Ones);
            let b_layout = draw.layout(n, 5);
            let mut b = Held::new(b_layout, guard::<T>(), everywhere, |_, _| draw.number());
            let right = b.wide();
            let mut x = b.elements.clone();
            let (from, to) =
                (HostRef::new(&a.elements, layout).unwrap(), HostMut::new(&mut x, b_layout).unwrap());
            trsm(team, &params(team, width, false), triangle, op, diagonal, from, to).unwrap();
            b.take(&what, x);
            let rest = difference(&right, &product(&entering(op, n, &wide), n, &b.wide(), n));
            let bound = norm1(&wide, n).max(1.0) * norm1(&b.wide(), n) * epsilon::<T>();
            expect_ratio(&format!("trsm {what}"), norm1(&rest, n), bound);
        }
    }
}

#[test]
fn factors_of_host_matrices_pass_the_tests_of_lapack() {
    let mut draw = Draw::new(38);
    let sizes: &[[usize; 2]] = if small() {
        &[[0, 0], [7, 7], [9, 4]]
    } else {
        &[[0, 0], [1, 1], [33, 33], [40, 17], [17, 40], [0, 3], [3, 0], [71, 71]]
    };
    for team in teams() {
        for &shape in sizes {
            let width = draw.of(&[1, 5, 16, 32]).max(shape[0] / 8);
            for_all_elements!(lu(&team, &mut draw, shape, width));
            for_all_elements!(qr(&team, &mut draw, shape, width));
            if shape[0] == shape[1] {
                for_all_elements!(cholesky(&team, &mut draw, shape[0], width));
                for_all_elements!(systems(&team, &mut draw, shape[0], width));
            }
        }
    }
}

#[test]
fn what_is_singular_or_not_positive_is_told() {
    for team in teams() {
        let params = params(&team, 2, false);
        // The leading minors of order 1 to 4 are positive.
        let n = 7;
        let layout = MatrixLayout::column_major(n, n);
        let element = |k: usize| match (k % n, k / n) {
            (i, j) if i != j => 0.1,
            (4, 4) => -1.0,
            _ => 1.0,
        };
        let mut a: Vec<f64> = (0..n * n).map(element).collect();
        let to = HostMut::new(&mut a, layout).unwrap();
        assert_eq!(potrf(&team, &params, &mut |_| true, Triangle::Lower, to).unwrap(), 5);
        // Column 4 is zero, so the fourth pivot is zero exactly.
        let element = |k: usize| {
            let (i, j) = (k % n, k / n);
            if j == 3 { 0.0 } else { ((3 * i * i + 5 * j + i * j * j) % 11) as f64 + 0.5 }
        };
        let before: Vec<f64> = (0..n * n).map(element).collect();
        let (mut a, mut pivots) = (before.clone(), vec![0; n]);
        let to = HostMut::new(&mut a, layout).unwrap();
        assert_eq!(getrf(&team, &params, &mut |_| true, to, &mut pivots).unwrap(), 4);
        assert_eq!(host::lu::factorise(n, &mut before.clone()).1, 4);
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let team = &Team::host();
    let params = &FactorParams::default();
    let layout = MatrixLayout::column_major(2, 3);
    let mut a = [1.0; 6];
    let to = HostMut::new(&mut a, layout).unwrap();
    let error = potrf(team, params, &mut |_| true, Triangle::Lower, to).unwrap_err();
    assert!(matches!(error, BlasError::NotSquare { rows: 2, columns: 3, .. }), "{error}");
    let error = getrf(team, params, &mut |_| true, HostMut::new(&mut a, layout).unwrap(), &mut [0; 3]);
    assert!(matches!(error.unwrap_err(), BlasError::Shape { wanted: 2, found: 3, .. }));
    let error = geqrf(team, params, &mut |_| true, HostMut::new(&mut a, layout).unwrap(), &mut [0.0]);
    assert!(matches!(error.unwrap_err(), BlasError::Shape { wanted: 2, found: 1, .. }));
    let beyond = &FactorParams::default().with_finished(4);
    let error = geqrf(team, beyond, &mut |_| true, HostMut::new(&mut a, layout).unwrap(), &mut [0.0; 2]);
    assert!(matches!(error.unwrap_err(), BlasError::OutOfMatrix { end: 4, found: 3, .. }));
}
