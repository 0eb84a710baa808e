//! Fits, and their averages over ranges.

use super::arrays::{array_of, numbers, quantities};
use super::models::{PointModel, options, weighting};
use super::observable::{Observable, checked};
use crate::failure::{Raised, invalid};
use crate::work;
use lattice_statistics::{
    AnyQuantity, Fit, FitOptions, RangeAverage, StatisticsResult, Uncertain, fit_ranges, ranges_above_noise,
    three_point,
};
use pyo3::prelude::*;
use std::ops::Range;

/// Parameters, χ², its expectation, degrees of freedom, two p-values, points and iterations.
type FitNumbers = (Py<PyAny>, f64, f64, usize, Option<f64>, Option<f64>, usize, usize);

/// Value, statistical and systematic error, weights, ranges, fits, the heaviest, the combination.
type AverageNumbers = (f64, f64, f64, Vec<f64>, Vec<(usize, usize)>, Vec<FitNumbers>, usize, Py<Observable>);

/// Makes what Python takes of a fit.
fn numbers_of(py: Python<'_>, fit: Fit<AnyQuantity>) -> PyResult<FitNumbers> {
    let count = fit.parameters.len();
    Ok((
        array_of(py, fit.parameters.into_iter().map(Some), vec![count])?,
        fit.chi_squared,
        fit.expected_chi_squared,
        fit.degrees_of_freedom,
        fit.p_value,
        fit.hotelling_p_value,
        fit.points,
        fit.iterations,
    ))
}

/// Points that are fitted, and the model.
struct Points {
    model: PointModel,
    x: Vec<f64>,
    y: Vec<AnyQuantity>,
    options: FitOptions,
    window_parameter: f64,
}

impl Points {
    /// Fits all points.
    fn fit(&self) -> StatisticsResult<Fit<AnyQuantity>> {
        let Self { model, x, y, options, window_parameter } = self;
        let covariance = AnyQuantity::covariance(y, *window_parameter)?;
        lattice_statistics::fit(model.as_model(), x, y, &covariance, options)
    }

    /// Fits ranges, by default those above the noise, and averages a parameter.
    fn average(
        &self,
        ranges: Option<Vec<Range<usize>>>,
        parameter: usize,
    ) -> StatisticsResult<RangeAverage<AnyQuantity>> {
        let Self { model, x, y, options, window_parameter } = self;
        let model = model.as_model();
        let covariance = AnyQuantity::covariance(y, *window_parameter)?;
        let above_noise = || ranges_above_noise(y, covariance.errors(), 0, model.parameters() + 1);
        let ranges = ranges.unwrap_or_else(above_noise);
        RangeAverage::of(
            fit_ranges(model, x, y, &covariance, &ranges, options)?,
            parameter,
            *window_parameter,
        )
    }
}

/// Fits a model to points.
#[pyfunction]
#[pyo3(signature = (x, y, model, states, extent, weights, initial, iterations, window_parameter))]
#[allow(clippy::too_many_arguments)]
pub fn fit(
    x: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    model: &str,
    states: Option<usize>,
    extent: Option<f64>,
    weights: &Bound<'_, PyAny>,
    initial: Option<Vec<f64>>,
    iterations: usize,
    window_parameter: f64,
) -> PyResult<FitNumbers> {
    let py = x.py();
    let points = points(
        x,
        y,
        PointModel::read(py, model, states, extent)?,
        options(weights, initial, iterations)?,
        window_parameter,
    )?;
    let fit = work::run(py, None, move |_| points.fit())?.map_err(|error| error.raised(py))?;
    numbers_of(py, fit)
}

/// Reads points.
fn points(
    x: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    model: PointModel,
    options: FitOptions,
    window_parameter: f64,
) -> PyResult<Points> {
    let (y, [_]) = quantities(y, "values y")?;
    Ok(Points { model, x: numbers(x, "positions x")?, y, options, window_parameter })
}

/// Fits a model to ranges of points, both ends included, and averages a parameter.
#[pyfunction]
#[pyo3(signature = (x, y, model, parameter, ranges, states, extent, weights, initial, iterations, window_parameter))]
#[allow(clippy::too_many_arguments)]
pub fn fit_average(
    x: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    model: &str,
    parameter: usize,
    ranges: Option<Vec<(usize, usize)>>,
    states: Option<usize>,
    extent: Option<f64>,
    weights: &Bound<'_, PyAny>,
    initial: Option<Vec<f64>>,
    iterations: usize,
    window_parameter: f64,
) -> PyResult<AverageNumbers> {
    let py = x.py();
    let points = points(
        x,
        y,
        PointModel::read(py, model, states, extent)?,
        options(weights, initial, iterations)?,
        window_parameter,
    )?;
    let range = |(first, last): (usize, usize)| match last.checked_add(1) {
        Some(end) if first < end => Ok(first..end),
        _ => {
            let message = format!("the range ({first}, {last}) has no points; give the first and the last");
            Err(invalid(py, message))
        }
    };
    let ranges =
        ranges.map(|ranges| ranges.into_iter().map(range).collect::<PyResult<Vec<_>>>()).transpose()?;
    let average =
        work::run(py, None, move |_| points.average(ranges, parameter))?.map_err(|error| error.raised(py))?;
    let combined = checked(py, || average.combined())?;
    let RangeAverage { average, fits, heaviest, .. } = average;
    let mut ends = Vec::new();
    let mut numbers = Vec::new();
    for (range, fit) in fits {
        ends.push((range.start, range.end - 1));
        numbers.push(numbers_of(py, fit)?);
    }
    let combined = Py::new(py, Observable(combined))?;
    Ok((
        average.value,
        average.statistical,
        average.systematic,
        average.weights,
        ends,
        numbers,
        heaviest,
        combined,
    ))
}

/// Fits a line to summed ratios at the source-sink separations that their lengths say.
#[pyfunction]
#[pyo3(signature = (ratios, excluded, weights, window_parameter))]
pub fn summation(
    py: Python<'_>,
    ratios: Vec<Bound<'_, PyAny>>,
    excluded: usize,
    weights: &Bound<'_, PyAny>,
    window_parameter: f64,
) -> PyResult<FitNumbers> {
    let options = FitOptions::default().with_weighting(weighting(weights)?);
    let read = |ratio| quantities::<1>(ratio, "ratios").map(|(ratio, _)| ratio);
    let ratios = ratios.iter().map(read).collect::<PyResult<Vec<_>>>()?;
    let fitted = work::run(py, None, move |_| {
        let sums = ratios.iter().map(|ratio| three_point::summed(ratio, excluded));
        let sums = sums.collect::<StatisticsResult<Vec<_>>>()?;
        // A ratio has the times 0, 1, …, T.
        let separations: Vec<f64> = ratios.iter().map(|ratio| ratio.len() as f64 - 1.0).collect();
        let covariance = AnyQuantity::covariance(&sums, window_parameter)?;
        three_point::summation(&separations, &sums, &covariance, &options)
    })?;
    numbers_of(py, fitted.map_err(|error| error.raised(py))?)
}
