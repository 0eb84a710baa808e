//! Factorisations of matrices on a device.

use super::array::{Array, Elements, copied};
use super::devices::DevicesArgument;
use super::failure::{Raised, invalid, raised};
use super::numbers::{array, contiguous};
use super::work;
use lattice_cl::compute::{Buffer, Device};
use lattice_cl::linalg::factor::{self, Determinant};
use lattice_cl::linalg::{self, BlasError, Diagonal, MatMut, MatRef, MatrixLayout, Op, Side, Triangle};
use lattice_cl::scalar::Element;
use num_complex::{Complex32, Complex64};
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;
use std::sync::Arc;

/// Makes a class of factors of the four types of elements.
macro_rules! factors {
    ($of:ident, $name:ident) => {
        enum $of {
            Single(Arc<factor::$name<f32>>),
            Double(Arc<factor::$name<f64>>),
            ComplexSingle(Arc<factor::$name<Complex32>>),
            ComplexDouble(Arc<factor::$name<Complex64>>),
        }
    };
}

factors!(LuOf, Lu);
factors!(CholeskyOf, Cholesky);

/// Does the same with the factors of any type.
macro_rules! with_factors {
    ($kind:ident, $of:expr, $factors:ident => $do:expr) => {
        match $of {
            $kind::Single($factors) => $do,
            $kind::Double($factors) => $do,
            $kind::ComplexSingle($factors) => $do,
            $kind::ComplexDouble($factors) => $do,
        }
    };
}

/// Makes factors of an array of any type, on a thread beside the interpreter.
macro_rules! factorised {
    ($py:expr, $kind:ident, $matrix:expr, $n:expr, $make:expr) => {{
        let (matrix, n) = ($matrix, $n);
        work::run($py, None, move |_| {
            let layout = MatrixLayout::row_major(n, n);
            Ok::<_, BlasError>(match &matrix.get().elements {
                Elements::Single(a) => $kind::Single(Arc::new($make(MatRef::new(a, layout)?)?)),
                Elements::Double(a) => $kind::Double(Arc::new($make(MatRef::new(a, layout)?)?)),
                Elements::ComplexSingle(a) => $kind::ComplexSingle(Arc::new($make(MatRef::new(a, layout)?)?)),
                Elements::ComplexDouble(a) => $kind::ComplexDouble(Arc::new($make(MatRef::new(a, layout)?)?)),
            })
        })?
        .map_err(|error| error.raised($py))
    }};
}

/// Takes a square matrix: an array on a device, or one of numpy that goes to the first device of a team.
fn square(a: &Bound<'_, PyAny>, devices: Option<&Bound<'_, PyAny>>) -> PyResult<(Py<Array>, usize)> {
    let py = a.py();
    let array = match a.cast::<Array>() {
        Ok(array) => array.clone().unbind(),
        Err(_) => Py::new(py, Array::upload(&device(py, devices)?, a)?)?,
    };
    match array.get().shape[..] {
        [rows, columns] if rows == columns => Ok((array, rows)),
        ref other => {
            Err(invalid(py, format!("a square matrix is factorised, not an array of shape {other:?}")))
        }
    }
}

/// Opens the first of the wanted devices.
fn device(py: Python<'_>, devices: Option<&Bound<'_, PyAny>>) -> PyResult<Device> {
    let wanted = DevicesArgument::of(devices)?;
    let team = work::run(py, None, move |_| wanted.open())?.map_err(|error| error.raised(py))?;
    team.device().cloned().map_err(|error| {
        let message =
            format!("{error}; matrices are factorised on OpenCL devices, numpy.linalg does it on the host");
        raised(py, "DeviceError", message)
    })
}

/// The right-hand sides of a system: rows, columns, and whether there is an axis of columns.
struct Sides {
    rows: usize,
    columns: usize,
    shape: Vec<usize>,
}

impl Sides {
    fn of(py: Python<'_>, shape: Vec<usize>, rows: usize) -> PyResult<Self> {
        let columns = match shape[..] {
            [found] if found == rows => 1,
            [found, columns] if found == rows => columns,
            _ => {
                let message = format!(
                    "right-hand sides of a matrix with {rows} rows have as many, not the shape {shape:?}"
                );
                return Err(invalid(py, message));
            }
        };
        Ok(Self { rows, columns, shape })
    }

    fn layout(&self) -> MatrixLayout {
        MatrixLayout::row_major(self.rows, self.columns)
    }
}

/// Solves for an array on a device, or for one of numpy.
fn solved<T>(
    b: &Bound<'_, PyAny>,
    (rows, device): (usize, &Device),
    of_array: impl FnOnce(&Array) -> Option<&Buffer<T>>,
    solve: impl FnOnce(MatMut<'_, T>) -> Result<(), BlasError> + Send,
) -> PyResult<Py<PyAny>>
where
    T: Element + numpy::Element,
    Elements: From<Buffer<T>>,
{
    let py = b.py();
    if let Ok(array) = b.cast::<Array>() {
        let array = array.get();
        let Some(buffer) = of_array(array) else {
            return Err(invalid(py, "right-hand sides have the type of the matrix; convert them by .astype"));
        };
        let sides = Sides::of(py, array.shape.clone(), rows)?;
        let x = work::aside(py, || {
            let mut x = copied(buffer)?;
            solve(MatMut::new(&mut x, sides.layout())?)?;
            Ok::<_, BlasError>(x)
        })?;
        let elements = x.map_err(|error| error.raised(py))?.into();
        return Ok(Py::new(py, Array { elements, shape: sides.shape })?.into_any());
    }
    let is_complex = py.import("numpy")?.call_method1("iscomplexobj", (b,))?.extract::<bool>()?;
    if is_complex && !T::IS_COMPLEX {
        return Err(invalid(
            py,
            "a real matrix has real right-hand sides; solve for real and imaginary part, or make the matrix complex",
        ));
    }
    let numbers = contiguous::<T>(b)?;
    let sides = Sides::of(py, numbers.shape().to_vec(), rows)?;
    let elements = numbers.as_slice()?;
    let x = work::aside(py, || {
        let mut x = Buffer::from_slice(device, elements)?;
        solve(MatMut::new(&mut x, sides.layout())?)?;
        Ok::<_, BlasError>(x.to_vec()?)
    })?;
    array(py, x.map_err(|error| error.raised(py))?, sides.shape)
}

/// Reads a matrix that a function writes on a device.
fn written<T: Element + numpy::Element>(
    py: Python<'_>,
    (n, device): (usize, &Device),
    write: impl FnOnce(MatMut<'_, T>) -> Result<(), BlasError> + Send,
) -> PyResult<Py<PyAny>> {
    let elements = work::aside(py, || {
        let mut matrix = Buffer::uninitialised(device, n * n)?;
        write(MatMut::new(&mut matrix, MatrixLayout::row_major(n, n))?)?;
        Ok::<_, BlasError>(matrix.to_vec()?)
    })?;
    array(py, elements.map_err(|error| error.raised(py))?, vec![n, n])
}

/// Serves `solve` of factors of one type.
macro_rules! solve_by {
    ($kind:ident, $of:expr, $b:expr, $factors:ident, $x:ident => $do:expr) => {
        match $of {
            $kind::Single($factors) => solved::<f32>(
                $b,
                ($factors.rows(), $factors.device()),
                |array| match &array.elements {
                    Elements::Single(buffer) => Some(buffer),
                    _ => None,
                },
                |$x| $do,
            ),
            $kind::Double($factors) => solved::<f64>(
                $b,
                ($factors.rows(), $factors.device()),
                |array| match &array.elements {
                    Elements::Double(buffer) => Some(buffer),
                    _ => None,
                },
                |$x| $do,
            ),
            $kind::ComplexSingle($factors) => solved::<Complex32>(
                $b,
                ($factors.rows(), $factors.device()),
                |array| match &array.elements {
                    Elements::ComplexSingle(buffer) => Some(buffer),
                    _ => None,
                },
                |$x| $do,
            ),
            $kind::ComplexDouble($factors) => solved::<Complex64>(
                $b,
                ($factors.rows(), $factors.device()),
                |array| match &array.elements {
                    Elements::ComplexDouble(buffer) => Some(buffer),
                    _ => None,
                },
                |$x| $do,
            ),
        }
    };
}

/// The factors P A = L U of a square matrix, on a device.
#[pyclass(frozen, module = "lattice_cl.linalg")]
pub struct Lu {
    factors: LuOf,
}

/// Factorises a square matrix with exchanges of rows.
#[pyfunction]
#[pyo3(signature = (a, devices = None))]
pub fn lu(py: Python<'_>, a: &Bound<'_, PyAny>, devices: Option<&Bound<'_, PyAny>>) -> PyResult<Lu> {
    fn make<T: Element>(a: MatRef<'_, T>) -> Result<factor::Lu<T>, BlasError> {
        let lu = factor::Lu::new(a)?;
        lu.info()?;
        Ok(lu)
    }
    let (matrix, n) = square(a, devices)?;
    Ok(Lu { factors: factorised!(py, LuOf, matrix, n, make)? })
}

#[pymethods]
impl Lu {
    /// Solves A x = b, or with the transposed (`"T"`) or adjoint (`"C"`) matrix.
    #[pyo3(signature = (b, trans = "N"))]
    fn solve(&self, b: &Bound<'_, PyAny>, trans: &str) -> PyResult<Py<PyAny>> {
        let op = match trans {
            "N" => Op::N,
            "T" => Op::T,
            "C" => Op::C,
            other => return Err(invalid(b.py(), format!("trans is \"N\", \"T\" or \"C\", not {other:?}"))),
        };
        solve_by!(LuOf, &self.factors, b, lu, x => {
            lu.check()?;
            lu.solve(op, x).map(drop)
        })
    }

    /// Returns the inverse of A.
    fn inverse(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        with_factors!(LuOf, &self.factors, lu => written(py, (lu.rows(), lu.device()), |to| {
            lu.check()?;
            lu.inverse(to).map(drop)
        }))
    }

    /// Returns the sign, or phase, and the logarithm of the size of the determinant.
    fn slogdet(&self, py: Python<'_>) -> PyResult<(Complex64, f64)> {
        let found = with_factors!(LuOf, &self.factors, lu => work::aside(py, || lu.determinant())?);
        let Determinant { phase, log_size } = found.map_err(|error| error.raised(py))?;
        Ok((phase, log_size))
    }

    /// Returns an estimate of the condition number in the 1-norm, seldom below a third of it.
    fn condition(&self, py: Python<'_>) -> PyResult<f64> {
        with_factors!(LuOf, &self.factors, lu => work::aside(py, || lu.condition())?)
            .map_err(|error| error.raised(py))
    }

    /// Row i was exchanged with row `pivots[i]`, in this order.
    #[getter]
    fn pivots(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let pivots = with_factors!(LuOf, &self.factors, lu => work::aside(py, || lu.pivots())?);
        let pivots: Vec<i64> = pivots.map_err(|error| error.raised(py))?.into_iter().map(i64::from).collect();
        let count = pivots.len();
        array(py, pivots, vec![count])
    }

    /// The rows and columns of A.
    fn __len__(&self) -> usize {
        with_factors!(LuOf, &self.factors, lu => lu.rows())
    }

    fn __repr__(&self) -> String {
        let (rows, device) =
            with_factors!(LuOf, &self.factors, lu => (lu.rows(), lu.device().label().to_owned()));
        format!("Lu({rows}×{rows}, on {device})")
    }
}

/// The factor L of A = L Lᴴ, on a device.
#[pyclass(frozen, module = "lattice_cl.linalg")]
pub struct Cholesky {
    factors: CholeskyOf,
}

/// Factorises a Hermitian, positive definite matrix, of which the lower triangle is read.
#[pyfunction]
#[pyo3(signature = (a, devices = None))]
pub fn cholesky(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    devices: Option<&Bound<'_, PyAny>>,
) -> PyResult<Cholesky> {
    fn make<T: Element>(a: MatRef<'_, T>) -> Result<factor::Cholesky<T>, BlasError> {
        let cholesky = factor::Cholesky::new(Triangle::Lower, a)?;
        cholesky.check()?;
        Ok(cholesky)
    }
    let (matrix, n) = square(a, devices)?;
    Ok(Cholesky { factors: factorised!(py, CholeskyOf, matrix, n, make)? })
}

#[pymethods]
impl Cholesky {
    /// Solves A x = b.
    fn solve(&self, b: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        solve_by!(CholeskyOf, &self.factors, b, cholesky, x => cholesky.solve(x).map(drop))
    }

    /// Returns the inverse of A.
    fn inverse(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        with_factors!(CholeskyOf, &self.factors, cholesky => {
            written(py, (cholesky.rows(), cholesky.device()), |to| cholesky.inverse(to).map(drop))
        })
    }

    /// Returns L, with zeros above its diagonal.
    fn factor(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        fn read<T: Element + numpy::Element>(
            py: Python<'_>,
            cholesky: &factor::Cholesky<T>,
        ) -> PyResult<Py<PyAny>> {
            let n = cholesky.rows();
            let product = work::aside(py, || {
                let one = |k: usize| {
                    if k.is_multiple_of(n + 1) { T::from_complex(1.0.into()) } else { T::default() }
                };
                let identity: Vec<T> = (0..n * n).map(one).collect();
                let mut product = Buffer::from_slice(cholesky.device(), &identity)?;
                let to = MatMut::new(&mut product, MatrixLayout::row_major(n, n))?;
                linalg::trmm(
                    Side::Left,
                    Triangle::Lower,
                    Op::N,
                    Diagonal::Stored,
                    1,
                    cholesky.factor()?,
                    to,
                )?;
                Ok::<_, BlasError>(product.to_vec()?)
            })?;
            array(py, product.map_err(|error| error.raised(py))?, vec![n, n])
        }
        with_factors!(CholeskyOf, &self.factors, cholesky => read(py, cholesky))
    }

    /// Returns the logarithm of the determinant.
    fn log_determinant(&self, py: Python<'_>) -> PyResult<f64> {
        with_factors!(CholeskyOf, &self.factors, cholesky => work::aside(py, || cholesky.log_determinant())?)
            .map_err(|error| error.raised(py))
    }

    /// Returns an estimate of the condition number in the 1-norm, seldom below a third of it.
    fn condition(&self, py: Python<'_>) -> PyResult<f64> {
        with_factors!(CholeskyOf, &self.factors, cholesky => work::aside(py, || cholesky.condition())?)
            .map_err(|error| error.raised(py))
    }

    /// The rows and columns of A.
    fn __len__(&self) -> usize {
        with_factors!(CholeskyOf, &self.factors, cholesky => cholesky.rows())
    }

    fn __repr__(&self) -> String {
        let (rows, device) =
            with_factors!(CholeskyOf, &self.factors, one => (one.rows(), one.device().label().to_owned()));
        format!("Cholesky({rows}×{rows}, on {device})")
    }
}
