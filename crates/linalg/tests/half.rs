//! Products of 16-bit numbers on every device, by every kernel, against the host twin in double.

use crate::common;

use common::*;
use lattice_compute::{Buffer, Device};
use lattice_linalg::gemm::half::{
    HalfFormat, HalfKernel, HalfMma, HalfResult, bf16, f16, gemm_half, gemm_half_with,
};
use lattice_linalg::{BlasError, MatMut, MatRef, MatrixLayout, Op, Order, host};

/// Small tiles, so that edges and several pieces are met.
const SMALL: HalfMma = HalfMma { tile: [32, 32, 32], warp: [16, 32], stages: 3, band: 2, spread: false };

/// Numbers of a layout for some matrices, and NaN around them.
fn numbers<H: HalfFormat>(draw: &mut Draw, layout: &MatrixLayout, count: usize, stride: usize) -> Vec<H> {
    let mut numbers = vec![H::from_f32(f32::NAN); layout.offset + count * stride + 3];
    for matrix in 0..count {
        for i in 0..layout.rows {
            for j in 0..layout.columns {
                numbers[matrix * stride + layout.index(i, j)] = H::from_f32(draw.real() as f32);
            }
        }
    }
    numbers
}

/// A layout with gaps, and the distance of matrices; multiples of eight if `aligned`.
fn layout(
    draw: &mut Draw,
    order: Order,
    (rows, columns): (usize, usize),
    aligned: bool,
) -> (MatrixLayout, usize) {
    let dense = MatrixLayout::dense(order, rows, columns);
    let leading = dense.leading_dimension + draw.of(&[0, 1, 4]);
    let (leading, offset) =
        if aligned { (leading.next_multiple_of(8), 16) } else { (leading, draw.of(&[0, 1, 6])) };
    let layout = dense.leading_dimension(leading).offset(offset);
    let lines = if layout.order == Order::ColumnMajor { columns } else { rows };
    (layout, (lines * leading).next_multiple_of(8) + if aligned { 8 } else { 5 })
}

/// Checks a product whose factors, as they enter a column-major C, have these orders.
#[allow(clippy::too_many_arguments)]
fn check<H: HalfFormat, C: HalfResult>(
    device: &Device,
    kernel: HalfKernel,
    draw: &mut Draw,
    orders: [Order; 2],
    [m, n, k, count]: [usize; 4],
    narrowed: fn(f32) -> C,
    unit: f64,
) {
    let ops = [draw.of(&Op::ALL), draw.of(&Op::ALL)];
    let aligned = draw.of(&[true, false]);
    // The order of C decides which of its factors comes first.
    let c_order = if aligned { Order::ColumnMajor } else { Order::RowMajor };
    let entered = |order: Order, op: Op| match (order, op) {
        (order, Op::N) => order,
        (Order::ColumnMajor, _) => Order::RowMajor,
        (Order::RowMajor, _) => Order::ColumnMajor,
    };
    let orders = if aligned { orders } else { [orders[1], orders[0]].map(|order| entered(order, Op::T)) };
    let [a_order, b_order] = [0, 1].map(|k| entered(orders[k], ops[k]));
    let (a_layout, a_stride) = layout(draw, a_order, ops[0].shape(m, k), aligned);
    let (b_layout, b_stride) = layout(draw, b_order, ops[1].shape(k, n), aligned);
    let (c_layout, c_stride) = layout(draw, c_order, (m, n), false);
    let (alpha, beta) = draw.of(&[(1.0, 0.0), (-0.5, 1.0), (2.0, -1.5), (0.0, 1.0), (0.0, 0.25)]);
    let what = format!(
        "{kernel:?} {ops:?} {m}x{n}x{k} of {count}, {alpha} {beta}, C {:?} on {}",
        c_layout.order,
        device.label()
    );
    let a: Vec<H> = numbers(draw, &a_layout, count, a_stride);
    let b: Vec<H> = numbers(draw, &b_layout, count, b_stride);
    let guard = narrowed(-7777.0);
    let mut c = vec![guard; c_layout.offset + count * c_stride + 3];
    for matrix in 0..count {
        for i in 0..m {
            for j in 0..n {
                let value = if beta == 0.0 { f32::NAN } else { draw.real() as f32 };
                c[matrix * c_stride + c_layout.index(i, j)] = narrowed(value);
            }
        }
    }
    let mut buffer = Buffer::from_slice(device, &c).unwrap();
    let (a_buffer, b_buffer) =
        (Buffer::from_slice(device, &a).unwrap(), Buffer::from_slice(device, &b).unwrap());
    let from = |buffer, layout, stride| MatRef::batch(buffer, layout, count, stride).unwrap();
    let (from_a, from_b) = (from(&a_buffer, a_layout, a_stride), from(&b_buffer, b_layout, b_stride));
    let to = MatMut::batch(&mut buffer, c_layout, count, c_stride).unwrap();
    gemm_half_with(kernel, ops, alpha, from_a, from_b, beta, to).unwrap();
    let found = buffer.to_vec().unwrap();
    let mut untouched = found.clone();
    for matrix in 0..count {
        let entering = |x: &[H], layout: MatrixLayout, stride: usize, op: Op, i: usize, j: usize| {
            let (i, j) = if op == Op::N { (i, j) } else { (j, i) };
            f64::from(x[matrix * stride + layout.index(i, j)].to_f32())
        };
        let place = |i: usize, j: usize| matrix * c_stride + c_layout.index(i, j);
        let old = |i: usize, j: usize| if beta == 0.0 { 0.0 } else { f64::from(c[place(i, j)].to_f32()) };
        let mut expected: Vec<f64> = (0..m * n).map(|at| old(at % m, at / m)).collect();
        host::gemm::gemm(
            k,
            f64::from(alpha),
            |i, p| entering(&a, a_layout, a_stride, ops[0], i, p),
            |p, j| entering(&b, b_layout, b_stride, ops[1], p, j),
            f64::from(beta),
            &mut expected,
            m,
        );
        for (at, expected) in expected.iter().enumerate() {
            let place = place(at % m, at / m);
            let error = (f64::from(found[place].to_f32()) - expected).abs();
            // Sums of at most k + 1 products in single precision, then one rounding to C.
            let bound = f64::from(f32::EPSILON) * (k + 2) as f64 * 2.0 + unit * expected.abs();
            assert!(error <= bound, "{what}: element {at} is off by {error:.2e}, {bound:.2e} allowed");
            untouched[place] = c[place];
        }
    }
    assert!(
        untouched.iter().zip(&c).all(|(f, c)| f == c || c.to_f32().is_nan()),
        "{what}: written outside C"
    );
}

const HALF_UNIT: f64 = 1.0 / 2048.0;
const BFLOAT_UNIT: f64 = 1.0 / 256.0;

#[test]
fn products_agree_with_the_twin() {
    let mut draw = Draw::new(16);
    let shapes: &[[usize; 4]] = if small() {
        &[[5, 3, 7, 1]]
    } else {
        &[[1, 1, 1, 1], [70, 90, 40, 1], [32, 32, 32, 3], [7, 129, 200, 2], [3, 2, 0, 1], [0, 2, 3, 1]]
    };
    for device in devices() {
        for &shape in shapes {
            let (draw, kernel) = (&mut draw, HalfKernel::Widened);
            let unit = f64::from(f32::EPSILON);
            for orders in orders() {
                check::<f16, f32>(&device, kernel, draw, orders, shape, |x| x, unit);
                check::<bf16, f32>(&device, kernel, draw, orders, shape, |x| x, unit);
                check::<f16, f16>(&device, kernel, draw, orders, shape, f16::from_f32, HALF_UNIT);
                check::<bf16, bf16>(&device, kernel, draw, orders, shape, bf16::from_f32, BFLOAT_UNIT);
            }
        }
    }
}

/// Compilers take long for the instructions by their definition, so there are few kernels.
#[test]
fn products_on_matrix_units_agree_with_the_twin() {
    let mut draw = Draw::new(17);
    let all = std::env::var_os("LATTICE_CL_TEST_ALL").is_some_and(|v| !v.is_empty() && v != "0");
    let shapes: &[[usize; 4]] =
        if small() { &[[5, 3, 7, 1]] } else { &[[1, 1, 1, 1], [70, 90, 40, 1], [33, 17, 65, 2]] };
    let deep = HalfMma { tile: [32, 64, 64], warp: [32, 32], stages: 2, band: 1, spread: true };
    for device in devices() {
        for variant in [SMALL, deep].into_iter().take(if all { 2 } else { 1 }) {
            let (draw, kernel) = (&mut draw, HalfKernel::Mma(variant));
            for orders in orders().into_iter().take(if small() { 1 } else { 4 }) {
                for &shape in shapes {
                    let unit = f64::from(f32::EPSILON);
                    check::<f16, f32>(&device, kernel, draw, orders, shape, |x| x, unit);
                    if all {
                        check::<bf16, f32>(&device, kernel, draw, orders, shape, |x| x, unit);
                    }
                }
            }
            for &shape in shapes {
                let orders = orders()[0];
                check::<bf16, bf16>(&device, kernel, draw, orders, shape, bf16::from_f32, BFLOAT_UNIT);
            }
        }
    }
}

/// All pairs of orders in which A and B enter.
fn orders() -> [[Order; 2]; 4] {
    let (columns, rows) = (Order::ColumnMajor, Order::RowMajor);
    [[columns, columns], [rows, columns], [columns, rows], [rows, rows]]
}

#[test]
fn every_16_bit_number_is_converted_exactly_and_back() {
    fn all<H: HalfFormat>(device: &Device, kernel: HalfKernel, from_bits: fn(u16) -> H) {
        // Each number times 1 is itself; NaNs stay NaNs.
        let numbers: Vec<H> = (0..=u16::MAX).map(from_bits).collect();
        let layout = MatrixLayout::column_major(numbers.len(), 1);
        let a = Buffer::from_slice(device, &numbers).unwrap();
        let one = Buffer::from_slice(device, &[H::from_f32(1.0)]).unwrap();
        let mut single = Buffer::<f32>::zeroed(device, numbers.len()).unwrap();
        let mut same = Buffer::from_slice(device, &numbers).unwrap();
        let a = MatRef::new(&a, layout).unwrap();
        let one = MatRef::new(&one, MatrixLayout::column_major(1, 1)).unwrap();
        gemm_half_with(kernel, [Op::N; 2], 1.0, a, one, 0.0, MatMut::new(&mut single, layout).unwrap())
            .unwrap();
        gemm_half_with(kernel, [Op::N; 2], 1.0, a, one, 0.0, MatMut::new(&mut same, layout).unwrap())
            .unwrap();
        let (single, same) = (single.to_vec().unwrap(), same.to_vec().unwrap());
        for ((number, single), same) in numbers.iter().zip(single).zip(same) {
            let expected = number.to_f32();
            assert!(
                single == expected || (single.is_nan() && expected.is_nan()),
                "{number:?} became {single}"
            );
            assert!(same == *number || (same.to_f32().is_nan() && expected.is_nan()), "{number:?}: {same:?}");
        }
    }
    for device in devices() {
        all::<f16>(&device, HalfKernel::Widened, f16::from_bits);
        all::<bf16>(&device, HalfKernel::Widened, bf16::from_bits);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let device = &devices()[0];
    let a = Buffer::<f16>::zeroed(device, 6).unwrap();
    let mut c = Buffer::<f32>::zeroed(device, 4).unwrap();
    let a = MatRef::new(&a, MatrixLayout::column_major(2, 3)).unwrap();
    let to = MatMut::new(&mut c, MatrixLayout::column_major(2, 2)).unwrap();
    let error = gemm_half(Op::N, Op::N, 1.0, a, a, 0.0, to).unwrap_err();
    assert!(matches!(error, BlasError::Shape { extent: "columns", wanted: 2, found: 3, .. }), "{error}");
    for wrong in [
        HalfMma { warp: [24, 32], ..SMALL },
        HalfMma { tile: [40, 32, 32], ..SMALL },
        HalfMma { tile: [32, 32, 48], ..SMALL },
        HalfMma { stages: 1, ..SMALL },
        HalfMma { tile: [8192, 8192, 64], warp: [64, 64], stages: 8, band: 1, spread: false },
    ] {
        let to = MatMut::new(&mut c, MatrixLayout::column_major(2, 2)).unwrap();
        let error = gemm_half_with(HalfKernel::Mma(wrong), [Op::N, Op::T], 1.0, a, a, 0.0, to).unwrap_err();
        assert!(matches!(error, BlasError::Variant { .. }), "{wrong}: {error}");
    }
}
