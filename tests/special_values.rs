//! NaNs, infinities and zeros in every routine of the BLAS, on every device here, against plain loops.
//!
//! The rules are those of the reference BLAS: what α = 0 multiplies is not read, with β = 0 the result is only written,
//! β = 1 multiplies nothing, and everything else propagates. All numbers are small whole ones, so that sums are exact in any
//! order and precision.

use crate::common;

use common::{SMALL_MMA, devices, small, taken_for_gpus, teams};
use lattice_cl::compute::{Buffer, Device};
use lattice_cl::host::Philox;
use lattice_cl::host::level1::Arithmetic;
use lattice_cl::linalg::gemm::{GemmParams, GemmTuning, Panels, Registers, gemm_with};
use lattice_cl::linalg::split::{self, Copies, HostMut, HostRef, RowShards, SplitParams};
use lattice_cl::linalg::{
    self, Factor, MatMut, MatRef, MatrixLayout, Op, Order, Scalar, Side, Triangle, VecRef, VectorLayout,
};
use lattice_cl::scalar::Real;
use num_complex::Complex;

type C64 = Complex<f64>;

/// α or β: of the elements, or real.
#[derive(Clone, Copy, Debug)]
struct Scale {
    value: C64,
    real: bool,
}

impl Scale {
    fn factor<T: Arithmetic>(self) -> Factor<T> {
        let real: Factor<T::Real> = T::Real::from_f64(self.value.re).factor();
        if self.real { Factor::of_real(real) } else { T::from_complex(self.value).factor() }
    }

    fn is(self, number: f64) -> bool {
        self.value == C64::from(number)
    }

    fn times<T: Arithmetic>(self, x: C64) -> C64 {
        if self.real {
            C64::new(self.value.re * x.re, self.value.re * x.im)
        } else {
            times::<T>(self.value, x)
        }
    }

    /// α times a sum, by which the result is changed.
    fn added<T: Arithmetic>(self, sum: C64, beta: Scale, old: C64) -> C64 {
        match (self.is(0.0), beta.is(0.0), beta.is(1.0)) {
            (true, true, _) => C64::default(),
            (true, _, true) => old,
            (true, ..) => beta.times::<T>(old),
            (_, true, _) => self.times::<T>(sum),
            (_, _, true) => self.times::<T>(sum) + old,
            _ => self.times::<T>(sum) + beta.times::<T>(old),
        }
    }
}

/// The product of the definition; real numbers have no imaginary parts that infinities could meet.
fn times<T: Arithmetic>(x: C64, y: C64) -> C64 {
    if T::IS_COMPLEX {
        C64::new(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re)
    } else {
        (x.re * y.re).into()
    }
}

fn dot<T: Arithmetic>(x: impl Iterator<Item = C64>, y: impl Iterator<Item = C64>) -> C64 {
    x.zip(y).map(|(x, y)| times::<T>(x, y)).sum()
}

/// Numbers that look random.
struct Draw(Philox);

impl Draw {
    fn of<V: Copy>(&mut self, list: &[V]) -> V {
        list[self.0.next_u32() as usize % list.len()]
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.0.next_u32().is_multiple_of(n)
    }

    /// Mostly a small whole number.
    fn real(&mut self, rarity: u32) -> f64 {
        if self.one_in(rarity) {
            self.of(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0])
        } else {
            self.of(&[-2.0, -1.0, 0.0, 1.0, 2.0, 3.0])
        }
    }

    fn vector<T: Arithmetic>(&mut self, len: usize) -> Vec<T> {
        let rarity = self.of(&[3, 20, 200]);
        (0..len)
            .map(|_| {
                let re = self.real(rarity);
                T::from_complex(C64::new(re, self.real(rarity)))
            })
            .collect()
    }

    fn scale<T: Arithmetic>(&mut self) -> Scale {
        let (re, im) = self.of(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (2.0, -1.0)]);
        let real = !T::IS_COMPLEX || self.one_in(2);
        Scale { value: C64::new(re, if real { 0.0 } else { im }), real }
    }

    fn extent(&mut self) -> usize {
        self.of(if small() { &[0, 1, 2, 5][..] } else { &[0, 1, 1, 2, 3, 7, 17, 40] })
    }

    fn order(&mut self) -> Order {
        self.of(&[Order::ColumnMajor, Order::RowMajor])
    }
}

fn wide<T: Arithmetic>(x: &[T]) -> Vec<C64> {
    x.iter().map(|x| x.to_complex()).collect()
}

/// The same numbers; NaN for NaN, and if `signs` also the signs of zeros.
#[track_caller]
fn assert_same<T: Arithmetic>(what: &str, found: &[C64], expected: &[C64], signs: bool) {
    let same = |f: f64, e: f64| {
        f.is_nan() && e.is_nan() || f == e && (!signs || f.is_sign_negative() == e.is_sign_negative())
    };
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!(
            same(f.re, e.re) && (!T::IS_COMPLEX || same(f.im, e.im)),
            "{what}: element {i}: {f} wanted {e}"
        );
    }
}

fn vectors<T: Arithmetic>(device: &Device, draw: &mut Draw, len: usize) {
    let (x, y) = (draw.vector::<T>(len), draw.vector::<T>(len));
    let (alpha, beta) = (draw.scale::<T>(), draw.scale::<T>());
    let (a, b) = (alpha.factor::<T>(), beta.factor::<T>());
    let on = |x: &[T]| Buffer::from_slice(device, x).unwrap();
    let (on_x, read) = (on(&x), |y: &Buffer<T>| wide(&y.to_vec().unwrap()));
    let (wx, wy) = (wide(&x), wide(&y));
    let what = |name: &str| format!("{name} of {len} with {alpha:?} {beta:?} on {}", device.label());
    let update =
        |f: &dyn Fn(C64, C64) -> C64| -> Vec<C64> { wx.iter().zip(&wy).map(|(&x, &y)| f(x, y)).collect() };
    let kept = alpha.is(0.0);

    let mut z = on(&y);
    linalg::copy(&on_x, &mut z).unwrap();
    assert_same::<T>(&what("copy"), &read(&z), &wx, true);
    let (mut u, mut z) = (on(&x), on(&y));
    linalg::swap(&mut u, &mut z).unwrap();
    assert_same::<T>(&what("swap"), &read(&u), &wy, true);
    assert_same::<T>(&what("swap"), &read(&z), &wx, true);

    let mut z = on(&y);
    linalg::scal(a, &mut z).unwrap();
    let scaled = update(&|_, y| if alpha.is(1.0) { y } else { alpha.times::<T>(y) });
    assert_same::<T>(&what("scal"), &read(&z), &scaled, alpha.is(1.0));
    let mut z = on(&y);
    linalg::axpy(a, &on_x, &mut z).unwrap();
    let one = Scale { value: 1.0.into(), real: true };
    let sum = update(&|x, y| alpha.added::<T>(x, one, y));
    assert_same::<T>(&what("axpy"), &read(&z), &sum, kept);
    let mut z = on(&y);
    let norm2 = linalg::axpy_norm2(a, &on_x, &mut z).unwrap().wait().unwrap();
    assert_same::<T>(&what("axpy_norm2"), &read(&z), &sum, kept);
    let squares = |x: &[C64]| -> f64 { x.iter().map(|z| z.re * z.re + z.im * z.im).sum() };
    assert_same::<f64>(&what("axpy_norm2"), &[norm2.into()], &[squares(&sum).into()], false);
    let mut z = on(&y);
    linalg::axpby(a, &on_x, b, &mut z).unwrap();
    let expected = update(&|x, y| alpha.added::<T>(x, beta, y));
    assert_same::<T>(&what("axpby"), &read(&z), &expected, kept && beta.is(1.0));
    let mut z = on(&y);
    linalg::xpby(&on_x, b, &mut z).unwrap();
    let follow = update(&|x, y| one.added::<T>(x, beta, y));
    assert_same::<T>(&what("xpby"), &read(&z), &follow, beta.is(0.0));

    let on_y = on(&y);
    let conjugate = |x: &[C64]| -> Vec<C64> { x.iter().map(C64::conj).collect() };
    let sum =
        |name: &str, found: C64, expected: C64| assert_same::<T>(&what(name), &[found], &[expected], false);
    let dotc = dot::<T>(conjugate(&wx).into_iter(), wy.iter().copied());
    sum("dotc", linalg::dotc(&on_x, &on_y).unwrap().wait().unwrap(), dotc);
    let dotu = dot::<T>(wx.iter().copied(), wy.iter().copied());
    sum("dotu", linalg::dotu(&on_x, &on_y).unwrap().wait().unwrap(), dotu);
    let (both, norm2) = linalg::dot_norm2(&on_x, &on_y).unwrap().wait().unwrap();
    sum("dot_norm2", both, dotc);
    sum("dot_norm2", norm2.into(), squares(&wx).into());
    sum("norm2", linalg::norm2(&on_x).unwrap().wait().unwrap().into(), squares(&wx).into());
    let root = linalg::nrm2(&on_x).unwrap().wait().unwrap();
    sum("nrm2", root.into(), squares(&wx).sqrt().into());
    let sizes: f64 = wx.iter().map(|z| z.re.abs() + z.im.abs()).sum();
    sum("asum", linalg::asum(&on_x).unwrap().wait().unwrap().into(), sizes.into());
    // The first of the largest, NaNs passed over.
    let mut largest: Option<(usize, f64)> = None;
    for (i, size) in wx.iter().map(|z| z.re.abs() + z.im.abs()).enumerate().filter(|(_, size)| !size.is_nan())
    {
        if largest.is_none_or(|(_, most)| size > most) {
            largest = Some((i, size));
        }
    }
    assert_eq!(linalg::iamax(&on_x).unwrap().wait().unwrap(), largest.map(|(i, _)| i), "{}", what("iamax"));

    let (ap, r) = (draw.vector::<T>(len), draw.vector::<T>(len));
    let (wide_ap, wide_r) = (wide(&ap), wide(&r));
    let (mut solution, mut residual) = (on(&y), on(&r));
    let norm2 = linalg::cr_step(a, &on_x, &mut solution, &on(&ap), &mut residual).unwrap().wait().unwrap();
    assert_same::<T>(&what("cr_step"), &read(&solution), &update(&|x, y| alpha.added::<T>(x, one, y)), kept);
    let minus = Scale { value: -alpha.value, ..alpha };
    let expected: Vec<C64> =
        wide_ap.iter().zip(&wide_r).map(|(&x, &y)| minus.added::<T>(x, one, y)).collect();
    assert_same::<T>(&what("cr_step"), &read(&residual), &expected, kept);
    sum("cr_step", norm2.into(), squares(&expected).into());
    let (mut direction, mut image) = (on(&y), on(&r));
    let sums = linalg::cr_direction(b, &on_x, &mut direction, &on(&ap), &mut image).unwrap();
    let (product, norm2) = sums.wait().unwrap();
    assert_same::<T>(&what("cr_direction"), &read(&direction), &follow, false);
    let expected: Vec<C64> = wide_ap.iter().zip(&wide_r).map(|(&x, &y)| one.added::<T>(x, beta, y)).collect();
    assert_same::<T>(&what("cr_direction"), &read(&image), &expected, false);
    sum("cr_direction", product, dot::<T>(conjugate(&wx).into_iter(), expected.iter().copied()));
    sum("cr_direction", norm2.into(), squares(&expected).into());
}

/// Element (i, j) of op(X), for X in columns or rows without gaps.
fn entering<T: Arithmetic>(op: Op, layout: &MatrixLayout, x: &[T], i: usize, j: usize) -> C64 {
    let (i, j) = if op == Op::N { (i, j) } else { (j, i) };
    let z = x[layout.index(i, j)].to_complex();
    if op == Op::C { z.conj() } else { z }
}

/// Whether a result keeps all of its bits.
fn keeps(alpha: Scale, beta: Scale, terms: usize) -> bool {
    (alpha.is(0.0) || terms == 0) && !beta.is(0.0)
}

/// α, or 0 where there are no terms: that is the same.
fn effective(alpha: Scale, terms: usize) -> Scale {
    if terms == 0 { Scale { value: C64::default(), ..alpha } } else { alpha }
}

fn matrix_with_vector<T: Arithmetic>(device: &Device, draw: &mut Draw, op: Op) {
    let (m, n) = (draw.extent(), draw.extent());
    let layout = MatrixLayout::dense(draw.order(), m, n);
    let (rows, terms) = op.shape(m, n);
    let stride = draw.of(&[1, 2]);
    let (alpha, beta) = (draw.scale::<T>(), draw.scale::<T>());
    let (a, x, y) = (draw.vector::<T>(m * n), draw.vector::<T>(stride * terms), draw.vector::<T>(rows));
    let what = format!("gemv {op:?} {m}x{n} {:?} {alpha:?} {beta:?} on {}", layout.order, device.label());
    let [on_a, on_x, mut on_y] = [&a, &x, &y].map(|x| Buffer::from_slice(device, x).unwrap());
    let x_view = VecRef::new(&on_x, VectorLayout::dense(terms).stride(stride)).unwrap();
    let a_view = MatRef::new(&on_a, layout).unwrap();
    linalg::gemv(op, alpha.factor::<T>(), a_view, x_view, beta.factor::<T>(), &mut on_y).unwrap();
    let used = effective(alpha, terms);
    let expected: Vec<C64> = (0..rows)
        .map(|i| {
            let factors = (0..terms).map(|j| x[stride * j].to_complex());
            let sum = dot::<T>((0..terms).map(|j| entering(op, &layout, &a, i, j)), factors);
            used.added::<T>(sum, beta, y[i].to_complex())
        })
        .collect();
    assert_same::<T>(&what, &wide(&on_y.to_vec().unwrap()), &expected, keeps(alpha, beta, terms));

    // A = A + α x yᵀ or A + α x yᴴ.
    let conjugate = draw.one_in(2);
    let (x, y) = (draw.vector::<T>(m), draw.vector::<T>(n));
    let [on_x, on_y, mut on_a] = [&x, &y, &a].map(|x| Buffer::from_slice(device, x).unwrap());
    let target = MatMut::new(&mut on_a, layout).unwrap();
    let factor = alpha.factor::<T>();
    if conjugate {
        linalg::gerc(factor, &on_x, &on_y, target)
    } else {
        linalg::ger(factor, &on_x, &on_y, target)
    }
    .unwrap();
    let mut expected = wide(&a);
    for (i, x) in x.iter().enumerate().filter(|_| !alpha.is(0.0)) {
        for (j, y) in y.iter().enumerate() {
            let (x, y) = (x.to_complex(), y.to_complex());
            let y = if conjugate { y.conj() } else { y };
            // α multiplies the factor that a line of A has in common, as in the C interface.
            let (of_line, other) = if layout.order == Order::ColumnMajor { (y, x) } else { (x, y) };
            expected[layout.index(i, j)] += times::<T>(alpha.times::<T>(of_line), other);
        }
    }
    let what = format!("ger {conjugate} {m}x{n} {:?} {alpha:?} on {}", layout.order, device.label());
    assert_same::<T>(&what, &wide(&on_a.to_vec().unwrap()), &expected, alpha.is(0.0));
}

/// A product of matrices without gaps, and what it is by the definition.
struct Product<T> {
    ops: [Op; 2],
    extents: [usize; 3],
    layouts: [MatrixLayout; 3],
    scales: [Scale; 2],
    count: usize,
    matrices: [Vec<T>; 3],
}

impl<T: Arithmetic> Product<T> {
    fn new(draw: &mut Draw, ops: [Op; 2], extents: [usize; 3], orders: [Order; 3], count: usize) -> Self {
        let [m, n, k] = extents;
        let shapes = [ops[0].shape(m, k), ops[1].shape(k, n), (m, n)];
        let layouts = [0, 1, 2].map(|x| MatrixLayout::dense(orders[x], shapes[x].0, shapes[x].1));
        let scales = [draw.scale::<T>(), draw.scale::<T>()];
        let matrices = layouts.map(|layout| draw.vector::<T>(count * layout.rows * layout.columns));
        Self { ops, extents, layouts, scales, count, matrices }
    }

    fn what(&self, who: &str) -> String {
        let Self { ops, extents, scales, count, .. } = self;
        let orders = self.layouts.map(|layout| layout.order);
        format!("{count} gemm {ops:?} {extents:?} {orders:?} {scales:?} on {who}")
    }

    #[track_caller]
    fn assert(&self, who: &str, found: &[T]) {
        let [m, n, k] = self.extents;
        let [alpha, beta] = self.scales;
        let [a_layout, b_layout, c_layout] = self.layouts;
        let mut expected = wide(&self.matrices[2]);
        for number in 0..self.count {
            let [a, b] = [0, 1].map(|x| {
                let size = self.layouts[x].rows * self.layouts[x].columns;
                &self.matrices[x][number * size..(number + 1) * size]
            });
            for i in 0..m {
                for j in 0..n {
                    let sum = dot::<T>(
                        (0..k).map(|p| entering(self.ops[0], &a_layout, a, i, p)),
                        (0..k).map(|p| entering(self.ops[1], &b_layout, b, p, j)),
                    );
                    let c = &mut expected[number * m * n + c_layout.index(i, j)];
                    *c = effective(alpha, k).added::<T>(sum, beta, *c);
                }
            }
        }
        assert_same::<T>(&self.what(who), &wide(found), &expected, keeps(alpha, beta, k));
    }

    fn on_device(&self, device: &Device, params: &GemmParams) {
        let [a, b, c] = [0, 1, 2].map(|x| Buffer::from_slice(device, &self.matrices[x]).unwrap());
        let mut c = c;
        let size = |x: usize| self.layouts[x].rows * self.layouts[x].columns;
        let from = |x, buffer| MatRef::batch(buffer, self.layouts[x], self.count, size(x)).unwrap();
        let (a, b) = (from(0, &a), from(1, &b));
        let to = MatMut::batch(&mut c, self.layouts[2], self.count, size(2)).unwrap();
        let [alpha, beta] = self.scales.map(|scale| scale.factor::<T>());
        gemm_with(params, self.ops[0], self.ops[1], alpha, a, b, beta, to).unwrap();
        self.assert(&format!("{} {params:?}", device.label()), &c.to_vec().unwrap());
    }
}

fn products<T: Arithmetic>(device: &Device, draw: &mut Draw, number: usize) {
    let extents = [draw.extent(), draw.extent(), draw.extent()];
    let ops = [Op::ALL[number % 3], Op::ALL[number / 3 % 3]];
    let orders = [draw.order(), draw.order(), draw.order()];
    let count = draw.of(&[1, 1, 2]);
    Product::<T>::new(draw, ops, extents, orders, count).on_device(device, &GemmParams::default());
}

/// Every kernel of the product, uncut and with sums in parts.
fn kernels<T: Arithmetic>(device: &Device, draw: &mut Draw) {
    let depth = if size_of::<T>() == 4 { 16 } else { 8 };
    let registers = Registers {
        tile: [32, 32, depth],
        item: [4, 4],
        vector: 1,
        load: 1,
        pad: 1,
        band: 2,
        slices: 1,
        max_registers: None,
    };
    let lanes = 64 / size_of::<T::Real>();
    let panels = Panels { panel: [lanes, 4], block: [2 * lanes, 8, 16], lanes };
    let mut tunings = vec![
        GemmTuning::Global,
        GemmTuning::Local,
        GemmTuning::Panels(panels),
        GemmTuning::Registers(registers),
    ];
    if size_of::<T::Real>() == 8 {
        tunings.push(GemmTuning::Mma(SMALL_MMA));
    }
    for tuning in tunings {
        for parts in [1, 3] {
            for _ in 0..if small() { 1 } else { 8 } {
                let k = draw.of(if small() { &[20][..] } else { &[0, 20, 45, 150] });
                // In one form, as each is compiled anew.
                let orders = [Order::ColumnMajor; 3];
                let product = Product::<T>::new(draw, [Op::N; 2], [35, 9, k], orders, 1);
                let params = GemmParams::default().with_tuning(Some(tuning)).with_parts(Some(parts));
                product.on_device(device, &params);
            }
        }
    }
}

/// Whether an element belongs to the triangle.
fn within(triangle: Triangle, i: usize, j: usize) -> bool {
    if triangle == Triangle::Lower { i >= j } else { i <= j }
}

fn triangles<T: Arithmetic>(device: &Device, draw: &mut Draw, hermitian: bool) {
    let triangle = draw.of(&[Triangle::Lower, Triangle::Upper]);
    let conjugated = hermitian && T::IS_COMPLEX;
    let real_if = |is: bool, z: C64| if is { z.re.into() } else { z };

    let side = draw.of(&[Side::Left, Side::Right]);
    let (m, n) = (draw.extent(), draw.extent());
    let edge = if side == Side::Left { m } else { n };
    let [a_layout, b_layout, c_layout] = [(edge, edge), (m, n), (m, n)]
        .map(|(rows, columns)| MatrixLayout::dense(draw.order(), rows, columns));
    let (alpha, beta) = (draw.scale::<T>(), draw.scale::<T>());
    let [a, b, c] = [edge * edge, m * n, m * n].map(|len| draw.vector::<T>(len));
    let [on_a, on_b, mut on_c] = [&a, &b, &c].map(|x| Buffer::from_slice(device, x).unwrap());
    let (from_a, from_b) = (MatRef::new(&on_a, a_layout).unwrap(), MatRef::new(&on_b, b_layout).unwrap());
    let to = MatMut::new(&mut on_c, c_layout).unwrap();
    let (x, y) = (alpha.factor::<T>(), beta.factor::<T>());
    let multiply = if hermitian { linalg::hemm } else { linalg::symm };
    multiply(side, triangle, x, from_a, from_b, y, to).unwrap();
    let full = |i: usize, j: usize| {
        let (row, column) = if within(triangle, i, j) { (i, j) } else { (j, i) };
        let z = a[a_layout.index(row, column)].to_complex();
        real_if(conjugated && i == j, if conjugated && (row, column) != (i, j) { z.conj() } else { z })
    };
    let mut expected = wide(&c);
    for i in 0..m {
        for j in 0..n {
            let b = |i, j| entering(Op::N, &b_layout, &b, i, j);
            let sum = match side {
                Side::Left => dot::<T>((0..m).map(|p| full(i, p)), (0..m).map(|p| b(p, j))),
                Side::Right => dot::<T>((0..n).map(|p| b(i, p)), (0..n).map(|p| full(p, j))),
            };
            let c = &mut expected[c_layout.index(i, j)];
            *c = alpha.added::<T>(sum, beta, *c);
        }
    }
    let what =
        format!("symm {hermitian} {side:?} {triangle:?} {m}x{n} {alpha:?} {beta:?} on {}", device.label());
    assert_same::<T>(&what, &wide(&on_c.to_vec().unwrap()), &expected, keeps(alpha, beta, 1));

    let (n, k) = (draw.extent(), draw.extent());
    let op = match (draw.one_in(2), conjugated) {
        (true, _) => Op::N,
        (false, true) => Op::C,
        (false, false) => Op::T,
    };
    rank_k::<T>(device, draw, hermitian, triangle, op, [n, k]);
}

fn rank_k<T: Arithmetic>(
    device: &Device,
    draw: &mut Draw,
    hermitian: bool,
    triangle: Triangle,
    op: Op,
    [n, k]: [usize; 2],
) {
    let conjugated = hermitian && T::IS_COMPLEX;
    let (rows, columns) = op.shape(n, k);
    let (a_layout, c_layout) =
        (MatrixLayout::dense(draw.order(), rows, columns), MatrixLayout::dense(draw.order(), n, n));
    let (mut alpha, mut beta) = (draw.scale::<T>(), draw.scale::<T>());
    if hermitian {
        (alpha, beta) = [alpha, beta].map(|z| Scale { value: z.value.re.into(), real: true }).into();
    }
    let (a, c) = (draw.vector::<T>(n * k), draw.vector::<T>(n * n));
    let [on_a, mut on_c] = [&a, &c].map(|x| Buffer::from_slice(device, x).unwrap());
    let (from, to) = (MatRef::new(&on_a, a_layout).unwrap(), MatMut::new(&mut on_c, c_layout).unwrap());
    if hermitian {
        let [x, y] = [alpha, beta].map(|z| T::Real::from_f64(z.value.re));
        linalg::herk(triangle, op, x, from, y, to).unwrap();
    } else {
        linalg::syrk(triangle, op, alpha.factor::<T>(), from, beta.factor::<T>(), to).unwrap();
    }
    let used = effective(alpha, k);
    let untouched = used.is(0.0) && beta.is(1.0);
    let mut expected = wide(&c);
    for i in 0..n {
        for j in (0..n).filter(|&j| within(triangle, i, j) && !untouched) {
            let left = |i: usize, p: usize| entering(op, &a_layout, &a, i, p);
            let right = |p: usize, j: usize| if conjugated { left(j, p).conj() } else { left(j, p) };
            let sum = dot::<T>((0..k).map(|p| left(i, p)), (0..k).map(|p| right(p, j)));
            let diagonal = conjugated && i == j;
            let c = &mut expected[c_layout.index(i, j)];
            let [sum, old] = [sum, *c].map(|z| if diagonal { z.re.into() } else { z });
            let result = used.added::<T>(sum, beta, old);
            *c = if diagonal { result.re.into() } else { result };
        }
    }
    let what =
        format!("syrk {hermitian} {triangle:?} {op:?} {n} {k} {alpha:?} {beta:?} on {}", device.label());
    assert_same::<T>(&what, &wide(&on_c.to_vec().unwrap()), &expected, untouched);
}

fn everything<T: Arithmetic>() {
    for (gpu, list) in [(false, devices()), (true, taken_for_gpus())] {
        for device in list {
            let mut draw = Draw(Philox::new(21, 1, 0));
            for number in 0..if small() { 3 } else { 40 } {
                let len = if small() { draw.of(&[0, 1, 9]) } else { draw.of(&[0, 1, 2, 7, 33, 1000]) };
                vectors::<T>(&device, &mut draw, len);
                matrix_with_vector::<T>(&device, &mut draw, Op::ALL[number % 3]);
            }
            if gpu {
                continue;
            }
            for number in 0..if small() { 4 } else { 60 } {
                products::<T>(&device, &mut draw, number);
                triangles::<T>(&device, &mut draw, number % 2 == 0);
            }
            if !small() {
                // Blocks beside the diagonal.
                for _ in 0..4 {
                    rank_k::<T>(&device, &mut draw, false, Triangle::Lower, Op::N, [300, 3]);
                    rank_k::<T>(&device, &mut draw, true, Triangle::Upper, Op::N, [300, 3]);
                }
            }
            kernels::<T>(&device, &mut draw);
        }
    }
}

#[test]
fn single_real() {
    everything::<f32>();
}

#[test]
fn double_real() {
    everything::<f64>();
}

#[test]
fn single_complex() {
    everything::<Complex<f32>>();
}

#[test]
fn double_complex() {
    everything::<C64>();
}

#[test]
fn products_of_teams() {
    fn all<T: Arithmetic>() {
        for (name, team) in teams() {
            let mut draw = Draw(Philox::new(22, 1, 0));
            for number in 0..if small() { 3 } else { 24 } {
                let ops = [Op::ALL[number % 3], Op::ALL[number / 3 % 3]];
                let extents = [draw.of(&[0, 1, 70]), draw.of(&[0, 1, 9]), draw.of(&[0, 1, 12])];
                let orders = [draw.order(), draw.order(), draw.order()];
                let product = Product::<T>::new(&mut draw, ops, extents, orders, 1);
                let [alpha, beta] = product.scales.map(|scale| scale.factor::<T>());
                let [a, b] = [0, 1].map(|x| HostRef::new(&product.matrices[x], product.layouts[x]).unwrap());
                let mut c = product.matrices[2].clone();
                let params = SplitParams::default().with_rates(Some(vec![1.0; team.len()]));
                let to = HostMut::new(&mut c, product.layouts[2]).unwrap();
                split::gemm(&team, &params, ops[0], ops[1], alpha, a, b, beta, to).unwrap();
                product.assert(&format!("the team {name}"), &c);

                if team.is_host() || ops[0] != Op::N {
                    continue;
                }
                let mut shares = vec![0; team.len()];
                shares[0] = extents[0];
                let left = RowShards::upload(&team, &shares, a).unwrap();
                let right = Copies::upload(&team, b).unwrap();
                let mut c = product.matrices[2].clone();
                let old = HostRef::new(&product.matrices[2], product.layouts[2]).unwrap();
                let mut result = RowShards::upload(&team, &shares, old).unwrap();
                let params = GemmParams::default();
                split::gemm_resident(&params, ops[1], alpha, &left, &right, beta, &mut result).unwrap();
                result.download(HostMut::new(&mut c, product.layouts[2]).unwrap()).unwrap();
                product.assert(&format!("devices of the team {name}"), &c);
            }
        }
    }
    all::<f32>();
    all::<C64>();
}

/// Sums of squares beyond the range of double precision, of which the root is within.
#[test]
fn norms_neither_overflow_nor_underflow() {
    for device in devices().into_iter().chain(taken_for_gpus()) {
        let norm =
            |x: &[f64]| linalg::nrm2(&Buffer::from_slice(&device, x).unwrap()).unwrap().wait().unwrap();
        for (x, expected) in [
            (vec![3e200, 4e200], 5e200),
            (vec![3e-170, 4e-170], 5e-170),
            (vec![3e-162, 4e-162], 5e-162),
            (vec![1e200, 1e200], 2.0_f64.sqrt() * 1e200),
            (vec![1e308], 1e308),
            (vec![5e-324], 5e-324),
            (vec![1e200, 1.0, 5e-324], 1e200),
            (vec![1e-200; 10_000], 1e-198),
            (vec![1e200; 10_000], 1e202),
            ((0..999).map(|i| if i % 2 == 0 { 1e-160 } else { 0.0 }).collect(), 500.0_f64.sqrt() * 1e-160),
            ([vec![3e-5; 400], vec![1e-180; 700], vec![4e-5; 400]].concat(), 1e-3),
        ] {
            let found = norm(&x);
            let close = (found - expected).abs() <= 1e-14 * expected;
            assert!(close, "{}: {found:e} wanted {expected:e}", device.label());
            let x: Vec<C64> = x.iter().map(|&x| C64::new(0.0, -x)).collect();
            let found = linalg::nrm2(&Buffer::from_slice(&device, &x).unwrap()).unwrap().wait().unwrap();
            let close = (found - expected).abs() <= 1e-14 * expected;
            assert!(close, "{}: complex {found:e} wanted {expected:e}", device.label());
        }
        for other in [0.0, 1.0, 1e-300, 1e300] {
            assert_eq!(norm(&[other, f64::NEG_INFINITY]), f64::INFINITY, "{}", device.label());
            assert!(norm(&[f64::NAN, other]).is_nan(), "{}", device.label());
            assert!(norm(&[f64::INFINITY, other, f64::NAN]).is_nan(), "{}", device.label());
        }
        let small = Buffer::from_slice(&device, &[1e-45_f32, 3e38, -3e38]).unwrap();
        let expected = 2.0_f64.sqrt() * f64::from(3e38_f32);
        assert!((linalg::nrm2(&small).unwrap().wait().unwrap() / expected - 1.0).abs() < 1e-14);
    }
}

#[test]
fn factors_are_of_the_elements_or_of_their_real_type() {
    for device in devices() {
        let x = Buffer::from_slice(&device, &[1.0_f32, f32::NAN]).unwrap();
        let mut y = Buffer::from_slice(&device, &[1.0_f32, -0.0]).unwrap();
        // In single precision this is 0.
        linalg::axpy(1e-60, &x, &mut y).unwrap();
        let found = y.to_vec().unwrap();
        assert_eq!(found.iter().map(|y| y.to_bits()).collect::<Vec<_>>(), [1.0_f32, -0.0].map(f32::to_bits));
        linalg::scal(2.0_f32, &mut y).unwrap();
        linalg::scal(-3, &mut y).unwrap();
        assert_eq!(y.to_vec().unwrap(), [-6.0, 0.0]);
        let dot: f64 = linalg::dot(&y, &y).unwrap().wait().unwrap();
        assert_eq!(dot, 36.0);
        let mut z = Buffer::from_slice(&device, &[Complex::new(f64::INFINITY, 1.0)]).unwrap();
        linalg::scal(2.0, &mut z).unwrap();
        assert_eq!(z.to_vec().unwrap(), [Complex::new(f64::INFINITY, 2.0)], "as zdscal");
        linalg::scal(C64::new(1.0, 0.0), &mut z).unwrap();
        assert_eq!(z.to_vec().unwrap(), [Complex::new(f64::INFINITY, 2.0)], "1 multiplies nothing");
        linalg::scal(C64::new(2.0, 0.0), &mut z).unwrap();
        assert!(z.to_vec().unwrap()[0].im.is_nan(), "as zscal");
    }
}
