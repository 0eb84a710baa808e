//! Views of fields in the axes of other programs, and DLPack.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The device of all arrays, as DLPack counts: a processor, the first.
pub const HOST: (i32, i32) = (1, 0);

/// Brings an array that was just made to the axes of another program.
///
/// `name` is a function of `lattice_cl/interop.py`.
///
/// # Errors
/// Those of the function.
pub fn converted(py: Python<'_>, name: &str, array: Py<PyAny>) -> PyResult<Py<PyAny>> {
    Ok(py.import("lattice_cl.interop")?.call_method1(name, (array,))?.unbind())
}

/// Serves `__dlpack__`: the capsule of an array of numpy that was just made.
///
/// # Errors
/// Those of numpy.
pub fn capsule(py: Python<'_>, array: Py<PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
    array.call_method(py, "__dlpack__", (), options)
}
