//! Matrices with vectors, and products with symmetric and Hermitian matrices, on every device here, against their host twins in double.
//!
//! As in the tests of the product, operands lie in larger buffers: around what is written nothing may change, and around what is read
//! there are NaNs. With `LATTICE_CL_TEST_SMALL=1` the matrices are tiny, for runs under a simulator.

use crate::common;

use common::{devices, small, taken_for_gpus, unit_roundoff};
use lattice_cl::compute::{Buffer, Device};
use lattice_cl::host::{self, Philox};
use lattice_cl::linalg::{
    self, MatMut, MatRef, MatrixLayout, Op, Order, Side, Triangle, VecMut, VecRef, VectorLayout,
};
use lattice_cl::scalar::Element;
use num_complex::Complex;

type C64 = Complex<f64>;

/// Numbers that look random.
struct Draw(Philox);

impl Draw {
    fn new(seed: u64) -> Self {
        Self(Philox::new(seed, 1, 0))
    }

    fn of<V: Copy>(&mut self, list: &[V]) -> V {
        list[self.0.next_u32() as usize % list.len()]
    }

    fn number<T: Element>(&mut self) -> T {
        let mut real = || f64::from(self.0.next_u32()) / f64::from(u32::MAX) - 0.5;
        let re = real();
        T::from_complex(C64::new(re, real()))
    }

    fn size(&mut self) -> usize {
        let all = [0, 1, 2, 3, 7, 31, 33, 64, 65, 127, 129, 257];
        self.of(if small() { &all[..7] } else { &all })
    }

    /// A factor, and the same in double.
    fn scalar<T: Element>(&mut self) -> (T, C64) {
        let (re, im) = self.of(&[(1.0, 0.0), (0.0, 0.0), (-0.75, 0.5), (2.0, 0.0), (0.5, -1.0)]);
        let factor = T::from_complex(C64::new(re, im));
        (factor, factor.to_complex())
    }

    /// A layout of these extents with gaps between lines.
    fn layout(&mut self, rows: usize, columns: usize) -> MatrixLayout {
        let dense = MatrixLayout::dense(self.of(&[Order::ColumnMajor, Order::RowMajor]), rows, columns);
        let leading_dimension = dense.leading_dimension + self.of(&[0, 1, 4]);
        dense.leading_dimension(leading_dimension).offset(self.of(&[0, 1, 6]))
    }
}

/// Elements of a buffer, and which of them belong to an operand: the number in the buffer of each, column after column.
struct Held<T> {
    elements: Vec<T>,
    places: Vec<usize>,
}

impl<T: Element> Held<T> {
    /// `around` fills the rest of the buffer.
    fn new(draw: &mut Draw, places: Vec<usize>, around: T) -> Self {
        let end = places.iter().max().map_or(0, |last| last + 1);
        let mut elements = vec![around; end + 9];
        places.iter().for_each(|&place| elements[place] = draw.number());
        Self { elements, places }
    }

    fn matrix(draw: &mut Draw, layout: &MatrixLayout, around: T) -> Self {
        let column = |j| (0..layout.rows).map(move |i| layout.index(i, j));
        Self::new(draw, (0..layout.columns).flat_map(column).collect(), around)
    }

    fn vector(draw: &mut Draw, layout: &VectorLayout, around: T) -> Self {
        Self::new(draw, (0..layout.len).map(|i| layout.offset + i * layout.stride).collect(), around)
    }

    fn set_all(&mut self, value: T) {
        self.places.iter().for_each(|&place| self.elements[place] = value);
    }

    fn wide(&self) -> Vec<C64> {
        self.places.iter().map(|&place| self.elements[place].to_complex()).collect()
    }

    /// Checks that nothing but the operand was written.
    #[track_caller]
    fn assert_surroundings(&self, what: &str, found: &[T]) {
        let mut found = found.to_vec();
        self.places.iter().for_each(|&place| found[place] = self.elements[place]);
        let same = found.iter().zip(&self.elements).all(|(f, e)| f == e || f.to_complex().is_nan());
        assert!(same, "{what}: written outside the operand");
    }
}

fn nan<T: Element>() -> T {
    T::from_complex(C64::new(f64::NAN, f64::NAN))
}

fn guard<T: Element>() -> T {
    T::from_complex((-7777.0).into())
}

fn norm(x: &[C64]) -> f64 {
    x.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt()
}

/// What the rounding of `terms` products of factors with these norms may make, and of β C.
struct Bound {
    terms: usize,
    product: f64,
    scaled: f64,
}

impl Bound {
    /// The reference is in double: its own error is allowed for.
    #[track_caller]
    fn assert<T: Element>(&self, what: &str, found: &[C64], expected: &[C64]) {
        let sum = ((self.terms + 2) as f64).sqrt() * self.product + 2.0 * self.scaled;
        let bound = 2.0 * 2.0 * 2.0_f64.sqrt() * unit_roundoff::<T::Real>() * sum;
        let difference: Vec<C64> = found.iter().zip(expected).map(|(f, e)| f - e).collect();
        let error = norm(&difference);
        assert!(error <= bound, "{what}: error {error:.2e}, at most {bound:.2e} allowed");
    }
}

/// Element (i, j) of op(X) for X of so many rows, column after column.
fn entering(op: Op, rows: usize, x: &[C64], i: usize, j: usize) -> C64 {
    match op {
        Op::N => x[i + j * rows],
        Op::T => x[j + i * rows],
        Op::C => x[j + i * rows].conj(),
    }
}

fn matrix_times_vector<T: Element>(device: &Device, draw: &mut Draw, op: Op, [rows, columns]: [usize; 2]) {
    let layout = draw.layout(rows, columns);
    let (len, terms) = op.shape(rows, columns);
    let vector =
        |draw: &mut Draw, len| VectorLayout::dense(len).stride(draw.of(&[1, 1, 3])).offset(draw.of(&[0, 5]));
    let (x_layout, y_layout) = (vector(draw, terms), vector(draw, len));
    let ((alpha_factor, alpha), (beta_factor, beta)) = (draw.scalar::<T>(), draw.scalar::<T>());
    let mut a = Held::matrix(draw, &layout, nan::<T>());
    // The buffer ends where A does: a simulator sees what is read behind it.
    a.elements.truncate(a.places.iter().max().map_or(layout.offset, |last| last + 1));
    let mut x = Held::vector(draw, &x_layout, nan());
    let mut y = Held::vector(draw, &y_layout, guard());
    if alpha == C64::default() {
        a.set_all(nan());
        x.set_all(nan());
    }
    if beta == C64::default() {
        y.set_all(nan());
    }
    let what =
        format!("gemv {op:?} {layout:?} {x_layout:?} {y_layout:?} {alpha} {beta} on {}", device.label());
    let [a_buffer, x_buffer] = [&a, &x].map(|held| Buffer::from_slice(device, &held.elements).unwrap());
    let mut y_buffer = Buffer::from_slice(device, &y.elements).unwrap();
    let completion = linalg::gemv(
        op,
        alpha_factor,
        MatRef::new(&a_buffer, layout).unwrap(),
        VecRef::new(&x_buffer, x_layout).unwrap(),
        beta_factor,
        VecMut::new(&mut y_buffer, y_layout).unwrap(),
    );
    completion.unwrap().wait().unwrap();
    let found = y_buffer.to_vec().unwrap();
    y.assert_surroundings(&what, &found);
    let (wide_a, wide_x, old) = (a.wide(), x.wide(), y.wide());
    let mut expected = old.clone();
    host::level2::gemv(alpha, |i, j| entering(op, rows, &wide_a, i, j), &wide_x, beta, &mut expected);
    y.elements = found;
    let product = if alpha == C64::default() { 0.0 } else { alpha.norm() * norm(&wide_a) * norm(&wide_x) };
    let scaled = if beta == C64::default() { 0.0 } else { beta.norm() * norm(&old) };
    Bound { terms, product, scaled }.assert::<T>(&what, &y.wide(), &expected);
}

fn rank_one_update<T: Element>(
    device: &Device,
    draw: &mut Draw,
    conjugate: bool,
    [rows, columns]: [usize; 2],
) {
    let layout = draw.layout(rows, columns);
    let vector =
        |draw: &mut Draw, len| VectorLayout::dense(len).stride(draw.of(&[1, 2])).offset(draw.of(&[0, 5]));
    let (x_layout, y_layout) = (vector(draw, rows), vector(draw, columns));
    let (alpha_factor, alpha) = draw.scalar::<T>();
    let (x, y) = (Held::vector(draw, &x_layout, nan::<T>()), Held::vector(draw, &y_layout, nan::<T>()));
    let mut a = Held::matrix(draw, &layout, guard::<T>());
    let what = format!("ger {conjugate} {layout:?} {x_layout:?} {y_layout:?} {alpha} on {}", device.label());
    let [x_buffer, y_buffer] = [&x, &y].map(|held| Buffer::from_slice(device, &held.elements).unwrap());
    let mut a_buffer = Buffer::from_slice(device, &a.elements).unwrap();
    let (from_x, from_y) =
        (VecRef::new(&x_buffer, x_layout).unwrap(), VecRef::new(&y_buffer, y_layout).unwrap());
    let to = MatMut::new(&mut a_buffer, layout).unwrap();
    let started = if conjugate {
        linalg::gerc(alpha_factor, from_x, from_y, to)
    } else {
        linalg::ger(alpha_factor, from_x, from_y, to)
    };
    started.unwrap().wait().unwrap();
    let found = a_buffer.to_vec().unwrap();
    a.assert_surroundings(&what, &found);
    let (wide_x, mut wide_y, old) = (x.wide(), y.wide(), a.wide());
    if conjugate {
        wide_y.iter_mut().for_each(|z| *z = z.conj());
    }
    let mut expected = old.clone();
    host::level2::ger(alpha, &wide_x, &wide_y, &mut expected);
    a.elements = found;
    let bound = Bound { terms: 1, product: alpha.norm() * norm(&wide_x) * norm(&wide_y), scaled: norm(&old) };
    bound.assert::<T>(&what, &a.wide(), &expected);
}

/// Whether an element belongs to the triangle.
fn within(triangle: Triangle, i: usize, j: usize) -> bool {
    if triangle == Triangle::Lower { i >= j } else { i <= j }
}

fn one_factor_symmetric<T: Element>(
    device: &Device,
    draw: &mut Draw,
    hermitian: bool,
    [rows, columns]: [usize; 2],
) {
    let (side, triangle) =
        (draw.of(&[Side::Left, Side::Right]), draw.of(&[Triangle::Lower, Triangle::Upper]));
    let n = if side == Side::Left { rows } else { columns };
    let (a_layout, b_layout, c_layout) =
        (draw.layout(n, n), draw.layout(rows, columns), draw.layout(rows, columns));
    let ((alpha_factor, alpha), (beta_factor, beta)) = (draw.scalar::<T>(), draw.scalar::<T>());
    let mut a = Held::matrix(draw, &a_layout, nan::<T>());
    let b = Held::matrix(draw, &b_layout, nan::<T>());
    let mut c = Held::matrix(draw, &c_layout, guard::<T>());
    let stored = a.wide();
    let full = |i: usize, j: usize| match within(triangle, i, j) {
        true if hermitian && i == j => stored[i + j * n].re.into(),
        true => stored[i + j * n],
        false if hermitian => stored[j + i * n].conj(),
        false => stored[j + i * n],
    };
    // The other triangle is not read.
    for j in 0..n {
        for i in (0..n).filter(|&i| !within(triangle, i, j)) {
            a.elements[a_layout.index(i, j)] = nan();
        }
    }
    if beta == C64::default() {
        c.set_all(nan());
    }
    let what = format!(
        "symm {hermitian} {side:?} {triangle:?} {a_layout:?} {b_layout:?} {c_layout:?} {alpha} {beta}"
    );
    let [a_buffer, b_buffer] = [&a, &b].map(|held| Buffer::from_slice(device, &held.elements).unwrap());
    let mut c_buffer = Buffer::from_slice(device, &c.elements).unwrap();
    let (from_a, from_b) =
        (MatRef::new(&a_buffer, a_layout).unwrap(), MatRef::new(&b_buffer, b_layout).unwrap());
    let to = MatMut::new(&mut c_buffer, c_layout).unwrap();
    let started = if hermitian {
        linalg::hemm(side, triangle, alpha_factor, from_a, from_b, beta_factor, to)
    } else {
        linalg::symm(side, triangle, alpha_factor, from_a, from_b, beta_factor, to)
    };
    started.unwrap().wait().unwrap();
    let found = c_buffer.to_vec().unwrap();
    c.assert_surroundings(&what, &found);
    let (wide_b, old) = (b.wide(), c.wide());
    let b_element = |i: usize, j: usize| wide_b[i + j * rows];
    let mut expected = old.clone();
    match side {
        Side::Left => host::gemm::gemm(n, alpha, full, b_element, beta, &mut expected, rows),
        Side::Right => host::gemm::gemm(n, alpha, b_element, full, beta, &mut expected, rows),
    }
    c.elements = found;
    let product = alpha.norm() * 2.0 * norm(&stored) * norm(&wide_b);
    let scaled = if beta == C64::default() { 0.0 } else { beta.norm() * norm(&old) };
    Bound { terms: n, product, scaled }.assert::<T>(&what, &c.wide(), &expected);
}

fn symmetric_result<T: Element>(device: &Device, draw: &mut Draw, hermitian: bool, [n, terms]: [usize; 2]) {
    let conjugated = hermitian && T::IS_COMPLEX;
    let (triangle, transposed) = (draw.of(&[Triangle::Lower, Triangle::Upper]), draw.of(&[false, true]));
    let op = match (transposed, conjugated) {
        (false, _) => Op::N,
        (true, true) => Op::C,
        (true, false) => Op::T,
    };
    let (a_rows, a_columns) = op.shape(n, terms);
    let (a_layout, c_layout) = (draw.layout(a_rows, a_columns), draw.layout(n, n));
    let ((alpha_factor, mut alpha), (beta_factor, mut beta)) = (draw.scalar::<T>(), draw.scalar::<T>());
    if hermitian {
        (alpha, beta) = (alpha.re.into(), beta.re.into());
    }
    let a = Held::matrix(draw, &a_layout, nan::<T>());
    let mut c = Held::matrix(draw, &c_layout, guard::<T>());
    // Only the triangle counts as the operand.
    let places =
        |j: usize| (0..n).filter(move |&i| within(triangle, i, j)).map(move |i| c_layout.index(i, j));
    c.places = (0..n).flat_map(places).collect();
    if beta == C64::default() {
        c.set_all(nan());
    }
    if conjugated {
        // Nobody looks at these.
        (0..n).for_each(|i| {
            let place = &mut c.elements[c_layout.index(i, i)];
            *place = T::from_complex(C64::new(place.to_complex().re, f64::NAN));
        });
    }
    let what = format!("syrk {hermitian} {triangle:?} {op:?} {a_layout:?} {c_layout:?} {alpha} {beta}");
    let a_buffer = Buffer::from_slice(device, &a.elements).unwrap();
    let mut c_buffer = Buffer::from_slice(device, &c.elements).unwrap();
    let (from, to) =
        (MatRef::new(&a_buffer, a_layout).unwrap(), MatMut::new(&mut c_buffer, c_layout).unwrap());
    let started = if hermitian {
        linalg::herk(triangle, op, alpha_factor.real_part(), from, beta_factor.real_part(), to)
    } else {
        linalg::syrk(triangle, op, alpha_factor, from, beta_factor, to)
    };
    started.unwrap().wait().unwrap();
    let found = c_buffer.to_vec().unwrap();
    c.assert_surroundings(&what, &found);

    let wide_a = a.wide();
    let left = |i: usize, p: usize| entering(op, a_rows, &wide_a, i, p);
    let right = |p: usize, j: usize| if conjugated { left(j, p).conj() } else { left(j, p) };
    let all = (0..n).flat_map(|j| (0..n).map(move |i| (i, j))).filter(|&(i, j)| within(triangle, i, j));
    // Where there is nothing to do, not even the diagonal becomes real.
    let untouched = (terms == 0 || alpha == C64::default()) && beta == C64::from(1.0);
    let counts = |((i, j), old): ((usize, usize), C64)| {
        if conjugated && i == j && !untouched { old.re.into() } else { old }
    };
    let old: Vec<C64> = all.clone().zip(c.wide()).map(counts).collect();
    let mut product = vec![C64::default(); n * n];
    host::gemm::gemm(terms, alpha, left, right, 0, &mut product, n);
    if untouched {
        let same = c.places.iter().all(|&place| {
            let [f, e] = [found[place], c.elements[place]].map(|z| z.to_complex());
            f.re == e.re && (f.im == e.im || f.im.is_nan() && e.im.is_nan())
        });
        return assert!(same, "{what}");
    }
    let expected: Vec<C64> = all
        .zip(&old)
        .map(|((i, j), old)| {
            let kept = if beta == C64::default() { C64::default() } else { beta * old };
            let sum = product[i + j * n] + kept;
            if conjugated && i == j { sum.re.into() } else { sum }
        })
        .collect();
    c.elements = found;
    let scaled = if beta == C64::default() { 0.0 } else { beta.norm() * norm(&old) };
    Bound { terms, product: alpha.norm() * norm(&wide_a).powi(2), scaled }.assert::<T>(
        &what,
        &c.wide(),
        &expected,
    );
}

fn all_operations<T: Element>() {
    for device in devices() {
        let mut draw = Draw::new(3);
        for number in 0..if small() { 6 } else { 48 } {
            let extents = [draw.size(), draw.size()];
            matrix_times_vector::<T>(&device, &mut draw, Op::ALL[number % 3], extents);
            rank_one_update::<T>(&device, &mut draw, number % 2 == 0, extents);
            one_factor_symmetric::<T>(&device, &mut draw, number % 2 == 0, extents);
            symmetric_result::<T>(&device, &mut draw, number % 2 == 0, extents);
        }
        if !small() {
            // Few rows or few columns: sums in parts. And more than one block along a diagonal.
            for op in Op::ALL {
                matrix_times_vector::<T>(&device, &mut draw, op, [5, 20_011]);
                matrix_times_vector::<T>(&device, &mut draw, op, [20_011, 3]);
            }
            symmetric_result::<T>(&device, &mut draw, true, [769, 17]);
            symmetric_result::<T>(&device, &mut draw, false, [530, 33]);
        }
    }
    for device in taken_for_gpus() {
        let mut draw = Draw::new(4);
        for number in 0..if small() { 6 } else { 48 } {
            let extents = [draw.size(), draw.size()];
            matrix_times_vector::<T>(&device, &mut draw, Op::ALL[number % 3], extents);
            rank_one_update::<T>(&device, &mut draw, number % 2 == 0, extents);
        }
        if !small() {
            // Sums in parts of several rounds.
            for extents in [[5, 3011], [131, 1031], [2011, 3]] {
                matrix_times_vector::<T>(&device, &mut draw, Op::N, extents);
                matrix_times_vector::<T>(&device, &mut draw, Op::C, extents);
            }
        }
    }
}

/// Devices have limits of their own for the second and third dimension of a launch.
#[test]
fn many_columns_and_many_products() {
    if small() {
        return;
    }
    const COLUMNS: usize = 1_048_579 + 16;
    const PRODUCTS: usize = 65_539;
    for device in devices() {
        let label = device.label();
        rank_one_update::<f64>(&device, &mut Draw::new(5), false, [1, COLUMNS]);

        // C = β C, as there are no terms; then C = A B, with one term.
        let numbers: Vec<f64> = (0..COLUMNS).map(|k| k as f64).collect();
        let mut c = Buffer::from_slice(&device, &numbers).unwrap();
        let b = Buffer::from_slice(&device, &numbers).unwrap();
        let a = Buffer::from_slice(&device, &[3.0]).unwrap();
        let shape = |rows, columns| MatrixLayout::column_major(rows, columns);
        for (terms, beta, factor) in [(0, 2.0, 2.0), (1, 0.0, 3.0)] {
            let left = MatRef::new(&a, shape(1, terms)).unwrap();
            let right = MatRef::new(&b, shape(terms, COLUMNS)).unwrap();
            let result = MatMut::new(&mut c, shape(1, COLUMNS)).unwrap();
            linalg::gemm(Op::N, Op::N, 1.0, left, right, beta, result).unwrap().wait().unwrap();
            let wrong =
                c.to_vec().unwrap().iter().zip(&numbers).position(|(c, number)| *c != factor * number);
            assert_eq!(wrong, None, "{label}: {terms} terms");
        }

        let left = MatRef::batch(&b, shape(1, 2), PRODUCTS, 2).unwrap();
        let right = MatRef::batch(&b, shape(2, 1), PRODUCTS, 0).unwrap();
        let result = MatMut::batch(&mut c, shape(1, 1), PRODUCTS, 1).unwrap();
        linalg::gemm(Op::N, Op::N, 1.0, left, right, 0.0, result).unwrap().wait().unwrap();
        // Of (2k, 2k + 1) and (0, 1).
        let wrong =
            c.to_vec().unwrap()[..PRODUCTS].iter().zip(0..).position(|(c, k)| *c != f64::from(2 * k + 1));
        assert_eq!(wrong, None, "{label}: batch");
    }
}

#[test]
fn single_real() {
    all_operations::<f32>();
}

#[test]
fn double_real() {
    all_operations::<f64>();
}

#[test]
fn single_complex() {
    all_operations::<Complex<f32>>();
}

#[test]
fn double_complex() {
    all_operations::<C64>();
}

#[test]
fn wrong_calls_say_what_is_wrong() {
    let device = devices().swap_remove(0);
    let buffer = Buffer::<C64>::zeroed(&device, 64).unwrap();
    let mut result = Buffer::<C64>::zeroed(&device, 64).unwrap();
    let dense = MatrixLayout::column_major;
    let view = |rows, columns| MatRef::new(&buffer, dense(rows, columns)).unwrap();
    let vector = |len| VecRef::new(&buffer, VectorLayout::dense(len)).unwrap();
    macro_rules! c {
        ($rows:expr, $columns:expr) => {
            MatMut::new(&mut result, dense($rows, $columns)).unwrap()
        };
    }
    let batch = MatRef::batch(&buffer, dense(3, 4), 2, 12).unwrap();
    let mut y = Buffer::<C64>::zeroed(&device, 3).unwrap();
    let messages = [
        linalg::gemv(Op::N, 1.0, view(3, 4), vector(3), 0.0, &mut y).unwrap_err(),
        linalg::gemv(Op::C, 1.0, view(3, 4), vector(4), 0.0, &mut y).unwrap_err(),
        linalg::gemv(Op::N, 1.0, batch, vector(4), 0.0, &mut y).unwrap_err(),
        linalg::ger(1.0, vector(3), vector(5), c!(3, 4)).unwrap_err(),
        linalg::symm(Side::Left, Triangle::Lower, 1.0, view(3, 4), view(3, 4), 0.0, c!(3, 4)).unwrap_err(),
        linalg::hemm(Side::Right, Triangle::Lower, 1.0, view(3, 3), view(3, 4), 0.0, c!(3, 4)).unwrap_err(),
        linalg::syrk(Triangle::Upper, Op::T, 1.0, view(3, 5), 0.0, c!(4, 4)).unwrap_err(),
        linalg::syrk(Triangle::Upper, Op::C, 1.0, view(3, 4), 0.0, c!(4, 4)).unwrap_err(),
        linalg::herk(Triangle::Upper, Op::T, 1.0, view(3, 4), 0.0, c!(4, 4)).unwrap_err(),
        VecRef::new(&buffer, VectorLayout::dense(8).stride(9).offset(1)).unwrap_err(),
        VecRef::new(&buffer, VectorLayout::dense(8).stride(0)).unwrap_err(),
    ];
    let expected = [
        "gemv: A must have 3 columns (as x has elements), 4 found",
        "gemv: Aᴴ must have 3 rows (as y has elements), 4 found",
        "gemv works on one matrix, a batch of 2 was given",
        "ger: y must have 4 elements (as A has columns), 5 found",
        "symm: A must be square, 3×4 found",
        "hemm: A must have 4 columns (as C has), 3 found",
        "syrk: op(A) must have 4 rows (as C has), 5 found",
        "syrk: op must be N or T; herk takes C, C found",
        "herk: op must be N or C; syrk takes T, T found",
        "a vector of 8 elements with stride 9 and offset 1 ends at element 65, but the buffer has 64 elements",
        "a vector of 8 elements has stride 0",
    ];
    for (message, expected) in messages.iter().zip(expected) {
        assert!(message.to_string().starts_with(expected), "{message}\nwanted: {expected}");
    }
}
