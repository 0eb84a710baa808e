//! Triangular systems and products, and updates of rank 2k, on every device here, against their host twins in double.

use crate::common;

use common::*;
use lattice_compute::scalar::Element;
use lattice_compute::{Buffer, Device};
use lattice_linalg::{
    self as blas, BlasResult, Completion, Diagonal, MatMut, MatRef, MatrixLayout, Op, Side, Triangle, host,
};

const TRIANGLES: [Triangle; 2] = [Triangle::Lower, Triangle::Upper];
const OPS: [Op; 3] = Op::ALL;

type Operation<T> =
    fn(Side, Triangle, Op, Diagonal, T, MatRef<'_, T>, MatMut<'_, T>) -> BlasResult<Completion>;

/// One system, and one product.
fn check<T: Element>(device: &Device, draw: &mut Draw, n: usize, others: usize) {
    let (side, triangle, op) = (draw.of(&[Side::Left, Side::Right]), draw.of(&TRIANGLES), draw.of(&OPS));
    let diagonal = draw.of(&[Diagonal::Stored, Diagonal::Ones]);
    let (rows, columns) = if side == Side::Left { (n, others) } else { (others, n) };
    let (a_layout, b_layout) = (draw.layout(n, n), draw.layout(rows, columns));
    let alpha = draw.of(&[(1.0, 0.0), (-0.75, 0.5), (2.0, 0.0)]);
    let alpha = T::from_complex(C64::new(alpha.0, alpha.1));
    let ones = diagonal == Diagonal::Ones;
    let belongs: fn(usize, usize) -> bool = match (triangle, ones) {
        (Triangle::Lower, false) => in_lower,
        (Triangle::Upper, false) => in_upper,
        (Triangle::Lower, true) => |i, j| i > j,
        (Triangle::Upper, true) => |i, j| i < j,
    };
    // The inverse stays small, so that twin and device may be compared.
    let damping = 1.0 / (n as f64).sqrt();
    let a = Held::new(a_layout, nan::<T>(), belongs, |i, j| {
        let z = draw.number::<C64>() * damping;
        T::from_complex(if i == j { z + 2.0 } else { z })
    });
    let b = Held::new(b_layout, guard::<T>(), everywhere, |_, _| draw.number());
    let what =
        format!("{side:?} {triangle:?} {op:?} {diagonal:?} {a_layout:?} {b_layout:?} on {}", device.label());

    // The triangular matrix on the left, and B on its right.
    let mut stored = a.wide();
    (0..if ones { n } else { 0 }).for_each(|i| stored[i + i * n] = 1.0.into());
    let mut left = entering(op, n, &stored);
    let lower = (triangle == Triangle::Lower) == (op == Op::N);
    let (lower, turn) = if side == Side::Left {
        (lower, Op::N)
    } else {
        left = entering(Op::T, n, &left);
        (!lower, Op::T)
    };
    let run = |operation: Operation<T>| {
        let a_buffer = Buffer::from_slice(device, &a.elements).unwrap();
        let mut b_buffer = Buffer::from_slice(device, &b.elements).unwrap();
        let (from, to) =
            (MatRef::new(&a_buffer, a_layout).unwrap(), MatMut::new(&mut b_buffer, b_layout).unwrap());
        operation(side, triangle, op, diagonal, alpha, from, to).unwrap().wait().unwrap();
        let mut result = b.clone();
        result.take(&what, b_buffer.to_vec().unwrap());
        entering(turn, rows, &result.wide())
    };
    let old = entering(turn, rows, &b.wide());
    let element = |i: usize, j: usize| left[i + j * n];
    let wide_alpha = alpha.to_complex();
    let unit = epsilon::<T>() * n.max(1) as f64;

    let found = run(blas::trsm);
    let mut expected = old.clone();
    host::triangular::solve(lower, wide_alpha, element, &mut expected, n);
    let ratio = norm1(&difference(&found, &expected), n) / (norm1(&expected, n) * unit);
    assert!(expected.is_empty() || ratio < MOST, "trsm {what}: {ratio} times the rounding against the twin");
    let scaled: Vec<C64> = old.iter().map(|z| wide_alpha * z).collect();
    let rest = difference(&scaled, &product(&left, n, &found, n));
    let ratio = norm1(&rest, n) / (norm1(&left, n) * norm1(&found, n) * epsilon::<T>());
    assert!(expected.is_empty() || ratio < MOST, "trsm {what}: ratio {ratio}");

    let found = run(blas::trmm);
    let mut expected = old.clone();
    host::triangular::multiply(lower, wide_alpha, element, &mut expected, n);
    let bound = norm1(&left, n) * norm1(&old, n) * wide_alpha.norm() * epsilon::<T>();
    let ratio = norm1(&difference(&found, &expected), n) / bound;
    assert!(expected.is_empty() || ratio < MOST, "trmm {what}: ratio {ratio}");
}

fn sweep<T: Element>(device: &Device, seed: u64, sizes: &[usize], draws: usize) {
    let draw = &mut Draw::new(seed);
    for &n in sizes {
        for _ in 0..draws {
            let others = draw.of(&[0, 1, 2, 7, 33, 65]);
            check::<T>(device, draw, n, if small() { others.min(7) } else { others });
        }
    }
}

#[test]
fn triangular_systems_and_products_are_those_of_the_twins() {
    for device in devices() {
        for_all_elements!(sweep(&device, 1, sizes(), 6));
    }
}

/// C = α op(A) op(B)ᵀ + α op(B) op(A)ᵀ + β C, or its Hermitian form.
fn rank_2k<T: Element>(device: &Device, draw: &mut Draw, hermitian: bool, [n, terms]: [usize; 2]) {
    let conjugated = hermitian && T::IS_COMPLEX;
    let triangle = draw.of(&TRIANGLES);
    let op = if draw.of(&[false, true]) {
        Op::N
    } else if conjugated {
        Op::C
    } else {
        Op::T
    };
    let (rows, columns) = op.shape(n, terms);
    let (a_layout, b_layout, c_layout) =
        (draw.layout(rows, columns), draw.layout(rows, columns), draw.layout(n, n));
    let scalar = |re: f64, im: f64| T::from_complex(C64::new(re, im));
    let scalars = [(1.0, 0.0, 0.0), (-0.75, 0.5, 1.0), (0.0, 0.0, 1.0), (0.5, -0.5, -2.0)];
    let (alpha, beta) = draw.of(&scalars.map(|(re, im, beta)| (scalar(re, im), scalar(beta, 0.0))));
    let [a, b] =
        [a_layout, b_layout].map(|layout| Held::new(layout, nan::<T>(), everywhere, |_, _| draw.number()));
    let belongs = if triangle == Triangle::Lower { in_lower } else { in_upper };
    let mut c = Held::new(c_layout, guard::<T>(), belongs, |_, _| draw.number());
    let what =
        format!("rank 2k {hermitian} {triangle:?} {op:?} {a_layout:?} {c_layout:?} on {}", device.label());
    let untouched = terms == 0 || alpha == T::default();
    let [a_buffer, b_buffer] = [&a, &b].map(|x| Buffer::from_slice(device, &x.elements).unwrap());
    let mut c_buffer = Buffer::from_slice(device, &c.elements).unwrap();
    let (from_a, from_b) =
        (MatRef::new(&a_buffer, a_layout).unwrap(), MatRef::new(&b_buffer, b_layout).unwrap());
    let to = MatMut::new(&mut c_buffer, c_layout).unwrap();
    let started = if hermitian {
        blas::her2k(triangle, op, alpha, from_a, from_b, beta.real_part(), to)
    } else {
        blas::syr2k(triangle, op, alpha, from_a, from_b, beta, to)
    };
    started.unwrap().wait().unwrap();

    let (left, right) = (entering(op, rows, &a.wide()), entering(op, rows, &b.wide()));
    let turned = if conjugated { Op::C } else { Op::T };
    let one = product(&left, n, &entering(turned, n, &right), terms);
    let other = product(&right, n, &entering(turned, n, &left), terms);
    let (alpha, beta) = (alpha.to_complex(), beta.to_complex());
    let second = if conjugated { alpha.conj() } else { alpha };
    let old = c.wide();
    c.take(&what, c_buffer.to_vec().unwrap());
    for (i, j) in c.places() {
        let k = i + j * n;
        let before = if conjugated && i == j && !(untouched && beta == 1.0.into()) {
            old[k].re.into()
        } else {
            old[k]
        };
        let sum = if untouched { C64::default() } else { alpha * one[k] + second * other[k] };
        let expected = sum + beta * before;
        let found = c.elements[c_layout.index(i, j)].to_complex();
        let bound = 4.0 * (terms + 2) as f64 * epsilon::<T>();
        assert!((found - expected).norm() <= bound * 2.0, "{what}: ({i}, {j}) {found} for {expected}");
    }
}

fn sweep_rank_2k<T: Element>(device: &Device, seed: u64) {
    let draw = &mut Draw::new(seed);
    for n in [1, 2, 7, 33, 300] {
        for terms in [0, 1, 5, 40] {
            let n = if small() { n.min(7) } else { n };
            let hermitian = draw.of(&[false, true]);
            rank_2k::<T>(device, draw, hermitian, [n, terms]);
        }
    }
}

#[test]
fn updates_of_rank_2k_are_those_of_the_definition() {
    for device in devices() {
        for_all_elements!(sweep_rank_2k(&device, 4));
    }
}

#[test]
fn what_a_zero_multiplies_is_not_read() {
    for device in devices() {
        let nan = Buffer::from_slice(&device, &[f64::NAN; 9]).unwrap();
        let layout = MatrixLayout::column_major(3, 3);
        for operation in [blas::trsm as Operation<f64>, blas::trmm] {
            let mut b = Buffer::from_slice(&device, &[f64::NAN; 9]).unwrap();
            let (from, to) = (MatRef::new(&nan, layout).unwrap(), MatMut::new(&mut b, layout).unwrap());
            operation(Side::Left, Triangle::Lower, Op::N, Diagonal::Stored, 0.0, from, to).unwrap();
            assert_eq!(b.to_vec().unwrap(), [0.0; 9]);
        }
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let device = &devices()[0];
    let a = Buffer::from_slice(device, &[1.0_f64; 12]).unwrap();
    let mut b = Buffer::from_slice(device, &[1.0_f64; 12]).unwrap();
    let wide = MatrixLayout::column_major(3, 4);
    let square = MatrixLayout::column_major(3, 3);
    let (left, lower, stored) = (Side::Left, Triangle::Lower, Diagonal::Stored);
    let mut call = |side, layout, b_layout| {
        let (from, to) = (MatRef::new(&a, layout).unwrap(), MatMut::new(&mut b, b_layout).unwrap());
        blas::trsm(side, lower, Op::N, stored, 1, from, to).unwrap_err().to_string()
    };
    assert_eq!(call(left, wide, wide), "trsm: A must be square, 3×4 found");
    assert_eq!(call(left, square, wide.transposed()), "trsm: A must have 4 columns (as B has rows), 3 found");
    assert_eq!(call(Side::Right, square, wide), "trsm: A must have 4 rows (as B has columns), 3 found");
    let from = MatRef::new(&a, wide).unwrap();
    let to = MatMut::new(&mut b, square).unwrap();
    let error = blas::syr2k(lower, Op::N, 1, from, MatRef::new(&a, square).unwrap(), 0, to).unwrap_err();
    assert_eq!(error.to_string(), "syr2k: B must have 4 columns (as A, so transposed, has columns), 3 found");
}
