//! Functions in Python of observables.

use super::arrays::{one_or_array, quantities};
use crate::failure::{Raised, invalid};
use crate::numbers::{array, asarray, of_kinds};
use crate::work;
use lattice_statistics::{
    AnyQuantity, DifferentiableMap, Quantity, StatisticsError, StatisticsResult, Uncertain,
};
use pyo3::prelude::*;
use std::cell::RefCell;

/// The part of a number, or of its error if that is larger, by which it moves for a derivative.
const STEP: f64 = 1e-3;
/// The largest part of an error by which a number moves, because functions are smooth over errors.
const PART_OF_ERROR: f64 = 0.1;
/// A smaller part of a number is lost in the rounding of functions.
const LEAST_STEP: f64 = 1e-5;

/// A function in Python of an array of numbers.
struct PythonFunction<'py> {
    function: Bound<'py, PyAny>,
    /// By how much each number moves for a derivative; 0 if it does not fluctuate.
    steps: Vec<f64>,
    /// The shape of the results.
    shape: RefCell<Option<Vec<usize>>>,
    /// What the function raised.
    raised: RefCell<Option<PyErr>>,
}

impl PythonFunction<'_> {
    /// Calls the function.
    fn call(&self, inputs: &[f64]) -> PyResult<Vec<f64>> {
        let py = self.function.py();
        let results = self.function.call1((array(py, inputs.to_vec(), vec![inputs.len()])?,))?;
        let results = asarray(&results)?;
        let found: Vec<usize> = results.getattr("shape")?.extract()?;
        let results = of_kinds::<f64>(&results, "fiu", "results are real")?;
        let shape = self.shape.borrow_mut().get_or_insert_with(|| found.clone()).clone();
        if found != shape {
            let message = format!(
                "the function has results of the shapes {shape:?} and {found:?}; return as many numbers each time"
            );
            return Err(invalid(py, message));
        }
        Ok(results.as_slice()?.to_vec())
    }
}

impl DifferentiableMap for PythonFunction<'_> {
    fn values(&self, inputs: &[f64]) -> StatisticsResult<Vec<f64>> {
        let values = self.call(inputs).map_err(|error| {
            self.raised.replace(Some(error));
            StatisticsError::Undefined
        })?;
        if values.iter().all(|value| value.is_finite()) {
            Ok(values)
        } else {
            Err(StatisticsError::Undefined)
        }
    }

    /// Derivatives are central differences through five points.
    fn jacobian(&self, inputs: &[f64]) -> StatisticsResult<Vec<Vec<f64>>> {
        let mut rows = vec![vec![0.0; inputs.len()]; self.values(inputs)?.len()];
        for (input, &step) in self.steps.iter().enumerate().filter(|(_, step)| **step > 0.0) {
            let at = |steps: f64| {
                let mut moved = inputs.to_vec();
                moved[input] += steps * step;
                self.values(&moved)
            };
            let [before, after] = [at(-1.0)?, at(1.0)?];
            let [far_before, far_after] = [at(-2.0)?, at(2.0)?];
            for (result, row) in rows.iter_mut().enumerate() {
                let (near, far) = (after[result] - before[result], far_after[result] - far_before[result]);
                row[input] = (8.0 * near - far) / (12.0 * step);
            }
        }
        Ok(rows)
    }
}

/// Returns by how much a number moves for a derivative.
fn step(quantity: &AnyQuantity) -> StatisticsResult<f64> {
    let error = quantity.error(0.0)?.unwrap_or(0.0);
    let size = quantity.value().abs();
    let step = (STEP * size.max(error)).min((PART_OF_ERROR * error).max(LEAST_STEP * size));
    Ok(if error > 0.0 { step } else { 0.0 })
}

/// Returns a function in Python of observables: one observable, or an array of them.
#[pyfunction]
pub fn derived(function: &Bound<'_, PyAny>, observables: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let py = function.py();
    let (inputs, [_]) = quantities(observables, "observables")?;
    let steps = inputs.iter().map(step).collect::<StatisticsResult<_>>().map_err(|error| error.raised(py))?;
    // The function needs the interpreter, so that the work is done with its lock.
    work::aside(py, || ())?;
    let function = PythonFunction {
        function: function.clone(),
        steps,
        shape: RefCell::default(),
        raised: RefCell::default(),
    };
    let found = AnyQuantity::mapped(&inputs.iter().collect::<Vec<_>>(), &function);
    if let Some(exception) = function.raised.into_inner() {
        return Err(exception);
    }
    let shape = function.shape.into_inner().unwrap_or_default();
    one_or_array(py, found.map_err(|error| error.raised(py))?, shape)
}
