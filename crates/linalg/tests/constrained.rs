//! Least squares under constraints on every device here: the constraints, and the conditions of a minimum.

use crate::common;

use common::*;
use lattice_compute::scalar::Element;
use lattice_compute::{Buffer, Device};
use lattice_linalg::factor::gglse;
use lattice_linalg::{BlasError, MatMut, MatrixLayout, Op, host};

/// Operands of a problem, each in a buffer of its own.
struct Operands<T> {
    held: [Held<T>; 5],
    buffers: [Buffer<T>; 5],
}

impl<T: Element> Operands<T> {
    fn new(device: &Device, draw: &mut Draw, [m, n, p, columns]: [usize; 4]) -> Self {
        let extents = [[m, n], [p, n], [m, columns], [p, columns], [n, columns]];
        let held = extents.map(|[rows, columns]| {
            let layout = draw.layout(rows, columns);
            Held::new(layout, guard::<T>(), everywhere, |_, _| draw.number())
        });
        let buffers = held.each_ref().map(|held| Buffer::from_slice(device, &held.elements).unwrap());
        Self { held, buffers }
    }

    fn solve(&mut self) -> Result<usize, BlasError> {
        let layouts = self.held.each_ref().map(|held| held.layout);
        let [a, b, c, d, x] = &mut self.buffers;
        let [a, b, c, d, x] = [(a, 0), (b, 1), (c, 2), (d, 3), (x, 4)]
            .map(|(buffer, number)| MatMut::new(buffer, layouts[number]).unwrap());
        Ok(gglse(a, b, c, d, x)?.wait().unwrap())
    }
}

fn check<T: Element>(device: &Device, draw: &mut Draw, extents: [usize; 4]) {
    let [m, n, p, columns] = extents;
    let what = format!("gglse {extents:?} on {}", device.label());
    let mut operands = Operands::<T>::new(device, draw, extents);
    let [a, b, c, d, _] = operands.held.each_ref().map(Held::wide);
    assert_eq!(operands.solve().unwrap(), 0, "{what}");
    for (held, buffer) in operands.held.iter_mut().zip(&operands.buffers) {
        held.take(&what, buffer.to_vec().unwrap());
    }
    let [t, r, residual, _, x] = operands.held.each_ref().map(Held::wide);
    let epsilon = epsilon::<T>();
    let longer = (m + p).max(n) as f64;
    let size = |matrix: &[C64], rows: usize| norm1(matrix, rows);
    let of_x = size(&x, n);

    if p > 0 {
        let rest = difference(&product(&b, p, &x, n), &d);
        expect_ratio(&format!("B x − d {what}"), size(&rest, p), longer * size(&b, p) * of_x * epsilon);
        // The rows of B are those of R, turned: R Rᴴ = B Bᴴ.
        let upper = |k: usize| if k % p <= k / p { r[k + (n - p) * p] } else { C64::default() };
        let upper: Vec<C64> = (0..p * p).map(upper).collect();
        let gram = product(&b, p, &entering(Op::C, p, &b), n);
        let again = product(&upper, p, &entering(Op::C, p, &upper), p);
        let bound = longer * size(&gram, p) * epsilon;
        expect_ratio(&format!("R {what}"), norm1(&difference(&gram, &again), p), bound);
    }
    if m == 0 || n == 0 {
        return;
    }
    let rest = difference(&product(&a, m, &x, n), &c);
    let bound = longer * (size(&a, m) * of_x + size(&c, m)) * epsilon;
    // Aᴴ (A x − c) is a combination of the rows of B: after them, nothing is left of it.
    let gradient = product(&entering(Op::C, m, &a), n, &rest, m);
    for j in 0..columns {
        let column = &gradient[j * n..][..n];
        let mut joined = [&entering(Op::C, p, &b)[..], column].concat();
        host::qr::factorise(n, &mut joined);
        let last = if p < n { joined[p + p * n].norm() } else { 0.0 };
        expect_ratio(&format!("gradient {what}"), last, size(&a, m) * bound);
        let norm = |x: &[C64]| x.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
        let (kept, whole) = (norm(&residual[j * m + n - p..(j + 1) * m]), norm(&rest[j * m..][..m]));
        expect_ratio(&format!("residual {what}"), (kept - whole).abs(), bound);
    }
    // A and T have the same norm, as unitary matrices turn one into the other.
    let upper: f64 = (0..m * n).filter(|k| k % m <= k / m).map(|k| t[k].norm_sqr()).sum();
    let norm2: f64 = a.iter().map(|x| x.norm_sqr()).sum();
    expect_ratio(&format!("T {what}"), (upper - norm2).abs(), longer * norm2 * epsilon);
}

#[test]
fn solutions_meet_constraints_and_have_the_least_residual() {
    for device in devices() {
        let draw = &mut Draw::new(21);
        let shapes: &[[usize; 4]] = if small() {
            &[[4, 3, 1, 1], [2, 4, 3, 2]]
        } else {
            &[
                [0, 0, 0, 1],
                [3, 0, 0, 1],
                [0, 3, 3, 1],
                [1, 1, 0, 1],
                [1, 1, 1, 1],
                [6, 4, 2, 1],
                [4, 6, 2, 1],
                [3, 5, 4, 3],
                [5, 5, 5, 1],
                [90, 70, 33, 2],
                [70, 90, 35, 1],
                [150, 131, 130, 1],
            ]
        };
        for &shape in shapes {
            for_all_elements!(check(&device, draw, shape));
        }
    }
}

#[test]
fn without_full_rank_x_stays() {
    for device in devices() {
        let draw = &mut Draw::new(22);
        for (zero, expected) in [(1, 3), (0, 4)] {
            let mut operands = Operands::<f64>::new(&device, draw, [5, 4, 3, 1]);
            let layout = operands.held[zero].layout;
            let mut elements = operands.held[zero].elements.clone();
            for i in 0..layout.rows {
                (0..4).for_each(|j| elements[layout.index(i, j)] = 0.0);
            }
            if zero == 1 {
                // B of rank one: its last two rows are multiples of unit rows of the first unknown.
                elements[layout.index(2, 3)] = 2.0;
                elements[layout.index(1, 2)] = 3.0;
            }
            operands.buffers[zero] = Buffer::from_slice(&device, &elements).unwrap();
            let info = operands.solve().unwrap();
            let what = format!("operand {zero} on {}", device.label());
            if zero == 1 {
                assert!((1..expected + 1).contains(&info), "{what}: {info}");
            } else {
                assert_eq!(info, expected, "{what}");
            }
            assert_eq!(operands.buffers[4].to_vec().unwrap(), operands.held[4].elements, "{what}");
        }
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let device = &devices()[0];
    let draw = &mut Draw::new(23);
    let refused = |mut operands: Operands<f64>, wanted: &str| {
        let before = operands.buffers.each_ref().map(|buffer| buffer.to_vec().unwrap());
        let error = operands.solve().unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
        assert_eq!(operands.buffers.each_ref().map(|buffer| buffer.to_vec().unwrap()), before);
    };
    refused(Operands::new(device, draw, [5, 3, 4, 1]), "the most constraints");
    refused(Operands::new(device, draw, [2, 6, 3, 1]), "the most unknowns");
    for (number, wanted) in [(1, "B"), (2, "C"), (3, "D"), (4, "X")] {
        let mut operands = Operands::new(device, draw, [6, 4, 2, 1]);
        let layout = MatrixLayout::column_major(1, 1);
        operands.held[number] = Held::new(layout, guard::<f64>(), everywhere, |_, _| 1.0);
        operands.buffers[number] = Buffer::from_slice(device, &operands.held[number].elements).unwrap();
        refused(operands, wanted);
    }
}
