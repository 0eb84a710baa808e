//! Arrays of numpy to fields on the host, and back.
//!
//! Axes are (t, z, y, x), then spin and colour of a spinor, direction, row and column of a link.

use super::failure::{Raised, invalid};
use super::work;
use lattice_cl::compute::parallel::*;
use lattice_cl::compute::vec_in_huge_pages;
use lattice_cl::geometry::{Dims, NDIM};
use lattice_cl::hadron::{Column, QuarkPropagator, SitePropagator};
use lattice_cl::host::{GaugeConfiguration, Links, Matrix3, Spinor};
use num_complex::Complex64;
use numpy::{
    Element, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods, dtype,
};
use pyo3::prelude::*;

/// Returns the shape of a field: the extents from t to x, then these axes.
pub fn shape(dims: Dims, axes: &[usize]) -> Vec<usize> {
    dims.extents().iter().rev().chain(axes).copied().collect()
}

/// Returns an array of numpy of anything that is like one, by DLPack too.
///
/// # Errors
/// What numpy raises.
pub fn asarray<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let by_dlpack = !object.hasattr("__array__")? && object.hasattr("__dlpack__")?;
    let function = if by_dlpack { "from_dlpack" } else { "asarray" };
    object.py().import("numpy")?.call_method1(function, (object,))
}

/// Returns any array as one of these elements in the order of C.
///
/// # Errors
/// The exceptions of `numpy.ascontiguousarray`.
pub fn contiguous<'py, T: Element>(object: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    let py = object.py();
    let object = asarray(object)?;
    let array = py.import("numpy")?.call_method1("ascontiguousarray", (object, dtype::<T>(py)))?;
    Ok(array.cast_into::<PyArrayDyn<T>>()?.readonly())
}

/// Reads an array whose elements are of these kinds of numpy; others it would convert with losses.
///
/// # Errors
/// `InvalidInput` if the elements are of another kind: what is `allowed`.
pub fn of_kinds<'py, T: Element>(
    object: &Bound<'py, PyAny>,
    kinds: &str,
    allowed: &str,
) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    let array = asarray(object)?;
    let dtype = array.getattr("dtype")?;
    let kind: char = dtype.getattr("kind")?.extract()?;
    if !kinds.contains(kind) {
        let message =
            format!("{allowed}, and these are {}; convert them by numpy.real or .astype", dtype.str()?);
        return Err(invalid(object.py(), message));
    }
    contiguous(&array)
}

/// Makes an array of elements in the order of C, without a copy.
///
/// # Errors
/// If the elements do not fill the shape.
pub fn array<T: Element>(py: Python<'_>, elements: Vec<T>, shape: Vec<usize>) -> PyResult<Py<PyAny>> {
    Ok(PyArray1::from_vec(py, elements).reshape(shape)?.into_any().unbind())
}

/// Returns the extents of a field of an array with these last axes.
///
/// # Errors
/// `InvalidInput` if the array has other axes, or no lattice has the extents.
fn dims_of(py: Python<'_>, found: &[usize], axes: &[usize], names: &str) -> PyResult<Dims> {
    let wrong = || {
        let wanted = axes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        invalid(
            py,
            format!(
                "the array has the shape {found:?}; a field has (T, Z, Y, X, {wanted}): t, z, y, x, {names}"
            ),
        )
    };
    let Some((extents, rest)) = found.split_at_checked(NDIM) else { return Err(wrong()) };
    if rest != axes {
        return Err(wrong());
    }
    Dims::new(std::array::from_fn(|mu| extents[NDIM - 1 - mu])).map_err(|error| invalid(py, error))
}

/// Reads spinors of a lattice.
///
/// # Errors
/// `InvalidInput` if the array is of another shape.
pub fn spinors(object: &Bound<'_, PyAny>, dims: Dims) -> PyResult<Vec<Spinor<f64>>> {
    let (py, array) = (object.py(), contiguous::<Complex64>(object)?);
    let found = dims_of(py, array.shape(), &[4, 3], "spin, colour")?;
    if found != dims {
        return Err(invalid(py, format!("the array is of a lattice of {found}, not of {dims}")));
    }
    let numbers = array.as_slice()?;
    work::aside(py, || {
        let spinor = |numbers: &[Complex64]| Spinor::from_fn(|spin, colour| numbers[3 * spin + colour]);
        numbers.par_chunks_exact(12).map(spinor).collect()
    })
}

/// Makes an array of the spinors of a lattice, in their memory.
pub fn of_spinors(py: Python<'_>, spinors: Vec<Spinor<f64>>, dims: Dims) -> PyResult<Py<PyAny>> {
    // The compiler knows that these are the same bytes: nothing is copied.
    let numbers: Vec<[[Complex64; 3]; 4]> = spinors.into_iter().map(|Spinor(numbers)| numbers).collect();
    array(py, numbers.into_flattened().into_flattened(), shape(dims, &[4, 3]))
}

/// Collects numbers in fresh memory, which all threads write.
fn collected<T: Send>(py: Python<'_>, numbers: impl Indexed<Item = T>) -> PyResult<Vec<T>> {
    let mut collected = vec_in_huge_pages(numbers.units()).map_err(|error| error.raised(py))?;
    work::aside(py, || numbers.collect_into_vec(&mut collected))?;
    Ok(collected)
}

/// Reads a propagator: axes of the sink, then spin and colour of the source.
///
/// # Errors
/// `InvalidInput` if the array is of another shape.
pub fn propagator(object: &Bound<'_, PyAny>) -> PyResult<QuarkPropagator> {
    let (py, array) = (object.py(), contiguous::<Complex64>(object)?);
    let names = "spin, colour of the sink, spin, colour of the source";
    let dims = dims_of(py, array.shape(), &[4, 3, 4, 3], names)?;
    let numbers = array.as_slice()?;
    work::aside(py, || {
        let mut propagator = QuarkPropagator::new(dims)?;
        for (number, column) in Column::all().enumerate() {
            let spinor = |site: &[Complex64]| Spinor::from_fn(|s, c| site[12 * (3 * s + c) + number]);
            let field: Vec<_> = numbers.par_chunks_exact(144).map(spinor).collect();
            propagator.set_column(column, &field);
        }
        Ok::<_, lattice_cl::host::NoRoom>(propagator)
    })?
    .map_err(|error| error.raised(py))
}

/// Makes an array of a propagator.
pub fn of_propagator(py: Python<'_>, propagator: &QuarkPropagator) -> PyResult<Py<PyAny>> {
    let numbers = collected(py, propagator.sites().par_iter().copied())?;
    array(py, numbers.into_flattened().into_flattened(), shape(propagator.dims(), &[4, 3, 4, 3]))
}

/// Makes an array of a column of a propagator.
pub fn of_column(py: Python<'_>, propagator: &QuarkPropagator, column: Column) -> PyResult<Py<PyAny>> {
    let spinors = collected(py, propagator.sites().par_iter().map(in_column(column)))?;
    of_spinors(py, spinors, propagator.dims())
}

/// Returns a column of a propagator.
pub fn column(propagator: &QuarkPropagator, column: Column) -> Vec<Spinor<f64>> {
    propagator.sites().par_iter().map(in_column(column)).collect()
}

fn in_column(column: Column) -> impl Fn(&SitePropagator) -> Spinor<f64> + Send + Sync {
    let number = 3 * column.spin + column.colour;
    move |site| Spinor::from_fn(|s, c| site[3 * s + c][number])
}

/// Reads links, in double.
///
/// # Errors
/// `InvalidInput` if the array is of another shape.
pub fn links(object: &Bound<'_, PyAny>) -> PyResult<GaugeConfiguration> {
    let (py, array) = (object.py(), contiguous::<Complex64>(object)?);
    let dims = dims_of(py, array.shape(), &[4, 3, 3], "direction, row, column")?;
    let numbers = array.as_slice()?;
    let link = |numbers: &[Complex64]| Matrix3::from_fn(|i, j| numbers[3 * i + j]);
    let links: Vec<_> = work::aside(py, || numbers.par_chunks_exact(9).map(link).collect())?;
    Ok(GaugeConfiguration::new(dims, Links::Double(links)))
}

/// Makes an array of the links of a configuration, in double.
pub fn of_links(py: Python<'_>, configuration: &GaugeConfiguration) -> PyResult<Py<PyAny>> {
    let dims = configuration.dims();
    let link = |link: usize| configuration.link(link / NDIM, link % NDIM).0;
    let numbers = collected(py, (0..NDIM * dims.volume()).into_par_iter().map(link))?;
    array(py, numbers.into_flattened().into_flattened(), shape(dims, &[NDIM, 3, 3]))
}
