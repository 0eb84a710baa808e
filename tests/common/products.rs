//! Products of matrices in higher precision, and the check of one product.

use crate::common::unit_roundoff;
use lattice_cl::compute::{Buffer, Device};
use lattice_cl::linalg::gemm::{Arithmetic, GemmParams, gemm_with};
use lattice_cl::linalg::{MatMut, MatRef, MatrixLayout, Op, Order};
use lattice_cl::scalar::{Element, Precision, Real};
use num_complex::Complex;
use rayon::prelude::*;

type C64 = Complex<f64>;

/// One product to check.
#[derive(Clone, Debug)]
pub struct Case {
    /// m, n, k.
    pub extents: [usize; 3],
    pub ops: [Op; 2],
    /// Of A, B and C.
    pub orders: [Order; 3],
    /// Of A, B and C: how far the leading dimension exceeds its least value, and the offset.
    pub places: [[usize; 2]; 3],
    pub alpha: C64,
    pub beta: C64,
    /// Matrices in the batch.
    pub count: usize,
}

/// Elements whose products can be had in higher precision.
pub trait Wide: Element {
    /// Σ_p a(i, p) b(p, j) for all i, j, column after column, with errors far below this type's rounding.
    fn product(m: usize, n: usize, k: usize, a: &[C64], b: &[C64]) -> Vec<C64>;
}

/// Factors in single precision: in double.
fn in_double(m: usize, n: usize, k: usize, a: &[C64], b: &[C64]) -> Vec<C64> {
    let element = |index: usize| (0..k).map(|p| a[index % m + p * m] * b[p + index / m * k]).sum();
    (0..m * n).into_par_iter().map(element).collect()
}

/// Factors in double precision: every product and sum as a pair of doubles (T. J. Dekker, Numer. Math. 18, 224 (1971)).
fn in_pairs(m: usize, n: usize, k: usize, a: &[C64], b: &[C64]) -> Vec<C64> {
    let element = |index: usize| {
        let (i, j) = (index % m, index / m);
        let (mut re, mut im) = ([0.0; 2], [0.0; 2]);
        for p in 0..k {
            let (x, y) = (a[i + p * m], b[p + j * k]);
            add_product(&mut re, x.re, y.re);
            add_product(&mut re, -x.im, y.im);
            add_product(&mut im, x.re, y.im);
            add_product(&mut im, x.im, y.re);
        }
        Complex::new(re[0] + re[1], im[0] + im[1])
    };
    (0..m * n).into_par_iter().map(element).collect()
}

/// sum += x y
fn add_product(sum: &mut [f64; 2], x: f64, y: f64) {
    let halves = |x: f64| {
        let scaled = 134_217_729.0 * x;
        let high = scaled - (scaled - x);
        (high, x - high)
    };
    let ((x_high, x_low), (y_high, y_low)) = (halves(x), halves(y));
    let product = x * y;
    let lost = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low;
    let total = sum[0] + product;
    let part = total - sum[0];
    let rounded = (sum[0] - (total - part)) + (product - part);
    sum[1] += lost + rounded;
    sum[0] = total;
}

impl Wide for f32 {
    fn product(m: usize, n: usize, k: usize, a: &[C64], b: &[C64]) -> Vec<C64> {
        in_double(m, n, k, a, b)
    }
}

impl Wide for Complex<f32> {
    fn product(m: usize, n: usize, k: usize, a: &[C64], b: &[C64]) -> Vec<C64> {
        in_double(m, n, k, a, b)
    }
}

impl Wide for f64 {
    fn product(m: usize, n: usize, k: usize, a: &[C64], b: &[C64]) -> Vec<C64> {
        in_pairs(m, n, k, a, b)
    }
}

impl Wide for Complex<f64> {
    fn product(m: usize, n: usize, k: usize, a: &[C64], b: &[C64]) -> Vec<C64> {
        in_pairs(m, n, k, a, b)
    }
}

/// A batch of matrices in host memory, with what surrounds them.
struct Held<T> {
    elements: Vec<T>,
    layout: MatrixLayout,
    stride: usize,
    count: usize,
}

impl<T: Element> Held<T> {
    fn new(
        order: Order,
        (rows, columns): (usize, usize),
        [extra, offset]: [usize; 2],
        count: usize,
        seed: f64,
        around: T,
    ) -> Self {
        let dense = MatrixLayout::dense(order, rows, columns);
        let layout = dense.leading_dimension(dense.leading_dimension + extra).offset(offset);
        let lines = if order == Order::ColumnMajor { columns } else { rows };
        let stride = lines * layout.leading_dimension + extra;
        let mut elements = vec![around; offset + count * stride + 9];
        for number in 0..count {
            for j in 0..columns {
                for i in 0..rows {
                    let phase =
                        seed + 0.7 * i as f64 + 1.9 * j as f64 * (1.0 + 0.01 * i as f64) + number as f64;
                    let value = T::from_complex(Complex::new((3.1 * phase).sin(), (5.7 * phase).cos()));
                    elements[number * stride + layout.index(i, j)] = value;
                }
            }
        }
        Self { elements, layout, stride, count }
    }

    fn set_all(&mut self, value: T) {
        for number in 0..self.count {
            for j in 0..self.layout.columns {
                for i in 0..self.layout.rows {
                    self.elements[number * self.stride + self.layout.index(i, j)] = value;
                }
            }
        }
    }

    /// op(X) of one matrix in double, column after column.
    fn wide(&self, number: usize, op: Op) -> Vec<C64> {
        let (rows, columns) = op.shape(self.layout.rows, self.layout.columns);
        let element = |index: usize| {
            let (i, j) = (index % rows, index / rows);
            let (i, j) = if op == Op::N { (i, j) } else { (j, i) };
            let x = self.elements[number * self.stride + self.layout.index(i, j)].to_complex();
            if op == Op::C { x.conj() } else { x }
        };
        (0..rows * columns).map(element).collect()
    }
}

fn norm(x: &[C64]) -> f64 {
    x.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt()
}

/// Computes one product on the device and checks it, and that nothing else was touched.
#[track_caller]
pub fn check<T: Wide>(device: &Device, params: &GemmParams, case: &Case) {
    let [m, n, k] = case.extents;
    let [op_a, op_b] = case.ops;
    let nan = T::from_complex(C64::new(f64::NAN, f64::NAN));
    let guard = T::from_complex((-7777.0).into());
    let mut a = Held::new(case.orders[0], op_a.shape(m, k), case.places[0], case.count, 0.3, nan);
    let mut b = Held::new(case.orders[1], op_b.shape(k, n), case.places[1], case.count, 1.1, nan);
    let mut c = Held::new(case.orders[2], (m, n), case.places[2], case.count, 2.3, guard);
    // What a zero multiplies is not read.
    let [alpha, beta] = [case.alpha, case.beta].map(|z| T::from_complex(z).to_complex());
    if alpha == C64::default() {
        a.set_all(nan);
        b.set_all(nan);
    }
    if beta == C64::default() {
        c.set_all(nan);
    }

    let [a_buffer, b_buffer] = [&a, &b].map(|x| Buffer::from_slice(device, &x.elements).unwrap());
    let mut c_buffer = Buffer::from_slice(device, &c.elements).unwrap();
    let completion = gemm_with(
        params,
        op_a,
        op_b,
        T::from_complex(case.alpha),
        MatRef::batch(&a_buffer, a.layout, a.count, a.stride).unwrap(),
        MatRef::batch(&b_buffer, b.layout, b.count, b.stride).unwrap(),
        T::from_complex(case.beta),
        MatMut::batch(&mut c_buffer, c.layout, c.count, c.stride).unwrap(),
    );
    completion.unwrap_or_else(|error| panic!("{case:?}: {error}"));
    let mut found = Held { elements: c_buffer.to_vec().unwrap(), ..c };
    let before = Held { elements: std::mem::take(&mut c.elements), ..found };
    let what = || format!("{params:?} {case:?} on {}", device.label());

    for number in 0..case.count {
        let (wide_a, wide_b) = (a.wide(number, op_a), b.wide(number, op_b));
        let old = before.wide(number, Op::N);
        let used = alpha != C64::default();
        let mut expected =
            if used { T::product(m, n, k, &wide_a, &wide_b) } else { vec![C64::default(); m * n] };
        for (e, old) in expected.iter_mut().zip(&old) {
            *e = alpha * *e + if beta == C64::default() { C64::default() } else { beta * old };
        }
        let unit = unit_roundoff::<T::Real>();
        let mut bound =
            if used { ((k + 2) as f64).sqrt() * alpha.norm() * norm(&wide_a) * norm(&wide_b) } else { 0.0 };
        if beta != C64::default() {
            bound += 2.0 * beta.norm() * norm(&old);
        }
        bound *= unit * if T::IS_COMPLEX { 2.0 * 2.0_f64.sqrt() } else { 1.0 };
        if params.arithmetic == Arithmetic::ThreeTf32 && T::Real::PRECISION == Precision::Single {
            // The bound of that arithmetic, see its documentation.
            bound *= 4.0 + (k as f64 / 4.0 + 2.0) / ((k + 2) as f64).sqrt();
        }
        let wide = found.wide(number, Op::N);
        let difference: Vec<C64> = wide.iter().zip(&expected).map(|(f, e)| f - e).collect();
        let error = norm(&difference);
        assert!(error <= bound, "{}: error {error:.2e}, at most {bound:.2e} allowed", what());
    }
    // Everything but C is as it was.
    found.set_all(guard);
    let all_guards = found.elements.iter().all(|x| *x == guard);
    assert!(all_guards, "{}: written outside C", what());
}
