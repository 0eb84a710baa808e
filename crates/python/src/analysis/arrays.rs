//! Arrays of observables.

use super::observable::{Observable, checked};
use crate::failure::invalid;
use crate::numbers::{array, asarray, of_kinds};
use lattice_statistics::{AnyQuantity, Quantity, StatisticsResult};
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;

/// Makes an array of observables, with `None` for those that are undefined.
///
/// # Errors
/// If the observables do not fill the shape.
pub fn array_of(
    py: Python<'_>,
    quantities: impl IntoIterator<Item = Option<AnyQuantity>>,
    shape: Vec<usize>,
) -> PyResult<Py<PyAny>> {
    let object = |quantity: Option<AnyQuantity>| match quantity {
        Some(quantity) => Py::new(py, Observable(quantity)).map(Py::into_any),
        None => Ok(py.None()),
    };
    array(py, quantities.into_iter().map(object).collect::<PyResult<Vec<_>>>()?, shape)
}

/// Makes one observable for the shape of a number, else an array of observables.
///
/// # Errors
/// If the observables do not fill the shape.
pub fn one_or_array(
    py: Python<'_>,
    mut quantities: Vec<AnyQuantity>,
    shape: Vec<usize>,
) -> PyResult<Py<PyAny>> {
    match quantities.pop_if(|_| shape.is_empty()) {
        Some(quantity) => Ok(Py::new(py, Observable(quantity))?.into_any()),
        None => array_of(py, quantities.into_iter().map(Some), shape),
    }
}

/// Observables, `None` where they are undefined, and the shape of their array.
type ObservablesInShape = (Vec<Option<Py<Observable>>>, Vec<usize>);

/// Reads an array of any shape.
fn read(object: &Bound<'_, PyAny>) -> PyResult<ObservablesInShape> {
    let py = object.py();
    let objects = asarray(object)?;
    let shape = objects.getattr("shape")?.extract()?;
    let read = |(index, entry): (usize, PyResult<Bound<'_, PyAny>>)| {
        let entry = entry?;
        match entry.cast::<Observable>() {
            Ok(observable) => Ok(Some(observable.clone().unbind())),
            Err(_) if entry.is_none() => Ok(None),
            Err(_) => {
                let message =
                    format!("entry {index} is {entry}, which is no observable; observables() makes some");
                Err(invalid(py, message))
            }
        }
    };
    let entries = objects.call_method0("ravel")?.call_method0("tolist")?;
    Ok((entries.try_iter()?.enumerate().map(read).collect::<PyResult<_>>()?, shape))
}

/// Reads observables of an array with a number of axes, and its shape.
///
/// # Errors
/// `InvalidInput` if the array has other axes, or an entry is no observable.
pub fn quantities<const AXES: usize>(
    object: &Bound<'_, PyAny>,
    what: &str,
) -> PyResult<(Vec<AnyQuantity>, [usize; AXES])> {
    let py = object.py();
    let (observables, shape) = read(object)?;
    let Ok(shape) = shape.as_slice().try_into() else {
        return Err(invalid(
            py,
            format!("the shape of the {what} is {shape:?}; give an array of {AXES} axes"),
        ));
    };
    let defined = |(index, observable): (usize, Option<Py<Observable>>)| match observable {
        Some(observable) => Ok(observable.get().0.clone()),
        None => Err(invalid(py, format!("entry {index} of the {what} is undefined; leave it out"))),
    };
    Ok((observables.into_iter().enumerate().map(defined).collect::<PyResult<_>>()?, shape))
}

/// Reads finite numbers of an array of one axis.
///
/// # Errors
/// `InvalidInput` if the array has other axes, or a number is not finite.
pub fn numbers(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<f64>> {
    let py = object.py();
    let found = of_kinds::<f64>(object, "fiu", "positions and times are real")?;
    if found.shape().len() != 1 {
        return Err(invalid(
            py,
            format!("the shape of the {what} is {:?}; give a list of numbers", found.shape()),
        ));
    }
    let found = found.as_slice()?;
    match found.iter().position(|number| !number.is_finite()) {
        Some(index) => {
            Err(invalid(py, format!("entry {index} of the {what} is {}; give finite numbers", found[index])))
        }
        None => Ok(found.to_vec()),
    }
}

/// Returns the values of an array of observables, NaN where they are undefined.
#[pyfunction]
pub fn values(observables: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let (entries, shape) = read(observables)?;
    let value = |entry: Option<Py<Observable>>| entry.map_or(f64::NAN, |entry| entry.get().0.value());
    array(observables.py(), entries.into_iter().map(value).collect(), shape)
}

/// Returns the errors of an array of observables, NaN where there are none.
#[pyfunction]
#[pyo3(signature = (observables, window_parameter))]
pub fn errors(observables: &Bound<'_, PyAny>, window_parameter: f64) -> PyResult<Py<PyAny>> {
    let (py, (entries, shape)) = (observables.py(), read(observables)?);
    let error = |entry: &Option<Py<Observable>>| match entry {
        Some(entry) => entry.get().error_by(window_parameter),
        None => Ok(f64::NAN),
    };
    let errors = checked(py, || entries.iter().map(error).collect::<StatisticsResult<Vec<f64>>>())?;
    array(py, errors, shape)
}
