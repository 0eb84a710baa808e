//! Arrays on a device, with the operations of the library's BLAS.
//!
//! An array never changes: `C += 2 * C` makes a new one.

use super::failure::{Raised, invalid};
use super::interop;
use super::numbers::{array, asarray, contiguous};
use super::work;
use lattice_cl::compute::{self, Buffer, DeviceError};
use lattice_cl::linalg::{self, BlasError, MatMut, MatRef, MatrixLayout, Op};
use lattice_cl::scalar::Element;
use num_complex::{Complex32, Complex64};
use numpy::{PyArrayDescr, dtype};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyDict};

/// The elements of an array.
pub enum Elements {
    Single(Buffer<f32>),
    Double(Buffer<f64>),
    ComplexSingle(Buffer<Complex32>),
    ComplexDouble(Buffer<Complex64>),
}

/// Does the same with the buffer of any type.
macro_rules! with_buffer {
    ($elements:expr, $buffer:ident => $do:expr) => {
        match $elements {
            Elements::Single($buffer) => $do,
            Elements::Double($buffer) => $do,
            Elements::ComplexSingle($buffer) => $do,
            Elements::ComplexDouble($buffer) => $do,
        }
    };
}

/// Does the same with two buffers of one type; `None` for two types.
macro_rules! with_both {
    ($one:expr, $other:expr, $x:ident, $y:ident => $do:expr) => {
        match ($one, $other) {
            (Elements::Single($x), Elements::Single($y)) => Some($do),
            (Elements::Double($x), Elements::Double($y)) => Some($do),
            (Elements::ComplexSingle($x), Elements::ComplexSingle($y)) => Some($do),
            (Elements::ComplexDouble($x), Elements::ComplexDouble($y)) => Some($do),
            _ => None,
        }
    };
}

macro_rules! from_buffers {
    ($($variant:ident of $element:ty,)*) => {
        $(impl From<Buffer<$element>> for Elements {
            fn from(buffer: Buffer<$element>) -> Self {
                Self::$variant(buffer)
            }
        })*
    };
}

from_buffers! {
    Single of f32,
    Double of f64,
    ComplexSingle of Complex32,
    ComplexDouble of Complex64,
}

/// An array of one or two axes in the memory of a device, rows one after the other.
#[pyclass(frozen, module = "lattice_cl")]
pub struct Array {
    pub(super) elements: Elements,
    pub(super) shape: Vec<usize>,
}

#[pymethods]
impl Array {
    /// The extents.
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    /// The type of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDescr> {
        fn of<'py, T: numpy::Element>(py: Python<'py>, _: &Buffer<T>) -> Bound<'py, PyArrayDescr> {
            dtype::<T>(py)
        }
        with_buffer!(&self.elements, buffer => of(py, buffer))
    }

    /// The name of the device.
    #[getter]
    fn device(&self) -> String {
        with_buffer!(&self.elements, buffer => buffer.device().label().to_owned())
    }

    /// Copies the array to the host.
    fn numpy(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        fn read<T: Element + numpy::Element>(
            py: Python<'_>,
            buffer: &Buffer<T>,
            shape: &[usize],
        ) -> PyResult<Py<PyAny>> {
            let elements = work::aside(py, || buffer.to_vec())?.map_err(|error| error.raised(py))?;
            array(py, elements, shape.to_vec())
        }
        with_buffer!(&self.elements, buffer => read(py, buffer, &self.shape))
    }

    /// The `cl_mem` as a number, for other packages: `pyopencl.Buffer.from_int_ptr(x.cl_mem)`.
    ///
    /// All work on the array is done. It lives as long as the array, or as long as the other
    /// package retains it.
    #[getter]
    fn cl_mem(&self, py: Python<'_>) -> PyResult<usize> {
        fn lent<T: Element>(buffer: &Buffer<T>) -> Result<usize, DeviceError> {
            buffer.lend()
        }
        with_buffer!(&self.elements, buffer => work::aside(py, || lent(buffer))?)
            .map_err(|error| error.raised(py))
    }

    #[pyo3(signature = (**options))]
    fn __dlpack__(&self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
        interop::capsule(py, self.numpy(py)?, options)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        interop::HOST
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__(
        &self,
        py: Python<'_>,
        dtype: Option<&Bound<'_, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        as_numpy(py, self.numpy(py)?, dtype, copy)
    }

    fn __matmul__(&self, py: Python<'_>, other: &Bound<'_, Array>) -> PyResult<Self> {
        let other = other.get();
        let [(m, k), (rows, n)] = match (&self.shape[..], &other.shape[..]) {
            (&[m, k], &[rows, n]) => [(m, k), (rows, n)],
            (&[m, k], &[rows]) => [(m, k), (rows, 1)],
            _ => return Err(invalid(py, "the left operand of @ has two axes, the right one one or two")),
        };
        let shape = if other.shape.len() == 2 { vec![m, n] } else { vec![m] };
        fn product<T: Element>(
            [a, b]: [&Buffer<T>; 2],
            [m, k, rows, n]: [usize; 4],
        ) -> Result<Buffer<T>, BlasError> {
            let mut c = Buffer::uninitialised(a.device(), m * n)?;
            let (a, b) = (
                MatRef::new(a, MatrixLayout::row_major(m, k))?,
                MatRef::new(b, MatrixLayout::row_major(rows, n))?,
            );
            linalg::gemm(Op::N, Op::N, 1, a, b, 0, MatMut::new(&mut c, MatrixLayout::row_major(m, n))?)?;
            Ok(c)
        }
        let elements = with_both!(&self.elements, &other.elements, a, b => {
            work::aside(py, || product([a, b], [m, k, rows, n]))?.map_err(|error| error.raised(py))?.into()
        });
        Ok(Self { elements: elements.ok_or_else(|| self.other_type(py, other))?, shape })
    }

    fn __add__(&self, py: Python<'_>, other: &Bound<'_, Array>) -> PyResult<Self> {
        self.plus(py, 1, other.get())
    }

    fn __sub__(&self, py: Python<'_>, other: &Bound<'_, Array>) -> PyResult<Self> {
        self.plus(py, -1, other.get())
    }

    fn __mul__(&self, py: Python<'_>, factor: Complex64) -> PyResult<Self> {
        fn times<T: Element>(buffer: &Buffer<T>, factor: Complex64) -> Result<Buffer<T>, DeviceError> {
            let mut product = copied(buffer)?;
            linalg::scal(T::from_complex(factor), &mut product)?;
            Ok(product)
        }
        let is_real = matches!(self.elements, Elements::Single(_) | Elements::Double(_));
        if is_real && factor.im != 0.0 {
            return Err(PyTypeError::new_err("an array of real numbers takes no complex factor"));
        }
        let elements = with_buffer!(&self.elements, buffer => {
            work::aside(py, || times(buffer, factor))?.map_err(|error| error.raised(py))?.into()
        });
        Ok(Self { elements, shape: self.shape.clone() })
    }

    fn __rmul__(&self, py: Python<'_>, factor: Complex64) -> PyResult<Self> {
        self.__mul__(py, factor)
    }

    fn __neg__(&self, py: Python<'_>) -> PyResult<Self> {
        self.__mul__(py, Complex64::from(-1.0))
    }

    fn __len__(&self) -> usize {
        self.shape[0]
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("Array(shape {:?}, {}, on {})", self.shape, self.dtype(py), self.device())
    }
}

impl Array {
    /// Copies an array of numpy to a device; integers become double.
    ///
    /// # Errors
    /// * `InvalidInput` if it has not one or two axes, or other elements.
    /// * `DeviceError`
    pub fn upload(device: &compute::Device, numbers: &Bound<'_, PyAny>) -> PyResult<Self> {
        fn sent<T: Element + numpy::Element>(
            device: &compute::Device,
            numbers: &Bound<'_, PyAny>,
        ) -> PyResult<Elements>
        where
            Elements: From<Buffer<T>>,
        {
            let (py, array) = (numbers.py(), contiguous::<T>(numbers)?);
            let elements = array.as_slice()?;
            let sent = work::aside(py, || Buffer::from_slice(device, elements))?;
            Ok(sent.map_err(|error| error.raised(py))?.into())
        }
        let py = numbers.py();
        let numbers = asarray(numbers)?;
        let shape: Vec<usize> = numbers.getattr("shape")?.extract()?;
        if !(1..=2).contains(&shape.len()) {
            let count = shape.len();
            return Err(invalid(py, format!("an array on a device has one or two axes, not {count}")));
        }
        let name: String = numbers.getattr("dtype")?.getattr("name")?.extract()?;
        let elements = match name.as_str() {
            "float32" => sent::<f32>(device, &numbers)?,
            "complex64" => sent::<Complex32>(device, &numbers)?,
            "complex128" => sent::<Complex64>(device, &numbers)?,
            name if name == "float64" || name.starts_with("int") || name.starts_with("uint") => {
                sent::<f64>(device, &numbers)?
            }
            other => {
                let message =
                    format!("arrays of {other} are not computed with; convert them by .astype(float)");
                return Err(invalid(py, message));
            }
        };
        Ok(Self { elements, shape })
    }

    /// Returns self + factor · other.
    fn plus(&self, py: Python<'_>, factor: i32, other: &Self) -> PyResult<Self> {
        fn sum<T: Element>(x: &Buffer<T>, factor: i32, y: &Buffer<T>) -> Result<Buffer<T>, DeviceError> {
            let mut sum = copied(x)?;
            linalg::axpy(factor, y, &mut sum)?;
            Ok(sum)
        }
        if self.shape != other.shape {
            let message = format!("arrays of shapes {:?} and {:?} are not added", self.shape, other.shape);
            return Err(invalid(py, message));
        }
        let elements = with_both!(&self.elements, &other.elements, x, y => {
            work::aside(py, || sum(x, factor, y))?.map_err(|error| error.raised(py))?.into()
        });
        let shape = self.shape.clone();
        Ok(Self { elements: elements.ok_or_else(|| self.other_type(py, other))?, shape })
    }

    fn other_type(&self, py: Python<'_>, other: &Self) -> PyErr {
        let message = format!(
            "arrays of {} and {} do not go together; convert one of them by .astype before it is sent",
            self.dtype(py),
            other.dtype(py)
        );
        PyTypeError::new_err(message)
    }

    fn product<'py>(&self, py: Python<'py>, other: &Self, conjugate: bool) -> PyResult<Bound<'py, PyAny>> {
        fn sum<T: Element>(x: &Buffer<T>, y: &Buffer<T>, conjugate: bool) -> Result<Complex64, DeviceError> {
            if conjugate { linalg::dotc(x, y)?.wait() } else { linalg::dotu(x, y)?.wait() }
        }
        let found = with_both!(&self.elements, &other.elements, x, y => {
            work::aside(py, || sum(x, y, conjugate))?.map_err(|error| error.raised(py))?
        });
        let sum = found.ok_or_else(|| self.other_type(py, other))?;
        match self.elements {
            Elements::Single(_) | Elements::Double(_) => Ok(sum.re.into_pyobject(py)?.into_any()),
            _ => Ok(PyComplex::from_doubles(py, sum.re, sum.im).into_any()),
        }
    }
}

/// Copies a buffer to another one on its device.
///
/// # Errors
/// If the device fails.
pub fn copied<T: Element>(buffer: &Buffer<T>) -> Result<Buffer<T>, DeviceError> {
    let mut copy = Buffer::uninitialised(buffer.device(), buffer.len())?;
    copy.copy_from(buffer)?;
    Ok(copy)
}

/// Serves `__array__`: converts an array that was just made.
///
/// # Errors
/// `ValueError` for `copy=False`, because the numbers had to be copied.
pub fn as_numpy(
    py: Python<'_>,
    array: Py<PyAny>,
    dtype: Option<&Bound<'_, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Py<PyAny>> {
    if copy == Some(false) {
        return Err(invalid(py, "the numbers are copied to make an array of numpy; leave out copy=False"));
    }
    match dtype {
        Some(dtype) => array.call_method1(py, "astype", (dtype,)),
        None => Ok(array),
    }
}

/// Returns ‖x‖.
#[pyfunction]
pub fn nrm2(py: Python<'_>, x: &Bound<'_, Array>) -> PyResult<f64> {
    fn root<T: Element>(x: &Buffer<T>) -> Result<f64, DeviceError> {
        linalg::nrm2(x)?.wait()
    }
    with_buffer!(&x.get().elements, x => work::aside(py, || root(x))?).map_err(|error| error.raised(py))
}

/// Returns Σ xᵢ yᵢ.
#[pyfunction]
pub fn dot<'py>(
    py: Python<'py>,
    x: &Bound<'py, Array>,
    y: &Bound<'py, Array>,
) -> PyResult<Bound<'py, PyAny>> {
    x.get().product(py, y.get(), false)
}

/// Returns Σ conj(xᵢ) yᵢ.
#[pyfunction]
pub fn vdot<'py>(
    py: Python<'py>,
    x: &Bound<'py, Array>,
    y: &Bound<'py, Array>,
) -> PyResult<Bound<'py, PyAny>> {
    x.get().product(py, y.get(), true)
}
