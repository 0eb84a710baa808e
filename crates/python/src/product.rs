//! Products of matrices over a team.

use super::devices::DevicesArgument;
use super::failure::{Raised, invalid};
use super::numbers::array;
use super::work::{self, Exchange, News};
use lattice_cl::compute::Team;
use lattice_cl::linalg::split::{self, HostMut, HostRef, SplitParams, SplitReport, SplitWatch};
use lattice_cl::linalg::{BlasError, MatrixLayout, Op};
use num_complex::{Complex32, Complex64};
use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::ops::{Add, Mul, Range, Sub};
use std::time::Duration;

/// Rows that the host computes between two looks at the wish to stop.
const ROWS: usize = 64;

/// A device's share of a product.
///
/// The fields are name, rate, planned rows, rows, and seconds until the device was done.
type Share = (String, f64, usize, usize, f64);

/// A product, and how it was computed.
///
/// The fields are the matrix, a flag, the seconds, and the shares. The flag tells whether columns
/// were shared.
type Product = (Py<PyAny>, bool, f64, Vec<Share>);

/// Multiplies two matrices of one type, each contiguous in either order.
#[pyfunction]
#[pyo3(signature = (a, b, team, progress))]
pub fn gemm(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    team: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Product> {
    let wanted = DevicesArgument::of(team)?;
    let team = work::run(py, None, move |_| wanted.open())?.map_err(|error| error.raised(py))?;
    let name: String = a.getattr("dtype")?.getattr("name")?.extract()?;
    match name.as_str() {
        "float32" => product::<f32>(a, b, &team, progress),
        "float64" => product::<f64>(a, b, &team, progress),
        "complex64" => product::<Complex32>(a, b, &team, progress),
        "complex128" => product::<Complex64>(a, b, &team, progress),
        other => Err(invalid(py, format!("matrices of {other} are not multiplied"))),
    }
}

/// The numbers that are multiplied.
trait Factor:
    lattice_cl::Element + numpy::Element + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
}

impl<T> Factor for T where
    T: lattice_cl::Element + numpy::Element + Add<Output = T> + Sub<Output = T> + Mul<Output = T>
{
}

fn product<T: Factor>(
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    team: &Team,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Product> {
    let py = a.py();
    let (a, b) = (a.cast::<PyArray2<T>>()?.try_readonly()?, b.cast::<PyArray2<T>>()?.try_readonly()?);
    let (m, n) = (a.shape()[0], b.shape()[1]);
    let (a, b) = (Matrix::of(&a)?, Matrix::of(&b)?);
    let mut c = vec![T::default(); m * n];
    let done = work::run_borrowing(py, progress, |exchange| match team.is_host() {
        true => on_host(a, b, (m, n), &mut c, exchange),
        false => on_team(team, a, b, (m, n), &mut c, exchange),
    })?;
    let SplitReport { by_columns, shares, wall } = done.map_err(|error| error.raised(py))?;
    let share = |share: split::Share| {
        (share.device, share.rate, share.planned_rows, share.rows, share.done.as_secs_f64())
    };
    Ok((array(py, c, vec![m, n])?, by_columns, wall.as_secs_f64(), shares.into_iter().map(share).collect()))
}

/// A matrix of numpy in its own order.
#[derive(Clone, Copy)]
struct Matrix<'a, T> {
    elements: &'a [T],
    layout: MatrixLayout,
}

impl<'a, T: Factor> Matrix<'a, T> {
    fn of(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<Self> {
        let (rows, columns) = (array.shape()[0], array.shape()[1]);
        let layout = match array.is_c_contiguous() {
            true => MatrixLayout::row_major(rows, columns),
            false => MatrixLayout::column_major(rows, columns),
        };
        Ok(Self { elements: array.as_slice()?, layout })
    }

    fn whole(self) -> Result<HostRef<'a, T>, BlasError> {
        HostRef::new(self.elements, self.layout)
    }

    fn rows(self, rows: Range<usize>) -> Result<HostRef<'a, T>, BlasError> {
        HostRef::new(self.elements, self.layout.submatrix(rows, 0..self.layout.columns)?)
    }
}

fn news(written: usize, elements: usize) -> News {
    let done = written as f64 / elements.max(1) as f64;
    News { label: "product".to_owned(), done, iterations: None, residual: None }
}

fn on_team<T: Factor>(
    team: &Team,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    (m, n): (usize, usize),
    c: &mut [T],
    exchange: &Exchange,
) -> Result<SplitReport, BlasError> {
    let to = HostMut::new(c, MatrixLayout::row_major(m, n))?;
    let (a, b) = (a.whole()?, b.whole()?);
    let tell = |written: usize| {
        exchange.tell(news(written, m * n));
        !exchange.is_to_stop()
    };
    let watch = SplitWatch(&tell);
    split::gemm_watched(team, &SplitParams::default(), watch, [Op::N, Op::N], 1, a, b, 0, to)
}

/// Computes by the definition, some rows at a time.
fn on_host<T: Factor>(
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    (m, n): (usize, usize),
    c: &mut [T],
    exchange: &Exchange,
) -> Result<SplitReport, BlasError> {
    let (host, b, mut wall) = (Team::host(), b.whole()?, Duration::ZERO);
    for (piece, c) in c.chunks_mut((ROWS * n).max(1)).enumerate() {
        let first = ROWS * piece;
        let rows = first..(first + ROWS).min(m);
        let to = HostMut::new(c, MatrixLayout::row_major(rows.len(), n))?;
        let a = a.rows(rows.clone())?;
        let params = SplitParams::default();
        wall += split::gemm(&host, &params, Op::N, Op::N, 1, a, b, 0, to)?.wall;
        exchange.tell(news(rows.end * n, m * n));
        if exchange.is_to_stop() {
            break;
        }
    }
    Ok(SplitReport { by_columns: false, shares: Vec::new(), wall })
}
