//! What the tests of this crate share: devices, and operands in larger buffers.
//!
//! Around what is written nothing may change. Around what is read there are NaNs.
#![allow(dead_code)]

use lattice_compute::philox::Philox;
use lattice_compute::scalar::{Element, Precision, Real};
use lattice_compute::{CacheMode, Device, DeviceOptions, DiscoveredDevice, TuningMode, discover};
use lattice_linalg::{MatrixLayout, Op, Order};
use num_complex::Complex;
use std::io::Write;

pub type C64 = Complex<f64>;

/// Says loudly that a test leaves something out.
pub fn skipped(why: &str) {
    // Not by a macro: the test harness would keep that to itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// True if the tests run under a simulator and must be tiny (`LATTICE_CL_TEST_SMALL=1`).
pub fn small() -> bool {
    std::env::var_os("LATTICE_CL_TEST_SMALL").is_some_and(|v| !v.is_empty() && v != "0")
}

fn usable() -> Vec<DiscoveredDevice> {
    let mut devices = discover().devices;
    devices.retain(|found| found.info.fp64);
    assert!(!devices.is_empty(), "no OpenCL device with double precision; run scripts/setup-opencl.sh");
    devices
}

fn open(found: &DiscoveredDevice) -> Device {
    let options = DeviceOptions::default().with_cache(CacheMode::Off).with_tuning(TuningMode::Shipped);
    Device::open(found, &options).expect("a discovered device opens")
}

/// Every device here with double precision.
pub fn devices() -> Vec<Device> {
    usable().iter().map(open).collect()
}

/// The sizes of matrices, multiples of nothing among them.
pub fn sizes() -> &'static [usize] {
    if small() { &[0, 1, 2, 3, 5, 33] } else { &[0, 1, 2, 3, 5, 16, 31, 64, 65, 127, 129, 250] }
}

/// The largest ratio of a test. LAPACK's own bound is 30.
pub const MOST: f64 = 10.0;

#[track_caller]
pub fn expect_ratio(what: &str, error: f64, bound: f64) {
    assert!(error <= MOST * bound, "{what}: ratio {}", error / bound);
}

/// The identity of `n` rows, column after column.
pub fn identity(n: usize) -> Vec<C64> {
    (0..n * n).map(|k| if k % n.max(1) == k / n.max(1) { 1.0.into() } else { C64::default() }).collect()
}

/// Numbers that look random.
pub struct Draw(Philox);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(Philox::new(seed, 1, 0))
    }

    pub fn of<V: Copy>(&mut self, list: &[V]) -> V {
        list[self.0.next_u32() as usize % list.len()]
    }

    /// A number between −1 and 1.
    pub fn real(&mut self) -> f64 {
        2.0 * f64::from(self.0.next_u32()) / f64::from(u32::MAX) - 1.0
    }

    pub fn number<T: Element>(&mut self) -> T {
        let re = self.real();
        T::from_complex(C64::new(re, self.real()))
    }

    /// A layout of these extents with gaps between lines.
    pub fn layout(&mut self, rows: usize, columns: usize) -> MatrixLayout {
        let dense = MatrixLayout::dense(self.of(&[Order::ColumnMajor, Order::RowMajor]), rows, columns);
        let leading_dimension = dense.leading_dimension + self.of(&[0, 1, 4]);
        dense.leading_dimension(leading_dimension).offset(self.of(&[0, 1, 6]))
    }
}

/// Elements of a buffer, and which of them belong to an operand.
#[derive(Clone)]
pub struct Held<T> {
    pub elements: Vec<T>,
    pub layout: MatrixLayout,
    /// `true` for the elements (i, j) of the operand.
    belongs: fn(usize, usize) -> bool,
}

impl<T: Element> Held<T> {
    /// Fills an operand by its definition. `around` fills the rest of the buffer.
    pub fn new(
        layout: MatrixLayout,
        around: T,
        belongs: fn(usize, usize) -> bool,
        mut element: impl FnMut(usize, usize) -> T,
    ) -> Self {
        let last = |n: usize| n.saturating_sub(1);
        let end = layout.index(last(layout.rows), last(layout.columns)) + 1;
        let mut held = Self { elements: vec![around; end + 7], layout, belongs };
        for (i, j) in held.places() {
            held.elements[layout.index(i, j)] = element(i, j);
        }
        held
    }

    /// The rows and columns of the operand, column after column.
    pub fn places(&self) -> Vec<(usize, usize)> {
        let MatrixLayout { rows, columns, .. } = self.layout;
        let all = (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j)));
        all.filter(|&(i, j)| (self.belongs)(i, j)).collect()
    }

    /// The elements in double, column after column, with zeros where nothing belongs to the operand.
    pub fn wide(&self) -> Vec<C64> {
        let mut wide = vec![C64::default(); self.layout.rows * self.layout.columns];
        for (i, j) in self.places() {
            wide[i + j * self.layout.rows] = self.elements[self.layout.index(i, j)].to_complex();
        }
        wide
    }

    /// Takes what a device has written, and checks that nothing but the operand was.
    #[track_caller]
    pub fn take(&mut self, what: &str, found: Vec<T>) {
        let mut outside = found.clone();
        for (i, j) in self.places() {
            let place = self.layout.index(i, j);
            outside[place] = self.elements[place];
        }
        let same = outside.iter().zip(&self.elements).all(|(f, e)| f == e || f.to_complex().is_nan());
        assert!(same, "{what}: written outside the operand");
        self.elements = found;
    }
}

pub fn everywhere(_: usize, _: usize) -> bool {
    true
}

pub fn in_lower(i: usize, j: usize) -> bool {
    i >= j
}

pub fn in_upper(i: usize, j: usize) -> bool {
    i <= j
}

pub fn nan<T: Element>() -> T {
    T::from_complex(C64::new(f64::NAN, f64::NAN))
}

pub fn guard<T: Element>() -> T {
    T::from_complex((-7777.0).into())
}

/// The distance from 1 to the next number.
pub fn epsilon<T: Element>() -> f64 {
    match T::Real::PRECISION {
        Precision::Single => f32::EPSILON.into(),
        Precision::Double => f64::EPSILON,
    }
}

/// The largest sum of sizes in a column.
pub fn norm1(x: &[C64], rows: usize) -> f64 {
    let columns = x.chunks(rows.max(1)).map(|column| column.iter().map(|z| z.norm()).sum::<f64>());
    // A NaN must not get lost.
    columns.fold(0.0, |largest, sum| if sum > largest || sum.is_nan() { sum } else { largest })
}

/// op(X) for X of so many rows, column after column.
pub fn entering(op: Op, rows: usize, x: &[C64]) -> Vec<C64> {
    if op == Op::N || rows == 0 {
        return x.to_vec();
    }
    let columns = x.len() / rows;
    let element = |k: usize| {
        let z = x[k / columns + k % columns * rows];
        if op == Op::C { z.conj() } else { z }
    };
    (0..x.len()).map(element).collect()
}

/// A B, A of so many rows.
pub fn product(a: &[C64], rows: usize, b: &[C64], inner: usize) -> Vec<C64> {
    let columns = b.len().checked_div(inner).unwrap_or(0);
    let mut c = vec![C64::default(); rows * columns];
    if !c.is_empty() {
        lattice_linalg::host::gemm::gemm(
            inner,
            1,
            |i, p| a[i + p * rows],
            |p, j| b[p + j * inner],
            0,
            &mut c,
            rows,
        );
    }
    c
}

pub fn difference(a: &[C64], b: &[C64]) -> Vec<C64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Runs a test for all four types of elements.
#[macro_export]
macro_rules! for_all_elements {
    ($test:ident ( $($argument:expr),* )) => {{
        $test::<f32>($($argument),*);
        $test::<f64>($($argument),*);
        $test::<num_complex::Complex<f32>>($($argument),*);
        $test::<num_complex::Complex<f64>>($($argument),*);
    }};
}
