//! Effective masses, correlator matrices, ratios of three-point functions.

use super::arrays::{array_of, quantities};
use super::observable::checked;
use crate::failure::named;
use lattice_statistics::{
    AnyQuantity, CorrelatorMatrix, EffectiveMass, StateOrder, StatisticsError, three_point,
};
use pyo3::prelude::*;

/// The words for forms of the effective mass.
const FORMS: [(&str, EffectiveMass); 2] =
    [("cosh", EffectiveMass::PeriodicArcosh), ("log", EffectiveMass::Logarithm)];

/// Makes an array of one axis.
fn list_of(py: Python<'_>, quantities: Vec<AnyQuantity>) -> PyResult<Py<PyAny>> {
    let shape = vec![quantities.len()];
    array_of(py, quantities.into_iter().map(Some), shape)
}

/// Returns the effective mass at each distance, `None` where it is undefined.
#[pyfunction]
#[pyo3(signature = (correlator, form = "cosh"))]
pub fn effective_masses(correlator: &Bound<'_, PyAny>, form: &str) -> PyResult<Py<PyAny>> {
    let py = correlator.py();
    let form = named(py, "form of the effective mass", form, &FORMS)?;
    let (correlator, shape) = quantities::<1>(correlator, "correlator")?;
    let masses = checked(py, || lattice_statistics::effective_masses(&correlator, form))?;
    array_of(py, masses, shape.to_vec())
}

/// Returns (C(n) + C(T − n))/2 for distances up to half of the extent.
#[pyfunction]
pub fn folded(correlator: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let (py, (correlator, [_])) = (correlator.py(), quantities(correlator, "correlator")?);
    list_of(py, checked(py, || lattice_statistics::folded(&correlator))?)
}

/// Returns generalised eigenvalues: axes state, time.
#[pyfunction]
#[pyo3(signature = (matrix, reference_time, order_time = None))]
pub fn gevp(
    matrix: &Bound<'_, PyAny>,
    reference_time: usize,
    order_time: Option<usize>,
) -> PyResult<Py<PyAny>> {
    let py = matrix.py();
    let (entries, [times, operators, columns]) = quantities(matrix, "correlator matrix")?;
    let order = order_time.map_or(StateOrder::Size, |time| StateOrder::Overlap { time });
    let eigenvalues = checked(py, || {
        if columns != operators {
            let what = "columns of a correlator matrix";
            return Err(StatisticsError::Length { what, expected: operators, found: columns });
        }
        let of_time = (operators * operators).max(1);
        let matrices = entries.chunks_exact(of_time).map(<[_]>::to_vec).collect();
        CorrelatorMatrix::new(operators, matrices)?.eigenvalues(reference_time, order)
    })?;
    array_of(py, eigenvalues.into_iter().flatten().map(Some), vec![operators, times])
}

/// Returns the ratio of a three-point function and two-point functions.
#[pyfunction]
#[pyo3(signature = (three_point, source, sink = None))]
pub fn ratio(
    three_point: &Bound<'_, PyAny>,
    source: &Bound<'_, PyAny>,
    sink: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let py = three_point.py();
    let (three, [times]) = quantities(three_point, "three-point function")?;
    let (source, [expected]) = quantities(source, "two-point function")?;
    let sink = sink.map(|sink| quantities::<1>(sink, "two-point function of the sink")).transpose()?;
    let ratios = checked(py, || match &sink {
        Some((sink, _)) => three_point::ratio_with_momenta(&three, &source, sink),
        None => match source.get(times.saturating_sub(1)) {
            Some(at_sink) => three_point::ratio(&three, at_sink),
            None => {
                let what = "times of a two-point function";
                Err(StatisticsError::Length { what, expected: times, found: expected })
            }
        },
    })?;
    list_of(py, ratios)
}
